// Small fields that several forms share.

import { blame, fresh, make } from "./dom.js";

/** A checkbox with its label. */
export function tick(text, changed, checked = false) {
  const id = fresh("tick");
  const input = make("input", { type: "checkbox", id, change: () => changed(input.checked) });
  input.checked = checked;
  return { input, root: make("div", { class: "check" }, input, make("label", { for: id, text })) };
}

/** A choice among a few words, [value, text, cannot be chosen] each. */
export function pick(text, options, changed = () => {}) {
  const id = fresh("pick");
  const select = make("select", { id, change: () => changed(select.value) });
  const offer = (some) => {
    const before = select.value;
    select.replaceChildren(
      ...some.map(([value, shown, disabled = false]) =>
        make("option", { value, text: shown, disabled }),
      ),
    );
    if (some.some(([value, , disabled]) => value === before && !disabled)) select.value = before;
    else select.value = some[0][0];
  };
  offer(options);
  return {
    select,
    offer,
    root: make("div", { class: "field" }, make("label", { for: id, text }), select),
  };
}

/** A choice among a few words that can be blamed, as by the server. */
export function choice(text, options, changed) {
  const [id, error] = [fresh("choice"), fresh("error")];
  const select = make(
    "select",
    { id, "aria-describedby": error, change: () => changed(select.value) },
    ...options.map(([value, shown]) => make("option", { value, text: shown })),
  );
  const wrong = make("p", { class: "wrong", id: error });
  const root = make(
    "div",
    { class: "field stacked" },
    make("label", { for: id, text }),
    select,
    wrong,
  );
  return { root, select, fail: (message) => blame(select, wrong, message) };
}

/** A line of text, or with `rows` several. */
export function words(text, changed, { rows = 0, hint = null } = {}) {
  const id = fresh("words");
  const described = hint ? `${id}-hint` : null;
  const common = {
    id,
    autocomplete: "off",
    spellcheck: "false",
    "aria-describedby": described,
    input: () => changed(input.value),
  };
  const input = rows
    ? make("textarea", { rows, ...common })
    : make("input", { type: "text", ...common });
  const root = make(
    "div",
    { class: "field stacked" },
    make("label", { for: id, text }),
    input,
    hint ? make("p", { class: "quiet", id: described, text: hint }) : null,
  );
  return { input, root };
}

/** Radio buttons in one row. */
export function segments(label, options, changed) {
  const name = fresh("segment");
  const inputs = options.map(([value, text], index) => {
    const id = fresh("segment");
    const input = make("input", { type: "radio", name, id, value, change: () => changed(value) });
    input.checked = index === 0;
    return make("span", {}, input, make("label", { for: id, text }));
  });
  return make("div", { class: "segments", role: "radiogroup", "aria-label": label }, ...inputs);
}
