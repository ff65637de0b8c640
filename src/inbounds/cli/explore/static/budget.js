// The ledger's datasets, and what is left of each; only a draw from a file changes them.

import { Newest } from "./api.js";
import { byId, make, shape, table } from "./dom.js";
import { percent, worded } from "./numbers.js";

let ledger = { place: null, datasets: [] };
const watchers = [];

/** Call with the ledger each time it was read. */
export const watch = (watcher) => watchers.push(watcher);

export function buildBudget() {
  const again = make("button", { type: "button", text: "Read again", click: loadLedger });
  byId("budget-body").append(make("div", { id: "budget-table" }), make("p", {}, again));
}

const reader = new Newest("/api/ledger", {
  done: (read) => {
    ledger = read;
    byId("budget-table").replaceChildren(...shown());
    for (const watcher of watchers) watcher(ledger);
  },
  failed: (problem) => {
    byId("budget-table").replaceChildren(make("p", { class: "wrong", text: problem.message }));
  },
});

export const loadLedger = () => reader.ask({});

function shown() {
  const { place, datasets } = ledger;
  if (place === null) {
    return [
      make(
        "p",
        {},
        "This page has no ledger. A ledger keeps account of what was spent on each dataset. Start with ",
        make("code", { text: "inbounds explore --ledger budget.db" }),
        " to see one here and to charge releases to it.",
      ),
    ];
  }
  if (!datasets.length) return [make("p", { text: "The ledger has no datasets yet." })];
  const rows = datasets.map((row) => [
    row.dataset,
    ...[row.budget, row.spent, row.remaining].map(written),
    bar(row.fraction_spent),
    row.unit ?? "–",
    String(row.entries),
  ]);
  const headings = ["dataset", "budget", "spent", "left", "fraction spent", "hides", "entries"];
  return [
    make("p", {}, "The ledger is ", make("code", { text: place }), ". This table only reads it; a draw from your file is written to it, if you charge it to a dataset."),
    table("Datasets of the ledger", headings, rows),
  ];
}

const written = (amount) => worded(String(amount ?? "–"));

function bar(fraction) {
  if (fraction === null || fraction === undefined) return "–";
  const drawing = shape(
    "svg",
    { viewBox: "0 0 100 14", width: 100, height: 14, "aria-hidden": "true", class: "meter" },
    shape("rect", { x: 0.5, y: 2, width: 99, height: 10, rx: 3, class: "track" }),
    shape("rect", {
      x: 1.5,
      y: 3,
      width: Math.max(0, Math.min(1, fraction)) * 97,
      height: 8,
      rx: 2,
      class: "after",
    }),
  );
  return make("span", { class: "measured" }, drawing, percent(fraction));
}
