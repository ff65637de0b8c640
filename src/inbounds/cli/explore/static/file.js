// Your file: choose it, pick columns, see what made-up values would become, draw once.

import { askAboutFile, Problem } from "./api.js";
import { buildColumns } from "./columns.js";
import { byId, fresh, make, speak } from "./dom.js";
import { segments } from "./fields.js";
import { Release } from "./release.js";
import { buildSummary } from "./summary.js";

const MOST = 64 * 2 ** 20;
const part = { file: null, turn: 0 };

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
    warning:
      "This replaces every person's value by a private output. Columns that you do not pick, and the number of rows, are published unchanged.",
  });
  const summary = form("summary", buildSummary, {
    path: "/api/file/summarize",
    button: "Draw the summary once",
    name: "the summary",
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
  const release = new Release({ ...options, file: () => part.file, head: built.head });
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
  part.name = make("p", { class: "chosen" });
  const zone = make(
    "div",
    { class: "drop" },
    make("label", { for: id, text: "Choose a CSV or Parquet file, or drop it here" }),
    input,
    make("p", { class: "quiet", text: "One row per person, at most 64 MiB." }),
    part.name,
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

async function take(file) {
  part.wrong.textContent = "";
  part.name.textContent = "";
  part.rest.hidden = true;
  part.file = null;
  const mine = (part.turn += 1);
  try {
    if (file.size > MOST)
      throw new Problem(
        413,
        `This file has ${size(file.size)}; at most 64 MiB can be read here. Use the command “inbounds privatize” instead.`,
      );
    const { columns } = await askAboutFile("/api/file/columns", { name: file.name }, file);
    if (mine !== part.turn) return;
    part.file = file;
    part.name.textContent = `${file.name}, ${size(file.size)}, ${columns.length} columns`;
    for (const { built, release } of Object.values(part.forms)) {
      built.offer(columns);
      release.reset();
    }
    part.rest.hidden = false;
    speak(`${file.name} is open. It has ${columns.length} columns.`, 0);
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    if (mine === part.turn) part.wrong.textContent = problem.message;
    speak(problem.message, 0);
  }
}

const size = (bytes) =>
  bytes < 2 ** 20
    ? `${Math.max(1, Math.round(bytes / 1024))} KiB`
    : `${(bytes / 2 ** 20).toFixed(1)} MiB`;
