"""The arguments that mechanisms share, and what is wrong with them."""

from __future__ import annotations

import math

from inbounds import _check
from inbounds._entry import constructed, entry
from inbounds._kind import described
from inbounds.domain import Box
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.guarantee import check_epsilon

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
        hint = (
            "it gives pure epsilon, which holds for every delta: leave delta out, or use "
            "BoundedGaussian or inbounds.calibrate for less noise."
        )
        raise _check.refusal("0 for Laplace noise", hint, delta=checked)
    return check_epsilon(epsilon)


def check_order(alpha: object) -> float:
    """Read the order of a Rényi divergence: 1 or more, infinity included."""
    order = alpha if isinstance(alpha, float) and alpha == math.inf else _check.finite(alpha=alpha)
    if order < 1:
        raise _check.refusal("at least 1", alpha=alpha)
    return order


def check_box(domain: object) -> None:
    """Refuse what is not a box, or too extreme to be calibrated jointly."""
    if not isinstance(domain, Box):
        got = f"domain={_check.quoted(domain)}, {described(domain)[0]}"
        raise ArgumentTypeError.must_be("domain", "a Box", got=got, hint="Box(0, 120)")
    widths = domain.widths
    if widths.size > 1 and not (widths.min() > 1e-100 and widths.max() < 1e100):
        raise ArgumentError.must("domain", "have widths between 1e-100 and 1e100 to be joint")
