"""Outputs of one coordinate, one number at a time, in plain floats.

It serves small releases, and what is left over of large ones: trials that are too close to call,
and coordinates that are too extreme for trials in doubles.

Proof: docs/proofs/sampler.md.
"""

from functools import lru_cache

from inbounds.numerics.noise import Noise
from inbounds.sampling import reference
from inbounds.sampling.atoms import BEYOND, INSIDE, verdict_of
from inbounds.sampling.entropy import Entropy
from inbounds.sampling.grid import Exact, Grid
from inbounds.sampling.plan import is_usable, parameters
from inbounds.sampling.point import number_at, offset_from
from inbounds.sampling.refine import is_beyond, refine
from inbounds.sampling.trial import UNSURE, trial_of

_LOW_64 = (1 << 64) - 1


class Coordinate:
    """The noise of one distribution on an interval.

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

    __slots__ = ("_clamped", "_number", "_offset", "_trial", "_verdict", "grid", "noise", "scale")

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
        self._number, self._offset = number_at(grid), offset_from(lower, upper)
        width, spacing = upper - lower, spacing_of(grid)
        self._trial = self._verdict = None
        if spacing > 0 and is_usable(width, width / scale, width / spacing):
            given = parameters(noise, lower, upper, scale, spacing, equal_time=equal_time)
            self._trial = trial_of(noise, given, caution)
            self._verdict = verdict_of(noise, given) if clamped else None

    def draw(self, number: Exact, entropy: Entropy) -> float:
        """Return an output for a number."""
        return self._number(self.index(number, entropy))

    def index(self, number: Exact, entropy: Entropy) -> int:
        """Return the grid index of an output for a number."""
        if self._verdict is None:
            return self.inside(number, entropy)
        inside = self.inside(number, entropy)
        word = entropy.bits(64)
        verdict = self._verdict(self._offset(number), word)
        if verdict == INSIDE:
            return inside
        if verdict == BEYOND:
            return self.grid.intervals if word >> 63 else 0
        return self.at_bound(number, word, inside, entropy)

    def inside(self, number: Exact, entropy: Entropy) -> int:
        """Return the index of an output before it may be moved to a bound."""
        trial = self._trial
        if trial is None:
            return self._drawn(number, entropy, clamped=self._clamped)
        proposal = trial.propose(self._offset(number))
        decide, bits = trial.decide, entropy.bits
        while True:
            random = bits(128)
            index = decide(proposal, random)
            if index >= 0:
                return min(int(index), self.grid.intervals)
            if index == UNSURE:
                words = random >> 64, random & _LOW_64
                _, first, many, thin = proposal
                return self.settle(number, (int(first), int(many), thin), words, entropy)

    def settle(
        self,
        number: Exact,
        proposal: tuple[int, int, float],
        words: tuple[int, int],
        entropy: Entropy,
    ) -> int:
        """Return the index of a trial that doubles did not decide, or of a new one if refused."""
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

    def at_bound(self, number: Exact, word: int, inside: int, entropy: Entropy) -> int:
        """Return an index after settling in ball arithmetic whether noise leaves the box."""
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
