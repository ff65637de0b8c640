// Made-up values and what they become: a picture of the true column would be a release at each move.

import { Newest } from "./api.js";
import { Chart } from "./chart.js";
import { make, shape } from "./dom.js";
import { ceiling, percent, readable } from "./numbers.js";

const ROWS = 1000;

/** Return a function that shows the columns it is given, as often as they change. */
export function preview(place) {
  const words = make("p", { class: "quiet" });
  const drawings = make("div", { class: "multiples" });
  place.append(words, drawings);
  const made = new Map(); // a chart for each name
  let newest = 0; // what was asked last; older answers are for other numbers
  const simulate = new Newest("/api/file/simulate", {
    done: ({ columns }, { names, turn }) => {
      if (turn !== newest) return;
      words.textContent = `These are ${ROWS.toLocaleString("en-US")} made-up values, spread evenly over the bounds. Your file is not used. The outputs are one random draw, so the curve changes a little each time; the error is exact.`;
      for (const column of columns) draw(chartOf(made, column.name), column);
      arrange(names);
    },
    failed: (problem, { turn }) => {
      if (turn !== newest) return;
      arrange([]); // what was there is for other numbers
      words.textContent = problem.message;
    },
  });
  const arrange = (names) => {
    const wanted = names.filter((name) => made.has(name)).map((name) => made.get(name).block);
    if (
      wanted.length !== drawings.children.length ||
      wanted.some((block, i) => drawings.children[i] !== block)
    ) {
      drawings.replaceChildren(...wanted);
    }
  };
  return (columns, mechanism) => {
    const names = columns.map(({ name }) => name);
    newest += 1;
    arrange(names);
    if (columns.length) simulate.ask({ columns, rows: ROWS, mechanism }, { names, turn: newest });
    else
      words.textContent =
        "Pick a column of numbers, type its bounds and choose ε: then this shows what happens.";
  };
}

function chartOf(made, name) {
  if (!made.has(name)) {
    const figure = make("figure", { class: "chart" });
    const error = make("p", { class: "quiet" });
    const block = make("div", {}, make("h4", { text: name }), error, figure);
    const chart = new Chart(figure, {
      name: "file",
      title: `Made-up values of ${name}`,
      height: 190,
      listed: false,
    });
    made.set(name, { block, chart, error });
  }
  return made.get(name);
}

function draw({ chart, error: words }, { name, values, outputs, error }) {
  const most = ceiling(100 * Math.max(...values.fractions, ...outputs.fractions) * 1.05);
  const { edges } = values;
  const off =
    error === null
      ? "The error is too large for a number here."
      : `On average over such values, an output is off by ${readable(error)} (RMSE).`;
  words.textContent = off;
  // The drawing measures its place, so it waits until the place is on the page.
  requestAnimationFrame(() =>
    chart.draw({
      label: `Made-up values of ${name} and their outputs. ${off}`,
      x: { low: edges[0], high: edges.at(-1), label: name },
      y: { low: 0, high: most, label: "% of rows" },
      pad: 4,
      paint: (drawn) => [
        shape("path", { d: `${outline(drawn, values)}Z`, class: "band" }),
        shape("path", { d: outline(drawn, outputs), class: "curve" }),
      ],
      legend: [
        ["band", "made-up values"],
        ["curve", "outputs"],
      ],
      places: 2,
      columns: ["at least", "less than", "made-up values", "outputs"],
      rows: () =>
        values.fractions.map((part, i) => [
          edges[i],
          edges[i + 1],
          percent(part),
          percent(outputs.fractions[i]),
        ]),
    }),
  );
}

/** The outline of bars, from the axis up and back down to it. */
function outline(drawn, { edges, fractions }) {
  const y = (part) => drawn.y.at(100 * part).toFixed(1);
  const x = (edge) => drawn.x.at(edge).toFixed(1);
  const tops = fractions.map(
    (part, i) => `L${x(edges[i])} ${y(part)}L${x(edges[i + 1])} ${y(part)}`,
  );
  return `M${x(edges[0])} ${y(0)}${tops.join("")}L${x(edges.at(-1))} ${y(0)}`;
}
