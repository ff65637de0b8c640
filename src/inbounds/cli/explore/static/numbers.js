// Numbers as people read them, and as boxes take them.

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const FEW = 5; // digits up to which a number with a power of ten shows three
const MOST_MARKS = 40; // on an axis

/** As in 3.356, 37,000, −0.5 or 1.5 × 10⁻⁶; a dash for nothing. */
export function readable(number, digits = 4) {
  if (number === null || number === undefined || !Number.isFinite(number)) return "–";
  const size = Math.abs(number);
  if (size === 0) return "0";
  const sign = number < 0 ? "−" : "";
  if (size < 1e-3 || size >= 1e9) {
    return sign + scientific(size, digits > FEW ? digits : Math.min(digits, 3));
  }
  const rounded = Number(size.toPrecision(digits));
  if (rounded >= 1000) {
    return sign + rounded.toLocaleString("en-US", { maximumFractionDigits: places(size, digits) });
  }
  return sign + String(rounded);
}

/** The digits after the point of a number from 1,000: one, or those that were asked for. */
function places(size, digits) {
  return digits > FEW ? Math.max(1, digits - Math.floor(Math.log10(size)) - 1) : 1;
}

function scientific(size, digits) {
  return withPower(...size.toExponential(digits - 1).split("e"));
}

function withPower(mantissa, exponent) {
  const power = String(Number(exponent));
  const raised = [...power].map((c) => (c === "-" ? "⁻" : RAISED[c])).join("");
  return Number(mantissa) === 1 ? `10${raised}` : `${Number(mantissa)} × 10${raised}`;
}

const QUOTED = /(?<!\w)'[^']*'(?!\w)|"[^"]*"|“[^”]*”/; // names, which stay as they are
const WRITTEN = /(?<![\w.])(\d+(?:\.\d+)?)e([-+]?\d+)(?!\w)/;
const EITHER = new RegExp(`${QUOTED.source}|${WRITTEN.source}`, "gi");

/** A sentence of the server with its numbers as this page writes them: 10⁻⁶ for 1e-06. */
export const worded = (text) =>
  text.replace(EITHER, (found, mantissa, exponent) =>
    mantissa === undefined ? found : withPower(mantissa, exponent),
  );

/** As `readable`, but never rounded down: for what something is at most. */
export function readableAtMost(number, digits = 4) {
  if (!(number > 0) || !Number.isFinite(number)) return readable(number, digits);
  const nearest = Number(number.toPrecision(digits));
  if (nearest >= number * (1 - 1e-9)) return readable(nearest, digits);
  const grain = 10 ** (Math.floor(Math.log10(number)) - digits + 1);
  return readable(nearest + grain, digits);
}

/** The numbers of an axis in words that tell them apart. */
export function labels(marks, digits = 4) {
  for (let more = digits; ; more += 1) {
    const texts = marks.map((mark) => readable(mark, more));
    if (more >= 17 || new Set(texts).size === texts.length) return texts;
  }
}

/** How many digits tell numbers apart that differ by `grain` and are as large as `size`. */
function digitsFor(size, grain) {
  const more = size > 0 && grain > 0 ? Math.ceil(Math.log10(size / grain) - 1e-9) : 0;
  return Math.min(17, Math.max(0, more) + 1);
}

const largest = (numbers) => Math.max(...numbers.map(Math.abs));

/** A place between two ends, with the digits that tell it from places close to it. */
export const placed = (number, [low, high], digits = 4) =>
  readable(number, Math.max(digits, digitsFor(largest([low, high]), Math.abs(high - low) / 200)));

/** A place between two ends without the noise of its last digits. */
export const tidy = (number, [low, high], digits = 6) =>
  round(number, Math.max(digits, digitsFor(largest([low, high]), Math.abs(high - low) / 1e6)));

/** The numbers of a column with as many digits as tell them apart; not more than an eye can use. */
export function column(numbers, digits = 5) {
  const known = [...new Set(numbers.filter(Number.isFinite))].sort((a, b) => a - b);
  const [low, high] = [known[0], known.at(-1)];
  const most = low < high ? digitsFor(largest([low, high]), (high - low) / 1e4) : digits;
  for (let more = digits; ; more += 1) {
    const texts = known.map((number) => readable(number, more));
    if (more >= most || new Set(texts).size === texts.length)
      return numbers.map((number) => readable(number, more));
  }
}

/** As in 1,000 people or 1 person. */
export const counted = (people) =>
  people === 1 ? "1 person" : `${readable(people, 10)} people`;

/** A number that is only rounding noise beside `scale` is nothing. */
export const settled = (number, scale) =>
  number !== null && Math.abs(number) < 1e-9 * Math.abs(scale) ? 0 : number;

/** As a box takes it: 0.1, 120, 1e-6. */
export function plain(number) {
  if (number === null || number === undefined) return "";
  const rounded = Number(number.toPrecision(12));
  return rounded !== 0 && Math.abs(rounded) < 1e-4
    ? rounded.toExponential().replace("e+", "e")
    : String(rounded);
}

/** As in 73.1 %, or below 0.01 %. */
export function percent(fraction) {
  if (fraction === null || fraction === undefined) return "–";
  const value = 100 * fraction;
  if (value > 0 && value < 0.01) return "below 0.01 %";
  const digits = value >= 99.95 && value < 100 ? 5 : 3;
  return `${Number(value.toPrecision(digits))} %`;
}

/** As in 73.2 %, never rounded down: for what something is at most. */
export function percentAtMost(fraction) {
  const value = 100 * fraction;
  const grain = 10 ** Math.floor(Math.log10(Math.max(value, 0.1)) - 1.999);
  return `${Number((Math.ceil(value / grain - 1e-9) * grain).toPrecision(6))} %`;
}

/** As in 41.2 to 47.9, with as many digits as tell the two apart. */
export function range(pair) {
  if (!pair || pair.some((end) => end === null)) return "–";
  const width = Math.abs(pair[1] - pair[0]);
  const size = Math.max(Math.abs(pair[0]), Math.abs(pair[1]));
  const more = width > 0 && size > 0 ? Math.ceil(Math.log10(size / width)) : 0;
  const digits = Math.min(17, Math.max(3, 3 + more));
  return `${readable(pair[0], digits)} to ${readable(pair[1], digits)}`;
}

/** The number that a person typed, or NaN; never a guess about commas. */
export function parse(text) {
  const trimmed = text.trim().replace("−", "-");
  return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(trimmed) ? Number(trimmed) : NaN;
}

/** Rounded to a few significant digits. */
export const round = (number, digits = 3) => Number(number.toPrecision(digits));

/** Round marks on an axis, about `count` of them. */
export function ticks(low, high, count) {
  const raw = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((s) => s * power).find((s) => s >= raw * 0.999);
  if (!(step > 0) || !Number.isFinite(step)) return [];
  const first = Math.ceil(low / step - 1e-9);
  const size = Math.max(Math.abs(low), Math.abs(high));
  const digits = Math.min(17, Math.max(12, 3 + Math.ceil(Math.log10(size / step))));
  const marks = new Set();
  // Counted from 0: far from 0, the next number may be the same number.
  for (let k = 0; k < MOST_MARKS; k += 1) {
    const mark = Number(((first + k) * step).toPrecision(digits));
    if (mark >= low - 1e-9 * step && mark <= high + 1e-9 * step) marks.add(mark);
  }
  return [...marks];
}

/** Powers of ten on a logarithmic axis, thinned to about `count`. */
export function powers(low, high, count) {
  if (!(low > 0) || !Number.isFinite(high)) return [];
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  const every = Math.max(1, Math.ceil((last - first + 1) / count));
  const marks = [];
  for (let k = first; k <= last; k += every) marks.push(10 ** k);
  return marks;
}

/** The next round number at or above, so that an axis does not jitter while a hand moves. */
export function ceiling(number) {
  if (!(number > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(number));
  const round = [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((s) => s * power);
  return round.find((s) => s >= number * 0.9999) ?? number;
}
