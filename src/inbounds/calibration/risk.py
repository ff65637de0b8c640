"""Exact moments of a level table: mean, squared error, and their average and worst case.

Everything is a ratio of integers, since the table holds integers and the outputs are doubles.
"""

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np
from flint import fmpq

from inbounds._types import Floats
from inbounds.calibration.table import BITS, LevelTable


@dataclass(frozen=True)
class Risk:
    """The moments of a table's output, as functions of the value.

    Proof: docs/proofs/optimal.md, theorem 7.

    Examples
    --------
    >>> half = 1 << 127
    >>> coin = LevelTable("cells", 0.0, 1.0, (0.0, 1.0), 1, ((half, half),), (0.25, 0.75), 1, 1)
    >>> Risk(coin).mean(Fraction(0)), Risk(coin).average, Risk(coin).worst
    (Fraction(1, 2), Fraction(7, 48), Fraction(5, 16))
    """

    table: LevelTable

    @cached_property
    def row_means(self) -> list[Fraction]:
        """The mean output of each row."""
        return [_fraction(mean) for mean in self._row_moments[0]]

    @cached_property
    def _row_moments(self) -> tuple[list[fmpq], list[fmpq]]:
        """The mean output of each row, and its mean square."""
        outputs = [Fraction(output) for output in self.table.outputs]
        unit = max(output.denominator for output in outputs)
        whole = [int(output * unit) for output in outputs]
        means, squares = self.table.entries.products(whole, [y * y for y in whole])
        return (
            [fmpq(total, unit << BITS) for total in means],
            [fmpq(total, unit**2 << BITS) for total in squares],
        )

    @cached_property
    def _points(self) -> list[fmpq]:
        """The boundaries."""
        return [_exact(point) for point in self.table.boundaries]

    def _pieces(self) -> list[tuple[fmpq, fmpq, int]]:
        """Return the parts of the box on which the error is one polynomial, and their rows."""
        low, high = _exact(self.table.lower), _exact(self.table.upper)
        ends = [min(max(point, low), high) for point in self._points]
        return [(a, b, i) for i, (a, b) in enumerate(pairwise(ends)) if a < b]

    def _at(self, value: fmpq, i: int, moments: list[fmpq]) -> fmpq:
        """Return a moment at a value in piece i."""
        if self.table.kind == "cells":
            return moments[i]
        low, high = self._points[i : i + 2]
        return moments[i] + (moments[i + 1] - moments[i]) * (value - low) / (high - low)

    def _error(self, value: fmpq, i: int) -> fmpq:
        means, squares = self._row_moments
        return self._at(value, i, squares) - 2 * value * self._at(value, i, means) + value * value

    def _clamped(self, value: Fraction) -> tuple[fmpq, int]:
        inside = min(max(value, Fraction(self.table.lower)), Fraction(self.table.upper))
        return _exact(inside), bisect_right(self.table.boundaries[1:-1], inside)

    def mean(self, value: Fraction) -> Fraction:
        """Return the mean output at a value, exactly."""
        inside, i = self._clamped(value)
        return _fraction(self._at(inside, i, self._row_moments[0]))

    def squared_error(self, value: Fraction) -> Fraction:
        """Return the mean squared distance between a value in the box and the output, exactly."""
        return _fraction(self._error(*self._clamped(value)))

    @cached_property
    def average(self) -> Fraction:
        """The squared error, averaged over all values in the box.

        It is a polynomial of degree at most 3 on every piece, for which Simpson's rule is exact.
        """
        total = fmpq(0)
        for low, high, i in self._pieces():
            middle = self._error((low + high) / 2, i)
            total += (high - low) * (self._error(low, i) + 4 * middle + self._error(high, i)) / 6
        return _fraction(total / (_exact(self.table.upper) - _exact(self.table.lower)))

    @cached_property
    def worst(self) -> Fraction:
        """The largest squared error at any value in the box, the supremum at the ends of cells."""
        return _fraction(max(max(self._candidates(*piece)) for piece in self._pieces()))

    def _candidates(self, low: fmpq, high: fmpq, i: int) -> list[fmpq]:
        """Return the errors at both ends, and at the vertex if the error is concave in between."""
        errors = [self._error(low, i), self._error(high, i)]
        middle = self._error((low + high) / 2, i)
        bend = 2 * (errors[0] + errors[1] - 2 * middle)  # the coefficient of the square, on [0, 1]
        slope = errors[1] - errors[0] - bend
        if bend < 0 and 0 < slope < -2 * bend:
            errors.append(errors[0] - slope * slope / (4 * bend))
        return errors

    @cached_property
    def _doubles(self) -> tuple[Floats, Floats]:
        """The mean and the variance of the output of each row, rounded once."""
        means, squares = self._row_moments
        variances = [square - mean * mean for mean, square in zip(means, squares, strict=True)]
        return np.array(list(map(_nearest, means))), np.array(list(map(_nearest, variances)))

    def means_and_variances(self, values: Floats) -> tuple[Floats, Floats]:
        """Return the mean and the variance of the output at each of some doubles in the box."""
        points = np.array(self.table.boundaries)
        index = np.searchsorted(points[1:-1], values, side="right")
        means, variances = self._doubles
        if self.table.kind == "cells":
            return means[index], variances[index]
        upward = (values - points[index]) / (points[index + 1] - points[index])
        jump = means[index + 1] - means[index]
        mixed = variances[index] + upward * (variances[index + 1] - variances[index])
        return means[index] + upward * jump, mixed + upward * (1 - upward) * jump**2


def _exact(number: float | Fraction) -> fmpq:
    """Return a number as a ratio in which sums and products are fast."""
    return fmpq(*number.as_integer_ratio())


def _fraction(number: fmpq) -> Fraction:
    return Fraction(int(number.p), int(number.q))


def _nearest(number: fmpq) -> float:
    """Return the double nearest to a ratio."""
    return int(number.p) / int(number.q)
