from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq

from inbounds.calibration.weight import WeightTable, ratio_above, weight_table

SLOPES = [
    Fraction(1),
    Fraction(3, 7),
    Fraction(1, 16),
    Fraction(1, 1000),
    Fraction(1, 10**6),
    Fraction(39),
    Fraction(10**5),
    Fraction(1, 2**41),
]


def probes(table: WeightTable) -> list[int]:
    """Losses around zero, around the ends of blocks, and around the reach."""
    far = {block * 4096 + beside for block in range(-5, 6) for beside in (-2, -1, 0, 1)}
    ends = {side * table.reach + beside for side in (-1, 1) for beside in range(-2, 3)}
    return sorted({*range(-300, 300), *far, *ends})


@pytest.mark.parametrize("eta", SLOPES, ids=str)
def test_weights_fall_by_a_factor_of_at_most_e_to_eta(eta: Fraction) -> None:
    table = WeightTable(eta)
    with ctx.workprec(800):
        most = arb(fmpq(eta.numerator, eta.denominator)).exp()
        for loss in probes(table):
            here, beyond = table.weight(loss), table.weight(loss + 1)
            assert here >= beyond > 0
            assert arb(here) <= arb(beyond) * most


@pytest.mark.parametrize("eta", [Fraction(1), Fraction(1, 16), Fraction(1, 1000)], ids=str)
def test_weights_are_hardly_flatter_than_exponentials(eta: Fraction) -> None:
    table = WeightTable(eta)
    with ctx.workprec(800):
        for loss in probes(table):
            if abs(loss) <= table.reach:
                ideal = (-loss * arb(fmpq(eta.numerator, eta.denominator))).exp()
                assert abs(arb(table.weight(loss)) / table.weight(0) / ideal - 1) < 1e-30


def test_the_ratio_is_above_the_exponential_by_less_than_two_units() -> None:
    for eta in (Fraction(1, 3), Fraction(1, 10**9), Fraction(77)):
        with ctx.workprec(800):
            ideal = (-arb(fmpq(eta.numerator, eta.denominator))).exp() * arb((1, 192))
            assert ideal <= ratio_above(eta) <= ideal + 2


def test_a_tiny_slope_has_equal_weights() -> None:
    table = WeightTable(Fraction(1, 10**50))
    assert table.weight(-(10**9)) == table.weight(0) == table.weight(10**9)
    assert table.margin(1, Fraction(1, 40)) is None


@pytest.mark.parametrize("eta", SLOPES[:5], ids=str)
@pytest.mark.parametrize("others", [1, 14, 33])
def test_the_margin_is_the_least_loss_that_is_light_enough(eta: Fraction, others: int) -> None:
    table, share = WeightTable(eta), Fraction(1, 40)
    margin = table.margin(others, share)
    assert margin is not None
    assert others * table.weight(margin) <= share * table.weight(0)
    assert others * table.weight(margin - 1) > share * table.weight(0)


def test_nothing_to_outweigh_needs_no_margin() -> None:
    assert WeightTable(Fraction(1)).margin(0, Fraction(1, 40)) == 0


def test_tables_of_one_slope_are_one_table() -> None:
    assert weight_table(Fraction(2, 4)) is weight_table(Fraction(1, 2))
