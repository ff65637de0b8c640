"""What several releases on the same data cost together, by every bound we know.

Each is valid by itself, so the smallest is reported. Queries may be chosen after seeing earlier
outputs, but every loss must be planned beforehand, or be at most the one planned. All losses must
refer to the same change of the data, their unit.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from inbounds import _check
from inbounds._entry import called
from inbounds._table import Printed, Table
from inbounds.accounting.bound import Bound, Curve, all_curves, best_curves, epsilon_at
from inbounds.accounting.priced import Release, counted_losses
from inbounds.guarantee import check_delta
from inbounds.loss import PrivacyLoss
from inbounds.unit import Unit, check_same, check_unit

_UP = 1 + 2.0**-45  # covers the rounding of sums
_SHOWN = (1e-6, 1e-9)  # deltas at which the table shows epsilon


@dataclass(frozen=True, slots=True, repr=False)
class Composition(Printed):
    """The privacy cost of several releases together, as `compose` returns it.

    Attributes
    ----------
    losses
        Each distinct loss, and the number of releases that have it.
    unit
        The change of the data that all losses refer to; None if no loss states it.

    See Also
    --------
    compose : build a composition.
    Ledger : a budget for releases whose costs are chosen one after the other.

    Notes
    -----
    With losses εᵢ, ρᵢ, μᵢ and profiles δᵢ, all releases together satisfy each of these bounds:

    * basic: ε = Σεᵢ and δ = 0;
    * optimal pure: the best δ(ε) that the εᵢ alone allow (Kairouz, Oh and Viswanath);
    * total variation: the best δ(ε) that the εᵢ and the total variations δᵢ(0) allow;
    * zCDP: δ(ε) ≤ (1/α)(1 - 1/α)^(α-1) · exp((α-1)(Σ min(εᵢ, αρᵢ) - ε)), for every α > 1;
    * GDP: δ(ε) = Φ(-ε/μ + μ/2) - e^ε Φ(-ε/μ - μ/2) with μ² = Σμᵢ²;
    * PLD: δ(ε) = E[(1 - exp(ε - L))₊], with L the sum of independent losses that have the δᵢ.

    GDP and PLD may add some releases by their εᵢ instead, so none costs more than its pure ε.
    `epsilon` and `delta` use the smallest of them. Proofs:
    docs/proofs/composition.md, theorems 1 to 7; total variation:
    docs/proofs/pure.md, theorems 6 and 10.

    References
    ----------
    P. Kairouz, S. Oh and P. Viswanath (2015). The composition theorem for differential privacy.
    M. Bun and T. Steinke (2016). Concentrated differential privacy: simplifications, extensions,
    and lower bounds.
    C. L. Canonne, G. Kamath and T. Steinke (2020). The discrete Gaussian for differential privacy.
    J. Dong, A. Roth and W. J. Su (2022). Gaussian differential privacy.
    V. Doroshenko et al. (2022). Connect the dots: tighter discrete approximations of privacy loss
    distributions.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.BoundedGaussian(ib.Box(0, 100), 1, sigma=20.0)
    >>> together = ib.compose([(m, 100)])
    >>> together.epsilon(delta=1e-6) < 100 * m.epsilon, together.best(delta=1e-6)
    (True, 'PLD')
    """

    losses: tuple[tuple[PrivacyLoss, int], ...]
    unit: Unit | None = None

    @property
    def pure(self) -> float:
        """Pure epsilon of all releases together."""
        return self._total(lambda loss: loss.epsilon)

    @property
    def rho(self) -> float:
        """Zero-concentrated privacy of all releases together."""
        return self._total(lambda loss: loss.rho)

    @property
    def gdp(self) -> float:
        """Gaussian privacy of all releases together."""
        most = max((loss.mu for loss, _ in self.losses), default=0.0)
        if not 0 < most < math.inf:
            return most
        root = math.sqrt(self._total(lambda loss: (loss.mu / most) ** 2))  # squares stay normal
        return math.nextafter(most * root * _UP, math.inf)

    def delta(self, epsilon: float) -> float:
        """Return the smallest known delta at `epsilon`.

        Parameters
        ----------
        epsilon
            A finite number of zero or more.

        Returns
        -------
        float
            The smallest of `deltas`, an upper bound; 0 from the pure epsilon on.

        Raises
        ------
        ArgumentError
            If `epsilon` is negative or not finite.
        """
        epsilon = _check.not_negative(epsilon=epsilon)
        if epsilon >= self.pure:
            return 0.0
        return min(curve(epsilon) for curve in self._curves().values())

    def epsilon(self, delta: float) -> float:
        """Return the smallest known epsilon at `delta`.

        Parameters
        ----------
        delta
            A probability; 0 gives the pure epsilon.

        Returns
        -------
        float
            The smallest of `epsilons`, an upper bound; infinite if no bound gives one.

        Raises
        ------
        ArgumentError
            If `delta` is negative, or 1 or more.
        """
        delta = check_delta(delta)
        curves = self._curves() if delta and self.pure else {}
        return min([self.pure, *(epsilon_at(curve, delta, self.pure) for curve in curves.values())])

    def best(self, delta: float) -> Bound:
        """Return the name of the bound that gives the smallest epsilon at `delta`.

        Parameters
        ----------
        delta
            A probability.

        Returns
        -------
        str
            "basic", "optimal pure", "total variation", "zCDP", "GDP" or "PLD".

        Raises
        ------
        ArgumentError
            If `delta` is negative, or 1 or more.
        """
        epsilons = self.epsilons(delta)
        return min(epsilons, key=lambda bound: epsilons[bound])

    def deltas(self, epsilon: float) -> dict[Bound, float]:
        """Return delta at `epsilon` by every bound.

        Parameters
        ----------
        epsilon
            A finite number of zero or more.

        Returns
        -------
        dict
            The delta of each bound that applies, under its name.

        Raises
        ------
        ArgumentError
            If `epsilon` is negative or not finite.
        """
        epsilon = _check.not_negative(epsilon=epsilon)
        return {bound: curve(epsilon) for bound, curve in self._curves(every=True).items()}

    def epsilons(self, delta: float) -> dict[Bound, float]:
        """Return epsilon at `delta` by every bound.

        Parameters
        ----------
        delta
            A probability; at 0, only "basic" applies.

        Returns
        -------
        dict
            The epsilon of each bound that applies, under its name; infinite if it gives none.

        Raises
        ------
        ArgumentError
            If `delta` is negative, or 1 or more.
        """
        delta = check_delta(delta)
        epsilons: dict[Bound, float] = {"basic": self.pure}
        curves = self._curves(every=True) if delta else {}
        for bound, curve in curves.items():
            if bound not in epsilons:
                epsilons[bound] = epsilon_at(curve, delta, self.pure)
        return epsilons

    def _curves(self, *, every: bool = False) -> dict[Bound, Curve]:
        return (all_curves if every else best_curves)(self.losses, self.pure, self.rho)

    def _total(self, cost: Callable[[PrivacyLoss], float]) -> float:
        try:
            total = math.fsum(n * cost(loss) for loss, n in self.losses)
        except OverflowError:  # the sum of finite numbers exceeds every double
            return math.inf
        return total if sum(n for _, n in self.losses) == 1 else total * _UP

    def _table(self) -> Table:
        totals = (("pure ε", self.pure), ("ρ (zCDP)", self.rho), ("μ (GDP)", self.gdp))
        facts = [("releases", f"{sum(n for _, n in self.losses):,}")]
        facts += [(name, f"{number:.6g}") for name, number in totals]
        facts += [] if self.unit is None else [("unit", str(self.unit))]
        slow = ("PLD", "optimal pure", "total variation")
        quick = [curve for bound, curve in self._curves().items() if bound not in slow]
        for delta in _SHOWN:
            epsilons = (epsilon_at(curve, delta, self.pure) for curve in quick)
            epsilon = min(epsilons) if self.pure else 0.0
            facts.append((f"ε at δ = {delta:g}, at most", f"{epsilon:.6g}"))
        return Table.of_facts("Composition", facts, "epsilon(delta) is the smallest known bound.")

    def __len__(self) -> int:
        return sum(n for _, n in self.losses)

    def __repr__(self) -> str:
        totals = f"pure={self.pure:.6g}, rho={self.rho:.6g}, gdp={self.gdp:.6g}"
        unit = "" if self.unit is None else f", unit={self.unit!r}"
        return f"Composition(releases={len(self)}, {totals}{unit})"


@called()
def compose(
    releases: Iterable[Release | tuple[Release, int]], unit: Unit | None = None
) -> Composition:
    """Return what several releases on the same data cost together.

    Parameters
    ----------
    releases
        Mechanisms or privacy losses. A pair ``(mechanism, count)`` stands for `count` releases.
    unit
        The change of the data that the result refers to. Losses that state another unit are
        converted to it, or refused if they cannot be (see `PrivacyLoss.converted`). By default, all
        units that are stated must be equal. A release that states none, such as a mechanism, is
        taken to have the unit of the others, so its sensitivity must have been stated for that.

    Returns
    -------
    Composition
        The cost by every known bound, as epsilon at a delta or delta at an epsilon. Proofs:
        docs/proofs/composition.md, theorems 1 to 7, and docs/proofs/pure.md, theorem 6.

    Raises
    ------
    ArgumentError
        If units differ or cannot be converted, or a count is not a whole number from 1 to 10¹⁵.
    ArgumentTypeError
        If `releases` holds anything but mechanisms and privacy losses.

    See Also
    --------
    Composition : the formulas of the bounds, their proof, and references.
    Ledger : a budget for releases whose costs are chosen one after the other.

    Examples
    --------
    >>> import inbounds as ib
    >>> a = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 2.5, epsilon=0.5)
    >>> b = ib.BoundedLaplace.calibrated(ib.Box(0, 1), 0.1, epsilon=0.25)
    >>> round(ib.compose([a, (b, 2)]).pure, 9)
    1.0
    >>> row = ib.Unit("replace", "row")
    >>> ib.compose([a.loss(row), b.loss(ib.Unit("add-remove", "row"))], unit=row)
    Composition(releases=2, pure=1, rho=..., gdp=..., unit=Unit('replace', 'row'))
    """
    return _in_one_unit(counted_losses(releases), check_unit(unit))


def _in_one_unit(counts: Counter[PrivacyLoss], wanted: Unit | None) -> Composition:
    """Convert every loss that states its unit, and state the unit for the others."""
    if wanted is None:
        hint = "compose(..., unit=...) converts them where that is possible."
        wanted = check_same({loss.unit for loss in counts}, "releases", hint)
    if wanted is None:
        return Composition(tuple(counts.items()))
    converted: Counter[PrivacyLoss] = Counter()
    for loss, count in counts.items():
        converted[loss.converted(wanted) if loss.unit else loss.about(wanted)] += count
    return Composition(tuple(converted.items()), wanted)
