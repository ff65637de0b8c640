// From the goal backwards: which guarantee, or how many people, an error needs.

import { Newest } from "./api.js";
import { byId, fresh, make, speak } from "./dom.js";
import { Box } from "./slider.js";
import { change, listen, state } from "./state.js";

const ERRORS = [
  ["average_rmse", "on average (RMSE)"],
  ["worst_rmse", "at the worst value (RMSE)"],
  ["interval", "as the distance that 95 % of outputs keep"],
  ["mean_rmse", "of the mean of many people (RMSE)"],
];
const SOUGHT = [
  ["epsilon", "ε"],
  ["delta", "δ"],
  ["people", "the number of people"],
];
const part = {};
let turn = 0;

export function buildGoal() {
  part.error = new Box({
    label: "I can accept an error of",
    name: "The error",
    changed: (number) => (part.at_most = number),
  });
  part.error.show((part.at_most = 1));
  part.measure = choice("measured", ERRORS);
  part.find = choice("find", SOUGHT);
  part.wrong = make("p", { class: "wrong", id: fresh("error") });
  part.button = make("button", { type: "submit", class: "main", text: "Find" });
  byId("goal-form").append(
    part.error.root,
    part.measure.root,
    part.find.root,
    part.button,
    part.wrong,
  );
  byId("goal-form").addEventListener("submit", find);
  listen(adapt);
  adapt(state.question);
}

function choice(text, options) {
  const id = fresh("choice");
  const select = make(
    "select",
    { id, "aria-describedby": `${id}-error`, change: () => adapt(state.question) },
    ...options.map(([value, shown]) => make("option", { value, text: shown })),
  );
  return {
    select,
    root: make(
      "div",
      { class: "field" },
      make("label", { for: id, text }),
      select,
      make("p", { class: "wrong", id: `${id}-error` }),
    ),
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
  turn += 1;
  byId("goal-result").replaceChildren();
}

/** Hide what does not fit, and choose something that does. */
function offer(select, fits) {
  for (const option of select.options) option.hidden = option.disabled = !fits[option.value];
  const open = [...select.options].filter((option) => !option.disabled);
  if (open.length && !open.some((option) => option.value === select.value))
    select.value = open[0].value;
}

const solver = new Newest("/api/goal", {
  done: (solved, mine) => mine === turn && show(solved),
  failed: (problem, mine) =>
    mine === turn &&
    byId("goal-result").replaceChildren(make("p", { class: "wrong", text: problem.message })),
});

function find(event) {
  event.preventDefault();
  if (!(part.at_most > 0)) return part.error.fail("The error must be a positive number.");
  const goal = {
    find: part.find.select.value,
    error: part.measure.select.value,
    at_most: part.at_most,
  };
  byId("goal-result").replaceChildren(make("p", { class: "quiet", text: "computing…" }));
  return solver.ask({ question: state.question, goal }, (turn += 1));
}

function show({ possible, sentence, question }) {
  const words = make("p", { class: "lead", text: sentence });
  const result = byId("goal-result");
  if (!possible) return result.replaceChildren(words);
  const use = make("button", {
    type: "button",
    class: "main",
    text: "Use this",
    click: () => {
      const { bounds, step, sensitivity, norm, guarantee, mechanism, people } = question;
      change({ bounds, step, sensitivity, norm, guarantee, mechanism, people });
      result.replaceChildren(make("p", { class: "quiet", text: `Taken over. ${sentence}` }));
      part.button.focus(); // the button that had the focus is gone
      speak("Taken over into the question.");
    },
  });
  return result.replaceChildren(words, use);
}
