"""What may be asked of a mechanism: on which box, and pure epsilon, (epsilon, delta), or rho."""

from __future__ import annotations

import math
from dataclasses import dataclass

from inbounds import _check
from inbounds._entry import constructed, entry
from inbounds._kind import described
from inbounds.domain import Box
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


checked_calibration = entry(
    delta="method='exact' takes delta=0 on an interval; BoundedLaplace needs none.",
    rho="BoundedGaussian.calibrated gives rho; every mechanism tells its own as .rho.",
    sigma="leave it to the calibration, or write the constructor: BoundedGaussian(..., sigma=...).",
    scale="leave it to the calibration, or write the constructor: BoundedLaplace(..., scale=...).",
)
"""Decorates `calibrated`: our error for calls that do not fit, a warning for weak guarantees."""

checked_constructor = constructed(
    sigma="calibrated(domain, sensitivity, epsilon=...) finds it.",
    scale="calibrated(domain, sensitivity, epsilon=...) finds it.",
    epsilon="calibrated(domain, sensitivity, epsilon=...) takes it; a constructor takes a scale.",
)
"""Decorates a mechanism: our error for calls that do not fit its constructor."""


def check_pure(*, epsilon: object, delta: object) -> float:
    """Read the arguments of the calibration of a mechanism that gives pure epsilon.

    Examples
    --------
    >>> check_pure(epsilon=1, delta=0)
    1.0
    """
    checked = _check.not_negative(delta=delta)
    if checked:
        raise ArgumentError(
            f"delta must be 0 for Laplace noise, got delta={checked!r}.\n"
            "Hint: it gives pure epsilon, which holds for every delta: leave delta out, or use "
            "BoundedGaussian or inbounds.calibrate for less noise."
        )
    return _check.within(1e-100, 1e100, epsilon=_check.positive(epsilon=epsilon))


def check_guarantee(*, epsilon: object, delta: object, rho: object) -> Guarantee:
    """Read the arguments of a calibration, of which `epsilon` or `rho` must be given.

    Examples
    --------
    >>> check_guarantee(epsilon=1, delta=0, rho=None).is_pure
    True
    """
    checked = _check.not_negative(delta=delta)
    if (epsilon is None) == (rho is None):
        got, hint = ("neither", "write epsilon=1.0, say") if epsilon is None else ("both", "")
        raise ArgumentTypeError(
            f"epsilon or rho must be given, one of the two, got {got}."
            + (f"\nHint: {hint}{'; delta goes with epsilon' if checked else ''}." if hint else "")
        )
    if rho is not None:
        if checked:
            raise ArgumentError(f"delta must be 0 beside rho, got delta={checked!r}.")
        return Guarantee(0.0, 0.0, _check.within(1e-100, 1e100, rho=_check.positive(rho=rho)))
    if checked >= 1:
        raise ArgumentError(f"delta must be below 1, got delta={checked!r}.")
    positive = _check.positive(epsilon=epsilon)
    return Guarantee(_check.within(1e-100, 1e100, epsilon=positive), checked, None)


def check_order(alpha: object) -> float:
    """Read the order of a Rényi divergence: 1 or more, infinity included."""
    order = alpha if isinstance(alpha, float) and alpha == math.inf else _check.finite(alpha=alpha)
    if order < 1:
        raise ArgumentError(f"alpha must be at least 1, got alpha={alpha!r}.")
    return order


def check_box(domain: object) -> None:
    """Refuse what is not a box, or too extreme to be calibrated jointly."""
    if not isinstance(domain, Box):
        raise ArgumentTypeError(
            f"domain must be a Box, got domain={_check.quoted(domain)}, {described(domain)[0]}.\n"
            "Hint: Box(0, 120)"
        )
    widths = domain.widths
    if widths.size > 1 and not (widths.min() > 1e-100 and widths.max() < 1e100):
        raise ArgumentError("domain must have widths between 1e-100 and 1e100 to be joint.")
