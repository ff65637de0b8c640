from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from inbounds.sampling.choice import draw_by_weight, draw_willing, uniform_below
from inbounds.sampling.entropy import SYSTEM, SeededEntropy, Words

DRAWS = 4000
FALSE_ALARM = 1e-6  # of one chi-square test
SIZES, WEIGHTS = [1, 2, 3], [2**40, 2**39, 2**38 + 1]

Probabilities = dict[tuple[int, int], float]


def proportional() -> Probabilities:
    """Every candidate with a probability proportional to its weight."""
    total = sum(s * w for s, w in zip(SIZES, WEIGHTS, strict=True))
    return {(i, place): WEIGHTS[i] / total for i in range(3) for place in range(SIZES[i])}


def permuted_and_flipped() -> Probabilities:
    """Candidates in a random order; the first that succeeds wins: all sets that may be left."""
    names = list(proportional())
    chances = [Fraction(WEIGHTS[i], max(WEIGHTS)) for i, _ in names]
    known: dict[int, list[Fraction]] = {0: [Fraction(0)] * len(names)}
    for left in range(1, 1 << len(names)):
        inside = [j for j in range(len(names)) if left >> j & 1]
        wins = [Fraction(0)] * len(names)
        for j in inside:
            rest = known[left & ~(1 << j)]
            for k in range(len(names)):
                wins[k] += ((chances[j] if k == j else 0) + (1 - chances[j]) * rest[k]) / len(
                    inside
                )
        known[left] = wins
    return dict(zip(names, map(float, known[(1 << len(names)) - 1]), strict=True))


def distance(counts: Counter[tuple[int, int]], probabilities: Probabilities) -> float:
    return sum((counts[name] - DRAWS * p) ** 2 / (DRAWS * p) for name, p in probabilities.items())


@pytest.mark.parametrize(
    ("draw", "own", "other"),
    [
        (draw_by_weight, proportional, permuted_and_flipped),
        (draw_willing, permuted_and_flipped, proportional),
    ],
)
def test_a_draw_has_its_own_distribution_and_not_the_other_one(
    draw: Callable[..., tuple[int, int]],
    own: Callable[[], Probabilities],
    other: Callable[[], Probabilities],
) -> None:
    """It fails by chance in one of 10⁶ seeds; the other mechanism is always told apart."""
    entropy = SeededEntropy(15)
    counts = Counter(draw(SIZES, WEIGHTS, entropy) for _ in range(DRAWS))
    limit = float(chi2.isf(FALSE_ALARM, 5))
    assert distance(counts, own()) < limit
    assert distance(counts, other()) > limit


@pytest.mark.parametrize("draw", [draw_by_weight, draw_willing])
def test_every_candidate_of_a_class_is_equally_likely(
    draw: Callable[..., tuple[int, int]],
) -> None:
    entropy = SeededEntropy(3)
    counts = Counter(draw([5], [7], entropy) for _ in range(DRAWS))
    assert distance(counts, {(0, place): 0.2 for place in range(5)}) < chi2.isf(FALSE_ALARM, 4)


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 64, 100])
def test_numbers_below_a_bound_are_uniform(bound: int) -> None:
    entropy = SeededEntropy(bound)
    counts = np.bincount([uniform_below(bound, entropy) for _ in range(DRAWS)], minlength=bound)
    assert counts.size == bound
    expected = DRAWS / bound
    assert ((counts - expected) ** 2 / expected).sum() <= chi2.isf(FALSE_ALARM, max(bound - 1, 1))


def test_a_number_that_is_certain_costs_no_bits() -> None:
    assert uniform_below(1, Scripted([], [])) == 0


@dataclass
class Scripted:
    """An entropy that returns given bits and words, and fails if more are asked for."""

    given_bits: list[int]
    given_words: list[int]
    asked: list[int] = field(default_factory=list)

    def bits(self, count: int) -> int:
        self.asked.append(count)
        return self.given_bits.pop(0)

    def words(self, count: int) -> Words:
        taken, self.given_words = self.given_words[:count], self.given_words[count:]
        assert len(taken) == count
        return np.array(taken, np.uint64)


def test_too_large_numbers_are_drawn_again() -> None:
    entropy = Scripted([7, 5, 4], [])
    assert uniform_below(5, entropy) == 4
    assert entropy.asked == [3, 3, 3]


@pytest.mark.parametrize(
    ("word", "more", "willing"),
    [
        (2**64 // 3 - 1, [], True),
        (2**64 // 3, [0], True),  # the first bits of 1/3: further ones decide, 1/3 of the time
        (2**64 // 3, [1], False),
        (2**64 // 3, [2], False),
        (2**64 // 3 + 1, [], False),
    ],
)
def test_bits_beyond_the_first_64_decide_where_these_do_not(
    word: int, more: list[int], willing: bool
) -> None:
    """The better candidate is always willing; the other one with probability 1/3."""
    last = [1] if willing else []  # of two willing ones, the second
    entropy = Scripted([*more, *last], [word])
    assert draw_willing([1, 1], [3, 1], entropy) == ((1, 0) if willing else (0, 0))
    assert not entropy.given_bits


def test_very_unequal_weights_leave_one_candidate() -> None:
    weights = [1, 10**120]
    assert {draw_by_weight([10**6, 1], weights, SYSTEM) for _ in range(50)} == {(1, 0)}
    assert {draw_willing([1000, 1], weights, SYSTEM) for _ in range(50)} == {(1, 0)}
