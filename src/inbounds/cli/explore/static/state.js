// The question that the page asks. Its link holds public parameters only, never the value.

import { fragment } from "./api.js";

const START = {
  bounds: [[0, 120]],
  step: null,
  sensitivity: [2.5],
  norm: "l2",
  guarantee: { epsilon: 1, delta: 0 },
  mechanism: "best",
  value: null,
  people: null,
};
export const MECHANISMS = [
  ["best", "the one with the lowest error"],
  ["optimal", "Optimal"],
  ["clamped-staircase", "Clamped staircase"],
  ["clamped-laplace", "Clamped Laplace"],
  ["bounded-laplace", "Bounded Laplace"],
  ["clamped-gaussian", "Clamped Gaussian"],
  ["bounded-gaussian", "Bounded Gaussian"],
  ["window", "Window"],
];
const NORMS = ["l2", "l1", "linf", "each"];
const KINDS = ["epsilon", "delta", "rho"];
const listeners = [];

export const state = { question: structuredClone(START), changes: 0 };

/** Call `listener(question, patch)` after each change. */
export const listen = (listener) => listeners.push(listener);

/** Change some keys of the question, and tell everybody. */
export function change(patch) {
  state.question = { ...state.question, ...patch };
  state.changes += 1;
  keepValueInside();
  for (const listener of listeners) listener(state.question, patch);
}

function keepValueInside() {
  const { value, bounds } = state.question;
  if (value === null) return;
  if (value.length !== bounds.length) state.question.value = null;
  else {
    state.question.value = value.map((v, i) => Math.min(bounds[i][1], Math.max(bounds[i][0], v)));
  }
}

/** The value of each coordinate; the middle, unless the person chose another. */
export const values = ({ value, bounds }) => value ?? bounds.map(([low, high]) => (low + high) / 2);

/** What follows # in a link to this question. */
export function encoded(question) {
  const { value, ...shown } = question;
  return `state=${encodeURIComponent(JSON.stringify(shown))}`;
}

/** Take over the question of a link; return whether there was one that can be read. */
export function restore(text) {
  const written = fragment(text).get("state");
  if (written === undefined) return false;
  let question = null;
  try {
    question = checked(JSON.parse(decodeURIComponent(written)));
  } catch {
    question = null; // not ours, or cut short
  }
  if (question) change(question);
  return question !== null;
}

/** A question with the right kinds of things in it, or null: a link may come from anybody. */
export function checked(written) {
  const number = (x) => typeof x === "number" && Number.isFinite(x);
  const question = { ...structuredClone(START), ...written, value: null };
  const { bounds, step, sensitivity, norm, guarantee, mechanism, people } = question;
  const fine =
    Object.keys(question).every((key) => Object.hasOwn(START, key)) &&
    Array.isArray(bounds) &&
    bounds.length >= 1 &&
    bounds.length <= 8 &&
    bounds.every((pair) => Array.isArray(pair) && pair.length === 2 && pair.every(number)) &&
    (step === null || number(step)) &&
    Array.isArray(sensitivity) &&
    sensitivity.every(number) &&
    (sensitivity.length === 1 || sensitivity.length === bounds.length) &&
    NORMS.includes(norm) &&
    MECHANISMS.some(([name]) => name === mechanism) &&
    (people === null || Number.isInteger(people)) &&
    typeof guarantee === "object" &&
    guarantee !== null &&
    (number(guarantee.rho) || number(guarantee.epsilon)) &&
    Object.entries(guarantee).every(([key, x]) => KINDS.includes(key) && number(x));
  return fine ? question : null;
}
