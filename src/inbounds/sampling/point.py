"""One number at a time, in plain floats and integers: where it is in a box, and those of a grid.

This is what `offset` and `grid` do for arrays, bit by bit. What depends on public numbers alone is
computed once, when a function is made.
"""

import math
from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inbounds.numerics.ball import exact
from inbounds.sampling.entropy import Entropy
from inbounds.sampling.grid import Exact, Grid, _common_fractions

_ROOT = 1 << 52
_ROOT_DOUBLE = float(_ROOT)
_BASE = _ROOT * _ROOT

EXACT = 2.0**53
"""A double represents every integer up to this one exactly."""

PAD = 257.0
"""Added to places in a table, because Python keeps smaller integers, and finds them sooner than it
makes others."""

FEW = 12
"""Values of a call that are drawn one by one, as arrays would take longer."""


def one_by_one(
    draw: Callable[[Exact, Entropy], float], values: NDArray[Any], entropy: Entropy
) -> NDArray[Any]:
    """Return an array of outputs of few values, of which there is at least one.

    Examples
    --------
    >>> from inbounds.sampling.entropy import SYSTEM
    >>> one_by_one(lambda number, _: 2 * number, np.array([[1.5, 2.0]]), SYSTEM)
    array([[3., 4.]])
    """
    numbers = values.reshape(-1).tolist()
    return np.array([draw(number, entropy) for number in numbers]).reshape(values.shape)


def padded_array(kind: str, numbers: NDArray[Any]) -> "array[Any]":
    """Return a table whose first entry has the place PAD.

    It is one array, because objects of their own would lie in memory as chance has it, and some
    would be found sooner than others.

    Examples
    --------
    >>> padded_array("d", np.array([0.5]))[257]
    0.5
    """
    return array(kind, [*[0] * int(PAD), *numbers.tolist()])


def clamp_double(lower: float, upper: float) -> Callable[[Exact], float | None]:
    """Return a function that moves doubles and integers into [lower, upper], in equal time.

    It returns None for numbers that a double may not hold: fractions, and integers if the box is
    not within 2⁵³ of zero. Proof: docs/proofs/sampler.md, theorem 2.

    Examples
    --------
    >>> clamp = clamp_double(0.5, 120.0)
    >>> clamp(41), clamp(-(2**2000)), clamp(1e308)
    (41.0, 0.5, 120.0)
    >>> clamp_double(0.0, 2.0**60)(41) is None
    True
    """
    holds_integers = max(abs(lower), abs(upper)) <= EXACT
    least, most = math.floor(lower), math.ceil(upper)

    def clamped(number: Exact) -> float | None:
        if type(number) is int and holds_integers:
            number = _above_base(min(max(number, least), most) + _BASE)
        return min(max(number, lower), upper) if type(number) is float else None

    return clamped


def offset_from(lower: float, upper: float) -> Callable[[Exact], float]:
    """Return a function from a number to its distance from `lower`, once it is in the box.

    The exact distance is rounded once. Proof: docs/proofs/sampler.md, theorem 2.

    Examples
    --------
    >>> offset = offset_from(2.0**60, 2.0**61)
    >>> offset(2**60 + 1), offset(0.5), offset(2**2000) == 2.0**60
    (1.0, 0.0, True)
    """
    clamped = clamp_double(lower, upper)
    (low, low_unit), (high, high_unit) = lower.as_integer_ratio(), upper.as_integer_ratio()
    unit = max(low_unit, high_unit)  # both are powers of two
    low, high = low * (unit // low_unit), high * (unit // high_unit)
    is_short = high - low < _BASE and unit < _BASE

    def offset(number: Exact) -> float:
        double = clamped(number)
        if double is not None:
            return double - lower
        if type(number) is int and is_short:
            return _above_base(min(max(number * unit, low), high) - (low - _BASE)) / unit
        numerator, denominator = number.as_integer_ratio()
        first = low * denominator
        inside = min(max(numerator * unit, first), high * denominator)
        return (inside - first) / (denominator * unit)  # Python rounds this quotient once

    return offset


def _above_base(number: int) -> float:
    """Return how far a number is above 2¹⁰⁴, rounded once, if it is less than 2¹⁰⁴ above or below.

    Python takes longer to convert longer integers. Here all have the same length.
    """
    high, low = float(number >> 52), float(number & (_ROOT - 1) | _ROOT)
    return (high - _ROOT_DOUBLE) * _ROOT_DOUBLE + (low - _ROOT_DOUBLE)


def floor_double(number: float) -> float:
    """Return the whole part of a double from 0 to 2⁵¹ as a double, in equal time.

    Examples
    --------
    >>> floor_double(0.9999999999999999), floor_double(7.0), floor_double(2.0**50 + 0.75)
    (0.0, 7.0, 1125899906842624.0)
    """
    nearest = number + _ROOT_DOUBLE - _ROOT_DOUBLE
    return nearest - (nearest > number)


def number_at(grid: Grid) -> Callable[[float], float]:
    """Return a function that equals `grid.points` for whole numbers.

    Examples
    --------
    >>> number = number_at(Grid.fit(-1.0, 1.0, 0.1, scale=1.0))
    >>> [number(k) for k in (0, 7, 13, 20)]
    [-1.0, -0.3, 0.3, 1.0]
    """
    number = _unbounded(grid)
    if grid.step is None or grid.integral:
        return number
    upper, last, ends_at_upper = grid.upper, grid.intervals, grid.reaches_upper

    def bounded(index: float) -> float:
        ends = ends_at_upper and index == last
        return (min(number(index), upper), upper)[ends]  # no branch, whose time would tell the end

    return bounded


def _unbounded(grid: Grid) -> Callable[[float], float]:
    """Return the numbers of a grid, which rounding may move above its upper bound."""
    lower, upper, step = grid.lower, grid.upper, grid.step
    fractions = _common_fractions(lower, step, grid.intervals)
    if fractions is not None:
        first, stride, denominator = fractions
        if grid.integral:
            return lambda index: first + stride * index
        return lambda index: (first + stride * index) / denominator
    if step is not None and grid.spacing == exact(step):
        return lambda index: lower + step * index
    width = upper - lower
    last = float(grid.intervals) if grid.intervals <= EXACT else grid.intervals
    if lower + width == upper:  # then no index gives more, because rounding keeps the order
        return lambda index: index / last * width + lower

    def even(index: float) -> float:
        fraction = index / last
        return (min(fraction * width + lower, upper), upper)[fraction == 1.0]

    return even
