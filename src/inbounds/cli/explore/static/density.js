// How likely each output is for one true value, which the person drags along the axis.

import { Chart, line, setSetting } from "./chart.js";
import { byId, facts, fresh, make, shape, speak, table } from "./dom.js";
import {
  ceiling,
  counted,
  percent,
  placed,
  range,
  readable,
  readableAtMost,
  settled,
  worded,
} from "./numbers.js";
import { tick } from "./fields.js";
import { Handle } from "./handle.js";

let chart;
let shown = null; // the newest view
let chosen = 0; // the coordinate that is shown
let handle;
let zoom;
const tell = new Set(); // who draws another picture of the chosen coordinate

/** Call with (view, index) when the view or the chosen coordinate changes. */
export const follow = (draw) => tell.add(draw);

export function buildDensity() {
  zoom = tick("Enlarge the likely outputs", () => drawChosen());
  const coordinates = make("div", { id: "choose-coordinate", class: "row" });
  chart = new Chart(byId("density"), {
    name: "output",
    title: "Distribution of the output",
    height: 300,
    interactive: true,
  });
  handle = new Handle(chart, { index: () => chosen, released: () => drawChosen() });
  byId("see-choice").append(handle.box.root, coordinates, zoom.root);
}

/** Show the newest view. */
export function drawDensity(view) {
  shown = view;
  setSetting(settingOf(view));
  if (chosen >= view.coordinates.length) chosen = 0;
  showChoice(view.coordinates.length);
  showCoordinates(view.coordinates);
  drawChosen();
  byId("notes").replaceChildren(
    ...[...warnings(view), ...view.notes].map((text) => make("li", { text: worded(text) })),
  );
}

/** What a figure needs to say where it stands by itself: the mechanism and its guarantee. */
function settingOf({ mechanism, guarantees, people }) {
  const { epsilon, delta, epsilon_at_delta: atDelta, rho } = guarantees;
  const short = mechanism.shown.replace(/\d+\.\d{5,}/g, (x) => String(Number(x).toPrecision(5)));
  const parts = [
    worded(short),
    delta && atDelta ? `ε = ${readableAtMost(atDelta)} at δ = ${readable(delta)}` : null,
    epsilon ? `pure ε = ${readableAtMost(epsilon)}` : null,
    delta || !rho ? null : `ρ = ${readableAtMost(rho)}`,
    people ? counted(people.count) : null,
  ];
  return parts.filter(Boolean).join(" · ");
}

function drawChosen() {
  if (!shown) return; // nothing is known yet
  const view = shown;
  const coordinate = view.coordinates[chosen];
  chart.draw(spec(coordinate, view.coordinates.length > 1));
  showFacts(view, coordinate);
  for (const draw of tell) draw(view, chosen);
}

function spec(coordinate, several) {
  const { interval, value, lower, upper } = coordinate;
  const [low, high] = handle.axis ?? axis(coordinate);
  const { density, stems } = within(coordinate, low, high);
  const most = ceiling(Math.max(0, ...stems.map((stem) => stem.probability)) * 1.05);
  const probability = {
    low: 0,
    high: Math.min(1, most),
    label: "probability of exactly this output",
  };
  const height = density ? ceiling(Math.max(...density.y.filter((y) => y !== null)) * 1.05) : 1;
  const density_axis = { low: 0, high: height, label: "density of the output" };
  const nth = several ? ` of coordinate ${chosen + 1}` : "";
  return {
    label: `Distribution of the output${nth} for the true value ${placed(value, [lower, upper])}. 95 percent of outputs are in ${range(interval)}.`,
    x: { low, high, label: `output${nth}` },
    y: density ? density_axis : probability,
    right: density && stems.length ? probability : null,
    pad: 10,
    paint: (drawn) =>
      paint(drawn, {
        density,
        stems,
        interval: interval.map((end) => Math.min(high, Math.max(low, end))),
      }),
    legend: [
      ["band", "holds 95 % of the outputs"],
      ...(density ? [["curve", "density of the output"]] : []),
      ...(stems.length ? [["stem", "probability of exactly this output"]] : []),
      ["pin", "true value"],
    ],
    columns: [
      "output",
      density ? "density" : "probability",
      ...(density && stems.length ? ["probability of exactly this"] : []),
    ],
    rows: () => rows({ density, stems }),
  };
}

/** The ends of the axis: the bounds, or where nearly all outputs are. */
function axis({ lower, upper, range: likely }) {
  return zoom.input.checked && likely && likely[0] < likely[1] ? likely : [lower, upper];
}

/** What lies on the axis. */
function within({ density, stems }, low, high) {
  const on = (x) => x >= low && x <= high;
  const kept = density && density.x.flatMap((x, i) => (on(x) ? [[x, density.y[i]]] : []));
  return {
    density: density && { x: kept.map(([x]) => x), y: kept.map(([, y]) => y) },
    stems: stems.filter(({ at }) => on(at)),
  };
}

function paint(drawn, { density, stems, interval }) {
  const { top, bottom } = drawn.box;
  const [from, to] = interval.map((end) => drawn.x.at(end));
  const nodes = [
    shape("rect", {
      x: from,
      y: top,
      width: Math.max(1, to - from),
      height: bottom - top,
      class: "band",
    }),
  ];
  if (density) {
    const path = drawn.path(density.x, density.y);
    const [left, right] = [drawn.x.at(density.x[0]), drawn.x.at(density.x.at(-1))];
    nodes.push(
      shape("path", { d: `${path}L${right} ${bottom}L${left} ${bottom}Z`, class: "area" }),
      shape("path", { d: path, class: "curve" }),
    );
  }
  return [...nodes, ...stems.flatMap((stem) => drawStem(drawn, stem, room(drawn, stems)))];
}

/** The pixels between two stems, where they are closest. */
function room(drawn, stems) {
  const gaps = stems.slice(1).map(({ at }, i) => drawn.x.at(at) - drawn.x.at(stems[i].at));
  return Math.min(40, ...gaps);
}

function drawStem(drawn, { at, probability }, room) {
  const { bottom } = drawn.box;
  const [x, y] = [drawn.x.at(at), (drawn.right ?? drawn.y).at(probability)];
  const stem = line(x, bottom, x, y, "stem");
  stem.setAttribute("stroke-width", Math.max(1, Math.min(4, room * 0.5)).toFixed(1));
  return room > 7
    ? [stem, shape("circle", { cx: x, cy: y, r: Math.min(5, room * 0.35), class: "head" })]
    : [stem];
}

function rows({ density, stems }) {
  if (!density) return stems.map(({ at, probability }) => [at, percent(probability)]);
  const every = Math.ceil(density.x.length / 60);
  const points = density.x.flatMap((x, i) => (i % every ? [] : [[x, density.y[i]]]));
  const atoms = stems.map(({ at, probability }) => [at, null, percent(probability)]);
  return stems.length ? [...points.map((point) => [...point, "0 %"]), ...atoms] : points;
}

function warnings(view) {
  if (view.beats_the_middle) return [];
  const middle = `always publishing the middle, which needs no data, has an error of ${readable(view.middle_rmse)}`;
  if (view.best_beats_the_middle === true) {
    return [
      `This mechanism is of no use here: ${middle}, and this one is not clearly below that. The budget allows better: choose “the one with the lowest error”.`,
    ];
  }
  if (view.best_beats_the_middle === false) {
    return [
      `This budget is too small to be of use: ${middle}, and no mechanism is clearly below that.`,
    ];
  }
  return [
    `This mechanism with this budget is of no use: ${middle}, and this one is not clearly below that. Compare shows whether another mechanism is.`,
  ];
}

function showFacts(view, coordinate) {
  const pairs = [
    ["95 % of outputs are in", range(coordinate.interval)],
    ["RMSE at this value", readable(coordinate.rmse)],
    ["bias at this value", readable(settled(coordinate.bias, coordinate.rmse))],
    ["RMSE, average over the box", readable(view.error.average_rmse)],
    ["RMSE, always the middle (no data)", readable(view.middle_rmse)],
  ];
  if (view.confidence)
    pairs.splice(1, 0, [
      "if this value were the output: 95 % interval of the true value",
      range(view.confidence),
    ]);
  facts(byId("see-facts"), pairs);
  speak(
    `95 percent of outputs are in ${range(coordinate.interval)}. RMSE ${readable(coordinate.rmse)}, bias ${readable(settled(coordinate.bias, coordinate.rmse))}.`,
  );
}

let choices = 0;
function showChoice(count) {
  const place = byId("choose-coordinate");
  place.hidden = count < 2;
  if (count === choices) return;
  choices = count;
  const [name, words] = [fresh("coordinate"), fresh("coordinate")];
  const buttons = Array.from({ length: count }, (_, index) => {
    const id = fresh("coordinate");
    const input = make("input", { type: "radio", name, id, change: () => choose(index) });
    input.checked = index === chosen;
    return make(
      "span",
      {},
      input,
      make("label", { for: id, text: String(index + 1), title: `Coordinate ${index + 1}` }),
    );
  });
  place.replaceChildren(
    make("span", { id: words, class: "named", text: "Coordinate" }),
    make("div", { class: "segments", role: "radiogroup", "aria-labelledby": words }, ...buttons),
  );
}

function choose(index) {
  chosen = index;
  drawChosen();
}

function showCoordinates(coordinates) {
  const place = byId("coordinates");
  if (coordinates.length < 2) return place.replaceChildren();
  const rows = coordinates.map(({ value, lower, upper, interval, rmse, bias }, i) => [
    `${i + 1}`,
    placed(value, [lower, upper]),
    range(interval),
    readable(rmse),
    readable(settled(bias, rmse)),
  ]);
  const made = table(
    "All coordinates",
    ["coordinate", "true value", "95 % of outputs are in", "RMSE", "bias"],
    rows,
  );
  return place.replaceChildren(make("h3", { text: "All coordinates" }), made);
}
