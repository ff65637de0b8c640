"""Losses for other units, against every pair of small data sets and every output."""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache

import mpmath
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from hypothesis import given, settings
from hypothesis import strategies as st

from inbounds.loss import PrivacyLoss
from inbounds.unit import Unit

Data = tuple[int, ...]  # a multiset of values, in order
Chances = tuple[float, ...]  # of every output
LARGEST_SIZE = 3
DATA_SETS = [
    data
    for size in range(LARGEST_SIZE + 1)
    for data in itertools.combinations_with_replacement(range(2), size)
]
EPSILONS = (0.0, 0.2, 0.5, 1.0, 2.0)
ORDERS = (1.01, 1.5, 2.0, 5.0, 20.0, 100.0)


def are_neighbours(x: Data, y: Data, unit: Unit) -> bool:
    """By the definition, without a word of the code that is tested."""
    only_x, only_y = Counter(x) - Counter(y), Counter(y) - Counter(x)
    if unit.change == "replace":
        return len(x) == len(y) and only_x.total() <= unit.count
    return only_x.total() + only_y.total() <= unit.count


def pairs(unit: Unit) -> list[tuple[Data, Data]]:
    every = itertools.product(DATA_SETS, repeat=2)
    return [(x, y) for x, y in every if are_neighbours(x, y, unit)]


def exact_delta(p: Chances, q: Chances, epsilon: float) -> float:
    return math.fsum(max(0.0, a - math.exp(epsilon) * b) for a, b in zip(p, q, strict=True))


def exact_renyi(p: Chances, q: Chances, alpha: float) -> float:
    terms = [alpha * math.log(a) + (1 - alpha) * math.log(b) for a, b in zip(p, q, strict=True)]
    return float(np.logaddexp.reduce(terms)) / (alpha - 1)


def brute_force(outputs: dict[Data, Chances], unit: Unit) -> PrivacyLoss:
    """The smallest loss for the unit; rho as far as the orders that are looked at show it."""
    both = [(outputs[x], outputs[y]) for x, y in pairs(unit)]
    pure = max(math.log(a / b) for p, q in both for a, b in zip(p, q, strict=True))
    rho = max(exact_renyi(p, q, alpha) / alpha for p, q in both for alpha in orders())
    points = tuple((e, max(exact_delta(p, q, e) for p, q in both)) for e in EPSILONS)
    return PrivacyLoss(pure, math.inf, rho, points, unit)


@cache
def orders() -> tuple[float, ...]:
    """Every order that a proof for one of ORDERS may ask for, up to a group of 6."""
    used = set(ORDERS)
    for alpha, k in itertools.product(ORDERS, range(2, 7)):
        used |= {k * alpha}
        for j in range(2, k + 1):
            used |= {(j * alpha - 1) / (j - 1)}
    return tuple(sorted(used | set(np.geomspace(1.001, 2000, 60).tolist())))


def check(outputs: dict[Data, Chances], known: Unit, wanted: Unit) -> None:
    claimed, slack = brute_force(outputs, known).converted(wanted), 1e-9
    for x, y in pairs(wanted):
        p, q = outputs[x], outputs[y]
        ratio = max(math.log(a / b) for a, b in zip(p, q, strict=True))
        assert ratio <= claimed.epsilon + slack
        for epsilon, delta in claimed.profile:
            assert exact_delta(p, q, epsilon) <= delta + slack
        for alpha in ORDERS:
            assert exact_renyi(p, q, alpha) <= alpha * claimed.rho * (1 + 1e-2) + slack


def mechanism(weights: Iterable[list[float]]) -> dict[Data, Chances]:
    return {
        data: tuple((np.array(row) / math.fsum(row)).tolist())
        for data, row in zip(DATA_SETS, weights, strict=True)
    }


UNITS = [
    ("add-remove", 1, "replace", 1),
    ("add-remove", 2, "replace", 1),
    ("add-remove", 1, "replace", 3),
    ("add-remove", 3, "replace", 2),
    ("add-remove", 1, "add-remove", 3),
    ("add-remove", 2, "add-remove", 3),
    ("replace", 1, "replace", 3),
    ("replace", 2, "replace", 3),
    ("replace", 3, "replace", 1),
]


@pytest.mark.parametrize("units", UNITS)
@settings(max_examples=15)
@given(
    weights=st.lists(
        st.lists(st.floats(0.01, 1.0), min_size=3, max_size=3),
        min_size=len(DATA_SETS),
        max_size=len(DATA_SETS),
    )
)
def test_no_pair_of_data_sets_loses_more_than_the_converted_loss(
    units: tuple[str, int, str, int], weights: list[list[float]]
) -> None:
    known, wanted = Unit(units[0], "row", units[1]), Unit(units[2], "row", units[3])  # type: ignore[arg-type]
    check(mechanism(weights), known, wanted)


def geometric(shift: int, epsilon: float) -> Chances:
    """Noise on 0 to 3 that loses epsilon a step, with all that is outside at the ends."""
    ratio = math.exp(-epsilon)
    inside = [(1 - ratio) / (1 + ratio) * ratio ** abs(k - shift) for k in range(4)]
    inside[0], inside[-1] = ratio**shift / (1 + ratio), ratio ** (3 - shift) / (1 + ratio)
    return tuple(inside)


def test_a_histogram_loses_twice_as_much_where_rows_are_replaced() -> None:
    """So a conversion that counts a replacement once would be wrong."""
    outputs = {
        data: tuple(
            a * b for a in geometric(data.count(0), 0.5) for b in geometric(data.count(1), 0.5)
        )
        for data in DATA_SETS
    }
    known, wanted = Unit("add-remove"), Unit("replace")
    added, replaced = brute_force(outputs, known), brute_force(outputs, wanted)
    assert added.epsilon == pytest.approx(0.5)
    assert replaced.epsilon == pytest.approx(1.0)
    assert added.converted(wanted).epsilon >= replaced.epsilon - 1e-9
    check(outputs, known, wanted)


@pytest.mark.parametrize("count", [2, 3, 5])
@pytest.mark.parametrize("flip", [0.1, 0.5, 2.0])
def test_randomised_responses_of_a_group_lose_what_is_stated_at_most(
    flip: float, count: int
) -> None:
    """Each of `count` people answers by itself; all of them change."""
    said = 1 / (1 + math.exp(-flip))
    group = PrivacyLoss.pure(flip).for_group(count)
    chances = [
        (math.comb(count, k) * said**k * (1 - said) ** (count - k)) for k in range(count + 1)
    ]
    for epsilon, delta in group.profile:
        assert exact_delta(tuple(chances), tuple(chances[::-1]), epsilon) <= delta + 1e-12
    assert math.log(chances[-1] / chances[0]) == pytest.approx(group.epsilon)


def delta_of(distribution: pld.PrivacyLossDistribution) -> Callable[[float], float]:
    return lambda epsilon: float(distribution.get_delta_for_epsilon(epsilon))


@pytest.mark.parametrize("count", [2, 3, 8])
def test_dp_accounting_finds_no_larger_loss_of_a_larger_change(count: int) -> None:
    """It has no groups, but a mechanism that is `count` times as sensitive is one."""
    optimistic = {"value_discretization_interval": 1e-3, "pessimistic_estimate": False}
    one, many = (
        delta_of(pld.from_laplace_mechanism(3.0, sensitivity=s, **optimistic)) for s in (1, count)
    )
    points = tuple((e, min(1.0, one(e) + 1e-9)) for e in (0.0, 0.1, 0.2, 0.3))
    group = PrivacyLoss(1 / 3, math.inf, math.inf, points).for_group(count)
    for epsilon, delta in group.profile:
        assert many(epsilon) <= delta + 1e-3


@pytest.mark.parametrize("count", [2, 5])
def test_gaussians_far_apart_are_exactly_as_far_apart_as_is_stated(count: int) -> None:
    group = PrivacyLoss(math.inf, 0.5, 0.125, ()).for_group(count)
    far = mpmath.mpf(0.5) * count
    assert group.mu == far
    assert group.rho == far**2 / 2
