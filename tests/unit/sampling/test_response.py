from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from inbounds.sampling.alias import AliasTable
from inbounds.sampling.entropy import SYSTEM
from inbounds.sampling.response import TOTAL, ResponseSampler


def outcomes(table: AliasTable) -> Counter[int]:
    """How many of all numbers of 128 bits lead to each output, by the thresholds of the table."""
    size = 1 << (128 - table.bits)
    counts: Counter[int] = Counter()
    for i, (high, low) in enumerate(zip(table.thresholds, table.low, strict=True)):
        below = ((int(high) << 64) | int(low)) - i * size
        counts[int(table.outputs[2 * i + 1])] += below
        counts[int(table.outputs[2 * i])] += size - below
    return counts


@pytest.mark.parametrize("count", [2, 3, 4, 7, 100])
@pytest.mark.parametrize("fraction", [Fraction(1, 2**100), Fraction(1, 7), Fraction(1, 1)])
def test_every_code_has_as_many_outcomes_as_stated(count: int, fraction: Fraction) -> None:
    other = max(1, int(fraction * TOTAL / count))
    sampler = ResponseSampler(count, other)
    counts = outcomes(sampler._alias)
    assert [counts[code] for code in range(count)] == [other] * count
    assert counts[count] == TOTAL - count * other
    assert sampler.own == counts[count] + other


@pytest.mark.parametrize("size", [1, 1000, 600_000])
def test_draws_have_the_stated_distribution_and_no_other(size: int) -> None:
    """False alarm below 1e-6 in each case; probabilities that are 2 % wrong are rejected."""
    sampler = ResponseSampler(4, TOTAL // 8)  # 5/8 for the own code
    repeats = max(1, 200_000 // size)
    values = np.full(size, 2)
    drawn = np.concatenate([sampler.draw(values, SYSTEM) for _ in range(min(repeats, 20_000))])
    counts = np.bincount(drawn, minlength=4)

    def statistic(own: float) -> float:
        expected = drawn.size * np.array([(1 - own) / 3, (1 - own) / 3, own, (1 - own) / 3])
        return float(((counts - expected) ** 2 / expected).sum())

    threshold = chi2.isf(1e-6, 3)
    assert statistic(5 / 8) < threshold
    if drawn.size >= 100_000:
        assert statistic(5 / 8 * 1.02) > threshold


def test_the_shape_is_kept_and_nothing_is_drawn_for_nothing() -> None:
    sampler = ResponseSampler(3, 1)
    assert sampler.draw(np.zeros((2, 5), np.int64), SYSTEM).shape == (2, 5)
    assert sampler.draw(np.empty(0, np.int64), SYSTEM).shape == (0,)


def test_the_same_bits_give_the_same_codes_compiled_or_not() -> None:
    sampler = ResponseSampler(5, TOTAL // 11)
    from inbounds.sampling import table_kernel  # noqa: PLC0415 - loads compiled code

    words = SYSTEM.words(50_000)
    rows = np.zeros(words.size, np.intp)
    plain = sampler._alias.draw(rows, words, SYSTEM)
    assert np.array_equal(sampler._alias.draw(rows, words, SYSTEM, table_kernel), plain)
