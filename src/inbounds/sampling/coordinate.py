"""Outputs of one coordinate, one number at a time, in plain floats.

It serves small releases, and what is left over of large ones: trials that are too close to call,
and coordinates that are too extreme for trials in doubles.
"""

from collections.abc import Sequence
from functools import lru_cache

from inbounds.numerics.noise import Noise
from inbounds.sampling import reference
from inbounds.sampling.atoms import BEYOND, UNSURE, verdict_of
from inbounds.sampling.entropy import Entropy
from inbounds.sampling.grid import REFUSED, Exact, Grid
from inbounds.sampling.plan import is_usable, parameters
from inbounds.sampling.point import number_at, offset_from
from inbounds.sampling.refine import is_beyond, refine
from inbounds.sampling.trial import Proposal, trial_of

_LOW_64 = (1 << 64) - 1


class Coordinate:
    """The noise of one distribution on an interval.

    Every index has exactly the ideal distribution. Proof: docs/proofs/sampler.md, theorem 1.

    Parameters
    ----------
    noise, lower, upper, scale
        The distribution of the noise, the bounds, and the scale of the noise.
    step
        The distance between outputs, or None for a fine grid.
    clamped, equal_time, caution
        As for `Sampler`.

    Examples
    --------
    >>> from inbounds.numerics.normal import NORMAL
    >>> from inbounds.sampling.entropy import SYSTEM
    >>> age = Coordinate(NORMAL, 0.0, 120.0, 16.3, 1.0)
    >>> 0 <= age.draw(41.3, SYSTEM) <= 120
    True
    """

    __slots__ = (
        *("_clamped", "_decide", "_ends", "_even", "_last", "_lower", "_number", "_offset"),
        *("_propose", "_verdict", "grid", "noise", "scale", "words"),
    )

    def __init__(
        self,
        noise: Noise,
        lower: float,
        upper: float,
        scale: float,
        step: float | None,
        *,
        clamped: bool = False,
        equal_time: bool = True,
        caution: float = 0.0,
    ) -> None:
        self.noise, self.scale, self._clamped = noise, scale, clamped
        self.grid = grid = Grid.fit(lower, upper, step, scale)
        self._lower, self._last, self._even = lower, grid.intervals, step is None
        self._ends = 0, grid.intervals
        self.words = 3 if clamped else 2
        self._number, self._offset = number_at(grid), offset_from(lower, upper)
        width, spacing = upper - lower, spacing_of(grid)
        self._propose = self._decide = self._verdict = None
        if spacing > 0 and is_usable(width, width / scale, width / spacing):
            given = parameters(noise, lower, upper, scale, spacing, equal_time=equal_time)
            self._propose, self._decide = trial_of(noise, given, caution)
            self._verdict = verdict_of(noise, given.u) if clamped else None

    def draw(self, number: Exact, entropy: Entropy) -> float:
        """Return an output for a number."""
        return self._number(self.index(number, entropy))

    def draw_from(self, words: Sequence[int], number: Exact, entropy: Entropy) -> float:
        """Return an output for a number, from as many random words of 64 bits as `words` says."""
        return self._number(self._index(words, number, entropy))

    def index(self, number: Exact, entropy: Entropy) -> float:
        """Return the grid index of an output for a number."""
        random = entropy.bits(64 * self.words)
        first, second = random >> 64, random & _LOW_64
        if self.words == 2:
            return self._index((first, second), number, entropy)
        return self._index((first >> 64, first & _LOW_64, second), number, entropy)

    def _index(self, words: Sequence[int], number: Exact, entropy: Entropy) -> float:
        """Return an index from random words: two for a trial, and one that may choose a bound.

        Proof: docs/proofs/sampler.md, theorem 11.
        """
        propose, decide, judge = self._propose, self._decide, self._verdict
        if propose is None or decide is None:
            return self._drawn(number, entropy, clamped=self._clamped)
        distance = number - self._lower if type(number) is float else self._offset(number)
        proposal = propose(distance)
        index = decide(proposal, words[0], words[1])
        if index < 0:
            index = self._again(index, words, proposal, number, entropy)
        inside = index if self._even else min(index, self._last)
        if judge is None:
            return inside
        word = words[2]
        verdict = judge(proposal[0], word)
        if verdict == UNSURE:
            return self.at_bound(number, word, inside, entropy)
        return (inside, self._ends[word >> 63])[verdict == BEYOND]  # no branch, so time is constant

    def trial(
        self, number: Exact, words: tuple[int, int], proposal: Proposal | None
    ) -> tuple[float, Proposal]:
        """Make one trial by two random words; return an index, REFUSED or UNSURE, and the proposal.

        The proposal may be known already. The index is that before a value may move to a bound.
        """
        assert self._propose is not None
        assert self._decide is not None
        if proposal is None:
            double = type(number) is float
            proposal = self._propose(number - self._lower if double else self._offset(number))
        return self._decide(proposal, *words), proposal

    def _again(
        self,
        index: float,
        words: Sequence[int],
        proposal: Proposal,
        number: Exact,
        entropy: Entropy,
    ) -> float:
        """Return the index of a value after a trial by `words` that was refused or not decided."""
        decide = self._decide
        assert decide is not None
        while index == REFUSED:
            random = entropy.bits(128)
            words = random >> 64, random & _LOW_64
            index = decide(proposal, *words)
        if index >= 0:
            return index
        _, first, many, thin = proposal
        return self.settle(number, (int(first), int(many), thin), (words[0], words[1]), entropy)

    def settle(
        self,
        number: Exact,
        proposal: tuple[int, int, float],
        words: tuple[int, int],
        entropy: Entropy,
    ) -> int:
        """Return the index of a trial that doubles did not decide, or of a new one if refused.

        Proof: docs/proofs/sampler.md, theorems 5 and 10.
        """
        index = refine(
            value=self.grid.clamp(number),
            noise=self.noise,
            scale=self.scale,
            grid=self.grid,
            proposal=proposal,
            words=words,
            entropy=entropy,
        )
        return self._drawn(number, entropy, clamped=False) if index is None else index

    def at_bound(self, number: Exact, word: int, inside: float, entropy: Entropy) -> float:
        """Return an index after settling in ball arithmetic whether noise leaves the box.

        Proof: docs/proofs/sampler.md, theorem 11.
        """
        upward = bool(word >> 63)  # noise above zero
        beyond = is_beyond(
            value=self.grid.clamp(number),
            bound=self.grid.upper if upward else self.grid.lower,
            scale=self.scale,
            noise=self.noise,
            word=word ^ _LOW_64 if upward else word,
            entropy=entropy,
        )
        return (self.grid.intervals if upward else 0) if beyond else inside

    def _drawn(self, number: Exact, entropy: Entropy, *, clamped: bool) -> int:
        """Draw an index by `reference`."""
        value = self.grid.clamp(number)
        return reference.draw(value, self.scale, self.grid, entropy, self.noise, clamped=clamped)


def spacing_of(grid: Grid) -> float:
    """Return the distance between the points of a grid as a double, within 3 units.

    Margins allow for as much: docs/proofs/sampler.md, theorem 7.

    Examples
    --------
    >>> spacing_of(Grid.fit(0.0, 1.0, 0.1, scale=1.0))
    0.1
    """
    if grid.step is None:
        return (grid.upper - grid.lower) / grid.intervals
    return int(grid.spacing.p) / int(grid.spacing.q)


coordinate = lru_cache(maxsize=1024)(Coordinate)
"""Returns a coordinate, which is made once for the same arguments; they are public numbers."""
