// A summary by groups: which statistics of which columns, for which groups, at which guarantee.

import { make } from "./dom.js";
import { pick, tick, words } from "./fields.js";
import { Box, Slider } from "./slider.js";

const KINDS = ["mean", "median", "total", "histogram"];
const ENDS = ["more privacy, larger error", "less privacy, smaller error"];

/** Build the form in `place`; `changed` is called after each change. */
export function buildSummary(place, changed) {
  const part = { columns: [], by: [] };
  const list = make("ul", { class: "plainlist columnlist" });
  const byList = make("div", { class: "ticks", role: "group", "aria-label": "Group by" });
  const touched = () => {
    part.groups.root.hidden = !by(part).length;
    part.rows.root.hidden = part.rows.error.hidden = part.person.select.value === "";
    changed();
  };
  part.count = tick("The number of rows", touched, true);
  part.groups = words("The groups to report, one in each line", touched, {
    rows: 3,
    hint: "They must be public. With several columns, separate the values by commas. A misspelt group is an empty one.",
  });
  part.epsilon = new Slider({
    label: "ε",
    name: "Epsilon of the summary",
    low: 0.01,
    high: 20,
    ends: ENDS,
    changed: touched,
    invalid: touched,
  });
  part.delta = new Box({
    label: "δ",
    name: "Delta of the summary",
    examples: "1e-6",
    optional: true,
    placeholder: "none",
    changed: touched,
    invalid: touched,
  });
  part.adjacency = pick(
    "What is hidden",
    [
      ["replace", "the values of a person"],
      ["add-remove", "that a person is there at all"],
    ],
    touched,
  );
  part.person = pick("Column of people", [["", "none: one row per person"]], touched);
  part.rows = new Box({
    label: "Rows of one person, at most",
    name: "The rows of one person",
    examples: "1 or 10",
    changed: touched,
    invalid: touched,
  });
  part.rows.show(1);
  part.size = new Box({
    label: "Rows of a group, at most (public)",
    name: "The rows of a group",
    examples: "100 or 5000",
    optional: true,
    placeholder: "not stated",
    changed: touched,
    invalid: touched,
  });
  part.nulls = pick(
    "If a value is missing",
    [
      ["error", "stop"],
      ["skip", "leave out its row"],
    ],
    touched,
  );
  place.append(
    make("h3", { text: "Statistics" }),
    part.count.root,
    make("p", {
      text: "Type the smallest and the largest value that is possible for anybody; do not look at the data for it. Values outside are moved to the nearest bound.",
    }),
    list,
    make("h3", { text: "Groups" }),
    byList,
    part.groups.root,
    make("h3", { text: "Guarantee of the whole summary" }),
    part.epsilon.root,
    make("div", { class: "line" }, part.delta.root, part.adjacency.root),
    make(
      "div",
      { class: "line" },
      part.person.root,
      part.rows.root,
      part.size.root,
      part.nulls.root,
    ),
    ...[part.delta, part.rows, part.size].map(({ error }) => error), // below, where they move no box
  );
  part.groups.root.hidden = true;
  part.rows.root.hidden = true;
  return {
    offer(named) {
      part.columns = named.map((column) => columnOf(column, touched));
      part.by = named.map(({ name }) => ({ name, box: tick(name, touched) }));
      list.replaceChildren(...part.columns.map(({ root }) => root));
      byList.replaceChildren(...part.by.map(({ box }) => box.root));
      part.person.offer([
        ["", "none: one row per person"],
        ...named.map(({ name }) => [name, name]),
      ]);
      touched();
    },
    head: () => head(part),
  };
}

const by = (part) => part.by.filter(({ box }) => box.input.checked).map(({ name }) => name);

/** One column: its statistics, and its bounds once there is one. */
function columnOf({ name }, touched) {
  const box = (label) =>
    new Box({ label, name: `${label} of ${name}`, changed: touched, invalid: touched });
  const three = ["Smallest", "Largest", "Bins"].map(box);
  const [low, high, bins] = three;
  const fields = make(
    "div",
    { class: "picked", hidden: true },
    make("div", { class: "line" }, ...three.map(({ root }) => root)),
    ...three.map(({ error }) => error), // below the line, where they move no box
  );
  const ticks = KINDS.map((kind) =>
    tick(kind, () => {
      fields.hidden = !ticks.some(({ input }) => input.checked);
      bins.root.hidden = bins.error.hidden = !ticks.at(-1).input.checked;
      touched();
    }),
  );
  bins.root.hidden = true;
  const root = make(
    "li",
    {},
    make(
      "div",
      { class: "ticks", role: "group", "aria-label": `Statistics of ${name}` },
      make("strong", { text: name }),
      ...ticks.map((one) => one.root),
    ),
    fields,
  );
  return {
    name,
    root,
    low,
    high,
    bins,
    kinds: () => KINDS.filter((_, i) => ticks[i].input.checked),
  };
}

/** What the server is asked, or what is still missing. */
function head(part) {
  const statistics = {
    count: part.count.input.checked,
    mean: [],
    median: [],
    total: [],
    histogram: [],
  };
  for (const { name, low, high, bins, kinds } of part.columns) {
    for (const kind of kinds()) {
      const wrong = [low, high].find((one) => one.fault);
      if (wrong) return { fault: wrong.fault };
      if (low.value === null || high.value === null)
        return { fault: `Type the smallest and the largest value of ${name}.` };
      if (low.value >= high.value)
        return { fault: `The largest value of ${name} must be above the smallest.` };
      const asked = { name, bounds: [low.value, high.value] };
      if (kind === "histogram") {
        if (bins.fault) return { fault: bins.fault };
        if (!(bins.value >= 1) || !Number.isInteger(bins.value))
          return { fault: `Type how many bins the histogram of ${name} has.` };
        asked.bins = bins.value;
      }
      statistics[kind].push(asked);
    }
  }
  if (!statistics.count && !KINDS.some((kind) => statistics[kind].length))
    return { fault: "Choose at least one statistic." };
  const columns = by(part);
  const groups = groupsOf(part.groups.input.value, columns.length);
  if (columns.length && !groups.length) return { fault: "Type the groups to report." };
  if (groups.some((values) => values.length !== columns.length))
    return { fault: "Every group needs one value for each column." };
  const boxes = [part.epsilon, part.delta, part.rows, part.size];
  const wrong = boxes.find((box) => box.fault && !box.root.hidden);
  if (wrong) return { fault: wrong.fault };
  if (part.epsilon.value === null) return { fault: "Choose ε for the summary." };
  return {
    statistics,
    by: columns,
    groups,
    epsilon: part.epsilon.value,
    delta: part.delta.value,
    adjacency: part.adjacency.select.value,
    id: part.person.select.value || null,
    rows: part.rows.root.hidden ? 1 : part.rows.value,
    size: part.size.value,
    nulls: part.nulls.select.value,
  };
}

function groupsOf(text, width) {
  if (!width) return [];
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  return lines.map((line) => (width === 1 ? [line] : line.split(",").map((value) => value.trim())));
}
