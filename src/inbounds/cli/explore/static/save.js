// Downloads and copies; figures as SVG and as PNG, in light colours, since they go into reports.

import { swatch } from "./chart.js";
import { byId, make, shape, speak } from "./dom.js";

const EDGE = 10; // pixels around a saved figure
const LINE = 18; // from one line of words to the next
const STYLES = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-linejoin",
  "stroke-linecap",
  "opacity",
  "font-size",
  "font-weight",
  "font-family",
  "text-anchor",
  "paint-order",
];

/** Give the person a file. */
export function download(blob, name) {
  const address = URL.createObjectURL(blob);
  const anchor = make("a", { href: address, download: name });
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000); // the browser needs it for a moment
}

/** A button that copies what `text()` returns, and says so. */
export function copyButton(what, text) {
  const button = make("button", { type: "button", text: "Copy", "aria-label": `Copy ${what}` });
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text());
      told(button, "Copied", `${what}: copied`);
    } catch {
      told(button, "Not copied", "The browser does not allow copying. Select the text instead.");
    }
  });
  return button;
}

function told(button, shown, spoken) {
  button.textContent = shown;
  speak(spoken, 0);
  setTimeout(() => {
    button.textContent = "Copy";
  }, 2000);
}

/** A copy of a chart with its title, its setting and its legend, that needs no style sheet. */
function standalone(chart) {
  const words = `${chart.title}. ${chart.spec.label}`;
  const copy = shape("svg", { class: "drawing", "aria-label": words });
  const stage = make("div", { class: "stage", "aria-hidden": "true" }, copy);
  byId("results").append(stage); // styles are known only for what is on the page
  const size = { width: chart.width + 2 * EDGE, height: compose(copy, chart) };
  for (const [name, value] of Object.entries(size)) copy.setAttribute(name, value);
  copy.setAttribute("viewBox", `0 0 ${size.width} ${size.height}`);
  const nodes = [copy, ...copy.querySelectorAll("*")];
  for (const node of nodes) {
    const style = getComputedStyle(node);
    for (const name of STYLES) node.setAttribute(name, style.getPropertyValue(name));
  }
  for (const node of nodes) {
    for (const name of ["class", "role", "tabindex"]) node.removeAttribute(name);
    if (node !== copy)
      for (const { name } of [...node.attributes])
        if (name.startsWith("aria-")) node.removeAttribute(name);
  }
  const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of Object.entries({ width: "100%", height: "100%", fill: "#ffffff" }))
    paper.setAttribute(name, value);
  copy.prepend(paper);
  stage.remove();
  copy.setAttribute("role", "img");
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return { text: new XMLSerializer().serializeToString(copy), ...size };
}

/** Put the parts of a figure below each other; return the height of all of them. */
function compose(copy, chart) {
  let y = EDGE;
  for (const [words, look] of [
    [chart.title, "heading"],
    [chart.setting, "mark"],
  ]) {
    for (const line of broken(words, look, chart.width, copy)) {
      y += LINE;
      copy.append(shape("text", { x: EDGE, y, class: look, text: line }));
    }
  }
  y += EDGE;
  const drawing = shape("g", { transform: `translate(${EDGE} ${y})` });
  for (const part of chart.svg.cloneNode(true).childNodes) drawing.append(part.cloneNode(true));
  copy.append(drawing);
  return placeLegend(copy, chart, y + chart.height + EDGE) + EDGE;
}

/** Put samples and their words beside each other, as many as fit; return where they end. */
function placeLegend(copy, chart, top) {
  const right = chart.width + EDGE;
  let [x, y] = [EDGE, top];
  for (const [look, text] of chart.spec.legend) {
    const words = shape("text", { x: 34, y: 12, class: "mark", text });
    const entry = shape("g", {}, swatch(look), words);
    copy.append(entry);
    const width = 34 + words.getComputedTextLength() + 20;
    if (x > EDGE && x + width - 20 > right) [x, y] = [EDGE, y + LINE + 2];
    entry.setAttribute("transform", `translate(${x} ${y})`);
    x += width;
  }
  return x > EDGE ? y + LINE : y;
}

/** Break words into lines that fit. */
function broken(words, look, width, place) {
  const lines = [""];
  const probe = shape("text", { class: look });
  place.append(probe);
  for (const word of words.split(" ")) {
    probe.textContent = `${lines.at(-1)} ${word}`.trim();
    if (lines.at(-1) && probe.getComputedTextLength() > width) lines.push(word);
    else lines[lines.length - 1] = probe.textContent;
  }
  probe.remove();
  return lines.filter(Boolean);
}

export function saveSvg(chart) {
  const { text } = standalone(chart);
  download(new Blob([text], { type: "image/svg+xml" }), `inbounds-${chart.name}.svg`);
  speak(`${chart.title}: saved as SVG`, 0);
}

export async function savePng(chart) {
  const { text, width, height } = standalone(chart);
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = make("canvas", { width: width * 2, height: height * 2 });
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
    download(blob, `inbounds-${chart.name}.png`);
    speak(`${chart.title}: saved as PNG`, 0);
  } finally {
    URL.revokeObjectURL(address);
  }
}
