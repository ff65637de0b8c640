"""What several releases on the same data cost together, by every bound we know.

    basic         pure epsilons add up
    optimal pure  the best that pure epsilons alone allow (Kairouz, Oh and Viswanath)
    zCDP          rhos add up, then the best Rényi order
    GDP           squares of mu add up: the composition of Gaussians is a Gaussian
    PLD           privacy loss distributions of the exact profiles, convolved by dp-accounting

Each is valid by itself, so the smallest is the answer. What is asked may be chosen in the light of
earlier answers. The losses themselves must be planned beforehand, or be at most those planned. All
must speak of the same change of the data, their unit.

Proof: docs/proofs/composition.md.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from inbounds import _check
from inbounds._table import Printed, Table
from inbounds.accounting import pld
from inbounds.calibration.approximate import gaussian_delta, rho_delta
from inbounds.errors import ArgumentError, ArgumentTypeError, CertificateError
from inbounds.guarantee import check_delta
from inbounds.loss import PrivacyLoss
from inbounds.numerics.search import smallest_admissible
from inbounds.unit import Unit, check_same, check_unit

Curve = Callable[[float], float]
Bound = Literal["basic", "optimal pure", "zCDP", "GDP", "PLD"]
_CLOSE = 1e-12  # relative: where the search for an epsilon stops
_LARGEST = 2e9  # epsilon that is looked at
_MOST = 10**15  # releases alike
_UP = 1 + 2.0**-45  # covers the rounding of sums
_SHOWN = (1e-6, 1e-9)  # deltas at which the table shows epsilon


class Describes(Protocol):
    """Anything that can say what one release of it costs."""

    def loss(self) -> PrivacyLoss:
        """Return the cost of one release."""
        ...


Release = Describes | PrivacyLoss


@dataclass(frozen=True, slots=True, repr=False)
class Composition(Printed):
    """The cost of several releases together.

    Attributes
    ----------
    losses
        Each distinct loss, and how many releases had it.
    unit
        Which change of the data all of them speak of; None where none of them states it.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.BoundedGaussian(ib.Box(0, 100), 1, sigma=20.0)
    >>> together = compose([(m, 100)])
    >>> together.epsilon(delta=1e-6) < 100 * m.epsilon
    True
    >>> together.best(delta=1e-6)
    'PLD'
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
        """Return the smallest known delta at `epsilon`."""
        epsilon = _check.not_negative(epsilon=epsilon)
        if epsilon >= self.pure:
            return 0.0
        return min(curve(epsilon) for curve in self._curves().values())

    def epsilon(self, delta: float) -> float:
        """Return the smallest known epsilon at `delta`."""
        delta = check_delta(delta)
        curves = self._curves() if delta and self.pure else {}
        return min([self.pure, *(_least(curve, delta, self.pure) for curve in curves.values())])

    def best(self, delta: float) -> Bound:
        """Return which bound gives the smallest epsilon at `delta`."""
        found = self.epsilons(delta)
        return min(found, key=lambda bound: found[bound])

    def deltas(self, epsilon: float) -> dict[Bound, float]:
        """Return delta at `epsilon` by every bound."""
        epsilon = _check.not_negative(epsilon=epsilon)
        return {bound: curve(epsilon) for bound, curve in self._all_curves().items()}

    def epsilons(self, delta: float) -> dict[Bound, float]:
        """Return epsilon at `delta` by every bound; infinite where a bound says nothing."""
        delta = check_delta(delta)
        found: dict[Bound, float] = {"basic": self.pure}
        curves = self._all_curves() if delta else {}
        for bound, curve in curves.items():
            if bound not in found:
                found[bound] = _least(curve, delta, self.pure)
        return found

    def _all_curves(self) -> dict[Bound, Curve]:
        """Return delta as a function of epsilon by every bound, also those never the best."""
        curves = self._curves()
        pure = [(loss.epsilon, n) for loss, n in self.losses if loss.epsilon]
        if pure and math.isfinite(self.pure):
            simple = tuple((PrivacyLoss.pure(epsilon), n) for epsilon, n in pure)
            curves["optimal pure"] = lambda epsilon: pld.delta(simple, epsilon)
        return curves

    def _curves(self) -> dict[Bound, Curve]:
        pure, rho, mu = self.pure, self.rho, self.gdp
        curves: dict[Bound, Curve] = {"basic": lambda epsilon: 0.0 if epsilon >= pure else 1.0}
        if 0 < rho < math.inf:
            curves["zCDP"] = lambda epsilon: rho_delta(rho, epsilon)
        if 0 < mu < math.inf:
            curves["GDP"] = lambda epsilon: gaussian_delta(mu, epsilon)
        if self.losses and all(loss.profile for loss, _ in self.losses):
            curves["PLD"] = lambda epsilon: pld.delta(self.losses, epsilon)
        return curves

    def _total(self, cost: Callable[[PrivacyLoss], float]) -> float:
        try:
            total = math.fsum(n * cost(loss) for loss, n in self.losses)
        except OverflowError:  # the sum of finite numbers has no double
            return math.inf
        return total if sum(n for _, n in self.losses) == 1 else total * _UP

    def _table(self) -> Table:
        totals = (("pure ε", self.pure), ("ρ (zCDP)", self.rho), ("μ (GDP)", self.gdp))
        facts = [("releases", f"{sum(n for _, n in self.losses):,}")]
        facts += [(name, f"{number:.6g}") for name, number in totals]
        facts += [] if self.unit is None else [("unit", str(self.unit))]
        quick = [curve for bound, curve in self._curves().items() if bound != "PLD"]
        for delta in _SHOWN:
            epsilon = min(_least(curve, delta, self.pure) for curve in quick) if self.pure else 0.0
            facts.append((f"ε at δ = {delta:g}, at most", f"{epsilon:.6g}"))
        return Table.of_facts("Composition", facts, "epsilon(delta) has the smallest known bound.")

    def __len__(self) -> int:
        return sum(n for _, n in self.losses)

    def __repr__(self) -> str:
        totals = f"pure={self.pure:.6g}, rho={self.rho:.6g}, gdp={self.gdp:.6g}"
        unit = "" if self.unit is None else f", unit={self.unit!r}"
        return f"Composition(releases={len(self)}, {totals}{unit})"


def compose(
    releases: Iterable[Release | tuple[Release, int]], unit: Unit | None = None
) -> Composition:
    """Add up what releases on the same data cost.

    Parameters
    ----------
    releases
        Mechanisms or privacy losses, each by itself or as a pair with how many times it was used.
    unit
        The change of the data to speak of. Losses that state another unit are converted to it, or
        refused where that is not possible (see `PrivacyLoss.converted`). Without it all units that
        are stated must be equal. What states none, such as a mechanism by itself, is taken to
        speak of the same unit as the others: its sensitivity must have been stated for that.

    Examples
    --------
    >>> import inbounds as ib
    >>> a = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 2.5, epsilon=0.5)
    >>> b = ib.BoundedLaplace.calibrated(ib.Box(0, 1), 0.1, epsilon=0.25)
    >>> round(compose([a, (b, 2)]).pure, 9)
    1.0
    >>> row = ib.Unit("replace", "row")
    >>> compose([a.loss(row), b.loss(ib.Unit("add-remove", "row"))], unit=row)
    Composition(releases=2, pure=1, rho=..., gdp=..., unit=Unit('replace', 'row'))
    """
    counts: Counter[PrivacyLoss] = Counter()
    if not isinstance(releases, Iterable):
        raise ArgumentTypeError.must_be(
            "releases", "a list of mechanisms, or of pairs with a count"
        )
    asked: dict[int, tuple[object, PrivacyLoss]] = {}  # holds what it knows, so that ids stay apart
    for release in releases:
        pair: tuple[Any, ...] = tuple(release) if isinstance(release, tuple) else (release, 1)
        if len(pair) != 2:
            raise ArgumentTypeError.must_be("releases", "mechanisms, or pairs of one and a count")
        what, many = pair
        if type(many) is not int or not 1 <= many <= _MOST:
            requirement = "used a whole number of times from 1 to 10¹⁵"
            raise ArgumentError.must_be("releases", requirement, got=_check.quoted(many))
        if id(what) not in asked or not _is_ours(type(what)):
            asked[id(what)] = what, _loss_of(what)
        _, loss = asked[id(what)]
        counts[loss] += many
    return _in_one_unit(counts, check_unit(unit))


def _in_one_unit(counts: Counter[PrivacyLoss], wanted: Unit | None) -> Composition:
    """Convert every loss that states its unit, and state it for the others."""
    if wanted is None:
        hint = "compose(..., unit=...) converts them where that is possible."
        wanted = check_same({loss.unit for loss in counts}, "releases", hint)
    if wanted is None:
        return Composition(tuple(counts.items()))
    converted: Counter[PrivacyLoss] = Counter()
    for loss, many in counts.items():
        converted[loss.converted(wanted) if loss.unit else loss.about(wanted)] += many
    return Composition(tuple(converted.items()), wanted)


def _is_ours(kind: type) -> bool:
    """Whether objects of just this class cannot change, so that each is asked once for its loss."""
    return kind.__module__.startswith("inbounds.")


def _loss_of(what: Release) -> PrivacyLoss:
    """Return what it costs now, as plain numbers: an object may change, and be of any class."""
    if not isinstance(what, PrivacyLoss) and not hasattr(what, "loss"):
        raise ArgumentTypeError.must_be(
            "releases", "mechanisms or privacy losses", got=type(what).__name__
        )
    loss = what if isinstance(what, PrivacyLoss) else what.loss()
    if not isinstance(loss, PrivacyLoss):
        raise ArgumentTypeError.must(
            "releases", "have a PrivacyLoss as their loss()", got=type(loss).__name__
        )
    return PrivacyLoss(loss.epsilon, loss.mu, loss.rho, loss.profile, loss.unit)


def _least(curve: Curve, delta: float, start: float) -> float:
    """Return about the smallest epsilon where `curve` is at most `delta`, evaluated there."""

    def enough(epsilon: float) -> bool:
        return curve(epsilon) <= delta

    if enough(0.0):
        return 0.0
    try:
        return smallest_admissible(enough, min(start, 1e3), tolerance=_CLOSE, most=_LARGEST)
    except CertificateError:
        return math.inf
