import math
import subprocess
import sys
from typing import Any

import dp_accounting
import pytest
from dp_accounting.pld import PLDAccountant

import inbounds as ib
from inbounds.accounting.composition import Composition, compose
from inbounds.calibration.approximate import gaussian_delta
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.loss import PrivacyLoss
from inbounds.unit import Unit

PURE, APPROXIMATE = PrivacyLoss.pure(0.5), PrivacyLoss.approximate(0.5, 1e-7)


def plain_gaussian(noise: float, times: int, delta: float) -> float:
    """Epsilon by dp-accounting of a Gaussian that is not truncated; coarser where it is large."""
    mu = math.sqrt(times) / noise
    accountant = PLDAccountant(value_discretization_interval=1e-4 * max(1.0, mu * mu))
    accountant.compose(dp_accounting.GaussianDpEvent(noise), times)
    return float(accountant.get_epsilon(delta))


@pytest.mark.parametrize(("width", "sigma"), [(1, 1.0), (10, 2.75), (100, 20.0), (1000, 8.0)])
@pytest.mark.parametrize("times", [1, 10, 100, 1000])
def test_equal_releases_cost_no_more_than_basic_composition_or_a_plain_gaussian(
    width: int, sigma: float, times: int
) -> None:
    m = ib.BoundedGaussian(ib.Box(0, width), 1, sigma=sigma)
    spent = compose([(m, times)]).epsilon(1e-6)
    assert 0 < spent <= times * m.epsilon * (1 + 1e-12)
    assert spent <= plain_gaussian(sigma, times, 1e-6) * (1 + 1e-11)


def test_truncation_makes_many_releases_cheaper_than_a_plain_gaussian() -> None:
    m = ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=1.0)
    assert compose([(m, 100)]).epsilon(1e-6) < 0.2 * plain_gaussian(1.0, 100, 1e-6)


def test_mixed_mechanisms_cost_no_more_than_any_bound_alone() -> None:
    mixed = [
        (ib.BoundedGaussian(ib.Box(0, 10), 1, sigma=4.0), 10),
        (ib.BoundedLaplace(ib.Box(0, 1), 0.1, scale=0.5), 20),
        (ib.ClampedGaussian(ib.Box(0, 10), 1, sigma=9.0), 5),
        ib.ClampedLaplace(ib.Box(0, 10), 1, scale=20.0),
    ]
    together = compose(mixed)
    assert len(together) == 36
    bounds = together.epsilons(1e-6)
    assert set(bounds) == {"basic", "optimal pure", "total variation", "zCDP", "GDP", "PLD"}
    assert together.epsilon(1e-6) == min(bounds.values()) == bounds[together.best(1e-6)]
    assert together.best(1e-6) == "PLD"
    assert bounds["PLD"] <= 1.0001 * bounds["optimal pure"] <= 1.001 * bounds["basic"]


def test_what_is_known_of_the_total_variation_makes_laplace_noise_cheaper() -> None:
    m = ib.ClampedLaplace.calibrated(ib.Box([0, 0], [1, 1]), ib.L1(1.0), epsilon=1.0)
    bounds = compose([(m, 30)]).deltas(16.0)
    assert bounds["total variation"] < 0.7 * bounds["optimal pure"]
    assert bounds["total variation"] == pytest.approx(bounds["PLD"], rel=1e-2)


def test_pure_releases_have_an_exact_cost_that_is_never_above_the_other_pure_bounds() -> None:
    for losses in ([(PURE, 40)], [(PURE, 10), (PrivacyLoss.pure(0.25), 8)]):
        together = compose(losses)
        for delta in (1e-12, 1e-6, 1e-2):
            epsilons = together.epsilons(delta)
            assert epsilons["total variation"] <= min(epsilons["basic"], epsilons["zCDP"])
            assert epsilons["total variation"] <= epsilons["optimal pure"] * (1 + 1e-9)
        assert together.deltas(together.pure)["total variation"] < 1e-15


def test_a_total_variation_counts_only_if_every_pure_epsilon_is_known() -> None:
    assert "total variation" not in compose([PURE, APPROXIMATE]).deltas(1.0)
    assert "total variation" not in compose([PURE, PrivacyLoss.concentrated(0.1)]).deltas(1.0)
    unknown = PrivacyLoss(0.5, math.inf, PURE.rho, ())
    assert "total variation" not in compose([PURE, unknown]).deltas(1.0)
    equal = PrivacyLoss(0.5, math.inf, math.inf, ((0.0, 0.0),))  # nobody can tell neighbours apart
    assert compose([(equal, 3)]).delta(0.0) == 0


def test_a_group_is_at_most_as_many_times_further_apart() -> None:
    near = PrivacyLoss(1.0, math.inf, math.inf, ((0.0, 0.05), (1.0, 0.0)))
    for count in (2, 5, 40):
        group = near.for_group(count)
        variation = min(count * 0.05, math.tanh(count / 2))
        assert variation <= group.profile[0][1] <= variation * (1 + 1e-9)
        assert group.rho <= PrivacyLoss.pure(count * 1.0).rho


def test_totals_add_up() -> None:
    together = compose([(PURE, 3), PrivacyLoss.pure(0.25)])
    assert together.pure == pytest.approx(1.75, rel=1e-12)
    assert together.rho == pytest.approx(3 * PURE.rho + 0.25 * math.tanh(0.125), rel=1e-11)
    squares = 3 * PURE.mu**2 + PrivacyLoss.pure(0.25).mu ** 2
    assert together.gdp == pytest.approx(math.sqrt(squares), rel=1e-12)
    assert together.pure >= 1.75
    assert together.gdp**2 >= squares


@pytest.mark.parametrize("times", [1, 7, 10**6])
def test_gaussian_bounds_compose_to_the_gaussian(times: int) -> None:
    loss = PrivacyLoss(math.inf, 0.01, math.inf, ())
    together = compose([(loss, times)])
    exact = gaussian_delta(0.01 * math.sqrt(times), 0.02)
    assert exact <= together.delta(0.02) <= exact * (1 + 1e-9)
    assert together.best(1e-6) == "GDP"


def test_one_release_costs_what_it_says() -> None:
    together = compose([PURE])
    assert together.pure == 0.5
    assert together.epsilon(0.0) == 0.5
    assert together.delta(0.5) == 0.0
    exact = math.exp(0.25) * math.expm1(0.25) / (1 + math.exp(0.5))
    assert exact <= together.delta(0.25) <= exact * (1 + 1e-11)


def test_nothing_costs_nothing() -> None:
    nothing = compose([])
    assert nothing == Composition(())
    assert (nothing.pure, nothing.rho, nothing.gdp, len(nothing)) == (0, 0, 0, 0)
    assert nothing.epsilon(1e-6) == nothing.epsilon(0.0) == nothing.delta(0.0) == 0
    assert nothing.epsilons(1e-6) == {"basic": 0.0}
    assert nothing.deltas(0.0) == {"basic": 0.0}
    assert nothing.best(1e-6) == "basic"


def test_a_loss_of_zero_costs_nothing_beside_others() -> None:
    free = PrivacyLoss(0.0, 0.0, 0.0, ((0.0, 0.0),))
    assert compose([free]).epsilons(1e-6)["basic"] == 0.0
    assert compose([free, PURE]).epsilon(1e-6) == pytest.approx(compose([PURE]).epsilon(1e-6))


def test_delta_vanishes_from_the_pure_epsilon_on() -> None:
    together = compose([(PURE, 10)])
    assert together.delta(together.pure) == 0.0
    assert together.delta(4.9) > 0
    assert together.deltas(together.pure)["basic"] == 0.0


def test_without_delta_only_pure_epsilon_counts() -> None:
    together = compose([(PURE, 100)])
    assert together.epsilon(0.0) == together.pure
    assert together.epsilons(0.0) == {"basic": together.pure}
    assert compose([APPROXIMATE]).epsilon(0.0) == math.inf


def test_approximate_losses_have_no_pure_epsilon_and_still_compose() -> None:
    together = compose([(APPROXIMATE, 3), PURE])
    assert together.pure == together.rho == together.gdp == math.inf
    assert together.best(1e-6) == "PLD"
    assert 1.9 < together.epsilon(1e-6) <= 2.0 + 1e-6
    assert together.epsilon(1e-7) == math.inf
    assert 3e-7 * (1 - 1e-6) < together.delta(2.0) < 3.1e-7


def test_where_only_rho_is_known_only_rho_is_used() -> None:
    together = compose([(PrivacyLoss.concentrated(0.01), 5), PURE])
    epsilons = together.epsilons(1e-6)
    assert epsilons["basic"] == math.inf
    assert together.best(1e-6) == "zCDP"
    assert set(epsilons) == {"basic", "zCDP"}


def test_epsilon_and_delta_are_each_others_inverse() -> None:
    together = compose([(PURE, 20), (PrivacyLoss.pure(0.1), 50)])
    for delta in (1e-9, 1e-6, 1e-2):
        epsilon = together.epsilon(delta)
        assert together.delta(epsilon) <= delta < together.delta(epsilon * (1 - 1e-6))


@pytest.mark.parametrize("epsilon", [1e-100, 1e-9, 1e3, 1e9])
def test_extreme_epsilons_are_bounded_by_basic_composition(epsilon: float) -> None:
    together = compose([(PrivacyLoss.pure(epsilon), 10)])
    assert 0 <= together.epsilon(1e-6) <= 10 * epsilon * (1 + 1e-12)
    assert together.delta(0.0) <= 1


@pytest.mark.parametrize("times", [0, -1, 1.0, True, "2", 10**16])
def test_a_release_is_used_a_whole_number_of_times(times: Any) -> None:
    with pytest.raises(ArgumentError, match="releases must hold counts that are whole numbers"):
        compose([(PURE, times)])


def test_only_mechanisms_and_losses_compose() -> None:
    with pytest.raises(ArgumentTypeError, match="got float"):
        compose([0.5])


@pytest.mark.parametrize("delta", [-1e-9, 1.0, math.nan])
def test_delta_must_be_a_probability_below_one(delta: float) -> None:
    for ask in (compose([PURE]).epsilon, compose([PURE]).epsilons, compose([PURE]).best):
        with pytest.raises(ArgumentError, match=r"^delta must be"):
            ask(delta)


def test_epsilon_must_not_be_negative() -> None:
    for ask in (compose([PURE]).delta, compose([PURE]).deltas):
        with pytest.raises(ArgumentError, match=r"^epsilon must be"):
            ask(-0.1)


def test_equal_losses_are_counted_together() -> None:
    m = ib.BoundedLaplace(ib.Box(0, 1), 1, scale=2.0)
    same = ib.BoundedLaplace(ib.Box(0, 1), 1, scale=2.0)
    assert compose([m, (same, 2), m.loss()]).losses == ((m.loss(), 4),)


def test_it_says_what_it_is() -> None:
    assert (
        repr(compose([(PURE, 2)])) == "Composition(releases=2, pure=1, rho=0.244919, gdp=0.882317)"
    )


def test_the_table_shows_the_totals_and_quick_bounds_that_hold():
    together = compose([(ib.BoundedGaussian(ib.Box(0, 100), 1, sigma=20.0), 100)])
    rows = dict(together._table().rows)
    assert rows["releases"] == "100"
    assert rows["pure ε"] == f"{together.pure:.6g}"
    assert float(rows["ε at δ = 1e-06, at most"]) >= together.epsilon(1e-6) * (1 - 1e-5)
    assert "<caption" in together._repr_html_()


def test_nothing_and_what_has_only_a_rho_have_tables_too():
    assert dict(compose([])._table().rows)["ε at δ = 1e-06, at most"] == "0"
    rows = dict(compose([PrivacyLoss.concentrated(0.5)])._table().rows)
    assert rows["pure ε"] == "inf"
    assert 5 < float(rows["ε at δ = 1e-06, at most"]) < 6


def test_the_table_needs_no_convolutions():
    code = (
        "import sys; sys.modules['dp_accounting'] = None; import inbounds as ib;"
        "m = ib.BoundedGaussian(ib.Box(0, 100), 1, sigma=20.0);"
        "together = ib.compose([(m, 100)]); print(together); together._repr_html_()"
    )
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert "releases" in shown.stdout


def test_as_many_releases_as_may_be_counted_have_a_cost() -> None:
    many = ib.compose([(ib.PrivacyLoss.pure(0.5), 10**15)])
    assert many.epsilon(1e-6) == many.pure >= 5e14
    assert many.delta(1.0) == 1.0


ROW, ADDED, PERSON = Unit("replace"), Unit("add-remove"), Unit("replace", "person")


def test_losses_of_different_units_are_not_added() -> None:
    with pytest.raises(ArgumentError, match=r"^releases must be about one unit") as caught:
        compose([PURE.about(ROW), PURE.about(ADDED)])
    assert "'add or remove one row' and 'replace one row'" in str(caught.value)
    assert "unit=" in (caught.value.hint or "")
    with pytest.raises(ArgumentError, match=r"^unit must be of one person"):
        compose([PURE.about(ROW)], unit=PERSON)
    with pytest.raises(ArgumentError, match=r"^unit must be of 'add-remove'"):
        compose([PURE.about(ROW)], unit=ADDED)
    with pytest.raises(ArgumentTypeError, match=r"^unit must be a Unit"):
        compose([PURE], unit="person")  # type: ignore[arg-type]


def test_losses_are_converted_to_the_unit_that_is_asked_for() -> None:
    together = compose([PURE.about(ROW), (PURE.about(ADDED), 2), PURE], unit=ROW)
    assert together.unit == ROW
    assert together.pure == pytest.approx(0.5 + 2 * 1.0 + 0.5)
    assert {loss.unit for loss, _ in together.losses} == {ROW}
    assert len(together.losses) == 2


def test_what_states_no_unit_is_counted_with_the_others() -> None:
    m = ib.BoundedLaplace.calibrated(ib.Box(0, 1), 1, epsilon=0.5)
    together = compose([m, m.loss(PERSON), m.loss()])
    assert (together.unit, len(together), len(together.losses)) == (PERSON, 3, 1)
    assert compose([m]).unit is compose([]).unit is None
    assert compose([], unit=PERSON).unit == PERSON
    assert "unit" not in repr(compose([m])) + str(compose([m]))
    assert repr(together).endswith("unit=Unit('replace', 'person'))")
    assert "replace one person" in str(together)
