"""The compiled staircase: every place of every table, and the bits of the plain code."""

import math
from typing import Any

import numpy as np
import pytest

from inbounds.sampling import blocks, staircase_kernel
from inbounds.sampling.entropy import SYSTEM, SeededEntropy
from inbounds.sampling.lattice import Lattice
from inbounds.sampling.outcome import PLACE_SHIFT
from inbounds.sampling.staircase import StaircaseSampler
from inbounds.sampling.staircase_noise import StaircaseNoise
from inbounds.sampling.step_lattice import StepLattice

LATTICES = [
    (Lattice.fit(0.0, 1.0, 0.1, 1.0), 1.0),
    (Lattice.fit(-3.0, 5.0, 8.0, 0.2), 0.2),
    (Lattice.fit(0.0, 1.0, 1e-9, 1e-6), 1e-6),  # several digits
    (Lattice.fit(1e9, 1e9 + 1e-3, 1e-4, 7.0), 7.0),
    (Lattice.fit(-1e308, 7e307, 1e300, 3.0), 3.0),
    (StepLattice.fit(0.0, 1000.0, 1.0, 1.0, 2.0), 2.0),
    (StepLattice.fit(0.0, 1.0, 0.01, 0.3, 0.1), 0.1),
    (StepLattice.fit(-5e5, 5e5, 1.0, 777.0, 1e-6), 1e-6),
]
each = pytest.mark.parametrize(("lattice", "epsilon"), LATTICES, ids=repr)


@each
def test_the_numbers_beside_every_limit_of_every_table_lead_where_its_integers_say(
    lattice: Lattice | StepLattice, epsilon: float
) -> None:
    """Within a place there is one limit, so this fixes the outcome of all 2³² numbers."""
    noise = StaircaseNoise(lattice, epsilon)
    limits, parts, masks, turns = noise.tables
    tables = [noise.blocks.table, *(digit.table for digit in noise.digits)]
    first = np.arange(1024, dtype=np.int64) << PLACE_SHIFT
    last = first + (1 << PLACE_SHIFT) - 1
    for which, table in enumerate(tables):
        own = limits[which].astype(np.int64)
        numbers = np.concatenate([first, last, np.maximum(first, own - 1), np.minimum(own, last)])
        free = np.full(numbers.size, (1 << 62) - 1)
        random = np.zeros((limits.shape[0], numbers.size), np.uint32)
        random[which] = numbers
        quiet = parts.copy()  # other tables add nothing
        quiet[np.arange(len(tables)) != which] = 0
        found = np.empty(numbers.size, np.int64)
        tables_given = limits, quiet, masks, turns
        settled = staircase_kernel.draw_noise(free, random.ravel(), *tables_given, found)
        expected = parts[which][table.places(random[which])]
        assert settled == (expected >= 0).all()
        block = noise.blocks.table.places(random[0])
        expected = (expected + (masks[block] & free)) ^ (turns[block] >> 63)
        assert found.tolist() == expected.tolist()


@each
def test_cells_and_numbers_are_those_of_the_plain_code(
    lattice: Lattice | StepLattice, epsilon: float
) -> None:
    share = np.random.default_rng(1).random(3000)
    hard = [lattice.lower, lattice.upper, 0.0, 5e-324, 1e-310, -1.7e308, 1.7e308]
    values = np.array([*(lattice.lower + share * (lattice.upper - lattice.lower)), *hard])
    cells = np.empty(values.size, np.int64)
    ends = lattice.lower, lattice.upper, lattice.shift, lattice.per_unit
    staircase_kernel.find_cells(values, *ends, cells)
    assert cells.tolist() == lattice.cells(values).tolist()


@each
@pytest.mark.parametrize("stepped", [False, True])
def test_compiled_and_plain_code_give_the_same_bits(
    lattice: Lattice | StepLattice, epsilon: float, stepped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = (lattice.upper - lattice.lower) / 7 if stepped else None
    sampler, drawn = StaircaseSampler(lattice, epsilon, step), []
    share = np.random.default_rng(2).random(5000)
    values = np.append(lattice.lower + share * (lattice.upper - lattice.lower), [-math.inf, 1e308])
    for least in (1, 10**9):
        monkeypatch.setattr(blocks, "MANY", least)
        monkeypatch.setattr(blocks, "_REPAYS", 0)
        drawn.append(sampler.draw(values, SeededEntropy(5)))
    assert drawn[0].tobytes() == drawn[1].tobytes()


@pytest.mark.parametrize("kept", [3, 32])
def test_noise_that_tables_do_not_settle_is_drawn_again_from_the_same_words(kept: int) -> None:
    noise = StaircaseNoise(Lattice.fit(0.0, 1.0, 0.1, 1.0), 1.0, kept=kept)
    compiled, plain = (
        noise.draw(300, SeededEntropy(3), kernel) for kernel in (staircase_kernel, None)
    )
    assert compiled.tolist() == plain.tolist()


@pytest.mark.parametrize("kind", [np.int8, np.float32, np.int64, np.uint64, object])
def test_numbers_of_any_type_give_the_same_bits(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    base = 2**60 if np.dtype(kind).itemsize == 8 else 0
    sampler = StaircaseSampler(Lattice.fit(float(base), float(base + 2**20), 4096.0, 1.0), 1.0)
    values, drawn = np.array([base + i for i in range(100)], object).astype(kind), []
    for least in (1, 10**9):
        monkeypatch.setattr(blocks, "MANY", least)
        monkeypatch.setattr(blocks, "_REPAYS", 0)
        drawn.append(sampler.draw(values, SeededEntropy(5)))
    assert drawn[0].tobytes() == drawn[1].tobytes()


def test_indices_stay_in_the_box_whatever_the_noise() -> None:
    cells, noise = np.array([0, 5, 9, 9]), np.array([-(2**60), 2, 2**60, -1])
    staircase_kernel.add_noise(cells, noise, 10)
    assert cells.tolist() == [0, 8, 10, 9]
    drawn = StaircaseSampler(Lattice.fit(0.0, 1.0, 1.0, 0.1), 0.1).draw(np.zeros(1 << 19), SYSTEM)
    assert (drawn.min(), drawn.max()) == (0.0, 1.0)
