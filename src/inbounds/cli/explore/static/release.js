// Drawing once: the last check by a person, the charge, and the files that come back.

import { fetchFiles, Problem } from "./api.js";
import { loadLedger, watch } from "./budget.js";
import { make, speak, table } from "./dom.js";
import { pick, tick, words } from "./fields.js";
import { readable, worded } from "./numbers.js";
import { copyButton } from "./save.js";

const AGAIN =
  "Every draw from the same people is another release: it costs its ε again, even with other settings, and choosing the output that you like would be a false statement.";

const MAYBE =
  "This draw may have been charged all the same. Look at what is left under Budgets before you draw again.";

/** The files that were drawn from, by name: a file that was changed is still about the same people. */
export class Draws {
  #names = new Set();
  #underway = [];
  #watchers = [];

  watch(watcher) {
    this.#watchers.push(watcher);
  }

  has(file) {
    return file !== null && (this.#names.has(file.name) || this.#underway.includes(file.name));
  }

  /** Do what draws from a file: until it is known how that ends, the file counts as drawn from. */
  async during({ name }, work) {
    this.#underway.push(name);
    this.#tell();
    try {
      if (await work()) this.#names.add(name);
    } finally {
      this.#underway.splice(this.#underway.indexOf(name), 1);
      this.#tell();
    }
  }

  #tell() {
    for (const watcher of this.#watchers) watcher();
  }
}

export class Release {
  /**
   * `head()` returns what to ask the server, or {fault} with what is still missing; `draws` knows
   * which files were drawn from, `fits(dataset)` whether a dataset can be charged, and `misfit` says
   * in words why another one cannot.
   */
  constructor({ path, button, name, warning, file, head, draws, fits, misfit }) {
    Object.assign(this, { path, name, file, head, draws, fits, misfit });
    Object.assign(this, { underway: false, addresses: [] });
    this.blind = tick("I have set the bounds without looking at the data", () => this.#refresh());
    this.datasets = [];
    this.left = make("p", { class: "quiet" });
    this.dataset = pick("Charge it to", [["", "no dataset"]], () => this.touch());
    this.unfit = make("p", { class: "quiet" });
    this.dataset.root.append(this.left, this.unfit);
    this.label = words("Label in the ledger", () => {}, {
      hint: "What it is for; everybody who reads the ledger sees it.",
    });
    this.again = tick("Draw again: I know that this is another release", () => this.#refresh());
    this.again.root.hidden = true;
    this.missing = make("p", { class: "quiet", role: "status" });
    this.wrong = make("p", { class: "wrong", role: "alert" });
    this.button = make("button", {
      type: "button",
      class: "main",
      text: button,
      click: () => this.#draw(),
    });
    this.result = make("div", { class: "outcome" });
    this.charge = make(
      "div",
      { class: "line charge", hidden: true },
      this.dataset.root,
      this.label.root,
    );
    this.root = make(
      "div",
      { class: "release" },
      make("h3", { text: "Draw" }),
      make("p", { text: warning }),
      make("p", { class: "warning", text: AGAIN }),
      this.blind.root,
      this.charge,
      this.again.root,
      this.button,
      this.missing,
      this.wrong,
      this.result,
    );
    watch((ledger) => this.#offer(ledger));
    draws.watch(() => this.#refresh());
    this.#refresh();
  }

  /** Something was changed: a draw needs a new confirmation. */
  touch() {
    if (this.underway) return;
    this.again.input.checked = false;
    this.#refresh();
  }

  /** Another file was chosen. */
  reset() {
    this.blind.input.checked = false;
    if (this.underway) return; // what is being drawn is still shown once it is there
    this.#forget();
    this.result.replaceChildren();
    this.wrong.textContent = "";
    this.touch();
  }

  #offer({ place, datasets }) {
    this.datasets = datasets;
    this.charge.hidden = place === null || datasets.length === 0;
    this.dataset.offer([
      ["", "no dataset"],
      ...datasets.map((one) => [
        one.dataset,
        `${one.dataset} (${this.fits(one) ? `left: ${worded(one.remaining)}` : "does not fit"})`,
        !this.fits(one),
      ]),
    ]);
    const unfit = datasets.filter((one) => !this.fits(one));
    this.unfit.textContent = unfit.length
      ? `${this.misfit} ${unfit.map(({ dataset, unit }) => `${dataset} hides: ${unit ?? "not stated"}.`).join(" ")}`
      : "";
    this.#refresh();
  }

  #refresh() {
    const { fault } = this.head();
    let missing = fault ?? "";
    if (!missing && !this.blind.input.checked)
      missing = "Confirm that you have set the bounds without looking at the data.";
    const drawn = this.draws.has(this.file());
    if (!missing && drawn && !this.again.input.checked)
      missing = "This file was drawn from before. Confirm that you want another release.";
    const chosen = this.datasets.find(({ dataset }) => dataset === this.dataset.select.value);
    this.left.textContent = chosen
      ? `Left: ${worded(chosen.remaining)}. It hides: ${chosen.unit ?? "not stated"}.`
      : "";
    this.again.root.hidden = !drawn;
    this.button.disabled = Boolean(missing) || this.underway;
    if (this.missing.textContent !== missing) this.missing.textContent = missing;
  }

  async #draw() {
    const dataset = this.dataset.select.value;
    const charge =
      dataset && !this.charge.hidden
        ? { dataset, label: this.label.input.value.trim() || null }
        : null;
    const file = this.file();
    this.underway = true;
    this.wrong.textContent = "";
    this.#forget();
    const doing = `Drawing ${this.name}…`;
    this.result.replaceChildren(make("p", { class: "quiet", text: doing }));
    speak(doing, 0);
    const head = { ...this.head(), name: file.name, charge };
    try {
      await this.draws.during(file, () => this.#fetch(head, file));
    } finally {
      this.underway = false;
      this.again.input.checked = false;
      this.#refresh();
      loadLedger(); // a charge may stand even where the draw failed
    }
  }

  /** Return whether there is a release, or may be one. */
  async #fetch(head, file) {
    this.#refresh();
    try {
      this.#show(await fetchFiles(this.path, head, file), file);
      return true;
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      this.result.replaceChildren();
      // Without an answer, or with one that breaks off, nobody knows how far the server came.
      const unknown = problem.status === 0 || problem.status >= 500;
      const isCharged = problem.message.includes("charged");
      this.wrong.textContent =
        problem.message + (head.charge && unknown && !isCharged ? ` ${MAYBE}` : "");
      return unknown;
    }
  }

  #show({ facts, files }, file) {
    const links = files.map(({ name, blob }) => {
      const address = URL.createObjectURL(blob);
      this.addresses.push(address);
      return make("li", {}, make("a", { href: address, download: name, text: `Download ${name}` }));
    });
    const command = make("code", { text: facts.command });
    const heading = make("h4", { tabindex: -1, text: `Drawn: ${this.name}` });
    this.result.replaceChildren(
      heading,
      make("p", { class: "quiet", text: `From ${file.name}.` }),
      make("p", { text: worded(facts.statement) }),
      ...(facts.warnings ?? []).map((text) => make("p", { class: "warning", text: worded(text) })),
      ...(facts.charged ? [make("p", { text: worded(facts.charged) })] : []),
      make("ul", { class: "plainlist downloads" }, ...links),
      ...(facts.table ? [summaryTable(facts.table)] : []),
      make("p", {
        class: "quiet",
        text: "This command does the same. To run it would be another release.",
      }),
      make(
        "div",
        { class: "code" },
        make(
          "pre",
          { tabindex: 0, role: "region", "aria-label": "the command of this draw" },
          command,
        ),
        copyButton("the command of this draw", () => command.textContent),
      ),
    );
    heading.focus();
    speak(`Drawn. ${files.length} files can be downloaded.`, 0);
  }

  #forget() {
    for (const address of this.addresses) URL.revokeObjectURL(address);
    this.addresses = [];
  }
}

function summaryTable({ columns, rows }) {
  const shown = (x) => (typeof x === "number" ? readable(x, 6) : x === null ? "–" : String(x));
  const own = columns.indexOf("statistic"); // the names before it are the person's
  const headings = columns.map((name, i) => (i < own ? name : name.replaceAll("_", " ")));
  return table(
    "The summary",
    headings,
    rows.map((row) => row.map(shown)),
  );
}
