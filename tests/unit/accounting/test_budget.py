import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import inbounds as ib
from inbounds.accounting.budget import Budget
from inbounds.accounting.composition import compose
from inbounds.accounting.cost import Cost, exact
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.guarantee import Amount
from inbounds.loss import PrivacyLoss
from inbounds.unit import Unit

TENTH = Cost.of(PrivacyLoss.pure(0.1))
UNITS = st.lists(st.tuples(st.integers(1, 400), st.integers(1, 5)), min_size=1, max_size=12)


@pytest.mark.parametrize(
    "budget", [Budget(epsilon=3.0), Budget(epsilon=3.0, delta=1e-12)], ids=["pure", "approximate"]
)
def test_thirty_tenths_fit_in_three_and_a_pure_31st_does_not(budget: Budget) -> None:
    assert sum([0.1] * 30) > 2.9999999999999996  # floats alone cannot tell
    assert budget.admits([(TENTH, 30)])
    assert budget.admits([(TENTH, 29), (TENTH, 1)])
    assert not Budget(epsilon=3.0).admits([(TENTH, 31)])


@pytest.mark.parametrize("kind", ["epsilon", "rho"])
@given(units=UNITS, limit=st.integers(1, 4000))
def test_a_budget_adds_up_like_whole_numbers(
    kind: str, units: list[tuple[int, int]], limit: int
) -> None:
    make = {"epsilon": PrivacyLoss.pure, "rho": PrivacyLoss.concentrated}[kind]
    budget = Budget(**{kind: limit / 1000})
    spent = [(Cost.of(make(unit / 1000)), count) for unit, count in units]
    total = sum(unit * count for unit, count in units)
    assert budget.admits(spent) == (total <= limit)
    left = getattr(budget.left(spent), kind)
    assert left == max(limit - total, 0) / 1000


@given(st.floats(1e-9, 1e9), st.floats(1e-9, 1e9))
def test_what_is_left_can_be_spent_and_hardly_more(limit: float, first: float) -> None:
    """Twelve digits are told, so that a 10⁻¹¹ part of the budget may be left untold."""
    budget, cost = Budget(rho=limit), Cost.of(PrivacyLoss.concentrated(first))
    left = budget.left([(cost, 1)]).rho
    assert left is not None
    if left > 0:
        assert budget.admits([(cost, 1), (Cost.of(PrivacyLoss.concentrated(left)), 1)])
        more = Cost.of(PrivacyLoss.concentrated(left + 1e-11 * limit))
        assert not budget.admits([(cost, 1), (more, 1)])
    else:
        assert exact(limit) - exact(first) < Fraction(1e-11) * exact(limit)


def test_under_a_delta_composition_admits_what_addition_refuses() -> None:
    m = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 2.5, epsilon=0.1)
    budget = Budget(epsilon=1.0, delta=1e-6)
    cost = budget.cost_of(m)
    for count, fits in [(10, True), (30, True), (60, False)]:
        assert budget.admits([(cost, count)]) is fits
        assert (compose([(m, count)]).delta(1.0) <= 1e-6) is fits
    assert 0 < (budget.left([(cost, 30)]).epsilon or 0) < 0.2


def test_a_bound_that_assumes_planned_losses_does_not_admit_a_charge() -> None:
    """Composition by total variation would fit; only the sums of epsilon and rho may decide."""
    budget, mechanism = Budget(epsilon=3.0, delta=1e-6), ib.ClampedLaplace(ib.Box(0, 1), 1, 10.0)
    together = ib.compose([(mechanism, 40)])
    assert together.deltas(3.0)["total variation"] <= 1e-6 / 2
    assert together.deltas(3.0)["zCDP"] > 1e-6
    assert not budget.admits([(budget.cost_of(mechanism), 40)])
    admitted = max(n for n in range(1, 41) if budget.admits([(budget.cost_of(mechanism), n)]))
    assert ib.compose([(mechanism, admitted)]).deltas(3.0)["zCDP"] <= 1e-6


def test_under_a_delta_stated_pairs_add_up_exactly() -> None:
    budget = Budget(epsilon=1.0, delta=1e-6)
    pair = Cost.stated(0.1, 1e-7, None, None)
    assert budget.admits([(pair, 10)])
    assert 0 <= (budget.left([(pair, 10)]).epsilon or 0) < 1e-9
    assert not budget.admits([(pair, 11)])


@pytest.mark.parametrize(("epsilon", "delta"), [(0.01, 5e-7), (0.5, 1e-9)])
def test_either_half_of_stated_pairs_can_use_the_budget_up(epsilon: float, delta: float) -> None:
    budget, pair = Budget(epsilon=1.0, delta=1e-6), Cost.stated(epsilon, delta, None, None)
    assert budget.admits([(pair, 2)])
    assert not budget.admits([(pair, 3)])


@pytest.mark.parametrize("mechanism", [ib.BoundedGaussian, ib.ClampedGaussian])
def test_a_mechanism_made_for_the_budget_fits_once(mechanism: type[ib.ClampedGaussian]) -> None:
    budget = Budget(epsilon=1.0, delta=1e-6)
    cost = budget.cost_of(mechanism.calibrated(ib.Box(0, 120), 2.5, epsilon=1.0, delta=1e-6))
    assert budget.admits([(cost, 1)])
    assert not budget.admits([(cost, 2)])
    worse = mechanism.calibrated(ib.Box(0, 120), 2.5, epsilon=1.0001, delta=1e-6)
    assert not budget.admits([(budget.cost_of(worse), 1)])


def test_a_mechanism_made_for_rho_fits_once() -> None:
    budget = Budget(rho=0.1)
    cost = budget.cost_of(ib.BoundedGaussian.calibrated(ib.Box(0, 120), 2.5, rho=0.1))
    assert budget.admits([(cost, 1)])
    assert not budget.admits([(cost, 2)])


def test_losses_that_no_bound_covers_together_are_refused() -> None:
    budget = Budget(epsilon=5.0, delta=1e-3)
    spent = [(Cost.stated(0.1, 1e-4, None, None), 1), (Cost.stated(None, None, 1e-6, None), 1)]
    assert all(budget.admits([one]) for one in spent)
    assert not budget.admits(spent)
    assert budget.left(spent) == Amount(epsilon=0.0, delta=9e-4)


@pytest.mark.parametrize(
    ("budget", "loss", "name"),
    [
        (Budget(epsilon=1.0), PrivacyLoss.concentrated(0.1), "epsilon"),
        (Budget(rho=1.0), PrivacyLoss.approximate(0.1, 1e-9), "rho"),
    ],
)
def test_a_loss_the_budget_cannot_count_is_refused(
    budget: Budget, loss: PrivacyLoss, name: str
) -> None:
    with pytest.raises(ArgumentError, match=f"loss must have a finite {name}"):
        budget.check(Cost.of(loss), [])


@pytest.mark.parametrize(
    "given_",
    [
        {},
        {"epsilon": 1.0, "rho": 1.0},
        {"rho": 1.0, "delta": 0.1},
        {"delta": 0.1},
        {"epsilon": 0.0},
        {"epsilon": math.inf},
        {"epsilon": math.nan},
        {"epsilon": 1.0, "delta": 1.0},
        {"epsilon": 1.0, "delta": -0.1},
        {"rho": -1.0},
    ],
)
def test_impossible_budgets_are_refused(given_: dict[str, float]) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError)):
        Budget(**given_)


def test_a_delta_of_zero_is_a_pure_budget() -> None:
    assert Budget(epsilon=1, delta=0) == Budget(epsilon=1.0)


@pytest.mark.parametrize(
    "arguments",
    [
        (None, None, None, None),
        (None, 1e-6, None, None),
        (1.0, None, 1.0, None),
        (None, 0.1, 1.0, None),
        (1.0, None, None, PrivacyLoss.pure(1.0)),
        (-1.0, None, None, None),
    ],
)
def test_a_cost_is_stated_in_exactly_one_way(arguments: tuple[float, ...]) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError)):
        Cost.stated(*arguments)  # type: ignore[arg-type]


def test_only_a_loss_is_read_as_a_loss() -> None:
    with pytest.raises(ArgumentTypeError, match="loss must be a PrivacyLoss, got float"):
        Cost.stated(None, None, None, 0.1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "loss",
    [PrivacyLoss.pure(0.1), PrivacyLoss.approximate(0.5, 1e-6), PrivacyLoss.concentrated(0.3)],
)
def test_a_cost_survives_being_written(loss: PrivacyLoss) -> None:
    cost = Cost.of(loss)
    assert Cost.from_json(cost.to_json()) == cost


def test_an_endless_cost_is_refused_without_an_overflow() -> None:
    budget = Budget(epsilon=1.0)
    cost = Cost.of(PrivacyLoss(1e308, math.inf, math.inf, ()))
    assert not budget.admits([(cost, 100)])
    assert budget.asked(cost, 100) == Amount(epsilon=math.inf)


def test_the_first_charge_decides_whether_pairs_add_up_or_rhos() -> None:
    budget = Budget(epsilon=1.0, delta=1e-6)
    pure, pair = Cost.of(PrivacyLoss.pure(0.1)), Cost.stated(0.1, 1e-7, None, None)
    assert budget.admits([(pair, 1), (pure, 9)])
    assert not budget.admits([(pair, 1), (pure, 10)])
    assert not budget.admits([(pure, 1), (pair, 1)])
    budget.check(pair, [(pair, 1)])
    with pytest.raises(ArgumentError, match="delta must be 0 for this budget"):
        budget.check(pair, [(pure, 1)])


def test_the_filter_uses_no_bound_that_needs_losses_planned_beforehand() -> None:
    mechanism = ib.BoundedGaussian(ib.Box(0, 10), 1, sigma=2.75)
    budget = Budget(epsilon=4.8, delta=1e-6)
    cost = budget.cost_of(mechanism)
    assert ib.compose([(mechanism, 10)]).epsilon(1e-6) < 4.8  # by convolution
    assert ib.compose([(mechanism, 10)]).epsilons(1e-6)["zCDP"] > 4.8
    assert not budget.admits([(cost, 10)])
    assert Budget(epsilon=5.1, delta=1e-6).admits([(cost, 10)])


def test_a_pure_budget_takes_no_charge_with_a_delta() -> None:
    budget, pair = Budget(epsilon=1.0), Cost.stated(0.1, 0.5, None, None)
    assert not budget.admits([(pair, 1)])
    with pytest.raises(ArgumentError, match="delta must be 0 to be charged"):
        budget.check(pair, [])


@pytest.mark.parametrize("epsilon", [0.1, 0.7, 1 / 3, 1e-300, 5e-324, 1e308, math.inf])
@pytest.mark.parametrize("count", [1, 2, 3, 7, 10**15])
def test_a_converted_cost_is_multiplied_as_a_decimal_and_never_down(
    epsilon: float, count: int
) -> None:
    loss = PrivacyLoss(epsilon, math.inf, math.inf, (), Unit("replace"))
    cost = Cost.of(loss).counted_in(Unit("replace", "row", count))
    if math.isfinite(cost.epsilon):
        assert exact(cost.epsilon) >= count * exact(epsilon)
        assert exact(math.nextafter(cost.epsilon, 0.0)) < count * exact(epsilon)
    else:
        assert epsilon > 1e292


def test_a_pair_is_converted_with_its_delta() -> None:
    cost = Cost.stated(0.5, 1e-6, None, None, Unit("add-remove")).counted_in(Unit("replace"))
    assert cost.epsilon == 1.0
    assert cost.delta == pytest.approx(1e-6 * (1 + math.exp(0.5)))
    assert cost.delta >= 1e-6 * (1 + math.exp(0.5))
    assert cost.loss.unit == Unit("replace")


def test_a_first_release_that_fits_at_an_order_is_not_counted_by_its_profile() -> None:
    """Either rule may use all of delta, so the first release decides which of them counts."""
    budget = Budget(epsilon=1.0, delta=1e-6)
    profile = ((0.0, 0.1), (0.25, 1e-6))
    small, large = (Cost.of(PrivacyLoss(50.0, math.inf, rho, profile)) for rho in (0.005, 5.0))
    pure = Cost.of(PrivacyLoss.pure(0.5))
    assert budget.spent([(large, 1)]) == exact(0.25)
    assert budget.spent([(large, 1), (pure, 1)]) == exact(0.75)
    assert budget.spent([(small, 1)]) > exact(0.25)
    assert not budget.admits([(large, 1), (small, 1)])  # once out of every order, always
    assert not budget.admits([(large, 2)])
    old = Budget(epsilon=1.0, delta=1e-6, one_order=True)
    assert old.admits([(large, 1)])
    assert not old.admits([(large, 1), (pure, 1)])


def test_what_is_asked_is_priced_after_what_was_spent() -> None:
    budget = Budget(epsilon=1.0, delta=1e-6)
    noise = Cost.of(PrivacyLoss(50.0, math.inf, 0.001, ()))
    first, second = budget.asked(noise, 1), budget.asked(noise, 1, [(noise, 1)])
    assert (second.epsilon or 0) < (first.epsilon or 0)
    assert first.delta == second.delta == 1e-6
    assert budget.asked(Cost.of(PrivacyLoss(math.inf, math.inf, math.inf, ())), 1) == Amount(
        epsilon=math.inf, delta=1e-6
    )


def test_a_delta_that_was_charged_is_not_left() -> None:
    budget = Budget(epsilon=3.0, delta=1e-6)
    pair = Cost.stated(0.1, 4e-7, None, None)
    assert budget.left([(pair, 1)]) == Amount(epsilon=2.9, delta=6e-7)
    pure = Cost.of(PrivacyLoss.pure(0.1))
    assert budget.left([(pure, 1)]).delta == 1e-6
    left = budget.left([(pair, 1), (pure, 1), (pair, 1)])
    assert (left.epsilon, left.delta) == (pytest.approx(2.7), pytest.approx(2e-7))
