"""Exact coin flips, each with a probability of its own that is a whole number of parts."""

from collections.abc import Sequence

from inbounds.sampling.entropy import Entropy

_WORD = 64


def flips(parts: Sequence[int], bits: int, entropy: Entropy) -> list[bool]:
    """Return independent flips that are true with the probabilities parts / 2^`bits`.

    Proof: docs/proofs/groups.md, theorem 4.

    Parameters
    ----------
    parts
        Integers from 0 to 2^`bits`.
    bits
        More than 64.

    Examples
    --------
    >>> from inbounds.sampling.entropy import SYSTEM
    >>> flips([0, 1 << 80], 80, SYSTEM)
    [False, True]
    """
    rest = bits - _WORD
    words = entropy.words(len(parts)).tolist()
    return [
        _below(word, *divmod(part, 1 << rest), rest, entropy)
        for word, part in zip(words, parts, strict=True)
    ]


def _below(word: int, high: int, low: int, rest: int, entropy: Entropy) -> bool:
    """Return whether a uniform number that starts with the word is below `high`, then `low`."""
    if word != high:  # the first 64 bits nearly always decide
        return word < high
    return entropy.bits(rest) < low
