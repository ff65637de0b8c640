// The error of the output against the true value.

import { Chart, label, line } from "./chart.js";
import { follow } from "./density.js";
import { byId, shape } from "./dom.js";
import { ceiling, placed, readable, settled } from "./numbers.js";

export function buildError() {
  const chart = new Chart(byId("error"), {
    name: "error",
    title: "Error against the true value",
    height: 240,
  });
  follow((view, index) => {
    chart.draw(
      spec(
        view.coordinates[index],
        view.coordinates.length > 1 ? ` of coordinate ${index + 1}` : "",
      ),
    );
    const { worst_rmse: worst, worst_bias: bias, bound_mass: mass } = view.error;
    byId("error-words").textContent =
      `At the worst value, the RMSE is ${readable(worst)}; the largest bias is ${readable(bias)}.` +
      (mass > 0
        ? ` An output is exactly a bound with a probability of up to ${readable(100 * mass, 3)} %.`
        : "");
  });
}

function spec({ lower, upper, value, rmse, bias, errors }, nth) {
  const most = ceiling(Math.max(...errors.rmse, ...errors.bias.map(Math.abs)) * 1.02);
  const least = Math.min(...errors.bias) < -most / 1e6 ? -ceiling(-Math.min(...errors.bias)) : 0;
  return {
    label: `Root mean squared error and bias of the output${nth} against the true value. At ${placed(value, [lower, upper])}: RMSE ${readable(rmse)}, bias ${readable(settled(bias, rmse))}.`,
    x: { low: lower, high: upper, label: `true value${nth}` },
    y: { low: least, high: most, label: "error of the output" },
    pad: 10,
    paint: (chart) => [
      line(chart.box.left, chart.y.at(0), chart.box.right, chart.y.at(0), "axis"),
      line(chart.x.at(value), chart.box.top, chart.x.at(value), chart.box.bottom, "pin"),
      shape("path", { d: chart.path(errors.x, errors.bias), class: "second" }),
      shape("path", { d: chart.path(errors.x, errors.rmse), class: "curve" }),
      shape("circle", { cx: chart.x.at(value), cy: chart.y.at(rmse), r: 4.5, class: "knob" }),
      beside(chart, value, rmse),
    ],
    legend: [
      ["curve", "root mean squared error (RMSE)"],
      ["second", "bias: how far off on average"],
      ["pin", "your value"],
    ],
    columns: ["true value", "RMSE", "bias"],
    rows: () => errors.x.map((x, i) => [x, errors.rmse[i], errors.bias[i]]),
  };
}

function beside(chart, value, rmse) {
  const x = chart.x.at(value);
  const late = x > (chart.box.left + chart.box.right) / 2;
  return label(
    x + (late ? -9 : 9),
    Math.max(chart.box.top + 12, chart.y.at(rmse) - 8),
    readable(rmse),
    late ? "end" : "start",
    "tag",
  );
}
