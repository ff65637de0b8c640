"""Privacy losses as events of dp-accounting, for programs that account with it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from inbounds._extra import optional
from inbounds.errors import ArgumentError
from inbounds.loss import PrivacyLoss
from inbounds.pure import pure_mu

if TYPE_CHECKING:
    from dp_accounting import DpEvent

_DOWN = 1 - 2.0**-50  # covers the rounding of a quotient


def dp_event(loss: PrivacyLoss) -> DpEvent:
    """Return an event that is at most as private as `loss`: a Gaussian, or zCDP if mu is unknown.

    A Laplace event would be invalid for pure epsilon, because randomised response is less private.
    An event of randomised response would too, as dp-accounting 0.6 counts several of them as one.
    Proof: docs/proofs/composition.md, theorems 9 and 10.

    Examples
    --------
    >>> import inbounds as ib
    >>> dp_event(ib.BoundedGaussian(ib.Box(0, 100), 1, sigma=20.0).loss())
    GaussianDpEvent(noise_multiplier=19.99...)
    >>> dp_event(PrivacyLoss.concentrated(0.1))
    ZCDpEvent(rho=0.1, xi=0.0)
    """
    with optional():
        import dp_accounting  # noqa: PLC0415 - optional

    mu = min(loss.mu, pure_mu(loss.epsilon))
    if 0 < mu < math.inf:
        return dp_accounting.GaussianDpEvent(_DOWN / mu)
    if math.isfinite(loss.rho):
        return dp_accounting.ZCDpEvent(loss.rho)
    raise ArgumentError.must("loss", "have a finite epsilon, mu or rho to be an event")
