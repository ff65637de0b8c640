"""How a guarantee is divided between the sums of a request and its quantiles.

Pure epsilons and rhos add up. With a delta, quantiles are either pure, and the sums have the whole
delta, or everything is in terms of rho.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from inbounds.calibration.approximate import rho_delta
from inbounds.calibration.gaussian import gaussian_mu
from inbounds.frames.central.allowance import Allowance
from inbounds.guarantee import Guarantee

_HALVINGS = 60


@dataclass(frozen=True, slots=True)
class Shares:
    """What is left for sums, and for quantiles; None if nothing is."""

    sums: Guarantee | None
    quantiles: Allowance | None


def of_one_number(guarantee: Guarantee) -> float:
    """Return the standard deviation of the noise that hides a change of one number by 1.

    Examples
    --------
    >>> round(of_one_number(Guarantee(epsilon=1.0)), 3), round(of_one_number(Guarantee(rho=0.5)), 3)
    (1.414, 1.0)
    """
    if guarantee.rho is not None:
        return 1 / math.sqrt(2 * guarantee.rho)
    epsilon, delta = guarantee.pair
    laplace = math.sqrt(2) / epsilon
    return min(laplace, 1 / gaussian_mu(epsilon, delta)) if delta else laplace


def divide(
    guarantee: Guarantee,
    fraction: Fraction,
    draws: int = 1,
    deviation: Callable[[Guarantee], float] = of_one_number,
) -> Shares:
    """Divide a guarantee between sums and quantiles.

    Proof: docs/proofs/quantiles.md, theorem 11.

    Parameters
    ----------
    guarantee
        What both together must give.
    fraction
        The fraction for quantiles, from 0 to 1.
    draws
        About how many draws the quantiles consist of.
    deviation
        The error of the sums, in any unit, if they have a guarantee.

    Examples
    --------
    >>> divide(Guarantee(epsilon=1.0), Fraction(1, 4)).sums
    Guarantee(epsilon=0.75)
    >>> divide(Guarantee(epsilon=1.0, delta=1e-6), Fraction(1, 4)).sums
    Guarantee(epsilon=0.75, delta=1e-06)
    >>> divide(Guarantee(epsilon=1.0, delta=1e-6), Fraction(3, 4), draws=40).sums
    Guarantee(rho=0.0...)
    >>> divide(Guarantee(rho=1.0), Fraction(1)).sums is None
    True
    """
    if not fraction:
        return Shares(guarantee, None)
    if guarantee.rho is not None:
        return _concentrated(guarantee.rho, fraction)
    epsilon, delta = guarantee.pair
    pure = _pure(epsilon, delta, fraction)
    if not delta:
        return pure
    concentrated = _concentrated(rho_within(epsilon, delta), fraction)
    return min(pure, concentrated, key=lambda shares: _noise(shares, fraction, draws, deviation))


def rho_within(epsilon: float, delta: float) -> float:
    """Return about the largest rho that gives epsilon at delta, and never more.

    Examples
    --------
    >>> rho = rho_within(1.0, 1e-6)
    >>> round(rho, 4), rho_delta(rho, 1.0) <= 1e-6
    (0.0244, True)
    """
    low, high = 0.0, epsilon
    for _ in range(_HALVINGS):
        middle = low / 2 + high / 2
        low, high = (middle, high) if rho_delta(middle, epsilon) <= delta else (low, middle)
    return low


def _pure(epsilon: float, delta: float, fraction: Fraction) -> Shares:
    allowance = Allowance(Fraction(epsilon) * fraction, concentrated=False)
    rest = float_below(Fraction(epsilon) - allowance.amount)
    return Shares(Guarantee(rest, delta) if fraction < 1 else None, allowance)


def _concentrated(rho: float, fraction: Fraction) -> Shares:
    allowance = Allowance(Fraction(rho) * fraction, concentrated=True)
    rest = float_below(Fraction(rho) - allowance.amount)
    return Shares(Guarantee(rho=rest) if fraction < 1 else None, allowance)


def _noise(
    shares: Shares, fraction: Fraction, draws: int, deviation: Callable[[Guarantee], float]
) -> float:
    """Return a logarithm of the noise of sums and quantiles, on average over what is asked for."""
    assert shares.quantiles is not None
    amount = float(shares.quantiles.amount) / draws
    of_quantiles = -math.log(math.sqrt(8 * amount) if shares.quantiles.concentrated else amount)
    if shares.sums is None:
        return of_quantiles
    return float(fraction) * of_quantiles + float(1 - fraction) * math.log(deviation(shares.sums))


def float_below(number: Fraction) -> float:
    """Return the largest double that is at most a fraction.

    Examples
    --------
    >>> Fraction(float_below(Fraction(1, 10))) <= Fraction(1, 10)
    True
    """
    nearest = float(number)
    return nearest if Fraction(nearest) <= number else math.nextafter(nearest, -math.inf)


def float_above(number: Fraction) -> float:
    """Return the smallest double that is at least a fraction.

    Examples
    --------
    >>> Fraction(float_above(Fraction(1, 3))) >= Fraction(1, 3)
    True
    """
    return -float_below(-number)
