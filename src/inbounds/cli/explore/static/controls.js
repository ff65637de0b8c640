// The form at the left: the question and the guarantee.

import { Bounds } from "./bounds.js";
import { byId, fresh, make } from "./dom.js";
import { choice } from "./fields.js";
import { plain, readable } from "./numbers.js";
import { Sensitivity } from "./sensitivity.js";
import { Box, Slider } from "./slider.js";
import { change, isLocal, listen, listenToDoubts, MECHANISMS, state, width } from "./state.js";

const ENDS = ["more privacy, larger error", "less privacy, smaller error"];
const KINDS = [
  ["pure", "ε"],
  ["approximate", "ε with δ"],
  ["concentrated", "ρ"],
];
const WITH_RHO = ["best", "bounded-gaussian"];
const ONE_COORDINATE = ["optimal", "clamped-staircase", "window"];
const kept = { epsilon: 1, delta: 1e-6, rho: 0.1, people: 1000 }; // while another kind is chosen
let bounds;
let sensitivity;
const part = {};

/** Build the form and keep it in step with the question. */
export function buildControls() {
  bounds = new Bounds();
  sensitivity = new Sensitivity();
  part.step = new Box({
    label: "Step",
    optional: true,
    name: "The step",
    placeholder: "none",
    changed: (step) => change({ step }),
  });
  part.step.root.append(
    make("p", {
      class: "quiet",
      text: "Outputs are rounded to multiples of it; 1 for whole numbers.",
    }),
  );
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  byId("controls").append(
    group("Bounds of the output", bounds.list, bounds.add, part.step.root),
    group("Sensitivity", ...sensitivity.fields),
    group("Guarantee", ...guaranteeFields()),
    group("Mechanism", ...mechanismFields()),
    group("People", ...peopleFields()),
  );
  listen(show);
  listenToDoubts(() => showOdds(state.question.guarantee));
  show(state.question);
}

const group = (legend, ...fields) =>
  make("fieldset", {}, make("legend", { text: legend }), ...fields);

function guaranteeFields() {
  const name = fresh("guarantee");
  part.kinds = KINDS.map(([kind, text]) => {
    const id = fresh("kind");
    const input = make("input", {
      type: "radio",
      name,
      id,
      value: kind,
      change: () => chooseKind(kind),
    });
    return { kind, input, root: make("span", {}, input, make("label", { for: id, text })) };
  });
  const changed = (key) => (number) =>
    change({ guarantee: { ...state.question.guarantee, [key]: number } });
  part.epsilon = new Slider({
    label: "ε",
    name: "Epsilon",
    low: 0.01,
    high: 20,
    ends: ENDS,
    changed: changed("epsilon"),
    spoken: (x) =>
      isPure(state.question.guarantee)
        ? `epsilon ${readable(x)}, odds change by a factor of at most ${factor(x)}`
        : `epsilon ${readable(x)}`,
  });
  part.delta = new Slider({
    label: "δ",
    name: "Delta",
    low: 1e-12,
    high: 1e-3,
    ends: ENDS,
    changed: changed("delta"),
    spoken: (x) => `delta ${plain(x)}`,
  });
  part.rho = new Slider({
    label: "ρ",
    name: "Rho",
    low: 1e-4,
    high: 10,
    ends: ENDS,
    changed: changed("rho"),
    spoken: (x) => `rho ${readable(x)}`,
  });
  const kinds = make(
    "div",
    { class: "segments", role: "radiogroup", "aria-label": "Kind of guarantee" },
    ...part.kinds.map(({ root }) => root),
  );
  part.odds = make("p", { class: "quiet" });
  return [kinds, part.epsilon.root, part.odds, part.delta.root, part.rho.root];
}

function chooseKind(kind) {
  const { guarantee } = state.question;
  for (const key of ["epsilon", "delta", "rho"]) if (guarantee[key]) kept[key] = guarantee[key];
  const { epsilon, delta, rho } = kept;
  change({
    guarantee: {
      pure: { epsilon, delta: 0 },
      approximate: { epsilon, delta },
      concentrated: { rho },
    }[kind],
  });
}

function mechanismFields() {
  part.mechanism = choice("Mechanism", MECHANISMS, (mechanism) => change({ mechanism }));
  part.mechanism.root.firstChild.classList.add("hidden"); // the legend above says it already
  return [part.mechanism.root];
}

function peopleFields() {
  const id = fresh("local");
  part.local = make("input", {
    type: "checkbox",
    id,
    change: () => change({ people: part.local.checked ? kept.people : null }),
  });
  part.people = new Slider({
    label: "Number of people",
    name: "The number of people",
    low: 10,
    high: 1e7,
    whole: true,
    ends: ["few, larger error", "many, smaller error"],
    changed: (people) => change({ people: (kept.people = people) }),
  });
  part.width = make("button", {
    type: "button",
    click: () => {
      change({ sensitivity: [width(state.question)] });
      part.local.focus(); // the button that had the focus is gone
    },
  });
  part.widthWords = make("p", {});
  part.widthHint = make("div", { class: "hint" }, part.widthWords, part.width);
  part.onlyOne = make("p", { class: "quiet", text: "This is for one coordinate only." });
  const box = make(
    "div",
    { class: "check" },
    part.local,
    make("label", { for: id, text: "Every person hides their own value (local privacy)" }),
  );
  return [box, part.onlyOne, part.people.root, part.widthHint];
}

function show(question) {
  bounds.show(question);
  part.step.show(question.step);
  sensitivity.show(question);
  showMechanism(question);
  showGuarantee(question.guarantee);
  showPeople(question, question.bounds.length > 1);
}

/** Grey out what cannot work; what was chosen stays, and the server says what is wrong with it. */
function showMechanism(question) {
  const { select } = part.mechanism;
  MECHANISMS.forEach(([name, text], i) => {
    const why = unfit(name, question);
    select.options[i].disabled = why !== "";
    select.options[i].text = why ? `${text} (${why})` : text;
  });
  select.value = question.mechanism;
}

/** Why a mechanism cannot keep the guarantee of a question, or nothing. */
function unfit(name, { bounds: pairs, guarantee }) {
  if ("rho" in guarantee) return WITH_RHO.includes(name) ? "" : "not with ρ";
  if (pairs.length === 1) return "";
  if (ONE_COORDINATE.includes(name)) return "for one coordinate only";
  return name === "clamped-gaussian" && !(guarantee.delta > 0)
    ? "for several coordinates only with a δ"
    : "";
}

function showGuarantee(guarantee) {
  const kind = isPure(guarantee) ? "pure" : "rho" in guarantee ? "concentrated" : "approximate";
  for (const { kind: its, input } of part.kinds) input.checked = its === kind;
  for (const key of ["epsilon", "delta", "rho"]) {
    part[key].root.hidden = !(guarantee[key] > 0 || (key === "epsilon" && kind !== "concentrated"));
    if (part[key].root.hidden) part[key].drop();
    else part[key].show(guarantee[key]);
  }
  showOdds(guarantee);
}

const isPure = ({ rho, delta }) => rho === undefined && !(delta > 0);

function showOdds(guarantee) {
  part.odds.textContent =
    isPure(guarantee) && guarantee.epsilon > 0 && !part.epsilon.fault
      ? `The odds of any guess about a person change by a factor of at most e^ε = ${factor(guarantee.epsilon)}.`
      : "";
}

function showPeople(question, several) {
  const { people, sensitivity: moved } = question;
  part.local.checked = people !== null;
  part.local.disabled = several;
  part.onlyOne.hidden = !several;
  part.people.root.hidden = people === null;
  if (people !== null) part.people.show(people);
  const wide = width(question);
  part.widthHint.hidden = people === null || !(wide > 0);
  const local = isLocal(question);
  part.widthWords.textContent = local
    ? `The sensitivity is now ${readable(wide)}, the width of the bounds: a person who hides their own value can change all of it.`
    : `The sensitivity is ${readable(moved[0])}, not the width of the bounds. A person who hides their own value can change all of it, by ${readable(wide)}.`;
  part.width.hidden = local;
  part.width.textContent = `Set the sensitivity to ${readable(wide)}`;
}

/** e^ε, never rounded down, as it is a bound. */
function factor(epsilon) {
  const odds = Math.exp(epsilon);
  if (!Number.isFinite(odds)) return "more than any number here";
  const grain = 10 ** (Math.floor(Math.log10(odds)) - 2);
  return readable(Number((Math.ceil(odds / grain) * grain).toPrecision(3)), 3);
}

// The words by which the server's errors name a field, in the order in which they are looked for.
const FIELDS = [
  [/^sensitivity/i, () => sensitivity.named ?? bounds.rows[0].move],
  [/^(the )?(bounds|domain|box|lower|upper)/i, (said) => bounds.named(said)],
  [/^epsilon/i, () => part.epsilon],
  [/^delta/i, () => part.delta],
  [/^rho/i, () => part.rho],
  [/^step/i, () => part.step],
  [/^people/i, () => part.people],
  [/^norm/i, () => sensitivity.norm],
  [/^mechanism/i, () => part.mechanism],
];
let blamed = null;

/** Show the server's words beside the field that they name; return whether there is one. */
export function blameField(message) {
  forgive();
  const named = FIELDS.find(([words]) => words.test(message));
  blamed = named ? named[1](message) : null;
  if (blamed?.root.hidden) blamed = null;
  blamed?.fail(message);
  (blamed?.box ?? blamed?.select)?.scrollIntoView({ block: "nearest" });
  return blamed !== null;
}

/** Take the server's words away again. */
export function forgive() {
  blamed?.fail("");
  blamed = null;
}
