"""Dynamic programming against all level functions, one by one, in exact rationals."""

import itertools
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from inbounds.calibration.level_function import least_levels, least_sum, least_sum_below


def level_functions(size: int, reach: int) -> Iterator[tuple[int, ...]]:
    for steps in itertools.product((-1, 0, 1), repeat=size - 1):
        levels = tuple(itertools.accumulate(steps, initial=0))
        if is_level_function(levels, reach):
            yield levels


def is_level_function(levels: tuple[int, ...], reach: int) -> bool:
    pairs = itertools.combinations(range(len(levels)), 2)
    return all(abs(levels[i] - levels[j]) <= 1 for i, j in pairs if j - i <= reach)


def weighted(levels: tuple[int, ...], costs: list[int], ratio: Fraction) -> Fraction:
    return sum(
        ratio ** (level - levels[0]) * cost for level, cost in zip(levels, costs, strict=True)
    )


@pytest.mark.parametrize("size", range(1, 7))
@pytest.mark.parametrize("ratio", [1.25, 7.5])
def test_the_least_sum_is_that_of_all_level_functions(size: int, ratio: float) -> None:
    generator = np.random.default_rng(size)
    for reach in range(1, size + 2):
        functions = list(level_functions(size, reach))
        costs = generator.integers(-40, 60, size=(size, 20))
        found = least_sum(costs.astype(float), reach, ratio)
        levels = least_levels(costs.astype(float), reach, ratio)
        for column, value, chosen in zip(costs.T.tolist(), found, levels.tolist(), strict=True):
            least = min(weighted(f, column, Fraction(ratio)) for f in functions)
            assert value == pytest.approx(float(least), abs=1e-9)
            assert is_level_function(tuple(chosen), reach)
            reached = weighted(tuple(chosen), column, Fraction(ratio))
            assert float(reached) == pytest.approx(float(least), abs=1e-9)
            scaled = least_sum_below([cost << 100 for cost in column], reach, Fraction(ratio))
            assert 0 <= least - Fraction(scaled, 1 << 100) < Fraction(1, 1 << 80)


def test_a_wait_that_ends_at_the_last_place_is_found() -> None:
    costs = np.array([[1.0], [1.0], [1.0], [1.0], [-9.0]])
    # down or up twice needs `reach` places between the steps: 1, 1, E, E, E² only for reach 2
    assert least_sum(costs, 2, 2.0) == min(
        float(weighted(f, [1, 1, 1, 1, -9], Fraction(2))) for f in level_functions(5, 2)
    )


def test_a_thousand_places_give_what_whole_numbers_give() -> None:
    generator = np.random.default_rng(5)
    costs = generator.integers(-900, 1000, size=1000).tolist()
    exact = least_sum_below([cost << 128 for cost in costs], 40, Fraction(1.5))
    value = least_sum(np.array(costs, dtype=float)[:, None], 40, 1.5)[0]
    assert value == pytest.approx(exact / 2**128, rel=1e-11)
