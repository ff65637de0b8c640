"""The public grid of a column: points at equal distances between its bounds.

Nothing here needs an engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from inbounds.errors import ArgumentError

MOST_STEPS = 2**20
"""The largest number of steps between two bounds."""

_DEFAULT_STEPS = 2**16
_LARGEST_EXACT = 2.0**53  # up to here, doubles hold every integer
_ROUNDING = Fraction(1, 2**30)  # of a step: a row may be this much further away from its point


@dataclass(frozen=True, slots=True)
class Grid:
    """Points at equal distances from one bound to the other.

    Attributes
    ----------
    lower, upper
        The bounds.
    steps
        The number of steps between them.
    is_exact
        Whether every value that a row can have is a point, once it is moved to the bounds.
    """

    lower: float
    upper: float
    steps: int
    is_exact: bool

    @classmethod
    def of(cls, lower: float, upper: float, step: float | None, *, integral: bool) -> Grid:
        """Return the grid of a column, which holds integers or not.

        Without a step, integers have the step 1, and other numbers 2¹⁶ steps between the bounds.

        Examples
        --------
        >>> Grid.of(0.0, 120.0, None, integral=True).steps, Grid.of(0.0, 1.0, 0.1, integral=False)
        (120, Grid(lower=0.0, upper=1.0, steps=10, is_exact=False))
        """
        whole = integral and lower.is_integer() and upper.is_integer()
        whole = whole and max(abs(lower), abs(upper)) <= _LARGEST_EXACT
        if step is None:
            width = upper - lower
            if whole and width <= MOST_STEPS:
                return cls(lower, upper, int(width), True)
            return cls(lower, upper, _DEFAULT_STEPS, False)
        is_exact = whole and (1 / _decimal(step)).denominator == 1
        return cls(lower, upper, checked_steps(lower, upper, step), is_exact)

    def point(self, index: int) -> float:
        """Return a point.

        Examples
        --------
        >>> Grid(0.0, 1.0, 10, False).point(3)
        0.3
        """
        return self._inside(self._exact(index))

    def around(self, low: int, high: int) -> tuple[float, float]:
        """Return an interval that holds every value whose point is between two others.

        Proof: docs/proofs/quantiles.md, theorem 10.

        Examples
        --------
        >>> Grid(0.0, 100.0, 100, True).around(3, 5), Grid(0.0, 100.0, 100, False).around(0, 100)
        ((3.0, 5.0), (0.0, 100.0))
        """
        if self.is_exact:
            return self.point(low), self.point(high)
        half = (Fraction(1, 2) + _ROUNDING) * self._exact(1, 0)
        return self._inside(self._exact(low) - half), self._inside(self._exact(high) + half)

    def _exact(self, index: int, start: int = 1) -> Fraction:
        lower, upper = _decimal(self.lower), _decimal(self.upper)
        return start * lower + (upper - lower) * index / self.steps

    def _inside(self, number: Fraction) -> float:
        return min(max(float(number), self.lower), self.upper)


def checked_steps(lower: float, upper: float, step: float) -> int:
    """Return the number of steps between two bounds, or refuse the step.

    Examples
    --------
    >>> checked_steps(0.0, 0.3, 0.1)
    3
    """
    steps = (_decimal(upper) - _decimal(lower)) / _decimal(step)
    if steps.denominator != 1 or steps > MOST_STEPS:
        requirement = f"fit into upper - lower a whole number of times, at most {MOST_STEPS}"
        raise ArgumentError.must("step", requirement, got=f"step={step!r}")
    return int(steps)


def _decimal(number: float) -> Fraction:
    """Return the shortest decimal that rounds to a double."""
    return Fraction(repr(float(number)))
