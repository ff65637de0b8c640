"""The number of rows, estimated from its own noisy sum and from all bins of histograms.

Every row is in one bin of a histogram, so the sum of its bins is the number of rows, too. The
estimates are averaged with weights in inverse proportion to their variances. What is left is a sum
of independent noise whose scales are public, and its distribution gives the interval.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import norm

from inbounds._types import Floats
from inbounds.numerics.laplace import LAPLACE
from inbounds.numerics.noise import Noise
from inbounds.numerics.search import crossing

_STEP, _LAST = 0.01, 200.0  # of the integral, in units of the deviation
_FARTHEST = 40.0  # deviations, beyond which no interval ends
_SLACK = 1e-7  # of a probability: more than the error of the integral


def inverse_variance(errors: Floats, parts: list[slice]) -> Floats:
    """Return a weight for each number, so that the weighted sum has the least variance.

    Proof: docs/proofs/statistics.md, theorem 12.

    Parameters
    ----------
    errors
        The standard error of each number.
    parts
        Which numbers add up to an estimate; no two parts share a number.

    Examples
    --------
    >>> inverse_variance(np.array([1.0, 2.0, 2.0]), [slice(0, 1), slice(1, 3)]).round(3)
    array([0.889, 0.111, 0.111])
    """
    precisions = [1 / float(np.sum(errors[part] ** 2)) for part in parts]
    weights = np.zeros(errors.size)
    for part, precision in zip(parts, precisions, strict=True):
        weights[part] = precision / math.fsum(precisions)
    return weights


def half_length(noise: Noise, errors: Floats, level: float) -> float:
    """Return t so that a sum of independent noise is in [-t, t] with a probability of `level`.

    Proof: docs/proofs/statistics.md, theorem 12.

    Parameters
    ----------
    noise
        The kind of the noise: normal or Laplace.
    errors
        The standard deviations of what is added; zeros are left out.
    level
        The probability, at most 1 - 1e-6.

    Examples
    --------
    >>> round(half_length(LAPLACE, np.array([math.sqrt(2)]), 0.95), 3)  # ln 20
    2.996
    """
    added = errors[errors > 0]
    deviation = math.sqrt(float(np.sum(added**2)))
    if noise is not LAPLACE:
        return deviation * float(norm.isf((1 - level) / 2))
    scales, times = np.unique(added / deviation / math.sqrt(2), return_counts=True)
    if added.size == 1:
        return float(added[0]) / math.sqrt(2) * -math.log1p(-level)
    # P(|Z| <= t) = (2/π) ∫ sin(ut)/u φ(u) du, where φ(u) = Π 1/(1 + (bu)²). By Poisson's summation
    # formula, the sum over steps h is wrong by P(|Z| > 2π/h - t) at most.
    places = np.arange(_STEP / 2, _LAST, _STEP)
    transform = np.exp(-times @ np.log1p((scales[:, None] * places) ** 2))

    def beyond(distance: float) -> float:
        within = 2 / math.pi * _STEP * float(np.sum(np.sin(places * distance) / places * transform))
        return 1 - within - (1 - level) + _SLACK

    return deviation * crossing(beyond, 0.0, _FARTHEST)
