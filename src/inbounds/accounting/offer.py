"""The arguments of a release that a ledger checks before it charges anything."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from inbounds import _check
from inbounds._column import open_column
from inbounds.accounting.priced import PricedMechanism, PricedResponse
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.guarantee import Amount


@dataclass(frozen=True, slots=True)
class CheckedRelease:
    """Values that a mechanism will accept.

    Attributes
    ----------
    values
        The values, which are private: numbers, or levels.
    count
        The number of releases.
    rebuilt
        Turns outputs into what the caller gets.
    """

    values: Any
    count: int
    rebuilt: Callable[[Any], Any]


def check_mechanism(mechanism: object) -> None:
    """Refuse what is not a mechanism.

    Examples
    --------
    >>> check_mechanism(0.1)
    Traceback (most recent call last):
    inbounds.errors.ArgumentTypeError: mechanism must be an inbounds mechanism, got float.
    Hint: ledger.spend(dataset, loss=mechanism.loss()) charges for any other one.
    """
    is_mechanism = all(hasattr(mechanism, name) for name in ("loss", "release"))
    if not (is_mechanism and (hasattr(mechanism, "domain") or is_response(mechanism))):
        raise ArgumentTypeError.must_be(
            "mechanism",
            "an inbounds mechanism",
            got=type(mechanism).__name__,
            hint="ledger.spend(dataset, loss=mechanism.loss()) charges for any other one.",
        )


def is_response(mechanism: object) -> bool:
    """Tell whether a mechanism is one for categories, which has codes and no box.

    Examples
    --------
    >>> import inbounds as ib
    >>> is_response(ib.RandomizedResponse(["no", "yes"], epsilon=1.0))
    True
    """
    return hasattr(mechanism, "codes") and not hasattr(mechanism, "domain")


def checked_release(
    mechanism: PricedMechanism | PricedResponse, value: Any, options: dict[str, Any]
) -> CheckedRelease:
    """Check everything that could fail later, without drawing a bit.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.BoundedLaplace(ib.Box(0, 120), 2.5, scale=30.0)
    >>> checked_release(m, [41.3, 17.0], {}).count
    2
    """
    check_mechanism(mechanism)
    if is_response(mechanism):
        return _checked_levels(cast("PricedResponse", mechanism), value, options)
    mechanism = cast("PricedMechanism", mechanism)
    if type(value) in (float, int) and mechanism.domain.is_interval and not options:
        return CheckedRelease(_check.private_number(value, "value"), 1, _unchanged)
    column = open_column(value, "value") if mechanism.domain.is_interval else None
    numbers = _check.private_array(value=column[0] if column else value)
    mechanism.domain.check_shape(numbers, "value")
    if numbers.size == 0:
        raise ArgumentError.must("value", "hold at least one number")
    no_rows = np.empty((0, mechanism.domain.dimension))
    mechanism.release(no_rows, **options)  # draws no bit, but checks the options
    if column:
        column[1](np.zeros(numbers.shape))  # rebuilding must not fail after the charge
    count = numbers.size // mechanism.domain.dimension
    return CheckedRelease(numbers, count, column[1] if column else _unchanged)


def _checked_levels(
    mechanism: PricedResponse, value: Any, options: dict[str, Any]
) -> CheckedRelease:
    """Check levels in a copy, which nobody changes between the check and the release."""
    levels = copy.copy(value)
    count = mechanism.codes(levels, "value").size
    if not count:
        raise ArgumentError.must("value", "hold at least one level")
    mechanism.release([], **options)  # draws no bit, but checks the options
    return CheckedRelease(levels, count, _unchanged)


def _unchanged(outputs: Any) -> Any:
    return outputs


def asked_of(release: object) -> Amount | None:
    """Return the guarantee that a mechanism was calibrated for, or None if it does not say.

    Examples
    --------
    >>> import inbounds as ib
    >>> asked_of(ib.BoundedGaussian.calibrated(ib.Box(0, 120), 2.5, epsilon=0.9, delta=1e-7))
    Amount(epsilon=0.9, delta=1e-07)
    >>> asked_of(ib.BoundedGaussian(ib.Box(0, 120), 2.5, sigma=20.0)) is None
    True
    """
    asked = getattr(release, "asked", None)
    return Amount(**asked.stated()) if isinstance(asked, Amount) else None


def stated_amount(epsilon: float | None, delta: float | None, rho: float | None) -> Amount | None:
    """Return numbers that a caller stated, and that were checked already, as an amount.

    Examples
    --------
    >>> stated_amount(1, 0, None)
    Amount(epsilon=1.0)
    """
    numbers = {"epsilon": epsilon, "delta": delta or None, "rho": rho}
    stated = {name: float(number) for name, number in numbers.items() if number is not None}
    return Amount(**stated) if stated else None
