"""How the kernel works on one box: public parameters in, grid indices and undecided trials out.

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
from inbounds.sampling.kernel import loops
from inbounds.sampling.proposal import LEAST_FRACTION, NARROW, least_acceptance, propose

_LEAST, _MOST = 2.0**-890, 2.0**980  # widths for which all that follows are normal numbers
_MOST_STEPS = 2.0**42  # finer grids leave too much undecided in double precision
_MOST_SCALES = 2.0**34  # beyond it rounding could leave the end of a window uncovered
_EVEN = 0.998  # a little below the least natural chance of acceptance, so that all can meet it
_ROOM = 256  # undecided trials collected at a time


class Undecided(NamedTuple):
    """A trial that doubles cannot decide: which of the values it is for, and its random words."""

    which: int
    words: tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What the loops need to know of each coordinate of a box, and nothing of any value.

    `parameters` are the lower bound, 1/width, the least distance from the bound that counts,
    width/scale, the target of thinning, scale/step and width/step.
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
        """Prepare coordinates; those whose numbers are too extreme for doubles are not usable."""
        width = upper - lower
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            u, per_width = width / scale, 1 / width
            stretch, span = scale / spacing, width / spacing
        usable = (width > _LEAST) & (width < _MOST) & (span < _MOST_STEPS) & (u < _MOST_SCALES)
        narrow = u <= NARROW[noise]
        target = np.full(u.size, np.inf)
        if equal_time:
            which = NOISES.index(noise)
            for kind in (False, True):
                some = (narrow == kind) & usable
                target[some] = _EVEN * least_acceptance(which, kind, u[some])
        origin = np.where(np.abs(lower) < TINY, 0.0, lower)
        parameters = (origin, per_width, width * LEAST_FRACTION, u, target, stretch, span)
        plan = cls(noise, parameters, narrow, usable)
        if usable.any():
            plan.proposal(float(lower[0]), 0)  # load it now, not when some value needs it
        return plan

    @property
    def relative(self) -> "Plan":
        """The same for values that are given by their distances from the lower bounds."""
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
        """Fill `indices` with a grid index for each value, save those of undecided trials.

        Returns these trials, in the order of the values. Windows of the values are all narrow or
        all wide.
        """
        joint, size = self.narrow.size > 1, values.size
        attempt, settle = loops(self.noise, bool(self.narrow[where[0]]), joint)
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
            if count < places.size:  # words ran out
                words[2 * size :], spare = entropy.words(words.size - 2 * size), 2 * size

    def proposal(self, value: float, j: int) -> tuple[int, int, float]:
        """Return the first strip, how many there are (0 if narrow) and the thinning of a value."""
        narrow = bool(self.narrow[j])
        place = (float(side[j]) for side in self.parameters[:5])
        first, many, thin = propose(NOISES.index(self.noise), narrow, value, *place)
        return int(first), 0 if narrow else int(many), thin
