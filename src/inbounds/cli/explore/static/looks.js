// One look for each mechanism: the shades of the library's own figures, and a letter for those who
// do not see colours. The colours are in charts.css, light and dark.

const LETTERS = {
  BoundedGaussian: "G",
  BoundedLaplace: "L",
  ClampedGaussian: "g",
  ClampedLaplace: "l",
  ClampedStaircase: "S",
  Window: "W",
  Optimal: "O",
  "Optimal (worst)": "P",
  "Optimal (unbiased)": "U",
  "BoundedGaussian (paper)": "p",
  "BoundedGaussian (Liu)": "q",
};

/** The letter of a mechanism, and the class of its chip or cell and of the letter on it. */
export function look(name) {
  const known = Object.hasOwn(LETTERS, name);
  const letter = known ? LETTERS[name] : "·";
  const kind = known ? name.toLowerCase().replace(/[^a-z]+/g, "-").replace(/-$/, "") : "other";
  return { fill: `fill-${kind}`, ink: `ink-${kind}`, letter, known };
}
