"""Bounded Gaussian noise as it is usually written: right in law, and leaking.

Controls for the attacks: an attack that finds nothing in these proves nothing elsewhere.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

Floats = NDArray[np.float64]

LEVELS = 2.0**53  # how many levels a double drawn uniformly from [0, 1) can have


def by_inversion(
    value: float, sigma: float, size: int, generator: np.random.Generator, upper: float = 1.0
) -> Floats:
    """Answer `value` in [0, upper] by the inverse distribution function in floating point."""
    return at_level(generator.random(size), value, sigma, upper)


def at_level(level: Floats, value: float, sigma: float, upper: float = 1.0) -> Floats:
    """Return the answer that `by_inversion` gives at levels of its uniform number."""
    low, high = ndtr(-value / sigma), ndtr((upper - value) / sigma)
    return value + sigma * ndtri(low + level * (high - low))


def level_of(answer: Floats, value: float, sigma: float, upper: float = 1.0) -> Floats:
    """Return about the level at which `at_level` gives `answer`."""
    low, high = ndtr(-value / sigma), ndtr((upper - value) / sigma)
    return (ndtr((answer - value) / sigma) - low) / (high - low)


def by_rejection(
    values: Floats, sigma: float, generator: np.random.Generator, upper: float = 1.0
) -> tuple[Floats, int]:
    """Answer values in [0, upper] by drawing until all are inside; return the trials it took."""
    answers = generator.normal(values, sigma)
    trials = values.size
    while (outside := np.flatnonzero((answers < 0) | (answers > upper))).size:
        answers[outside] = generator.normal(values[outside], sigma)
        trials += outside.size
    return answers, trials
