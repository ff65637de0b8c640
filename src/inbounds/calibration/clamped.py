"""Privacy of Gaussian noise whose outputs are moved to the nearest bound if they leave the box.

On an interval the guarantee is known exactly: with x = min(ε/γ - γ/2, u - γ) in units of sigma,

    δ(ε) = Φ(-x) - e^ε Φ(-x-γ),      pure ε = ln Φ(γ-u)/Φ(-u)

so clamping improves privacy if the box is not much wider than the noise.
"""

import math

import numpy as np
from flint import arb, ctx
from scipy.special import erfcx

from inbounds._types import Floats
from inbounds.calibration.gaussian import gaussian_mu
from inbounds.numerics import ball
from inbounds.numerics.quadrature import unit_rule
from inbounds.numerics.search import crossing, next_admissible
from inbounds.reach import Reach

_MOST_BITS = 1 << 13
_ROUNDING = 2.0**-45
_SMALLEST = math.ulp(0.0)
_NODES, _WEIGHTS = unit_rule(8)


def clamped_delta(width: float, change: float, sigma: float, epsilon: float) -> float:
    """Return delta at `epsilon`, rounded up.

    Delta increases with width/sigma and change/sigma, so a slightly smaller sigma covers rounding.

    Proof: docs/proofs/clamped.md, theorem 4.
    """
    precision = 128
    while True:
        with ctx.workprec(precision):
            spread, budget = arb(sigma) / (1 + 2.0**-52), arb(epsilon)
            u, shift = arb(width) / spread, arb(change) / spread
            x = (budget / shift - shift / 2).min(u - shift)
            if x < -40:  # Φ(-40) is below every double
                return 1.0
            far = budget.exp() * _above(x + shift)
            delta = _above(x) - (far if far.is_finite() else 0)  # without it, an upper bound
            if x < 40 and delta.rel_accuracy_bits() > 50:
                return min(1.0, max(0.0, ball.float_above(delta)))
        if precision == 128 and epsilon >= _interval_epsilon(width, change, sigma):
            return 0.0
        if x > 40:
            return _SMALLEST
        if precision >= _MOST_BITS or delta < 2.0**-1000:
            return min(1.0, max(0.0, ball.float_above(delta)))
        precision *= 2


def _above(x: arb) -> arb:
    return (x / arb(2).sqrt()).erfc() / 2


def clamped_sigma(width: float, change: float, epsilon: float, delta: float) -> float:
    """Return the smallest sigma that gives (epsilon, delta).

    Proof: docs/proofs/clamped.md, theorem 4.
    """

    def found(sigma: float) -> float:
        if delta == 0:  # compare the number that the mechanism will report
            return _interval_epsilon(width, change, sigma)
        return clamped_delta(width, change, sigma, epsilon)

    def excess(sigma: float) -> float:
        return math.log(max(found(sigma), _SMALLEST) / asked)

    asked = delta or epsilon
    high = change / gaussian_mu(epsilon, delta) if delta else change
    low = high * (1 - 1e-11)
    while found(high) > asked:
        low, high = high, 2 * high
    while found(low) <= asked:
        low, high = low / 2, low
    near = crossing(excess, low, high) if excess(low) > 0 > excess(high) else high
    return next_admissible(near, lambda sigma: found(sigma) <= asked)


def _interval_epsilon(width: float, change: float, sigma: float) -> float:
    """Return the pure epsilon (docs/proofs/clamped.md, theorem 3), rounded up."""
    sides = (np.array([side]) for side in (width, change, sigma))
    return float(_losses(*sides)[0]) * (1 + _ROUNDING)


def clamped_epsilon(widths: Floats, reach: Reach, sigma: Floats) -> float:
    """Bound the pure epsilon from above; exactly, if coordinates are bounded one by one.

    With a norm, the sum of concave losses is bounded by its tangent at one change.

    Proof: docs/proofs/clamped.md, theorem 5.
    """
    most = float(_losses(widths, reach.caps, sigma).sum())
    if reach.order is not None:
        caps = np.minimum(reach.caps, reach.radius)
        change = caps * min(1.0, reach.radius / float(np.linalg.norm(caps, reach.order)))
        slopes = _slopes((widths - change) / sigma) / sigma
        steepest = float(np.linalg.norm(slopes, {1: np.inf, 2: 2}[reach.order]))
        tangent = float((_losses(widths, change, sigma) - slopes * change).sum())
        most = min(most, tangent + steepest * reach.radius)
    return most * (1 + _ROUNDING)


def _losses(widths: Floats, change: Floats, sigma: Floats) -> Floats:
    """Return ln Φ(γ-u)/Φ(-u), for small γ as the integral of its slope.

    Proof: docs/proofs/clamped.md, theorem 5.
    """
    u, shift, rest = widths / sigma, change / sigma, (widths - change) / sigma
    short = np.minimum(shift, 0.5)
    small = short * sum(
        w * _slopes(rest + short * x) for x, w in zip(_NODES, _WEIGHTS, strict=True)
    )
    ratio = erfcx(rest / math.sqrt(2)) / erfcx(u / math.sqrt(2))
    return np.where(shift <= 0.5, small, shift * (u + rest) / 2 + np.log(ratio))


def _slopes(rest: Floats) -> Floats:
    """Return φ(r)/Φ(-r), by a scaled function that does not underflow.

    Proof: docs/proofs/clamped.md, theorem 5.
    """
    result: Floats = math.sqrt(2 / math.pi) / erfcx(rest / math.sqrt(2))
    return result
