"""Turn a dual solution into a proof: round it, find its margin on a grid of outputs, check it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from inbounds._types import Floats
from inbounds.calibration.limit_lattice import Dual, ValueLattice, least_ratio
from inbounds.calibration.limit_proof import LatticeProof
from inbounds.errors import CertificateError

_MOST_COSTS = 1 << 23  # places times outputs of a proof
_ROOMS = (1e-6, 1e-4, 1e-2)  # of the bound, to give up for rounding errors


def proved(
    dual: Dual, reach: int, *, epsilon: float, group: int, share: float, end: float | None = None
) -> LatticeProof | None:
    """Return a checked proof with the largest margin that was found, or None.

    Between outputs of its grid: docs/proofs/limit.md, theorem 5.

    Parameters
    ----------
    dual, reach
        The dual solution, and the largest distance of neighbours in places.
    epsilon, group
        Of the mechanisms, and how many changes join neighbours.
    share
        The part of the bound that may be lost between outputs of the grid.
    end
        The largest output. If it is given, the slopes are those of the dual solution, and otherwise
        they follow from its weights.
    """
    size = dual.weights.size
    weights, values = ((part + part[::-1]) / 2 for part in (dual.weights, dual.values))
    slopes = None if end is None else (dual.slopes - dual.slopes[::-1]) / 2
    last = (size - 1) / 2 if end is None else end
    scale = max(dual.bound, 1e-12)
    spacing = _rounded(max(2 * math.sqrt(share * scale), last * size / _MOST_COSTS))
    proof = LatticeProof(
        reach=reach,
        weights=tuple(weights.tolist()),
        slopes=None if slopes is None else tuple(slopes.tolist()),
        values=tuple(values.tolist()),
        margin=0.0,
        spacing=spacing,
        outputs=math.ceil(last / spacing) + 1,
    )
    lattice = ValueLattice.of(size, reach, epsilon * group)
    if slopes is None:
        slopes = 2 * weights * lattice.places
    margin = _margin(lattice, (weights, slopes, values), proof)
    for room in _ROOMS:
        proof = replace(proof, margin=float(margin - room * scale))
        try:
            proof.check(epsilon, group)
        except CertificateError:
            continue
        return proof
    return None


def _margin(
    lattice: ValueLattice, dual: tuple[Floats, Floats, Floats], proof: LatticeProof
) -> float:
    """Return the least ratio at the proof's grid of outputs, or zero if it is not negative."""
    sample = np.arange(0.0, proof.outputs + 1, 1 + proof.outputs // 100) * proof.spacing
    lowest = 0.0
    for outputs in (sample, *proof.blocks()):
        margins, _ = least_ratio(lattice, dual, outputs, lowest)
        lowest = float(margins.min(initial=lowest))
    return lowest


def _rounded(number: float) -> float:
    """Return a number of four bits, at most as large."""
    fraction, exponent = math.frexp(number)
    return math.ldexp(math.floor(fraction * 16), exponent - 4)
