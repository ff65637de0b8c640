// A slider with an exact box beside it. Both always show the same number.

import { blame, fresh, make } from "./dom.js";
import { parse, plain, readable, round } from "./numbers.js";

const STEPS = 1000;

/**
 * @param {object} options label, low, high (the ends of the slider; the box takes any number),
 *   ends (what the two ends mean), spoken (the number in words), whole, changed (called with the
 *   new number)
 */
export class Slider {
  constructor({ label, low, high, ends, changed, spoken = readable, whole = false, name = label }) {
    Object.assign(this, { low, high, changed, spoken, whole, name, value: null });
    const [box, error, hint] = [fresh("box"), fresh("error"), fresh("ends")];
    this.box = make("input", {
      id: box,
      type: "text",
      inputmode: "decimal",
      autocomplete: "off",
      spellcheck: "false",
      "aria-describedby": error,
      input: () => this.#typed(),
      change: () => this.#settle(),
    });
    this.range = make("input", {
      type: "range",
      min: 0,
      max: STEPS,
      step: 1,
      "aria-label": `${name}, slider`,
      "aria-describedby": hint,
      input: () => this.#slid(),
    });
    this.root = make(
      "div",
      { class: "field slide" },
      make("label", { for: box, text: label }),
      this.box,
      this.range,
      make(
        "p",
        { class: "ends", id: hint },
        make("span", { text: ends[0] }),
        make("span", { text: ends[1] }),
      ),
      (this.error = make("p", { class: "wrong", id: error })),
    );
  }

  /** Show a number that was chosen elsewhere. */
  show(value) {
    this.value = value;
    // What a hand is typing is not rewritten: 0.50 stays 0.50.
    if (document.activeElement !== this.box || parse(this.box.value) !== value) {
      this.box.value = plain(value);
    }
    if (document.activeElement !== this.range || this.#at(this.range.value) !== value) {
      this.#place();
    }
    this.#say();
    blame(this.box, this.error, "");
  }

  /** Change what the ends of the slider stand for. */
  between(low, high) {
    [this.low, this.high] = [low, high];
    if (this.value !== null) this.#place();
  }

  fail(message) {
    blame(this.box, this.error, message);
  }

  #at(position) {
    const part = position / STEPS;
    const value = this.low * (this.high / this.low) ** part;
    return this.whole ? Math.max(1, Math.round(round(value))) : round(value);
  }

  #place() {
    const part = Math.log(this.value / this.low) / Math.log(this.high / this.low);
    this.range.value = String(Math.round(STEPS * Math.min(1, Math.max(0, part || 0))));
  }

  #say() {
    const said = this.value === null ? "not set" : this.spoken(this.value);
    this.range.setAttribute("aria-valuetext", said);
  }

  #slid() {
    this.value = this.#at(this.range.value);
    this.box.value = plain(this.value);
    this.#say();
    blame(this.box, this.error, "");
    this.changed(this.value);
  }

  #typed() {
    const value = parse(this.box.value);
    const fault = this.#fault(value);
    if (fault) return;
    this.value = value;
    this.#place();
    this.#say();
    blame(this.box, this.error, "");
    this.changed(value);
  }

  /** Blame a box only once the hand has left it: half a number is no mistake. */
  #settle() {
    blame(
      this.box,
      this.error,
      this.box.value.trim() === "" && this.value === null ? "" : this.#fault(parse(this.box.value)),
    );
  }

  #fault(value) {
    if (Number.isNaN(value)) return `${this.name} must be a number, as in 0.5 or 1e-6.`;
    if (value <= 0) return `${this.name} must be positive.`;
    if (this.whole && !Number.isInteger(value)) return `${this.name} must be a whole number.`;
    return "";
  }
}

/** A box for one number that may be empty; `changed` gets the number, or null. */
export class Box {
  constructor({
    label,
    changed,
    optional = false,
    hidden = false,
    name = label,
    placeholder = null,
  }) {
    Object.assign(this, { changed, optional, name, value: null });
    const [box, error] = [fresh("box"), fresh("error")];
    this.box = make("input", {
      id: box,
      type: "text",
      inputmode: "decimal",
      autocomplete: "off",
      spellcheck: "false",
      placeholder,
      "aria-describedby": error,
      input: () => this.#typed(),
      change: () => this.#settle(),
    });
    this.label = make("label", { for: box, text: label, class: hidden ? "hidden" : null });
    this.error = make("p", { class: "wrong", id: error });
    this.root = make("div", { class: "field" }, this.label, this.box, this.error);
  }

  show(value) {
    this.value = value;
    if (document.activeElement !== this.box || parse(this.box.value) !== value) {
      this.box.value = plain(value);
    }
    blame(this.box, this.error, "");
  }

  fail(message) {
    blame(this.box, this.error, message);
  }

  #typed() {
    if (this.#fault()) return;
    this.value = this.box.value.trim() === "" ? null : parse(this.box.value);
    blame(this.box, this.error, "");
    this.changed(this.value);
  }

  #settle() {
    blame(this.box, this.error, this.#fault());
  }

  #fault() {
    const text = this.box.value.trim();
    if (text === "" && this.optional) return "";
    return Number.isNaN(parse(text)) ? `${this.name} must be a number, as in 0.5 or −3.` : "";
  }
}
