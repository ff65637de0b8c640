"""Counts that add up: against a general solver, and without the bias of setting negatives to 0."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from inbounds.frames.central.change import Neighbours
from inbounds.frames.central.choice import best_noise
from inbounds.frames.central.estimate import Released
from inbounds.frames.central.moment import moments
from inbounds.frames.central.split import importances
from inbounds.frames.central.statistic import histogram
from inbounds.frames.central.tally import nearest, whole
from inbounds.guarantee import Guarantee

PEOPLE = 554


@pytest.mark.parametrize("seed", range(12))
def test_no_solver_finds_a_nearer_point(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values, total = rng.normal(1, 5, 6), float(rng.choice([0.0, 0.5, 3.0, 40.0]))
    found = nearest(values[None], np.array([total]))[0]
    assert found.min() >= 0
    assert found.sum() == pytest.approx(total, abs=1e-9)
    theirs = minimize(
        lambda x: float(np.sum((x - values) ** 2)),
        np.full(6, total / 6),
        bounds=[(0, None)] * 6,
        constraints={"type": "eq", "fun": lambda x: x.sum() - total},
    )
    assert np.sum((found - values) ** 2) <= theirs.fun + 1e-6


def test_numbers_that_add_up_already_stay_where_they_are() -> None:
    values = np.array([[3.0, 0.0, 4.5], [1.0, 1.0, 1.0]])
    assert nearest(values, values.sum(axis=1)).tolist() == values.tolist()


@pytest.mark.parametrize("seed", range(8))
def test_rounding_keeps_the_sum_and_moves_no_number_by_one(seed: int) -> None:
    values = np.random.default_rng(seed).exponential(2, (50, 7))
    rounded = whole(values)
    assert (rounded.sum(axis=1) == np.rint(values.sum(axis=1))).all()
    assert (np.abs(rounded - values) < 1).all()
    assert (rounded >= 0).all()
    assert (rounded % 1 == 0).all()


def released(bins: int, guarantee: dict[str, float], *, public: bool, runs: int) -> Released:
    """Summaries of people who are all in the first two bins."""
    asked = [histogram("age", list(range(bins + 1)))]
    found, size = moments(asked, sizes_public=public), PEOPLE if public else 1000
    how = Neighbours(
        groups=1,
        adjacency="replace" if public else "add-remove",
        sizes_public=public,
        rows=1,
        size=size,
    )
    noise = best_noise(found, importances(found, asked, [1.0]), how, Guarantee(**guarantee))
    truth = np.zeros(bins)
    truth[:2] = 500, 54
    outputs = noise.mechanism.release(np.tile(truth * noise.factors / size, (runs, 1)))
    return Released(noise, outputs, found, size, sizes_public=public)


@pytest.mark.parametrize("guarantee", [{"epsilon": 1.0}, {"rho": 0.1}], ids=str)
@pytest.mark.parametrize("bins", [12, 120])
def test_sums_of_small_bins_are_not_biased_upwards(bins: int, guarantee: dict[str, float]) -> None:
    """5 deviations of a mean of 200 sums; with negatives set to 0 it is off by more than that."""
    runs, asked = 200, histogram("age", list(range(bins + 1)))
    found = released(bins, guarantee, public=False, runs=runs)
    values = np.stack([one.value for one in asked.estimate(found)])
    noisy = np.stack([one.value for one in found.sums(*asked.moments(counted=True))]) * 1000
    assert values.min() >= 0
    deviation = float(noisy.sum(axis=0).std())
    assert abs(values.sum(axis=0).mean() - PEOPLE) <= 5 * deviation / math.sqrt(runs)
    clipped = float(np.maximum(noisy, 0).sum(axis=0).mean())
    assert clipped - PEOPLE > 5 * deviation / math.sqrt(runs)


@pytest.mark.parametrize("bins", [2, 120])
def test_bins_add_up_to_a_public_size(bins: int) -> None:
    found = released(bins, {"epsilon": 0.2}, public=True, runs=50)
    estimates = histogram("age", list(range(bins + 1))).estimate(found)
    values = np.stack([one.value for one in estimates])
    assert (values.sum(axis=0) == PEOPLE).all()
    assert values.min() >= 0
    for one in estimates:
        assert (one.lower <= one.value).all()
        assert (one.value <= one.upper).all()
