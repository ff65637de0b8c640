// Every mechanism at the same guarantee.

import { byId, make, shape, table } from "./dom.js";
import { look } from "./looks.js";
import { percent, readable } from "./numbers.js";

let comparison = null;

/** The newest comparison, for "take it along"; null while there is none. */
export const compared = () => comparison;

export function drawComparison(newest) {
  comparison = newest;
  const { columns, rows, best, advice, why_no_limit: why } = newest;
  byId("advice").textContent = advice;
  const lines = rows.map((row) =>
    columns.map(([key]) => content(key, row[key], row.mechanism === best)),
  );
  const made = table(
    "Comparison of mechanisms",
    columns.map(([, heading]) => heading),
    lines,
  );
  made
    .querySelectorAll("tbody tr")
    .forEach((line, i) => line.classList.toggle("best", rows[i].mechanism === best));
  keepScroll(byId("compare-table"), made);
  byId("compare-note").textContent =
    "Every mechanism gives the same guarantee. “Middle of the box” is what you could publish without any data. " +
    (why ??
      "No mechanism that is given this value alone, here or elsewhere, has a lower RMSE than the limit.");
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
  return key.endsWith("_percent") ? `${readable(value, 3)} %` : readable(value);
}

function name(text, best) {
  const { fill, ink, letter, known } = look(text);
  const cell = make("span", { class: "mechanism" });
  if (known) {
    cell.append(
      shape(
        "svg",
        { width: 18, height: 18, class: "swatch", "aria-hidden": "true" },
        shape("rect", { x: 0.5, y: 0.5, width: 17, height: 17, rx: 3, fill, class: "chip" }),
        shape("text", {
          x: 9,
          y: 13,
          "text-anchor": "middle",
          fill: ink,
          class: "letter",
          text: letter,
        }),
      ),
    );
  } else cell.append(make("span", { class: "swatch" }));
  cell.append(text);
  if (best) cell.append(make("strong", { class: "badge", text: "best" }));
  return cell;
}
