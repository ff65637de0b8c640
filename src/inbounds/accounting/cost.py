"""The cost of a release, as data that can be added exactly.

Every double is read as the shortest decimal that rounds to it, so that thirty charges of 0.1 are
exactly 3.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from operator import attrgetter
from typing import Any, Self

from inbounds import _check, _json
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.group import group_delta
from inbounds.guarantee import Amount
from inbounds.loss import PrivacyLoss
from inbounds.unit import Unit


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one release: its loss, and a pair of epsilon and delta that is added exactly.

    Examples
    --------
    >>> Cost.of(PrivacyLoss.pure(0.5)).epsilon
    0.5
    """

    epsilon: float
    delta: float
    loss: PrivacyLoss

    def __post_init__(self) -> None:
        if not self.epsilon >= 0:
            raise _check.refusal("zero or more", epsilon=self.epsilon)
        if not 0 <= self.delta <= 1:
            raise _check.refusal("from 0 to 1", delta=self.delta)

    @classmethod
    def of(cls, loss: PrivacyLoss) -> Self:
        """Return the cost of a loss; the pair is pure epsilon, or else the profile's last point.

        The loss is copied by its numbers, because it may be of any class and come from a pickle.
        """
        loss = PrivacyLoss(loss.epsilon, loss.mu, loss.rho, loss.profile, loss.unit)
        if math.isfinite(loss.epsilon) or not loss.profile:
            return cls(loss.epsilon, 0.0, loss)
        return cls(*loss.profile[-1], loss)

    def about(self, unit: Unit | None) -> Self:
        """Return the cost with its unit stated; None leaves it unchanged."""
        return self if unit is None else replace(self, loss=self.loss.about(unit))

    def counted_in(self, unit: Unit | None) -> Self:
        """Convert the cost to the unit of a dataset, or refuse it.

        A cost without a unit is taken to be in that unit.

        Examples
        --------
        >>> added, replaced = Unit("add-remove"), Unit("replace", "row", 3)
        >>> Cost.of(PrivacyLoss.pure(0.1)).about(added).counted_in(replaced).epsilon
        0.6
        """
        stated = self.loss.unit
        if stated is None or unit is None or stated == unit:
            return self
        steps = stated.steps_to(unit)
        epsilon = self.epsilon
        if math.isfinite(epsilon):  # multiplied as a decimal, because it is added as one
            epsilon = _above(steps * exact(epsilon))
        delta = group_delta(self.epsilon, self.delta, steps)
        return replace(self, epsilon=epsilon, delta=delta, loss=self.loss.converted(unit))

    @classmethod
    def stated(
        cls,
        epsilon: float | None,
        delta: float | None,
        rho: float | None,
        loss: PrivacyLoss | None,
        unit: Unit | None = None,
    ) -> Self:
        """Return the cost that a caller states by a loss, or by numbers in its place."""
        if loss is None:
            return cls._of_numbers(epsilon, delta, rho).about(unit)
        if Amount(epsilon, delta, rho).stated():
            raise ArgumentError.must_be("loss", "given without epsilon, delta or rho")
        if not isinstance(loss, PrivacyLoss):
            raise ArgumentTypeError.must_be("loss", "a PrivacyLoss", got=type(loss).__name__)
        return cls.of(loss).about(unit)

    @classmethod
    def _of_numbers(cls, epsilon: float | None, delta: float | None, rho: float | None) -> Self:
        epsilon = None if epsilon is None else _check.charge(epsilon=epsilon)
        delta = None if delta is None else _check.charge(delta=delta)
        loss = PrivacyLoss.stated(epsilon, delta, rho)
        if epsilon is None:
            return cls.of(loss)
        return cls(epsilon, delta or 0.0, loss)  # the stated pair itself is added

    def to_json(self) -> str:
        """Return the cost as JSON; equal costs have equal texts."""
        epsilon = self.epsilon if math.isfinite(self.epsilon) else None
        fields = {"epsilon": epsilon, "delta": self.delta, "loss": json.loads(self.loss.to_json())}
        return json.dumps(fields, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote."""
        fields: dict[str, Any] = _json.read(text)
        epsilon = math.inf if fields["epsilon"] is None else fields["epsilon"]
        if not {type(epsilon), type(fields["delta"])} <= {int, float}:
            raise TypeError
        return cls(epsilon, fields["delta"], PrivacyLoss.from_json(json.dumps(fields["loss"])))


Spent = Iterable[tuple[Cost, int]]


@lru_cache(maxsize=1 << 14)
def exact(number: float) -> Fraction:
    """Return the shortest decimal that rounds to a double, as a fraction.

    Examples
    --------
    >>> exact(0.1)
    Fraction(1, 10)
    """
    return Fraction(repr(float(number)))


def as_float(total: Fraction | float) -> float:
    """Return the nearest double, or infinity if the number exceeds every double."""
    try:
        return float(total)
    except OverflowError:
        return math.inf


def _above(number: Fraction) -> float:
    """Return the smallest double whose decimal is at least a number."""
    nearest = as_float(number)
    if nearest == math.inf or exact(nearest) >= number:
        return nearest
    return math.nextafter(nearest, math.inf)


def total(spent: Spent, name: str) -> Fraction | float:
    """Return the exact sum of epsilon, delta or rho; infinite if any of them is.

    Examples
    --------
    >>> total([(Cost.of(PrivacyLoss.pure(0.1)), 3)], "epsilon")
    Fraction(3, 10)
    """
    read: Callable[[Cost], float] = attrgetter("loss.rho" if name == "rho" else name)
    numerator, denominator = 0, 1  # of the sum: fractions would be reduced again and again
    for cost, count in spent:
        number = read(cost)
        if not math.isfinite(number):
            return math.inf
        if number:
            part = exact(number)
            common = math.lcm(denominator, part.denominator)
            numerator *= common // denominator
            numerator += count * part.numerator * (common // part.denominator)
            denominator = common
    return Fraction(numerator, denominator)
