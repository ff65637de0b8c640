"""The numbers of a privacy loss: checked, written as JSON, read again, and shown as a table."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from inbounds import _check, _json
from inbounds._table import HasHtml, Table
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.profile import Profile
from inbounds.unit import Unit, check_unit


@dataclass(frozen=True, slots=True, repr=False)
class LossRecord(HasHtml):
    """The fields of `PrivacyLoss`, which says what they mean and what follows from them.

    Examples
    --------
    >>> LossRecord.from_json('{"epsilon": 1, "mu": null, "rho": 0.5, "profile": []}')
    LossRecord(epsilon=1.0, mu=inf, rho=0.5)
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
        object.__setattr__(self, "profile", _checked(self.profile))

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
        bounds = (("pure ε", self.epsilon), ("μ (GDP)", self.mu), ("ρ (zCDP)", self.rho))
        facts = [(label, f"{bound:.6g}") for label, bound in bounds]
        points = f"{len(self.profile)} points"
        if self.profile:
            (_, first), (last, delta) = self.profile[0], self.profile[-1]
            points += f": δ from {first:.6g} at ε = 0 to {delta:.6g} at ε = {last:.6g}"
        unit = [] if self.unit is None else [("unit", str(self.unit))]
        return Table.of_facts("Privacy loss", [*facts, ("profile", points), *unit])

    def __repr__(self) -> str:
        numbers = ", ".join(f"{key}={getattr(self, key)!r}" for key in ("epsilon", "mu", "rho"))
        unit = "" if self.unit is None else f", unit={self.unit!r}"
        return f"{type(self).__name__}({numbers}{unit})"


def _bound(name: str, number: object) -> float:
    """Return an upper bound as a Python float, rounded up; infinity means no bound."""
    if type(number) is float:
        return number
    if isinstance(number, float) and math.isinf(number):
        return float(number)
    return _check.charge(**{name: number})


def _checked(pairs: object) -> Profile:
    """Return a checked profile of Python floats, rounded up: delta decreases with epsilon."""
    try:
        points = [(epsilon, delta) for epsilon, delta in pairs]  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise ArgumentTypeError.must_be("profile", "pairs of an epsilon and a delta") from None
    profile = tuple(
        (_bound("epsilon", epsilon), _bound("delta", delta)) for epsilon, delta in points
    )
    epsilons = [epsilon for epsilon, _ in profile]
    if not (
        all(0 <= delta <= 1 for _, delta in profile)
        and epsilons == sorted(set(epsilons))
        and all(map(math.isfinite, epsilons))
        and (not epsilons or epsilons[0] == 0)
    ):
        raise ArgumentError.must_be(
            "profile",
            "pairs (epsilon, delta) with epsilons that increase from 0 and deltas from 0 to 1",
        )
    return profile


def _or_null(value: Any) -> Any:
    """Return a value for JSON, which has no infinity."""
    return None if value == math.inf else value


def _number(value: object) -> float:
    if type(value) not in (int, float):
        raise TypeError
    return float(value)  # type: ignore[arg-type]
