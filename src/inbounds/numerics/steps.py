"""What an output on a step says about a value that lies on a step: posterior means."""

from functools import lru_cache
from typing import Protocol

import numpy as np

from inbounds._types import Floats

MOST_STEPS = 1 << 20
"""With more steps than this the prior is continuous: the difference is a millionth of the box."""

_THIN = 1e-7  # of the scale: below this a difference of tails is mostly rounding error
_GAUSS = 1 / (2 * np.sqrt(3))  # of a cell: the two nodes of Gauss's rule, from its middle


class SymmetricNoise(Protocol):
    """Noise with a symmetric density, in units of its scale."""

    def tail(self, distance: Floats, /) -> Floats:
        """Return P(Z > distance) for distances of zero or more."""

    def plain_density(self, z: Floats, /) -> Floats:
        """Return the density before truncation; it is smooth, except at zero."""


@lru_cache(maxsize=16)
def clamped_posterior(noise: SymmetricNoise, last: int, step: float) -> Floats:
    """Return the mean index of a uniform value on a step, given each output of clamped noise.

    Proof: docs/proofs/readings.md, theorem 7.

    Parameters
    ----------
    noise
        The noise.
    last
        The index of the last step; the first one has the index 0.
    step
        The distance between steps, over the scale.

    Examples
    --------
    >>> from inbounds.numerics.laplace import LAPLACE
    >>> clamped_posterior(LAPLACE, 1, 2.0).round(6).tolist()  # 1/(2e) of noise goes a step too far
    [0.18394, 0.81606]
    """
    index = np.arange(last + 1.0)
    beyond = noise.tail(np.abs(index - 0.5) * step)  # half a step before the bound
    beyond[0] = 1 - beyond[0]
    return _means(_cells(noise, last, step), beyond, beyond[::-1], np.ones(last + 1))


@lru_cache(maxsize=16)
def truncated_posterior(noise: SymmetricNoise, last: int, step: float, width: float) -> Floats:
    """Return the mean index of a uniform value on a step, given each output of truncated noise.

    Proof: docs/proofs/readings.md, theorem 7.

    Parameters
    ----------
    noise, last, step
        As for clamped noise.
    width
        The width of the box over the scale, which may exceed ``last * step``.

    Examples
    --------
    >>> from inbounds.numerics.laplace import LAPLACE
    >>> truncated_posterior(LAPLACE, 2, 1.0, 2.0).round(6).tolist()
    [0.525709, 1.0, 1.474291]
    """
    index = np.arange(last + 1.0)
    left, right = index * step, np.maximum(width - index * step, 0.0)
    inside = _between(noise, 0.0 * left, left) + _between(noise, 0.0 * right, right)
    first = _edge(noise, index, step, left)
    highest = _edge(noise, last - index, step, right)
    return _means(_cells(noise, last, step), first, highest, 1 / inside)


def _edge(noise: SymmetricNoise, away: Floats, step: float, bound: Floats) -> Floats:
    """Return the probability of noise from the bound to half a step before the bound's step."""
    half = np.full_like(away, step / 2)
    own = _between(noise, 0 * half, half) + _between(noise, 0 * half, bound)
    other = _between(noise, np.maximum(away - 0.5, 0.0) * step, bound)
    return np.where(away == 0, own, other)


def _means(cells: Floats, first: Floats, highest: Floats, prior: Floats) -> Floats:
    """Return the posterior means; cells are the probabilities of noise 0, 1, 2… steps away."""
    index = np.arange(float(len(cells)))
    kernel = np.concatenate([cells[:0:-1], cells])
    away = -np.concatenate([-index[:0:-1], index])  # of the value from the output
    size = slice(len(index) - 1, 2 * len(index) - 1)
    from scipy.signal import fftconvolve  # noqa: PLC0415 - takes longer to load than all else

    mass, shift = (fftconvolve(prior, part)[size] for part in (kernel, kernel * away))
    means: Floats = index + shift / mass
    for place, likelihood in ((0, first), (-1, highest)):
        weight = likelihood * prior
        means[place] = weight @ index / weight.sum()
    return np.clip(means, 0.0, index[-1])


def _cells(noise: SymmetricNoise, last: int, step: float) -> Floats:
    index = np.arange(last + 1.0)
    own = 2 * _between(noise, np.zeros(1), np.full(1, step / 2))
    return np.append(own, _between(noise, (index[1:] - 0.5) * step, (index[1:] + 0.5) * step))


def _between(noise: SymmetricNoise, low: Floats, high: Floats) -> Floats:
    """Return P(low < Z < high) for 0 <= low <= high."""
    middle, width = (low + high) / 2, high - low
    nodes = (noise.plain_density(middle + side * _GAUSS * width) for side in (-1, 1))
    thin = width / 2 * sum(nodes)
    return np.where(width < _THIN, thin, noise.tail(low) - noise.tail(high))
