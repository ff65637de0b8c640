"""The search for evidence: as good as a program over all level functions."""

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from inbounds._types import Floats
from inbounds.calibration.limit_lattice import ValueLattice, least_ratio
from inbounds.calibration.limit_margin import proved
from inbounds.calibration.limit_search import UnbiasedSearch, WeightedSearch, WorstSearch


def all_columns(size: int, reach: int, epsilon: float) -> Floats:
    found = set()
    for steps in itertools.product((-1, 0, 1), repeat=size - 1):
        levels = tuple(itertools.accumulate(steps, initial=0))
        pairs = itertools.combinations(range(size), 2)
        if all(abs(levels[i] - levels[j]) <= 1 for i, j in pairs if j - i <= reach):
            found.add(tuple(level - max(levels) for level in levels))
    return np.exp(epsilon * np.array(sorted(found), dtype=float))


@pytest.mark.parametrize(("size", "reach", "epsilon"), [(5, 5, 1.0), (6, 2, 2.0), (7, 3, 0.7)])
def test_the_least_ratio_is_that_of_all_level_functions(
    size: int, reach: int, epsilon: float
) -> None:
    generator = np.random.default_rng(size)
    columns = all_columns(size, reach, epsilon)
    lattice = ValueLattice.of(size, reach, epsilon)
    weights = generator.uniform(0.1, 1, size)
    dual = weights, 2 * weights * lattice.places, generator.normal(size=size) + 4
    outputs = np.linspace(0, 3, 9)
    margin, _ = least_ratio(lattice, dual, outputs)
    costs = weights[:, None] * outputs**2 - np.outer(dual[1], outputs) - dual[2][:, None]
    ratios = (columns @ costs / (columns @ weights)[:, None]).min(axis=0)
    assert (ratios < 0).all()
    assert margin == pytest.approx(ratios, rel=1e-9)


@pytest.mark.parametrize(
    ("size", "reach", "epsilon"), [(5, 2, 2.0), (6, 6, 1.0), (7, 2, 1.5), (7, 4, 3.0)]
)
def test_uneven_weights_give_the_optimum_over_all_level_functions(
    size: int, reach: int, epsilon: float
) -> None:
    """Plateaus alone miss it: for weights (1, 0.01, 0.04, 0.01, 1) and the like."""
    weights = np.resize([1.0, 0.01, 0.04], size)
    weights = weights + weights[::-1]
    lattice = ValueLattice.of(size, reach, epsilon)
    search = WeightedSearch(lattice, weights, 1e-6)
    dual = search.run()
    assert dual is not None
    columns = all_columns(size, reach, epsilon)
    outputs = columns @ (weights * lattice.places) / (columns @ weights)
    costs = (columns * (lattice.places - outputs[:, None]) ** 2) @ weights
    best = linprog(costs, A_eq=columns.T, b_eq=np.ones(size), method="highs").fun / weights.sum()
    proof = proved(dual, reach, epsilon=epsilon, group=1, share=1e-4)
    assert proof is not None
    squares = float(weights @ lattice.places**2)
    bound = (float(proof.total()) + squares) / float(weights.sum())
    assert 0.999 * best <= bound <= best * (1 + 1e-9)
    assert search.optimum == pytest.approx(best, rel=1e-4)


def test_the_worst_error_is_at_least_any_average() -> None:
    lattice = ValueLattice.of(9, 4, 1.0)
    worst = WorstSearch(lattice, 1e-3).run()
    average = WeightedSearch(lattice, np.ones(9), 1e-3).run()
    assert worst is not None
    assert average is not None
    assert worst.bound > average.bound
    assert worst.weights[0] > worst.weights[1]  # the ends are the hardest


def test_unbiased_outputs_of_two_values_are_those_of_one_bit() -> None:
    places = np.array([-1.0, -0.5, 0.5, 1.0])
    search = UnbiasedSearch(ValueLattice(places, 4, 0.1), np.array([0.0, 1.0, 1.0, 0.0]), 1e-4)
    dual = search.run()
    assert dual is not None
    bit = 1 / np.tanh(0.05) ** 2 - 0.25  # outputs ±coth(ε/2), at the places ±1/2
    assert dual.bound == pytest.approx(bit, rel=0.01)


def test_evidence_with_one_value_in_the_middle_is_no_better() -> None:
    lattice = ValueLattice.of(30, 3, 2.0)
    free = WeightedSearch(lattice, np.ones(30), 1e-4).run()
    shared = WeightedSearch(lattice, np.ones(30), 1e-4, free=10).run()
    assert free is not None
    assert shared is not None
    assert np.ptp((shared.values + lattice.places**2)[10:20]) < 1e-9
    assert 0.98 * free.bound < shared.bound <= free.bound * (1 + 1e-3)
