"""What may be asked of a calibration: pure epsilon, (epsilon, delta), or rho."""

from __future__ import annotations

from dataclasses import dataclass

from inbounds import _check
from inbounds.errors import ArgumentError, ArgumentTypeError


@dataclass(frozen=True, slots=True)
class Guarantee:
    """Epsilon and delta, or rho: one of the two kinds. Made by `check_guarantee`."""

    epsilon: float
    delta: float
    rho: float | None

    @property
    def is_pure(self) -> bool:
        """Whether pure epsilon is asked for."""
        return self.rho is None and self.delta == 0


def check_guarantee(*, epsilon: object, delta: object, rho: object) -> Guarantee:
    """Read the arguments of a calibration, of which `epsilon` or `rho` must be given.

    Examples
    --------
    >>> check_guarantee(epsilon=1, delta=0, rho=None).is_pure
    True
    """
    if (epsilon is None) == (rho is None):
        given = "neither" if epsilon is None else "both"
        raise ArgumentTypeError(f"epsilon or rho must be given, one of the two, got {given}.")
    checked = _check.not_negative(delta=delta)
    if rho is not None:
        if checked:
            raise ArgumentError(f"delta must be 0 beside rho, got delta={checked!r}.")
        return Guarantee(0.0, 0.0, _check.within(1e-100, 1e100, rho=_check.positive(rho=rho)))
    if checked >= 1:
        raise ArgumentError(f"delta must be below 1, got delta={checked!r}.")
    positive = _check.positive(epsilon=epsilon)
    return Guarantee(_check.within(1e-100, 1e100, epsilon=positive), checked, None)
