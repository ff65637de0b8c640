// The sensitivity: how far one person can move the value, and how to know it.

import { fresh, make, speak } from "./dom.js";
import { choice } from "./fields.js";
import { readable } from "./numbers.js";
import { Box, Slider } from "./slider.js";
import { change, state, width } from "./state.js";

const NORMS = [
  ["l2", "Euclidean length (l2)"],
  ["l1", "sum of changes (l1)"],
  ["linf", "largest change (linf)"],
  ["each", "each by itself"],
];

export class Sensitivity {
  constructor() {
    this.slider = new Slider({
      label: "How far one person can move the value",
      name: "The sensitivity",
      low: 0.01,
      high: 120,
      ends: ["a little", "all the way"],
      changed: (number) => change({ sensitivity: [number] }),
    });
    this.norm = choice("What it bounds", NORMS, (norm) => {
      const { sensitivity: old, bounds } = state.question;
      const sensitivity = norm === "each" ? bounds.map(() => old[0]) : [Math.max(...old)];
      change({ norm, sensitivity });
    });
    const summary = make("summary", {
      text: "How do I know?",
      mousedown: stay,
      click: () => summary.focus(),
    });
    this.help = make(
      "details",
      {},
      summary,
      make("ul", { class: "plainlist cases" }, ...this.#cases()),
    );
    this.fields = [this.slider.root, this.help, this.norm.root];
  }

  /** What is published, in three usual cases: a sentence, and a button that sets the number. */
  #cases() {
    this.people = new Box({
      label: "People in the mean",
      name: "The number of people",
      examples: "500",
      changed: () => this.#name(),
      invalid: () => this.#name(),
    });
    this.buttons = [];
    const listed = [
      {
        text: "What each person answers, published by that person: any answer is possible, so it is the whole width.",
        number: () => width(state.question),
      },
      {
        text: "A mean over people, whose number is public: it is the width divided by their number.",
        field: this.people,
        number: () => share(this.people.value),
      },
      { text: "A count of people: one person changes it by 1.", number: () => 1 },
    ];
    return listed.map(({ text, field, number }) => {
      const id = fresh("case");
      const button = make("button", {
        type: "button",
        "aria-describedby": id,
        mousedown: stay,
        click: () => this.#take(button, number()),
      });
      this.buttons.push({ button, number });
      return make("li", {}, make("p", { class: "quiet", id, text }), field?.root, button);
    });
  }

  #take(button, number) {
    button.focus();
    if (number === null) {
      this.people.fail("Type how many people the mean is of: a whole number from 1.");
      this.people.box.focus();
      return;
    }
    this.slider.enter(number);
    speak(`The sensitivity is now ${readable(number)}.`);
  }

  /** Say on each button which number it sets. */
  #name() {
    for (const { button, number } of this.buttons ?? []) {
      const set = number();
      button.disabled = set !== null && !(set > 0 && Number.isFinite(set));
      button.textContent = set > 0 ? `Set it to ${readable(set)}` : "Set it";
    }
  }

  /** The field that an error of the server names, or nothing while each coordinate has its own. */
  get named() {
    return this.slider.root.hidden ? null : this.slider;
  }

  show(question) {
    const { sensitivity, norm, bounds } = question;
    const several = bounds.length > 1;
    this.slider.root.hidden = several && norm === "each";
    const most = reach(question);
    this.slider.between(most * 1e-4, most);
    this.slider.show(sensitivity[0]);
    this.norm.root.hidden = !several;
    this.norm.select.value = norm;
    this.help.hidden = several;
    this.#name();
  }
}

/** Keep the focus until the click: what a box says once it loses the focus moves the button. */
const stay = (event) => event.preventDefault();

/** What one of so many people moves their mean by, or null if that is no number of people. */
const share = (people) =>
  people >= 1 && Number.isInteger(people) ? width(state.question) / people : null;

/** How far a value can move at all. */
function reach({ bounds, norm }) {
  const widths = bounds.map(([low, high]) => Math.abs(high - low));
  const size =
    { l1: widths.reduce((a, b) => a + b, 0), l2: Math.hypot(...widths) }[norm] ??
    Math.max(...widths);
  return size > 0 && Number.isFinite(size) ? size : 1;
}
