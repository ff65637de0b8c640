"""What one release may cost, as data: mechanisms write it, accounting reads it.

docs/proofs/unit.md proves what a loss implies for larger changes of the data.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, fields, replace
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
    """Upper bounds on the privacy loss of one release, all of which hold at once.

    Parameters
    ----------
    epsilon
        Pure differential privacy, or infinity if no bound is known.
    mu
        Gaussian differential privacy, or infinity if no bound is known.
    rho
        Zero-concentrated differential privacy, or infinity if no bound is known.
    profile
        Pairs of an epsilon and an upper bound on delta there; the epsilons increase from 0.
    unit
        The change of the data that these bounds are about. If it is None, they are about the change
        that the sensitivity was stated for.

    Raises
    ------
    ArgumentError
        If a bound is negative or NaN, or the epsilons of `profile` do not increase from 0.
    ArgumentTypeError
        If an argument is of another type.

    See Also
    --------
    Unit : the change of the data that a loss is about.
    compose : the loss of several releases together.
    Ledger : a budget that losses are charged to.

    Notes
    -----
    Let M be the mechanism and D, D' two data sets that differ by one `unit`. For every such pair,
    every set S of outputs and every α > 1:

    - P(M(D) ∈ S) ≤ e^epsilon · P(M(D') ∈ S);
    - P(M(D) ∈ S) ≤ e^ε · P(M(D') ∈ S) + δ for each pair (ε, δ) in `profile`;
    - M(D) and M(D') are at least as hard to tell apart as N(0, 1) and N(`mu`, 1) [1]_;
    - the Rényi divergence of order α between M(D) and M(D') is at most α · `rho` [2]_.

    References
    ----------
    .. [1] Dong, Roth and Su (2022), "Gaussian Differential Privacy", J. R. Stat. Soc. B 84(1).
    .. [2] Bun and Steinke (2016), "Concentrated Differential Privacy: Simplifications, Extensions,
       and Lower Bounds", TCC.

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
            bound = _bound(name, getattr(self, name))
            if not bound >= 0:
                raise _check.refusal("zero or more", **{name: bound})
            object.__setattr__(self, name, bound)
        object.__setattr__(self, "profile", _points(self.profile))
        epsilons = [epsilon for epsilon, _ in self.profile]
        if not (
            all(0 <= delta <= 1 for _, delta in self.profile)
            and epsilons == sorted(set(epsilons))
            and all(map(math.isfinite, epsilons))
            and (not epsilons or epsilons[0] == 0)
        ):
            raise ArgumentError.must_be(
                "profile",
                "pairs (epsilon, delta) with epsilons that increase from 0 and deltas from 0 to 1",
            )

    @classmethod
    def pure(cls, epsilon: float) -> Self:
        """Return the loss of a release of which only pure `epsilon` is known.

        Delta, mu and rho are those of randomised response, which is the worst case.
        """
        epsilon = _cost(epsilon=epsilon)
        points = tabulated(lambda smaller: response_delta(epsilon, smaller), epsilon)
        return cls(epsilon, pure_mu(epsilon), pure_rho(epsilon), points)

    @classmethod
    def approximate(cls, epsilon: float, delta: float) -> Self:
        """Return the loss of a release of which only (`epsilon`, `delta`) is known."""
        epsilon, delta = _check.charge(epsilon=epsilon), check_delta(_check.charge(delta=delta))
        if delta == 0:
            return cls.pure(epsilon)

        def total(smaller: float) -> float:
            return min(1.0, (delta + (1 - delta) * response_delta(epsilon, smaller)) * _UP)

        points = tabulated(total, epsilon) if epsilon else ((0.0, delta),)
        return cls(math.inf, math.inf, math.inf, points)

    @classmethod
    def concentrated(cls, rho: float) -> Self:
        """Return the loss of a release of which only `rho` is known."""
        return cls(math.inf, math.inf, _cost(rho=rho), ())

    @classmethod
    def stated(cls, epsilon: float | None, delta: float | None, rho: float | None) -> Self:
        """Return the loss of a release of which only epsilon, (epsilon, delta) or rho is known."""
        check_kind(epsilon, delta, rho)
        if rho is not None:
            return cls.concentrated(rho)
        return cls.approximate(cast("float", epsilon), 0.0 if delta is None else delta)

    def about(self, unit: Unit | None) -> Self:
        """Return the loss with its unit stated; None leaves the loss as it is.

        Examples
        --------
        >>> PrivacyLoss.pure(0.5).about(Unit("replace", "person"))
        PrivacyLoss(epsilon=0.5, mu=0.62..., rho=0.125..., unit=Unit('replace', 'person'))
        """
        unit = check_unit(unit)
        if None not in (unit, self.unit) and unit != self.unit:
            raise ArgumentError.must_be(
                "unit",
                f"{str(self.unit)!r}, the unit that the loss states",
                got=repr(str(unit)),
                hint="loss.converted(unit) converts a loss to another unit.",
            )
        return self if unit is None else replace(self, unit=unit)

    def for_group(self, count: int) -> Self:
        """Return the loss for a change that consists of up to `count` changes of the unit.

        Examples
        --------
        >>> loss = PrivacyLoss.concentrated(0.1).about(Unit("add-remove", "edge"))
        >>> loss.for_group(3)
        PrivacyLoss(epsilon=inf, mu=inf, rho=0.9..., unit=Unit('add-remove', 'edge', 3))
        """
        count = _check.positive_integer(count=count)
        if count == 1:
            return self
        epsilon = multiplied(count, self.epsilon)
        points: dict[float, float] = {}
        for smaller, delta in self.profile:
            if (larger := multiplied(count, smaller)) <= LARGEST:  # always true for the first, 0
                bounds = group_delta(smaller, delta, count), response_delta(epsilon, larger)
                points[larger] = min(points.get(larger, 1.0), *bounds)
        return replace(
            self,
            epsilon=epsilon,
            mu=min(multiplied(count, self.mu), pure_mu(epsilon)),
            rho=min(multiplied(count**2, self.rho), pure_rho(epsilon)),
            profile=tuple(points.items()),
            unit=self.unit and replace(self.unit, count=count * self.unit.count),
        )

    def converted(self, to: Unit) -> Self:
        """Return the loss for another unit, if it follows from this one.

        ``"replace"`` follows from ``"add-remove"``, and a larger count from a smaller one. Both
        units must be of the same member, because how many rows a person has is not known here.

        Raises
        ------
        ArgumentError
            If the loss states no unit, or the loss for `to` does not follow.

        Notes
        -----
        The loss is that of a group of k changes, where k is ``self.unit.steps_to(to)``: k·epsilon,
        k·mu and k²·rho (docs/proofs/unit.md).

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
            raise ArgumentError.must("loss", "state a unit to be converted", hint=hint)
        alone = replace(self, unit=None)
        return replace(alone.for_group(self.unit.steps_to(wanted)), unit=wanted)

    def __reduce__(self) -> tuple[object, ...]:
        """Copy through the constructor, which checks what comes from a pickle."""
        return type(self), (self.epsilon, self.mu, self.rho, self.profile, self.unit)

    def to_json(self) -> str:
        """Return the loss as JSON."""
        fields = {key: _or_null(value) for key, value in asdict(self).items()}
        if self.unit is None:
            del fields["unit"]  # as in versions without units
        return json.dumps(fields)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the loss that `to_json` wrote; every number is checked and must be a double."""
        try:
            read: dict[str, Any] = _json.read(text)
            if set(read) - {field.name for field in fields(cls)}:
                raise ValueError  # a misspelt unit must not go unnoticed
            epsilon, mu, rho = (
                math.inf if read[key] is None else _number(read[key])
                for key in ("epsilon", "mu", "rho")
            )
            points = tuple((_number(x), _number(y)) for x, y in read["profile"])
            unit = Unit.from_fields(read["unit"]) if "unit" in read else None
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
    """Return a cost above zero, rounded up."""
    return _check.positive(**{name: _check.charge(**{name: labelled[name]}) for name in labelled})


def _bound(name: str, number: object) -> float:
    """Return an upper bound as a Python float, rounded up; infinity means no bound."""
    if type(number) is float:
        return number
    if isinstance(number, float) and math.isinf(number):
        return float(number)
    return _check.charge(**{name: number})


def _points(pairs: object) -> Profile:
    """Return a profile of Python floats, rounded up: delta decreases with epsilon."""
    try:
        points = [(epsilon, delta) for epsilon, delta in pairs]  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise ArgumentTypeError.must_be("profile", "pairs of an epsilon and a delta") from None
    return tuple((_bound("epsilon", epsilon), _bound("delta", delta)) for epsilon, delta in points)


def _or_null(value: Any) -> Any:
    """Return a value for JSON, which has no infinity."""
    return None if value == math.inf else value


def _number(value: object) -> float:
    if type(value) not in (int, float):
        raise TypeError
    return float(value)  # type: ignore[arg-type]
