// The question that the page asks. Its link holds public parameters only, never the value.

import { fragment } from "./api.js";
import { tidy } from "./numbers.js";

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
const doubters = [];
const doubts = new Map(); // the fields of the question that hold no number, with a sentence each

export const state = { question: structuredClone(START), changes: 0 };

/** Call `listener(question, patch)` after each change. */
export const listen = (listener) => listeners.push(listener);

/** Call `listener()` each time a field of the question loses or gets its number. */
export const listenToDoubts = (listener) => doubters.push(listener);

/** Say why a field of the question holds no number; with nothing to say, it holds one again. */
export function doubt(field, sentence) {
  if ((doubts.get(field) ?? "") === sentence) return;
  if (sentence) doubts.set(field, sentence);
  else doubts.delete(field);
  for (const listener of doubters) listener();
}

/** What is wrong in the first field on the page that holds no number, or nothing. */
export function doubted() {
  for (const [{ box }, sentence] of doubts) {
    if (box.isConnected && !box.closest("[hidden]")) return sentence;
  }
  return "";
}

/** Change some keys of the question, and tell everybody. */
export function change(patch) {
  const before = state.question;
  state.question = { ...before, ...patch, ...followed(before, patch) };
  state.changes += 1;
  const { value, bounds } = state.question;
  if (value?.length !== bounds.length) state.question.value = null;
  for (const listener of listeners) listener(state.question, patch);
}

/** Take over a whole question: what is half typed goes. */
export function replace(question) {
  for (const field of [...doubts.keys()]) field.drop();
  change(question);
}

export const width = ({ bounds }) => bounds[0][1] - bounds[0][0];

let aggregate = null; // the sensitivity that was there before the question was about many people

/** In local privacy one person can move their own value all the way: the width of the bounds. */
function followed(before, patch) {
  const after = { ...before, ...patch };
  const wide = [width(after)];
  if (before.people === null && after.people !== null) {
    aggregate = before.sensitivity;
    return "sensitivity" in patch || !(wide[0] > 0) ? {} : { sensitivity: wide };
  }
  const stated = "sensitivity" in patch && patch.sensitivity !== before.sensitivity;
  if (stated || !isLocal(before)) return {};
  if (after.people !== null) return wide[0] > 0 ? { sensitivity: wide } : {};
  const back = aggregate ?? START.sensitivity;
  return { sensitivity: after.bounds.length === 1 || back.length === 1 ? [back[0]] : back };
}

/** Whether people hide their own values, and the sensitivity is that of their own values. */
export const isLocal = (question) =>
  question.people !== null && question.sensitivity[0] === width(question);

/** The value of each coordinate, within the bounds; a third of the way, unless a person chose one. */
export const values = ({ value, bounds, step }) =>
  bounds.map(([low, high], i) => {
    const chosen = value === null ? third(low, high, step) : value[i];
    return low < high ? Math.min(high, Math.max(low, chosen)) : chosen;
  });

/** Not the middle: there, noise that stays in bounds looks better than it is. */
function third(low, high, step) {
  const grain = step > 0 ? step : 10 ** Math.floor(Math.log10((high - low) / 200));
  const way = grain * Math.round((high - low) / 3 / grain);
  return Number.isFinite(way) ? tidy(low + way, [low, high], 12) : (low + high) / 2;
}

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
  if (question) replace(question);
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
