// Downloads and copies; figures as SVG and as PNG, in light colours, since they go into reports.

import { byId, make, speak } from "./dom.js";

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

/** A copy of a chart that needs no style sheet. */
function standalone(chart) {
  const copy = chart.svg.cloneNode(true);
  const stage = make("div", { class: "stage", "aria-hidden": "true" }, copy);
  byId("results").append(stage); // styles are known only for what is on the page
  for (const node of [copy, ...copy.querySelectorAll("*")]) {
    const style = getComputedStyle(node);
    for (const name of STYLES) node.setAttribute(name, style.getPropertyValue(name));
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
  return new XMLSerializer().serializeToString(copy);
}

export function saveSvg(chart) {
  download(new Blob([standalone(chart)], { type: "image/svg+xml" }), `inbounds-${chart.name}.svg`);
  speak(`${chart.title}: saved as SVG`, 0);
}

export async function savePng(chart) {
  const address = URL.createObjectURL(new Blob([standalone(chart)], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = make("canvas", { width: chart.width * 2, height: chart.height * 2 });
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
    download(blob, `inbounds-${chart.name}.png`);
    speak(`${chart.title}: saved as PNG`, 0);
  } finally {
    URL.revokeObjectURL(address);
  }
}
