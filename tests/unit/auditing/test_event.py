"""Events and what counting them proves: exact coverage, and a search that finds what is there."""

import math

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import binom

from inbounds.auditing.event import (
    Event,
    best_event,
    caution,
    chance_lower_bound,
    chance_upper_bound,
    epsilon_lower_bound,
    project,
    readings,
)

LOOSE = {"confidence": 0.95, "delta": 0.0}


def test_each_kind_of_event_holds_where_it_says():
    outputs = np.array([0.0, 1.0, 2.0, 3.0])
    assert Event("below", 1.0).holds(outputs).tolist() == [True, True, False, False]
    assert Event("above", 2.0).holds(outputs).tolist() == [False, False, True, True]
    assert Event("near", 1.0, 2.0).holds(outputs).tolist() == [False, True, True, True]
    assert Event("near", 0.0, 2.0).holds(outputs).tolist() == [False, False, True, False]


def test_an_event_of_several_coordinates_speaks_of_their_weighted_sum():
    outputs = np.array([[0.0, 1.0], [3.0, 0.0], [1.0, 1.0]])
    event = Event("above", 3.0, weights=(1.0, 2.0))
    assert event.read(outputs).tolist() == [2.0, 3.0, 3.0]
    assert event.holds(outputs).tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (Event("below", 0.25), "output ≤ 0.25"),
        (Event("above", 3.0), "output ≥ 3"),
        (Event("near", 0.0, 0.5), "|output - 0.5| ≤ 0"),
        (Event("below", 2.0, weights=(1.0, 0.5)), "output·[1, 0.5] ≤ 2"),
    ],
)
def test_an_event_is_written_as_an_inequality(event, text):
    assert str(event) == text


def test_a_weighted_sum_does_not_depend_on_how_many_rows_there_are():
    rows = np.random.default_rng(0).random((1000, 7))
    weights = tuple(np.random.default_rng(1).random(7).tolist())
    together = project(rows, weights)
    assert together.tolist() == [float(project(row, weights)) for row in rows]


@pytest.mark.parametrize("trials", [1, 2, 30, 200])
@pytest.mark.parametrize("miss", [0.2, 0.05, 1e-3, 1e-6])
def test_a_bound_on_a_chance_is_wrong_as_rarely_as_stated_whatever_the_chance(trials, miss):
    counts = np.arange(trials + 1)
    low, high = (bound(counts, trials, miss) for bound in (chance_lower_bound, chance_upper_bound))
    assert (np.diff(low) > 0).all()
    assert (np.diff(high) > 0)[:-1].all()
    worst = 0.0
    nearly = np.concatenate([low * 0.999999, np.minimum(high * 1.000001, 1)])
    for chance in np.concatenate([nearly, np.linspace(0, 1, 101)]):
        weights = binom.pmf(counts, trials, chance)
        for wrong in (low > chance, high < chance):
            assert weights[wrong].sum() <= miss * (1 + 1e-9)
            worst = max(worst, weights[wrong].sum())
    assert worst > 0.99 * miss  # and no rarer: no confidence is given away


def tail(low, high, trials, chance):
    """The probability of low to high successes, summed term by term in log space."""
    k = np.arange(low, high + 1, dtype=float)
    ways = gammaln(trials + 1) - gammaln(k + 1) - gammaln(trials - k + 1)
    return float(np.exp(ways + k * np.log(chance) + (trials - k) * np.log1p(-chance)).sum())


@pytest.mark.parametrize(
    ("count", "trials"),
    [(1, 1000), (17, 10_000), (600, 1000), (950, 1000), (30_758, 3_951_424), (2, 10**7)],
)
@pytest.mark.parametrize("miss", [5e-4, 5e-7, 1e-12])
def test_at_a_bound_the_tail_of_the_binomial_distribution_is_what_was_asked_for(
    count, trials, miss
):
    low = float(chance_lower_bound(count, trials, miss))
    most = min(trials, count + 20_000)
    assert tail(count, most, trials, low) == pytest.approx(miss, rel=1e-4)
    high = float(chance_upper_bound(count, trials, miss))
    assert tail(max(0, count - 20_000), count, trials, high) == pytest.approx(miss, rel=1e-4)


def test_no_count_and_every_count_bound_nothing():
    assert chance_lower_bound(0, 100, 0.01) == 0
    assert chance_upper_bound(100, 100, 0.01) == 1
    assert epsilon_lower_bound(0, 0, 100, **LOOSE) == 0
    assert epsilon_lower_bound(50, 60, 100, **LOOSE) == 0  # the event is likelier for the second


def test_the_bound_on_epsilon_is_the_logarithm_of_the_ratio_less_delta():
    low = float(chance_lower_bound(600, 1000, 0.025))
    high = float(chance_upper_bound(200, 1000, 0.025))
    assert epsilon_lower_bound(600, 200, 1000, **LOOSE) == pytest.approx(math.log(low / high))
    found = epsilon_lower_bound(600, 200, 1000, confidence=0.95, delta=0.1)
    assert found == pytest.approx(math.log((low - 0.1) / high))
    assert epsilon_lower_bound(600, 200, 1000, confidence=0.95, delta=0.6) == 0


def test_more_outputs_and_less_confidence_bring_the_bound_closer():
    bounds = [epsilon_lower_bound(6 * n, 2 * n, 10 * n, **LOOSE) for n in (10, 10**3, 10**5)]
    assert bounds == sorted(bounds)
    assert bounds[-1] == pytest.approx(math.log(3), rel=0.01)
    assert bounds[0] > epsilon_lower_bound(60, 20, 100, confidence=0.999, delta=0.0)


def test_caution_is_that_of_the_test_and_three_standard_errors_more():
    assert caution(0.9, 1, 10**9) == pytest.approx(0.9973, abs=1e-4)
    assert caution(0.6827, 100, 100) == pytest.approx(1 - 6.33e-5, abs=1e-6)  # four
    assert caution(0.9545, 25, 100) == pytest.approx(1 - 6.33e-5, abs=1e-6)


def test_samples_are_read_along_a_direction_by_coordinate_and_by_fisher():
    rng = np.random.default_rng(8)
    shared = rng.normal(scale=1e3, size=(2, 500, 1))
    first, second = np.array([0.0, 0.5]) + shared[0], np.array([1.0, 0.5]) + shared[1]
    direction, one, other, fisher = readings(first, second, (1.0, 0.0))
    assert (direction, one, other) == ((1, 0), (1, 0), (0, 1))
    apart = project(first, fisher), project(second, fisher)
    assert np.ptp(apart[0]) + np.ptp(apart[1]) < 0.1 * abs(apart[0].mean() - apart[1].mean())


def test_of_many_coordinates_those_that_differ_are_read_alone():
    rng = np.random.default_rng(9)
    first, second = rng.normal(size=(2, 300, 40))
    second[:, 23] += 2
    ways = readings(first, second, (1.0,) * 40)
    assert len(ways) == 10
    assert any(way[23] == 1 and sum(way) == 1 for way in ways)


@pytest.mark.parametrize("scale", [0.0, 1e300])
def test_samples_without_a_covariance_are_read_otherwise(scale):
    first = scale * np.random.default_rng(2).normal(size=(50, 2))
    assert len(readings(first, first.copy(), (1.0, 1.0))) == 3


STEPS = np.linspace(0, 1, 20_001)


@pytest.mark.parametrize(
    ("first", "second", "kind", "threshold"),
    [
        (STEPS, STEPS + 0.5, "below", 0.5),  # the second value never gives these
        (STEPS + 0.5, STEPS, "above", 1.0),
        (np.append(STEPS, [0.3] * 200), np.append(STEPS, [0.7] * 200), "near", 0.0),
    ],
)
def test_the_search_finds_the_event_that_tells_the_two_apart(first, second, kind, threshold):
    bound, event = best_event(first, second, centre=0.3, **LOOSE)
    assert event.kind == kind
    assert event.threshold == pytest.approx(threshold, abs=0.02)
    counts = (int(event.holds(side).sum()) for side in (first, second))
    assert bound == epsilon_lower_bound(*counts, first.size, **LOOSE) > 1


def test_the_search_finds_the_threshold_of_the_largest_bound():
    """Against every threshold there is, not only those that are tried."""
    rng = np.random.default_rng(3)
    first, second = np.sort(rng.exponential(1, 4000)), np.sort(rng.exponential(2, 4000))
    bound, event = best_event(first, second, centre=9.0, **LOOSE)
    hits, others = np.arange(1, 4001), np.searchsorted(second, first, side="right")
    every = epsilon_lower_bound(hits, others, 4000, **LOOSE)
    assert event.kind == "below"
    assert 0.98 * every.max() < bound <= every.max()


def test_equal_outputs_promise_nothing():
    bound, _ = best_event(STEPS, STEPS, centre=0.5, **LOOSE)
    assert bound == 0


def test_a_delta_calls_for_a_larger_event():
    rng = np.random.default_rng(5)
    first, second = rng.normal(0, 1, 50_000), rng.normal(1, 1, 50_000)
    events = [
        best_event(first, second, centre=9.0, confidence=0.99, delta=delta)[1]
        for delta in (0.0, 0.05)
    ]
    assert [event.kind for event in events] == ["below", "below"]
    assert events[0].threshold < -1.5 < events[1].threshold


def test_weights_are_passed_on_and_the_centre_is_kept_where_it_is_read():
    _, event = best_event(STEPS, STEPS + 0.5, centre=0.3, weights=(1.0, 0.5), **LOOSE)
    assert event.weights == (1.0, 0.5)
    assert event.centre == 0
