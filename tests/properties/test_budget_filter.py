"""No analyst gets more out of a budget than it allows, and no release costs more than its epsilon.

The oracle tries every strategy: an analyst who sees each output chooses the next release, or stops.
"""

import math
from functools import cache
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from inbounds.accounting.budget import Budget
from inbounds.accounting.composition import compose
from inbounds.accounting.cost import Cost, exact
from inbounds.accounting.order import orders
from inbounds.loss import PrivacyLoss
from inbounds.pure import likely, pure_rho

STEP = 0.125  # of losses, so that all paths meet in few places
Kind = tuple[int, float]
"""Epsilon in steps, and the total variation: losses of ε, 0 and -ε, the worst pair for both."""

MENUS: list[list[Kind]] = [
    [(2, math.tanh(0.125)), (12, 0.004)],  # randomised response, and rare large losses
    [(1, math.tanh(0.0625)), (4, 0.05), (16, 0.001)],
    [(8, 0.02), (3, math.tanh(3 * STEP / 2))],
]


def cost(kind: Kind) -> Cost:
    epsilon, variation = kind[0] * STEP, kind[1]
    rho = pure_rho(epsilon, variation)
    return Cost.of(PrivacyLoss(epsilon, math.inf, rho, ()))


def chances(kind: Kind) -> list[tuple[int, float]]:
    """The losses in steps, and their probabilities, rounded in no particular direction."""
    epsilon = kind[0] * STEP
    up = likely(epsilon, kind[1])
    down = up * math.exp(-epsilon)
    return [(kind[0], up), (0, max(0.0, 1 - up - down)), (-kind[0], down)]


def largest_delta(budget: Budget, menu: list[Kind], most: int) -> float:
    """Return the delta that the best strategy reaches, with at most so many releases of each."""
    costs = [cost(kind) for kind in menu]
    reach = most * sum(kind[0] for kind in menu)
    losses = np.arange(-reach, reach + 1) * STEP
    stopped = np.maximum(0.0, -np.expm1(budget.pair[0] - losses))

    def best(first: int) -> float:
        @cache
        def admitted(state: tuple[int, ...]) -> bool:
            order = [first, *(k for k in range(len(menu)) if k != first)]
            return budget.admits([(costs[k], state[k]) for k in order if state[k]])

        values: dict[tuple[int, ...], np.ndarray] = {}
        states = sorted(product(range(most + 1), repeat=len(menu)), key=sum, reverse=True)
        for state in states:
            if not state[first] or not admitted(state):
                continue
            value = stopped.copy()
            for k, kind in enumerate(menu):
                after = values.get(tuple(n + (j == k) for j, n in enumerate(state)))
                if after is not None:
                    value = np.maximum(value, expected(after, kind))
            values[state] = value
        start = values.get(tuple(int(j == first) for j in range(len(menu))))
        return 0.0 if start is None else float(expected(start, menu[first])[reach])

    return max(best(first) for first in range(len(menu)))


def expected(after: np.ndarray, kind: Kind) -> np.ndarray:
    """Return the mean of a value over the outputs of a release, at every loss before it."""
    total = np.zeros(after.size)
    for shift, chance in chances(kind):
        places = np.clip(np.arange(after.size) + shift, 0, after.size - 1)
        total += chance * after[places]
    return total


@pytest.mark.parametrize("menu", MENUS)
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.1), (1.5, 0.02), (0.5, 0.3), (2.0, 1e-3)])
def test_no_strategy_exceeds_the_budget(menu: list[Kind], epsilon: float, delta: float) -> None:
    for one_order in (False, True):
        budget = Budget(epsilon, delta, one_order=one_order)
        assert largest_delta(budget, menu, most=24 // len(menu)) <= delta * (1 + 1e-9)


def test_the_oracle_finds_strategies_that_exceed_a_budget() -> None:
    """A filter for half as much again is found out, so the test above has power."""
    too_much = Budget(1.5, 0.1)

    class Deceived(Budget):
        def admits(self, spent: object) -> bool:
            return too_much.admits(spent)  # type: ignore[arg-type]

    assert largest_delta(Deceived(1.0, 0.1), MENUS[2], most=12) > 0.1


budgets = st.builds(Budget, st.floats(1e-3, 50), st.floats(1e-12, 0.3), one_order=st.booleans())
epsilons = st.one_of(st.floats(1e-6, 60), st.just(math.inf))


@st.composite
def releases(draw: st.DrawFn) -> Cost:
    epsilon = draw(epsilons)
    rho = draw(st.floats(1e-9, 2.0) if epsilon == math.inf else st.floats(1e-9, 2.0) | st.just(9e9))
    points = ((0.0, 0.5), (draw(st.floats(1e-3, 50)), draw(st.floats(0, 1e-6))))
    profile = points if epsilon < math.inf and draw(st.booleans()) else ()
    return Cost.of(PrivacyLoss(epsilon, math.inf, rho, profile))


spending = st.lists(st.tuples(releases(), st.integers(1, 5)), max_size=6)


@settings(max_examples=150)
@given(budgets, spending, releases(), st.integers(1, 4))
def test_no_release_costs_more_than_its_pure_epsilon(
    budget: Budget, spent: list[tuple[Cost, int]], new: Cost, count: int
) -> None:
    assume(not (budget.one_order and any(cost.loss.profile for cost, _ in spent)))
    before, after = budget.spent(spent), budget.spent([*spent, (new, count)])
    if math.isfinite(new.epsilon):
        assert after <= before + count * exact(new.epsilon) or before == math.inf
    assert after >= before or not spent
    assert budget.admits([*spent, (new, count)]) == (after <= exact(budget.pair[0]))


@settings(max_examples=150)
@given(budgets, spending, st.floats(0, 1))
def test_whatever_pure_epsilon_remains_fits(
    budget: Budget, spent: list[tuple[Cost, int]], part: float
) -> None:
    left = budget.left(spent).epsilon or 0.0
    if (epsilon := left * part) > 0:
        pure = Cost.of(PrivacyLoss(epsilon, math.inf, math.inf, ()))
        assert budget.admits([*spent, (pure, 1)])


@settings(max_examples=100)
@given(st.floats(1e-6, 1e9), st.floats(1e-300, 0.999), st.booleans())
def test_the_room_at_every_order_gives_epsilon_and_delta(
    epsilon: float, delta: float, several: bool
) -> None:
    with mpmath.workdps(60):
        total = mpmath.mpf(0)
        for order in orders(epsilon, delta, several=several):
            if not order.room:
                continue
            rest = mpmath.mpf(order.rest.numerator) / order.rest.denominator
            room = mpmath.mpf(order.room.numerator) / order.room.denominator
            alpha = 1 + rest
            total += (rest / alpha) ** rest / alpha * mpmath.exp(rest * (room - epsilon))
        assert total <= delta


def test_several_orders_cost_little_where_all_noise_is_gaussian() -> None:
    for epsilon, delta in ((1.0, 1e-6), (0.1, 1e-9), (8.0, 1e-5)):
        one, several = (orders(epsilon, delta, several=flag)[0] for flag in (False, True))
        rhos = [float(order.room / (1 + order.rest)) for order in (one, several)]
        assert 0.998 * rhos[0] < rhos[1] < rhos[0]


def test_after_gaussian_noise_a_pure_release_costs_its_epsilon() -> None:
    """It cost 0.22 once, for a pure epsilon of 0.1."""
    budget = Budget(1.0, 1e-6)
    noise, pure = (
        Cost.of(PrivacyLoss(23.6, math.inf, 0.003, ())),
        Cost.stated(0.1, None, None, None),
    )
    before, after = budget.spent([(noise, 1)]), budget.spent([(noise, 1), (pure, 1)])
    assert after - before == exact(0.1)
    assert budget.spent([(noise, 2)]) - before < exact(0.2)


LOSSES = st.one_of(
    st.floats(1e-4, 0.5).map(PrivacyLoss.concentrated),
    st.floats(1e-3, 1.0).map(lambda mu: PrivacyLoss(math.inf, mu, mu * mu / 2, ())),
    st.floats(1e-3, 2.0).map(PrivacyLoss.pure),
    st.floats(1e-3, 2.0).map(lambda epsilon: PrivacyLoss(epsilon, math.inf, math.inf, ())),
)


@settings(max_examples=20)
@given(st.lists(LOSSES, min_size=1, max_size=4), st.floats(1e-3, 1.0), st.booleans())
def test_composed_with_others_a_pure_release_costs_at_most_its_epsilon(
    losses: list[PrivacyLoss], epsilon: float, known: bool
) -> None:
    pure = PrivacyLoss.pure(epsilon) if known else PrivacyLoss(epsilon, math.inf, math.inf, ())
    for delta in (1e-3, 1e-6):
        alone, both = compose(losses).epsilon(delta), compose([*losses, pure]).epsilon(delta)
        assert both <= (alone + epsilon) * (1 + 1e-4) + 1e-6
        assert both >= alone * (1 - 1e-3) - 1e-6
