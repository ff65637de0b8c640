// Which columns become private: their bounds are typed, never taken from the data.

import { make, speak } from "./dom.js";
import { pick, tick, words } from "./fields.js";
import { readableAtMost } from "./numbers.js";
import { preview } from "./preview.js";
import { Box, Slider } from "./slider.js";
import { MECHANISMS } from "./state.js";

const ENDS = ["more privacy, larger error", "less privacy, smaller error"];
const NOISE = [
  ["", "window, which is read back best"],
  // A clamped Gaussian needs a δ, which a row is not given here.
  ...MECHANISMS.filter(([name]) => name !== "window" && name !== "clamped-gaussian").map(([name, text]) => [
    name,
    name === "best" ? "best for means alone" : text,
  ]),
];
const NULLS = [
  ["error", "stop"],
  ["keep", "publish that it is missing (this is not private)"],
  ["uniform", "replace it by a random value"],
];

/** Build the form in `place`; `changed` is called after each change. */
export function buildColumns(place, changed) {
  const list = make("ul", { class: "plainlist columnlist" });
  const total = make("p", { class: "lead" });
  const simulated = make("div", { class: "previews" });
  const show = preview(simulated);
  let columns = [];
  const touched = () => {
    const asked = columns.filter(({ asked: yes }) => yes());
    const text = costs(asked);
    if (text && text !== total.textContent) speak(text);
    total.textContent = text;
    show(
      asked
        .filter((column) => !column.levels() && !column.fault())
        .map((column) => column.asking()),
      noise.select.value || null,
    );
    changed();
  };
  const noise = pick("Mechanism for numbers", NOISE, touched);
  const nulls = pick("If a value is missing", NULLS, touched);
  const shuffle = tick("Shuffle the rows, since their order can reveal values", touched, true);
  place.append(
    make("h3", { text: "Columns" }),
    make("p", {
      text: "Pick the columns to replace. Type the smallest and the largest value that is possible for anybody; do not look at the data for it. Values outside are moved to the nearest bound. Give 1 as the step of whole numbers.",
    }),
    list,
    total,
    noise.root,
    nulls.root,
    shuffle.root,
    make("h3", { text: "What it would do to made-up values" }),
    simulated,
  );
  return {
    offer(named) {
      columns = named.map((column) => columnOf(column, touched));
      list.replaceChildren(...columns.map(({ root }) => root));
      touched();
    },
    head() {
      const asked = columns.filter(({ asked: yes }) => yes());
      if (!asked.length) return { fault: "Pick at least one column." };
      const fault = asked.map((column) => column.fault()).find(Boolean);
      if (fault) return { fault };
      return {
        columns: asked.filter(({ levels }) => !levels()).map((column) => column.asking()),
        levels: asked.filter(({ levels }) => levels()).map((column) => column.asking()),
        nulls: nulls.select.value,
        shuffle: shuffle.input.checked,
        mechanism: noise.select.value || null,
      };
    },
  };
}

/** What a row costs, in a sentence: nothing is added up while a number is missing. */
function costs(asked) {
  if (!asked.length) return "";
  const open = asked.filter((column) => column.epsilon() === null);
  const names = open.map(({ name }) => name).join(", ");
  if (open.length) return `What a row costs is not known yet. Choose ε for: ${names}.`;
  const sum = asked.reduce((all, column) => all + column.epsilon(), 0);
  return `In total, a row costs ε = ${readableAtMost(sum)}: this is what being in one row costs a person.`;
}

/** One column of the file: a checkbox, and its fields once it is picked. */
function columnOf({ name, type }, touched) {
  const boxes = {};
  for (const [key, label, optional] of [
    ["low", "Smallest"],
    ["high", "Largest"],
    ["step", "Step", true],
  ]) {
    boxes[key] = new Box({
      label,
      name: `${label} of ${name}`,
      optional,
      placeholder: optional ? "none" : null,
      changed: touched,
      invalid: touched,
    });
  }
  const epsilon = new Slider({
    label: "ε",
    name: `Epsilon of ${name}`,
    low: 0.01,
    high: 20,
    ends: ENDS,
    changed: touched,
    invalid: touched,
  });
  const isTruth = type === "yes/no";
  const levels = words("All values that are possible, separated by commas", touched, {
    hint: isTruth
      ? "The values of a yes/no column are true and false."
      : "They must be public, as in red, green, blue.",
  });
  if (isTruth) levels.input.value = "true, false"; // what the type holds, whatever the data are
  const kind = pick(
    "It holds",
    [
      ["numbers", "numbers"],
      ["levels", "categories"],
    ],
    showKind,
  );
  kind.select.value = type === "text" || isTruth ? "levels" : "numbers";
  const three = [boxes.low, boxes.high, boxes.step];
  const numbers = make(
    "div",
    {},
    make("div", { class: "line" }, ...three.map(({ root }) => root)),
    ...three.map(({ error }) => error), // below the line, where they move no box
  );
  const fields = make(
    "div",
    { class: "picked", hidden: true },
    kind.root,
    numbers,
    levels.root,
    epsilon.root,
  );
  const picked = tick(name, (yes) => {
    fields.hidden = !yes;
    touched();
  });
  if (type !== "unknown") picked.root.append(make("span", { class: "quiet", text: type }));

  function showKind() {
    numbers.hidden = kind.select.value !== "numbers";
    levels.root.hidden = kind.select.value === "numbers";
    touched();
  }
  numbers.hidden = kind.select.value !== "numbers";
  levels.root.hidden = !numbers.hidden;
  const isLevels = () => kind.select.value === "levels";
  const listed = () =>
    levels.input.value
      .split(",")
      .map((level) => level.trim())
      .filter(Boolean);
  return {
    name,
    root: make("li", {}, picked.root, fields),
    asked: () => picked.input.checked,
    levels: isLevels,
    epsilon: () => epsilon.value,
    fault: () => fault(name, boxes, epsilon, isLevels() ? listed() : null),
    asking: () =>
      isLevels()
        ? { name, levels: listed(), epsilon: epsilon.value }
        : {
            name,
            bounds: [boxes.low.value, boxes.high.value],
            step: boxes.step.value,
            epsilon: epsilon.value,
          },
  };
}

/** What is still missing, as a sentence, or nothing. */
function fault(name, { low, high, step }, epsilon, levels) {
  if (levels) {
    if (levels.length < 2) return `Type at least two possible values of ${name}.`;
  } else {
    const wrong = [low, high, step].find((box) => box.fault);
    if (wrong) return wrong.fault;
    if (low.value === null || high.value === null)
      return `Type the smallest and the largest value of ${name}.`;
    if (low.value >= high.value) return `The largest value of ${name} must be above the smallest.`;
    if (step.value !== null && step.value <= 0) return `The step of ${name} must be positive.`;
  }
  if (epsilon.fault) return epsilon.fault;
  return epsilon.value === null ? `Choose ε for ${name}.` : "";
}
