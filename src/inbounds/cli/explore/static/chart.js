// A drawing with axes, a legend and a table behind it, as wide as its place.

import { eachFrame, folded, make, shape, table } from "./dom.js";
import { column, labels, powers, readable, ticks } from "./numbers.js";

/** The cells of a column that tells rows apart, where they are numbers. */
const placesOf = (cells) => (cells.every((x) => typeof x === "number") ? column(cells) : []);

const MARGIN = { top: 30, right: 18, bottom: 46, left: 58 };
const LETTER = 7; // pixels, about

/** One axis: from numbers to pixels and back. */
class Axis {
  constructor({ low, high, log = false }, from, to) {
    Object.assign(this, { low, high, log, from, to });
  }

  at(number) {
    const part = this.log
      ? Math.log(number / this.low) / Math.log(this.high / this.low)
      : (number - this.low) / (this.high - this.low);
    return this.from + part * (this.to - this.from);
  }

  number(pixel) {
    const part = (pixel - this.from) / (this.to - this.from);
    return this.log
      ? this.low * (this.high / this.low) ** part
      : this.low + part * (this.high - this.low);
  }

  marks(count) {
    return this.log ? powers(this.low, this.high, count) : ticks(this.low, this.high, count);
  }

  /** Marks and, if they are round, the ends of the axis, which take the place of close marks. */
  marksWithEnds(count) {
    const marks = this.marks(count);
    if (this.log) return marks;
    const ends = [this.low, this.high].filter((end) => Number(end.toPrecision(4)) === end);
    const words = labels([...marks, ...ends]);
    const longest = LETTER * Math.max(...words.map((text) => text.length));
    const room = longest + LETTER + Math.max(0, longest / 2 - MARGIN.right);
    const apart = (mark) => ends.every((end) => Math.abs(this.at(end) - this.at(mark)) >= room);
    return [...marks.filter(apart), ...ends].sort((a, b) => a - b);
  }
}

export const charts = []; // for "take it along"
const watchers = [];
let setting = "";

/** Call `work` after a chart was drawn. */
export const watch = (work) => watchers.push(work);

/** Say, for saved figures, what the charts that do not say it themselves are about. */
export const setSetting = (text) => {
  setting = text;
};

export class Chart {
  /** `interactive` drawings hold a part with the role of a slider; the others are one picture. */
  constructor(figure, { name, title, height = 260, interactive = false, listed = true }) {
    Object.assign(this, { figure, name, title, height, spec: null });
    this.svg = shape("svg", { role: interactive ? "group" : "img", class: "drawing" });
    this.under = shape("g");
    this.data = shape("g");
    this.over = shape("g");
    this.svg.append(this.under, this.data, this.over);
    this.legend = make("ul", { class: "legend" });
    this.folded = folded("The numbers as a table", () => this.#table());
    figure.append(this.svg, this.legend, this.folded.details);
    new ResizeObserver(eachFrame(() => this.spec && this.#paint())).observe(figure);
    if (listed) charts.push(this);
  }

  /**
   * Draw `spec`: label, x, y and perhaps right ({low, high, log, label}), paint(chart) -> nodes,
   * legend ([look, text] pairs), columns with rows() for the table, perhaps places: how many of the
   * columns say where a row stands (one), and perhaps setting: what the figure is about, for those
   * who see it elsewhere.
   */
  draw(spec) {
    this.spec = spec;
    this.#paint();
    for (const work of watchers) work(this);
  }

  /** What the figure is about: its parameters in words. */
  get setting() {
    return this.spec.setting ?? setting;
  }

  /** Whether there is anything to see at the moment. */
  get exists() {
    return this.spec !== null && this.figure.closest("[hidden]") === null;
  }

  #table() {
    if (!this.spec) return make("p", { class: "quiet", text: "There are no numbers yet." });
    const { columns, rows, places = 1 } = this.spec;
    const lines = rows();
    const shown = (x) => (typeof x === "number" || x === null ? readable(x, 5) : x);
    const told = columns.slice(0, places).map((_, i) => placesOf(lines.map((line) => line[i])));
    const cells = lines.map((line, k) => line.map((x, i) => told[i]?.[k] ?? shown(x)));
    return table(`${this.title}: table`, columns, cells);
  }

  #paint() {
    const { spec } = this;
    this.width = Math.max(260, Math.round(this.figure.clientWidth));
    const right = spec.right ? 52 : MARGIN.right;
    const pad = spec.pad ?? 0; // room for stems that stand on the ends of the axis
    this.box = {
      left: MARGIN.left,
      top: MARGIN.top,
      right: this.width - right,
      bottom: this.height - MARGIN.bottom,
    };
    const { left, top, bottom } = this.box;
    this.x = new Axis(spec.x, left + pad, this.box.right - pad);
    this.y = new Axis(spec.y, bottom, top);
    this.right = spec.right ? new Axis(spec.right, bottom, top) : null;
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    this.svg.setAttribute("width", this.width);
    this.svg.setAttribute("height", this.height);
    this.svg.setAttribute("aria-label", spec.label);
    this.under.replaceChildren(...this.#frame());
    this.data.replaceChildren(...spec.paint(this));
    this.legend.replaceChildren(
      ...spec.legend.map(([look, text]) => make("li", {}, swatch(look), text)),
    );
    this.placed?.();
    this.folded.refresh();
  }

  #frame() {
    const { left, right, top, bottom } = this.box;
    const { x, y } = this.spec;
    const nodes = [];
    const heights = y.hidden ? [] : this.y.marks(5);
    const heightTexts = labels(heights, 3);
    heights.forEach((mark, i) => {
      const at = this.y.at(mark);
      nodes.push(line(left, at, right, at, "grid"), label(left - 8, at + 4, heightTexts[i], "end"));
    });
    const marks = this.x.marksWithEnds(this.width < 500 ? 4 : 7);
    const texts = labels(marks);
    marks.forEach((mark, i) => {
      const at = this.x.at(mark);
      nodes.push(
        line(at, bottom, at, bottom + 5, "axis"),
        label(this.#within(at, texts[i]), bottom + 19, texts[i], "middle"),
      );
    });
    nodes.push(
      line(left, bottom, right, bottom, "axis"),
      label((left + right) / 2, this.height - 8, x.label, "middle", "title"),
    );
    if (!y.hidden) nodes.push(label(4, 14, y.label, "start", "title"));
    return this.right ? [...nodes, ...this.#rightAxis()] : nodes;
  }

  /** Where the middle of a text has to be, so that it is not cut off at the sides. */
  #within(at, text) {
    const half = (LETTER * text.length) / 2;
    return Math.max(half, Math.min(this.width - half, at));
  }

  #rightAxis() {
    const { right, top, bottom } = this.box;
    const marks = this.right
      .marks(5)
      .flatMap((mark) => [
        line(right, this.right.at(mark), right + 5, this.right.at(mark), "axis"),
        label(right + 9, this.right.at(mark) + 4, readable(mark, 3), "start"),
      ]);
    return [
      line(right, top, right, bottom, "axis"),
      ...marks,
      label(this.width - 2, 14, this.spec.right.label, "end", "title"),
    ];
  }

  /** The path through points, with gaps where a number is missing or off a logarithmic axis. */
  path(xs, ys, axis = this.y) {
    let pen = "M";
    let path = "";
    xs.forEach((x, i) => {
      if (ys[i] === null || (axis.log && ys[i] <= 0)) {
        pen = "M";
        return;
      }
      path += `${pen}${this.x.at(x).toFixed(1)} ${axis.at(ys[i]).toFixed(1)}`;
      pen = "L";
    });
    return path;
  }
}

export const line = (x1, y1, x2, y2, look) => shape("line", { x1, y1, x2, y2, class: look });

export const label = (x, y, text, anchor = "start", look = "mark") =>
  shape("text", { x, y, "text-anchor": anchor, class: look, text });

/** A sample of a look, for the legend. */
export function swatch(look) {
  const svg = shape("svg", { width: 26, height: 14, class: "swatch", "aria-hidden": "true" });
  if (typeof look !== "string") svg.append(...look);
  else if (look === "band")
    svg.append(shape("rect", { x: 1, y: 1, width: 24, height: 12, class: "band" }));
  else if (look === "stem")
    svg.append(
      line(13, 14, 13, 5, "stem sample"),
      shape("circle", { cx: 13, cy: 4.5, r: 4, class: "head" }),
    );
  else if (look === "pin")
    svg.append(line(2, 7, 24, 7, "pin"), shape("circle", { cx: 13, cy: 7, r: 5, class: "knob" }));
  else if (look === "point") svg.append(shape("circle", { cx: 13, cy: 7, r: 5, class: "knob" }));
  else svg.append(line(1, 7, 25, 7, look));
  return svg;
}
