"""Choose lattices, find evidence on them, and prove it: the work behind a lower bound on error.

A lattice is fine enough if squares of its spacing hardly matter. On a wide interval the evidence is
found on a narrow one and repeated in the middle, because what happens far from both ends is the
same everywhere. Only what `limit_proof` has checked is returned.

Proof: docs/proofs/limit.md, theorems 7 and 8.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from inbounds._types import Floats
from inbounds.calibration.limit_problem import MOST_STEPS, Objective, Problem, bound
from inbounds.calibration.limit_proof import LatticeProof
from inbounds.calibration.limit_search import (
    Dual,
    Lattice,
    WeightedSearch,
    WorstSearch,
    least_ratio,
)
from inbounds.errors import CertificateError

_SEARCHED = 240  # the most places of a lattice on which evidence is searched for
_EASY = 2400  # places times reach of a lattice on which the search is fast
_WORST_SEARCHED = 49  # the same, if the weights of the places are searched for too
_MOST_COSTS = 1 << 23  # places times outputs of a proof
_LARGEST_LOG_RATIO = 600.0
_SMOOTH = 0.25  # at a smaller epsilon, several changes may be taken together


@dataclass(frozen=True, slots=True)
class Evidence:
    """What bounds the error: a form, and the lattices with their proofs."""

    form: str
    group: int = 1
    stride: int = 1
    proofs: tuple[LatticeProof, ...] = ()

    def value(self, problem: Problem, epsilon: float) -> Fraction:
        """Return the mean squared error that is proved."""
        return bound(problem, self.form, epsilon, self.group, self.stride, self.proofs)


@lru_cache(maxsize=256)
def evidence(
    problem: Problem, epsilon: float, objective: Objective, tolerance: float
) -> Evidence:
    """Return the best evidence that was found; the problem should have a sensitivity of 1."""
    candidates: list[Evidence] = [Evidence("pairs")]
    if not problem.has_neighbours:
        return candidates[0]
    if objective == "worst":
        candidates.append(Evidence("two_ends", _group_for_two_ends(problem)))
        candidates.append(_worst(problem, epsilon, tolerance))
    candidates.append(_average(problem, epsilon, tolerance))
    return max(candidates, key=lambda found: found.value(problem, epsilon))


def _group_for_two_ends(problem: Problem) -> int:
    return math.ceil(problem.ratio / (MOST_STEPS // 2))


def _average(problem: Problem, epsilon: float, tolerance: float) -> Evidence:
    """Bound the average error by lattices of equally likely values."""
    group = _group(problem, epsilon)
    together = group * epsilon
    ratio = max(problem.ratio / group, Fraction(1))
    reach = _reach(ratio, together, tolerance * 0.5)
    stride = 1
    if problem.step is None:
        length = reach * ratio
    else:
        stride, reach, length = _strided(problem, group, reach)
    sizes = _sizes(length, reach, together)
    found = _duals(sizes, reach, together, tolerance * 0.1)
    proofs = [_proved(dual, reach, epsilon, group, tolerance * 0.05) for dual in found]
    return Evidence("average", group, stride, tuple(p for p in proofs if p is not None))


def _group(problem: Problem, epsilon: float) -> int:
    """Return how many changes to take together: several, if there are very many small ones."""
    if problem.ratio <= 60:
        return 1
    return max(1, min(math.floor(_SMOOTH / epsilon), math.floor(problem.ratio / 30)))


def _strided(problem: Problem, group: int, reach: int) -> tuple[int, int, Fraction]:
    """Return the stride, the reach and the length of lattices among values with a step."""
    jump = min(group * problem.jump, problem.points - 1)
    stride = max(1, jump // max(reach, 1))
    if jump == problem.points - 1:  # all are neighbours
        return stride, problem.points, Fraction(problem.points, stride)
    return stride, max(1, jump // stride), Fraction(problem.points, stride)


def staircase_variance(epsilon: float) -> float:
    """Return the variance of the best noise for an unbounded value, for a sensitivity of 1.

    Examples
    --------
    >>> round(staircase_variance(1.0), 6)
    1.918104
    """
    fall = math.exp(-epsilon)
    return (2 ** (-2 / 3) * (fall * (1 + fall)) ** (2 / 3) + fall) / math.expm1(-epsilon) ** 2


def _reach(ratio: Fraction, epsilon: float, share: float) -> int:
    """Return how many places per sensitivity keep the loss of a lattice, 1/12 spacing², small."""
    width = float(ratio)
    typical = 1 / (12 / width**2 + 1 / max(staircase_variance(epsilon), 1e-30))
    typical *= 0.4 if width < 3 else 0.8
    least = math.ceil(1 / math.sqrt(12 * share * typical))
    most = max(4, math.floor(_SEARCHED / min(width, 4)))
    least = max(1, min(least, most), math.ceil(8 / width))
    if ratio == 1:
        return least
    return min(range(least, least + least // 4 + 4), key=lambda reach: _waste(reach * ratio))


def _waste(length: Fraction) -> float:
    """Return how far a length is from a whole number, in parts of it; nearly whole is best."""
    return float(abs(length - round(length)) > Fraction(1, 1000)) * float(1 + length / 100)


def _sizes(length: Fraction, reach: int, epsilon: float) -> list[int]:
    """Return the sizes of the lattices that meet an interval, or of parts of them."""
    most = math.ceil(length)
    part = length - (most - 1)
    sizes = [most] if part > Fraction(1, 1000) else []
    sizes += [most - 1] if part < Fraction(999, 1000) and most > 1 else []
    levels = max(1, math.floor(_LARGEST_LOG_RATIO / epsilon) - 1)
    largest = min(levels * reach, 1 << 11)
    return sorted({size // math.ceil(size / largest) for size in sizes})


def _duals(sizes: Iterable[int], reach: int, epsilon: float, tolerance: float) -> list[Dual]:
    """Return evidence for lattices of some sizes, from one small lattice if they are large."""
    own = math.ceil((1.5 + 5 / epsilon) * reach)  # the places at each end with own values
    enough = max(min(2 * own + 2 * reach, _SEARCHED), min(_SEARCHED, _EASY // reach))
    found: dict[int, Dual] = {}
    duals = []
    for size in sizes:
        small = min(size, enough)
        if small not in found:
            lattice = Lattice.of(small, reach, epsilon)
            free = None if small == size else min(own, (small - 1) // 2 - reach // 2)
            found[small] = WeightedSearch(lattice, np.ones(small), tolerance, free).run()
        duals.append(_stretched(found[small], size))
    return duals


def _stretched(dual: Dual, size: int) -> Dual:
    """Return evidence for a larger lattice: the value in the middle is repeated there."""
    small = dual.values.size
    if small == size:
        return dual
    places = np.arange(small) - (small - 1) / 2
    values = dual.values + places**2  # of the errors themselves, for weights of 1
    half = small // 2
    values = np.insert(values, half, np.full(size - small, values[half]))
    places = np.arange(size) - (size - 1) / 2
    return Dual(np.ones(size), 2 * places, values - places**2, float(values.mean()))


def _proved(
    dual: Dual, reach: int, epsilon: float, group: int, share: float
) -> LatticeProof | None:
    """Return a checked proof with the largest margin that was found, or None."""
    size = dual.weights.size
    weights, values = (_symmetric(part) for part in (dual.weights, dual.values))
    spacing = _rounded(2 * math.sqrt(share * max(dual.bound, 1e-12)))
    end = (size - 1) / 2
    spacing = max(spacing, _rounded(end * size / _MOST_COSTS))
    proof = LatticeProof(
        reach=min(reach, size),
        weights=tuple(weights.tolist()),
        slopes=None,
        values=tuple(values.tolist()),
        margin=0.0,
        spacing=spacing,
        outputs=math.ceil(end / spacing) + 1,
    )
    lattice = Lattice.of(size, proof.reach, epsilon * group)
    margin = _margin(lattice, (weights, 2 * weights * lattice.places, values), proof)
    for room in (1e-6, 1e-4, 1e-2):
        proof = replace(proof, reach=reach, margin=float(margin - room * max(dual.bound, 1e-12)))
        try:
            proof.check(epsilon, group)
        except CertificateError:
            continue
        return proof
    return None


def _margin(lattice: Lattice, dual: tuple[Floats, Floats, Floats], proof: LatticeProof) -> float:
    """Return the least ratio at the proof's grid of outputs, or zero if it is not negative."""
    sample = np.arange(0, proof.outputs + 1, 1 + proof.outputs // 100) * proof.spacing
    lowest = 0.0
    for outputs in (sample, *proof.blocks()):
        lowest = float(least_ratio(lattice, dual, outputs, lowest)[0].min(initial=lowest))
    return lowest


def _symmetric(row: Floats) -> Floats:
    half: Floats = (row + row[::-1]) / 2
    return half


def _rounded(number: float) -> float:
    """Return a number of four bits, at most as large."""
    fraction, exponent = math.frexp(number)
    return math.ldexp(math.floor(fraction * 16), exponent - 4)


def _worst(problem: Problem, epsilon: float, tolerance: float) -> Evidence:
    """Bound the worst error by the average for weights that are hard for every mechanism."""
    group, stride = _group(problem, epsilon), 1
    together = group * epsilon
    ratio = max(problem.ratio / group, Fraction(1))
    reach = _reach(ratio, together, tolerance * 0.4)
    ratio = min(ratio, Fraction(12))  # a part of the interval
    reach = max(1, min(reach, math.floor((_WORST_SEARCHED - 1) / float(ratio))))
    if problem.step is None:
        size = round(reach * ratio) + 1
    else:
        stride, reach, length = _strided(problem, group, reach)
        size = min(math.floor((problem.points - 1) / stride) + 1, math.ceil(reach * ratio) + 1)
    levels = max(1, math.floor(_LARGEST_LOG_RATIO / together) - 1)
    size = min(size, levels * reach + 1)
    lattice = Lattice.of(size, reach, together)
    dual = WorstSearch(lattice, tolerance * 0.3).run()
    proof = _proved(dual, reach, epsilon, group, tolerance * 0.05)
    return Evidence("prior", group, stride, () if proof is None else (proof,))
