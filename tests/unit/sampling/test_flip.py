from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from inbounds.sampling.entropy import SYSTEM, SeededEntropy, Words
from inbounds.sampling.flip import flips


class Scripted:
    """A source that yields the words and bits it was given."""

    def __init__(self, words: list[int], bits: list[int]) -> None:
        self._words: list[int] = words
        self._bits: Iterator[int] = iter(bits)

    def words(self, count: int) -> Words:
        assert count == len(self._words)
        return np.array(self._words, np.uint64)

    def bits(self, count: int) -> int:
        assert count == 2
        return next(self._bits)


@pytest.mark.parametrize("part", [0, 1, 2, 3, 4, 5, 2**65 + 2, 2**66 - 4, 2**66 - 1, 2**66])
def test_a_flip_is_true_for_as_many_of_all_numbers_as_its_part(part: int) -> None:
    """Of numbers of 66 bits, those around the part are tried; all others are further away."""
    middle = part >> 2
    for word, rest in product(range(middle - 2, middle + 3), range(4)):
        if 0 <= word < 2**64:
            number = word * 4 + rest
            assert flips([part], 66, Scripted([word], [rest])) == [number < part]


def test_flips_use_words_and_bits_of_their_own() -> None:
    source = Scripted([7, 7, 0], [1, 3])
    assert flips([4 * 7 + 2, 4 * 7 + 2, 4], 66, source) == [True, False, True]


def test_flips_are_as_likely_as_they_say() -> None:
    """6 standard deviations: a false alarm in 5e8 runs; a probability 1 % off would be 9 away."""
    many, part = 400_000, 3 * 2**98
    heads = sum(flips([part] * many, 100, SeededEntropy(7)))
    assert abs(heads - 0.75 * many) < 6 * (0.75 * 0.25 * many) ** 0.5


def test_no_flips_need_no_bits() -> None:
    assert flips([], 100, SYSTEM) == []
