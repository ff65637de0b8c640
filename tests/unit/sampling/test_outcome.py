"""Tables of real probabilities: every random number is counted, and the leftover settled."""

import numpy as np
import pytest
from flint import arb, ctx
from scipy import stats

from inbounds.sampling.entropy import SeededEntropy
from inbounds.sampling.outcome import BITS, OUTCOMES, OutcomeTable

PLACES = 1024
FALSE_ALARM = 1e-6


def geometric(count: int, ratio: float) -> OutcomeTable:
    return OutcomeTable(lambda: [arb(ratio) ** k for k in range(count)])


TABLES = {
    "one": OutcomeTable(lambda: [arb(7)]),
    "halves": OutcomeTable(lambda: [arb(1), arb(1)]),
    "thirds": OutcomeTable(lambda: [arb(2), arb(1)]),
    "falling": geometric(300, 0.9),
    "steep": geometric(OUTCOMES, 1e-9),
    "equal": OutcomeTable(lambda: [arb(1)] * OUTCOMES),
    "roots": OutcomeTable(lambda: [arb(k).sqrt() for k in range(1, OUTCOMES + 1)]),
    "coarse": OutcomeTable(lambda: [arb(k).sqrt() for k in range(1, 6)], kept=4),
}
each_table = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)


@each_table
def test_of_all_random_numbers_exactly_as_many_give_an_outcome_as_its_integer(
    table: OutcomeTable,
) -> None:
    per_place = 1 << BITS >> 10
    limits = table._alias[0].astype(object)
    counted = np.zeros(len(table.integers), object)
    for place in range(PLACES):
        own = limits[place] - place * per_place
        assert 0 <= own <= per_place
        counted[table.outcome[2 * place + 1]] += own
        counted[table.outcome[2 * place]] += per_place - own
    assert counted.tolist() == table.integers


@each_table
def test_the_numbers_beside_every_limit_are_on_the_right_side(table: OutcomeTable) -> None:
    limits = table._alias[0]
    for beside in (limits, limits - np.uint32(1), limits + np.uint32(1)):
        place = (beside >> np.uint32(22)).astype(np.intp)
        assert np.array_equal(table.places(beside), 2 * place + (beside < limits[place]))


@each_table
def test_integers_are_probabilities_rounded_down_and_add_up(table: OutcomeTable) -> None:
    assert sum(table.integers) == 1 << BITS
    assert min(table.integers) >= 0
    with ctx.workprec(300):
        weights = table.weights()
        total = sum(weights[1:], weights[0])
        unit = arb(2) ** (BITS - table.kept)
        for weight, integer in zip(weights, table.integers, strict=False):
            taken = weight / total * arb(2) ** BITS - integer
            assert not taken < 0
            assert not taken > unit * 2


def test_the_leftover_makes_up_for_what_rounding_took() -> None:
    """With 4 bits most is rounded away; all draws still have the exact probabilities."""
    table, entropy = TABLES["coarse"], SeededEntropy(3)
    assert table.integers[-1] > 1 << 28
    random = entropy.words(15_000).view(np.uint32)
    outcomes = table.outcome[table.places(random)]
    left = np.flatnonzero(outcomes == table.leftover)
    outcomes[left] = [table.settle(entropy) for _ in left]
    observed = np.bincount(outcomes, minlength=5)
    weights = np.sqrt(np.arange(1, 6))
    expected = weights / weights.sum() * outcomes.size
    assert stats.chisquare(observed, expected).pvalue > FALSE_ALARM
    without = np.array(table.integers[:-1]) / sum(table.integers[:-1]) * outcomes.size
    assert stats.chisquare(observed, without).pvalue < FALSE_ALARM


def test_a_leftover_is_settled_by_the_rounded_parts_alone() -> None:
    """Of 2/3 and 1/3, 2^32 leaves 2/3 and 1/3 of one number."""
    table, entropy = TABLES["thirds"], SeededEntropy(4)
    settled = np.bincount([table.settle(entropy) for _ in range(3000)], minlength=2)
    assert stats.binomtest(int(settled[0]), 3000, 2 / 3).pvalue > FALSE_ALARM
    assert stats.binomtest(int(settled[0]), 3000, 1 / 2).pvalue < FALSE_ALARM
