"""What a dataset may cost in all, and whether there is room for one more release."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import cast

from inbounds import _check
from inbounds.accounting.composition import Composition, compose
from inbounds.accounting.cost import Amount, Cost, Priced, Spent, as_float, exact, total
from inbounds.calibration.approximate import gaussian_delta, rho_delta
from inbounds.errors import ArgumentError
from inbounds.loss import PrivacyLoss


@dataclass(frozen=True, slots=True, repr=False)
class Budget(Amount):
    """The most that all releases on a dataset may cost together.

    Examples
    --------
    >>> budget, cost = Budget(epsilon=3.0), Cost.of(PrivacyLoss.pure(0.1))
    >>> budget.admits([(cost, 30)]), budget.admits([(cost, 31)])
    (True, False)
    >>> budget.left([(cost, 29)])
    Amount(epsilon=0.1)
    """

    def __post_init__(self) -> None:
        if (self.epsilon is None) == (self.rho is None):
            raise ArgumentError("epsilon must be given, or rho in its place.")
        if self.rho is not None:
            if self.delta is not None:
                raise ArgumentError("delta must not be given beside rho.")
            object.__setattr__(self, "rho", _check.positive(rho=self.rho))
            return
        object.__setattr__(self, "epsilon", _check.positive(epsilon=self.epsilon))
        if self.delta is not None:
            delta = _check.not_negative(delta=self.delta)
            if delta >= 1:
                raise ArgumentError(f"delta must be below 1, got delta={delta!r}.")
            object.__setattr__(self, "delta", delta or None)

    def cost_of(self, mechanism: Priced) -> Cost:
        """Return what one release costs, no more of it than this budget needs to know."""
        if self.rho is not None:
            return Cost.of(PrivacyLoss(mechanism.epsilon, math.inf, mechanism.rho, ()))
        if self.delta is None:
            epsilon = mechanism.epsilon
            pure = math.isfinite(epsilon)
            return Cost.of(PrivacyLoss.pure(epsilon) if pure else mechanism.loss())
        ((loss, _),) = compose([mechanism]).losses
        # The very point the budget speaks of: a mechanism made for this budget fits in it.
        here = self._epsilon
        if loss.profile and here < loss.profile[-1][0]:
            points = {**dict(loss.profile), here: mechanism.delta(here)}
            loss = replace(loss, profile=tuple(sorted(points.items())))
        return Cost.of(loss)

    def check(self, cost: Cost) -> None:
        """Refuse a cost that says nothing in terms of this budget."""
        name = "rho" if self.rho is not None else "epsilon"
        if self.delta is None and total([(cost, 1)], name) == math.inf:
            raise ArgumentError(
                f"loss must have a finite {name} to be charged to a budget of {self}, "
                f"got {name}=inf."
            )

    def admits(self, spent: Spent) -> bool:
        """Tell whether all of this together stays within the budget."""
        spent = list(spent)
        if self.rho is not None:
            return total(spent, "rho") <= exact(self.rho)
        fits = total(spent, "epsilon") <= exact(self._epsilon)
        if self.delta is None:
            return fits
        if fits and total(spent, "delta") <= exact(self.delta):
            return True
        if any(epsilon <= exact(self._epsilon) for epsilon in self._alone(spent)):
            return True
        return any(delta <= self.delta for delta in _deltas(_composition(spent), self._epsilon))

    def left(self, spent: Spent) -> Amount:
        """Return what has not been spent, never too much.

        Under a delta it is the budget's epsilon less that of all releases together.
        """
        if self.rho is not None:
            return Amount(rho=_below(exact(self.rho) - self.spent(spent)))
        rest = exact(self._epsilon) - self.spent(spent)
        return Amount(epsilon=_below(rest), delta=self.delta)

    def spent(self, spent: Spent, *, quick: bool = False) -> Fraction | float:
        """Return the rho of all of this together, or its epsilon at the budget's delta.

        Quick is without convolutions: an upper bound that may be far above.
        """
        spent = list(spent)
        if self.delta is None:
            return total(spent, "epsilon" if self.rho is None else "rho")
        found: list[Fraction | float] = list(self._alone(spent))
        if total(spent, "delta") <= exact(self.delta):
            found.append(total(spent, "epsilon"))
        together = _composition(spent, quick=quick).epsilon(self.delta)
        return min([*found, exact(together) if math.isfinite(together) else together])

    def asked(self, cost: Cost, count: int) -> Amount:
        """Say what a charge costs in terms of this budget."""
        if self.rho is not None:
            return Amount(rho=as_float(total([(cost, count)], "rho")))
        epsilon, delta = (as_float(total([(cost, count)], name)) for name in ("epsilon", "delta"))
        return Amount(epsilon=epsilon, delta=None if self.delta is None else delta)

    def _alone(self, spent: list[tuple[Cost, int]]) -> Iterator[Fraction]:
        """Give the epsilons at the budget's delta that a single release is known to have."""
        if self.delta is not None and sum(count for _, count in spent) == 1:
            most = exact(self.delta)
            for epsilon, delta in spent[0][0].loss.profile:
                if exact(delta) <= most:
                    yield exact(epsilon)

    @property
    def _epsilon(self) -> float:
        return cast("float", self.epsilon)  # there is one wherever there is no rho


def _below(rest: Fraction | float) -> float:
    """Return a double whose decimal is not above what is left, zero at least."""
    if rest <= 0:
        return 0.0
    number = as_float(rest)
    return number if exact(number) <= rest else math.nextafter(number, 0.0)


def _composition(spent: Spent, *, quick: bool = False) -> Composition:
    """Return the composition; the quick one knows no profiles, so it convolves nothing."""
    pairs = [(cost.loss, count) for cost, count in spent]
    if quick:
        pairs = [(replace(loss, profile=()), count) for loss, count in pairs]
    return compose(pairs)


def _deltas(together: Composition, epsilon: float) -> Iterator[float]:
    """Give upper bounds on delta at `epsilon`, the cheap ones first."""
    if math.isfinite(together.rho):
        yield rho_delta(together.rho, epsilon)
    if math.isfinite(together.gdp):
        yield gaussian_delta(together.gdp, epsilon)
    if all(loss.profile for loss, _ in together.losses):
        yield together.delta(epsilon)
