"""The compiled steps of a table: cells, roundings and outputs against exact arithmetic."""

import math
from bisect import bisect_right
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from inbounds.calibration.levels import design
from inbounds.sampling import blocks, point, table, table_kernel
from inbounds.sampling.alias import AliasTable
from inbounds.sampling.entropy import SYSTEM, SeededEntropy
from inbounds.sampling.offset import nudge
from inbounds.sampling.table import _MARGIN, TableSampler

BOXES = [(0.0, 1.0, 0.25), (17.99, 41.565, 3.41), (-3.0, 1e-3, 3.1), (1e9, 1e9 + 1e-3, 1e-3)]
OBJECTIVES: list[Any] = ["average", "worst", "unbiased"]


def sampler_of(box: tuple[float, float, float], objective: Any) -> TableSampler:
    made = design(*box, 1.0, objective).table
    knots = made.kind == "knots"
    return TableSampler(
        *(made.lower, made.upper, made.boundaries, knots), *(made.rows, made.outputs)
    )


def hard_values(sampler: TableSampler) -> list[float]:
    ends = [*sampler.boundaries, 0.0, 5e-324, 1e-310, -1.7e308, 1.7e308]
    near = [math.nextafter(end, side) for end in ends for side in (-math.inf, math.inf)]
    rng = np.random.default_rng(2)
    return [*ends, *near, *rng.uniform(sampler.lower, sampler.upper, 300).tolist()]


def clamped(sampler: TableSampler, value: float) -> float:
    return min(max(value, sampler.lower), sampler.upper)


@pytest.mark.parametrize("box", BOXES, ids=repr)
def test_cells_are_those_of_exact_comparisons(box: tuple[float, float, float]) -> None:
    sampler = sampler_of(box, "average")
    values, buckets = hard_values(sampler), sampler._places.buckets
    assert buckets is not None
    rows = np.empty(len(values), np.intp)
    bounds = sampler.lower, sampler.upper
    table_kernel.find_cells(np.array(values), *bounds, (nudge(*bounds), *buckets), rows)
    inner = sampler.boundaries[1:-1]
    assert rows.tolist() == [bisect_right(inner, clamped(sampler, value)) for value in values]


def knots(sampler: TableSampler, value: float, word: int) -> tuple[bool, int]:
    """Return whether the kernel is certain, and its knot."""
    rows, buckets, ends = np.empty(1, np.intp), sampler._places.buckets, sampler._knots
    assert buckets is not None
    assert ends is not None
    small = nudge(sampler.lower, sampler.upper)
    certain = table_kernel.find_knots(
        *(np.array([word], np.uint64), np.array([value]), sampler.lower, sampler.upper),
        *((small, *buckets), (*ends, small, _MARGIN), rows),
    )
    return bool(certain), int(rows[0])


@pytest.mark.parametrize("objective", ["worst", "unbiased"])
@pytest.mark.parametrize("box", BOXES, ids=repr)
def test_a_certain_rounding_is_right_for_all_numbers_that_start_with_the_word(
    box: tuple[float, float, float], objective: Any
) -> None:
    """Words aim at θ, at distances from a unit of 2⁻⁶⁴ to where doubles decide."""
    sampler = sampler_of(box, objective)
    inner, certain = sampler.boundaries[1:-1], 0
    for value in hard_values(sampler):
        exact = clamped(sampler, value)
        cell = bisect_right(inner, exact)
        low, high = (Fraction(knot) for knot in sampler.boundaries[cell : cell + 2])
        theta = (Fraction(exact) - low) / (high - low)
        for move in (0, 1, -1, 2**12, -(2**12), 2**14, -(2**14), 2**15, -(2**15), 2**63):
            word = (math.floor(theta * 2**64) + move) % 2**64
            sure, row = knots(sampler, value, word)
            below, above = Fraction(word, 2**64), Fraction(word + 1, 2**64)
            if sure:
                certain += 1
                assert above <= theta or below >= theta
                assert row == cell + (above <= theta)
            else:
                assert abs(below - theta) < Fraction(_MARGIN) + Fraction(1, 2**50)
    assert certain > 1000


def test_doubles_that_cannot_tell_are_not_certain() -> None:
    sampler = TableSampler(0.0, 3.0, (0.0, 3.0), True, ((1 << 128,), (1 << 128,)), (0.0,))
    for move in (-(2**13), -1, 0, 1, 2**13):
        assert not knots(sampler, 1.0, 2**64 // 3 + move)[0]
    assert knots(sampler, 1.0, 2**64 // 3 - 2**15) == (True, 1)
    assert knots(sampler, 1.0, 2**64 // 3 + 2**15) == (True, 0)


def test_outputs_are_exact_beside_every_threshold_and_ties_are_reported() -> None:
    """Each column has one threshold, so the words beside it fix how many lead to each output."""
    rng = np.random.default_rng(3)
    cuts = [sorted(int(c) << 76 for c in rng.integers(1, 2**52, 12)) for _ in range(3)]
    rows = tuple(tuple(b - a for a, b in zip([0, *c], [*c, 1 << 128], strict=True)) for c in cuts)
    alias = AliasTable.of(rows, tuple(map(float, range(13))))
    columns = 1 << alias.bits
    for place, threshold in enumerate(alias.thresholds.tolist()):
        row, column = divmod(place, columns)
        first = column << (64 - alias.bits)
        last = first + (1 << (64 - alias.bits)) - 1
        words = sorted(
            {first, last, max(first, threshold - 1), threshold, min(last, threshold + 1)}
        )
        for word in words:
            found = np.empty(1)
            certain = table_kernel.draw_outputs(
                *(np.array([word], np.uint64), np.array([row]), alias.bits),
                *(alias.thresholds, alias.outputs, found),
            )
            assert certain == (word != threshold)
            assert word == threshold or found[0] == alias.outputs[2 * place + (word < threshold)]


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("box", BOXES, ids=repr)
def test_compiled_and_plain_code_give_the_same_bits(
    box: tuple[float, float, float], objective: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sampler = sampler_of(box, objective)
    values, drawn = np.array(hard_values(sampler) * 8), []
    for least in (1, 10**9):
        monkeypatch.setattr(blocks, "MANY", least)
        monkeypatch.setattr(blocks, "_REPAYS", 0)
        drawn.append(sampler.draw(values, SeededEntropy(5)))
    assert drawn[0].tobytes() == drawn[1].tobytes()


def test_a_block_that_words_do_not_decide_is_done_again_from_the_same_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sampler = sampler_of(BOXES[0], "worst")
    values, drawn = np.random.default_rng(4).random(1000), []
    for margin in (_MARGIN, 0.5):  # nearly every value is too close to call
        monkeypatch.setattr(table, "_MARGIN", margin)
        monkeypatch.setattr(blocks, "MANY", 1)
        monkeypatch.setattr(blocks, "_REPAYS", 0)
        drawn.append(sampler.draw(values, SeededEntropy(6)))
    assert drawn[0].tobytes() == drawn[1].tobytes()


def test_uneven_boundaries_and_extreme_gaps_take_the_plain_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(point, "FEW", 0)
    monkeypatch.setattr(blocks, "MANY", 1)
    monkeypatch.setattr(blocks, "_REPAYS", 0)
    sure = tuple(tuple((1 << 128) - 3 if i == j else 1 for j in range(4)) for i in range(4))
    cells = TableSampler(0.0, 1.0, (0.0, 1e-9, 2e-9, 0.5, 1.0), False, sure, (0.0, 0.1, 0.2, 0.3))
    values = np.array([0.0, 1e-9, 1.9e-9, 2e-9, 0.7])
    assert cells.draw(values, SYSTEM).tolist() == [0.0, 0.1, 0.1, 0.2, 0.3]
    for ends in ((0.0, 5e-324, 1.0), (-1.7e308, 1.7e308)):
        count = len(ends)
        rows = tuple(
            tuple(((1 << 128) - count + 1 if i == j else 1) for j in range(count))
            for i in range(count)
        )
        knots = TableSampler(0.0, 1.0, ends, True, rows, tuple(np.linspace(0, 1, count).tolist()))
        assert knots._knots is None
        mean = knots.draw(np.full(2000, 1.0 if count > 2 else 0.0), SeededEntropy(1)).mean()
        assert mean == (1.0 if count > 2 else pytest.approx(0.5, abs=0.06))
