"""No pair of distributions loses more than its epsilon and total variation imply."""

import math
from fractions import Fraction
from itertools import accumulate

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inbounds.accounting import lattice
from inbounds.pure import pure_delta, pure_mu, pure_renyi, pure_rho

Chances = list[Fraction]
Pair = tuple[Chances, Chances]
ORDERS = (2, 3, 8, 40)
FRACTIONS = (0.0, 0.01, 0.3, 0.7, 0.99)

weights = st.lists(st.integers(1, 1000), min_size=3, max_size=6)


@st.composite
def pairs(draw: st.DrawFn) -> Pair:
    """Two distributions on three to six outcomes, in fractions, that are close or far apart."""
    first = draw(weights)
    same = st.lists(st.integers(1, 1000), min_size=len(first), max_size=len(first))
    spread = draw(st.sampled_from([1, 20, 10**4]))  # the larger, the closer the pair
    second = [x * spread + y for x, y in zip(first, draw(same), strict=True)]
    return normal(first), normal(second)


def normal(numbers: list[int]) -> Chances:
    return [Fraction(number, sum(numbers)) for number in numbers]


def three_points(ratio: Fraction, variation: Fraction) -> Pair:
    a = variation * ratio / (ratio - 1)
    return [a, 1 - a - a / ratio, a / ratio], [a / ratio, 1 - a - a / ratio, a]


def setting(pair: Pair) -> tuple[float, float]:
    """Epsilon and the total variation of a pair, rounded up."""
    ratios = [p / q for p, q in zip(*pair, strict=True)]
    largest = max(*ratios, 1 / min(ratios))
    with mpmath.workdps(40):
        epsilon = float(mpmath.log(mpmath.mpf(largest.numerator) / largest.denominator))
    variation = sum(abs(p - q) for p, q in zip(*pair, strict=True)) / 2
    return math.nextafter(epsilon, math.inf), math.nextafter(float(variation), 1.0)


def curve(pair: Pair, ratio: Fraction) -> Fraction:
    return sum((max(p - ratio * q, Fraction(0)) for p, q in zip(*pair, strict=True)), Fraction(0))


def above(epsilon: float) -> Fraction:
    """A number a little above e^epsilon, where a curve is at most what it is there."""
    return Fraction(math.exp(epsilon)) * (1 + Fraction(1, 2**50))


def divergence(pair: Pair, order: int) -> mpmath.mpf:
    moment = sum(p**order / q ** (order - 1) for p, q in zip(*pair, strict=True))
    return mpmath.log(mpmath.mpf(moment.numerator) / moment.denominator) / (order - 1)


def kullback_leibler(pair: Pair) -> mpmath.mpf:
    both = [(mpmath.mpf(p.numerator) / p.denominator, p / q) for p, q in zip(*pair, strict=True)]
    return sum(p * mpmath.log(mpmath.mpf(r.numerator) / r.denominator) for p, r in both)


def least_mu(pair: Pair) -> float:
    """The mu of the most telling tests, which accept the outcomes with the largest ratios."""
    order = sorted(zip(*pair, strict=True), key=lambda both: both[0] / both[1], reverse=True)
    tests = list(accumulate(order[:-1], lambda x, y: (x[0] + y[0], x[1] + y[1])))

    def quantile(probability: Fraction) -> mpmath.mpf:
        number = mpmath.mpf(probability.numerator) / probability.denominator
        return mpmath.sqrt(2) * mpmath.erfinv(2 * number - 1)

    return max(float(quantile(p) - quantile(q)) for p, q in tests)


@settings(max_examples=120)
@given(pairs())
def test_no_pair_loses_more_than_its_epsilon_and_total_variation_imply(pair: Pair) -> None:
    if pair[0] == pair[1]:
        return
    epsilon, variation = setting(pair)
    rho = pure_rho(epsilon, variation)
    for both in (pair, pair[::-1]):
        for fraction in FRACTIONS:
            delta = pure_delta(epsilon, variation, fraction * epsilon)
            assert curve(both, above(fraction * epsilon)) <= Fraction(delta)
        with mpmath.workdps(40):
            for order in ORDERS:
                exact = divergence(both, order)
                assert exact <= pure_renyi(epsilon, variation, float(order))
                assert exact <= order * rho
            assert kullback_leibler(both) <= min(rho, pure_renyi(epsilon, variation, 1.0))
            assert least_mu(both) <= pure_mu(epsilon, variation) * (1 + 1e-15) + 1e-15


@settings(max_examples=40)
@given(pairs(), pairs())
def test_no_two_pairs_lose_more_together(first: Pair, second: Pair) -> None:
    if first[0] == first[1] or second[0] == second[1]:
        return
    settings_of_both = [setting(first), setting(second)]
    releases = tuple((*one, 1) for one in settings_of_both)
    product = tuple(
        [x * y for x in one for y in two] for one, two in zip(first, second, strict=True)
    )
    total = math.fsum(epsilon for epsilon, _ in settings_of_both)
    for fraction in FRACTIONS:
        delta = lattice.delta(releases, fraction * total)
        assert curve((product[0], product[1]), above(fraction * total)) <= Fraction(delta)
    twice = ((*settings_of_both[0], 2),)
    square = tuple([x * y for x in one for y in one] for one in first)
    delta = lattice.delta(twice, settings_of_both[0][0])
    assert curve((square[0], square[1]), above(settings_of_both[0][0])) <= Fraction(delta)


@pytest.mark.parametrize("ratio", [Fraction(101, 100), Fraction(3, 2), Fraction(20)])
@pytest.mark.parametrize("part", [Fraction(1, 1000), Fraction(1, 3), Fraction(1)])
def test_the_pair_with_three_outcomes_loses_that_much(ratio: Fraction, part: Fraction) -> None:
    """So a bound that is lower by a millionth would be noticed."""
    pair = three_points(ratio, part * (ratio - 1) / (ratio + 1))
    if part == 1:
        pair = [pair[0][0], pair[0][2]], [pair[1][0], pair[1][2]]
    epsilon, variation = setting(pair)
    for fraction in FRACTIONS[:-1]:
        delta = pure_delta(epsilon, variation, fraction * epsilon)
        assert curve(pair, above(fraction * epsilon)) >= Fraction(delta * (1 - 1e-6))
    with mpmath.workdps(40):
        for order in ORDERS:
            bound = pure_renyi(epsilon, variation, float(order))
            assert divergence(pair, order) >= bound * (1 - 1e-6)
        assert least_mu(pair) >= pure_mu(epsilon, variation) * (1 - 1e-6)


Cells = tuple[np.ndarray, np.ndarray]


def laplace_cells(scale: float) -> Cells:
    """Laplace noise around 0 and 1, in cells of a grid that contains both centres; rest at ends."""
    edges = np.linspace(-8.0, 9.0, 17 * 64 + 1)
    middles, width = (edges[1:] + edges[:-1]) / 2, edges[1] - edges[0]

    def chances(centre: float) -> np.ndarray:
        inside = np.exp(-np.abs(middles - centre) / scale) * math.sinh(width / scale / 2)
        ends = np.exp(-np.abs(edges[[0, -1]] - centre) / scale) / 2
        return np.concatenate([ends[:1], inside, ends[1:]])

    return chances(0.0), chances(1.0)


def staircase_cells(epsilon: float) -> Cells:
    """Noise that falls by e^-ε at γ + k and is constant in between, around 0 and 1."""
    steps, width = 64, 60
    gamma = 20 / steps
    places = (np.arange(-width * steps, (width + 1) * steps) + 0.5) / steps

    def chances(centre: float) -> np.ndarray:
        distance = np.abs(places - centre)
        return np.exp(-epsilon * np.ceil(np.maximum(distance - gamma, 0.0)))

    first, second = chances(0.0), chances(1.0)
    return first / first.sum(), second / second.sum()


def window_cells(epsilon: float) -> Cells:
    """Uniform on [0, 1), and denser by e^ε in a window that moves with the value."""
    cells, length = 1000, 200
    first, second = np.ones(cells), np.ones(cells)
    first[:length] = second[length // 2 : length // 2 + length] = math.exp(epsilon)
    return first / first.sum(), second / second.sum()


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("kind", [laplace_cells, staircase_cells, window_cells])
def test_mechanisms_lose_no_more_and_those_with_two_levels_that_much(
    kind: object, epsilon: float
) -> None:
    first, second = kind(1 / epsilon if kind is laplace_cells else epsilon)  # type: ignore[operator]
    variation = float(np.abs(first - second).sum() / 2) * (1 + 1e-12)
    sharp = kind is window_cells
    for fraction in FRACTIONS:
        ratio = math.exp(fraction * epsilon)
        exact = float(np.maximum(first - ratio * second, 0).sum())
        bound = pure_delta(epsilon, variation, fraction * epsilon)
        assert bound * (1 - 1e-9 if sharp else 0) - 1e-13 <= exact <= bound * (1 + 1e-12) + 1e-13
    for order in (1.1, 2.0, 8.0):
        moment = float((first * (first / second) ** (order - 1)).sum())
        exact = math.log(moment) / (order - 1)
        bound = pure_renyi(epsilon, variation, order)
        assert bound * (1 - 1e-9 if sharp else 0) <= exact <= bound * (1 + 1e-11)
        assert exact <= order * pure_rho(epsilon, variation) * (1 + 1e-11)
