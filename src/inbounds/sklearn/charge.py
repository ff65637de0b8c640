"""The charge for values that are released row by row."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from inbounds.calibration.approximate import gaussian_delta, rho_delta
from inbounds.domain import Box
from inbounds.frames.central.share import float_above
from inbounds.guarantee import Guarantee
from inbounds.loss import PrivacyLoss
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.profile import tabulated
from inbounds.pure import response_delta
from inbounds.unit import Unit

_UP = 1 + 2.0**-40  # covers rounding

ROW = Unit("replace", "row")
"""What a local release hides: any change of one row."""


class RowRelease:
    """What a ledger needs of rows of several numbers, each of which is released by itself.

    Proof: docs/proofs/sklearn.md, theorems 1 and 2.

    Parameters
    ----------
    mechanism, count
        What releases a number, and how many numbers a row has.
    asked
        The guarantee of a row, as the caller wrote it.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.Window(ib.Box(0, 1), 1, epsilon=0.5)
    >>> row = RowRelease(m, 2, Guarantee(epsilon=1.0))
    >>> row.epsilon, row.delta(1.0), row.rho == 2 * m.rho
    (1.0, 0.0, True)
    """

    def __init__(self, mechanism: Mechanism, count: int, asked: Guarantee) -> None:
        self._mechanism, self._count, self.asked = mechanism, count, asked
        self.epsilon = float_above(Fraction(mechanism.epsilon) * count)
        self.rho = float_above(Fraction(mechanism.rho) * count)
        self.gdp = mechanism.gdp if count == 1 else mechanism.gdp * math.sqrt(count) * _UP

    @property
    def domain(self) -> Box:
        """The interval of one number."""
        return self._mechanism.domain

    def release(self, values: Any) -> Any:
        """Release all numbers of all rows."""
        return self._mechanism.release(values)

    def delta(self, epsilon: float) -> float:
        """Return an upper bound on delta at `epsilon`."""
        if self._count == 1:
            return self._mechanism.delta(epsilon)
        if epsilon >= self.epsilon:
            return 0.0
        bounds = rho_delta(self.rho, epsilon), gaussian_delta(self.gdp, epsilon)
        return min(1.0, response_delta(self.epsilon, epsilon), *bounds)

    def loss(self) -> PrivacyLoss:
        """Return the privacy loss of one row."""
        return PrivacyLoss(self.epsilon, self.gdp, self.rho, tabulated(self.delta, self.epsilon))

    def __repr__(self) -> str:
        return f"{self._count} releases of {self._mechanism!r}"


def label_of(estimator: Any, about: str) -> str | None:
    """Return the label of a charge, which says by default what was released; None without ledger.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> label_of(SimpleNamespace(ledger="any", label=None), "3 features")
    'SimpleNamespace: 3 features'
    """
    if estimator.ledger is None or estimator.label is not None:
        label: str | None = estimator.label
        return label
    return f"{type(estimator).__name__}: {about}"


def release_rows(estimator: Any, mechanism: Any, values: Any, about: str) -> Any:
    """Release rows at the cost of one, after a charge if there is a ledger.

    Parameters
    ----------
    estimator
        Has a ``ledger``, a ``dataset`` and a ``label``.
    mechanism, values
        What releases each row at once, and one row for each person.
    about
        What is released, for the label.
    """
    if estimator.ledger is None:
        return mechanism.release(values)
    label, dataset = label_of(estimator, about), estimator.dataset
    return estimator.ledger.release(
        mechanism, values, dataset=dataset, label=label, parallel=True, unit=ROW
    )
