"""Which lattices inside an interval bound the error on all of it, and how their bounds combine.

Lengths are exact fractions, in any unit. A `Problem` is an interval of a width, or a number of
values one step apart, with the largest distance of neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from flint import arb, ctx

from inbounds.calibration.limit_proof import LatticeProof
from inbounds.numerics import ball

Form = Literal["average", "prior", "unbiased", "two_ends", "pairs"]

FORMS: dict[str, tuple[str, ...]] = {
    "average": ("average", "pairs"),
    "worst": ("average", "pairs", "prior", "two_ends"),
    "unbiased": ("average", "pairs", "unbiased"),
}
"""Which forms of evidence bound which error: the average bounds all of them from below."""

MOST_STEPS = 10_000
_PRECISION = 256


@dataclass(frozen=True, slots=True)
class Problem:
    """Values on an interval, or `points` values with a distance of `step`, and their neighbours.

    Examples
    --------
    >>> Problem(Fraction(1), Fraction(3, 10)).ratio
    Fraction(10, 3)
    >>> Problem(Fraction(10), Fraction(5, 2), Fraction(1), 11).jump  # of neighbours, in steps
    2
    """

    width: Fraction
    sensitivity: Fraction
    step: Fraction | None = None
    points: int = 0

    @property
    def ratio(self) -> Fraction:
        """The length over which values are spread evenly, as a multiple of the sensitivity."""
        length = self.width if self.step is None else self.points * self.step
        return max(length / self.reachable, Fraction(1))

    @property
    def jump(self) -> int:
        """The largest distance of neighbours in steps, rounded down."""
        assert self.step is not None
        return min(math.floor(self.sensitivity / self.step), self.points - 1)

    @property
    def reachable(self) -> Fraction:
        """The largest distance of neighbours that occurs."""
        if self.step is None:
            return min(self.sensitivity, self.width)
        return max(self.jump, 1) * self.step

    @property
    def has_neighbours(self) -> bool:
        """Whether any two values are neighbours."""
        return self.step is None or self.jump >= 1

    def spacing(self, form: str, group: int, stride: int, reach: int, size: int) -> Fraction:
        """Return the distance of a lattice's places, or zero if no such lattice fits.

        Places at most `reach` apart must be joined by `group` changes of the data. Proof:
        docs/proofs/limit.md, theorems 1 and 7.
        """
        if self.step is not None:
            joined = reach * stride <= group * self.jump
            fits = form == "average" or (form == "prior" and (size - 1) * stride < self.points)
            fits = fits or (form == "unbiased" and (size, stride) == (self.points, 1))
            local = group * self.jump >= self.points - 1
            return stride * self.step if fits and (joined or local) else Fraction(0)
        far = group * self.sensitivity
        if form == "prior":
            widest = self.width / max(size - 1, 1)
            return widest if far >= self.width else min(far / reach, widest)
        if far >= self.width:
            return self.width / (size - 2 if form == "unbiased" else size)
        return far / reach


def bound(
    problem: Problem,
    form: str,
    epsilon: float,
    *,
    group: int,
    stride: int,
    proofs: Sequence[LatticeProof],
) -> Fraction:
    """Return the mean squared error that evidence of this form proves, exactly or rounded down.

    The proofs themselves are not checked here. Evidence that does not fit proves zero.
    """
    if not problem.has_neighbours:
        return Fraction(0)
    if form == "two_ends":
        return _two_ends(problem, epsilon, group)
    if form == "pairs":
        return _pairs(problem, epsilon)
    largest = max(proofs, key=lambda proof: proof.size)
    reach, size = largest.reach, largest.size
    spacing = problem.spacing(form, group, stride, reach, size)
    if spacing == 0 or any(proof.reach != reach for proof in proofs):
        return Fraction(0)
    if form == "prior":
        return max(_prior(largest), Fraction(0)) * spacing**2
    length = problem.width if problem.step is None else problem.points * problem.step
    if form != "unbiased":
        least = _average(length / spacing, proofs)
    elif problem.step is None:
        least = _unbiased(length / spacing, proofs)
    else:
        least = _unbiased_points(largest)
    return max(least, Fraction(0)) * spacing**2


def _average(length: Fraction, proofs: Sequence[LatticeProof]) -> Fraction:
    """Return the bound on the average error over an interval of a length, from unit lattices.

    Proof: docs/proofs/limit.md, theorem 7.
    """
    totals = {
        proof.size: proof.total() + Fraction(proof.size * (proof.size**2 - 1), 12)
        for proof in proofs
        if proof.slopes is None and set(proof.weights) == {1.0}
    }

    def least(count: int) -> Fraction:  # of the errors at so many places, added up
        return max((count // size * total for size, total in totals.items()), default=Fraction(0))

    most = math.ceil(length)
    part = length - (most - 1)  # of the offsets meet `most` places, the others one fewer
    return (part * least(most) + (1 - part) * least(most - 1)) / length


def _unbiased(length: Fraction, proofs: Sequence[LatticeProof]) -> Fraction:
    """Return the bound on the average variance; the first and last place are the ends.

    Proof: docs/proofs/limit.md, theorem 8.
    """
    most = math.ceil(length)
    part = length - (most - 1)

    def least(count: int, offsets: Fraction) -> Fraction:
        return max((_variance(p, count, offsets, length) for p in proofs), default=Fraction(0))

    return (part * least(most, part) + (1 - part) * least(most - 1, 1 - part)) / length


def _variance(proof: LatticeProof, count: int, offsets: Fraction, length: Fraction) -> Fraction:
    """Return U of docs/proofs/limit.md, theorem 8, or zero if that proves nothing."""
    if proof.slopes is None or proof.weights != (0.0, *(1.0,) * count, 0.0):
        return Fraction(0)
    places = [Fraction(2 * i - (count - 1), 2) for i in range(count)]
    places = [-length / 2, *places, length / 2]
    means = sum(Fraction(slope) * place for slope, place in zip(proof.slopes, places, strict=True))
    squares = Fraction(count * (count**2 - 1), 12) + count * offsets**2 / 12
    return max(proof.total() + means - squares, Fraction(0))


def _unbiased_points(proof: LatticeProof) -> Fraction:
    """Return the bound on the average variance if the places are all the values.

    Proof: docs/proofs/limit.md, theorem 8.
    """
    count = proof.size
    if proof.slopes is None or set(proof.weights) != {1.0}:
        return Fraction(0)
    places = [Fraction(2 * i - (count - 1), 2) for i in range(count)]
    means = sum(Fraction(slope) * place for slope, place in zip(proof.slopes, places, strict=True))
    return (proof.total() + means - Fraction(count * (count**2 - 1), 12)) / count


def _prior(proof: LatticeProof) -> Fraction:
    """Return the bound on the average error for the proof's own weights of the places.

    Proof: docs/proofs/limit.md, theorems 2 and 8.
    """
    if proof.slopes is not None:
        return Fraction(0)
    weights = list(map(Fraction, proof.weights))
    middle = Fraction(proof.size - 1, 2)
    squares = sum(weight * (i - middle) ** 2 for i, weight in enumerate(weights))
    return (proof.total() + squares) / sum(weights)


def _two_ends(problem: Problem, epsilon: float, group: int) -> Fraction:
    """Return the error of telling the two ends apart, which are N groups of changes apart.

    Proof: docs/proofs/limit.md, theorem 9.
    """
    if problem.step is None:
        width = problem.width
        steps = math.ceil(width / (group * problem.sensitivity))
    else:
        width = (problem.points - 1) * problem.step
        steps = math.ceil(Fraction(problem.points - 1, group * problem.jump))
    if steps > MOST_STEPS:
        return Fraction(0)
    with ctx.workprec(_PRECISION):
        ratio = (group * arb(epsilon)).exp()
        total = 1 / ((1 + 1 / ratio) * (1 + ratio**steps))
        inner = sum((1 / (ratio ** (steps - j) + ratio**j) for j in range(1, steps)), arb(0))
        total += (ratio - 1) / (2 * (ratio + 1)) * inner
        return ball.fraction_below(total) * width**2


def _pairs(problem: Problem, epsilon: float) -> Fraction:
    """Return the error of telling pairs of neighbours apart, which most of the values form.

    Proof: docs/proofs/limit.md, theorem 9.
    """
    if problem.step is None:
        distance = min(problem.sensitivity, problem.width / 2)
        covered = 2 * distance * (problem.width // (2 * distance)) / problem.width
    else:
        apart = min(problem.jump, problem.points // 2)
        distance = apart * problem.step
        covered = Fraction(2 * apart * (problem.points // (2 * apart)), problem.points)
    with ctx.workprec(_PRECISION):
        ratio = arb(epsilon).exp()
        return ball.fraction_below(1 / (ratio + 2 + 1 / ratio)) * covered * distance**2
