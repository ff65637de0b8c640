// How the page makes elements: text only ever goes through textContent, never through mark-up.

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

function dress(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") node.textContent = value;
    else if (typeof value === "function") node.addEventListener(name, value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined)
      node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** Make an element; a function among the attributes listens to the event of that name. */
export const make = (tag, attributes = {}, ...children) =>
  dress(document.createElement(tag), attributes, children);

/** Make a part of a drawing. */
export const shape = (tag, attributes = {}, ...children) =>
  dress(document.createElementNS(SVG, tag), attributes, children);

let count = 0;
/** Return an id that no other element of the page has. */
export const fresh = (stem) => `${stem}-${(count += 1)}`;

/** A list of facts; those that were there before are kept, so that nothing flickers. */
export function facts(list, pairs) {
  while (list.children.length > pairs.length) list.lastChild.remove();
  pairs.forEach(([name, value], index) => {
    let entry = list.children[index];
    if (!entry) {
      entry = make("div", {}, make("dt"), make("dd"));
      list.append(entry);
    }
    entry.children[0].textContent = name;
    entry.children[1].textContent = value;
  });
}

/** A table that scrolls sideways by itself; the first cell of each row is its heading, and stays. */
export function table(label, headings, rows) {
  const head = make("tr", {}, ...headings.map((text) => make("th", { scope: "col", text })));
  const body = rows.map((cells) => make("tr", {}, ...cells.map(cell)));
  return make(
    "div",
    {
      class: "scroll",
      tabindex: 0,
      role: "region",
      "aria-label": label,
      scroll: ({ currentTarget: place }) =>
        place.classList.toggle("scrolled", place.scrollLeft > 0),
    },
    make("table", {}, make("thead", {}, head), make("tbody", {}, ...body)),
  );
}

function cell(content, index) {
  const kind = index ? make("td") : make("th", { scope: "row" });
  kind.append(content instanceof Node ? content : String(content));
  return kind;
}

/** A table behind something else, built only once it is opened. */
export function folded(summary, build) {
  const details = make("details", {}, make("summary", { text: summary }));
  const fill = () => {
    if (!details.open) return;
    while (details.children.length > 1) details.lastChild.remove();
    details.append(build());
  };
  details.addEventListener("toggle", fill);
  return { details, refresh: fill };
}

let waiting;
/** Tell a screen reader, once the hand rests: of many sentences in a row only the last is said. */
export function speak(text, pause = 600) {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    byId("spoken").textContent = text;
  }, pause);
}

/** Show a mistake beside its field, or take it away. */
export function blame(field, place, message) {
  if (place.textContent !== message) place.textContent = message;
  if (message) field.setAttribute("aria-invalid", "true");
  else field.removeAttribute("aria-invalid");
}

/** Call at most once a frame. */
export function eachFrame(work) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      work();
    });
  };
}
