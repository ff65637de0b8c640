"""Exact draws from candidates with integer weights.

Candidates of equal weight form a class, and all that is drawn is a class and a place in it. Both
draws use integers alone.
"""

from collections.abc import Callable, Sequence

import numpy as np

from inbounds.sampling.entropy import Entropy, Words

_WORD = 64

Draw = Callable[[Sequence[int], Sequence[int], Entropy], tuple[int, int]]
"""A draw from classes, given their sizes and the weight of one candidate of each."""


def uniform_below(bound: int, entropy: Entropy) -> int:
    """Return a uniform integer from 0 to `bound` - 1.

    Examples
    --------
    >>> from inbounds.sampling.entropy import SYSTEM
    >>> 0 <= uniform_below(10**40, SYSTEM) < 10**40, uniform_below(1, SYSTEM)
    (True, 0)
    """
    bits = (bound - 1).bit_length()
    if not bits:
        return 0
    while (number := entropy.bits(bits)) >= bound:
        pass
    return number


def draw_by_weight(
    sizes: Sequence[int], weights: Sequence[int], entropy: Entropy
) -> tuple[int, int]:
    """Draw a candidate with a probability that is proportional to its weight.

    This is the exponential mechanism. Proof: docs/proofs/quantiles.md, theorem 2.

    Parameters
    ----------
    sizes, weights
        For each class, the number of its candidates, and the weight of each of them.

    Returns
    -------
    The index of the class, and the place of the candidate in it.

    Examples
    --------
    >>> from inbounds.sampling.entropy import SYSTEM
    >>> draw_by_weight([3, 1], [0, 5], SYSTEM)
    (1, 0)
    """
    number = uniform_below(sum(map(_product, sizes, weights)), entropy)
    for i, (size, weight) in enumerate(zip(sizes, weights, strict=True)):
        if number < size * weight:
            return i, number // weight
        number -= size * weight
    raise AssertionError  # a number below the sum is in one of the classes


def draw_willing(sizes: Sequence[int], weights: Sequence[int], entropy: Entropy) -> tuple[int, int]:
    """Draw a uniform one of the willing candidates.

    A candidate is willing with probability weight / largest weight, independently of all others.
    This is the permute-and-flip mechanism (docs/proofs/quantiles.md, theorem 4). The arguments are
    those of `draw_by_weight`; all sizes must be positive.

    Examples
    --------
    >>> from inbounds.sampling.entropy import SYSTEM
    >>> draw_willing([3, 1], [0, 5], SYSTEM)
    (1, 0)
    """
    most = max(weights)
    unsure = [size if weight < most else 0 for size, weight in zip(sizes, weights, strict=True)]
    words = np.split(entropy.words(sum(unsure)), np.cumsum(unsure)[:-1])
    willing = [
        _willing(own, weight, most, entropy) if weight < most else size
        for size, weight, own in zip(sizes, weights, words, strict=True)
    ]
    number = uniform_below(sum(willing), entropy)
    for i, many in enumerate(willing):
        if number < many:
            return i, uniform_below(sizes[i], entropy)
        number -= many
    raise AssertionError  # a number below the sum is in one of the classes


def _willing(words: Words, weight: int, most: int, entropy: Entropy) -> int:
    """Return how many candidates of a class are willing; the first 64 bits nearly always decide."""
    threshold, rest = divmod(weight << _WORD, most)
    limit = np.uint64(threshold)
    undecided = int(np.count_nonzero(words == limit))
    settled = sum(uniform_below(most, entropy) < rest for _ in range(undecided))
    return int(np.count_nonzero(words < limit)) + settled


def _product(size: int, weight: int) -> int:
    return size * weight
