// Every mechanism at the same guarantee.

import { byId, make, shape, table } from "./dom.js";
import { look } from "./looks.js";
import { percent, readable, worded } from "./numbers.js";

// The server's percents of these columns are of squared errors, as the library prints them.
const SQUARED = new Map([
  ["mse_above_best_percent", "MSE above best"],
  ["mse_above_limit_percent", "MSE above limit"],
  ["read_mse_above_limit_percent", "MSE above limit, if read best"],
]);

const LIMIT =
  "No mechanism that is given this value alone, here or elsewhere, has a lower RMSE than the limit.";

let comparison = null;

/** The newest comparison, for "take it along"; null while there is none. */
export const compared = () => comparison;

export function drawComparison(newest) {
  comparison = newest;
  const { columns, rows, best, advice, why_no_limit: why } = newest;
  byId("advice").textContent = worded(advice);
  const lines = rows.map((row) =>
    columns.map(([key]) => content(key, row[key], row.mechanism === best)),
  );
  const made = table(
    "Comparison of mechanisms",
    columns.map(([key, heading]) => SQUARED.get(key) ?? heading),
    lines,
  );
  made
    .querySelectorAll("tbody tr")
    .forEach((line, i) => line.classList.toggle("best", rows[i].mechanism === best));
  keepScroll(byId("compare-table"), made);
  byId("compare-note").textContent = [
    "Every mechanism keeps the guarantee that you asked for. “true ε” is the one that it really gives, and a smaller one is more private.",
    "“Middle of the box” is what you could publish without any data.",
    "MSE is the mean squared error, the square of the RMSE: 2 % of it is about 1 % of the RMSE.",
    ...unlisted(rows, best),
    ...(why ? [worded(why)] : newest.limit_rmse > 0 ? [LIMIT] : []),
  ].join(" ");
}

/** Which rows the list of mechanisms does not name, and how to have them. */
function unlisted(rows, best) {
  const extra = rows.map(({ mechanism }) => mechanism).filter((text) => text.endsWith(")"));
  const others = extra.filter((text) => text !== best).map((text) => `“${text}”`);
  const all = new Intl.ListFormat("en").format(others);
  const several = others.length > 1;
  return [
    ...(extra.includes(best)
      ? [`“${best}” is what “the one with the lowest error” chooses here.`]
      : []),
    ...(others.length
      ? [
          `No entry of the list of mechanisms makes ${all}: ${several ? "they stand" : "it stands"} here to compare. The Python of the comparison, below, makes ${several ? "them" : "it"}.`,
        ]
      : []),
  ];
}

function keepScroll(place, made) {
  const left = place.firstChild?.scrollLeft ?? 0;
  const focused = place.contains(document.activeElement);
  place.replaceChildren(made);
  made.scrollLeft = left;
  if (focused) made.focus({ preventScroll: true });
}

function content(key, value, best) {
  if (key === "mechanism") return name(value, best);
  if (value === null || value === undefined) return "–";
  if (Array.isArray(value)) return value.map((x) => readable(x)).join(", ");
  if (typeof value !== "number") return String(value);
  if (key === "bound_mass") return percent(value);
  if (SQUARED.has(key)) return above(value);
  return key.endsWith("_percent") ? `${value.toFixed(1)} %` : readable(value);
}

/** As the library prints it: 1.9 %, and from ten times on × 20.63. */
const above = (percent) =>
  percent < 1000 ? `${percent.toFixed(1)} %` : `× ${readable(1 + percent / 100)}`;

function name(text, best) {
  const { fill, ink, letter, known } = look(text);
  const cell = make("span", { class: "mechanism" });
  if (known) {
    cell.append(
      shape(
        "svg",
        { width: 18, height: 18, class: "swatch", "aria-hidden": "true" },
        shape("rect", {
          x: 0.5,
          y: 0.5,
          width: 17,
          height: 17,
          rx: 3,
          class: `chip ${fill}`,
        }),
        shape("text", {
          x: 9,
          y: 13,
          "text-anchor": "middle",
          class: `letter ${ink}`,
          text: letter,
        }),
      ),
    );
  } else cell.append(make("span", { class: "swatch" }));
  const words = make("span", { text });
  if (best) words.append(" ", make("strong", { class: "badge", text: "best" }));
  cell.append(words);
  return cell;
}
