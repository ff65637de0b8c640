"""Checks of the arguments that all mechanisms share."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import numpy as np

from inbounds import _check
from inbounds._entry import constructed, entry
from inbounds._kind import described
from inbounds._types import Floats
from inbounds.domain import Box
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.guarantee import check_epsilon
from inbounds.mechanisms.asked import noting

P = ParamSpec("P")
R = TypeVar("R")

_SHOWN = 3  # coordinates of a box in a message

_checked = entry(
    delta="method='exact' takes delta=0 on an interval; BoundedLaplace needs no delta.",
    rho="only BoundedGaussian.calibrated takes rho; every mechanism has a property rho.",
    sigma="calibrated finds sigma; to choose it yourself, call the class, not calibrated.",
    scale="calibrated finds the scale; to choose it yourself, call the class, not calibrated.",
)


def check_entropy(entropy: object) -> None:
    """Refuse what is no source of random bits.

    Examples
    --------
    >>> check_entropy(41)
    Traceback (most recent call last):
    inbounds.errors.ArgumentTypeError: entropy must be a source with bits() and words(), as in
    inbounds.sampling.entropy.
    """
    if not (hasattr(entropy, "bits") and hasattr(entropy, "words")):
        source = "a source with bits() and words(), as in inbounds.sampling.entropy"
        raise ArgumentTypeError.must_be("entropy", source)


def checked_calibration(calibrated: Callable[P, R]) -> Callable[P, R]:
    """Decorate `calibrated`: clear errors for wrong calls, a warning for weak guarantees.

    The mechanism remembers what it was calibrated for.
    """
    return _checked(noting(calibrated))


checked_constructor = constructed(
    sigma="calibrated(domain, sensitivity, epsilon=...) finds it.",
    scale="calibrated(domain, sensitivity, epsilon=...) finds it.",
    epsilon="calibrated(domain, sensitivity, epsilon=...) takes it; a constructor takes a scale.",
)
"""Decorates a mechanism: clear errors for wrong calls of its constructor."""


def check_pure(*, epsilon: object, delta: object, noise: str = "Laplace noise") -> float:
    """Return the checked epsilon of a mechanism whose delta must be zero.

    Examples
    --------
    >>> check_pure(epsilon=1, delta=0)
    1.0
    """
    checked = _check.not_negative(delta=delta)
    if checked:
        hint = (
            f"{noise} gives pure epsilon, which holds for every delta: leave delta out. "
            "For many numbers at once, BoundedGaussian and inbounds.calibrate make use of a delta."
        )
        raise _check.refusal(f"0 for {noise}", hint, delta=checked)
    return check_epsilon(epsilon)


def check_scale(domain: Box, **labelled: object) -> float | Floats:
    """Return the checked scale of the noise, the only keyword argument: a number or a vector.

    Examples
    --------
    >>> check_scale(Box(0, 1), sigma=2)
    2.0
    """
    (name,), scale = labelled, _check.positive_vector(**labelled)
    if not isinstance(scale, float) and (domain.is_interval or np.size(scale) != domain.dimension):
        raise ArgumentError.must_be(
            name,
            "one number, or one per coordinate of a box with several coordinates",
            got=f"{np.size(scale)} for {domain!r}",
        )
    if isinstance(scale, float) and isinstance(domain.upper, float):
        smallest, least = scale, scale / (domain.upper - domain.lower)
        most = least
    else:
        with np.errstate(over="ignore"):
            ratios = scale / domain.widths
        smallest, least, most = np.min(scale), ratios.min(), ratios.max()
    if not (least > 2.0**-250 and most < 2.0**250):
        raise ArgumentError.must_be(name, "within a factor of 2**250 of the box's width")
    if smallest < 2.0**-1022:  # a subnormal number may be rounded below the guarantee
        raise ArgumentError.must_be(name, "at least 2**-1022", hint="use smaller units.")
    return scale


def check_interval(domain: object, kind: str) -> tuple[float, float]:
    """Return the bounds of an interval; refuse anything else for a kind of mechanism.

    Examples
    --------
    >>> check_interval(Box(0, 120), "Window")
    (0.0, 120.0)
    """
    check_box(domain)
    assert isinstance(domain, Box)
    if not domain.is_interval:
        hint = "release each coordinate by itself, with its part of epsilon."
        many = f"a box of {domain.dimension} coordinates"
        got = many if domain.dimension > _SHOWN else repr(domain)
        raise ArgumentError.must_be("domain", f"an interval for {kind}", got=got, hint=hint)
    return float(domain.lower), float(domain.upper)


def check_order(alpha: object) -> float:
    """Return the checked order of a Rényi divergence: 1 or more, including infinity."""
    order = alpha if isinstance(alpha, float) and alpha == math.inf else _check.finite(alpha=alpha)
    if order < 1:
        raise _check.refusal("at least 1", alpha=alpha)
    return order


def check_box(domain: object) -> None:
    """Refuse anything but a box, and joint boxes with extreme widths."""
    if not isinstance(domain, Box):
        got = f"domain={_check.quoted(domain)}, {described(domain)[0]}"
        raise ArgumentTypeError.must_be("domain", "a Box", got=got, hint="Box(0, 120)")
    if domain.dimension > 1 and not (domain.widths.min() > 1e-100 and domain.widths.max() < 1e100):
        requirement = "have widths between 1e-100 and 1e100 for a joint release"
        raise ArgumentError.must("domain", requirement)
