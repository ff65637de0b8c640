import math
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import chi2

from inbounds.errors import ArgumentError
from inbounds.numerics import ball
from inbounds.sampling import point
from inbounds.sampling.entropy import SYSTEM, SeededEntropy
from inbounds.sampling.window import WindowSampler, _below

WORD = 2**64
EPSILONS = (1e-300, 1e-9, 0.1, 0.7, 1.0, math.log(2), 3.0, 12.0, 60.0, 700.0)
STEPS = [(1, 1), (2, 1), (4, 1), (10, 3), (120, 1)]
FALSE_ALARM = 1e-9  # of each test of counts


def words_of(size: int) -> NDArray[Any]:
    """Return how many words of 64 bits give each place among `size`."""
    edges = [-(-k * WORD // size) for k in range(size + 1)]
    return np.array([b - a for a, b in pairwise(edges)], object)


def probabilities(window: WindowSampler, start: int) -> list[Fraction]:
    """Return the exact probability of each place, for a window that begins at a start."""
    everywhere, inside = words_of(window.places), np.zeros(window.places, object)
    inside[start : start + window.length] = words_of(window.length)
    return [
        Fraction(window.uniform * int(a) + (WORD - window.uniform) * int(b), WORD**2)
        for a, b in zip(everywhere, inside, strict=True)
    ]


def exceeds(ratio: Fraction, epsilon: float) -> bool:
    with ctx.workprec(512):
        return not arb(ball.exact(ratio - 1)) <= arb(ball.exact(epsilon)).expm1()


@pytest.mark.parametrize(("epsilon", "box"), list(product(EPSILONS, STEPS)))
def test_no_place_is_more_than_e_to_epsilon_as_likely_for_another_start(
    epsilon: float, box: tuple[int, int]
) -> None:
    window = WindowSampler.of(0.0, float(box[0]), float(box[1]), epsilon=epsilon)
    tables = [probabilities(window, start) for start in range(window.places - window.length + 1)]
    assert all(sum(table) == 1 for table in tables)
    worst = max(max(column) / min(column) for column in zip(*tables, strict=True))
    assert not exceeds(worst, epsilon)
    assert window.privacy_holds(epsilon)


@pytest.mark.parametrize(("epsilon", "box"), list(product([0.1, 1.0, 3.0, 12.0], STEPS)))
def test_one_word_less_for_all_places_would_not_do(epsilon: float, box: tuple[int, int]) -> None:
    window = WindowSampler.of(0.0, float(box[0]), float(box[1]), epsilon=epsilon)
    fewer = WindowSampler(window.grid, window.length, window.uniform - 1)
    assert not fewer.privacy_holds(epsilon)


def test_no_word_at_all_for_all_places_is_refused() -> None:
    window = WindowSampler.of(0.0, 1.0, 1.0, epsilon=1.0)
    assert not WindowSampler(window.grid, 1, 0).privacy_holds(1e6)
    assert not WindowSampler(window.grid, 1, WORD + 1).privacy_holds(1.0)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 5.0])
def test_a_fine_window_is_the_closed_form(epsilon: float) -> None:
    window, h = WindowSampler.of(-3.0, 5.0, None, epsilon=epsilon), math.exp(epsilon / 2)
    assert window.fraction == pytest.approx(1 / h, rel=1e-8)
    assert window.length / window.places == pytest.approx(1 / (h + 1), rel=1e-8)
    assert window.slope == pytest.approx(math.tanh(epsilon / 4), rel=1e-8)


@given(
    st.lists(st.integers(0, WORD - 1), min_size=1, max_size=20),
    st.integers(1, 2**32 - 1),
)
def test_places_are_exact_quotients(words: list[int], size: int) -> None:
    found = _below(np.array(words, np.uint64), np.full(len(words), size, np.uint64))
    assert found.tolist() == [word * size >> 64 for word in words]


def statistic(window: WindowSampler, counts: NDArray[Any], value: float) -> float:
    """Return chi-squared of counts against the exact probabilities for a value on a step."""
    position = Fraction(value) / window.grid.intervals * (window.places - window.length)
    low = math.floor(position)
    part = position - low
    table = [float((1 - part) * p) for p in probabilities(window, low)]
    if part:
        for k, p in enumerate(probabilities(window, low + 1)):
            table[k] += float(part * p)
    expected = np.array(table) * counts.sum()
    return float(((counts - expected) ** 2 / expected).sum())


@pytest.mark.parametrize("value", [0, 1, 4, 10])
def test_outputs_have_the_exact_probabilities_and_not_those_of_another_epsilon(value: int) -> None:
    window = WindowSampler.of(0.0, 10.0, 1.0, epsilon=1.0)
    other = WindowSampler.of(0.0, 10.0, 1.0, epsilon=1.05)
    outputs = window.draw(np.full(400_000, float(value)), SYSTEM)
    counts = np.bincount(outputs.astype(int), minlength=11)
    limit = float(chi2.isf(FALSE_ALARM, 10))
    assert statistic(window, counts, value) < limit
    assert statistic(other, counts, value) > limit


@pytest.mark.parametrize("value", [0, 4, 10])
def test_outputs_of_single_numbers_have_the_exact_probabilities(value: int) -> None:
    """False alarm: 1e-9 each; an epsilon of 1.15 is rejected."""
    window, other = (WindowSampler.of(0.0, 10.0, 1.0, epsilon=e) for e in (1.0, 1.15))
    outputs = [window.draw_one(value, SYSTEM) for _ in range(100_000)]
    counts = np.bincount(outputs, minlength=11)
    limit = float(chi2.isf(FALSE_ALARM, 10))
    assert statistic(window, counts, value) < limit
    assert statistic(other, counts, value) > limit


@pytest.fixture(params=[0, point.FEW], ids=["arrays", "one by one"])
def code(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw few values as arrays, or one by one."""
    monkeypatch.setattr(point, "FEW", request.param)


VALUES = [0, 3, 7, 10]


@pytest.mark.parametrize(
    "values",
    [
        np.array(VALUES, np.int8),
        np.array(VALUES, np.float32),
        np.array(VALUES, np.int64),
        np.array(VALUES, ">f8"),
        np.array([Fraction(v) for v in VALUES], object),
        np.array([v if v else -(2**70) for v in VALUES], object),
        np.array([0.0, 3.0, 7.0, 1e300]),
    ],
    ids=lambda values: str(values.dtype),
)
@pytest.mark.usefixtures("code")
def test_the_same_bits_give_the_same_outputs_for_numbers_of_any_type(values: NDArray[Any]) -> None:
    window = WindowSampler.of(0.0, 10.0, 1.0, epsilon=2.0)
    expected = window.draw(np.array(VALUES, float), SeededEntropy(3))
    assert window.draw(values, SeededEntropy(3)).tolist() == expected.tolist()


def test_integers_that_no_double_holds_are_not_rounded_before_the_bound_is_subtracted() -> None:
    base = 2**60
    window = WindowSampler.of(float(base), float(base + 512), None, epsilon=600.0)
    outputs = window.draw(np.full(50, base + 127), SYSTEM)
    assert np.all(np.abs(outputs - float(base + 127)) <= 128)  # the nearest doubles


@pytest.mark.usefixtures("code")
def test_shapes_and_no_values_at_all() -> None:
    window = WindowSampler.of(0.0, 1.0, None, epsilon=1.0)
    assert window.draw(np.zeros((3, 2)), SYSTEM).shape == (3, 2)
    assert window.draw(np.zeros(0), SYSTEM).shape == (0,)
    assert window.draw(np.array(0.5), SYSTEM).shape == ()


def test_a_step_that_is_too_fine_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"^step must be"):
        WindowSampler.of(0.0, 1.0, 2.0**-40, epsilon=1.0)


@pytest.mark.parametrize("start", [math.nan, math.inf, -5.0, -math.inf, 1e300])
@pytest.mark.parametrize("step", [None, 1.0])
def test_any_start_however_computed_is_moved_to_a_possible_one(
    start: float, step: float | None
) -> None:
    window = WindowSampler.of(0.0, 10.0, step, epsilon=3.0)
    indices = window.indices(np.full(1000, start), SYSTEM.words(2000))
    assert indices.min() >= 0
    assert indices.max() < window.places


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.usefixtures("code")
def test_numbers_of_few_bits_are_subtracted_in_doubles(dtype: Any) -> None:
    window = WindowSampler.of(-70000.0, 1e39, None, epsilon=2.0)
    values = np.array([5, 60000, -60000], dtype)
    expected = window.draw(values.astype(float), SeededEntropy(3))
    assert window.draw(values, SeededEntropy(3)).tolist() == expected.tolist()
    near = WindowSampler.of(70000.0, 80000.0, None, epsilon=2.0)
    outputs = near.draw(np.full(2000, 100, dtype), SYSTEM)
    assert np.all((outputs >= 70000) & (outputs <= 80000))
