"""Exact outputs of the window mechanism, by comparisons of whole numbers.

An output is one of `places` points of a grid. If a random word of 64 bits is below `uniform`, all
places are alike; otherwise the output lies in a window of `length` places, whose start depends on
the value. However the start is computed, two values give every place a probability within the same
two bounds, and `privacy_holds` compares these.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any, Self

import numpy as np
from flint import arb, ctx, fmpq
from numpy.typing import NDArray

from inbounds._types import Floats
from inbounds.errors import ArgumentError
from inbounds.numerics import ball
from inbounds.sampling import point
from inbounds.sampling.blocks import in_blocks, kernel_for
from inbounds.sampling.entropy import Entropy, Words
from inbounds.sampling.grid import Exact, Grid
from inbounds.sampling.offset import interval_doubles, nudge
from inbounds.sampling.point import floor_double

_WORD = 1 << 64
_MASK = _WORD - 1
_FINE = 1 << 31  # intervals of a grid without a step
_LEAST = 1 << 10  # places in a window of such a grid, even if epsilon is huge
_PRECISION = 256
_HALF = np.uint64(32)
_LOW = np.uint64(2**32 - 1)

_Write = Callable[[Words, Floats, NDArray[Any]], None]


@dataclass(frozen=True)
class WindowSampler:
    """A window of `length` places of a grid, and how often an output ignores it.

    Attributes
    ----------
    grid
        The places: fewer than 2³².
    length
        The number of places in a window, fewer than there are.
    uniform
        2⁶⁴ times the probability that the output is any place of the box, whatever the value.

    Examples
    --------
    >>> sampler = WindowSampler.of(0.0, 1.0, 1.0, epsilon=1.0)  # randomised response
    >>> sampler.places, sampler.length, round(sampler.fraction, 6)
    (2, 1, 0.537883)
    """

    grid: Grid
    length: int
    uniform: int

    @classmethod
    def of(cls, lower: float, upper: float, step: float | None, *, epsilon: float) -> Self:
        """Return the window of least variance that gives `epsilon`.

        Its length is near that of a fine grid: docs/proofs/window.md, theorem 2.
        """
        grid = Grid(lower, upper, None, _FINE)
        if step is not None:
            grid = Grid.fit(lower, upper, step, upper - lower)
        if grid.intervals > _FINE:
            raise ArgumentError.must_be("step", "at least a part in 2**31 of the box for Window")
        places = grid.intervals + 1
        ideal = places / (1 + np.exp(min(epsilon, 80.0) / 2))
        least = 1 if step is not None else _LEAST
        most = places - 1
        lengths = {int(np.clip(length, least, most)) for length in (ideal, ideal + 1)}
        windows = [cls(grid, length, _least_uniform(places, length, epsilon)) for length in lengths]
        return min(windows, key=lambda window: window.average_variance)

    @property
    def places(self) -> int:
        """The number of possible outputs."""
        return self.grid.intervals + 1

    @property
    def fraction(self) -> float:
        """The probability that the output is any place of the box."""
        return self.uniform / _WORD

    @property
    def inside(self) -> float:
        """The probability that the output lies in the window because of it; not 1 - fraction."""
        return (_WORD - self.uniform) / _WORD

    @property
    def slope(self) -> float:
        """By how much the expected output grows with the value.

        Formula: docs/proofs/window.md, theorem 4.
        """
        return self.inside * (self.places - self.length) / (self.places - 1)

    @property
    def average_variance(self) -> float:
        """The variance of the unbiased reading, in places, averaged over all values.

        Formula: docs/proofs/window.md, theorem 3.
        """
        if self.slope <= 0:
            return np.inf
        inside, outside = self.inside, self.fraction
        ends = (self.places - self.length) ** 2 / 12  # of the middle of the window
        spread = outside * (self.places**2 - 1) / 12 + inside * ((self.length**2 - 1) / 12 + ends)
        return (spread - inside**2 * ends) / self.slope**2

    def privacy_holds(self, epsilon: float) -> bool:
        """Return whether no two values give a place probabilities more than e^epsilon apart.

        A place has at least ⌊2⁶⁴/places⌋ of the words that pick among all, and at most
        ⌈2⁶⁴/length⌉ of those that pick in a window. Proof: docs/proofs/window.md, theorem 1.
        """
        least, most = _WORD // self.places, -(-_WORD // self.length)
        outside = self.uniform * least
        inside = (_WORD - self.uniform) * most
        return 1 <= self.uniform <= _WORD and bool(inside <= _excess(epsilon) * outside)

    def draw(self, values: NDArray[Any], entropy: Entropy) -> Floats | NDArray[np.int64]:
        """Return an output for each value, by compiled code if there are many."""
        flat = values.reshape(-1)
        variant = self.grid.step is None
        kernel = kernel_for("window_kernel", flat, entropy, variant, few=point.FEW)
        if kernel is None and 0 < values.size <= point.FEW:
            return point.one_by_one(self._draw_one, values, entropy)
        outputs: NDArray[Any] = np.empty(flat.size, np.int64 if self.grid.integral else np.float64)
        read, *bounds = interval_doubles(flat.dtype, self.grid.lower, self.grid.upper)
        write = self._plain(*bounds) if kernel is None else self._compiled(kernel, *bounds)
        words_each = 2 if self.grid.step is None else 3

        def fill(block: slice) -> None:
            doubles = read(flat[block])
            write(entropy.words(words_each * doubles.size), doubles, outputs[block])

        in_blocks(flat.size, entropy, fill)
        return outputs.reshape(values.shape)

    def draw_one(self, number: Exact, entropy: Entropy) -> float:
        """Return an output for one number, without arrays.

        It is that of `draw` if the words are the same. They are drawn together, the first one as
        the highest bits. Proof: docs/proofs/window.md, theorem 8.
        """
        return self._draw_one(number, entropy)

    def indices(self, starts: Floats, words: Words) -> NDArray[np.int64]:
        """Return the place of an output for each start of a window, however that was computed.

        The first words choose between a window and all places, the next ones a place among these.
        Privacy holds for any start: docs/proofs/window.md, theorem 1.
        """
        size, (last, places, last_outside) = starts.size, self._sizes
        starts = np.fmax(starts, 0.0)  # whatever the start is, it is moved to a possible one
        first = np.fmin(starts, float(last), out=starts).astype(np.uint64)
        inside = words[:size] > last_outside
        first *= inside
        first += _below(words[size : 2 * size], places - inside * last)
        indices: NDArray[np.int64] = first.view(np.int64)
        return indices

    @cached_property
    def _draw_one(self) -> Callable[[Exact, Entropy], float]:
        grid, uniform, places = self.grid, self.uniform, self.places
        offset, number_of = point.offset_from(grid.lower, grid.upper), point.number_at(grid)
        factor, last = self._starts_per_unit, places - self.length
        nudged = nudge(grid.lower, grid.upper)
        most, has_step = float(last), grid.step is not None

        def draw(number: Exact, entropy: Entropy) -> float:
            start = (offset(number) + nudged) * factor
            if has_step:
                words = entropy.bits(192)
                start += ((words & _MASK) >> 11) * 2.0**-53
                words >>= 64
            else:
                words = entropy.bits(128)
                start += 0.5
            inside = words >> 64 >= uniform
            first = floor_double(min(start, most)) * inside
            index = first + ((words & _MASK) * (places - inside * last) >> 64)
            return number_of(int(index) if has_step else index)

        return draw

    @cached_property
    def _starts_per_unit(self) -> float:
        return (self.places - self.length) / (float(self.grid.spacing) * self.grid.intervals)

    @cached_property
    def _points(self) -> Callable[[NDArray[np.int64]], NDArray[Any]]:
        return self.grid.finder()

    @cached_property
    def _sizes(self) -> tuple[np.uint64, ...]:
        """The last start, the number of places, and the last word that chooses no window."""
        last = self.places - self.length
        return np.uint64(last), np.uint64(self.places), np.uint64(self.uniform - 1)

    def _plain(self, low: float, high: float) -> _Write:
        """Return a function from words and doubles between two bounds to outputs."""
        has_step, factor, points = self.grid.step is not None, self._starts_per_unit, self._points
        nudged = nudge(self.grid.lower, self.grid.upper)

        def write(words: Words, doubles: Floats, outputs: NDArray[Any]) -> None:
            starts = np.maximum(doubles, low)
            np.minimum(starts, high, out=starts)
            starts -= low
            starts += nudged
            starts *= factor
            if has_step:
                starts += (words[2 * starts.size :] >> np.uint64(11)) * 2.0**-53
            else:
                starts += 0.5
            outputs[:] = points(self.indices(starts, words))

        return write

    def _compiled(self, kernel: ModuleType, low: float, high: float) -> _Write:
        """Return the same function, compiled."""
        grid, last = self.grid, self.places - self.length
        scale = low, high, nudge(grid.lower, grid.upper), self._starts_per_unit
        length, places = np.uint64(self.length), np.uint64(self.places)
        sizes = np.uint64(self.uniform - 1), float(last), length, places
        ends = grid.lower, grid.upper, float(grid.intervals)

        def write(words: Words, doubles: Floats, outputs: NDArray[Any]) -> None:
            if grid.step is None:
                kernel.write_numbers(words, doubles, scale, sizes, ends, outputs)
                return
            indices = np.empty(doubles.size, np.int64)
            kernel.write_indices(words, doubles, scale, sizes, indices)
            outputs[:] = self._points(indices)

        return write


def _below(words: Words, sizes: Words) -> Words:
    """Return ⌊word·size/2⁶⁴⌋, exactly, for sizes below 2³² (docs/proofs/window.md, theorem 8)."""
    products = (words & _LOW) * sizes
    products >>= _HALF
    products += (words >> _HALF) * sizes
    products >>= _HALF
    return products


def _least_uniform(places: int, length: int, epsilon: float) -> int:
    """Return the least `uniform` for which `privacy_holds` (docs/proofs/window.md, theorem 1)."""
    least, most = _WORD // places, -(-_WORD // length)
    exact = _WORD * fmpq(most) / (_excess(epsilon) * least + most)
    return max(1, int(exact.ceil()))


def _excess(epsilon: float) -> fmpq:
    """Return a rational number that is at most e^epsilon - 1, and nearly equal to it."""
    with ctx.workprec(_PRECISION):
        low = arb(ball.exact(min(epsilon, 10_000.0))).expm1().lower()
        mantissa, exponent = low.man_exp()
    power = fmpq(2) ** int(exponent)
    return fmpq(mantissa) * power
