"""Which noise a release has: of all mechanisms that give a guarantee, the one of least error.

Everything here depends on public parameters alone. Clamped mechanisms are used on a box that is so
wide that they clamp practically nothing, and outputs are moved into the range of the sums
afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from inbounds import _check
from inbounds._types import Floats
from inbounds.domain import Box
from inbounds.errors import ArgumentError, ArgumentTypeError, Hint, quoted
from inbounds.frames.central.change import Neighbours, box, per_number, sensitivities
from inbounds.frames.central.moment import Moment
from inbounds.frames.central.noise import Noise
from inbounds.frames.central.split import best_factors
from inbounds.guarantee import Guarantee
from inbounds.mechanisms.bounded_gaussian import BoundedGaussian
from inbounds.mechanisms.bounded_laplace import BoundedLaplace
from inbounds.mechanisms.clamped_gaussian import ClampedGaussian
from inbounds.mechanisms.clamped_laplace import ClampedLaplace
from inbounds.mechanisms.noise_mechanism import NoiseMechanism
from inbounds.numerics.search import next_admissible
from inbounds.pure import pure_epsilon
from inbounds.sensitivity import Sensitivity

_CLAMPED: tuple[type[NoiseMechanism], ...] = (ClampedLaplace, ClampedGaussian)
_BOUNDED: tuple[type[NoiseMechanism], ...] = (BoundedLaplace, BoundedGaussian)
KINDS = (*_CLAMPED, *_BOUNDED)
"""The mechanisms that are tried; of two with the same error, the first is taken."""

_BEYOND = 40.0  # scales of noise that the box of a clamped mechanism reaches beyond the sums
_FARTHEST = 2.0**80  # and the most, in units of the range of a sum
_LITTLE = 1 / 8  # of a range: with less noise than that, bounded mechanisms gain nothing
_ROOM = 1 - 2.0**-38  # covers the margins that rho is reported with


def check_kind(mechanism: object) -> type[NoiseMechanism] | None:
    """Return the class that is meant by a class or its name, or None.

    Examples
    --------
    >>> check_kind("ClampedLaplace").__name__
    'ClampedLaplace'
    """
    if mechanism is None:
        return None
    names = {kind.__name__: kind for kind in KINDS}
    if not isinstance(mechanism, str | type):
        requirement = f"a class or its name, one of {', '.join(names)}"
        raise ArgumentTypeError.must_be("mechanism", requirement, got=quoted(mechanism))
    name = mechanism if isinstance(mechanism, str) else mechanism.__name__
    return names[_check.one_of(tuple(names), mechanism=name)]


def best_noise(
    moments: Sequence[Moment],
    importance: Floats,
    neighbours: Neighbours,
    guarantee: Guarantee,
    kind: type[NoiseMechanism] | None = None,
) -> Noise:
    """Return the noise with the least error that gives the guarantee.

    Parameters
    ----------
    moments, importance
        The moments to release, and what the squared error of each adds to the error.
    neighbours, guarantee
        The tables whose sums must be hidden from each other, and how well.
    kind
        The class of the mechanism, if it is not to be chosen.

    Examples
    --------
    >>> from inbounds.frames.central.moment import RowCount
    >>> how = Neighbours(groups=2, adjacency="add-remove", sizes_public=False, rows=1, size=50)
    >>> noise = best_noise([RowCount()], np.ones(1), how, Guarantee(rho=0.1))
    >>> type(noise.mechanism).__name__, round(float(noise.mechanism.scales[0]) * 50, 3)
    ('ClampedGaussian', 2.236)
    """
    candidates_of = partial(
        _candidates,
        moments=moments,
        importance=importance,
        neighbours=neighbours,
        guarantee=guarantee,
    )
    candidates = list(candidates_of(_CLAMPED if kind is None else [kind]))
    if kind is None and not any(noise.widest < _LITTLE for noise in candidates):
        candidates += candidates_of(_BOUNDED)
    if not candidates:
        raise ArgumentError.must_be(
            "mechanism",
            "one that gives the guarantee",
            got="" if kind is None else kind.__name__,
            hint=Hint("leave {} out, and the one with the least error is chosen.", "mechanism"),
        )
    return _proved(min(candidates, key=partial(error, moments, importance)), guarantee)


def error(moments: Sequence[Moment], importance: Floats, noise: Noise) -> float:
    """Return the error of all that is asked, averaged over sums where they are expected.

    Examples
    --------
    >>> from inbounds.frames.central.moment import RowCount
    >>> how = Neighbours(groups=2, adjacency="add-remove", sizes_public=False, rows=1, size=5000)
    >>> noise = best_noise([RowCount()], np.ones(1), how, Guarantee(epsilon=1.0))
    >>> round(5000**2 * error([RowCount()], np.ones(1), noise), 2)
    2.0
    """
    lengths = [len(moment.limits.lowers) for moment in moments]
    part = np.repeat([moment.expected for moment in moments], lengths)
    return float(np.repeat(importance / lengths, lengths) @ noise.average_errors(part))


def _candidates(
    kinds: Sequence[type[NoiseMechanism]],
    moments: Sequence[Moment],
    importance: Floats,
    neighbours: Neighbours,
    guarantee: Guarantee,
) -> Iterator[Noise]:
    """Yield calibrated noise of each kind, in each norm that it can make use of.

    Which factors are best, and why a wider box is allowed:
    docs/proofs/statistics.md, theorems 8 and 9.
    """
    for kind in kinds:
        calibrated = _CALIBRATIONS[kind](guarantee)
        if calibrated is None:
            continue
        for norm in _NORMS[kind]:
            factors: list[float] | None = None
            if kind in _CLAMPED:
                factors = best_factors(importance, moments, neighbours, norm)
            sensitivity = sensitivities(moments, neighbours, factors)[norm - 1]
            ranges = box(moments, neighbours.groups, factors)
            with suppress(ArgumentError):  # too much or too little noise for a box
                mechanism = calibrated(ranges, sensitivity)
                if kind in _CLAMPED:
                    mechanism = calibrated(_widened(ranges, mechanism), sensitivity)
                yield Noise(mechanism, box(moments, 1, factors), per_number(moments, factors))


Calibration = Callable[[Box, Sensitivity], NoiseMechanism]


def _laplace(kind: Any, guarantee: Guarantee) -> Calibration:
    """Return how to calibrate a kind of Laplace noise, by its pure epsilon."""
    epsilon = guarantee.epsilon
    if guarantee.rho is not None:
        epsilon = pure_epsilon(guarantee.rho) * _ROOM
    return partial(kind.calibrated, epsilon=epsilon)


def _clamped_gaussian(guarantee: Guarantee) -> Calibration | None:
    if guarantee.is_pure:  # needs noise that grows with the width
        return None
    if guarantee.rho is None:
        return partial(ClampedGaussian.calibrated, **guarantee.stated())
    per_change = 1 / math.sqrt(2 * guarantee.rho) / _ROOM

    def calibrated(domain: Box, sensitivity: Sensitivity) -> ClampedGaussian:
        sigma = sensitivity.within(domain.widths).diameter * per_change
        return ClampedGaussian(domain, sensitivity, sigma)

    return calibrated


def _bounded_gaussian(guarantee: Guarantee) -> Calibration:
    return partial(BoundedGaussian.calibrated, scaling="width", **guarantee.stated())


_CALIBRATIONS: dict[type[NoiseMechanism], Callable[[Guarantee], Calibration | None]] = {
    ClampedLaplace: partial(_laplace, ClampedLaplace),
    ClampedGaussian: _clamped_gaussian,
    BoundedLaplace: partial(_laplace, BoundedLaplace),
    BoundedGaussian: _bounded_gaussian,
}
_NORMS: dict[type[NoiseMechanism], tuple[Literal[1, 2], ...]] = {
    ClampedLaplace: (1,),
    ClampedGaussian: (2,),
    BoundedLaplace: (1,),
    BoundedGaussian: (1, 2),
}


def _widened(ranges: Box, mechanism: NoiseMechanism) -> Box:
    """Return a box in which noise of this scale, added to a sum, is practically never clamped."""
    beyond = np.minimum(_BEYOND * mechanism.scales, _FARTHEST * ranges.widths)
    return Box(np.asarray(ranges.lower) - beyond, np.asarray(ranges.upper) + beyond)


def _proved(noise: Noise, guarantee: Guarantee) -> Noise:
    """Return the noise, with a scale at which the mechanism itself states the guarantee."""
    mechanism: Any = noise.mechanism
    if isinstance(mechanism, BoundedGaussian) or _gives(mechanism, guarantee):
        return noise  # the calibration of the first one ends with this check

    def scaled(scale: float) -> NoiseMechanism:
        made: NoiseMechanism = type(mechanism)(mechanism.domain, mechanism.sensitivity, scale)
        return made

    scale = next_admissible(float(mechanism.scales[0]), lambda s: _gives(scaled(s), guarantee))
    return replace(noise, mechanism=scaled(scale))


def _gives(mechanism: NoiseMechanism, guarantee: Guarantee) -> bool:
    """Whether a mechanism, as it is, states the guarantee or a better one."""
    if guarantee.rho is not None:
        return mechanism.rho <= guarantee.rho
    epsilon, delta = guarantee.pair
    return mechanism.epsilon <= epsilon or (delta > 0 and mechanism.delta(epsilon) <= delta)
