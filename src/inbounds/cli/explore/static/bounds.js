// The bounds of each coordinate, one line for each.

import { make } from "./dom.js";
import { Box } from "./slider.js";
import { change, state } from "./state.js";

const MOST = 8;

export class Bounds {
  constructor() {
    this.rows = [];
    this.list = make("div", { class: "bounds" });
    this.add = make("button", {
      type: "button",
      text: "Add a coordinate",
      click: () => this.#add(),
    });
  }

  show({ bounds, sensitivity, norm }) {
    if (this.rows.length !== bounds.length) {
      this.rows = bounds.map((_, index) => row(index, () => this.#remove(index)));
      this.list.replaceChildren(...this.rows.map(({ root }) => root));
    }
    const several = bounds.length > 1;
    this.rows.forEach(({ low, high, move, remove }, i) => {
      low.show(bounds[i][0]);
      high.show(bounds[i][1]);
      move.root.hidden = !(several && norm === "each");
      move.show(sensitivity[i] ?? sensitivity[0]);
      remove.hidden = !several;
    });
    this.add.disabled = bounds.length >= MOST;
  }

  /** The box that an error of the server names, as in "bounds[1]: …". */
  named(message) {
    const index = Number(/\[(\d)\]/.exec(message)?.[1] ?? 0);
    return (this.rows[index] ?? this.rows[0]).high;
  }

  #add() {
    const { bounds, sensitivity, norm } = state.question;
    change({
      bounds: [...bounds, [...bounds.at(-1)]],
      people: null,
      value: null,
      sensitivity: norm === "each" ? [...sensitivity, sensitivity.at(-1)] : sensitivity,
    });
    this.rows.at(-1).low.box.focus();
  }

  #remove(index) {
    const { bounds, sensitivity, norm } = state.question;
    const keep = (_, i) => i !== index;
    change({
      bounds: bounds.filter(keep),
      sensitivity: sensitivity.length > 1 ? sensitivity.filter(keep) : sensitivity,
      norm: bounds.length === 2 ? "l2" : norm,
      value: null,
    });
    this.add.focus(); // the button that had the focus is gone
  }
}

/** One line: lower, upper, what one person can move it by (for the norm "each"), remove. */
function row(index, removed) {
  const nth = `coordinate ${index + 1}`;
  const set = (side) => (number) => {
    const bounds = state.question.bounds.map((pair) => [...pair]);
    bounds[index][side] = number;
    change({ bounds });
  };
  const low = new Box({ label: "Lower", name: `The lower bound of ${nth}`, changed: set(0) });
  const high = new Box({ label: "Upper", name: `The upper bound of ${nth}`, changed: set(1) });
  const move = new Box({
    label: "Moves by",
    name: `The sensitivity of ${nth}`,
    changed: (number) => {
      const { sensitivity } = state.question;
      change({ sensitivity: sensitivity.map((old, i) => (i === index ? number : old)) });
    },
  });
  const remove = make("button", {
    type: "button",
    class: "small",
    text: "×",
    "aria-label": `Remove ${nth}`,
    click: removed,
  });
  const line = make("div", { class: "line" }, low.root, high.root, move.root, remove);
  // Errors stand below the whole line, where they have room.
  const root = make(
    "div",
    { role: "group", "aria-label": `Bounds of ${nth}` },
    line,
    low.error,
    high.error,
    move.error,
  );
  return { root, low, high, move, remove };
}
