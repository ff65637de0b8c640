"""The proved interval of a mean: coverage by enumeration, capital against exact products."""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import inbounds as ib
from inbounds._types import Floats
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.numerics.ball import exact
from inbounds.recovery.capital import ProvedMean, Tally, bets_for
from inbounds.recovery.mean import Readings
from inbounds.recovery.reader import UnbiasedReader

WORD = 1 << 64
Interval = Callable[[Readings, float], tuple[float, float]]


def readings_of(mechanism: Mechanism, outputs: Sequence[float]) -> Readings:
    reader = UnbiasedReader(mechanism)
    reader.add(np.asarray(outputs, float), None)
    return reader.read()


def evidence(readings: Readings) -> ProvedMean:
    assert readings.proved is not None
    return readings.proved


def proved(readings: Readings, level: float) -> tuple[float, float]:
    return evidence(readings).interval(level)


# Coverage, by enumeration of all outputs of a few people, with the probabilities as fractions.


def chances(mechanism: ib.Window, value: Fraction) -> list[Fraction]:
    """The probability of each step for a value of a box from 0 with steps of 1."""
    window = mechanism.sampler()
    places, length, uniform = window.places, window.length, window.uniform

    def words(size: int, place: int) -> Fraction:
        first, end = (-(-k * WORD // size) for k in (place, place + 1))
        return Fraction(end - first, WORD)

    start = min(value, Fraction(places - 1)) * (places - length) / (places - 1)
    whole = math.floor(start)
    found = [Fraction(uniform, WORD) * words(places, place) for place in range(places)]
    for first, chance in ((whole, 1 - (start - whole)), (whole + 1, start - whole)):
        for place in range(length if chance else 0):
            inside = Fraction(WORD - uniform, WORD) * words(length, place)
            found[first + place] += chance * inside
    assert sum(found) == 1
    return found


def missed(
    intervals: dict[tuple[int, ...], tuple[float, float]],
    people: Sequence[list[Fraction]],
    mean: Fraction,
) -> Fraction:
    """The probability that the interval does not hold the mean, if the people are independent."""
    total = Fraction(0)
    for places, (low, high) in intervals.items():
        if not low <= mean <= high:
            for order in set(itertools.permutations(places)):
                total += math.prod(p[k] for p, k in zip(people, order, strict=True))
    return total


def intervals_of(
    mechanism: ib.Window, count: int, level: float, interval: Interval
) -> dict[tuple[int, ...], tuple[float, float]]:
    steps = range(mechanism.sampler().places)
    return {
        places: interval(readings_of(mechanism, places), level)
        for places in itertools.combinations_with_replacement(steps, count)
    }


def drawn(values: Sequence[Fraction], parts: int) -> Iterator[Counter[Fraction]]:
    """All populations of so many equal parts."""
    return map(Counter, itertools.combinations_with_replacement(values, parts))


def worst_of_populations(mechanism: ib.Window, count: int, level: float, rule: Interval) -> float:
    """The largest probability of a miss, for people drawn from populations of ten parts."""
    values = sorted({Fraction(0), Fraction(1, 2), Fraction(float(mechanism.domain.upper))})
    each = {value: chances(mechanism, value) for value in values}
    intervals = intervals_of(mechanism, count, level, rule)
    worst = Fraction(0)
    for population in drawn(values, 10):
        mean = sum(value * times for value, times in population.items()) / Fraction(10)
        mixed = [
            sum(Fraction(times, 10) * each[value][place] for value, times in population.items())
            for place in range(mechanism.sampler().places)
        ]
        worst = max(worst, missed(intervals, [mixed] * count, mean))
    return float(worst)


def window(upper: float, epsilon: float) -> ib.Window:
    return ib.Window(ib.Box(0, upper, step=1), upper, epsilon=epsilon)


@pytest.mark.parametrize("level", [0.5, 0.8])
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize(("upper", "epsilon"), [(1.0, 1.0), (1.0, 3.0), (2.0, 4.0), (1.9, 3.0)])
def test_no_population_is_missed_more_often_than_promised(
    upper: float, epsilon: float, count: int, level: float
) -> None:
    miss = worst_of_populations(window(upper, epsilon), count, level, proved)
    assert miss <= 1 - level


def test_enumeration_tells_intervals_that_promise_too_much() -> None:
    """Student's quantiles, and one end given the room of two: each misses too often somewhere."""

    def student(readings: Readings, level: float) -> tuple[float, float]:
        return readings.interval(level)

    def one_sided(readings: Readings, level: float) -> tuple[float, float]:
        return proved(readings, max(1e-9, 2 * level - 1))

    assert worst_of_populations(window(1.0, 3.0), 3, 0.8, student) > 0.2
    assert worst_of_populations(window(1.0, 1.0), 2, 0.5, one_sided) > 0.5


@pytest.mark.parametrize("level", [0.5, 0.8])
def test_the_mean_of_these_very_people_is_held(level: float) -> None:
    mechanism, count = window(2.0, 4.0), 3
    values = [Fraction(0), Fraction(1, 2), Fraction(1), Fraction(2)]
    each = {value: chances(mechanism, value) for value in values}
    intervals = intervals_of(mechanism, count, level, proved)
    for people in itertools.combinations_with_replacement(values, count):
        mean = sum(people) / Fraction(count)
        assert missed(intervals, [each[value] for value in people], mean) <= 1 - level


@pytest.mark.parametrize("size", [3, 4, 6])
def test_people_drawn_without_replacement_speak_for_their_population(size: int) -> None:
    mechanism, count, level = window(1.0, 2.0), 3, 0.5
    each = {value: chances(mechanism, Fraction(value)) for value in (0, 1)}
    intervals = intervals_of(mechanism, count, level, proved)
    for ones in range(size + 1):
        population = [1] * ones + [0] * (size - ones)
        samples = list(itertools.combinations(population, count))
        miss = sum(
            missed(intervals, [each[value] for value in people], Fraction(ones, size))
            for people in samples
        )
        assert miss <= (1 - Fraction(level)) * len(samples)


def ends_by_yes(public: ProvedMean, mechanism: Mechanism, count: int, level: float) -> Floats:
    """The lower and the upper ends of the intervals, for each number of outputs that are 1."""
    ends = []
    for yes in range(count + 1):
        tally = Tally(*public.reach)
        times = np.array([float(count - yes), float(yes)])
        tally.add(mechanism.unbiased(np.array([0.0, 1.0])) - public.centre, times)
        ends.append(replace(public, sample=tally.sample()).interval(level))
    return np.array(ends).T


def test_a_bias_that_is_left_out_is_told_by_enumeration() -> None:
    """Values above the last step are read as that step: without the bias they are missed."""
    mechanism, count, level = window(1.9, 3.0), 60, 0.9
    public = evidence(readings_of(mechanism, [0.0]))
    chance = float(chances(mechanism, Fraction(1.9))[1])
    weight = binom.pmf(np.arange(count + 1), count, chance)
    misses = []
    for known in (public, replace(public, error=0.0)):
        low, high = ends_by_yes(known, mechanism, count, level)
        misses.append(float(weight @ ((low > 1.9) | (high < 1.9))))
    assert misses[0] <= 1 - level
    assert misses[1] > 0.9


@pytest.mark.parametrize("level", [0.5, 0.95])
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
@pytest.mark.parametrize("count", [6, 100])
def test_yes_or_no_is_held_by_any_number_of_people(
    count: int, epsilon: float, level: float
) -> None:
    """Binomial probabilities, for 201 populations; with many people, some are really missed."""
    mechanism = window(1.0, epsilon)
    low, high = ends_by_yes(evidence(readings_of(mechanism, [0.0])), mechanism, count, level)
    one, zero = (float(chances(mechanism, Fraction(value))[1]) for value in (1, 0))
    worst = 0.0
    for mean in np.linspace(0, 1, 201):
        weight = binom.pmf(np.arange(count + 1), count, zero + (one - zero) * mean)
        worst = max(worst, float(weight @ ((mean < low) | (mean > high))))
    assert worst <= 1 - level
    assert worst > (1 - level) / 50 or count == 6


# The capital.


def exact_log_capital(readings: Sequence[float], bets: Sequence[float], claim: float) -> arb:
    """The logarithm of the mean of exact products, as a ball."""
    products = [
        math.prod(1 + Fraction(bet) * (Fraction(reading) - Fraction(claim)) for reading in readings)
        for bet in bets
    ]
    with ctx.workprec(200):
        return arb(exact(sum(products, Fraction(0)) / len(bets))).log()


@settings(max_examples=80, deadline=None)
@given(
    readings=st.lists(
        st.one_of(st.floats(-1, 2), st.sampled_from([-1.0, 0.0, 0.5, 2.0])), min_size=1, max_size=30
    ),
    bets=st.lists(st.floats(1e-6, 0.449), min_size=1, max_size=4),
    claim=st.floats(0, 1),
)
def test_the_capital_is_never_overstated(
    readings: list[float], bets: list[float], claim: float
) -> None:
    tally = Tally(-1.0, 2.0)
    tally.add(np.array(readings), None)
    for sample, sign in ((tally.sample(), 1), (tally.sample().mirrored, -1)):
        values, wanted = [sign * reading for reading in readings], sign * claim
        bound = sample.log_capital(np.array(bets), wanted)
        truth = exact_log_capital(values, bets, wanted)
        assert arb(bound) <= truth
        assert truth - bound < 1e-4 * len(readings)  # cells are narrow, so little is lost


def test_a_few_readings_far_down_are_not_averaged_away() -> None:
    """With the mean of a cell alone, as if its readings were equal, capital would be overstated."""
    readings = [-0.015, 0.031] * 40  # all in one cell
    tally = Tally(-1.0, 2.0)
    tally.add(np.array(readings), None)
    sample, bets = tally.sample(), np.array([0.4])
    assert len(sample.counts) == 1
    truth = exact_log_capital(readings, [0.4], 0.0)
    without = replace(sample, variances=np.full(1, 1e-30))
    assert arb(sample.log_capital(bets, 0.0)) <= truth < arb(without.log_capital(bets, 0.0))


@pytest.mark.parametrize("bets", [1, 3])
def test_capital_falls_as_the_claim_grows(bets: int) -> None:
    tally = Tally(-1.0, 2.0)
    tally.add(np.random.default_rng(0).uniform(-1, 2, 500), None)
    sample = tally.sample()
    capital = [sample.log_capital(np.geomspace(0.01, 0.4, bets), c) for c in np.linspace(0, 1, 101)]
    assert np.all(np.diff(capital) < 0)


# The interval as a whole.

MECHANISMS = {
    "window": lambda box, epsilon: ib.Window.calibrated(box, 1, epsilon=epsilon),
    "optimal": lambda box, epsilon: ib.Optimal.calibrated(
        box, 1, epsilon=epsilon, objective="unbiased"
    ),
    "clamped": lambda box, epsilon: ib.ClampedLaplace.calibrated(box, 1, epsilon=epsilon),
}


@pytest.mark.parametrize("kind", list(MECHANISMS))
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("count", [1_000, 1_000_000])
def test_the_proved_interval_is_not_much_longer(kind: str, epsilon: float, count: int) -> None:
    """1.6 times that of Student's quantiles, if nobody differs and if half are at each bound."""
    mechanism = MECHANISMS[kind](ib.Box(0, 1), epsilon)
    for values in ([0.5], [0.0, 1.0]):
        quantiles = (np.arange(1000) + 0.5) / 1000
        outputs = np.concatenate([mechanism.quantile(quantiles, value) for value in values])
        reader = UnbiasedReader(mechanism)
        reader.add(outputs, np.full(outputs.size, count / outputs.size))
        readings = reader.read()
        (low, high), (proved_low, proved_high) = readings.interval(0.95), proved(readings, 0.95)
        if proved_low > 0 and proved_high < 1:
            assert 1.2 < (proved_high - proved_low) / (high - low) < 1.6


@pytest.mark.parametrize("kind", list(MECHANISMS))
def test_any_outputs_of_any_box_give_an_interval_in_it(kind: str) -> None:
    for lower, width in ((0.0, 1.0), (-1e9, 1.0), (5.0, 1e-6), (0.0, 1e12), (1e15, 4.0)):
        box = ib.Box(lower, lower + width)
        mechanism: Mechanism = {
            "window": lambda box=box, w=width: ib.Window(box, w, epsilon=1.0),
            "optimal": lambda box=box, w=width: ib.Optimal(
                box, w, epsilon=1.0, objective="unbiased"
            ),
            "clamped": lambda box=box, w=width: ib.ClampedLaplace(box, w, scale=w),
        }[kind]()
        for fractions in ([0.0], [1.0], [0.0] * 500, [1.0] * 500, [0.0, 1.0, 0.5] * 300):
            outputs = mechanism.release(lower + width * np.array(fractions))
            low, high = proved(readings_of(mechanism, outputs), 0.95)
            assert lower <= low <= high <= lower + width


def test_one_output_at_a_high_level_tells_nothing() -> None:
    assert proved(readings_of(window(1.0, 1.0), [1.0]), 0.999) == (0.0, 1.0)


def test_a_larger_error_gives_a_longer_interval_and_a_huge_one_the_box() -> None:
    mechanism = window(1.0, 3.0)
    found = evidence(readings_of(mechanism, [0.0, 1.0] * 300))
    low, high = found.interval(0.95)
    lower, higher = replace(found, error=found.error + 0.01).interval(0.95)
    assert (low - lower, higher - high) == pytest.approx((0.01, 0.01), rel=0.05)
    for error in (1.0, math.inf):
        assert replace(found, error=error).interval(0.95) == (0.0, 1.0)


def test_bets_are_few_and_never_too_bold() -> None:
    assert bets_for(100, 0.95, 1e-300, 1.0, 0.3).max() <= 0.5
    assert len(bets_for(10**9, 0.95, 1e-300, 1.0, 0.3)) <= 16
    assert len(bets_for(1000, 0.95, 1.0, 1.0, 1.0)) == 1


# How far the expectation of a reading is from the value, in exact fractions.


@pytest.mark.parametrize("lower", [0.0, -7.25, 1e6])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 6.0])
def test_the_error_of_a_window_s_reading_covers_the_start_of_its_window(
    lower: float, epsilon: float
) -> None:
    """The exact mean of the computed readings, for starts that are rounded to a place."""
    mechanism = ib.Window(ib.Box(lower, lower + 3), 3, epsilon=epsilon)
    sampler = mechanism.sampler()
    places, length, uniform = sampler.places, sampler.length, Fraction(sampler.uniform, WORD)
    low, high = map(Fraction, mechanism.unbiased(np.array([lower, lower + 3])))
    furthest = Fraction(0)
    for value in lower + 3 * np.random.default_rng(1).random(50):
        exact = (Fraction(value) - Fraction(lower)) / 3 * (places - length)
        start = math.floor(exact + Fraction(1, 2))
        inside = start + Fraction(length - 1, 2)
        place = uniform * Fraction(places - 1, 2) + (1 - uniform) * inside
        mean = low + (high - low) * place / (places - 1)
        furthest = max(furthest, abs(mean - Fraction(value)))
    assert 0 < furthest <= Fraction(mechanism.reading_error)
    assert furthest > Fraction(mechanism.reading_error) / 10 or lower == 1e6


@pytest.mark.parametrize("kind", list(MECHANISMS))
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_the_variance_of_a_reading_is_that_of_readings_drawn(kind: str, epsilon: float) -> None:
    """50,000 readings at three values; a false alarm has a probability below 1e-6."""
    mechanism = MECHANISMS[kind](ib.Box(0, 1), epsilon)
    for value in (0.0, 0.3, 1.0):
        readings = mechanism.unbiased(mechanism.release(np.full(50_000, value)))
        square = (readings - value) ** 2
        error = 6 * square.std() / math.sqrt(square.size)
        variance = mechanism.reading_variance(value)
        assert abs(square.mean() - variance) < error < 0.1 * variance
        assert mechanism.least_reading_deviation**2 <= variance * (1 + 1e-9)


def test_mechanisms_without_an_unbiased_reading_have_no_variance_of_it() -> None:
    mechanism = ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=1.0)
    with pytest.raises(ib.InBoundsError, match="no unbiased reading"):
        mechanism.reading_variance(0.5)
