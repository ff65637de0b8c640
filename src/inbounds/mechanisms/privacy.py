"""The privacy of one release, from its pure epsilon and total variation if no more is known."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

from inbounds import _check
from inbounds.guarantee import check_delta
from inbounds.loss import PrivacyLoss
from inbounds.mechanisms.argument import check_order
from inbounds.numerics.search import smallest_admissible
from inbounds.profile import tabulated
from inbounds.pure import pure_delta, pure_mu, pure_renyi, pure_rho, pure_variation
from inbounds.unit import Unit


class ReleasePrivacy(ABC):
    """The privacy of one release: epsilon, delta, rho, mu, Rényi divergences, and all in a loss.

    All of them follow from `epsilon` and `total_variation`, unless a mechanism knows better.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.BoundedLaplace.calibrated(ib.Box(0, 1), 1, epsilon=1.0)
    >>> round(m.epsilon, 6), round(m.total_variation, 2), round(m.rho, 2), round(m.renyi(1), 2)
    (1.0, 0.24, 0.24, 0.24)
    """

    __slots__ = ()

    @property
    @abstractmethod
    def epsilon(self) -> float:
        """The pure epsilon of one release, rounded up."""

    @property
    def total_variation(self) -> float:
        """An upper bound on the total variation between the outputs of any two neighbours.

        It is the largest |P(Y ∈ S) - P(Y' ∈ S)| over sets S of outputs. Here it is tanh(epsilon/2),
        which no release with this pure epsilon exceeds (docs/proofs/pure.md, theorem 1).

        Examples
        --------
        >>> import math
        >>> import inbounds as ib
        >>> m = ib.ClampedLaplace.calibrated(ib.Box(0, 1), 1, epsilon=1.0)
        >>> round(m.total_variation, 6), round(1 - math.exp(-1 / 2), 6)
        (0.393469, 0.393469)
        """
        return pure_variation(self.epsilon)

    def delta(self, epsilon: float) -> float:
        """Return a delta such that the same release is (`epsilon`, delta)-private.

        Parameters
        ----------
        epsilon
            A finite number of zero or more.

        Returns
        -------
        float
            An upper bound on max(0, P(Y ∈ S) - e^epsilon · P(Y' ∈ S)) over neighbours and sets S of
            outputs. Here it is the worst case for a pure epsilon p and a total variation η:
            η (e^p - e^epsilon)/(e^p - 1), or 0 if `epsilon` is p or more. Proof:
            docs/proofs/pure.md, theorem 2.

        Raises
        ------
        ArgumentError
            If `epsilon` is negative or not finite.

        Examples
        --------
        >>> import inbounds as ib
        >>> m = ib.BoundedLaplace.calibrated(ib.Box(0, 1), 1, epsilon=1.0)
        >>> m.delta(1.0), 0 < m.delta(0.5) < 0.3
        (0.0, True)
        """
        epsilon = _check.not_negative(epsilon=epsilon)
        return pure_delta(self.epsilon, self.total_variation, epsilon)

    def epsilon_at(self, delta: float) -> float:
        """Return the smallest epsilon at which the method `delta` gives this `delta` or less.

        Parameters
        ----------
        delta
            A probability: zero or more, and below 1.

        Returns
        -------
        float
            The smallest epsilon times at most 1 + 1e-6, and never below it; the pure epsilon if
            `delta` is 0.

        Raises
        ------
        ArgumentError
            If `delta` is negative, or 1 or more.

        Examples
        --------
        >>> import inbounds as ib
        >>> m = ib.BoundedGaussian.calibrated(ib.Box(0, 100), 1, epsilon=1.0, delta=1e-6)
        >>> round(m.epsilon_at(1e-6), 5), m.epsilon_at(0) == m.epsilon
        (1.0, True)
        """
        delta = check_delta(delta)
        if delta == 0:
            return self.epsilon

        def holds(epsilon: float) -> bool:
            return self.delta(epsilon) <= delta

        if holds(0.0):
            return 0.0
        start = self.epsilon if math.isfinite(self.epsilon) else 1.0
        return smallest_admissible(holds, start, tolerance=1e-6)

    @property
    def rho(self) -> float:
        """A rho such that the same release is rho-zCDP.

        Proof: docs/proofs/pure.md, theorem 4.
        """
        return pure_rho(self.epsilon, self.total_variation)

    @property
    def gdp(self) -> float:
        """A mu such that the same release is mu-GDP.

        Proof: docs/proofs/pure.md, theorem 5.
        """
        return pure_mu(self.epsilon, self.total_variation)

    def renyi(self, alpha: float) -> float:
        """Return an upper bound on the Rényi divergence of order `alpha`.

        Parameters
        ----------
        alpha
            The order, at least 1; infinity is allowed.

        Returns
        -------
        float
            The smaller of alpha · rho and the largest divergence at this pure epsilon p and total
            variation η, which is ln(1 + 2η sinh(αp/2) sinh((α - 1)p/2)/sinh(p/2))/(α - 1) at order
            α, and pη at order 1 (docs/proofs/pure.md, theorem 3).

        Raises
        ------
        ArgumentError
            If `alpha` is below 1 or NaN.
        """
        alpha = check_order(alpha)
        divergence = pure_renyi(self.epsilon, self.total_variation, alpha)
        return divergence if math.isinf(alpha) else min(divergence, alpha * self.rho)

    def loss(self, unit: Unit | None = None) -> PrivacyLoss:
        """Return the privacy loss of one release, which `compose` and `Ledger` read.

        Parameters
        ----------
        unit
            The change of the data that the sensitivity was stated for, if known.

        Returns
        -------
        PrivacyLoss
            Epsilon, mu, rho and a table of `delta`.

        Raises
        ------
        ArgumentTypeError
            If `unit` is not a `Unit`.

        Examples
        --------
        >>> import inbounds as ib
        >>> ib.BoundedLaplace.calibrated(ib.Box(0, 1), 1, epsilon=0.5).loss()
        PrivacyLoss(epsilon=0.49999..., mu=0.39..., rho=0.062...)
        """
        points = tabulated(self.delta, self.epsilon)
        return PrivacyLoss(self.epsilon, self.gdp, self.rho, points, unit)
