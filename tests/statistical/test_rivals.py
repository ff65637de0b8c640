"""A million releases of every mechanism have the mean, error, bound masses and cdf it states.

Means, mean squares and masses may be 5.2 standard errors off: a normal variable is once in 5e6
times, and the rest of the stated 1e-6 is room for skewness. The cdf is compared on a grid by the
inequality of Dvoretzky, Kiefer, Wolfowitz and Massart, which holds for any law and number of draws.
"""

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from inbounds import (
    BoundedGaussian,
    BoundedLaplace,
    Box,
    ClampedGaussian,
    ClampedLaplace,
    PerCoordinate,
)
from inbounds.sampling.entropy import SeededEntropy

DRAWS = 10**6
ERRORS = 5.2
FEW = 6  # answers that the output grid may move to a bound: the mean is below 0.3
FARTHEST = math.sqrt(math.log(2e6) / (2 * DRAWS)) + 1e-6  # and what the output grid may do
KINDS: list[Any] = [BoundedGaussian, BoundedLaplace, ClampedGaussian, ClampedLaplace]
PLACES = {
    "lower bound": (Box(0, 10), 2.0, 0.0),
    "upper bound": (Box(0, 10), 4.0, 10.0),
    "inside": (Box(0, 10), 2.0, 1.7),
    "outside": (Box(-1, 1), 0.5, 3.0),
    "little noise": (Box(1e3, 2e3), 0.3, 1500.1),
    "steps": (Box(0, 10, step=1), 2.0, 3.3),
    "steps at a bound": (Box(0, 10, step=1), 4.0, 10.0),
}

each = pytest.mark.parametrize(
    ("kind", "place"), [(kind, place) for kind in KINDS for place in PLACES]
)


@dataclass(frozen=True)
class Claims:
    """What a mechanism says about its answers to one value, rounding to steps included."""

    mean: float
    square: float
    at_bounds: tuple[float, float]
    edges: NDArray[np.float64]
    below: NDArray[np.float64]


def claims(mechanism: Any, value: float) -> Claims:
    box = mechanism.domain
    inside = min(max(value, box.lower), box.upper)
    if box.step is None:
        edges = np.linspace(box.lower, box.upper, 258)[1:-1]
        around = inside + np.linspace(-4, 4, 255) * float(np.max(mechanism.scales))
        edges = np.sort(
            np.concatenate([edges, around[(around > box.lower) & (around < box.upper)]])
        )
        below = mechanism.cdf(edges, value)
        square = mechanism.mse(value)
        return Claims(mechanism.mean(value), square, mechanism.mass_at_bounds(value), edges, below)
    points = np.arange(box.lower, box.upper + box.step, box.step)
    edges = (points[1:] + points[:-1]) / 2
    below = mechanism.cdf(edges, value)
    chances = np.diff(below, prepend=0.0, append=1.0)
    mean, square = chances @ points, chances @ (points - inside) ** 2
    return Claims(mean, square, (chances[0], chances[-1]), edges, below)


def complaints(answers: NDArray[Any], claim: Claims, box: Box, value: float) -> list[str]:
    """Name every figure of the answers that is too far from the claim."""
    found = []
    lower, upper = float(np.min(box.lower)), float(np.max(box.upper))
    squares = (answers - min(max(value, lower), upper)) ** 2
    for name, sample, stated in (("mean", answers, claim.mean), ("mse", squares, claim.square)):
        error = float(sample.std()) / math.sqrt(answers.size)
        if abs(float(sample.mean()) - stated) > ERRORS * error:
            found.append(name)
    for bound, chance in zip((lower, upper), claim.at_bounds, strict=True):
        count = int((answers == bound).sum())
        error = math.sqrt(answers.size * chance * (1 - chance))
        if abs(count - answers.size * chance) > ERRORS * error + FEW:
            found.append(f"mass at {bound}")
    empirical = np.searchsorted(np.sort(answers), claim.edges, side="right") / answers.size
    if float(np.abs(empirical - claim.below).max()) > FARTHEST:
        found.append("cdf")
    return found


def drawn(mechanism: Any, value: float) -> NDArray[Any]:
    answers: NDArray[Any] = mechanism.release(np.full(DRAWS, value), entropy=SeededEntropy(2024))
    return answers


@each
def test_a_million_releases_are_as_stated_and_not_as_with_a_scale_a_little_wrong(
    kind: Any, place: str
) -> None:
    """False alarm: 1e-6 for each of five figures. A scale 2 % less or more must be noticed."""
    box, scale, value = PLACES[place]
    mechanism = kind(box, 1.0, scale)
    answers = drawn(mechanism, value)
    assert complaints(answers, claims(mechanism, value), box, value) == []
    name = mechanism.noise.scale_name
    for factor in (0.98, 1.02):
        wrong = dataclasses.replace(mechanism, **{name: factor * scale})
        assert complaints(answers, claims(wrong, value), box, value) != []


@pytest.mark.parametrize("kind", KINDS)
def test_each_coordinate_of_a_million_joint_releases_is_as_stated(kind: Any) -> None:
    """False alarm: 1e-6 for each of five figures of either coordinate."""
    box = Box([0, 1], [10, 9])
    mechanism = kind(box, PerCoordinate([4, 2]), [3.0, 0.7])
    value = (0.0, 4.2)
    rows = np.tile(value, (DRAWS, 1))
    answers = mechanism.release(rows, entropy=SeededEntropy(7))
    for i, (low, high, scale) in enumerate(((0, 10, 3.0), (1, 9, 0.7))):
        alone = kind(Box(low, high), 1.0, scale)
        column = np.ascontiguousarray(answers[:, i])
        assert complaints(column, claims(alone, value[i]), alone.domain, value[i]) == []
        other = kind(Box(low, high), 1.0, 1.02 * scale)
        assert complaints(column, claims(other, value[i]), alone.domain, value[i]) != []
    # Independent noise: the correlation of n pairs has standard error 1/√n.
    correlation = float(np.corrcoef(answers.T)[0, 1])
    assert abs(correlation) < ERRORS / math.sqrt(DRAWS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_mechanism_that_clamps_is_told_from_one_that_truncates(kind: Any) -> None:
    """Power of every figure: the right scale, the wrong mechanism."""
    box, scale, value = PLACES["lower bound"]
    answers = drawn(kind(box, 1.0, scale), value)
    for other in KINDS:
        found = complaints(answers, claims(other(box, 1.0, scale), value), box, value)
        assert (found == []) == (other is kind)
