"""Attacks on the time a release takes: it tells the value behind naive rejection, not behind ours.

What is measured twice: the clock, which sees everything but is noisy, and the number of trials,
which is all that could depend on the value and can be computed.
"""

import copy
import gc
import math
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from numpy.typing import NDArray

from inbounds import (
    BoundedGaussian,
    BoundedLaplace,
    Box,
    ClampedGaussian,
    ClampedLaplace,
    ClampedStaircase,
    Optimal,
    Window,
)
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.numerics.laplace import LAPLACE
from inbounds.numerics.noise import Noise
from inbounds.numerics.normal import NORMAL
from inbounds.sampling import blocks, place
from inbounds.sampling.entropy import SYSTEM, SystemEntropy
from inbounds.sampling.exponential import exp
from inbounds.sampling.plan import Parameters
from inbounds.sampling.proposal_block import scratch_for
from inbounds.sampling.sampler import Sampler
from inbounds.sampling.strips import strips
from inbounds.sampling.trial import trial_of

from . import naive

Floats = NDArray[np.float64]
SIZE = 16_384  # values in a release: too few for threads
TRAIN, TEST, REPEATS = 300, 1000, 2
FIVE_DEVIATIONS = 0.079  # of the fraction of 1000 fair coins
# By how much of its time a release may take longer for one value than for another, of many values
# and of one: docs/threat-model.md. On a quiet machine the clock tells nanoseconds.
MANY_MAY_DIFFER, ONE_MAY_DIFFER = 0.002, 0.01


@pytest.fixture
def quiet() -> Iterator[None]:
    """Keep to one core and collect no garbage."""
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    gc.collect()
    gc.disable()
    try:
        if cores:
            os.sched_setaffinity(0, {max(cores)})
        yield
    finally:
        gc.enable()
        if cores:
            os.sched_setaffinity(0, cores)


@pytest.fixture(params=["plain", "compiled"])
def code(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let plain or compiled code serve releases of any size."""
    monkeypatch.setattr(blocks, "MANY", 1 if request.param == "compiled" else 10**9)
    monkeypatch.setattr(blocks, "_REPAYS", 0)


def accuracy(
    release: Callable[[Any], object],
    train: int,
    test: int,
    pair: tuple[Any, Any] = (0.0, 0.5),
    size: int = SIZE,
    *,
    may_differ: float = MANY_MAY_DIFFER,
) -> float:
    """Return how often a threshold on time tells which of two values a release is of.

    Which of the two is released is a fair coin each time; an observation is the faster of two
    releases. The threshold is the best one for the first `train` observations. Both values are
    written to the same memory, so that no address tells them apart.

    What the value that seems slower takes longer is first reduced by a part of the time. So if the
    times of the two differ by no more than that part, at most half of the guesses are right on
    average, whatever the machine does meanwhile.
    """
    seconds = np.random.default_rng().integers(0, 2, train + test)
    values, times = np.full(size, pair[0]), np.empty(seconds.size)
    for _ in range(500):  # in its first second a process tells a little more: docs/threat-model.md
        release(values)
    for i, second in enumerate(seconds.tolist()):
        values[:] = pair[second]
        observed = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            release(values)
            observed.append(time.perf_counter() - start)
        times[i] = min(observed)
    _, slower = best_threshold(times[:train], seconds[:train])
    times[seconds == slower] -= may_differ * np.median(times)
    threshold, still_slower = best_threshold(times[:train], seconds[:train])
    if still_slower != slower:
        return 0.5  # it does not take longer by more than that part
    return float(np.mean(((times[train:] > threshold) == slower) == seconds[train:]))


def best_threshold(times: Floats, halves: NDArray[np.int64]) -> tuple[float, bool]:
    """Return the threshold that is right most often, and whether the second is slower."""
    order = np.argsort(times)
    ones = np.cumsum(halves[order])
    zeros = np.arange(1, times.size + 1) - ones
    right = zeros + (ones[-1] - ones)  # if the second is slower
    best = int(np.argmax(np.abs(right - times.size / 2)))
    return float(times[order[best]]), bool(right[best] > times.size / 2)


@pytest.mark.alone
@pytest.mark.usefixtures("quiet")
def test_the_clock_tells_the_value_behind_naive_rejection() -> None:
    """Power of the test below: ten standard deviations of 400 fair coins, chance below 1e-23."""
    generator = np.random.default_rng()
    assert accuracy(lambda values: naive.by_rejection(values, 0.1, generator), 300, 400) >= 0.75


@pytest.mark.alone
@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("sigma", [0.1, 1.0, 3.0])
def test_the_clock_does_not_tell_the_value_behind_ours(sigma: float) -> None:
    """False alarm: 6e-7 for each sigma, no retry.

    Labels are independent fair coins whatever the machine does meanwhile. So if time tells
    nothing, the number of right guesses among 1000 is binomial, and 0.079 is five of the standard
    deviations of their fraction.
    """
    mechanism = BoundedGaussian(Box(0, 1), 1, sigma)
    assert accuracy(mechanism.release, TRAIN, TEST) - 0.5 <= FIVE_DEVIATIONS


FAR = 2**60
WATCHED: list[tuple[Mechanism, tuple[Any, Any]]] = [
    *((m, (0.0, 1e-310)) for m in (BoundedGaussian(Box(0, 1), 1, s) for s in (0.1, 1.0, 30.0))),
    (BoundedLaplace(Box(0, 1), 1, 0.3), (0.0, 1e-310)),
    (BoundedLaplace(Box(0, 1), 1, 0.3), (0.0, 0.5)),
    (BoundedGaussian(Box(1e-310, 1), 1, 0.3), (1e-310, 3e-310)),
    (BoundedGaussian(Box(-1e200, 1e200), 1e200, 1e199), (0.0, -1e200)),
    (BoundedGaussian(Box(0, 1, step=0.01), 1, 0.3), (0.0, 1e-310)),
    (BoundedLaplace(Box(0, 120, step=1), 120, 40.0), (0.0, 60.0)),
    (ClampedGaussian(Box(0, 1), 1, 0.1), (0.0, 0.5)),
    (ClampedGaussian(Box(0, 1), 1, 1.0), (0.0, 1e-310)),
    (ClampedGaussian(Box(0, 1, step=0.01), 1, 0.3), (0.0, 1.0)),
    (ClampedLaplace(Box(0, 1), 1, 0.1), (0.0, 0.5)),
    (ClampedLaplace(Box(0, 120, step=1), 120, 40.0), (0.0, 1e-310)),
    (ClampedStaircase(Box(0, 1), 1, 1.0), (0.0, 1e-310)),
    (ClampedStaircase(Box(0, 120, step=1), 120, 1.0), (0.0, 60.0)),
    (BoundedGaussian(Box(FAR, FAR + 2**30), 1, 1e9), (FAR, FAR + 2**29)),
    (ClampedGaussian(Box(0, 2**60), 1, 1e17), (0, 2**61)),
]


@pytest.mark.alone
@pytest.mark.usefixtures("quiet", "code")
@pytest.mark.parametrize(
    ("code", "mechanism", "pair"),
    [*(("plain", *case) for case in WATCHED), *(("compiled", *case) for case in WATCHED[::4])],
    ids=str,
    indirect=["code"],
)
def test_the_clock_tells_no_values_apart_behind_any_mechanism(
    mechanism: Mechanism, pair: tuple[Any, Any]
) -> None:
    """False alarm: 6e-7 each, no retry: five standard deviations of 1000 fair coins.

    Among them values next to zero, with which processors compute more slowly if they are let to,
    values at the bounds of clamped mechanisms, grids with a step and long integers.
    """
    assert accuracy(mechanism.release, TRAIN, TEST, pair) - 0.5 <= FIVE_DEVIATIONS


FEW_WATCHED = [WATCHED[i] for i in (0, 4, 8, 9, 12, 14)]
MANY = 8192  # values in a release below: plain code does them in 0.2 ms, compiled code in 0.1 ms
TABLE, FAR_TABLE = Optimal(Box(0, 1), 0.25, 1.0), Optimal(Box(FAR, FAR + 2**30), 2**28, 1.0)
KNOTS = Optimal(Box(0, 1), 0.25, 1.0, "worst")
WITHOUT_TRIALS: list[tuple[Mechanism, tuple[Any, Any]]] = [
    (Window(Box(0, 1), 1, 1.0), (0.0, 0.5)),
    (Window(Box(0, 1), 1, 1.0), (1.0, 1e-310)),
    (Window(Box(0, 120, step=1), 120, 1.0), (0.0, 60.0)),
    (Window(Box(FAR, FAR + 2**30), 1, 1.0), (FAR, FAR + 2**29)),
    (TABLE, (0.0, 0.5)),
    (TABLE, (1.0, 1e-310)),
    (KNOTS, (0.0, 0.513)),
    (KNOTS, (1.0, 1e-310)),
    (FAR_TABLE, (FAR, FAR + 2**30 - 1)),
    (ClampedStaircase(Box(0, 1), 0.1, 1.0), (0.0, 0.5)),
]


@pytest.mark.alone
@pytest.mark.usefixtures("quiet", "code")
@pytest.mark.parametrize(
    ("mechanism", "pair"), WITHOUT_TRIALS, ids=[f"{m!r} {pair}" for m, pair in WITHOUT_TRIALS]
)
def test_the_clock_tells_no_values_apart_behind_windows_tables_and_staircases(
    mechanism: Mechanism, pair: tuple[Any, Any]
) -> None:
    """False alarm: 6e-7 each, no retry: five standard deviations of 1000 fair coins.

    Power: the next test. Both kinds of code, values at the bounds, next to zero and far from it.
    """
    assert accuracy(mechanism.release, TRAIN, TEST, pair, MANY) - 0.5 <= FIVE_DEVIATIONS


@pytest.mark.alone
@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize(("mechanism", "pair"), [*FEW_WATCHED, *WITHOUT_TRIALS], ids=str)
def test_the_clock_tells_no_values_apart_in_small_releases(
    mechanism: Mechanism, pair: tuple[Any, Any]
) -> None:
    """False alarm: 6e-7 each, no retry: five standard deviations of 1000 fair coins."""

    def release(values: Any) -> None:
        for _ in range(4):
            mechanism.release(values)

    assert accuracy(release, TRAIN, TEST, pair, 100) - 0.5 <= FIVE_DEVIATIONS


AT_BOUNDS: list[tuple[Mechanism, tuple[Any, Any]]] = [
    (BoundedGaussian(Box(0, 1, step=0.1), 1, 0.05), (0.0, 1.0)),
    (ClampedGaussian(Box(0, 1), 1, 0.05), (0.0, 1.0)),
]


@pytest.mark.alone
@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize(
    ("mechanism", "pair"), [*FEW_WATCHED, *WITHOUT_TRIALS, *AT_BOUNDS], ids=str
)
def test_the_clock_tells_no_values_apart_in_releases_of_one(
    mechanism: Mechanism, pair: tuple[Any, Any]
) -> None:
    """False alarm: 6e-7 each, no retry: five standard deviations of 1000 fair coins."""
    told = accuracy(of_one(mechanism), TRAIN, TEST, pair, 1, may_differ=ONE_MAY_DIFFER)
    assert told - 0.5 <= FIVE_DEVIATIONS


@pytest.mark.alone
@pytest.mark.usefixtures("quiet")
def test_the_clock_tells_one_value_from_another_if_a_search_may_end_early(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Power of the test above.

    The search is made eight times, so that more than 0.8 are right, and the test above refuses
    0.58, which chance gives with a probability below 4e-7.
    """

    def scan(ends: Any) -> Callable[[float], int]:
        def count(number: float) -> int:
            return next((i for i, end in enumerate(ends) if end > number), len(ends))

        return lambda number: [count(number) for _ in range(8)][-1]

    monkeypatch.setattr(place, "_count_not_above", scan)
    monkeypatch.setattr(place, "EXACT", 0.0)  # no number is found by its distance
    pair = FAR, FAR + 2**30 - 1
    told = accuracy(of_one(copy.copy(FAR_TABLE)), TRAIN, TEST, pair, 1, may_differ=ONE_MAY_DIFFER)
    assert told >= 0.58


@pytest.mark.alone
@pytest.mark.usefixtures("quiet")
def test_exponentials_take_as_long_for_small_exponents_as_for_others() -> None:
    """False alarm: 6e-7. Power: by exponents of which Python keeps one, almost all are right."""

    def powers(values: NDArray[Any]) -> None:
        number = values.item()
        for _ in range(16):
            exp(number)

    def by_kept_integers(values: NDArray[Any]) -> None:
        number = values.item()
        for _ in range(16):
            math.ldexp(1.0, int(number))

    pair = -0.1, -7.0
    assert accuracy(powers, TRAIN, TEST, pair, 1) - 0.5 <= FIVE_DEVIATIONS
    assert accuracy(by_kept_integers, TRAIN, TEST, pair, 1) >= 0.58


def of_one(mechanism: Mechanism) -> Callable[[NDArray[Any]], None]:
    """Return a release of the only value of an array, as a number that is a new object."""
    return lambda values: mechanism.release(values.item())


@pytest.mark.alone
@pytest.mark.usefixtures("quiet")
def test_the_clock_tells_cells_apart_if_a_search_may_end_early(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Power of the test above: numpy's own search takes fewer steps near the lower bound.

    It is made four times, so that more than 0.8 are right. By chance 0.58 are, with a probability
    below 4e-7, and the test above refuses 0.58.
    """

    def search(ends: Any, x: Any, _: Any) -> Any:
        return [np.searchsorted(ends, x, "right") for _ in range(4)][-1]

    monkeypatch.setattr(place, "_not_above", search)
    pair = FAR, FAR + 2**30 - 1
    assert accuracy(FAR_TABLE.release, TRAIN, TEST, pair, MANY) >= 0.58


@pytest.mark.parametrize("width", [1.0, 1e12, 1e30, 1e99, 1e200, 1.6e308])
@pytest.mark.parametrize("step", [None, 0.1])
def test_no_product_is_subnormal_or_has_a_subnormal_factor(
    width: float, step: float | None
) -> None:
    """No false alarm: numpy reports the loss of digits that such a product would have."""
    values = np.array([5e-324, 1e-310, 2.0**-1022, 0.0, -1.0, width] * 10)
    box = Box(0, width, step=None if step is None else step * width)
    kinds = Window, ClampedStaircase
    mechanisms: list[Mechanism] = [kind(box, 0.3 * width, 1.0) for kind in kinds]
    if width < 1e100:
        mechanisms += [Optimal(box, 0.3 * width, 1.0), Optimal(box, 0.3 * width, 1.0, "worst")]
    with np.errstate(under="raise"):
        for mechanism in mechanisms:
            mechanism.release(values)
        with pytest.raises(FloatingPointError):
            _ = values * 1e-3


class Counting(SystemEntropy):
    """Keeps count of the words that are asked for."""

    __slots__ = ("asked",)

    def __init__(self) -> None:
        object.__setattr__(self, "asked", [])

    def words(self, count: int) -> NDArray[np.uint64]:
        self.asked.append(count)  # type: ignore[attr-defined]
        return super().words(count)


@pytest.mark.parametrize("kind", [ClampedGaussian, ClampedLaplace])
@pytest.mark.parametrize("scale", [0.01, 0.3, 10.0])
def test_clamped_mechanisms_draw_as_many_words_whatever_the_values(
    kind: type[ClampedGaussian], scale: float
) -> None:
    """No false alarm: a draw inside the box and one about the bounds, for every value of both."""
    for value in (0.0, 1e-310, 0.5, 1.0, 7.0):
        entropy, size = Counting(), 4096
        kind(Box(0, 1), 1, scale).release(np.full(size, value), entropy=entropy)
        asked: list[int] = entropy.asked  # type: ignore[attr-defined]
        assert asked[0] == 2 * size  # for a trial each
        assert asked[-1] == size  # for the bounds
        assert all(again < size // 4 for again in asked[1:-1])  # for those that were refused


VALUES = (0.0, 0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 1.0)
EVEN = 2e-5  # how much the chance of another trial may depend on the value


def sampler(noise: Noise, sigma: float, equal_time: bool) -> Sampler:
    return Sampler(
        noise, np.zeros(1), np.ones(1), np.array([sigma]), (None,), equal_time=equal_time
    )


def acceptance(noise: Noise, sigma: float, value: float, *, equal_time: bool = True) -> float:
    """Return the chance that a trial is accepted, from the strips and the thinning in use."""
    given = Parameters(*map(float, sampler(noise, sigma, equal_time)._alone.given))
    _, first, many, thin = trial_of(noise, given).propose(value)
    with ctx.workprec(100):
        left, right = arb(value) / arb(sigma), (1 - arb(value)) / arb(sigma)
        if noise == NORMAL:
            root = arb(2).sqrt()
            mass = (arb.pi() / 2).sqrt() * ((left / root).erf() + (right / root).erf())
        else:
            mass = 2 - (-left).exp() - (-right).exp()
        share = strips(noise).height * mass / many if many else mass * arb(sigma)
    assert not many or 0 <= first < first + many <= strips(noise).count
    return float(share) * thin


def spread(noise: Noise, sigma: float, *, equal_time: bool) -> float:
    chances = [acceptance(noise, sigma, value, equal_time=equal_time) for value in VALUES]
    return max(chances) - min(chances)


@pytest.mark.parametrize("noise", [NORMAL, LAPLACE])
@pytest.mark.parametrize("sigma", np.geomspace(1e-3, 1e3, 49).tolist())
def test_the_chance_of_another_trial_hardly_depends_on_the_value(
    sigma: float, noise: Noise
) -> None:
    """No false alarm: the chances are computed, not measured."""
    assert spread(noise, sigma, equal_time=True) < EVEN


@pytest.mark.parametrize("noise", [NORMAL, LAPLACE])
@pytest.mark.parametrize("sigma", [0.1, 3.0])
def test_the_chance_depends_on_the_value_if_time_may_tell(sigma: float, noise: Noise) -> None:
    """No false alarm: the chances are computed. Shows that the test above can fail."""
    assert spread(noise, sigma, equal_time=False) > 0.006


@pytest.mark.parametrize("equal_time", [True, False])
@pytest.mark.parametrize("noise", [NORMAL, LAPLACE])
@pytest.mark.parametrize("sigma", [0.1, 1.0, 3.0, 30.0])
def test_as_many_trials_are_refused_as_computed(
    sigma: float, noise: Noise, equal_time: bool
) -> None:
    """False alarm: 6e-7 for each value: five standard deviations of 10⁶ trials.

    Undecided trials are a few in a million, and counted as accepted.
    """
    size = 1 << 17
    for value in (0.0, 0.5, 0.1):
        trials, refused = 0, 0
        found, values, scratch = np.empty(size), np.full(size, value), scratch_for(size)
        attempt = sampler(noise, sigma, equal_time)._alone.attempt
        for _ in range(8):
            refused += attempt(values, SYSTEM.words(2 * size), found, scratch).refused.size
            trials += size
        chance = 1 - acceptance(noise, sigma, value, equal_time=equal_time)
        deviation = np.sqrt(chance * (1 - chance) / trials)
        assert abs(refused / trials - chance) < 5 * deviation + 1e-5


@pytest.mark.parametrize("sigma", [0.1, 1.0])
def test_naive_rejection_takes_more_trials_at_a_bound(sigma: float) -> None:
    """False alarm below 1e-9: 2 against 1 trials a value, 2.93 against 2.61; noise below 0.02."""
    generator = np.random.default_rng()
    at_bound, at_middle = (
        naive.by_rejection(np.full(100_000, value), sigma, generator)[1] / 100_000
        for value in (0.0, 0.5)
    )
    assert at_bound > 1.1 * at_middle
