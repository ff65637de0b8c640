"""Liu's calibration of the bounded Gaussian (2019), for comparison with Chen and Hale's."""

import math

from inbounds._types import Floats
from inbounds.reach import Reach


def sigma(widths: Floats, reach: Reach, epsilon: float) -> float:
    """Return σ with σ² = Σ(2 wᵢΔᵢ + Δᵢ²)/ε, Δ the caps of `reach`, rounded up.

    Proof: docs/proofs/paper.md, theorem 6.
    """
    total = math.fsum((2 * widths + reach.caps) * reach.caps)
    return math.sqrt(total / epsilon) * (1 + 2.0**-50)
