// A slider with an exact box beside it. Both always show the same number. While the box holds none,
// neither does the field: `value` is null, and `fault` says why.

import { blame, fresh, make } from "./dom.js";
import { parse, plain, readable, round } from "./numbers.js";
import { doubt } from "./state.js";

const STEPS = 1000;

/** A box for one number: what is typed, what is wrong with it, and what the server says of it. */
class Field {
  constructor({ name, changed, invalid }) {
    Object.assign(this, { name, changed, value: null, fault: "", said: "" });
    // By default the number is one of the question, which is then in doubt.
    this.invalid = invalid ?? ((fault) => doubt(this, fault));
    const [box, error] = [fresh("box"), fresh("error")];
    this.error = make("p", { class: "wrong", id: error, role: "alert" });
    this.box = make("input", {
      id: box,
      type: "text",
      inputmode: "decimal",
      autocomplete: "off",
      spellcheck: "false",
      "aria-describedby": error,
      input: () => this.typed(),
      change: () => this.blame(),
    });
  }

  /** Show what somebody else says of the number, until another is typed. */
  fail(message) {
    this.said = message;
    this.blame();
  }

  /** Forget what is half typed. */
  drop() {
    this.said = "";
    this.settle("");
    this.blame();
  }

  /** Blame a box only once the hand has left it: half a number is no mistake. */
  blame() {
    blame(this.box, this.error, this.said || this.fault);
  }

  /** Take back what was said of a number that is no longer in the box. */
  retract() {
    if (this.box.hasAttribute("aria-invalid")) blame(this.box, this.error, "");
  }

  /** Keep in mind what is wrong with the number; return whether it can be used. */
  settle(fault) {
    const before = this.fault;
    this.fault = fault;
    if (fault || before) this.invalid(fault);
    return !fault;
  }

  typed() {
    this.said = "";
    this.retract();
    const text = this.box.value.trim();
    const value = text === "" ? null : parse(text);
    const fault = this.wrong(text, value);
    this.value = fault ? null : value;
    this.place();
    if (!this.settle(fault)) return;
    this.blame();
    this.changed(value);
  }

  /** Show a number that was chosen elsewhere; what is half typed stays until it changes. */
  show(value) {
    if (this.fault && value === this.shown) return;
    this.shown = value;
    this.value = value;
    // What a hand is typing is not rewritten: 0.50 stays 0.50.
    if (document.activeElement !== this.box || parse(this.box.value) !== value) {
      this.box.value = plain(value);
    }
    this.settle("");
    this.blame();
    this.place();
  }

  place() {}
}

/** What is wrong with a text that is no number, in words. */
function misspelt(name, text, examples) {
  const must = `${name} must be a number, as in ${examples}`;
  if (text === "") return `${must}: the box is empty.`;
  if (/\d\s+\d/.test(text)) return `${must}, without spaces in it.`;
  if (/\d*,\d/.test(text)) return `${must}, with a point and not a comma.`;
  return `${must}.`;
}

/**
 * @param {object} options label, low, high (the ends of the slider; the box takes any number),
 *   ends (what the two ends mean), spoken (the number in words), whole, changed (called with the
 *   new number), invalid (called with a sentence if there is none, and with "" once there is)
 */
export class Slider extends Field {
  constructor({ label, low, high, ends, spoken = readable, whole = false, name = label, ...rest }) {
    super({ name, ...rest });
    Object.assign(this, { low, high, spoken, whole });
    const hint = fresh("ends");
    this.box.placeholder = "not set";
    this.range = make("input", {
      type: "range",
      min: 0,
      max: STEPS,
      step: 1,
      "aria-label": `${name}, slider`,
      "aria-describedby": hint,
      input: () => this.enter(this.#at(this.range.value)),
      keydown: (event) => this.#press(event),
    });
    this.root = make(
      "div",
      { class: "field slide" },
      make("label", { for: this.box.id, text: label }),
      this.box,
      this.range,
      make(
        "p",
        { class: "ends", id: hint },
        make("span", { text: ends[0] }),
        make("span", { text: ends[1] }),
      ),
      this.error,
    );
    this.place();
  }

  /** Change what the ends of the slider stand for. */
  between(low, high) {
    [this.low, this.high] = [low, high];
    this.place();
  }

  #at(position) {
    const part = position / STEPS;
    const value = this.low * (this.high / this.low) ** part;
    return this.whole ? Math.max(1, Math.round(round(value))) : round(value);
  }

  /** Put the slider where the number is, and say the number. */
  place() {
    const set = this.value !== null;
    this.range.classList.toggle("unset", !set);
    this.range.setAttribute("aria-valuetext", set ? this.spoken(this.value) : "not set");
    if (set && document.activeElement === this.range && this.#at(this.range.value) === this.value)
      return;
    const part = set ? Math.log(this.value / this.low) / Math.log(this.high / this.low) : 0;
    this.range.value = String(Math.round(STEPS * Math.min(1, Math.max(0, part || 0))));
  }

  /** With each arrow key the number changes, however close the numbers of the slider are. */
  #press(event) {
    const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    const isOther = event.altKey || event.ctrlKey || event.metaKey; // Alt and ← go back a page
    if (by === undefined || this.value === null || isOther) return;
    event.preventDefault();
    let position = Number(this.range.value);
    const isNext = () => by * (this.#at(position) - this.value) > 0;
    while (!isNext() && position + by >= 0 && position + by <= STEPS) position += by;
    if (!isNext()) return;
    this.range.value = String(position);
    this.enter(this.#at(position));
  }

  /** Take over a number that was not typed, but means the same. */
  enter(value) {
    this.shown = this.value = value;
    this.box.value = plain(value);
    this.said = "";
    this.place();
    this.settle("");
    this.blame();
    this.changed(this.value);
  }

  wrong(text, value) {
    if (text === "" || Number.isNaN(value)) return misspelt(this.name, text, "0.5 or 1e-6");
    if (!Number.isFinite(value)) return `${this.name} is too large.`;
    if (value <= 0) return `${this.name} must be positive.`;
    if (this.whole && !Number.isInteger(value)) return `${this.name} must be a whole number.`;
    return "";
  }
}

/** A box for one number that may be empty; `changed` gets the number, or null. */
export class Box extends Field {
  constructor({ label, name = label, hidden = false, placeholder, ...rest }) {
    super({ name, ...rest });
    const { optional = false, examples = "0.5 or −3" } = rest;
    Object.assign(this, { optional, examples });
    if (placeholder) this.box.placeholder = placeholder;
    this.label = make("label", { for: this.box.id, text: label, class: hidden ? "hidden" : null });
    this.root = make("div", { class: "field" }, this.label, this.box, this.error);
  }

  wrong(text, value) {
    if (text === "" && this.optional) return "";
    if (text === "" || Number.isNaN(value)) return misspelt(this.name, text, this.examples);
    return Number.isFinite(value) ? "" : `${this.name} is too large.`;
  }
}
