"""The staircase noise of Geng and Viswanath, in units of the length of one period.

The density is constant on the plateau |z| < gamma and falls by the factor e^-epsilon at gamma,
gamma + 1, gamma + 2 and so on. All sums over periods are in closed form, and every difference is
of a kind that keeps its accuracy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from inbounds._types import Floats

_SERIES_BELOW = 0.5
_TERMS = 20  # of the series for 1 - (1 + x)e^-x, whose last one is below 2**-70 of the sum


def best_plateau(epsilon: float) -> float:
    """Return the plateau with the least variance, as a fraction of the period, between 0 and 1/2.

    Proof: docs/proofs/staircase.md, theorem 5.

    Examples
    --------
    >>> round(best_plateau(1.0), 12), best_plateau(1e-9)
    (0.416737434929, 0.4999999999...)
    """
    alpha, root = math.exp(-epsilon), math.exp(-epsilon / 3)
    kappa = math.cbrt((1 + alpha) / 2)
    return root * (1 + 2 * alpha) / (2 * (kappa**2 + kappa * root**2 + root**4))


def least_variance(epsilon: float) -> float:
    """Return the variance with the best plateau, in squared periods.

    Proof: docs/proofs/staircase.md, theorem 5.

    Examples
    --------
    >>> round(least_variance(1.0), 6), round(Staircase(1.0, best_plateau(1.0)).variance, 6)
    (1.918104, 1.918104)
    """
    alpha = math.exp(-epsilon)
    top = math.cbrt((alpha * (1 + alpha) / 2) ** 2) + alpha
    return top / math.expm1(-epsilon) ** 2


@dataclass(frozen=True, slots=True)
class Staircase:
    """Staircase noise with a period of length 1.

    Formulas: docs/proofs/staircase.md, theorem 4.

    Examples
    --------
    >>> noise = Staircase(1.0, best_plateau(1.0))
    >>> round(noise.variance, 12)
    1.918103531236
    >>> noise.tail(np.array([0.0, 1.0])).round(6).tolist()  # 1/2 and 1/(2e)
    [0.5, 0.18394]
    """

    epsilon: float
    gamma: float

    @property
    def fall(self) -> float:
        """The factor from one step to the next, e^-epsilon."""
        return math.exp(-self.epsilon)

    @property
    def height(self) -> float:
        """The density on the plateau."""
        alpha, gamma = self.fall, self.gamma
        return -math.expm1(-self.epsilon) / (2 * (gamma + alpha * (1 - gamma)))

    @property
    def variance(self) -> float:
        """The variance of the noise. Proof: docs/proofs/staircase.md, theorem 5."""
        alpha, gone = self.fall, -math.expm1(-self.epsilon)
        mean = self.gamma + alpha / gone  # of a geometric number, plus gamma
        return mean**2 / 3 + alpha / gone**2 + alpha * (1 + alpha) / (3 * mean * gone**3)

    @property
    def total_variation(self) -> float:
        """The total variation distance between the noise and the noise moved by one period.

        Proof: docs/proofs/staircase.md, theorem 2.
        """
        alpha, gamma = self.fall, self.gamma
        edge = alpha - math.expm1(-self.epsilon) * min(1.0, 2 * gamma)
        return -math.expm1(-self.epsilon) * edge / (2 * (gamma + alpha * (1 - gamma)))

    def density(self, z: Floats) -> Floats:
        """Return the density at z."""
        level = np.ceil(np.maximum(np.abs(z) - self.gamma, 0.0))
        return np.asarray(self.height * np.exp(-self.epsilon * level))

    plain_density = density

    def tail(self, t: Floats) -> Floats:
        """Return P(Z > t) for t >= 0, as a sum of positive terms."""
        whole, part = _split(t)
        return np.asarray(np.exp(-self.epsilon * whole) * self._first_tail(part))

    def cumulative(self, z: Floats) -> Floats:
        """Return P(Z <= z)."""
        tail = self.tail(np.abs(z))
        return np.where(z < 0, tail, 1 - tail)

    @np.errstate(over="ignore", divide="ignore", invalid="ignore")  # in branches not taken
    def quantile(self, q: Floats) -> Floats:
        """Return z with P(Z <= z) = q, computed from the end with the smaller probability."""
        mass = np.minimum(q, 1 - q)
        whole = np.floor(-np.log(2 * mass) / self.epsilon)
        whole = np.where(np.isfinite(whole), np.maximum(whole, 0.0), 0.0)
        left = mass * np.exp(self.epsilon * whole)  # in the first period
        at_plateau = float(self._first_tail(np.asarray(self.gamma)))
        upper_step = self.gamma - (left - at_plateau) / self.height
        lower_step = 1 - (mass * np.exp(self.epsilon * (whole + 1)) - 0.5) / self.height
        part = np.clip(np.where(left > at_plateau, upper_step, lower_step), 0.0, 1.0)
        distance = np.where(mass > 0, whole + part, np.inf) * (q != 0.5)
        return np.asarray(np.where(q < 0.5, -distance, distance))

    def half_mean(self, t: Floats) -> Floats:
        """Return the mean of min(Z, t) where Z is positive: the integral of `tail` up to t."""
        whole, part = _split(t)
        periods = np.expm1(-self.epsilon * whole) / math.expm1(-self.epsilon)
        first, last = self._first_integral(np.ones(())), self._first_integral(part)
        return np.asarray(periods * first + np.exp(-self.epsilon * whole) * last)

    def half_second_moment(self, t: Floats) -> Floats:
        """Return the mean of min(Z, t)² where Z is positive: the integral of 2z·`tail` up to t."""
        whole, part = _split(t)
        periods = np.expm1(-self.epsilon * whole) / math.expm1(-self.epsilon)
        end, ended = np.ones(()), np.exp(-self.epsilon * whole)
        past = periods * self._first_moment(end)
        past = past + 2 * arithmetic_sum(whole, self.epsilon) * self._first_integral(end)
        here = 2 * whole * self._first_integral(part) + self._first_moment(part)
        return np.asarray(past + ended * here)

    # In the first period, for 0 <= s <= 1.

    def _first_tail(self, s: Floats) -> Floats:
        alpha, height = self.fall, self.height
        beyond = alpha / 2 + alpha * height * (1 - np.maximum(s, self.gamma))
        return np.asarray(beyond + height * (self.gamma - np.minimum(s, self.gamma)))

    def _first_integral(self, s: Floats) -> Floats:
        """Return the integral of the tail from 0 to s."""
        on, off = np.minimum(s, self.gamma), np.maximum(s - self.gamma, 0.0)
        start, corner = self._first_tail(np.zeros(())), self._first_tail(np.asarray(self.gamma))
        plateau = on * (start - self.height * on / 2)
        return np.asarray(plateau + off * (corner - self.fall * self.height * off / 2))

    def _first_moment(self, s: Floats) -> Floats:
        """Return the integral of 2z·tail(z) from 0 to s."""
        on, off = np.minimum(s, self.gamma), np.maximum(s - self.gamma, 0.0)
        start, corner = self._first_tail(np.zeros(())), self._first_tail(np.asarray(self.gamma))
        slope = self.fall * self.height
        plateau = on**2 * (start - 2 * self.height * on / 3)
        return np.asarray(
            plateau
            + 2 * self.gamma * off * (corner - slope * off / 2)
            + off**2 * (corner - 2 * slope * off / 3)
        )


def _split(t: Floats) -> tuple[Floats, Floats]:
    """Return the whole periods before t, and the part of the next one."""
    whole = np.floor(t)
    return whole, t - whole


def arithmetic_sum(count: Floats, epsilon: float) -> Floats:
    """Return the sum of j·e^(-epsilon·j) over j below a whole number.

    Formula: docs/proofs/staircase.md, theorem 4.
    """
    several = np.maximum(count, 1.0)
    x = several * epsilon
    spread = _over_x(x) - np.exp(epsilon - x) * _over_x(np.asarray(epsilon))
    gone = -math.expm1(-epsilon)
    return np.asarray(math.exp(-epsilon) * epsilon * (several * spread) / gone / gone)


def _over_x(x: Floats) -> Floats:
    """Return (1 - (1 + x)e^-x)/x, which is about x/2 for a small x."""
    near = np.minimum(x, _SERIES_BELOW)
    series = np.zeros(np.shape(x))
    for k in range(_TERMS, 1, -1):  # sum over k >= 2 of (-1)^k (k - 1) x^(k - 1) / k!
        series = (series * near) + (-1) ** k * (k - 1) / math.factorial(k)
    far = np.maximum(x, _SERIES_BELOW)
    closed = (1 - (1 + far) * np.exp(-far)) / far
    return np.where(x < _SERIES_BELOW, series * near, closed)
