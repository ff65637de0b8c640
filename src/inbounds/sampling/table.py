"""Outputs of a level table, drawn exactly: find the row, then draw from its integers.

Every value takes the same steps in the same time: a comparison with boundaries, one random word for
the output and, between knots, one for the random rounding. Values are exact numbers, as in
`sampler`: none is rounded before it is compared.
"""

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inbounds._types import Floats
from inbounds.sampling import point
from inbounds.sampling.alias import AliasTable
from inbounds.sampling.blocks import in_blocks, kernel_for
from inbounds.sampling.entropy import Entropy, Words
from inbounds.sampling.grid import Exact, clamp
from inbounds.sampling.offset import as_doubles, doubles_hold
from inbounds.sampling.place import Places
from inbounds.sampling.point import PAD, padded_array
from inbounds.sampling.uniform import Uniform

_MASK = (1 << 64) - 1
_MARGIN = 2.0**-50  # above the error of a fraction in doubles, and of a word cut to 53 bits
# Between knots, and as a part of the box, for that error to be as small.
_LEAST_GAP, _MOST_GAP = 2.0**-800, 2.0**900


@dataclass(frozen=True, eq=False)
class TableSampler:
    """Draws outputs from rows of integers, one row per cell or per knot.

    Proof that it draws exactly: docs/proofs/optimal.md, theorems 8 and 9.

    Parameters
    ----------
    lower, upper
        The bounds, to which values are moved first.
    boundaries
        The ends of the cells, or the knots.
    rounds_between
        Whether the boundaries are knots, to one of which a value is rounded at random.
    rows
        The integers, which sum to 2¹²⁸ in every row.
    outputs
        One output per column.
    integral
        Whether outputs are returned as integers, which they must all be.

    Examples
    --------
    >>> from inbounds.sampling.entropy import SYSTEM
    >>> rows = ((1 << 128) - 1, 1), (1, (1 << 128) - 1)
    >>> sampler = TableSampler(0.0, 1.0, (0.0, 0.5, 1.0), False, rows, (0.25, 0.75))
    >>> sampler.draw(np.array([0.1, 0.5, 9.0]), SYSTEM).tolist()
    [0.25, 0.75, 0.75]
    """

    lower: float
    upper: float
    boundaries: tuple[float, ...]
    rounds_between: bool
    rows: Sequence[tuple[int, ...]]
    outputs: tuple[float, ...]
    integral: bool = False

    def draw(self, values: NDArray[Any], entropy: Entropy) -> Floats | NDArray[np.int64]:
        """Return an output for each of `values`, which are finite numbers of any type."""
        flat = values.reshape(-1)
        variant = self.rounds_between, self.integral
        kernel = kernel_for("table_kernel", flat, entropy, *variant, few=point.FEW)
        if kernel is None and 0 < values.size <= point.FEW:
            return point.one_by_one(self._draw_one, values, entropy)
        outputs: NDArray[Any] = np.empty(flat.size, np.int64 if self.integral else np.float64)
        bounds = np.array([self.lower]), np.array([self.upper])
        hold = doubles_hold(flat.dtype, *bounds)
        _ = self._alias, self._places.buckets, self._knots  # built once, before threads start

        def fill(block: slice) -> None:
            numbers = as_doubles(flat[block]) if hold else flat[block]
            rows = self._rows(numbers, entropy, kernel)
            outputs[block] = self._alias.draw(rows, entropy.words(rows.size), entropy, kernel)

        in_blocks(flat.size, entropy, fill)
        return outputs.reshape(values.shape)

    def draw_one(self, number: Exact, entropy: Entropy) -> float:
        """Return an output for one number, without arrays.

        It is that of `draw` if the words are the same. They are drawn together, the first one as
        the highest bits.
        """
        return self._draw_one(number, entropy)

    @cached_property
    def _draw_one(self) -> Callable[[Exact, Entropy], float]:
        clamped, find, output_of = self._clamped, self._places.of_double, self._alias.draw_one
        rounds, integral = self.rounds_between, self.integral

        def draw(number: Exact, entropy: Entropy) -> float:
            inside = clamped(number)
            row = self._places.of_exact(number) if inside is None else find(inside)
            if rounds:
                words = entropy.bits(128)
                row += self._is_upward(number, row, words >> 64, entropy)
                output = output_of(row, words & _MASK, entropy)
            else:
                output = output_of(row, entropy.bits(64), entropy)
            return int(output) if integral else output

        return draw

    def _is_upward(self, number: Exact, cell: float, word: int, entropy: Entropy) -> bool:
        """Return whether one number is rounded to the knot above it.

        Proof: docs/proofs/optimal.md, theorem 9.
        """
        inside, knots = self._clamped(number), self._padded_knots
        if inside is None or knots is None:
            fraction = float(self._fraction(number, int(cell)))
        else:
            place = int(cell + PAD)
            fraction = (inside - knots[0][place] + self._nudge) * knots[1][place]
        distance = (word >> 11) * 2.0**-53 - fraction
        if abs(distance) < _MARGIN:
            return is_below(Uniform(entropy, word, 64), self._fraction(number, int(cell)))
        return distance < 0

    @cached_property
    def _padded_knots(self) -> "tuple[array[float], array[float]] | None":
        if self._knots is None:
            return None
        knots, per_gap = (padded_array("d", side) for side in self._knots)
        return knots, per_gap

    @cached_property
    def _clamped(self) -> Callable[[Exact], float | None]:
        return point.clamp_double(self.lower, self.upper)

    @cached_property
    def _alias(self) -> AliasTable:
        return AliasTable.of(self.rows, self.outputs)

    @cached_property
    def _nudge(self) -> float:
        return self._places.nudge

    @cached_property
    def _places(self) -> Places:
        return Places(self.lower, self.upper, self.boundaries[1:-1])

    @cached_property
    def _knots(self) -> tuple[Floats, Floats] | None:
        """The knots, and one over the distances between them; None if any of these is extreme."""
        knots = np.array(self.boundaries)
        gaps = [Fraction(high) - Fraction(low) for low, high in pairwise(self.boundaries)]
        least = _LEAST_GAP * max(1.0, self.upper - self.lower)
        if not least < min(gaps) <= max(gaps) < _MOST_GAP:
            return None
        return knots, 1 / np.diff(knots)

    def _rows(
        self, values: NDArray[Any], entropy: Entropy, kernel: ModuleType | None
    ) -> NDArray[np.intp]:
        """Return the row of each value, chosen at random between knots."""
        doubles = values.dtype == np.float64
        if not self.rounds_between and (doubles or values.dtype.kind in "iu"):
            return self._cells(values, kernel)
        if doubles and self._knots is not None:
            return self._rounded(values, entropy.words(values.size), entropy, kernel)
        numbers = values.tolist()
        cells = self._places.of_objects(numbers)
        if not self.rounds_between:
            return cells
        pairs = zip(numbers, cells.tolist(), strict=True)
        fractions = np.array([float(self._fraction(number, i)) for number, i in pairs])
        return self._settled(values, cells, fractions, entropy.words(cells.size), entropy)

    def _cells(self, values: NDArray[Any], kernel: ModuleType | None) -> NDArray[np.intp]:
        """Return the cell of each double or integer."""
        if values.dtype != np.float64:
            return self._places.of_integers(values)
        if kernel is None or self._places.buckets is None:
            return self._places.of_doubles(self._places.clamped(values))
        rows = np.empty(values.size, np.intp)
        buckets = self._nudge, *self._places.buckets
        kernel.find_cells(values, self.lower, self.upper, buckets, rows)
        return rows

    def _rounded(
        self, values: Floats, words: Words, entropy: Entropy, kernel: ModuleType | None
    ) -> NDArray[np.intp]:
        """Return the knot to which each double is rounded; distances of knots are not extreme."""
        assert self._knots is not None  # for type checkers
        places, (knots, per_gap) = self._places, self._knots
        if kernel is not None and places.buckets is not None:
            rows, buckets = np.empty(values.size, np.intp), (self._nudge, *places.buckets)
            ends = knots, per_gap, self._nudge, _MARGIN
            if kernel.find_knots(words, values, self.lower, self.upper, buckets, ends, rows):
                return rows
        inside = places.clamped(values)
        cells = places.of_doubles(inside)
        fractions = inside - knots.take(cells, mode="clip")
        fractions += self._nudge
        fractions *= per_gap.take(cells, mode="clip")
        return self._settled(inside, cells, fractions, words, entropy)

    def _settled(
        self,
        values: NDArray[Any],
        cells: NDArray[np.intp],
        fractions: Floats,
        words: Words,
        entropy: Entropy,
    ) -> NDArray[np.intp]:
        """Return the knot below or above each value, given the fractions within 5 · 2⁻⁵³.

        The margin: docs/proofs/optimal.md, theorem 9.
        """
        distance = (words >> np.uint64(11)).astype(np.float64)
        distance *= 2.0**-53
        distance -= fractions
        upward = distance < 0
        np.abs(distance, out=distance)
        if distance.min(initial=1.0) < _MARGIN:
            for i in np.flatnonzero(distance < _MARGIN).tolist():
                number = values[i : i + 1].tolist()[0]
                fraction = self._fraction(number, int(cells[i]))
                upward[i] = is_below(Uniform(entropy, int(words[i]), 64), fraction)
        cells += upward
        return cells

    def _fraction(self, number: Exact, i: int) -> Fraction:
        """Return how far between two knots a number lies, exactly."""
        low, high = (Fraction(knot) for knot in self.boundaries[i : i + 2])
        return (Fraction(clamp(number, self.lower, self.upper)) - low) / (high - low)


def is_below(uniform: Uniform, fraction: Fraction) -> bool:
    """Return whether a uniform number is below a fraction, drawing bits until that is certain.

    Examples
    --------
    >>> from inbounds.sampling.entropy import SYSTEM
    >>> is_below(Uniform(SYSTEM, 0b101, 3), Fraction(3, 4))  # between 5/8 and 6/8
    True
    """
    while True:
        scaled = fraction * (1 << uniform.count)
        if uniform.bits + 1 <= scaled:
            return True
        if uniform.bits >= scaled:
            return False
        uniform.refine()
