"""A leak in one coordinate, or in one direction, of a mechanism that is noisy in all others."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import inbounds as ib
from inbounds.auditing.audit import Audit, audit

Array = NDArray[np.float64]
RNG = np.random.default_rng(40)


def hidden(values: Array) -> Array:
    return values + RNG.laplace(0, 1e3, values.shape)


class Foreign:
    """Anybody's mechanism on a box."""

    def __init__(self, release: Any) -> None:
        self.release = release


def audited(release: Any, size: int, sensitivity: Any, **options: Any) -> Audit:
    box = ib.Box([0] * size, [1] * size)
    options = {"releases": 8000, "claimed_epsilon": 1.0} | options
    return audit(Foreign(release), box=box, sensitivity=sensitivity, **options)


LEAKS = {
    "the first coordinate": lambda v: np.stack([v[..., 0], hidden(v[..., 1])], -1),
    "the second coordinate": lambda v: np.stack([hidden(v[..., 0]), v[..., 1]], -1),
    "one in the place of the other": lambda v: np.stack([hidden(v[..., 0]), v[..., 0]], -1),
    "the difference": lambda v: np.stack([hidden(v[..., 0]), v[..., 0] - v[..., 1]], -1),
    "noise in common": lambda v: v + RNG.laplace(0, 1e3, (*v.shape[:-1], 1)),
    "opposite noise": lambda v: v + RNG.laplace(0, 1e3, (*v.shape[:-1], 1)) * [1, -1],
    "some noise for one": lambda v: np.stack(
        [v[..., 0] + RNG.laplace(0, 0.2, v.shape[:-1]), hidden(v[..., 1])], -1
    ),
    "one time in twenty": lambda v: np.where(
        (RNG.random(v.shape) < 0.05) & (np.arange(2) == 0), v, hidden(v)
    ),
}


@pytest.mark.parametrize("leak", LEAKS)
@pytest.mark.parametrize("sensitivity", [ib.L2(1), ib.L1(1), ib.LInf(1), ib.L2(0.3)], ids=repr)
def test_what_one_coordinate_or_a_combination_tells_is_found(leak: str, sensitivity: Any) -> None:
    if leak == "some noise for one" and sensitivity == ib.L2(0.3):
        sensitivity = ib.L2(0.5)  # or the claim is true
    assert not audited(LEAKS[leak], 2, sensitivity, releases=40_000).passed


@settings(max_examples=15, deadline=None)
@given(st.integers(2, 12), st.integers(0, 10**6), st.sampled_from([ib.L1(1), ib.L2(1), ib.LInf(1)]))
def test_any_combination_of_coordinates_without_noise_is_found(
    size: int, seed: int, sensitivity: Any
) -> None:
    direction = np.random.default_rng(seed).normal(size=size)
    direction /= np.linalg.norm(direction)

    def release(values: Array) -> Array:
        noise = RNG.normal(0, 100, values.shape)
        return values + noise - (noise @ direction)[..., None] * direction

    assert not audited(release, size, sensitivity).passed


@settings(max_examples=8, deadline=None)
@given(st.integers(2, 30), st.data())
def test_any_coordinate_without_noise_is_found(size: int, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, size - 1))
    release = lambda v: np.where(np.arange(size) == place, v, hidden(v))  # noqa: E731
    assert not audited(release, size, ib.L2(1)).passed


def test_looking_in_many_directions_raises_no_false_alarm() -> None:
    """Outputs tell nothing: epsilon is 0, so every bound above it is false.

    Of 40 audits at confidence 0.8 at most 8 are expected to be wrong; 21 or more has probability
    below 1e-5.
    """
    wrong = 0
    for _ in range(40):
        found = audited(
            lambda v: RNG.normal(size=v.shape), 2, ib.L2(1), releases=2000, confidence=0.8
        )
        wrong += found.epsilon_lower > 0
    assert wrong <= 20
