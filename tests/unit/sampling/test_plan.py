"""The plan: which coordinates the kernel may serve, and that its choice of strips is repeatable."""

import numpy as np
import pytest
from numpy.typing import NDArray

from inbounds.numerics.noise import Noise
from inbounds.numerics.noises import NOISES
from inbounds.numerics.normal import NORMAL
from inbounds.sampling.entropy import SeededEntropy
from inbounds.sampling.grid import REFUSED
from inbounds.sampling.kernel import UNSURE, compiled_loops
from inbounds.sampling.plan import Plan
from inbounds.sampling.proposal import NARROW, choose
from inbounds.sampling.strips import strips

Floats = NDArray[np.float64]


def plan_of(
    noise: Noise,
    lower: Floats,
    upper: Floats,
    scale: Floats,
    steps: float,
    *,
    equal_time: bool = True,
) -> Plan:
    return Plan.of(noise, lower, upper, scale, (upper - lower) / steps, equal_time=equal_time)


def one(noise: Noise, u: float, steps: float = 2.0**22, *, equal_time: bool = True) -> Plan:
    bounds = np.array([-1.1]), np.array([2.3])
    return plan_of(noise, *bounds, (bounds[1] - bounds[0]) / u, steps, equal_time=equal_time)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("joint", [False, True])
def test_the_loops_use_the_strips_and_the_thinning_that_proposal_tells(
    noise: Noise, joint: bool
) -> None:
    """The index of a point in the middle of its strip tells which strip the loops have used."""
    rng = np.random.default_rng(8)
    size = 50_000
    count = size if joint else 1
    lower = rng.normal(size=count) * 10 ** rng.uniform(-3, 6, count)
    scale = 10 ** rng.uniform(-3, 3, count)
    upper = lower + scale * NARROW[noise] * 10 ** rng.uniform(0.01, 3, count)
    plan = plan_of(noise, lower, upper, scale, 2.0**34)
    kind = np.flatnonzero(~plan.narrow & plan.usable)
    where = kind[rng.integers(kind.size, size=size)] if joint else np.zeros(size, np.intp)
    fraction = np.clip(rng.normal(0.5, 0.4, size), 0.0, 1.0)
    values = lower[where] + (upper - lower)[where] * fraction
    high = rng.integers(0, 1 << 32, size, np.uint64)
    words = np.concatenate([high << np.uint64(32), np.full(size, 1 << 63, np.uint64)])
    parameters = tuple(side[where] if joint else side for side in plan.parameters)
    attempt, _ = compiled_loops(noise, narrow=False, joint=joint)
    indices = np.empty(size)
    attempt(words, values, parameters, 0.0, indices, np.empty(size, np.intp))
    inside = np.flatnonzero(indices >= 0)
    assert inside.size > 0.9 * size
    *_, stretch, span = parameters
    rows = inside if joint else 0
    z = (indices[inside] - fraction[inside] * span[rows]) / stretch[rows]
    used = np.searchsorted(strips(noise).edges, z, "right") - 1
    told = [
        plan.proposal(value, j) for value, j in zip(values.tolist(), where.tolist(), strict=True)
    ]
    first, many, thin = (np.array(part) for part in zip(*told, strict=True))
    chosen = first + ((high * many.astype(np.uint64)) >> np.uint64(32)).astype(int)
    assert np.array_equal(used, chosen[inside])
    for i in range(0, size, 25):
        row = [float(side[i if joint else 0]) for side in parameters[:5]]
        place = min(max((values[i] - row[0]) * row[1], 0.0), 1.0)
        strip, thinning = choose(NOISES.index(noise), False, words[i], place, *row[3:])
        assert strip == chosen[i]
        assert thinning == thin[i] or np.isnan(thinning)


@pytest.mark.parametrize("noise", NOISES)
def test_narrow_windows_get_the_thinning_that_proposal_tells(noise: Noise) -> None:
    rng = np.random.default_rng(9)
    for u in (1e-9, 0.3 * NARROW[noise], NARROW[noise] * 0.999):
        plan = one(noise, u)
        row = [float(side[0]) for side in plan.parameters[:5]]
        for value in rng.uniform(-1.2, 2.4, 300).tolist():
            place = min(max((value - row[0]) * row[1], 0.0), 1.0)
            word = np.uint64(rng.integers(1 << 62, 1 << 63))
            strip, thinning = choose(NOISES.index(noise), True, word, place, *row[3:])
            assert (strip, 0, thinning) == plan.proposal(value, 0)


@pytest.mark.parametrize("noise", NOISES)
def test_windows_up_to_the_limit_are_narrow_and_wider_ones_are_not(noise: Noise) -> None:
    assert one(noise, NARROW[noise] * 0.999).narrow.all()
    assert not one(noise, NARROW[noise] * 1.001).narrow.any()


def test_numbers_that_doubles_cannot_hold_exactly_enough_are_not_usable() -> None:
    def usable(width: float, u: float, steps: float) -> bool:
        sides = np.array([0.0]), np.array([width]), np.array([width / u])
        return bool(plan_of(NORMAL, *sides, steps).usable[0])

    assert usable(1.0, 1.0, 2.0**41)
    assert not usable(1.0, 1.0, 2.0**42)
    assert usable(2.0**-880, 1.0, 2.0**40)
    assert not usable(2.0**-900, 1.0, 2.0**20)
    assert usable(2.0**970, 1.0, 2.0**40)
    assert not usable(2.0**1001, 1.0, 2.0**40)


def test_a_grid_whose_steps_are_subnormal_is_not_usable() -> None:
    """Such a step has few bits, so that every index would be off."""
    width = np.array([2.0**-990])
    assert not plan_of(NORMAL, np.zeros(1), width, width / 1e6, 2.0**40).usable[0]


def test_steps_that_underflow_to_zero_are_not_usable_and_do_not_warn() -> None:
    width = np.array([2.0**-1050])
    assert not plan_of(NORMAL, np.zeros(1), width, width / 2, 2.0**40).usable[0]


@pytest.mark.parametrize("noise", NOISES)
def test_scales_so_small_that_rounding_could_uncover_a_strip_are_not_usable(noise: Noise) -> None:
    """The distance to a bound is known to u/2**50; the strips have room for 2**-16."""
    assert one(noise, 2.0**33.9, 2.0**40).usable[0]
    assert not one(noise, 2.0**34.1, 2.0**40).usable[0]


@pytest.mark.parametrize("noise", NOISES)
def test_without_equal_time_nothing_is_thinned(noise: Noise) -> None:
    for u in (0.01, 0.3, 1.0, 50.0):
        for value in (-1.1, 0.3, 2.3):
            assert one(noise, u, equal_time=False).proposal(value, 0)[2] == 1.0
            assert 0.9 < one(noise, u).proposal(value, 0)[2] <= 1.0


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("u", [0.02, 3.0])
@pytest.mark.parametrize("caution", [0.0, 0.3])
def test_every_value_gets_an_index_or_is_listed_once_with_its_words(
    noise: Noise, u: float, caution: float
) -> None:
    """Caution 0.3 leaves most trials undecided, more than the list holds at a time."""
    rng = np.random.default_rng(10)
    plan = one(noise, u)
    values, indices = rng.uniform(-1.5, 2.5, 3000), np.empty(3000)
    where = np.zeros(1, np.intp)
    undecided = plan.attempt(values, where, indices, SeededEntropy(1), caution)
    assert not (indices == REFUSED).any()
    assert [trial.which for trial in undecided] == np.flatnonzero(indices == UNSURE).tolist()
    assert (len(undecided) > 1500) == (caution > 0)
    decided = indices[indices >= 0]
    assert decided.max() <= 2**22
    assert np.array_equal(decided, np.floor(decided))
    attempt, _ = compiled_loops(noise, bool(plan.narrow[0]), joint=False)
    for i, words in undecided[::50]:
        again = np.empty(1)
        pair = np.array(words, np.uint64)
        attempt(pair, values[i : i + 1], plan.parameters, caution, again, np.empty(1, np.intp))
        assert again[0] == UNSURE


def test_words_that_run_out_are_replaced_by_fresh_ones() -> None:
    """A tight caution with refusals only: the source is asked again, for the spare part only."""

    class Stingy:
        def __init__(self) -> None:
            self.asked: list[int] = []
            self.source = SeededEntropy(2)

        def bits(self, count: int) -> int:
            raise AssertionError(count)

        def words(self, count: int) -> NDArray[np.uint64]:
            self.asked.append(count)
            words = self.source.words(count)
            if len(self.asked) == 1:
                words[: 100 + 100] |= np.uint64(0xFFFFFFFF)  # V close to one: refused
            return words

    plan, entropy, indices = one(NORMAL, 3.0), Stingy(), np.empty(100)
    undecided = plan.attempt(np.full(100, 0.5), np.zeros(1, np.intp), indices, entropy, 0.0)
    assert entropy.asked[0] == 2 * 100 + 100 // 16 + 64
    assert entropy.asked[1:] == [100 // 16 + 64] * (len(entropy.asked) - 1)
    assert len(entropy.asked) >= 3
    assert len(undecided) + (indices >= 0).sum() == 100
