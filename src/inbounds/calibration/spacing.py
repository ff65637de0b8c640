"""Where the cells and the knots of a level table lie: doubles, spaced by a bit more than Δ.

Data and sensitivities are decimals that were rounded to doubles, so neighbours may be further apart
than the double Δ by one unit in the last place, and that must not lead one cell further. Distances
are therefore compared with Δ⁺, in exact arithmetic.
"""

import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise


def distance_bound(lower: float, upper: float, sensitivity: float) -> Fraction:
    """Return Δ⁺, which no two neighbours exceed after rounding to doubles and clamping.

    Proof: docs/proofs/optimal.md, theorem 12.

    Examples
    --------
    >>> abs(Fraction(32.34) - Fraction(31.93)) <= Fraction(0.41)  # although 32.34 - 31.93 = 0.41
    False
    >>> abs(Fraction(32.34) - Fraction(31.93)) <= distance_bound(17.99, 41.565, 0.41)
    True
    """
    largest = max(abs(lower), abs(upper))
    above = min(math.nextafter(sensitivity, math.inf), sys.float_info.max)
    return Fraction(above) + Fraction(math.ulp(largest))


@dataclass(frozen=True)
class Interval:
    """A box of one coordinate, and the largest distance between neighbours in it.

    Attributes
    ----------
    lower, upper
        The bounds.
    distance
        The distance that no two neighbours exceed, Δ⁺.
    """

    lower: float
    upper: float
    distance: Fraction

    @cached_property
    def exact_width(self) -> Fraction:
        """The width, exactly."""
        return Fraction(self.upper) - Fraction(self.lower)

    @cached_property
    def middle(self) -> Fraction:
        """The middle, exactly."""
        return (Fraction(self.upper) + Fraction(self.lower)) / 2

    @property
    def all_are_neighbours(self) -> bool:
        """Whether any two values in the box are neighbours."""
        return self.distance >= self.exact_width

    @cached_property
    def ratio(self) -> float:
        """The distance in units of the width, at most 1."""
        return float(min(self.distance / self.exact_width, Fraction(1)))

    def place(self, position: float) -> float:
        """Return the double at a position in units of the width from the middle, in the box."""
        middle, width, unit = self._whole
        whole, parts = position.as_integer_ratio()
        point = (middle * parts + whole * width) / (unit * parts)  # integers: rounded once
        return min(max(point, self.lower), self.upper)

    def position(self, point: float) -> float:
        """Return the distance of a double from the middle, in units of the width."""
        middle, width, unit = self._whole
        whole, parts = point.as_integer_ratio()
        return (whole * unit - middle * parts) / (width * parts)  # integers: rounded once

    @cached_property
    def _whole(self) -> tuple[int, int, int]:
        """The middle and the width as integers, in units of one over the third number."""
        unit = max(self.middle.denominator, self.exact_width.denominator)  # powers of two
        return int(self.middle * unit), int(self.exact_width * unit), unit

    def cells(self, reach: int, count: int) -> tuple[float, ...] | None:
        """Return the boundaries of at most `count` cells, or None if doubles are too coarse.

        The cells inside are `distance` / `reach` wide, and the two at the ends share the rest.
        Neighbours are at most `reach` cells apart: docs/proofs/optimal.md, theorem 2.
        """
        spacing = self.distance / reach
        first = self.middle - spacing * Fraction(count - 2, 2)
        inner = _spaced(first, spacing, reach, count - 1, self.distance)
        inner = [point for point in inner if point < self.upper]
        boundaries = (self.lower, *inner, self.upper)
        return boundaries if _increase(boundaries) else None

    def knots(self, reach: int) -> tuple[float, ...] | None:
        """Return knots whose span contains the box, or None if doubles are too coarse.

        Random rounding between them is private: docs/proofs/optimal.md, theorem 3.
        """
        spacing = self.distance / reach
        count = math.ceil(self.exact_width / spacing)
        first = self.middle - spacing * Fraction(count, 2)
        knots = _spaced(first, spacing, reach, count + 2, self.distance)
        if not knots:
            return None
        knots[0] = min(knots[0], self.lower)
        while len(knots) > 1 and knots[-2] >= self.upper:
            knots.pop()
        return tuple(knots) if knots[-1] >= self.upper and _increase(knots) else None

    def fine_knots(self, count: int) -> tuple[tuple[float, ...], int]:
        """Return about `count` + 1 knots if doubles allow it, and their reach.

        If any two values are neighbours, the reach is the number of knots.
        Proof: docs/proofs/optimal.md, theorem 3.
        """
        if self.all_are_neighbours:
            knots = self.even_knots(count)
            return knots, len(knots)
        for reach in range(max(1, round(count * self.ratio)), 0, -1):
            spaced = self.knots(reach)
            if spaced is not None:
                return spaced, reach
        return (self.lower, self.upper), 2

    def even_knots(self, count: int) -> tuple[float, ...]:
        """Return `count` + 1 knots at equal distances, the bounds being the first and the last."""
        inner = {self.place(i / count - 0.5) for i in range(1, count)} - {self.lower, self.upper}
        return (self.lower, *sorted(inner), self.upper)


def _spaced(
    first: Fraction, spacing: Fraction, reach: int, count: int, distance: Fraction
) -> list[float]:
    """Return doubles, each at least `distance` above the one `reach` places before it.

    There are `count` of them, or fewer if the others are beyond all doubles.
    """
    points: list[float] = []
    unit = math.lcm(first.denominator, spacing.denominator)
    start, step = int(first * unit), int(spacing * unit)
    try:
        for i in range(count):
            if i < reach:
                points.append((start + step * i) / unit)
            else:
                points.append(_double_above(points[i - reach], distance))
    except OverflowError:
        return points
    return points


def _double_above(point: float, distance: Fraction) -> float:
    """Return the smallest double that is not below a point plus a distance."""
    whole, parts = point.as_integer_ratio()
    number = whole * distance.denominator + distance.numerator * parts
    unit = parts * distance.denominator
    nearest = number / unit
    whole, parts = nearest.as_integer_ratio()
    return math.nextafter(nearest, math.inf) if whole * unit < number * parts else nearest


def _increase(points: list[float] | tuple[float, ...]) -> bool:
    return all(a < b < math.inf for a, b in pairwise(points))
