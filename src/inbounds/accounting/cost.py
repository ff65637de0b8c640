"""What a release costs, as data that adds up exactly.

Every double is read as the shortest decimal that stands for it, so that thirty charges of 0.1 are 3
and not a little more.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol, Self

from inbounds import _check, _json
from inbounds.domain import Box
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.group import group_delta
from inbounds.guarantee import Amount
from inbounds.loss import PrivacyLoss
from inbounds.unit import Unit


class Priced(Protocol):
    """What a budget asks of a mechanism."""

    @property
    def epsilon(self) -> float:
        """Pure epsilon of one release."""
        ...

    @property
    def rho(self) -> float:
        """Zero-concentrated privacy of one release."""
        ...

    def delta(self, epsilon: float) -> float:
        """Return delta at `epsilon`."""
        ...

    def loss(self) -> PrivacyLoss:
        """Return everything that is known about the cost of one release."""
        ...


class Releases(Priced, Protocol):
    """What a ledger asks of a mechanism."""

    @property
    def domain(self) -> Box:
        """Where answers live."""
        ...

    @property
    def release(self) -> Callable[..., Any]:
        """Draws answers for values: a number for a number, an array for an array."""
        ...


@dataclass(frozen=True, slots=True)
class Cost:
    """What one release costs: its loss, and one pair of epsilon and delta to be added exactly.

    Examples
    --------
    >>> Cost.of(PrivacyLoss.pure(0.5)).epsilon
    0.5
    """

    epsilon: float
    delta: float
    loss: PrivacyLoss

    def __post_init__(self) -> None:
        if not (self.epsilon >= 0 and 0 <= self.delta <= 1):
            raise ArgumentError.must_be("epsilon", "zero or more, and delta from 0 to 1")

    @classmethod
    def of(cls, loss: PrivacyLoss) -> Self:
        """Choose the pair: pure epsilon, or else the largest epsilon that is tabulated.

        The loss is read by its numbers: an object may be of any class, and come from a pickle.
        """
        loss = PrivacyLoss(loss.epsilon, loss.mu, loss.rho, loss.profile, loss.unit)
        if math.isfinite(loss.epsilon) or not loss.profile:
            return cls(loss.epsilon, 0.0, loss)
        return cls(*loss.profile[-1], loss)

    def about(self, unit: Unit | None) -> Self:
        """Say which change of the data the cost speaks of; None leaves it as it is."""
        return self if unit is None else replace(self, loss=self.loss.about(unit))

    def counted_in(self, unit: Unit | None) -> Self:
        """Convert the cost to the unit of a dataset, or refuse it; whoever states none agrees.

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
        if math.isfinite(epsilon):  # multiplied as a decimal, like all that is added up exactly
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
        """Read what a person says that something cost: a loss, or numbers in its place."""
        if loss is None:
            return cls._of_numbers(epsilon, delta, rho).about(unit)
        if Amount(epsilon, delta, rho).stated():
            raise ArgumentError.must_be("loss", "given without epsilon, delta and rho")
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
        return cls(epsilon, delta or 0.0, loss)  # the pair itself, to be added up

    def to_json(self) -> str:
        """Write the cost so that equal costs have equal texts."""
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


def exact(number: float) -> Fraction:
    """Read a double as the shortest decimal that stands for it.

    Examples
    --------
    >>> exact(0.1)
    Fraction(1, 10)
    """
    return Fraction(repr(float(number)))


def as_float(total: Fraction | float) -> float:
    """Return the nearest double, infinity where there is none."""
    try:
        return float(total)
    except OverflowError:
        return math.inf


def _above(number: Fraction) -> float:
    """Return the smallest double whose decimal is not below a number."""
    nearest = as_float(number)
    if nearest == math.inf or exact(nearest) >= number:
        return nearest
    return math.nextafter(nearest, math.inf)


def _cost(name: str) -> Callable[[Cost], float]:
    return (lambda cost: cost.loss.rho) if name == "rho" else (lambda cost: getattr(cost, name))


def total(spent: Spent, name: str) -> Fraction | float:
    """Add up epsilon, delta or rho, exactly; infinite where one of them is.

    Examples
    --------
    >>> total([(Cost.of(PrivacyLoss.pure(0.1)), 3)], "epsilon")
    Fraction(3, 10)
    """
    read = _cost(name)
    numbers = [(read(cost), count) for cost, count in spent]
    if not all(math.isfinite(number) for number, _ in numbers):
        return math.inf
    return sum((count * exact(number) for number, count in numbers), Fraction(0))
