// From the goal backwards: which guarantee, or how many people, an error needs.

import { Newest } from "./api.js";
import { byId, fresh, make, speak } from "./dom.js";
import { readable, worded } from "./numbers.js";
import { Box } from "./slider.js";
import { doubted, isLocal, listen, listenToDoubts, replace, state, width } from "./state.js";

const ERRORS = [
  ["average_rmse", "on average (RMSE)"],
  ["worst_rmse", "at the worst value (RMSE)"],
  ["interval", "as the distance that 95 % of outputs keep"],
  ["mean_rmse", "of the mean of many people (RMSE)"],
];
const SOUGHT = [
  ["epsilon", "ε"],
  ["delta", "δ"],
  ["people", "people"],
];
const LOCAL = "local privacy, where each person hides their own value";
const part = {};
let turn = 0;

export function buildGoal() {
  part.error = new Box({
    label: "I can accept an error of",
    name: "The error",
    examples: "0.5 or 10",
    changed: clear,
    invalid: clear,
  });
  part.error.show(1);
  part.measure = choice("measured", ERRORS);
  part.find = choice("Find", SOUGHT);
  part.wrong = make("p", { class: "wrong", id: fresh("error") });
  part.button = make("button", { type: "submit", class: "main", text: "Find" });
  byId("goal-form").append(
    part.error.root,
    part.measure.root,
    part.find.root,
    part.button,
  );
  // Below the whole form: a message there moves neither a box nor the button.
  byId("goal-form").after(part.error.error, part.wrong);
  byId("goal-form").addEventListener("submit", find);
  listen(adapt);
  listenToDoubts(clear);
  adapt(state.question);
}

function choice(text, options) {
  const id = fresh("choice");
  const select = make(
    "select",
    {
      id,
      change: () => {
        wanted.set(select, select.value);
        adapt(state.question);
      },
    },
    ...options.map(([value, shown]) => make("option", { value, text: shown })),
  );
  return {
    select,
    root: make("div", { class: "field" }, make("label", { for: id, text }), select),
  };
}

/** Offer only what can be asked of this question, and drop a result that was for another one. */
function adapt(question) {
  const joint = question.bounds.length > 1;
  const concentrated = "rho" in question.guarantee;
  offer(part.find.select, { people: !joint, epsilon: !concentrated, delta: !concentrated });
  const none = [...part.find.select.options].every((option) => option.disabled);
  part.button.disabled = none;
  const hint = none ? "This finds ε or δ. Choose one of them as the guarantee." : "";
  if (part.wrong.textContent !== hint) part.wrong.textContent = hint;
  // The number of people changes the error of their mean, and no other.
  const forPeople = part.find.select.value === "people";
  const measures = ERRORS.map(([measure]) => [
    measure,
    measure === "mean_rmse" ? forPeople || question.people !== null : !forPeople,
  ]);
  offer(part.measure.select, Object.fromEntries(measures));
  clear();
}

/** Take a result away that is for other numbers. */
function clear() {
  turn += 1;
  byId("goal-result").replaceChildren();
}

const wanted = new Map(); // what a person chose, even while it does not fit

/** Hide what does not fit, and choose something that does: what was wanted, if it is there. */
function offer(select, fits) {
  for (const option of select.options) option.hidden = option.disabled = !fits[option.value];
  const open = [...select.options].filter((option) => !option.disabled);
  const wish = wanted.get(select) ?? select.options[0].value;
  const fitting = open.find((option) => option.value === wish) ?? open[0];
  if (fitting) select.value = fitting.value;
}

const solver = new Newest("/api/goal", {
  done: (solved, mine) => mine === turn && show({ ...solved, sentence: inFull(solved) }),
  failed: (problem, mine) =>
    mine === turn &&
    byId("goal-result").replaceChildren(make("p", { class: "wrong", text: problem.message })),
});

function find(event) {
  event.preventDefault();
  clear();
  const { error } = part;
  if (!(error.value > 0)) {
    const isEmpty = error.box.value.trim() === "";
    const said = isEmpty ? "Type the error that you can accept." : error.fault;
    error.fail(said || "The error must be positive.");
    return error.box.focus();
  }
  if (doubted()) return show({ possible: false, sentence: `In the question: ${doubted()}` });
  const goal = {
    find: part.find.select.value,
    error: part.measure.select.value,
    at_most: error.value,
  };
  byId("goal-result").replaceChildren(make("p", { class: "quiet", text: "computing…" }));
  return solver.ask({ question: asked(goal.find), goal }, turn);
}

/** The server's sentence, and what it does not say: it was asked about one mechanism. */
function inFull({ possible, sentence, is_proved: isProved }) {
  const another = state.question.mechanism !== "best" && !isProved;
  if (possible) return worded(sentence);
  const local = part.find.select.value === "people" ? ` (This is for ${LOCAL}.)` : "";
  return worded(sentence) + local + (another ? " Another mechanism may do it." : "");
}

/** The question; if people are sought, one person's own value is hidden, which can change fully. */
function asked(find) {
  const { question } = state;
  const isNew = find === "people" && question.people === null;
  return isNew ? { ...question, sensitivity: [width(question)] } : question;
}

function show({ possible, sentence, question }) {
  const words = make("p", { class: "lead", text: sentence });
  const result = byId("goal-result");
  if (!possible) return result.replaceChildren(words);
  const local = make("p", { class: "quiet", text: reach(question) });
  const use = make("button", {
    type: "button",
    class: "main",
    text: "Use this",
    click: () => {
      const { bounds, step, sensitivity, norm, guarantee, mechanism, people } = question;
      replace({ bounds, step, sensitivity, norm, guarantee, mechanism, people });
      const taken = `The question uses this now. ${sentence}`;
      result.replaceChildren(make("p", { class: "quiet", text: taken }));
      part.button.focus(); // the button that had the focus is gone
      speak("The question uses this now.");
    },
  });
  return result.replaceChildren(words, local, use);
}

/** Which sensitivity a number of people is for: without it, the number says little. */
function reach(question) {
  if (question.people === null) return "";
  const [wide, moved] = [readable(width(question)), readable(question.sensitivity[0])];
  const switches =
    state.question.people === null ? " “Use this” makes the question one about local privacy." : "";
  return isLocal(question)
    ? `This is for a sensitivity of ${wide}, the width of the bounds, in ${LOCAL}.${switches}`
    : `This is for a sensitivity of ${moved}. To hide a person's own value, it must be the width of the bounds, ${wide}.`;
}
