"""The plain Gaussian's (ε, δ) guarantee, evaluated in ball arithmetic (Balle and Wang, 2018).

Two normal distributions of variance one whose means differ by μ have
δ(ε) = Φ(μ/2 - ε/μ) - e^ε Φ(-μ/2 - ε/μ). Gaussian noise with σ = Δ/μ has this δ for a sensitivity of
Δ, and at most this δ if it is clamped.
"""

import math

from flint import arb, ctx
from scipy.special import erfcx, ndtri

from inbounds.numerics import ball

_MOST_BITS = 1 << 13
_SMALLEST = math.ulp(0.0)
_ROOT_HALF, _ROOT_TWO_PI = math.sqrt(0.5), math.sqrt(2 * math.pi)
_NEWTON, _NEAR = 40, 1e-7  # steps in doubles, and the last of them: the next error is its square


def gaussian_delta(mu: float, epsilon: float) -> float:
    """Return the δ of two normal distributions `mu` standard deviations apart, rounded up.

    Proof: docs/proofs/approximate.md, theorem 7.

    Examples
    --------
    >>> gaussian_delta(1.0, 1.0)
    0.126936737506643...
    """
    distance = epsilon / mu - mu / 2
    if abs(distance) > 40:  # Φ(-40) is below every double
        return _SMALLEST if distance > 0 else 1.0
    precision = 128
    while True:
        with ctx.workprec(precision):
            shift, rate = arb(mu) / 2, arb(epsilon) / arb(mu)
            root = arb(2).sqrt()
            near = ((rate - shift) / root).erfc()
            far = ((rate + shift) / root).erfc()
            delta = (near - arb(epsilon).exp() * far) / 2
            if delta.rel_accuracy_bits() > 58 or precision >= _MOST_BITS:
                return min(1.0, ball.float_above(delta))
        precision *= 2


def gaussian_mu(epsilon: float, delta: float) -> float:
    """Return the largest μ whose δ at `epsilon` is at most `delta`, to about 12 digits.

    Doubles find about where it is; only a μ whose δ was evaluated in ball arithmetic is returned.
    Proof: docs/proofs/approximate.md, theorem 7.

    Examples
    --------
    >>> gaussian_mu(1.0, 1e-6)  # the analytic Gaussian: sigma = sensitivity / mu
    0.236704...
    """
    low, high = math.log(1e-305), math.log(3 * math.sqrt(epsilon) + 100.0)
    guess, close = _start(epsilon, delta, low, high), 1e-12 * (1 - delta)
    for _ in range(200):
        mu = math.exp(guess)
        reached = gaussian_delta(mu, epsilon)
        error = math.log(reached / delta) if reached > 1e-300 else -math.inf
        low, high = (guess, high) if reached <= delta else (low, guess)
        if -close <= error <= 0 or high - low < 1e-14:
            break
        distance = min(40.0, abs(epsilon / mu - mu / 2))
        slope = mu * math.exp(-distance * distance / 2) / math.sqrt(2 * math.pi) / reached
        step = -(error + close / 4) / slope if slope > 0 else math.inf  # slope of ln δ in ln μ
        guess = guess + step if low < guess + step < high else (low + high) / 2
    return math.exp(low)


def _start(epsilon: float, delta: float, low: float, high: float) -> float:
    """Return about ln μ by Newton's method in doubles. The search is only quicker if it is good."""
    tail = -float(ndtri(delta))  # δ is at most Φ(-tail) if ε/μ - μ/2 = tail
    mu = max(math.hypot(tail, math.sqrt(2 * epsilon)) - tail, delta * _ROOT_TWO_PI)
    guess, goal = math.log(max(mu, 1e-300)), math.log(delta)
    for _ in range(_NEWTON):
        mu = math.exp(min(max(guess, low), high))
        near, far = epsilon / mu - mu / 2, epsilon / mu + mu / 2
        quotient = float(erfcx(near * _ROOT_HALF) - erfcx(far * _ROOT_HALF)) / 2  # δ e^{near²/2}
        if not 0 < quotient < math.inf:  # doubles do not tell
            return (low + high) / 2
        step = (goal - math.log(quotient) + near * near / 2) * _ROOT_TWO_PI * quotient / mu
        guess = math.log(mu) + min(max(step, -1.0), 1.0)
        if abs(step) < _NEAR:
            break
    return min(max(guess, low), high)
