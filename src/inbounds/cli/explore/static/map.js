// Which mechanism has the lowest error where, and where the question stands.

import { ask, Problem } from "./api.js";
import { Chart, line } from "./chart.js";
import { byId, make, shape } from "./dom.js";
import { look } from "./looks.js";
import { readable } from "./numbers.js";
import { listen, state } from "./state.js";

const AGAIN = 200; // milliseconds until the page asks how far a map is
const part = {};
const maps = new Map(); // by delta
let chosen = 0; // the delta of the map that is shown
let underway = null; // the delta of the map that is computed

export function buildMap() {
  part.pure = make("button", {
    type: "button",
    text: "Show the map for δ = 0",
    click: () => show(0),
  });
  part.own = make("button", {
    type: "button",
    click: () => compute(state.question.guarantee.delta),
  });
  part.bar = make("progress", { "aria-label": "Progress of the map" });
  part.words = make("span", { class: "quiet", role: "status" });
  byId("map-choice").append(part.pure, part.own, part.bar, part.words);
  part.bar.hidden = true;
  part.chart = new Chart(byId("map"), {
    name: "map",
    title: "The mechanism with the lowest error",
    height: 400,
  });
  listen(adapt);
}

/** Load the map that needs no time. */
export async function loadMap() {
  await compute(0);
}

function adapt() {
  const delta = state.question.guarantee.delta ?? 0;
  part.own.hidden = !(delta > 0) || delta === chosen;
  part.own.textContent = `${maps.has(delta) ? "Show" : "Compute"} the map for δ = ${readable(delta)}`;
  part.pure.hidden = chosen === 0;
  if (maps.has(chosen)) draw(maps.get(chosen));
}

function show(delta) {
  chosen = delta;
  if (underway === null) part.words.textContent = "";
  adapt();
}

async function compute(delta) {
  if (maps.has(delta)) return show(delta);
  if (underway !== null) return undefined;
  underway = delta;
  part.own.disabled = true;
  try {
    maps.set(delta, await finished(delta));
    show(delta);
    part.words.textContent = delta ? `The map for δ = ${readable(delta)} is shown.` : "";
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    part.words.textContent = problem.message;
  } finally {
    underway = null;
    part.own.disabled = false;
    part.bar.hidden = true;
  }
  return undefined;
}

async function finished(delta) {
  for (;;) {
    const answer = await ask("/api/regimes", { delta });
    if (answer.state === "done") return answer.map;
    part.bar.hidden = false;
    part.bar.max = answer.of;
    part.bar.value = answer.done;
    part.words.textContent = "computing the map…";
    await new Promise((resolve) => setTimeout(resolve, AGAIN));
  }
}

/** What the question has and the map has not. */
function foreign({ bounds, step, people, guarantee }) {
  if (bounds.length > 1) return "has several coordinates";
  if (people !== null) return "is about local privacy";
  if (guarantee.epsilon === undefined) return "is about ρ";
  return step === null ? null : "has a step";
}

/** Where the question is on the map, or why it is not there. */
function here(map) {
  const { bounds, sensitivity, guarantee } = state.question;
  const other = foreign(state.question);
  if (other)
    return { why: `Your question ${other}, so it is not on the map: the table above decides.` };
  const fraction = Math.min(1, sensitivity[0] / (bounds[0][1] - bounds[0][0]));
  const inside = (x, marks) =>
    x >= edge(marks, 0) * 0.9999 && x <= edge(marks, marks.length) * 1.0001;
  if (!inside(fraction, map.fractions) || !inside(guarantee.epsilon, map.epsilons)) {
    return { why: "Your question lies outside of the map: the table above decides." };
  }
  const column = nearest(map.fractions, fraction);
  const row = nearest(map.epsilons, guarantee.epsilon);
  return {
    fraction,
    epsilon: guarantee.epsilon,
    best: map.best[row][column],
    margin: map.margin[row][column],
    useless: map.useless[row][column],
    otherDelta: (guarantee.delta ?? 0) !== map.delta,
  };
}

const nearest = (marks, x) =>
  marks.reduce(
    (best, mark, i) =>
      Math.abs(Math.log(mark / x)) < Math.abs(Math.log(marks[best] / x)) ? i : best,
    0,
  );

/** The edge between marks on a logarithmic axis; the outer ones as far away as the inner. */
function edge(marks, i) {
  if (i === 0) return marks[0] ** 1.5 / marks[1] ** 0.5;
  if (i === marks.length) return marks.at(-1) ** 1.5 / marks.at(-2) ** 0.5;
  return Math.sqrt(marks[i - 1] * marks[i]);
}

function draw(map) {
  const place = here(map);
  const { fractions, epsilons } = map;
  const said = place.why ?? sentence(place);
  const subject = `δ = ${readable(map.delta)}, one number without a step, not local privacy`;
  byId("map-words").textContent = `This map is for ${subject}. ${said}`;
  part.chart.draw({
    label: `Map of the mechanism with the lowest average RMSE at δ = ${readable(map.delta)}, by sensitivity and epsilon. ${said}`,
    setting: `The lowest average RMSE for ${subject}`,
    x: {
      low: edge(fractions, 0),
      high: edge(fractions, fractions.length),
      label: "sensitivity, as a fraction of the width of the box",
      log: true,
    },
    y: { low: edge(epsilons, 0), high: edge(epsilons, epsilons.length), label: "ε", log: true },
    paint: (chart) => [...cells(chart, map), ...frontier(chart, map), ...mark(chart, place)],
    legend: [
      ...names(map).map((name) => [chip(name), `${look(name).letter}: ${name}`]),
      ...(map.useless.flat().includes(true)
        ? [["frontier", "below: not clearly better than the middle of the box"]]
        : []),
      ...(place.why
        ? []
        : [
            [
              [
                shape("circle", { cx: 13, cy: 7, r: 4, class: "halo" }),
                shape("circle", { cx: 13, cy: 7, r: 4, class: "here" }),
              ],
              "you are here",
            ],
          ]),
    ],
    columns: ["ε \\ sensitivity", ...fractions.map((f) => readable(f, 2))],
    rows: () =>
      epsilons
        .map((e, i) => [
          readable(e, 2),
          ...map.best[i].map(
            (name, j) =>
              `${name}${map.useless[i][j] ? " (of no use)" : ""}, ${readable(map.margin[i][j], 2)} % below`,
          ),
        ])
        .reverse(),
  });
}

const names = (map) => [...new Set(map.best.flat())].sort();

function sentence({ best, margin, useless, otherDelta }) {
  if (otherDelta) {
    const asked = readable(state.question.guarantee.delta ?? 0);
    return `You asked for δ = ${asked}, for which the best mechanism may be another: the table above decides.`;
  }
  if (useless)
    return "You are here: in the nearest cell of the map, no mechanism is clearly better than always publishing the middle of the box, as the budget is so small. The table above is for exactly your numbers.";
  return `You are here: ${best} has the lowest RMSE in the nearest cell of the map, ${readable(margin, 2)} % below the second lowest. The table above is for exactly your numbers.`;
}

const chip = (name) => [
  shape("rect", {
    x: 5,
    y: 0.5,
    width: 16,
    height: 13,
    rx: 2,
    class: `chip ${look(name).fill}`,
  }),
];

function cells(chart, { fractions, epsilons, best }) {
  return epsilons.flatMap((_, i) =>
    fractions.map((__, j) => {
      const [left, right] = [chart.x.at(edge(fractions, j)), chart.x.at(edge(fractions, j + 1))];
      const [bottom, top] = [chart.y.at(edge(epsilons, i)), chart.y.at(edge(epsilons, i + 1))];
      const { fill, ink, letter } = look(best[i][j]);
      return shape(
        "g",
        {},
        shape("rect", {
          x: left,
          y: top,
          width: right - left,
          height: bottom - top,
          class: `cell ${fill}`,
        }),
        shape("text", {
          x: (left + right) / 2,
          y: (top + bottom) / 2 + 4,
          "text-anchor": "middle",
          class: `letter ${ink}`,
          text: letter,
        }),
      );
    }),
  );
}

/** A thick line around the cells where no mechanism is of use. */
function frontier(chart, { fractions, epsilons, useless }) {
  const lines = [];
  const at = (i, j) => Boolean(useless[i]?.[j]);
  const x = (j) => chart.x.at(edge(fractions, j));
  const y = (i) => chart.y.at(edge(epsilons, i));
  useless.forEach((row, i) =>
    row.forEach((_, j) => {
      if (at(i, j) && i + 1 < useless.length && !at(i + 1, j))
        lines.push([x(j), y(i + 1), x(j + 1), y(i + 1)]);
      if (j > 0 && at(i, j) !== at(i, j - 1)) lines.push([x(j), y(i), x(j), y(i + 1)]);
    }),
  );
  return lines.map((ends) => line(...ends, "frontier"));
}

function mark(chart, { fraction, epsilon, why }) {
  if (why) return [];
  const at = { cx: chart.x.at(fraction), cy: chart.y.at(epsilon), r: 9 };
  return [
    shape("circle", { ...at, class: "halo" }),
    shape("circle", { ...at, class: "here" }),
    shape("circle", { ...at, r: 2.5, class: "dot" }),
  ];
}
