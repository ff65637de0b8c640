"""Randomised response over the codes of categories, drawn exactly: one random word a value.

What is drawn does not depend on the value at all: either a code, each with the same probability, or
"keep". Every value thus takes the same steps in the same time.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from inbounds.sampling.alias import AliasTable
from inbounds.sampling.blocks import in_blocks, kernel_for
from inbounds.sampling.entropy import Entropy

TOTAL = 1 << 128
"""The number of equally likely outcomes that are divided among the codes."""

Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ResponseSampler:
    """Draws another code with the probability `other` / 2¹²⁸ each, and keeps the value otherwise.

    Proof: docs/proofs/response.md, theorem 1.

    Parameters
    ----------
    count
        The number k of codes, which are 0..k-1.
    other
        How many of the 2¹²⁸ outcomes give one particular code that is not the value; k times as
        many must be at most all of them.

    Examples
    --------
    >>> from inbounds.sampling.entropy import SYSTEM
    >>> ResponseSampler(3, 1).draw(np.array([2, 0, 1]), SYSTEM).tolist()
    [2, 0, 1]
    """

    count: int
    other: int

    @property
    def own(self) -> int:
        """How many of the 2¹²⁸ outcomes give the value itself."""
        return TOTAL - (self.count - 1) * self.other

    def draw(self, codes: Codes, entropy: Entropy) -> Codes:
        """Return a code for each of `codes`, all of which must be from 0 to k-1."""
        flat = codes.reshape(-1)
        outputs = np.empty(flat.size, np.int64)
        kernel = kernel_for("table_kernel", flat, entropy, "codes")
        _ = self._alias  # built once, before threads start

        def fill(block: slice) -> None:
            values = flat[block]
            words = entropy.words(values.size)
            drawn = self._alias.draw(np.zeros(values.size, np.intp), words, entropy, kernel)
            outputs[block] = np.where(drawn == self.count, values, drawn)

        in_blocks(flat.size, entropy, fill)
        return outputs.reshape(codes.shape)

    def draw_one(self, code: int, entropy: Entropy) -> int:
        """Return a code for one code, which is that of `draw` if the word is the same."""
        drawn = int(self._alias.draw_one(0, entropy.bits(64), entropy))
        return (drawn, code)[drawn == self.count]  # no branch, whose time would tell "keep"

    @cached_property
    def _alias(self) -> AliasTable:
        """One row: every code as often as `other`, and "keep", whose number is k, for the rest."""
        kept = TOTAL - self.count * self.other
        row = (*(self.other for _ in range(self.count)), kept)
        return AliasTable.of((row,), tuple(map(float, range(self.count + 1))))
