// What a person takes along: the Python, the command, a link, the figures.

import { charts, watch } from "./chart.js";
import { compared } from "./comparison.js";
import { byId, fresh, make, speak } from "./dom.js";
import { copyButton, savePng, saveSvg } from "./save.js";
import { encoded, restore, state } from "./state.js";

const ABSENT = { people: "(only in local privacy, which is off)" };
const part = {};
const figures = []; // chart, buttons and the place for why there is nothing to save

export function buildTake() {
  part.python = code("Python");
  part.command = code("the command");
  part.comparePython = code("Python for the comparison");
  part.compareCommand = code("the command for the comparison");
  part.figures = make("ul", { class: "plainlist figures" });
  byId("take-body").append(
    make("h3", { text: "This mechanism in Python" }),
    part.python.root,
    make("h3", { text: "This mechanism in the shell" }),
    part.command.root,
    make(
      "details",
      { class: "more" },
      make("summary", { text: "The comparison, in Python and in the shell" }),
      part.comparePython.root,
      part.compareCommand.root,
    ),
    make("h3", { text: "A link to this question" }),
    ...link(),
    make("h3", { text: "The figures" }),
    part.figures,
  );
  listFigures();
  watch(showFigures);
}

function code(what) {
  const text = make("code");
  const root = make(
    "div",
    { class: "code" },
    make("pre", { tabindex: 0, role: "region", "aria-label": what }, text),
    copyButton(what, () => text.textContent),
  );
  return { root, text };
}

function link() {
  const [id, other] = [fresh("link"), fresh("link")];
  part.link = make("input", { id, type: "text", readonly: true });
  part.other = make("input", {
    id: other,
    type: "text",
    autocomplete: "off",
    spellcheck: "false",
    "aria-describedby": `${other}-error`,
  });
  part.wrong = make("p", { class: "wrong", id: `${other}-error` });
  const open = make("button", { type: "submit", text: "Open" });
  const form = make(
    "form",
    { class: "field stacked", submit: openLink },
    make("label", { for: other, text: "Open a link that somebody gave you" }),
    make("div", { class: "row" }, part.other, open),
    part.wrong,
  );
  return [
    make("p", {
      class: "quiet",
      text: "It holds the question and the guarantee, which are public; it never holds the true value, anything of a file, or the key of this page.",
    }),
    make(
      "div",
      { class: "field stacked" },
      make("label", { for: id, text: "Link" }),
      make(
        "div",
        { class: "row" },
        part.link,
        copyButton("the link", () => part.link.value),
      ),
    ),
    form,
  ];
}

function openLink(event) {
  event.preventDefault();
  const fine = restore(part.other.value);
  part.wrong.textContent = fine
    ? ""
    : "This is not a link of this page: it holds no question that can be read.";
  part.other.toggleAttribute("aria-invalid", !fine);
  speak(fine ? "The question of the link is shown." : part.wrong.textContent, 0);
  if (fine) part.other.value = "";
}

/** Keep the link in step with the question. */
export function showLink() {
  part.link.value = `${location.origin}/#${encoded(state.question)}`;
}

export function showSnippets(view) {
  part.python.text.textContent = view.python;
  part.command.text.textContent = view.command;
  showFigures();
}

export function showComparedSnippets() {
  const { python, command } = compared();
  part.comparePython.text.textContent = python;
  part.compareCommand.text.textContent = command;
}

function listFigures() {
  part.figures.replaceChildren(
    ...charts.map((chart) => {
      const id = fresh("figure");
      const why = make("span", { class: "quiet", id });
      const save = (kind, work) =>
        make("button", {
          type: "button",
          text: kind,
          "aria-label": `${chart.title} as ${kind}`,
          "aria-describedby": id,
          click: () => work(chart),
        });
      const buttons = [save("SVG", saveSvg), save("PNG", savePng)];
      figures.push({ chart, buttons, why });
      const words = make("span", {}, make("span", { text: chart.title }), " ", why);
      return make("li", {}, words, ...buttons);
    }),
  );
  showFigures();
}

/** A figure that is not on the page cannot be saved, and the page says why. */
function showFigures() {
  for (const { chart, buttons, why } of figures) {
    for (const button of buttons) button.disabled = !chart.exists;
    why.textContent = chart.exists ? "" : (ABSENT[chart.name] ?? "(not drawn yet)");
  }
}
