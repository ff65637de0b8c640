"""Attacks on the low-order bits of answers: they read the value from naive noise, not from ours.

A sum of doubles keeps the last bits of its larger part, so that some answers are possible, or
likely, from one value and not from another, whatever epsilon says.
"""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from inbounds import BoundedGaussian, Box
from inbounds.numerics.laplace import LAPLACE
from inbounds.numerics.noise import Noise
from inbounds.numerics.normal import NORMAL
from inbounds.sampling.entropy import SYSTEM
from inbounds.sampling.plan import Parameters
from inbounds.sampling.sampler import Sampler
from inbounds.sampling.strips import strips
from inbounds.sampling.trial import trial_of

from . import naive

Floats = NDArray[np.float64]
VALUES = (0.0, 0.25)
SIGMA = 1.0
DRAWS = 400_000


def by_inversion(value: float) -> Floats:
    return naive.by_inversion(value, SIGMA, DRAWS, np.random.default_rng())


def by_rejection(value: float) -> Floats:
    return naive.by_rejection(np.full(DRAWS, value), SIGMA, np.random.default_rng())[0]


def by_us(value: float, sigma: float = SIGMA) -> Floats:
    return BoundedGaussian(Box(0, 1), 1, sigma).release(np.full(DRAWS, value))


def fraction_of_odd_multiples(answers: Floats) -> float:
    """Return the share of odd multiples of 2⁻⁵⁵ among the answers in (0, 1/16)."""
    low = answers[(answers > 0) & (answers < 1 / 16)]
    assert low.size > DRAWS / 100
    return float(np.mean(np.mod(low * 2.0**55, 2.0) == 1))


@pytest.mark.parametrize("sampler", [by_inversion, by_rejection])
def test_the_last_bit_tells_the_value_behind_naive_noise(
    sampler: Callable[[float], Floats],
) -> None:
    """False alarm below 1e-6: 10⁴ answers give either share to within 0.01, at 0.08 and 0.5.

    Noise from -1/4 to -3/16 is a multiple of 2⁻⁵⁵, and so is 1/4 plus it: half are odd multiples.
    Around 0 the noise itself is finer: few of its numbers are multiples of 2⁻⁵⁵ at all.
    """
    near, far = (fraction_of_odd_multiples(sampler(value)) for value in VALUES)
    assert near < 0.2
    assert 0.4 < far < 0.6


@pytest.mark.parametrize("sigma", [0.1, 1.0, 1000.0])
def test_the_last_bit_of_our_answers_is_always_the_same(sigma: float) -> None:
    """No false alarm: not one answer may be an odd multiple of 2⁻⁵⁵."""
    assert [fraction_of_odd_multiples(by_us(value, sigma)) for value in (0.0, 0.06)] == [0, 0]
    assert fraction_of_odd_multiples(by_us(VALUES[1], 1.0)) == 0


def reachable(answers: Floats, value: float, reach: int = 512) -> NDArray[np.bool_]:
    """Return which answers `naive.by_inversion` can give to `value`, by trying levels around."""
    centre = np.rint(naive.level_of(answers, value, SIGMA) * naive.LEVELS)
    found = np.zeros(answers.size, bool)
    for offset in range(-reach, reach + 1):
        found |= naive.at_level((centre + offset) / naive.LEVELS, value, SIGMA) == answers
    return found


def test_some_naive_answers_can_only_come_from_one_value() -> None:
    """False alarm below 1e-6: of 1000 answers, hundreds are impossible from the other value."""
    for value, other in (VALUES, VALUES[::-1]):
        answers = by_inversion(value)
        answers = answers[(answers > 0) & (answers < 1 / 16)][:1000]
        assert reachable(answers, value).mean() > 0.99
        assert reachable(answers, other).mean() < 0.9


VALUES_OF_ALL_KINDS = (
    0.0,
    5e-324,
    1e-9,
    0.1,
    0.25,
    1 / 3,
    0.5,
    0.7,
    float(np.nextafter(1, 0)),
    1.0,
)


@pytest.mark.parametrize("value", VALUES_OF_ALL_KINDS)
@pytest.mark.parametrize("sigma", [1e-4, 0.1, 1.0, 1000.0])
def test_every_answer_is_on_the_grid(value: float, sigma: float) -> None:
    """No false alarm: the grid is the same for every value."""
    sampler = Sampler(NORMAL, np.zeros(1), np.ones(1), np.array([sigma]), (None,))
    intervals = sampler.grid(0).intervals
    for size in (50, 20_000):
        index = sampler.draw(np.full(size, value), SYSTEM) * intervals
        assert (index == np.rint(index)).all()
        assert index.min() >= 0
        assert index.max() <= intervals


@pytest.mark.parametrize("value", VALUES_OF_ALL_KINDS)
@pytest.mark.parametrize("noise", [NORMAL, LAPLACE])
@pytest.mark.parametrize("clamped", [False, True])
def test_every_value_reaches_every_point_of_a_coarse_grid(
    noise: Noise, clamped: bool, value: float
) -> None:
    """False alarm below 1e-40: each point has a probability of at least 0.005 in 20 000 draws."""
    sampler = Sampler(noise, np.zeros(1), np.ones(1), np.ones(1), (1 / 32,), clamped)
    drawn = sampler.draw(np.full(20_000, value), SYSTEM)
    assert np.array_equal(np.unique(drawn), np.arange(33) / 32)


class Script:
    """Words written beforehand; what they leave undecided is settled by the system's bits."""

    def __init__(self, words: NDArray[np.uint64]) -> None:
        self.script: NDArray[np.uint64] | None = words
        self.further = 0

    def words(self, count: int) -> NDArray[np.uint64]:
        words = SYSTEM.words(count)
        if self.script is not None:
            words[: self.script.size], self.script = self.script, None
        return words

    def bits(self, count: int) -> int:
        self.further += 1
        return SYSTEM.bits(count)


@pytest.mark.parametrize("value", VALUES_OF_ALL_KINDS)
@pytest.mark.parametrize("noise", [NORMAL, LAPLACE])
@pytest.mark.parametrize("sigma", [0.1, 1.0, 1000.0])
def test_every_point_of_a_fine_grid_has_random_words_that_lead_to_it(
    sigma: float, noise: Noise, value: float
) -> None:
    """No false alarm: a pre-image of every grid point tried is written down, and gives it.

    The points are drawn at random, within four scales of the value (further out the density is
    too low for every strip's first words), the end points among them.
    """
    sampler = Sampler(noise, np.zeros(1), np.ones(1), np.array([sigma]), (None,))
    intervals, size = sampler.grid(0).intervals, 8192
    reach = (max(0.0, value - 4 * sigma), min(1.0, value + 4 * sigma))
    first, last = (int(np.ceil(reach[0] * intervals)), int(np.floor(reach[1] * intervals)))
    targets = np.random.default_rng(3).integers(first, last, size, endpoint=True)
    targets[:2] = first, last
    script = Script(pre_images(sampler, value, targets / intervals))
    assert np.array_equal(sampler.draw(np.full(size, value), script) * intervals, targets)


def pre_images(sampler: Sampler, value: float, answers: Floats) -> NDArray[np.uint64]:
    """Return words whose trial accepts each answer: the strip, V = 0, and the place in it."""
    scale, table = float(sampler.scale[0]), strips(sampler.noise)
    given = Parameters(*map(float, sampler._alone.given))
    _, first, many, _ = trial_of(sampler.noise, given).propose(value)
    nudge = 0.25 / sampler.grid(0).intervals  # into the box: half of an end point's cell is outside
    z = (np.clip(answers, nudge, 1 - nudge) - value) / scale
    if many:
        strip = np.searchsorted(table.edges, z, side="right") - 1
        place = (z - table.edges[strip]) / table.widths[strip]
        high = np.floor((strip - first + 0.5) / many * 2.0**32)
    else:
        place, high = z * scale + value, np.full(z.size, 2.0**31)
    low = np.minimum(place * 2.0**64, 2.0**64 - 2.0**12)
    return np.concatenate([high.astype(np.uint64) << np.uint64(32), low.astype(np.uint64)])
