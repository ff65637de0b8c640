// Your file: choose it, pick columns, see what made-up values would become, draw once.

import { askAboutFile, Problem } from "./api.js";
import { buildColumns } from "./columns.js";
import { byId, fresh, make, speak } from "./dom.js";
import { pick, segments } from "./fields.js";
import { worded } from "./numbers.js";
import { Draws, Release } from "./release.js";
import { buildSummary } from "./summary.js";

const READING = "Reading the file…";
const MOST = 64 * 2 ** 20;
const DELIMITERS = [
  [",", "comma"],
  [";", "semicolon"],
  ["\t", "tab"],
  ["|", "vertical bar"],
];
const part = { file: null, turn: 0 };
const draws = new Draws();

export function buildFile() {
  byId("file-body").append(chooser(), (part.rest = make("div", { hidden: true })));
  const what = segments(
    "What to publish",
    [
      ["rows", "Every person's value"],
      ["summary", "A summary by groups"],
    ],
    showForm,
  );
  const rows = form("rows", buildColumns, {
    path: "/api/file/draw",
    button: "Draw once",
    name: "the private file",
    fits: ({ for_rows: fits }) => fits !== false,
    misfit:
      "A draw of rows hides a person's values, but not that the person is there, so it cannot be charged to every dataset.",
    warning:
      "This replaces every person's value by a private output. Columns that you do not pick, and the number of rows, are published unchanged.",
  });
  const summary = form("summary", buildSummary, {
    path: "/api/file/summarize",
    button: "Draw the summary once",
    name: "the summary",
    fits: ({ for_summaries: fits }) => fits !== false,
    misfit:
      "A summary hides rows or people and nothing else, so it cannot be charged to every dataset.",
    warning:
      "This publishes statistics of the whole file, or of its groups, together at one guarantee.",
  });
  part.forms = { rows, summary };
  part.rest.append(what, rows.root, summary.root);
  showForm("rows");
}

/** A form that says which head to send, and the release that sends it. */
function form(kind, build, options) {
  const place = make("div", { class: `form-${kind}` });
  const built = build(place, () => release.touch());
  const head = () => ({ ...built.head(), ...cells(part.file) });
  const release = new Release({ ...options, file: () => part.file, head, draws });
  const root = make("div", {}, place, release.root);
  return { root, built, release };
}

function showForm(kind) {
  for (const [its, { root }] of Object.entries(part.forms)) root.hidden = its !== kind;
}

function chooser() {
  const id = fresh("file");
  const input = make("input", {
    type: "file",
    id,
    accept: ".csv,.parquet,.arrow,.feather",
    "aria-describedby": `${id}-error`,
    change: () => input.files[0] && take(input.files[0]),
  });
  part.wrong = make("p", { class: "wrong", id: `${id}-error` });
  part.doing = make("p", { class: "quiet" });
  part.name = make("p", { class: "chosen" });
  part.notes = make("ul", { class: "notes" });
  part.delimiter = pick("Between the cells of a CSV file is a", DELIMITERS, () => take(part.last));
  part.delimiter.root.hidden = true;
  const zone = make(
    "div",
    { class: "drop" },
    make("label", { for: id, text: "Choose a CSV or Parquet file, or drop it here" }),
    input,
    make("p", {
      class: "quiet",
      text: "At most 64 MiB; files of Arrow and Feather can be read too. To publish every person's value, the file must have one row per person. For a summary, a person may have several.",
    }),
    part.delimiter.root,
    part.doing,
    part.name,
    part.notes,
    part.wrong,
  );
  const over = (event) => {
    event.preventDefault();
    zone.classList.toggle("over", event.type === "dragover");
  };
  for (const kind of ["dragover", "dragleave"]) zone.addEventListener(kind, over);
  zone.addEventListener("drop", (event) => {
    over(event);
    if (event.dataTransfer.files[0]) take(event.dataTransfer.files[0]);
  });
  return zone;
}

/** What the server must know to take the cells of a file apart. */
const cells = (file) =>
  file && isCsv(file) && part.delimiter.select.value !== ","
    ? { delimiter: part.delimiter.select.value }
    : {};

const isCsv = ({ name }) => name.toLowerCase().endsWith(".csv");

async function take(file) {
  if (part.last?.name !== file.name) part.delimiter.select.value = ",";
  part.last = file;
  part.delimiter.root.hidden = !isCsv(file);
  part.wrong.textContent = "";
  part.name.textContent = "";
  part.notes.replaceChildren();
  part.rest.hidden = true;
  part.file = null;
  const mine = (part.turn += 1);
  try {
    if (file.size > MOST)
      throw new Problem(
        413,
        `This file has ${size(file.size)}; at most 64 MiB can be read here. Use the command “inbounds privatize” instead.`,
      );
    part.doing.textContent = READING;
    speak(READING, 0);
    const head = { name: file.name, ...cells(file) };
    const { columns, notes: said = [] } = await askAboutFile("/api/file/columns", head, file);
    if (mine !== part.turn) return;
    part.file = file;
    const notes = said.map(worded);
    const many = columns.length === 1 ? "1 column" : `${columns.length} columns`;
    part.name.textContent = `${file.name}, ${size(file.size)}, ${many}`;
    part.notes.replaceChildren(...notes.map((text) => make("li", { text })));
    for (const { built, release } of Object.values(part.forms)) {
      built.offer(columns);
      release.reset();
    }
    part.rest.hidden = false;
    speak([`${file.name} is open. It has ${many}.`, ...notes].join(" "), 0);
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    if (mine === part.turn) part.wrong.textContent = problem.message;
    speak(problem.message, 0);
  } finally {
    if (mine === part.turn) part.doing.textContent = "";
  }
}

const size = (bytes) =>
  bytes < 2 ** 20
    ? `${Math.max(1, Math.round(bytes / 1024))} KiB`
    : `${(bytes / 2 ** 20).toFixed(1)} MiB`;
