"""Exact outputs of the window mechanism, by comparisons of whole numbers.

An output is one of `places` points of a grid. If a random word of 64 bits is below `uniform`, all
places are alike; otherwise the output lies in a window of `length` places, whose start depends on
the value. However the start is computed, two values give every place a probability within the same
two bounds, and `privacy_holds` compares these. Proof: docs/proofs/window.md.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from flint import arb, ctx, fmpq
from numpy.typing import NDArray

from inbounds._types import Floats
from inbounds.errors import ArgumentError
from inbounds.numerics import ball
from inbounds.sampling.blocks import in_blocks
from inbounds.sampling.entropy import Entropy, Words
from inbounds.sampling.grid import Grid, even_points
from inbounds.sampling.offset import interval_offsets

_WORD = 1 << 64
_FINE = 1 << 31  # intervals of a grid without a step
_LEAST = 1 << 10  # places in a window of such a grid, even if epsilon is huge
_PRECISION = 256
_HALF = np.uint64(32)
_LOW = np.uint64(2**32 - 1)


@dataclass(frozen=True, slots=True)
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
        """Return the window of least variance that gives `epsilon`."""
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
        """By how much the expected output grows with the value."""
        return self.inside * (self.places - self.length) / (self.places - 1)

    @property
    def average_variance(self) -> float:
        """The variance of the unbiased reading, in places, averaged over all values."""
        if self.slope <= 0:
            return np.inf
        inside, outside = self.inside, self.fraction
        ends = (self.places - self.length) ** 2 / 12  # of the middle of the window
        spread = outside * (self.places**2 - 1) / 12 + inside * ((self.length**2 - 1) / 12 + ends)
        return (spread - inside**2 * ends) / self.slope**2

    def privacy_holds(self, epsilon: float) -> bool:
        """Return whether no two values give a place probabilities more than e^epsilon apart.

        A place has at least ⌊2⁶⁴/places⌋ of the words that pick among all, and at most
        ⌈2⁶⁴/length⌉ of those that pick in a window.
        """
        least, most = _WORD // self.places, -(-_WORD // self.length)
        outside = self.uniform * least
        inside = (_WORD - self.uniform) * most
        return 1 <= self.uniform <= _WORD and bool(inside <= _excess(epsilon) * outside)

    def draw(self, values: NDArray[Any], entropy: Entropy) -> Floats | NDArray[np.int64]:
        """Return an output for each value."""
        flat = values.reshape(-1)
        outputs: NDArray[Any] = np.empty(flat.size, np.int64 if self.grid.integral else np.float64)
        grid = self.grid
        ends = [np.array(end) for end in (grid.lower, grid.upper, float(grid.intervals))]
        offsets = interval_offsets(flat.dtype, grid.lower, grid.upper)

        def fill(block: slice) -> None:
            indices = self.indices(offsets(flat[block]), entropy)
            if self.grid.step is None:
                outputs[block] = even_points(indices.astype(np.float64), *ends)
            else:
                outputs[block] = self.grid.points(indices)

        in_blocks(flat.size, entropy, fill)
        return outputs.reshape(values.shape)

    def indices(self, offsets: Floats, entropy: Entropy) -> NDArray[np.int64]:
        """Return the place of an output for each distance of a value from the lower bound."""
        size, stepped = offsets.size, self.grid.step is not None
        words = entropy.words((3 if stepped else 2) * size).reshape(-1, size)
        last = self.places - self.length
        starts = offsets * (last / (float(self.grid.spacing) * self.grid.intervals))
        if stepped:
            starts += (words[2] >> np.uint64(11)) * 2.0**-53  # rounded up or down at random
        else:
            starts += 0.5
        with np.errstate(invalid="ignore"):  # whatever the start is, it is moved to a possible one
            whole = np.minimum(starts.astype(np.uint64), np.uint64(last))
        inside = words[0] > np.uint64(self.uniform - 1)
        first = whole * inside
        choices = np.uint64(self.places) - inside * np.uint64(self.places - self.length)
        indices: NDArray[np.int64] = (first + _below(words[1], choices)).view(np.int64)
        return indices


def _below(words: Words, sizes: Words) -> Words:
    """Return ⌊word·size/2⁶⁴⌋, exactly, for sizes below 2³²."""
    products = (words & _LOW) * sizes
    products >>= _HALF
    products += (words >> _HALF) * sizes
    products >>= _HALF
    return products


def _least_uniform(places: int, length: int, epsilon: float) -> int:
    """Return the least `uniform` for which `privacy_holds`."""
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
