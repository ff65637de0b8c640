"""The budget of a dataset, and whether it has room for one more release.

Releases, and even their costs, are chosen one after the other, after seeing earlier outputs. A
budget with a delta is therefore a filter that is valid under these choices. It admits releases
while their epsilons add up to at most epsilon, or their Rényi divergences of one of a few fixed
orders to a sum that gives (epsilon, delta). If the first release fits by its own profile only, the
epsilons of the others are added to what that gives. No release costs more than its pure epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

from inbounds import _check
from inbounds._table import Table
from inbounds.accounting.cost import Cost, Spent, as_float, exact, total
from inbounds.accounting.order import Order, orders
from inbounds.accounting.priced import Priced
from inbounds.errors import ArgumentError, Hint
from inbounds.guarantee import Amount, Guarantee
from inbounds.loss import PrivacyLoss
from inbounds.unit import Unit, check_unit


@dataclass(frozen=True, slots=True, repr=False)
class Budget(Guarantee):
    """The most that all releases on a dataset may cost together.

    `unit` is the change of the data that the budget protects against; None if it is not stated.
    `one_order` is for datasets that were first charged when the filter knew one order only. The
    budget holds for every choice of releases: docs/proofs/composition.md, theorems 11 and 12.

    Examples
    --------
    >>> budget, cost = Budget(epsilon=3.0), Cost.of(PrivacyLoss.pure(0.1))
    >>> budget.admits([(cost, 30)]), budget.admits([(cost, 31)])
    (True, False)
    >>> budget.left([(cost, 29)])
    Amount(epsilon=0.1)
    """

    _range: ClassVar[tuple[float, float]] = (0.0, math.inf)  # no calibration limits it

    unit: Unit | None = None
    one_order: bool = field(default=False, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        Guarantee.__post_init__(self)
        object.__setattr__(self, "unit", check_unit(self.unit))

    def cost_of(self, mechanism: Priced, unit: Unit | None = None) -> Cost:
        """Return the cost of one release, reduced to the bounds that this budget uses.

        `unit` is the one that the mechanism's sensitivity was stated for. The cost is in that unit.
        """
        unit = check_unit(unit)
        steps = unit.steps_to(self.unit) if unit and self.unit else 1
        return self._needed(mechanism, steps).about(unit)

    def _needed(self, mechanism: Priced, steps: int) -> Cost:
        if self.rho is not None:
            return Cost.of(PrivacyLoss(mechanism.epsilon, math.inf, mechanism.rho, ()))
        if self.delta is None:
            epsilon = mechanism.epsilon
            if not math.isfinite(epsilon):
                return Cost.of(mechanism.loss())
            return _pure(_check.charge(epsilon=epsilon))
        # Delta is evaluated at the budget's own epsilon, so that a mechanism calibrated for this
        # budget fits in it; before a conversion, at the epsilon that becomes just less than that.
        at = self.pair[0] if steps == 1 else math.nextafter(self.pair[0] / steps, 0.0)
        points = tuple((epsilon, mechanism.delta(epsilon)) for epsilon in (0.0, at))
        return Cost.of(PrivacyLoss(mechanism.epsilon, math.inf, mechanism.rho, points))

    def _table(self) -> Table:
        facts = [(name, repr(value)) for name, value in self.stated().items()]
        unit = [] if self.unit is None else [("unit", str(self.unit))]
        return Table.of_facts("Budget", [*facts, *unit])

    def __repr__(self) -> str:
        unit = "" if self.unit is None else f", unit={self.unit!r}"
        return f"Budget({self}{unit})"

    def check(self, cost: Cost, spent: Spent) -> None:
        """Refuse a cost that cannot be expressed in terms of this budget."""
        if self.delta is not None:
            self._check_pair(cost, list(spent))
            return
        if self.is_pure and cost.delta:
            requirement = f"0 to be charged to a budget of {self}"
            raise ArgumentError.must_be("delta", requirement, got=f"delta={cost.delta!r}")
        name = "rho" if self.rho is not None else "epsilon"
        if total([(cost, 1)], name) == math.inf:
            requirement = f"have a finite {name} to be charged to a budget of {self}"
            raise ArgumentError.must("loss", requirement, got=f"{name}=inf")

    def _check_pair(self, cost: Cost, before: list[tuple[Cost, int]]) -> None:
        """Refuse a delta if the first charge had none."""
        if cost.delta and before and not self._adds_pairs(before):
            raise ArgumentError.must_be(
                "delta",
                "0 for this budget, because its first charge had no delta and rhos are added",
                hint=Hint(
                    "pairs of epsilon and delta, such as those of find_groups, must be charged "
                    "first. Charge {}, or open another dataset for pairs.",
                    "rho or loss",
                ),
            )

    def admits(self, spent: Spent) -> bool:
        """Tell whether all charges together stay within the budget."""
        spent = list(spent)
        if self.rho is None and total(spent, "delta") > exact(self.pair[1]):
            return False
        limit = self.pair[0] if self.rho is None else self.rho
        return self.spent(spent) <= exact(limit)

    def left(self, spent: Spent) -> Amount:
        """Return what has not been spent, rounded down.

        If the budget has a delta, every release whose pure epsilon is at most this still fits
        (docs/proofs/composition.md, theorem 13).
        """
        if self.rho is not None:
            return Amount(rho=_plain(_below(exact(self.rho) - self.spent(spent)), self.rho))
        spent = list(spent)
        remaining, delta = exact(self.pair[0]) - self.spent(spent), self.delta
        if delta is not None and self._adds_pairs(spent):
            delta = _below(exact(delta) - total(spent, "delta"))
        return Amount(epsilon=_plain(_below(remaining), self.pair[0]), delta=delta)

    def spent(self, spent: Spent) -> Fraction | float:
        """Return the rho of all charges together, or their epsilon at the budget's delta.

        Proof: docs/proofs/composition.md, theorem 13.
        """
        spent = list(spent)
        added = total(spent, "epsilon" if self.rho is None else "rho")
        if self.delta is None or not spent or self._adds_pairs(spent):
            return added
        if any(cost.delta for cost, _ in spent):
            return math.inf
        return min([added, *self._together(spent)])

    def asked(self, cost: Cost, count: int, spent: Spent = ()) -> Amount:
        """Return what a charge costs in terms of this budget, after what was spent before."""
        before = list(spent)
        if self.rho is not None:
            return Amount(rho=as_float(total([(cost, count)], "rho")))
        if self.delta is None or self._adds_pairs([*before, (cost, count)]):
            pair = (as_float(total([(cost, count)], name)) for name in ("epsilon", "delta"))
            return Amount(next(pair), None if self.delta is None else next(pair))
        after = self.spent([*before, (cost, count)])
        more = after if after == math.inf else after - self.spent(before)
        return Amount(epsilon=as_float(more), delta=self.delta)

    def _adds_pairs(self, spent: list[tuple[Cost, int]]) -> bool:
        """Tell whether epsilons and deltas are added, which the first charge decides.

        No earlier output can have influenced the first charge. Proof:
        docs/proofs/composition.md, theorem 14.
        """
        return bool(spent) and spent[0][0].delta > 0

    def _together(self, spent: list[tuple[Cost, int]]) -> Iterator[Fraction | float]:
        """Yield epsilons that hold at the budget's delta; the first release decides by which rule.

        It is the budget's epsilon less the room that is left at an order. If the first release
        exceeds the room at every order, it is the epsilon of that release by its own profile, and
        those of all others. Proof: docs/proofs/composition.md, theorem 12.
        """
        limit, (first, count) = exact(self.pair[0]), spent[0]
        known = orders(*self.pair, several=not self.one_order)
        fitting = [order for order in known if _divergence(order, [(first, 1)]) <= order.room]
        for order in fitting:
            yield limit - order.room + _divergence(order, spent)
        others = [(first, count - 1)] * (count > 1) + spent[1:]
        if fitting or (others and self.one_order):
            return
        for epsilon, delta in first.loss.profile:
            if exact(delta) <= exact(self.pair[1]):
                yield exact(epsilon) + total(others, "epsilon")


def _divergence(order: Order, spent: list[tuple[Cost, int]]) -> Fraction | float:
    """Return the exact sum of the divergences of all releases; infinite if any of them is."""
    return sum(
        (count * order.divergence(cost.epsilon, cost.loss.rho) for cost, count in spent),
        Fraction(0),
    )


@lru_cache(maxsize=256)
def _pure(epsilon: float) -> Cost:
    """Return the cost of a release by its epsilon alone; cached, because releases repeat."""
    return Cost.of(PrivacyLoss.pure(epsilon))


def _plain(left: float, limit: float) -> float:
    """Return a number that is left of a limit in twelve digits, if these are not more than it.

    A mechanism that is calibrated to 0.5 costs a little less, and what it leaves looks like dust.

    Examples
    --------
    >>> _plain(0.5000000000000004, 1.0), _plain(3e-15, 1.0), _plain(0.49999999999999956, 1.0)
    (0.5, 0.0, 0.49999999999999956)
    """
    plain = round(left, 12 - math.ceil(math.log10(limit)))
    return plain if plain <= left else left


def _below(remaining: Fraction | float) -> float:
    """Return the largest double whose decimal is at most `remaining`, or zero."""
    if remaining <= 0:
        return 0.0
    number = as_float(remaining)
    return number if exact(number) <= remaining else math.nextafter(number, 0.0)
