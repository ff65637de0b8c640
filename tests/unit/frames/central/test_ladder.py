from fractions import Fraction

import pytest

from inbounds.frames.central.ladder import LadderEnd, places, units_per_row


@pytest.mark.parametrize("last", [1, 7, 120, 2**16])
@pytest.mark.parametrize("side", [-1, 1])
def test_a_ladder_goes_from_its_centre_to_the_end_in_order(last: int, side: int) -> None:
    for centre in {0, 1, last // 2, last}:
        ladder = places(centre, last, side)  # type: ignore[arg-type]
        assert ladder[0] == centre
        assert ladder[-1] == (last if side > 0 else 0)
        assert ladder == sorted(set(ladder), reverse=side < 0)
        assert len(ladder) <= 40


def test_a_ladder_at_the_end_of_the_grid_has_one_place() -> None:
    assert places(0, 9, -1) == [0]
    end = LadderEnd(Fraction(1, 2), Fraction(1), True, True)
    assert [w > 0 for w in end.weights([0], 10, -1)] == [True]


@pytest.mark.parametrize("m", range(2, 200))
def test_units_divide_ranks_wherever_denominators_are_small(m: int) -> None:
    units = units_per_row(Fraction(1, m))
    assert 8 <= units <= 72
    assert units % m == 0 or m > 64


@pytest.mark.parametrize("public", [True, False])
def test_a_tiny_budget_gives_the_end_of_the_grid(public: bool) -> None:
    end = LadderEnd(Fraction(1, 2), Fraction(1, 10**30), public, True)
    assert end.weights([500, 300, 0], 1000, -1) == [0, 0, 1]


def test_more_rows_give_a_nearer_end() -> None:
    def likeliest(n: int) -> int:
        beyond = [n // 2 - n * i // 40 for i in range(20)] + [0]
        weights = LadderEnd(Fraction(1, 2), Fraction(1), True, False).weights(beyond, n, -1)
        return weights.index(max(weights))

    assert likeliest(100) > likeliest(1000) >= likeliest(10**5)
