// What the mechanism promises: in words, in numbers, and as a curve.

import { Chart, line } from "./chart.js";
import { byId, facts, shape, table } from "./dom.js";
import { ceiling, percent, percentAtMost, plain, readable } from "./numbers.js";

const ODDS = new Map([
  [0.01, "1 in 100"],
  [0.1, "1 in 10"],
  [0.5, "1 in 2"],
]);
let chart;

export function buildGuarantee() {
  chart = new Chart(byId("curve"), {
    name: "guarantee",
    title: "Delta at every epsilon",
    height: 240,
  });
}

export function drawGuarantee(view, question) {
  const { guarantees, risk, mechanism } = view;
  byId("risk-sentence").textContent = risk.sentence;
  byId("risk-table").replaceChildren(risks(risk.rows));
  facts(byId("promise-facts"), numbers(mechanism, guarantees));
  drawCurve(guarantees, question.guarantee);
}

function risks(rows) {
  const lines = rows.map(([before, after]) => [
    ODDS.get(before) ?? percent(before),
    percentAtMost(after),
    bar(before, after),
  ]);
  return table(
    "How sure a guess can become",
    ["sure before", "at most sure after", "from … to"],
    lines,
  );
}

/** A bar from nothing to certain; the words beside it say the same. */
function bar(before, after) {
  const to = (part) => 2 + 196 * part;
  return shape(
    "svg",
    { viewBox: "0 0 200 16", width: 200, height: 16, class: "meter", "aria-hidden": "true" },
    shape("rect", { x: 1, y: 3, width: 198, height: 10, rx: 3, class: "track" }),
    shape("rect", {
      x: 2,
      y: 4,
      width: Math.max(1, 196 * after),
      height: 8,
      rx: 2,
      class: "after",
    }),
    line(to(before), 0, to(before), 16, "before"),
  );
}

function numbers(mechanism, { epsilon, delta, rho, gdp }) {
  const pairs = [["mechanism", mechanism.name]];
  if (mechanism.scale_name) {
    const name = { sigma: "σ (scale of the noise)" }[mechanism.scale_name] ?? mechanism.scale_name;
    pairs.push([
      name,
      [mechanism.scale]
        .flat()
        .map((x) => readable(x))
        .join(", "),
    ]);
  }
  return [
    ...pairs,
    ["ε", readable(epsilon)],
    ["δ", readable(delta)],
    ["ρ (zCDP)", readable(rho)],
    ["μ (Gaussian privacy)", readable(gdp)],
  ];
}

function drawCurve({ curve }, { epsilon, delta }) {
  const known = curve.delta.filter((d) => d !== null && d > 0);
  const most = Math.max(...known, 1e-300);
  const deep = Boolean(delta); // with a δ asked for, small ones matter
  const low = deep ? 10 ** Math.floor(Math.log10(Math.max(1e-16, Math.min(delta, ...known)))) : 0;
  const high = deep ? 10 ** Math.ceil(Math.log10(most)) : ceiling(most * 1.02);
  const last = Math.max(...curve.epsilon.filter((_, i) => curve.delta[i] !== null), 1e-9);
  const asked =
    epsilon !== undefined && epsilon <= last * 1.0001 && (!deep || delta >= low)
      ? { epsilon, delta: delta ?? 0 }
      : null;
  chart.draw({
    label: `Delta at every epsilon from 0 to ${readable(last)}; at 0, delta is ${readable(curve.delta[0])}.`,
    x: { low: 0, high: last, label: "ε" },
    y: { low, high: Math.max(high, low * 10), label: deep ? "δ (logarithmic)" : "δ", log: deep },
    paint: (drawn) => [
      shape("path", { d: drawn.path(curve.epsilon, curve.delta), class: "curve" }),
      ...(asked
        ? [
            shape("circle", {
              cx: drawn.x.at(asked.epsilon),
              cy: drawn.y.at(asked.delta),
              r: 5,
              class: "knob",
            }),
          ]
        : []),
    ],
    legend: [["curve", "δ of this mechanism"], ...(asked ? [["point", "what you asked for"]] : [])],
    columns: ["ε", "δ"],
    rows: () =>
      curve.epsilon.map((x, i) => [
        x,
        curve.delta[i] === null ? "–" : plain(Number(curve.delta[i].toPrecision(4))),
      ]),
  });
}
