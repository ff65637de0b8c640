"""What one release may cost, as data: mechanisms write it, accounting reads it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self, cast

from inbounds import _check
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.group import group_delta, multiplied
from inbounds.guarantee import check_delta, check_kind
from inbounds.profile import LARGEST, tabulated
from inbounds.pure import pure_mu, pure_rho, response_delta
from inbounds.record import LossRecord
from inbounds.unit import Unit, check_unit

_UP = 1 + 2.0**-40  # covers rounding


@dataclass(frozen=True, slots=True, repr=False)
class PrivacyLoss(LossRecord):
    """Upper bounds on the privacy loss of one release, all of which hold at once.

    Parameters
    ----------
    epsilon
        Pure differential privacy, or infinity if no bound is known.
    mu
        Gaussian differential privacy, or infinity if no bound is known.
    rho
        Zero-concentrated differential privacy, or infinity if no bound is known.
    profile
        Pairs of an epsilon and an upper bound on delta there; the epsilons increase from 0.
    unit
        The change of the data that these bounds are about. If it is None, they are about the change
        that the sensitivity was stated for.

    Raises
    ------
    ArgumentError
        If a bound is negative or NaN, or the epsilons of `profile` do not increase from 0.
    ArgumentTypeError
        If an argument is of another type.

    See Also
    --------
    Unit : the change of the data that a loss is about.
    compose : the loss of several releases together.
    Ledger : a budget that losses are charged to.

    Notes
    -----
    Let M be the mechanism and D, D' two data sets that differ by one `unit`. For every such pair,
    every set S of outputs and every α > 1:

    - P(M(D) ∈ S) ≤ e^epsilon · P(M(D') ∈ S);
    - P(M(D) ∈ S) ≤ e^ε · P(M(D') ∈ S) + δ for each pair (ε, δ) in `profile`;
    - M(D) and M(D') are at least as hard to tell apart as N(0, 1) and N(`mu`, 1) [1]_;
    - the Rényi divergence of order α between M(D) and M(D') is at most α · `rho` [2]_.

    References
    ----------
    .. [1] Dong, Roth and Su (2022), "Gaussian Differential Privacy", J. R. Stat. Soc. B 84(1).
    .. [2] Bun and Steinke (2016), "Concentrated Differential Privacy: Simplifications, Extensions,
       and Lower Bounds", TCC.

    Examples
    --------
    >>> import inbounds as ib
    >>> loss = ib.PrivacyLoss.pure(0.5)
    >>> loss
    PrivacyLoss(epsilon=0.5, mu=0.62..., rho=0.122...)
    >>> ib.PrivacyLoss.from_json(loss.to_json()) == loss
    True
    """

    @classmethod
    def pure(cls, epsilon: float) -> Self:
        """Return the loss of a release of which only pure `epsilon` is known.

        Parameters
        ----------
        epsilon
            A positive number.

        Returns
        -------
        PrivacyLoss
            With the mu, the rho and the delta(t) = (e^epsilon - e^t)/(1 + e^epsilon), for each t up
            to `epsilon`, of randomised response, which is the worst case. Proof:
            docs/proofs/pure.md, theorem 8.

        Raises
        ------
        ArgumentError
            If `epsilon` is not positive and finite.
        """
        epsilon = _cost(epsilon=epsilon)
        points = tabulated(lambda smaller: response_delta(epsilon, smaller), epsilon)
        return cls(epsilon, pure_mu(epsilon), pure_rho(epsilon), points)

    @classmethod
    def approximate(cls, epsilon: float, delta: float) -> Self:
        """Return the loss of a release of which only (`epsilon`, `delta`) is known.

        Parameters
        ----------
        epsilon, delta
            The guarantee. If `delta` is 0, this is `pure`.

        Returns
        -------
        PrivacyLoss
            With the worst delta at each epsilon t, delta + (1 - delta) r(t), where r is the delta
            of randomised response (see `pure`). No finite pure epsilon, mu or rho follows. Proof:
            docs/proofs/composition.md, theorem 9.

        Raises
        ------
        ArgumentError
            If a number is negative or not finite, `delta` is 1 or more, or both are 0.
        """
        epsilon, delta = _check.charge(epsilon=epsilon), check_delta(_check.charge(delta=delta))
        if delta == 0:
            return cls.pure(epsilon)

        def total(smaller: float) -> float:
            return min(1.0, (delta + (1 - delta) * response_delta(epsilon, smaller)) * _UP)

        points = tabulated(total, epsilon) if epsilon else ((0.0, delta),)
        return cls(math.inf, math.inf, math.inf, points)

    @classmethod
    def concentrated(cls, rho: float) -> Self:
        """Return the loss of a release of which only `rho` is known.

        Parameters
        ----------
        rho
            A positive number.

        Returns
        -------
        PrivacyLoss
            With `rho` alone: infinite epsilon and mu, and no profile.

        Raises
        ------
        ArgumentError
            If `rho` is not positive and finite.
        """
        return cls(math.inf, math.inf, _cost(rho=rho), ())

    @classmethod
    def stated(cls, epsilon: float | None, delta: float | None, rho: float | None) -> Self:
        """Return the loss of a release of which only epsilon, (epsilon, delta) or rho is known.

        Parameters
        ----------
        epsilon, delta, rho
            The guarantee; None stands for what is not stated.

        Returns
        -------
        PrivacyLoss
            That of `pure`, `approximate` or `concentrated`.

        Raises
        ------
        ArgumentError
            If a number is out of range, or `delta` is not 0 although `rho` is given.
        ArgumentTypeError
            If both `epsilon` and `rho` are given, or neither.
        """
        check_kind(epsilon, delta, rho)
        if rho is not None:
            return cls.concentrated(rho)
        return cls.approximate(cast("float", epsilon), 0.0 if delta is None else delta)

    def about(self, unit: Unit | None) -> Self:
        """Return the loss with its unit stated.

        Parameters
        ----------
        unit
            The change of the data that the bounds are about; None leaves the loss as it is.

        Returns
        -------
        PrivacyLoss
            With the same bounds.

        Raises
        ------
        ArgumentError
            If the loss already states another unit. `converted` changes it.

        Examples
        --------
        >>> import inbounds as ib
        >>> ib.PrivacyLoss.pure(0.5).about(ib.Unit("replace", "person"))
        PrivacyLoss(epsilon=0.5, mu=0.62..., rho=0.122..., unit=Unit('replace', 'person'))
        """
        unit = check_unit(unit)
        if None not in (unit, self.unit) and unit != self.unit:
            raise ArgumentError.must_be(
                "unit",
                f"{str(self.unit)!r}, the unit that the loss states",
                got=repr(str(unit)),
                hint="loss.converted(unit) converts a loss to another unit.",
            )
        return self if unit is None else replace(self, unit=unit)

    def for_group(self, count: int) -> Self:
        """Return the loss for a change that consists of up to `count` changes of the unit.

        Parameters
        ----------
        count
            A positive integer k.

        Returns
        -------
        PrivacyLoss
            With k·epsilon, k·mu, k²·rho, and delta·(1 + e^t + ... + e^((k-1)t)) at k·t for each
            pair (t, delta) of the profile (docs/proofs/unit.md, theorem 1), or what k·epsilon and
            the delta at 0 imply if that is less (docs/proofs/pure.md, theorem 7).

        Raises
        ------
        ArgumentError
            If `count` is not a positive integer.

        Examples
        --------
        >>> import inbounds as ib
        >>> loss = ib.PrivacyLoss.concentrated(0.1).about(ib.Unit("add-remove", "edge"))
        >>> loss.for_group(3)
        PrivacyLoss(epsilon=inf, mu=inf, rho=0.9..., unit=Unit('add-remove', 'edge', 3))
        """
        count = _check.positive_integer(count=count)
        if count == 1:
            return self
        epsilon = multiplied(count, self.epsilon)
        points: dict[float, float] = {}
        for smaller, delta in self.profile:
            if (larger := multiplied(count, smaller)) <= LARGEST:  # always true for the first, 0
                bounds = group_delta(smaller, delta, count), response_delta(epsilon, larger)
                points[larger] = min(points.get(larger, 1.0), *bounds)
        return replace(
            self,
            epsilon=epsilon,
            mu=min(multiplied(count, self.mu), pure_mu(epsilon, points.get(0.0))),
            rho=min(multiplied(count**2, self.rho), pure_rho(epsilon, points.get(0.0))),
            profile=tuple(points.items()),
            unit=self.unit and replace(self.unit, count=count * self.unit.count),
        )

    def converted(self, to: Unit) -> Self:
        """Return the loss for another unit, if it follows from this one.

        ``"replace"`` follows from ``"add-remove"``, and a larger count from a smaller one. Both
        units must be of the same member, because how many rows a person has is not known here.

        Raises
        ------
        ArgumentError
            If the loss states no unit, or the loss for `to` does not follow.

        Notes
        -----
        The loss is that of a group of k changes, where k is ``self.unit.steps_to(to)``: k·epsilon,
        k·mu and k²·rho (docs/proofs/unit.md, theorems 1 to 3).

        Examples
        --------
        >>> import inbounds as ib
        >>> loss = ib.PrivacyLoss.pure(0.5).about(ib.Unit("add-remove", "row"))
        >>> loss.converted(ib.Unit("replace", "row")).epsilon
        1.0
        """
        wanted = check_unit(to)
        if wanted is None:
            raise ArgumentTypeError.must_be("to", "a Unit", got="None")
        if self.unit is None:
            hint = "loss.about(Unit('replace', 'row')) states it."
            raise ArgumentError.must("loss", "state a unit to be converted", hint=hint)
        alone = replace(self, unit=None)
        return replace(alone.for_group(self.unit.steps_to(wanted)), unit=wanted)


def _cost(**labelled: object) -> float:
    """Return a cost above zero, rounded up."""
    return _check.positive(**{name: _check.charge(**{name: labelled[name]}) for name in labelled})
