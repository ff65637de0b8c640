"""The largest norm of c/σ, against brute force over the set of changes."""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import inbounds as ib
from inbounds.calibration.quotient import largest_l1, largest_l2
from inbounds.reach import Reach

KINDS: list[Any] = [None, 1, 2]


def reaches(seed: int) -> tuple[Reach, np.ndarray]:
    rng = np.random.default_rng(seed)
    caps = 10.0 ** rng.uniform(-2, 1, 3)
    order = KINDS[seed % 3]
    radius = (
        np.inf if order is None else float(np.linalg.norm(caps, order) * rng.uniform(0.2, 0.95))
    )
    if order == 1:
        caps = np.minimum(caps, radius)
    return Reach(caps, order, radius), 10.0 ** rng.uniform(-2, 2, 3)


def corners(reach: Reach, seed: int) -> np.ndarray:
    """Allowed changes: many random ones, stretched until a bound stops them, and vertices."""
    rng = np.random.default_rng(seed)
    weights = np.concatenate(
        [10.0 ** rng.uniform(-6, 0, (20_000, 3)), list(product([1e-9, 1], repeat=3))]
    )
    best = np.zeros_like(weights)
    low, high = np.zeros(len(weights)), np.full(len(weights), 1e12)
    for _ in range(100):
        middle = (low + high) / 2
        best = np.minimum(reach.caps, middle[:, None] * weights)
        fits = np.ones(len(weights), bool)
        if reach.order is not None:
            fits = np.linalg.norm(best, reach.order, axis=1) <= reach.radius
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    return np.minimum(reach.caps, low[:, None] * weights)


@pytest.mark.parametrize("seed", range(30))
def test_brute_force_comes_close_and_never_exceeds(seed: int) -> None:
    reach, scales = reaches(seed)
    quotients = corners(reach, seed) / scales
    first, second = largest_l1(reach, scales), largest_l2(reach, scales)
    assert quotients.sum(axis=1).max() <= first
    assert np.linalg.norm(quotients, axis=1).max() <= second
    assert quotients.sum(axis=1).max() >= 0.97 * first
    if reach.order != 1:  # there the bound by fractions may be above
        assert np.linalg.norm(quotients, axis=1).max() >= 0.97 * second


@pytest.mark.parametrize("seed", range(300))
def test_caps_alone_are_bounded_from_above_in_exact_arithmetic(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 40))
    caps, scales = 10.0 ** rng.uniform(-150, 150, size), 10.0 ** rng.uniform(-50, 50, size)
    reach = Reach(caps, None, np.inf)
    exact = [Fraction(c) / Fraction(s) for c, s in zip(caps, scales, strict=True)]
    assert sum(exact) <= Fraction(largest_l1(reach, scales)) <= sum(exact) * Fraction(1 + 1e-12)
    squares = sum(x * x for x in exact)
    assert squares <= Fraction(largest_l2(reach, scales)) ** 2 <= squares * Fraction(1 + 1e-12)


@pytest.mark.parametrize("order", [1, 2])
def test_a_norm_alone_goes_to_the_smallest_scale_in_exact_arithmetic(order: Any) -> None:
    rng = np.random.default_rng(order)
    for _ in range(300):
        scales = 10.0 ** rng.uniform(-3, 3, 5)
        radius = float(10.0 ** rng.uniform(-3, 3))
        reach = Reach(np.full(5, radius if order == 1 else 10 * radius), order, radius)
        truth = Fraction(radius) / Fraction(float(scales.min()))
        assert truth <= Fraction(largest_l2(reach, scales)) <= truth * Fraction(1 + 1e-12)


def test_the_charge_for_several_scales_is_the_norm_of_change_over_scale() -> None:
    box, change = ib.Box([0, 0], [1000, 1000]), ib.PerCoordinate([0.1, 1])
    assert ib.ClampedGaussian(box, change, [1, 100]).gdp == pytest.approx(0.100499, rel=1e-5)
    assert ib.ClampedLaplace(box, change, [1, 100]).epsilon == pytest.approx(0.11, rel=1e-12)
    same = ib.ClampedLaplace(box, change, [2, 2]).epsilon
    assert same == ib.ClampedLaplace(box, change, 2).epsilon
