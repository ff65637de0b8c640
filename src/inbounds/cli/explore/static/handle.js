// The true value: a handle on the axis of a chart, by hand or by keys, and its exact box.

import { label, line } from "./chart.js";
import { shape } from "./dom.js";
import { placed, tidy } from "./numbers.js";
import { Box } from "./slider.js";
import { change, listen, state, values } from "./state.js";

export class Handle {
  /** `index()` is the coordinate of the value; `released` is called at the end of a drag. */
  constructor(chart, { index, released }) {
    Object.assign(this, { chart, index, released });
    this.axis = null; // the ends of the axis while a hand drags: it must not move under the hand
    this.box = new Box({
      label: "True value (made up)",
      name: "The value",
      changed: (value) => this.#move(value),
    });
    this.box.root.classList.add("inline");
    this.rule = line(0, 0, 0, 0, "pin");
    this.knob = shape("circle", { r: 9, class: "knob" });
    this.text = label(0, 0, "", "middle", "tag");
    this.root = shape(
      "g",
      {
        role: "slider",
        tabindex: 0,
        class: "handle off",
        "aria-label": "True value, made up",
        keydown: (event) => this.#press(event),
      },
      this.rule,
      this.knob,
      this.text,
    );
    chart.over.append(this.root);
    chart.placed = () => this.#place();
    this.#listen();
  }

  #listen() {
    const { svg } = this.chart;
    svg.classList.add("draggable");
    svg.addEventListener("pointerdown", (event) => this.#grasp(event));
    svg.addEventListener("pointermove", (event) => {
      if (svg.hasPointerCapture(event.pointerId)) this.#drag(event);
    });
    svg.addEventListener("lostpointercapture", () => {
      this.axis = null;
      this.released();
    });
    listen(() => this.#place());
  }

  #grasp(event) {
    const { svg, spec } = this.chart;
    if (event.button !== 0 || !spec) return;
    svg.setPointerCapture(event.pointerId);
    this.root.focus({ preventScroll: true });
    event.preventDefault();
    this.axis = [spec.x.low, spec.x.high];
    this.#drag(event);
  }

  #drag(event) {
    const { svg, spec, x } = this.chart;
    const { low, high } = spec.x;
    const at = x.number(event.clientX - svg.getBoundingClientRect().left);
    this.#move(neat(Math.min(high, Math.max(low, at)), [low, high]));
  }

  #press(event) {
    const ends = this.#bounds();
    const [low, high] = ends;
    // Far from 0, the next number may be further away than a share of the width.
    const next = Math.max(Math.abs(low), Math.abs(high)) * Number.EPSILON;
    const step = Math.max(state.question.step ?? 0, (high - low) / 100, next);
    const by = {
      ArrowLeft: -step,
      ArrowDown: -step,
      ArrowRight: step,
      ArrowUp: step,
      PageDown: -10 * step,
      PageUp: 10 * step,
      Home: -Infinity,
      End: Infinity,
    }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    this.#move(tidy(values(state.question)[this.index()] + by, ends));
  }

  #bounds() {
    return state.question.bounds[this.index()];
  }

  /** Take a value over, inside the bounds and on a multiple of the step. */
  #move(value) {
    const ends = this.#bounds();
    const [low, high] = ends;
    const { step } = state.question;
    let inside = Math.min(high, Math.max(low, value));
    if (step && inside > low && inside < high) {
      const multiple = Math.min(high, low + step * Math.round((inside - low) / step));
      inside = tidy(multiple, ends, 12);
    }
    const all = [...(state.question.value ?? values(state.question))];
    all[this.index()] = inside;
    change({ value: all });
  }

  /** Put the handle where the value is, before the server has said anything about it. */
  #place() {
    const value = values(state.question)[this.index()];
    if (value === undefined || !this.chart.spec) return;
    const [low, high] = this.#bounds();
    if (!(low < high)) return; // the chart is still that of the last bounds
    const { spec, box, x: axis } = this.chart;
    const inside = Math.min(spec.x.high, Math.max(spec.x.low, value));
    const x = Math.min(box.right, Math.max(box.left, axis.at(inside)));
    set(this.rule, { x1: x, x2: x, y1: box.top - 6, y2: box.bottom });
    set(this.knob, { cx: x, cy: box.bottom });
    set(this.text, { x: Math.min(box.right - 20, Math.max(box.left + 20, x)), y: box.top + 6 });
    const words = placed(value, [low, high]);
    this.text.textContent = words;
    set(this.root, {
      class: "handle",
      "aria-valuemin": low,
      "aria-valuemax": high,
      "aria-valuenow": value,
      "aria-valuetext": `true value ${words}`,
    });
    this.box.show(value);
  }
}

function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
}

/** A value that a hand can mean: about a two-hundredth of the width, or finer. */
function neat(value, ends) {
  const grain = 10 ** Math.floor(Math.log10((ends[1] - ends[0]) / 200));
  return tidy(Math.round(value / grain) * grain, ends, 12);
}
