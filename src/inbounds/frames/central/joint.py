"""One release of sums and quantiles, priced as a whole, so that a ledger is charged once."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from inbounds.calibration.approximate import gaussian_delta, rho_delta
from inbounds.domain import Box
from inbounds.frames.central.plan import Plan
from inbounds.frames.central.share import float_above, float_below
from inbounds.frames.central.statistic import Statistic
from inbounds.guarantee import Guarantee
from inbounds.loss import PrivacyLoss
from inbounds.mechanisms.noise_mechanism import NoiseMechanism
from inbounds.profile import tabulated
from inbounds.pure import pure_mu, response_delta

_UP = 1 + 2.0**-40  # covers rounding


class JointRelease:
    """What a ledger needs of sums and quantiles that are released together.

    `release` releases the sums alone. Quantiles are drawn after it, when the charge is durable.
    The price of both is proved in docs/proofs/quantiles.md, theorem 11.

    Parameters
    ----------
    sums
        The mechanism of the sums; None if there are none.
    plans, statistics
        How quantiles are drawn, and what they are, under the user's names of columns.
    asked
        The guarantee of the whole release, as the caller wrote it.

    Examples
    --------
    >>> from inbounds.frames.central.points import Grid
    >>> from inbounds.frames.central.quantile import median
    >>> from inbounds.frames.central.change import Neighbours
    >>> from inbounds.frames.central.allowance import Allowance
    >>> changes, allowance = Neighbours("replace", 1, True, 1), Allowance(Fraction(1, 2), False)
    >>> plan = Plan(median("c0", 0, 9), Grid(0.0, 9.0, 9, True), changes, allowance)
    >>> joint = JointRelease(None, [plan], [median("age", 0, 9)])
    >>> joint, joint.epsilon, joint.delta(0.5)
    (JointRelease(median('age', 0, 9)), 0.5, 0.0)
    """

    def __init__(
        self,
        sums: NoiseMechanism | None,
        plans: Sequence[Plan],
        statistics: Sequence[Statistic],
        asked: Guarantee | None = None,
    ) -> None:
        self._sums, self._statistics, self.asked = sums, statistics, asked
        costs = [cost for plan in plans for cost in plan.costs()]
        self._quantiles = epsilon = sum((cost.epsilon for cost in costs), Fraction(0))
        rho = sum((cost.rho for cost in costs), Fraction(0))
        if sums is not None:
            epsilon, rho = epsilon + Fraction(sums.epsilon), rho + Fraction(sums.rho)
        self.epsilon, self.rho = float_above(epsilon), float_above(rho)

    @property
    def domain(self) -> Box:
        """The box of the sums."""
        return Box(0.0, 1.0) if self._sums is None else self._sums.domain

    def release(self, values: Any) -> Any:
        """Release the sums; without sums, return zeros."""
        return np.zeros(np.shape(values)) if self._sums is None else self._sums.release(values)

    def delta(self, epsilon: float) -> float:
        """Return an upper bound on delta at `epsilon`."""
        if epsilon >= self.epsilon:
            return 0.0
        pure = min(Fraction(epsilon), self._quantiles)
        bound = 0.0
        if self._sums is not None:  # at the epsilon that the quantiles leave
            bound = self._sums.delta(float_below(Fraction(epsilon) - pure))
        if pure < self._quantiles:
            bound = (bound + response_delta(float_above(self._quantiles), epsilon)) * _UP
        return min(1.0, bound, rho_delta(self.rho, epsilon), gaussian_delta(self.gdp, epsilon))

    @property
    def gdp(self) -> float:
        """Gaussian privacy."""
        of_sums = 0.0 if self._sums is None else self._sums.gdp
        return float(np.hypot(of_sums, pure_mu(float_above(self._quantiles))) * _UP)

    def loss(self) -> PrivacyLoss:
        """Return the privacy loss of one release."""
        return PrivacyLoss(self.epsilon, self.gdp, self.rho, tabulated(self.delta, self.epsilon))

    def __repr__(self) -> str:
        parts = [] if self._sums is None else [repr(self._sums)]
        return f"JointRelease({', '.join([*parts, *map(repr, self._statistics)])})"
