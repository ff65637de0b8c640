"""Chen and Hale's calibration: Theorems 1 and 2 with the side condition they need.

Their inequality is σ² >= K/(ε - ln ΔC(σ)) with K = (‖w‖ + ΔQ/2)ΔQ, and needs ε > ln ΔC(σ); without
this condition every small σ satisfies it. For σ >= σ₀ = √(K/ε) the condition holds, and the right
side decreases while the left side increases. So there is one root, inside the bracket of Algorithms
1 and 2. It is found by Brent's method, and the result is on the feasible side.
"""

import math

import numpy as np

from inbounds._types import Floats
from inbounds.calibration.concave import RATIO, Coordinates
from inbounds.calibration.waterfill import worst_change
from inbounds.numerics import partition
from inbounds.numerics.search import crossing, next_admissible


def sigma(widths: Floats, diameter: float, epsilon: float) -> float:
    """Return the smallest σ that the paper's theorem allows for an l2 sensitivity `diameter`.

    Proof, and errors in the paper: docs/proofs/paper.md, theorems 1, 2 and 5.
    """
    numerator = (float(np.linalg.norm(widths)) + diameter / 2) * diameter

    def right_side(square: float) -> float:
        return numerator / (epsilon - log_delta_c(widths, diameter, math.sqrt(square)))

    left = numerator / epsilon
    right = right_side(left)
    square = left
    if right > left * (1 + 1e-15):
        square = crossing(lambda q: q - right_side(q), left, right)
    square = next_admissible(square, lambda square: right_side(square) <= square, step=2.0**-51)
    return math.sqrt(square) * (1 + 2.0**-52)


def log_delta_c(widths: Floats, diameter: float, sigma: float) -> float:
    """Return ln ΔC(σ), the paper's c* problem: its logarithm is a concave maximisation.

    No change of more than half the width of an interval increases it. Proof:
    docs/proofs/paper.md, theorem 4.
    """
    if widths.size == 1:
        width = float(widths[0])
        return partition.log_ratio(width / sigma, min(diameter, width / 2) / sigma)
    distinct, count = np.unique(widths, return_counts=True)
    cap = np.minimum(distinct / 2, diameter)
    active = diameter**2 < float(count @ cap**2)
    coordinates = Coordinates(distinct, cap, count.astype(float), 2 if active else None, diameter)
    change = worst_change(coordinates, np.full_like(distinct, sigma), of=RATIO).change
    return float(count @ partition.log_ratios(distinct / sigma, change / sigma))
