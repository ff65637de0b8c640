"""The kernel's parameters for one box, and its calls, which leave a few trials undecided.

Proof: docs/proofs/sampler.md.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from inbounds._types import Floats
from inbounds.numerics.noise import Noise
from inbounds.numerics.noises import NOISES
from inbounds.sampling.compiled import TINY
from inbounds.sampling.entropy import Entropy
from inbounds.sampling.kernel import compiled_loops
from inbounds.sampling.proposal import LEAST_FRACTION, NARROW, least_acceptance, propose

_LEAST, _MOST = 2.0**-890, 2.0**980  # between these widths, all parameters are normal doubles
_MOST_STEPS = 2.0**42  # finer grids leave too many trials undecided in double precision
_MOST_SCALES = 2.0**34  # in wider boxes rounding could leave the end of a window uncovered
_EVEN = 0.998  # slightly below the smallest chance of acceptance, so that all values can meet it
_ROOM = 256  # undecided trials collected at a time


class Undecided(NamedTuple):
    """A trial that doubles cannot decide: the place of its value, and its random words."""

    which: int
    words: tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The public parameters of each coordinate of a box that the loops need.

    `parameters` are the lower bound, 1/width, the distance from the bound below which a value
    counts as the bound, width/scale, the target of thinning, scale/step and width/step.
    """

    noise: Noise
    parameters: tuple[Floats, ...]
    narrow: NDArray[np.bool_]
    usable: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        noise: Noise,
        lower: Floats,
        upper: Floats,
        scale: Floats,
        spacing: Floats,
        *,
        equal_time: bool,
    ) -> Self:
        """Compute the parameters; coordinates too extreme for the kernel are not `usable`."""
        width = upper - lower
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            u, per_width = width / scale, 1 / width
            stretch, span = scale / spacing, width / spacing
        usable = (width > _LEAST) & (width < _MOST) & (span < _MOST_STEPS) & (u < _MOST_SCALES)
        narrow = u <= NARROW[noise]
        target = np.full(u.size, np.inf)
        if equal_time:
            which = NOISES.index(noise)
            for is_narrow in (False, True):
                chosen = (narrow == is_narrow) & usable
                target[chosen] = _EVEN * least_acceptance(which, is_narrow, u[chosen])
        origin = np.where(np.abs(lower) < TINY, 0.0, lower)
        parameters = (origin, per_width, width * LEAST_FRACTION, u, target, stretch, span)
        plan = cls(noise, parameters, narrow, usable)
        if usable.any():
            plan.proposal(float(lower[0]), 0)  # load the code now, not when a value needs it
        return plan

    @property
    def relative(self) -> "Plan":
        """The plan for values that are given by their distances from the lower bounds."""
        lower, *others = self.parameters
        return replace(self, parameters=(np.zeros_like(lower), *others))

    def attempt(
        self,
        values: Floats,
        where: NDArray[np.intp],
        indices: Floats,
        entropy: Entropy,
        caution: float,
    ) -> list[Undecided]:
        """Fill `indices` with a grid index for each value, except those of undecided trials.

        Returns these trials, in the order of the values. The windows of the values must be all
        narrow or all wide.
        """
        joint, size = self.narrow.size > 1, values.size
        attempt, settle = compiled_loops(self.noise, bool(self.narrow[where[0]]), joint)
        words = entropy.words(2 * size + size // 16 + 64)
        sides = tuple(side[where] if joint else side for side in self.parameters)
        pending = np.empty(size, np.intp)
        pending = pending[: attempt(words, values, sides, caution, indices, pending)]
        undecided: list[Undecided] = []
        places, pairs = np.empty(_ROOM, np.intp), np.empty((_ROOM, 2), np.uint64)
        position, spare = 0, 2 * size
        while True:
            position, spare, count = settle(
                words, values, sides, caution, indices, pending, position, spare, places, pairs
            )
            if count:
                listed = zip(places[:count].tolist(), pairs[:count].tolist(), strict=True)
                undecided += [
                    Undecided(which, (first, second)) for which, (first, second) in listed
                ]
            if position == pending.size:
                return undecided
            if count < places.size:  # it ran out of words
                words[2 * size :], spare = entropy.words(words.size - 2 * size), 2 * size

    def proposal(self, value: float, j: int) -> tuple[int, int, float]:
        """Return the first strip, the number of strips (0 if narrow) and a value's thinning."""
        narrow = bool(self.narrow[j])
        parameters = (float(side[j]) for side in self.parameters[:5])
        first, count, thin = propose(NOISES.index(self.noise), narrow, value, *parameters)
        return int(first), 0 if narrow else int(count), thin
