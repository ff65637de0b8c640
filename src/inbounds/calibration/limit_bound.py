"""Choose lattices, find evidence on them, and prove it: the work behind a lower bound on error.

A lattice is fine enough if squares of its spacing hardly matter. On a wide interval the evidence is
found on a narrow one and repeated in the middle, because what happens far from both ends is the
same everywhere. Only what `limit_proof` has checked is returned.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from inbounds._types import Floats
from inbounds.calibration.limit_lattice import Dual, ValueLattice, centred
from inbounds.calibration.limit_margin import proved
from inbounds.calibration.limit_problem import MOST_STEPS, Problem, bound
from inbounds.calibration.limit_proof import LatticeProof
from inbounds.calibration.limit_search import UnbiasedSearch, WeightedSearch, WorstSearch
from inbounds.calibration.objective import Objective
from inbounds.numerics.staircase import least_variance

_SEARCHED = 240  # the most places of a lattice on which evidence is searched for
_EASY = 2400  # places times reach of a lattice on which the search is fast
_WORST_SEARCHED = 49  # the same, if the weights of the places are searched for too
_COARSE = 41  # the same, for weights that are refined afterwards
_WEIGHTED = 200  # the same, for given weights
_UNBIASED_SEARCHED = 50  # the same, for unbiased outputs
_LARGEST_LOG_RATIO = 600.0
_ONE_BIT = 1.762747  # below ln(3 + 2√2)
_LARGEST_EPSILON = 25.0  # beyond, closed forms must do
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
        if not self.proofs and self.form not in ("pairs", "two_ends"):
            return Fraction(0)
        return bound(
            problem,
            self.form,
            epsilon,
            group=self.group,
            stride=self.stride,
            proofs=self.proofs,
        )


@lru_cache(maxsize=256)
def evidence(problem: Problem, epsilon: float, objective: Objective, tolerance: float) -> Evidence:
    """Return the best evidence that was found; the problem should have a sensitivity of 1."""
    candidates = [Evidence("pairs")]
    if not problem.has_neighbours:
        return candidates[0]
    if objective == "worst":
        candidates.append(Evidence("two_ends", _group_for_two_ends(problem)))
        if problem.ratio == 1 and problem.step is None and epsilon <= _ONE_BIT:
            return candidates[1]  # the least worst error: docs/proofs/limit.md, theorem 9
    if epsilon <= _LARGEST_EPSILON:
        candidates.append(_average(problem, epsilon, tolerance))
        least = candidates[-1].value(problem, epsilon)
        most = problem.reachable**2 * Fraction(least_variance(epsilon))
        if objective == "worst" and least < most * (1 - Fraction(tolerance)):
            candidates.append(_worst(problem, epsilon, tolerance))
        if objective == "unbiased":
            candidates.append(_unbiased(problem, epsilon, tolerance))
    return max(candidates, key=lambda found: found.value(problem, epsilon))


def _group_for_two_ends(problem: Problem) -> int:
    return math.ceil(problem.ratio / (MOST_STEPS // 2))


def _average(problem: Problem, epsilon: float, tolerance: float) -> Evidence:
    """Bound the average error by lattices of equally likely values.

    Proof: docs/proofs/limit.md, theorem 7.
    """
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
    proofs = [
        proved(dual, reach, epsilon=epsilon, group=group, share=tolerance * 0.05) for dual in found
    ]
    return Evidence("average", group, stride, tuple(p for p in proofs if p is not None))


def _group(problem: Problem, epsilon: float) -> int:
    """Return how many changes to take together: several, if there are very many small ones."""
    if problem.ratio <= 60:
        return 1
    return max(1, min(math.floor(_SMOOTH / epsilon), math.floor(problem.ratio / 30), 1 << 50))


def _strided(problem: Problem, group: int, reach: int) -> tuple[int, int, Fraction]:
    """Return the stride, the reach and the length of lattices among values with a step."""
    jump = min(group * problem.jump, problem.points - 1)
    stride = max(1, jump // max(reach, 1))
    if jump == problem.points - 1:  # all are neighbours
        return stride, problem.points, Fraction(problem.points, stride)
    return stride, max(1, jump // stride), Fraction(problem.points, stride)


def _reach(ratio: Fraction, epsilon: float, share: float) -> int:
    """Return how many places per sensitivity keep the loss of a lattice, 1/12 spacing², small."""
    width = float(min(ratio, Fraction(10**6)))
    typical = 1 / (12 / width**2 + 1 / max(least_variance(epsilon), 1e-30))
    typical *= 0.4 if width < 3 else 0.8
    least = math.ceil(1 / math.sqrt(12 * share * typical))
    searched = _SEARCHED if epsilon < 9 else _SEARCHED // 2  # finer ones would hardly be enough
    most = max(4, math.floor(searched / min(width, 4)))
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
    found: dict[int, Dual | None] = {}
    duals = []
    for size in sizes:
        small = min(size, enough)
        if small not in found:
            lattice = ValueLattice.of(small, reach, epsilon)
            free = None if small == size else min(own, (small - 1) // 2 - reach // 2)
            found[small] = WeightedSearch(lattice, np.ones(small), tolerance, free).run()
        if (dual := found[small]) is not None:
            duals.append(_stretched(dual, size))
    return duals


def _stretched(dual: Dual, size: int) -> Dual:
    """Return evidence for a larger lattice: the value in the middle is repeated there."""
    small = dual.values.size
    if small == size:
        return dual
    values = dual.values + centred(small) ** 2  # of the errors themselves, for weights of 1
    half = small // 2
    values = np.insert(values, half, np.full(size - small, values[half]))
    places = centred(size)
    return Dual(np.ones(size), 2 * places, values - places**2, float(values.mean()))


def _worst(problem: Problem, epsilon: float, tolerance: float) -> Evidence:
    """Bound the worst error by the average for weights that are hard for every mechanism.

    Proof: docs/proofs/limit.md, theorem 8.
    """
    group, stride = _group(problem, epsilon), 1
    together = group * epsilon
    ratio = max(problem.ratio / group, Fraction(1))
    reach = _reach(ratio, together, tolerance * 0.5)
    ratio = max(Fraction(1), min(ratio, Fraction(_WEIGHTED, reach)))  # a part of the interval
    if problem.step is None:
        size = round(reach * ratio) + 1
    else:
        stride, reach, length = _strided(problem, group, reach)
        size = min(math.ceil(length), round(reach * ratio) + 1)
    levels = max(1, math.floor(_LARGEST_LOG_RATIO / together) - 1)
    size = max(2, min(size, levels * reach + 1))
    lattice = ValueLattice.of(size, reach, together)
    dual = _hardest(lattice, tolerance * 0.3)
    if dual is None:
        return Evidence("prior")
    proof = proved(dual, reach, epsilon=epsilon, group=group, share=tolerance * 0.05)
    return Evidence("prior", group, stride, () if proof is None else (proof,))


def _hardest(lattice: ValueLattice, tolerance: float) -> Dual | None:
    """Return evidence with weights for which every mechanism has a large average error.

    On large lattices the weights come from a coarser one, or are those of a squared cosine, which
    are best on wide intervals.
    """
    size = lattice.places.size
    if size <= _WORST_SEARCHED:
        return WorstSearch(lattice, tolerance).run()
    ratio = (size - 1) / lattice.reach
    weights = [np.cos(np.pi * lattice.places / (size + 1)) ** 2]
    reach = max(1, math.floor((_COARSE - 1) / ratio))
    coarse = ValueLattice.of(min(round(reach * ratio) + 1, _COARSE), reach, lattice.epsilon)
    if (found := WorstSearch(coarse, 2 * tolerance).run()) is not None:
        weights.append(_refined(found.weights, size))
    searches = (WeightedSearch(lattice, row / row.mean(), tolerance) for row in weights)
    duals = [dual for search in searches if (dual := search.run()) is not None]
    return max(duals, key=lambda dual: dual.bound, default=None)


def _refined(weights: Floats, size: int) -> Floats:
    """Return the weights of a coarse lattice on one with more places; the ends stay heavy."""
    atom = max(0.0, float(weights[0] - weights[1] / 2))
    inner = weights.copy()
    inner[[0, -1]] -= atom
    cells = [
        np.concatenate([[0.0], np.arange(0.5, count - 1) / (count - 1), [1.0]])
        for count in (weights.size, size)
    ]
    cumulative = np.concatenate([[0.0], np.cumsum(inner)])
    fine = np.diff(np.interp(cells[1], cells[0], cumulative))
    fine[[0, -1]] += atom
    symmetric: Floats = (fine + fine[::-1]) / 2
    return symmetric


def _unbiased(problem: Problem, epsilon: float, tolerance: float) -> Evidence:
    """Bound the average variance of unbiased outputs, with the ends of the interval as places.

    Proof: docs/proofs/limit.md, theorem 8.
    """
    if problem.step is not None:
        return _unbiased_points(problem, epsilon, tolerance)
    reach = _reach(problem.ratio, epsilon, tolerance * 0.4)
    length = reach * problem.ratio
    if not 4 <= length <= _UNBIASED_SEARCHED:
        return Evidence("unbiased")
    proofs = []
    for count in _sizes(length, reach, epsilon):
        end = float(length) / 2
        places = np.concatenate([[-end], centred(count), [end]])
        lattice = ValueLattice(places, reach if problem.ratio > 1 else reach + 2, epsilon)
        weights = np.concatenate([[0.0], np.ones(count), [0.0]])
        proofs.append(_proved_variance(lattice, weights, tolerance))
    return Evidence("unbiased", proofs=tuple(proof for proof in proofs if proof is not None))


def _unbiased_points(problem: Problem, epsilon: float, tolerance: float) -> Evidence:
    """Bound the average variance of unbiased outputs for a few values with a step.

    Proof: docs/proofs/limit.md, theorem 8.
    """
    points, jump = problem.points, problem.jump
    reach = points if jump == points - 1 else jump
    if points > _UNBIASED_SEARCHED or points / reach * epsilon > _LARGEST_LOG_RATIO - epsilon:
        return Evidence("unbiased")
    lattice = ValueLattice.of(points, reach, epsilon)
    proof = _proved_variance(lattice, np.ones(points), tolerance)
    return Evidence("unbiased", proofs=() if proof is None else (proof,))


def _proved_variance(
    lattice: ValueLattice, weights: Floats, tolerance: float
) -> LatticeProof | None:
    search = UnbiasedSearch(lattice, weights, tolerance * 0.3)
    if (dual := search.run()) is None:
        return None
    end = search.largest_output(dual.weights, dual.slopes)
    share = tolerance * 0.05
    return proved(dual, lattice.reach, epsilon=lattice.epsilon, group=1, share=share, end=end)
