"""Amounts of privacy, which are promised, spent or left: epsilon, (epsilon, delta), or rho."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, cast

from inbounds import _check
from inbounds._table import HasHtml, Table
from inbounds.errors import ArgumentTypeError, Hint

_CALIBRATED = 1e-100, 1e100  # the range of epsilon and rho that doubles can calibrate for


@dataclass(frozen=True, slots=True, repr=False)
class Amount(HasHtml):
    """An amount of privacy: epsilon, epsilon at a delta, or rho; the others are None.

    The amount that is spent or left may be zero or infinite. A `Guarantee` is neither.

    Examples
    --------
    >>> Amount(epsilon=0.5, delta=1e-06)
    Amount(epsilon=0.5, delta=1e-06)
    >>> f"{Amount(rho=2.0):g}"
    'rho=2'
    """

    epsilon: float | None = None
    delta: float | None = None
    rho: float | None = None

    def stated(self) -> dict[str, Any]:
        """Return the numbers that are not None, as keyword arguments for a guarantee."""
        named = {"epsilon": self.epsilon, "delta": self.delta, "rho": self.rho}
        return {name: value for name, value in named.items() if value is not None}

    def _table(self) -> Table:
        facts = [(name, repr(value)) for name, value in self.stated().items()]
        return Table.of_facts(type(self).__name__, facts)

    def __format__(self, spec: str) -> str:
        """Return every number in the given format; without a format, in full."""

        def written(value: float) -> str:
            return format(value, spec) if spec else repr(value)

        return ", ".join(f"{name}={written(value)}" for name, value in self.stated().items())

    def __str__(self) -> str:
        return format(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"


@dataclass(frozen=True, slots=True, repr=False)
class Guarantee(Amount):
    """A guarantee of differential privacy: epsilon, with or without delta, or rho.

    All arguments are checked. A `delta` of zero is stored as None.

    Examples
    --------
    >>> Guarantee(epsilon=1, delta=0)
    Guarantee(epsilon=1.0)
    >>> Guarantee(epsilon=1, delta=1e-6).is_pure
    False
    >>> Guarantee(delta=1e-6, rho=0.1)
    Traceback (most recent call last):
    inbounds.errors.ArgumentError: delta must be 0 if rho is given, got delta=1e-06.
    """

    _range: ClassVar[tuple[float, float]] = _CALIBRATED

    def __post_init__(self) -> None:
        low, high = self._range
        is_pure = self.delta is None and self.rho is None
        if is_pure and type(self.epsilon) is float and low < self.epsilon < high:
            return
        delta = 0.0 if self.delta is None else check_delta(self.delta)
        check_kind(self.epsilon, delta, self.rho)
        object.__setattr__(self, "delta", delta or None)
        name = "epsilon" if self.rho is None else "rho"
        number = _check.positive(**{name: getattr(self, name)})
        object.__setattr__(self, name, _check.within(*self._range, **{name: number}))

    @property
    def is_pure(self) -> bool:
        """Whether this is pure epsilon, without delta."""
        return self.rho is None and self.delta is None

    @property
    def pair(self) -> tuple[float, float]:
        """Epsilon and delta, where delta is zero if pure; not for a guarantee of rho."""
        return cast("float", self.epsilon), self.delta or 0.0


def check_kind(epsilon: object, delta: object, rho: object) -> None:
    """Refuse epsilon and rho together, neither of them, and a delta with rho.

    Examples
    --------
    >>> check_kind(1.0, 1e-6, None)
    >>> check_kind(1.0, None, 0.1)
    Traceback (most recent call last):
    inbounds.errors.ArgumentTypeError: epsilon or rho must be given, but not both, got both.
    """
    if epsilon is None and rho is None:
        words = "for example {}; delta goes with epsilon." if delta else "for example {}."
        got, hint = "neither", Hint(words, "epsilon=1.0")
    elif epsilon is not None and rho is not None:
        got, hint = "both", None
    elif rho is not None and delta:
        raise _check.refusal("0 if rho is given", delta=delta)
    else:
        return
    raise ArgumentTypeError.must_be("epsilon or rho", "given, but not both", got=got, hint=hint)


def check_epsilon(epsilon: object) -> float:
    """Return a checked epsilon, in the range that doubles can calibrate for.

    Examples
    --------
    >>> check_epsilon(1)
    1.0
    """
    return _check.within(*_CALIBRATED, epsilon=_check.positive(epsilon=epsilon))


def check_delta(delta: object) -> float:
    """Return a checked delta, which is a probability below 1.

    Examples
    --------
    >>> check_delta(1)
    Traceback (most recent call last):
    inbounds.errors.ArgumentError: delta must be below 1, got delta=1.0.
    """
    checked = _check.not_negative(delta=delta)
    if checked >= 1:
        raise _check.refusal("below 1", delta=checked)
    return checked
