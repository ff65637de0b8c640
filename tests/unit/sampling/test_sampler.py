"""The sampler in front of all kinds of trials: shapes, types, supports, every path."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from inbounds.numerics.noise import Noise
from inbounds.numerics.noises import NOISES
from inbounds.numerics.normal import NORMAL
from inbounds.sampling import blocks, coordinate, filling, reference, sampler, trial_block
from inbounds.sampling.entropy import SYSTEM, SeededEntropy
from inbounds.sampling.filling import FEW, Filling
from inbounds.sampling.sampler import Sampler

LARGE = 3072
Numbers = float | Sequence[float]


def make(
    lower: Numbers,
    upper: Numbers,
    scale: Numbers,
    steps: tuple[float | None, ...] | None = None,
    noise: Noise = NORMAL,
    *,
    clamped: bool = False,
    equal_time: bool = True,
    caution: float = 0.0,
) -> Sampler:
    sides = [np.atleast_1d(np.array(side, float)) for side in (lower, upper, scale)]
    steps = (None,) * sides[0].size if steps is None else steps
    return Sampler(noise, *sides, steps, clamped=clamped, equal_time=equal_time, caution=caution)


@pytest.fixture(params=["few", "many", "compiled"])
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let plain floats, arrays or compiled code serve draws of any size."""
    monkeypatch.setattr(sampler, "FEW", 10**9 if request.param == "few" else 0)
    monkeypatch.setattr(blocks, "MANY", 1 if request.param == "compiled" else 10**9)
    monkeypatch.setattr(blocks, "_REPAYS", 0)
    name: str = request.param
    return name


def levels(
    noise: Noise, value: float, scale: float, cuts: NDArray[np.float64]
) -> NDArray[np.float64]:
    known = stats.norm if noise == NORMAL else stats.laplace
    cdf: NDArray[np.float64] = known.cdf(cuts, value, scale)
    return cdf


def chances(
    noise: Noise, value: float, scale: float, upper: int, clamped: bool
) -> NDArray[np.float64]:
    """Return the probabilities of 0..upper, by the definition."""
    cuts = np.arange(upper) + 0.5
    inner = levels(noise, value, scale, cuts)
    low, high = (0.0, 1.0) if clamped else levels(noise, value, scale, np.array([0.0, upper]))
    return np.diff((np.concatenate([[low], inner, [high]]) - low) / (high - low))


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("clamped", [False, True])
@pytest.mark.parametrize("scale", [0.8, 2.0, 300.0])
@pytest.mark.parametrize("value", [0.0, 1.3])
@pytest.mark.parametrize("caution", [0.0, 0.4])
@pytest.mark.usefixtures("path")
def test_every_path_follows_the_distribution_even_when_most_trials_go_through_refine(
    noise: Noise, clamped: bool, scale: float, value: float, caution: float
) -> None:
    """False alarm 1e-6 each."""
    size = 60_000 if caution == 0 else LARGE
    source = make(0.0, 4.0, scale, (1.0,), noise, clamped=clamped, caution=caution)
    outputs = source.draw(np.full(size, value), SeededEntropy(11))
    assert outputs.dtype == np.int64
    counts = np.bincount(outputs, minlength=5)
    assert counts.size == 5
    expected = size * chances(noise, value, scale, 4, clamped)
    kept = expected > 5
    assert (
        stats.chisquare(
            np.append(counts[kept], counts[~kept].sum() + 1e-9),
            np.append(expected[kept], expected[~kept].sum() + 1e-9),
        ).pvalue
        > 1e-6
    )
    if caution == 0 and scale == 2.0:
        wrong = size * chances(noise, value, scale * 1.1, 4, clamped)
        assert stats.chisquare(counts, wrong).pvalue < 1e-6


@pytest.mark.usefixtures("path")
def test_caution_sends_most_trials_through_refine(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = {"calls": 0}
    true = coordinate.refine

    def counting(**arguments: object) -> int | None:
        seen["calls"] += 1
        return true(**arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(coordinate, "refine", counting)
    values = np.full(LARGE, 0.3)
    plain = make(0.0, 1.0, 0.5).draw(values, SeededEntropy(1))
    assert seen["calls"] < 5
    cautious = make(0.0, 1.0, 0.5, caution=0.45).draw(values, SeededEntropy(1))
    assert seen["calls"] > LARGE // 2
    assert stats.ks_2samp(plain, cautious).pvalue > 1e-6
    assert np.array_equal(cautious * 2**23, np.floor(cautious * 2**23))  # the same grid


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("clamped", [False, True])
@pytest.mark.parametrize("kind", [np.float64, np.int64])
@pytest.mark.parametrize("joint", [False, True])
def test_compiled_code_and_arrays_give_the_same_bits(
    noise: Noise, clamped: bool, kind: type, joint: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = joint_box(clamped=clamped, noise=noise)
    if not joint:
        base = 2.0**60 if kind is np.int64 else 0.0
        source = make(base, base + 2.0**20, 2.0**18, noise=noise, clamped=clamped)
    values = np.random.default_rng(1).uniform(-1, 12, (1000, 6)) + source.lower[0]
    drawn = []
    for least in (1, 10**9):
        monkeypatch.setattr(blocks, "MANY", least)
        monkeypatch.setattr(blocks, "_REPAYS", 0)
        drawn.append(source.draw(values.astype(kind), SeededEntropy(5)))
    assert drawn[0].tobytes() == drawn[1].tobytes()


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("clamped", [False, True])
@pytest.mark.parametrize("rest", [500, 1000, 2000, 5000])
def test_blocks_of_which_few_are_refused_give_the_same_bits_compiled_or_not(
    noise: Noise, clamped: bool, rest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = make(0.1, 49.3, 12.0, noise=noise, clamped=clamped)
    values, drawn = np.random.default_rng(rest).uniform(-9, 60, 2 * 16_384 + rest), []
    monkeypatch.setattr(blocks, "_REPAYS", 0)
    for least in (1, 10**9):
        monkeypatch.setattr(blocks, "MANY", least)
        drawn += [source.draw(values, SeededEntropy(seed)).tobytes() for seed in range(3)]
    assert drawn[:3] == drawn[3:]


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("scale", [0.3, 200.0])
@pytest.mark.parametrize("caution", [0.0, 0.3])
@pytest.mark.parametrize("program", ["arrays", "compiled"])
def test_refused_values_are_repeated_one_by_one_or_together_with_the_same_bits(
    noise: Noise, scale: float, caution: float, program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With caution, some of the repeated trials are too close to call."""
    monkeypatch.setattr(blocks, "MANY", 1 if program == "compiled" else 10**9)
    monkeypatch.setattr(blocks, "_REPAYS", 0)
    source = make(0.0, 1.0, scale, noise=noise, caution=caution)
    values, drawn = np.random.default_rng(2).uniform(-0.1, 1.1, 2000), []
    for few in (-1, 3, 10**9):
        monkeypatch.setattr(filling, "FEW_REFUSED", few)
        monkeypatch.setattr(filling, "_FEW_COMPILED", few)
        monkeypatch.setattr(trial_block, "FEW_REFUSED", few)
        drawn.append(source.draw(values, SeededEntropy(6)).tobytes())
    assert drawn[0] == drawn[1] == drawn[2]


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("clamped", [False, True])
@pytest.mark.parametrize("size", [1, 10, FEW, FEW + 1, 1000, 40_000])
def test_small_and_large_jobs_stay_on_the_grid_and_repeat_with_the_seed(
    noise: Noise, clamped: bool, size: int
) -> None:
    source = make(-1.0, 3.0, 1.5, noise=noise, clamped=clamped)
    values = np.linspace(-2.0, 4.0, size)  # some outside
    first, again, other = (source.draw(values, SeededEntropy(seed)) for seed in (5, 5, 6))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other) or size == 1
    assert first.dtype == np.float64
    assert first.min() >= -1.0
    assert first.max() <= 3.0
    index = (first + 1.0) / 4.0 * source.grid(0).intervals
    assert np.array_equal(index, np.round(index))
    if size >= 10:
        assert ((first == -1.0) | (first == 3.0)).any() == clamped


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("clamped", [False, True])
def test_every_path_agrees_with_the_oracle(noise: Noise, clamped: bool, path: str) -> None:
    """Two samples of one distribution, on a grid of 41 points; false alarm 1e-6."""
    source = make(0.0, 4.0, 1.1, (0.1,), noise, clamped=clamped)
    entropy, grid = SeededEntropy(12), source.grid(0)
    indices = [
        reference.draw(0.7, 1.1, grid, entropy, noise, clamped=clamped) for _ in range(LARGE)
    ]
    slow = grid.points(np.array(indices))
    fast = source.draw(np.full(20 * LARGE, 0.7), entropy)
    assert set(np.unique(slow)) <= set(np.unique(fast))
    assert stats.ks_2samp(slow, fast).pvalue > 1e-6, path


def joint_box(*, clamped: bool = False, noise: Noise = NORMAL) -> Sampler:
    """Narrow, wide, integral, subnormal and huge coordinates side by side."""
    return make(
        [0.0, 0.0, 0.0, 0.0, 1e9, -(2.0**1005)],
        [1.0, 1.0, 10.0, 1e-310, 1e9 + 1, 2.0**1005],
        [100.0, 0.2, 3.0, 1e-310, 0.5, 2.0**1004],
        (None, None, 3.0, None, 0.25, None),
        noise,
        clamped=clamped,
    )


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("clamped", [False, True])
@pytest.mark.parametrize("rows", [3, 400])
@pytest.mark.usefixtures("path")
def test_joint_boxes_mix_narrow_wide_and_unusable_coordinates(
    noise: Noise, clamped: bool, rows: int
) -> None:
    source = joint_box(clamped=clamped, noise=noise)
    values = np.tile(source.lower + (source.upper - source.lower) * 0.3, (rows, 1))
    outputs = source.draw(values, SeededEntropy(13))
    assert outputs.shape == (rows, 6)
    assert outputs.dtype == np.float64
    assert np.all((outputs >= source.lower) & (outputs <= source.upper))
    assert set(outputs[:, 2].tolist()) <= {0.0, 3.0, 6.0, 9.0}
    assert set(outputs[:, 4].tolist()) <= {1e9 + k / 4 for k in range(5)}
    if rows > 100:
        assert len(set(outputs[:, 2].tolist())) == 4
        for j in (0, 1, 3, 4, 5):
            span = outputs[:, j] / 2 - source.lower[j] / 2
            part = span / (source.upper[j] / 2 - source.lower[j] / 2)
            assert part.min() < 0.2
            assert part.max() > 0.7
            edges = ((part == 0) | (part == 1)).any()
            assert edges or not clamped


def test_the_unusable_coordinates_of_that_box_are_the_extreme_ones() -> None:
    plan = joint_box()._plan
    assert plan.usable.tolist() == [True, True, True, False, True, False]
    assert plan.narrow[:2].tolist() == [True, False]


@pytest.mark.parametrize("step", [1e-300, 1e-290])
def test_steps_as_small_as_doubles_allow_are_served(step: float) -> None:
    source = make(0.0, 10 * step, 3 * step, (step,))
    outputs = source.draw(np.full(LARGE, 5 * step), SeededEntropy(14))
    assert len(set(outputs.tolist())) == 11


@pytest.mark.parametrize("size", [10, LARGE])
def test_a_step_grid_gives_exactly_its_points(size: int) -> None:
    values = np.linspace(0.0, 10.0, size)
    three = make(0.0, 10.0, 300.0, (3.0,)).draw(values, SeededEntropy(15))
    assert three.dtype == np.int64
    assert set(three.tolist()) <= {0, 3, 6, 9}
    two = make(0.0, 10.0, 5.0, (10.0,)).draw(values, SeededEntropy(15))
    assert set(two.tolist()) <= {0, 10}
    tenths = make(0.0, 1.0, 0.5, (0.1,)).draw(values / 10, SeededEntropy(15))
    assert tenths.dtype == np.float64
    assert set(tenths.tolist()) <= {k / 10 for k in range(11)}
    if size > 100:
        assert (len(set(three.tolist())), len(set(two.tolist()))) == (4, 2)
        assert len(set(tenths.tolist())) == 11


def test_integers_of_all_coordinates_give_integers_and_one_float_gives_floats() -> None:
    both = make([0, 0], [5, 9], [2, 2], (1.0, 3.0))
    assert both.draw(np.zeros((LARGE, 2)), SeededEntropy(1)).dtype == np.int64
    assert both.draw(np.zeros((2, 2)), SeededEntropy(1)).dtype == np.int64
    mixed = make([0, 0], [5, 9], [2, 2], (1.0, None))
    assert mixed.draw(np.zeros((LARGE, 2)), SeededEntropy(1)).dtype == np.float64


@pytest.mark.parametrize("size", [8, LARGE])
@pytest.mark.parametrize("kind", [np.float32, np.int16, np.uint8, np.float64])
def test_any_kind_of_number_is_accepted_and_means_its_value(size: int, kind: type) -> None:
    source = make(0.0, 3.0, 1.0)
    given = (np.arange(size) % 5).astype(kind)
    before = given.copy()
    outputs = source.draw(given, SeededEntropy(16))
    assert np.array_equal(given, before)
    assert np.array_equal(outputs, source.draw(given.astype(np.float64), SeededEntropy(16)))


@pytest.mark.parametrize("size", [8, LARGE])
def test_read_only_and_strided_arrays_give_the_same_outputs_and_stay_as_they_are(
    size: int,
) -> None:
    source = make([0.0, 0.0], [3.0, 1.0], [1.0, 50.0])
    plain = np.random.default_rng(1).random((size, 2))
    expected = source.draw(plain.copy(), SeededEntropy(17))
    locked = plain.copy()
    locked.setflags(write=False)
    wide = np.repeat(plain, 2, axis=1)
    for given in (locked, wide[:, ::2], np.asfortranarray(plain), plain[::-1][::-1]):
        before = given.copy()
        assert np.array_equal(source.draw(given, SeededEntropy(17)), expected)
        assert np.array_equal(given, before)
    one = make(0.0, 3.0, 1.0)
    locked = plain[:, 0].copy()
    locked.setflags(write=False)
    expected = one.draw(plain[:, 0].copy(), SeededEntropy(18))
    for given in (locked, plain[:, 0]):
        assert np.array_equal(one.draw(given, SeededEntropy(18)), expected)


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 2)])
def test_nothing_in_gives_nothing_out(shape: tuple[int, ...]) -> None:
    bounds = ([0.0, 0.0], [1.0, 1.0], [1.0, 1.0]) if shape[-1] == 2 else (0.0, 1.0, 1.0)
    outputs = make(*bounds).draw(np.zeros(shape), SeededEntropy(1))
    assert outputs.shape == shape


@pytest.mark.parametrize("clamped", [False, True])
@pytest.mark.usefixtures("path")
def test_values_outside_the_box_get_the_outputs_of_its_bounds(clamped: bool) -> None:
    source = make(-1.0, 1.0, 0.7, clamped=clamped)
    far = np.tile([-1e308, -5.0, 1.7e308, 1.5], LARGE)
    near = np.clip(far, -1.0, 1.0)
    seeds = SeededEntropy(19), SeededEntropy(19)
    assert np.array_equal(source.draw(far, seeds[0]), source.draw(near, seeds[1]))


def test_large_jobs_in_threads_are_complete_and_not_repeated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blocks, "_PER_THREAD", 1 << 12)
    monkeypatch.setattr(blocks, "cores", lambda: 3)
    outputs = make(0.0, 1.0, 1e-3, equal_time=False).draw(np.full(1 << 14, 0.5), SYSTEM)
    assert np.all((outputs > 0.4) & (outputs < 0.6))
    assert np.unique(outputs).size > outputs.size - 60  # 9 are expected


@pytest.mark.usefixtures("path")
def test_a_trial_that_refine_refuses_is_continued_by_the_oracle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn = []

    def oracle(*arguments: object, **_: object) -> int:
        drawn.append(arguments)
        return 7

    monkeypatch.setattr(coordinate, "refine", lambda **_: None)
    monkeypatch.setattr(reference, "draw", oracle)
    outputs = make(0.0, 10.0, 4.0, (1.0,), caution=1.0).draw(np.full(LARGE, 5.0), SeededEntropy(2))
    assert drawn
    assert set(outputs.tolist()) == {7}


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("scale", [2.0**-30, 2.0**20, 2.0**200])
@pytest.mark.usefixtures("path")
def test_clamped_noise_of_any_scale_hits_the_bounds_as_often_as_it_should(
    noise: Noise, scale: float
) -> None:
    values = np.full(20_000, 1.0)
    outputs = make(0.0, 1.0, scale, noise=noise, clamped=True).draw(values, SeededEntropy(20))
    at_upper = (outputs == 1.0).mean()
    assert abs(at_upper - 0.5) < 5 * 0.5 / math.sqrt(values.size)
    at_lower = (outputs == 0.0).mean()
    assert abs(at_lower - (0.5 if scale > 1 else 0.0)) < 5 * 0.5 / math.sqrt(values.size)


@pytest.mark.parametrize(("word", "index"), [((1 << 63) - 1, 0.0), (1 << 63, 1.0)])
def test_no_word_is_in_doubt_for_both_bounds(word: int, index: float) -> None:
    """With noise of 2**80 widths the inside has a chance of 2**-81, all of it at U near 1/2.

    The words next to 1/2 need more bits, but each for one bound only: U < 1/2 is the lower one and
    U > 1/2 the upper one, save for a chance of 2**-16.
    """

    class Fixed(SeededEntropy):
        def words(self, count: int) -> NDArray[np.uint64]:
            return np.full(count, word, np.uint64)

    source = make(0.0, 1.0, 2.0**80, (1.0,), clamped=True)
    entropy, indices = Fixed(3), np.full(200, -3.0)
    values = np.full(200, 0.5)
    block = source._reader(values.dtype)(values, np.zeros(1, np.intp))
    Filling.of(source, None, entropy, 200).move_to_bounds(block, indices)
    assert (indices == index).mean() > 0.99
    assert entropy._calls == 200  # one more chunk each
