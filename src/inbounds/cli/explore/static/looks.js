// One look for each mechanism: the shades of the library's own figures, and a letter for those who
// do not see colours.

const LOOKS = {
  BoundedGaussian: ["#1f4e79", "#ffffff", "G"],
  BoundedLaplace: ["#4a90c4", "#0b0b0b", "L"],
  ClampedGaussian: ["#f2b266", "#0b0b0b", "g"],
  ClampedLaplace: ["#fff2cc", "#0b0b0b", "l"],
  ClampedStaircase: ["#d98880", "#0b0b0b", "S"],
  Window: ["#a9dfbf", "#0b0b0b", "W"],
  Optimal: ["#e8f6f3", "#0b0b0b", "O"],
  "Optimal (worst)": ["#c8e6df", "#0b0b0b", "P"],
  "Optimal (unbiased)": ["#dceee9", "#0b0b0b", "U"],
  "BoundedGaussian (paper)": ["#b39bc4", "#0b0b0b", "p"],
  "BoundedGaussian (Liu)": ["#dddddd", "#0b0b0b", "q"],
};

export function look(name) {
  const [fill, ink, letter] = LOOKS[name] ?? ["#bbbbbb", "#0b0b0b", "·"];
  return { fill, ink, letter, known: name in LOOKS };
}
