// Many people who each hide their own value: what is left of the error in their mean.

import { Chart, label, line } from "./chart.js";
import { byId, facts, make, shape } from "./dom.js";
import { ceiling, counted, readable } from "./numbers.js";
import { change, isLocal, width } from "./state.js";

const part = {};

export function buildPeople() {
  part.none = make(
    "div",
    {},
    make("p", {
      text: "The question at the moment is about one number that somebody computes from everybody's values.",
    }),
    make("button", {
      type: "button",
      text: "Ask about 1,000 people",
      click: () => change({ people: 1000 }),
    }),
  );
  part.words = make("p", { class: "lead" });
  part.reach = make("p", { class: "quiet" });
  part.facts = make("dl", { class: "facts" });
  part.figure = make("figure", { class: "chart" });
  part.some = make("div", {}, part.words, part.reach, part.facts, part.figure);
  byId("many-result").append(part.none, part.some);
  part.some.hidden = true;
  part.chart = new Chart(part.figure, {
    name: "people",
    title: "Error of the mean of many people",
    height: 170,
  });
}

export function drawPeople({ people }, question) {
  part.none.hidden = people !== null;
  part.some.hidden = people === null;
  part.none.querySelector("button").disabled = question.bounds.length > 1;
  if (people === null) return;
  const { count, mean_rmse: read, plain_bias: bias } = people;
  const subject =
    count === 1
      ? "The value of 1 person, read back from the output,"
      : `The mean of ${counted(count)}, read back from their outputs,`;
  part.words.textContent = `${subject} is off by ${readable(read)} (RMSE).`;
  const { sensitivity } = question;
  part.reach.textContent = isLocal(question)
    ? `The sensitivity is the width of the bounds, ${readable(width(question))}: each person's own value is hidden.`
    : `This is for a sensitivity of ${readable(sensitivity[0])}. To hide a person's own value, it must be the width of the bounds, ${readable(width(question))}.`;
  facts(part.facts, [
    ["people", readable(count, 9)],
    ["RMSE of the mean, read back", readable(read)],
    ["bias of the plain average, at worst", readable(bias)],
  ]);
  part.chart.draw(spec(read, bias));
}

function spec(read, bias) {
  const bars = [
    ["mean, read back (RMSE)", read, "curve"],
    ["plain average (bias, at worst)", bias, "second"],
  ];
  return {
    label: `Error of the mean: read back ${readable(read)}; bias of the plain average ${readable(bias)}.`,
    x: { low: 0, high: ceiling(Math.max(read ?? 0, bias ?? 0) * 1.1), label: "error of the mean" },
    y: { low: 0, high: 2, label: "", hidden: true },
    paint: (chart) =>
      bars.flatMap(([text, size, look], i) => {
        const y = chart.y.at(1.45 - i);
        const from = chart.x.at(0);
        return [
          label(from, y - 14, `${text}: ${readable(size)}`, "start", "tag"),
          line(from, y, Math.max(from + 1, chart.x.at(size ?? 0)), y, `${look} thick`),
          shape("circle", {
            cx: Math.max(from, chart.x.at(size ?? 0)),
            cy: y,
            r: 4.5,
            class: `end-${look}`,
          }),
        ];
      }),
    legend: [],
    columns: ["estimate", "error"],
    rows: () => bars.map(([text, size]) => [text, size]),
  };
}
