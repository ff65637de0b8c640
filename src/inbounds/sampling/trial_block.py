"""Trials of many values at a time, by NumPy: the arithmetic of `trial`, bit by bit.

Every operation is one pass over a block that stays in a core's cache, and none depends on a value.

Proof: docs/proofs/sampler.md, theorem 5.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from inbounds._types import Floats
from inbounds.numerics.noise import Noise
from inbounds.numerics.noises import NOISES
from inbounds.numerics.normal import NORMAL
from inbounds.sampling.entropy import Words
from inbounds.sampling.exponential import LEAST, exp_in_place
from inbounds.sampling.plan import Parameters
from inbounds.sampling.proposal_block import (
    Rows,
    constant,
    propose_strips,
    propose_window,
    table_of,
)
from inbounds.sampling.trial import PLAIN, V_MARGIN, Proposal

_ONE, _HALF, _MINUS_HALF, _LEAST = map(constant, (1.0, 0.5, -0.5, LEAST))
_TWO_32, _PER_TWO_32, _ACCEPTED = map(constant, (2.0**32, 2.0**-32, 1.0 + V_MARGIN))
_UNUSED, _AS_FRACTION = np.array(12, np.uint64), np.array(0x3FF0000000000000, np.uint64)
_HIGH = 1 if np.little_endian else 0  # where the high half of a word is
_WIDEST = {noise: constant(PLAIN[noise.name]) for noise in NOISES}

FEW_REFUSED = 32
"""Trials of a block that, if they are refused, plain floats repeat sooner than arrays would."""


class Again(NamedTuple):
    """The values of a block that have no index after a trial.

    `refused` are the places of those whose trial was refused; `again` are what their next trials
    choose from, if these are few and it is known. A trial that is too close to call has its place
    in `unsure` and, in `proposals`, its first strip, the number of strips and the thinning.
    """

    refused: NDArray[np.intp]
    unsure: NDArray[np.intp]
    proposals: list[tuple[int, int, float]]
    again: list[Proposal] | None = None


@dataclass(frozen=True, eq=False)
class BlockTrials:
    """Trials of one coordinate, or of values with parameters of their own.

    The choice of a strip and both margins: docs/proofs/sampler.md, theorems 4, 7 and 9.

    Parameters
    ----------
    noise, narrow
        The noise, and whether windows are narrow: all of them or none.
    given
        The parameters: arrays without axes, or of the length of the values.
    middle, to_inner, wide, base
        Half the span, that less half a step, and what margins are made of.
    """

    noise: Noise
    narrow: bool
    given: Parameters
    middle: Any
    to_inner: Any
    wide: Any
    base: Any

    @classmethod
    def of(cls, noise: Noise, narrow: bool, given: Parameters, caution: float = 0.0) -> Self:
        """Derive what the margins need; `caution` is added to each of them, in grid steps."""
        middle = given.span * 0.5
        derived = middle, middle - 0.5, given.stretch * 2.0**-50, given.span * 2.0**-48 + caution
        return cls(noise, narrow, given, *map(np.asarray, derived))

    @cached_property
    def relative(self) -> "BlockTrials":
        """The trials of values that are given by their distances from the lower bound."""
        return replace(self, given=self.given.relative)

    @cached_property
    def sides(self) -> tuple[Floats, ...]:
        """All parameters as arrays with an axis, which compiled code reads."""
        margins = self.middle, self.to_inner, self.wide, self.base
        return tuple(map(np.atleast_1d, (*self.given, *margins)))

    def chosen(self, places: NDArray[np.intp]) -> "BlockTrials":
        """Return the trials of some of the values."""
        if self.given.u.ndim == 0:
            return self
        margins = self.middle, self.to_inner, self.wide, self.base
        given = Parameters(*(side[places] for side in self.given))
        return BlockTrials(self.noise, self.narrow, given, *(side[places] for side in margins))

    @np.errstate(over="ignore", under="ignore")  # what is beyond all doubles is outside the box
    def attempt(self, values: Floats, words: Words, indices: Floats, scratch: Floats) -> Again:
        """Write an index for each value with words[i] and words[size + i], where that is certain.

        `scratch` comes from `scratch_for`, with room for at least as many values.
        """
        size = values.size
        rows = Rows.of(scratch, size)
        place, left = rows[4], rows[0]
        np.subtract(values, self.given.lower, out=place)
        np.maximum(place, self.given.least, out=place)
        np.multiply(place, self.given.per_width, out=place)
        np.minimum(place, _ONE, out=place)
        np.multiply(place, self.given.u, out=left)
        (propose_window if self.narrow else propose_strips)(self.noise, self.given, rows)
        halves = words[:size].view(np.uint32)
        bits = rows[8].view(np.uint64)
        np.right_shift(words[size : 2 * size], _UNUSED, out=bits)
        np.bitwise_or(bits, _AS_FRACTION, out=bits)
        np.subtract(rows[8], _ONE, out=rows[8])
        if self.narrow:
            return self._decide(rows, halves, indices, None)
        return self._decide(rows, halves, indices, self._choose(rows, halves))

    def _choose(self, rows: Rows, halves: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """Write points to row 9 and widths of strips to row 10; return where the choice is sure."""
        edges, widths, _, _ = table_of(self.noise)
        first, count, place_in_strip = rows[0], rows[1], rows[8]
        product, whole, strip, share = rows[6], rows[7], rows[11].view(np.intp), rows[10]
        np.multiply(count, _PER_TWO_32, out=share)
        np.multiply(halves[_HIGH::2], share, out=product)  # exact: 32 and 11 bits
        np.floor(product, out=whole)
        np.subtract(product, whole, out=product)
        sure: NDArray[np.bool_] = np.greater_equal(product, share)
        np.add(whole, first, out=whole)
        np.copyto(strip, whole, casting="unsafe")
        z, width = rows[9], rows[10]
        widths.take(strip, out=width, mode="clip")
        edges.take(strip, out=z, mode="clip")
        np.multiply(place_in_strip, width, out=place_in_strip)
        np.add(z, place_in_strip, out=z)
        return sure

    def _decide(
        self,
        rows: Rows,
        halves: NDArray[np.uint32],
        indices: Floats,
        sure: NDArray[np.bool_] | None,
    ) -> Again:
        """Write the indices that are certain; `sure` is None for narrow windows."""
        given, place, thin = self.given, rows[4], rows[5]
        chance, other, z, width = rows[6], rows[7], rows[9], rows[10]
        if sure is None:
            np.multiply(rows[8], given.u, out=z)
            np.subtract(z, rows[0], out=z)
        if self.noise is NORMAL:
            np.multiply(z, z, out=chance)
            np.multiply(chance, _MINUS_HALF, out=chance)
        else:
            np.abs(z, out=chance)
            np.negative(chance, out=chance)
        np.maximum(chance, _LEAST, out=chance)
        exp_in_place(chance, (rows[2], rows[3], rows[8]))
        np.multiply(chance, thin, out=chance)
        margin: Any
        if sure is None:
            np.multiply(chance, _TWO_32, out=chance)
            margin = self.wide * given.u + self.base
            plain = None
            sure = np.ones(z.size, bool)
        else:
            np.multiply(chance, width, out=chance)
            np.multiply(chance, table_of(self.noise)[2], out=chance)
            plain = np.less_equal(width, _WIDEST[self.noise])
            np.logical_and(sure, plain, out=sure)
            margin = np.multiply(width, self.wide, out=rows[2])
            np.add(margin, self.base, out=margin)
        np.subtract(chance, halves[1 - _HIGH :: 2], out=chance)
        flag = np.greater_equal(chance, _ACCEPTED)
        np.logical_and(sure, flag, out=sure)
        np.multiply(z, given.stretch, out=z)
        np.multiply(place, given.span, out=other)
        np.add(z, other, out=z)
        np.rint(z, out=indices)
        np.subtract(z, indices, out=other)
        np.abs(other, out=other)
        cut = np.subtract(_HALF, margin, out=width if plain is not None else None)
        np.less(other, cut, out=flag)
        np.logical_and(sure, flag, out=sure)
        np.subtract(z, self.middle, out=z)
        np.abs(z, out=z)
        np.add(cut, self.to_inner, out=other)
        np.less(z, other, out=flag)
        np.logical_and(sure, flag, out=sure)
        np.logical_not(sure, out=sure)
        (left_out,) = sure.nonzero()
        return self._sorted(left_out, rows, plain, margin)

    def _sorted(
        self,
        places: NDArray[np.intp],
        rows: Rows,
        plain: NDArray[np.bool_] | None,
        margin: Any,
    ) -> Again:
        """Tell the refused trials from those too close to call."""
        is_refused = rows[6][places] <= -V_MARGIN
        if plain is not None:
            is_refused &= plain[places]
            middle = self.middle[places] if self.middle.ndim else self.middle
            is_refused |= rows[9][places] > middle + margin[places]
        refused, unsure = places[is_refused], places[~is_refused]
        proposals = [
            (int(first), int(many), thin)
            for _, first, many, thin in (self._proposals(rows, unsure) if unsure.size else ())
        ]
        few = refused.size <= FEW_REFUSED
        return Again(refused, unsure, proposals, self._proposals(rows, refused) if few else None)

    def _proposals(self, rows: Rows, places: NDArray[np.intp]) -> list[Proposal]:
        """Return what some of the trials chose from."""
        place, thin = (rows[k][places].tolist() for k in (4, 5))
        none = [0.0] * places.size
        sides = (none, none) if self.narrow else (rows[k][places].tolist() for k in (0, 1))
        return list(zip(place, *sides, thin, strict=True))
