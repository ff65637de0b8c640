// What the mechanism promises: in words, in numbers, and as a curve.

import { Chart, line } from "./chart.js";
import { byId, facts, make, shape, table } from "./dom.js";
import { ceiling, percent, percentAtMost, readable, readableAtMost, worded } from "./numbers.js";

const ODDS = new Map([
  [0.01, "1 in 100"],
  [0.1, "1 in 10"],
  [0.5, "1 in 2"],
]);
const FLOOR = 1e-16; // the least δ that the curve shows, unless a smaller one is asked for
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
  byId("risk-sentence").textContent = worded(risk.sentence);
  byId("risk-table").replaceChildren(
    risks(risk.rows),
    ...(risk.note ? [make("p", { class: "quiet", text: worded(risk.note) })] : []),
  );
  facts(byId("promise-facts"), numbers(mechanism, guarantees, question.guarantee));
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
    ["sure before", "at most sure after", "as a bar"],
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

function numbers(mechanism, guarantees, asked) {
  const { epsilon, delta, epsilon_at_delta: atDelta, rho, gdp } = guarantees;
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
    ...epsilons(epsilon, delta, atDelta, asked),
    ["ρ (zCDP)", readableAtMost(rho)],
    ["μ (Gaussian privacy)", readableAtMost(gdp)],
  ];
}

/** The pure ε, and the one that belongs to a δ: an ε and a δ are stated only as a pair. */
function epsilons(pure, delta, atDelta, asked) {
  const known = (number) => number !== null && number !== undefined;
  const written = known(pure) ? readableAtMost(pure) : "none";
  const pair = known(atDelta) && delta > 0;
  if (!pair && asked.rho === undefined) return [["ε", written]];
  return [
    ...(pair ? [[`ε at δ = ${readable(delta)}`, readableAtMost(atDelta)]] : []),
    ["pure ε", written],
  ];
}

function drawCurve({ curve }, { epsilon, delta, rho }) {
  const known = curve.delta.filter((d) => d !== null && d > 0);
  const most = Math.max(...known, 1e-300);
  const deep = Boolean(delta) || rho !== undefined; // with a δ to choose, small ones matter
  const low = deep ? floor(known, delta) : 0;
  const high = deep ? 10 ** Math.ceil(Math.log10(most) - 1e-9) : ceiling(most * 1.02);
  const last = Math.max(...curve.epsilon.filter((_, i) => curve.delta[i] !== null), 1e-9);
  const asked =
    epsilon !== undefined && epsilon <= last * 1.0001 ? { epsilon, delta: delta ?? 0 } : null;
  const goesOn = deep && curve.delta.some((d) => d !== null && d < low);
  const points = deep ? downTo(low, curve) : curve;
  chart.draw({
    label: `Delta at every epsilon from 0 to ${readable(last)}; at 0, delta is ${readable(curve.delta[0])}.`,
    x: { low: 0, high: last, label: "ε" },
    y: { low, high: Math.max(high, low * 10), label: deep ? "δ (logarithmic)" : "δ", log: deep },
    paint: (drawn) => [
      shape("path", { d: drawn.path(points.epsilon, points.delta), class: "curve" }),
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
    legend: [
      [
        "curve",
        `δ of this mechanism${goesOn ? `; the chart ends at δ = ${readable(low)}, but the curve goes on` : ""}`,
      ],
      ...(asked ? [["point", "what you asked for"]] : []),
    ],
    columns: ["ε", "δ"],
    rows: () => curve.epsilon.map((x, i) => [x, curve.delta[i]]),
  });
}

/** The power of ten at which a logarithmic axis of δ ends: no curve goes on for ever. */
function floor(known, delta) {
  const least = Math.max(FLOOR, Math.min(delta || 1, ...known));
  return 10 ** Math.floor(Math.log10(Math.min(delta || 1, least)) + 1e-9);
}

/** The part of a curve from `low` upwards, which ends on `low` where the curve crosses it. */
function downTo(low, { epsilon, delta }) {
  const part = { epsilon: [], delta: [] };
  for (let i = 0; i < epsilon.length && delta[i] !== null; i += 1) {
    if (delta[i] >= low) {
      part.epsilon.push(epsilon[i]);
      part.delta.push(delta[i]);
    } else {
      if (i > 0) {
        // On a logarithmic axis a line between two points is one of the logarithms.
        const fall = Math.log(delta[i - 1] / low);
        const stretch = delta[i] > 0 ? fall / Math.log(delta[i - 1] / delta[i]) : 1;
        part.epsilon.push(epsilon[i - 1] + stretch * (epsilon[i] - epsilon[i - 1]));
        part.delta.push(low);
      }
      break;
    }
  }
  return part;
}
