import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import binom

import inbounds as ib
from inbounds.mechanisms.fractions import onto_simplex


def estimate(m: ib.RandomizedResponse, counts: list[int]) -> ib.Fractions:
    return m.estimate_counts(counts)


@pytest.mark.parametrize("epsilon", [0.3, 2.0, 30.0])
def test_the_estimate_is_unbiased_by_enumeration(epsilon: float) -> None:
    """All outputs of four people on three levels, with their probabilities."""
    m = ib.RandomizedResponse(["a", "b", "c"], epsilon=epsilon)
    people = (0, 0, 1, 2)
    p, q = (part / 2**128 for part in (m.sampler.own, m.sampler.other))
    mean = np.zeros(3)
    for outputs in itertools.product(range(3), repeat=4):
        chance = math.prod(p if x == y else q for x, y in zip(people, outputs, strict=True))
        counts = np.bincount(outputs, minlength=3)
        mean += chance * m.estimate_counts(counts).unbiased
    assert mean == pytest.approx([0.5, 0.25, 0.25], abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 40.0])
@pytest.mark.parametrize("n", [1, 5, 60])
def test_intervals_cover_for_every_true_count(epsilon: float, n: int) -> None:
    """Exactly: the count of outputs is a sum of two binomial numbers. The bound: theorem 5 (b)."""
    m = ib.RandomizedResponse([0, 1], epsilon=epsilon)
    p, q = (part / 2**128 for part in (m.sampler.own, m.sampler.other))
    ends = [m.estimate_counts([n - c, c]).interval(0.95) for c in range(n + 1)]
    for true in range(n + 1):
        chances: NDArray[np.float64] = np.convolve(
            binom.pmf(np.arange(true + 1), true, p), binom.pmf(np.arange(n - true + 1), n - true, q)
        )
        covered = [low[1] - 1e-12 <= true / n <= high[1] + 1e-12 for low, high in ends]
        assert chances[covered].sum() >= 1 - 2 * 0.025 / 0.975 - 1e-9


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("k", range(2, 9))
def test_intervals_of_small_groups_cover_on_any_data(k: int, epsilon: float) -> None:
    """Exactly, for 10 and 50 people of whom any number has the level; all-equal data included.

    People themselves: theorem 5 (b). A population of which they are drawn: theorem 5 (a).
    """
    m = ib.RandomizedResponse(range(k), epsilon=epsilon)
    p, q = (part / 2**128 for part in (m.sampler.own, m.sampler.other))
    for n in (10, 50):
        found = [m.estimate_counts([c, n - c, *[0] * (k - 2)]).interval(0.95) for c in range(n + 1)]
        low, high = (np.array([ends[i][0] for ends in found]) for i in (0, 1))
        for true in range(n + 1):
            covered = (low - 1e-12 <= true / n) & (true / n <= high + 1e-12)
            kept, turned = np.arange(true + 1), np.arange(n - true + 1)
            chances: NDArray[np.float64] = np.convolve(
                binom.pmf(kept, true, p), binom.pmf(turned, n - true, q)
            )
            assert chances[covered].sum() >= 1 - 2 * 0.025 / 0.975 - 1e-9
            drawn = binom.pmf(np.arange(n + 1), n, q + (p - q) * true / n)
            assert drawn[covered].sum() >= 0.95 - 1e-9


def test_a_narrower_interval_would_not_cover() -> None:
    """The same enumeration rejects intervals that are narrower by a third."""
    m = ib.RandomizedResponse([0, 1], epsilon=0.5)
    p, q = (part / 2**128 for part in (m.sampler.own, m.sampler.other))
    n, true, total = 60, 30, 0.0
    chances = np.convolve(binom.pmf(np.arange(31), true, p), binom.pmf(np.arange(31), 30, q))
    for c in range(n + 1):
        low, high = (end[1] for end in m.estimate_counts([n - c, c]).interval(0.95))
        middle, half = (low + high) / 2, (high - low) / 3
        total += chances[c] * (abs(true / n - middle) <= half)
    assert total < 0.94


def test_standard_errors_are_those_of_many_runs() -> None:
    """False alarm below 1e-6: the standard deviation of 4000 runs has a relative error of 0.011."""
    m = ib.RandomizedResponse(["a", "b", "c"], epsilon=1.0)
    rng = np.random.default_rng()
    shares = np.array([0.7, 0.2, 0.1])
    p, q = (part / 2**128 for part in (m.sampler.own, m.sampler.other))
    runs = rng.multinomial(500, shares * p + (1 - shares) * q, size=4000)
    estimates = np.array([m.estimate_counts(counts).unbiased for counts in runs])
    stated = m.estimate_counts(np.round(runs.mean(axis=0)).astype(int)).standard_errors
    assert estimates.std(axis=0) == pytest.approx(stated, rel=0.07)
    assert estimates.std(axis=0) != pytest.approx(stated * 1.2, rel=0.07)


def test_a_level_without_outputs_has_an_error_too() -> None:
    """It is that of the nearest fraction of outputs that people could have."""
    m = ib.RandomizedResponse(["a", "b", "c"], epsilon=1.0)
    p, q = (part / 2**128 for part in (m.sampler.own, m.sampler.other))
    none, some, all_ = estimate(m, [0, 3, 9]).standard_errors
    assert none == pytest.approx((q * (1 - q) / 12) ** 0.5 / (p - q))
    assert some == pytest.approx((0.25 * 0.75 / 12) ** 0.5 / (p - q))
    assert all_ == pytest.approx((p * (1 - p) / 12) ** 0.5 / (p - q))


@pytest.mark.parametrize("seed", range(20))
def test_the_nearest_fractions_are_the_nearest(seed: int) -> None:
    rng = np.random.default_rng(seed)
    point = rng.normal(0.2, 1.0, size=int(rng.integers(2, 7)))
    nearest = onto_simplex(point)
    assert nearest.min() >= 0
    assert nearest.sum() == pytest.approx(1.0)
    found = minimize(
        lambda z: ((z - point) ** 2).sum(),
        np.full(point.size, 1 / point.size),
        bounds=[(0, 1)] * point.size,
        constraints={"type": "eq", "fun": lambda z: z.sum() - 1},
        tol=1e-12,
    )
    assert nearest == pytest.approx(found.x, abs=1e-5)


def test_fractions_are_fractions_even_where_estimates_are_not() -> None:
    m = ib.RandomizedResponse(["a", "b", "c"], epsilon=0.5)
    result = estimate(m, [10, 0, 0])
    assert result.unbiased.min() < 0
    assert result.unbiased.sum() == pytest.approx(1.0)
    assert result.fractions.tolist() == [1.0, 0.0, 0.0]
    low, high = result.interval(0.9)
    assert (low >= 0).all()
    assert (high <= 1).all()
    assert (low <= high).all()


@pytest.mark.parametrize("level", [0, 1, -1, 2, math.nan])
def test_a_level_of_confidence_is_a_probability(level: float) -> None:
    with pytest.raises(ib.ArgumentError, match=r"^level must"):
        estimate(ib.RandomizedResponse([0, 1], epsilon=1.0), [1, 1]).interval(level)


def test_it_is_shown_as_a_table() -> None:
    result = estimate(ib.RandomizedResponse(["no", "yes"], epsilon=2.0), [70, 30])
    assert "standard error" in str(result)
    assert repr(result) == "Fractions(2 levels, 100 outputs)"
