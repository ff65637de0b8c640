"""Attacks on the time a release takes: it tells the value behind naive rejection, not behind ours.

What is measured twice: the clock, which sees everything but is noisy, and the number of trials,
which is all that could depend on the value and can be computed.
"""

import gc
import os
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from flint import arb, ctx
from numpy.typing import NDArray

from inbounds import BoundedGaussian, Box
from inbounds.sampling.entropy import SYSTEM
from inbounds.sampling.kernel import REFUSED, loops
from inbounds.sampling.sampler import Sampler
from inbounds.sampling.strips import Law, strips

from . import naive

pytestmark = pytest.mark.alone

Floats = NDArray[np.float64]
SIZE = 30_000  # values in a release: enough for the kernel, too few for threads
TRAIN, TEST, REPEATS = 1000, 2500, 2


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


def accuracy(release: Callable[[Floats], object], train: int, test: int) -> float:
    """Return how often a threshold on time tells values of all 0 from values of all 1/2.

    Which of the two is released is a fair coin each time; an observation is the faster of two
    releases. The threshold is the best one for the first `train` observations. Both values are
    written to the same memory, so that no address tells them apart.
    """
    halves = np.random.default_rng().integers(0, 2, train + test)
    values, times = np.zeros(SIZE), np.empty(halves.size)
    for _ in range(20):
        release(values)
    for i, half in enumerate(halves.tolist()):
        values[:] = half / 2
        observed = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            release(values)
            observed.append(time.perf_counter() - start)
        times[i] = min(observed)
    threshold, slower = best_threshold(times[:train], halves[:train])
    return float(np.mean(((times[train:] > threshold) == slower) == halves[train:]))


def best_threshold(times: Floats, halves: NDArray[np.int64]) -> tuple[float, bool]:
    """Return the threshold that is right most often, and whether 1/2 is the slower value."""
    order = np.argsort(times)
    ones = np.cumsum(halves[order])
    zeros = np.arange(1, times.size + 1) - ones
    right = zeros + (ones[-1] - ones)  # if 1/2 is slower
    best = int(np.argmax(np.abs(right - times.size / 2)))
    return float(times[order[best]]), bool(right[best] > times.size / 2)


@pytest.mark.usefixtures("quiet")
def test_the_clock_tells_the_value_behind_naive_rejection() -> None:
    """Power of the test below. Chance would pass with a probability below 1e-60."""
    generator = np.random.default_rng()
    assert accuracy(lambda values: naive.by_rejection(values, 0.1, generator), 300, 400) >= 0.9


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("sigma", [0.1, 1.0, 3.0])
def test_the_clock_does_not_tell_the_value_behind_ours(sigma: float) -> None:
    """False alarm: 6e-7 for each sigma, no retry.

    Labels are independent fair coins whatever the machine does meanwhile. So if time tells
    nothing, the number of right guesses among 2500 is binomial, and 0.05 is five of its standard
    deviations.
    """
    mechanism = BoundedGaussian(Box(0, 1), 1, sigma)
    assert 0.45 <= accuracy(mechanism.release, TRAIN, TEST) <= 0.55


VALUES = (0.0, 0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 1.0)
EVEN = 0.003  # how much the chance of another trial may depend on the value


def sampler(law: Law, sigma: float, equal_time: bool) -> Sampler:
    return Sampler(law, np.zeros(1), np.ones(1), np.array([sigma]), (None,), equal_time=equal_time)


def acceptance(law: Law, sigma: float, value: float, *, equal_time: bool = True) -> float:
    """Return the chance that a trial is accepted, from the strips and the thinning in use."""
    first, many, thin = sampler(law, sigma, equal_time)._plan.proposal(value, 0)
    with ctx.workprec(100):
        left, right = arb(value) / arb(sigma), (1 - arb(value)) / arb(sigma)
        if law == "normal":
            root = arb(2).sqrt()
            mass = (arb.pi() / 2).sqrt() * ((left / root).erf() + (right / root).erf())
        else:
            mass = 2 - (-left).exp() - (-right).exp()
        share = strips(law).height * mass / many if many else mass * arb(sigma)
    assert not many or 0 <= first < first + many <= strips(law).count
    return float(share) * thin


def spread(law: Law, sigma: float, *, equal_time: bool) -> float:
    chances = [acceptance(law, sigma, value, equal_time=equal_time) for value in VALUES]
    return max(chances) - min(chances)


@pytest.mark.parametrize("law", ["normal", "laplace"])
@pytest.mark.parametrize("sigma", np.geomspace(1e-3, 1e3, 49).tolist())
def test_the_chance_of_another_trial_hardly_depends_on_the_value(sigma: float, law: Law) -> None:
    """No false alarm: the chances are computed, not measured."""
    assert spread(law, sigma, equal_time=True) < EVEN


@pytest.mark.parametrize("law", ["normal", "laplace"])
@pytest.mark.parametrize("sigma", [0.1, 3.0])
def test_the_chance_depends_on_the_value_if_time_may_tell(sigma: float, law: Law) -> None:
    """No false alarm: the chances are computed. Shows that the test above can fail."""
    assert spread(law, sigma, equal_time=False) > 2 * EVEN


@pytest.mark.parametrize("equal_time", [True, False])
@pytest.mark.parametrize("law", ["normal", "laplace"])
@pytest.mark.parametrize("sigma", [0.1, 1.0, 3.0, 30.0])
def test_the_kernel_refuses_as_many_trials_as_computed(
    sigma: float, law: Law, equal_time: bool
) -> None:
    """False alarm: 6e-7 for each value: five standard deviations of 10⁶ trials.

    Undecided trials are a few in a million, and counted as accepted.
    """
    for value in (0.0, 0.5, 0.1):
        trials, refused = 0, 0
        plan = sampler(law, sigma, equal_time)._plan
        attempt = loops(law, bool(plan.narrow[0]), False)[0]
        found, values = np.empty(1 << 17), np.full(1 << 17, value)
        pending = np.empty(found.size, np.intp)
        for _ in range(8):
            words = SYSTEM.words(2 * found.size)
            attempt(words, values, *plan.parameters, 0.0, found, pending)
            trials += found.size
            refused += int((found == REFUSED).sum())
        chance = 1 - acceptance(law, sigma, value, equal_time=equal_time)
        noise = np.sqrt(chance * (1 - chance) / trials)
        assert abs(refused / trials - chance) < 5 * noise + 1e-5


@pytest.mark.parametrize("sigma", [0.1, 1.0])
def test_naive_rejection_takes_more_trials_at_a_bound(sigma: float) -> None:
    """False alarm below 1e-9: 2 against 1 trials a value, 2.93 against 2.61; noise below 0.02."""
    generator = np.random.default_rng()
    at_bound, at_middle = (
        naive.by_rejection(np.full(100_000, value), sigma, generator)[1] / 100_000
        for value in (0.0, 0.5)
    )
    assert at_bound > 1.1 * at_middle
