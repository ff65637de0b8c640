"""The public bounds of features, and values between them as numbers from 0 to 1."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from inbounds import _check
from inbounds._types import Floats
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.frames.central.argument import check_bounded


class Bounds(NamedTuple):
    """The lower and the upper bounds of features, one of each for every feature."""

    lower: Floats
    upper: Floats

    @property
    def widths(self) -> Floats:
        """How far the bounds of each feature are apart."""
        return self.upper - self.lower

    @property
    def middles(self) -> Floats:
        """The points halfway between the bounds."""
        return self.lower / 2 + self.upper / 2

    def to_unit(self, values: Floats) -> Floats:
        """Move values into the bounds, and return where they are between them, from 0 to 1."""
        inside = np.clip(values, self.lower, self.upper)
        return np.clip((inside - self.lower) / self.widths, 0.0, 1.0)

    def from_unit(self, places: Floats) -> Floats:
        """Return the values at places from 0 to 1; other places are beyond the bounds."""
        return np.asarray(self.lower + places * self.widths)


def check_bounds(lower: Any, upper: Any, count: int) -> Bounds:
    """Return the bounds of `count` features, each given once for all or once for every feature.

    Examples
    --------
    >>> check_bounds(0, [120, 7], 2).widths.tolist()
    [120.0, 7.0]
    >>> check_bounds(0, [120, 7], 3)
    Traceback (most recent call last):
    inbounds.errors.ArgumentError: upper must be one number, or one for each of the 3 features,
    got 2 of them.
    """
    bounds = Bounds(_spread("lower", lower, count), _spread("upper", upper, count))
    for low, high in zip(*map(np.ndarray.tolist, bounds), strict=True):
        check_bounded("feature", low, high)
    return bounds


def _spread(name: str, given: Any, count: int) -> Floats:
    if given is None:
        hint = "bounds must be public, so they are not read from the data."
        raise ArgumentTypeError.must_be(name, "given", hint=hint)
    numbers = np.atleast_1d(_check.finite_vector(**{name: given}))
    if numbers.size not in (1, count):
        requirement = f"one number, or one for each of the {count} features"
        raise ArgumentError.must_be(name, requirement, got=f"{numbers.size} of them")
    return np.array(np.broadcast_to(numbers, (count,)))
