"""What one release may cost, as data: mechanisms write it, accounting reads it.

docs/proofs/unit.md proves what a loss implies for larger changes of the data.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, replace
from typing import Any, Self, cast

from inbounds import _check, _json
from inbounds._table import HasHtml, Table
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.group import group_delta, multiplied
from inbounds.guarantee import check_delta, check_kind
from inbounds.profile import LARGEST, Profile, pure_mu, pure_rho, response_delta, tabulated
from inbounds.unit import Unit, check_unit

_UP = 1 + 2.0**-40  # covers rounding


@dataclass(frozen=True, slots=True, repr=False)
class PrivacyLoss(HasHtml):
    """Upper bounds on the privacy loss of one release, all of them true at once.

    Attributes
    ----------
    epsilon
        Pure differential privacy.
    mu
        Gaussian differential privacy; infinite where none is known.
    rho
        Zero-concentrated differential privacy; infinite where none is known.
    profile
        Pairs of an epsilon and an upper bound on delta there, epsilons rising from 0.
    unit
        Which change of the data these bounds speak of. None where it is not stated: then they speak
        of whatever change the sensitivity was stated for.

    See Also
    --------
    Unit, compose, Ledger

    Examples
    --------
    >>> loss = PrivacyLoss.pure(0.5)
    >>> loss
    PrivacyLoss(epsilon=0.5, mu=0.62..., rho=0.125...)
    >>> PrivacyLoss.from_json(loss.to_json()) == loss
    True
    """

    epsilon: float
    mu: float
    rho: float
    profile: Profile
    unit: Unit | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "unit", check_unit(self.unit))
        for name in ("epsilon", "mu", "rho"):
            object.__setattr__(self, name, _bound(name, getattr(self, name)))
        object.__setattr__(self, "profile", _points(self.profile))
        bounds = (self.epsilon, self.mu, self.rho)
        epsilons = [epsilon for epsilon, _ in self.profile]
        if not (
            all(bound >= 0 for bound in bounds)
            and all(0 <= delta <= 1 for _, delta in self.profile)
            and epsilons == sorted(set(epsilons))
            and all(map(math.isfinite, epsilons))
            and (not epsilons or epsilons[0] == 0)
        ):
            raise ArgumentError(
                "bounds must be zero or more, and profile pairs (epsilon, delta) with epsilons "
                "rising from 0 and deltas from 0 to 1."
            )

    @classmethod
    def pure(cls, epsilon: float) -> Self:
        """Describe any release of which only pure epsilon is known.

        None is worse than randomised response, whose delta, mu and rho are these.
        """
        epsilon = _cost(epsilon=epsilon)
        points = tabulated(lambda smaller: response_delta(epsilon, smaller), epsilon)
        return cls(epsilon, pure_mu(epsilon), pure_rho(epsilon), points)

    @classmethod
    def approximate(cls, epsilon: float, delta: float) -> Self:
        """Describe any release of which only (epsilon, delta) is known."""
        epsilon, delta = _check.charge(epsilon=epsilon), check_delta(_check.charge(delta=delta))
        if delta == 0:
            return cls.pure(epsilon)

        def total(smaller: float) -> float:
            return min(1.0, (delta + (1 - delta) * response_delta(epsilon, smaller)) * _UP)

        points = tabulated(total, epsilon) if epsilon else ((0.0, delta),)
        return cls(math.inf, math.inf, math.inf, points)

    @classmethod
    def concentrated(cls, rho: float) -> Self:
        """Describe any release of which only rho is known."""
        return cls(math.inf, math.inf, _cost(rho=rho), ())

    @classmethod
    def stated(cls, epsilon: float | None, delta: float | None, rho: float | None) -> Self:
        """Describe any release of which only epsilon, (epsilon, delta) or rho is known."""
        check_kind(epsilon, delta, rho)
        if rho is not None:
            return cls.concentrated(rho)
        return cls.approximate(cast("float", epsilon), 0.0 if delta is None else delta)

    def about(self, unit: Unit | None) -> Self:
        """Say which change of the data the loss speaks of; None leaves it as it is.

        Examples
        --------
        >>> PrivacyLoss.pure(0.5).about(Unit("replace", "person"))
        PrivacyLoss(epsilon=0.5, mu=0.62..., rho=0.125..., unit=Unit('replace', 'person'))
        """
        unit = check_unit(unit)
        if None not in (unit, self.unit) and unit != self.unit:
            raise ArgumentError.must_be(
                "unit",
                f"{str(self.unit)!r}, which the loss states itself",
                got=repr(str(unit)),
                hint="loss.converted(unit) converts it.",
            )
        return self if unit is None else replace(self, unit=unit)

    def for_group(self, count: int) -> Self:
        """Return the loss for a change that `count` changes of the unit make together.

        Examples
        --------
        >>> one = PrivacyLoss.concentrated(0.1).about(Unit("add-remove", "edge"))
        >>> one.for_group(3)
        PrivacyLoss(epsilon=inf, mu=inf, rho=0.9..., unit=Unit('add-remove', 'edge', 3))
        """
        count = _check.positive_integer(count=count)
        if count == 1:
            return self
        epsilon = multiplied(count, self.epsilon)
        points: dict[float, float] = {}
        for smaller, delta in self.profile:
            if (larger := multiplied(count, smaller)) <= LARGEST:  # 0 at least, which is the first
                known = group_delta(smaller, delta, count), response_delta(epsilon, larger)
                points[larger] = min(points.get(larger, 1.0), *known)
        return replace(
            self,
            epsilon=epsilon,
            mu=min(multiplied(count, self.mu), pure_mu(epsilon)),
            rho=min(multiplied(count**2, self.rho), pure_rho(epsilon)),
            profile=tuple(points.items()),
            unit=self.unit and replace(self.unit, count=count * self.unit.count),
        )

    def converted(self, to: Unit) -> Self:
        """Return the loss for another unit, where it follows from what is known.

        ``"replace"`` follows from ``"add-remove"``, and many members from few. The members must be
        the same: how many rows a person has is not known here.

        Examples
        --------
        >>> loss = PrivacyLoss.pure(0.5).about(Unit("add-remove", "row"))
        >>> loss.converted(Unit("replace", "row")).epsilon
        1.0
        """
        wanted = check_unit(to)
        if wanted is None:
            raise ArgumentTypeError.must_be("to", "a Unit", got="None")
        if self.unit is None:
            hint = "loss.about(Unit('replace', 'row')) states it."
            raise ArgumentError.must("loss", "state its unit to be converted", hint=hint)
        alone = replace(self, unit=None)
        return replace(alone.for_group(self.unit.steps_to(wanted)), unit=wanted)

    def __reduce__(self) -> tuple[object, ...]:
        """Copy through the constructor, so that what comes from a pickle is checked."""
        return type(self), (self.epsilon, self.mu, self.rho, self.profile, self.unit)

    def to_json(self) -> str:
        """Write the loss so that another program can read it."""
        fields = {key: _plain(value) for key, value in asdict(self).items()}
        if self.unit is None:
            del fields["unit"]  # as it was written before there were units
        return json.dumps(fields)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote; every number must be a double, and is checked."""
        try:
            fields: dict[str, Any] = _json.read(text)
            epsilon, mu, rho = (
                math.inf if fields[key] is None else _number(fields[key])
                for key in ("epsilon", "mu", "rho")
            )
            points = tuple((_number(x), _number(y)) for x, y in fields["profile"])
            unit = Unit.from_fields(fields["unit"]) if "unit" in fields else None
            return cls(epsilon, mu, rho, points, unit)
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            raise ArgumentError.must_be("text", "a privacy loss written by to_json") from None

    def _table(self) -> Table:
        facts = [
            (label, f"{number:.6g}")
            for label, number in (
                ("pure ε", self.epsilon),
                ("μ (GDP)", self.mu),
                ("ρ (zCDP)", self.rho),
            )
        ]
        points = f"{len(self.profile)} points"
        if self.profile:
            (_, first), (last, delta) = self.profile[0], self.profile[-1]
            points += f": δ from {first:.6g} at ε = 0 to {delta:.6g} at ε = {last:.6g}"
        unit = [] if self.unit is None else [("unit", str(self.unit))]
        return Table.of_facts("Privacy loss", [*facts, ("profile", points), *unit])

    def __repr__(self) -> str:
        numbers = ", ".join(f"{key}={getattr(self, key)!r}" for key in ("epsilon", "mu", "rho"))
        unit = "" if self.unit is None else f", unit={self.unit!r}"
        return f"PrivacyLoss({numbers}{unit})"


def _cost(**labelled: object) -> float:
    """Return a cost above zero, never less than it is."""
    return _check.positive(**{name: _check.charge(**{name: labelled[name]}) for name in labelled})


def _bound(name: str, number: object) -> float:
    """Return an upper bound as a plain double that is not below it; infinity says nothing."""
    if type(number) is float:
        return number
    if isinstance(number, float) and math.isinf(number):
        return float(number)
    return _check.charge(**{name: number})


def _points(pairs: object) -> Profile:
    """Return a table of upper bounds as plain doubles; delta at a larger epsilon is smaller."""
    try:
        listed = [(epsilon, delta) for epsilon, delta in pairs]  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise ArgumentTypeError("profile must be pairs of an epsilon and a delta.") from None
    return tuple((_bound("epsilon", e), _bound("delta", d)) for e, d in listed)


def _plain(value: Any) -> Any:
    return None if value == math.inf else value


def _number(value: object) -> float:
    if type(value) not in (int, float):
        raise TypeError
    return float(value)  # type: ignore[arg-type]
