"""What accounting needs of a mechanism, and how the loss of a release is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from inbounds.domain import Box
from inbounds.errors import ArgumentTypeError
from inbounds.loss import PrivacyLoss


class HasLoss(Protocol):
    """What `compose` needs of a mechanism."""

    def loss(self) -> PrivacyLoss:
        """Return everything that is known about the cost of one release."""
        ...


class Priced(HasLoss, Protocol):
    """What a budget needs of a mechanism."""

    @property
    def epsilon(self) -> float:
        """Pure epsilon of one release."""
        ...

    @property
    def rho(self) -> float:
        """Zero-concentrated privacy of one release."""
        ...

    def delta(self, epsilon: float) -> float:
        """Return delta at `epsilon`."""
        ...


class PricedMechanism(Priced, Protocol):
    """What a ledger needs of a mechanism."""

    @property
    def domain(self) -> Box:
        """The box that outputs stay in."""
        ...

    @property
    def release(self) -> Callable[..., Any]:
        """The method that draws outputs: a number for a number, an array for an array."""
        ...


Release = HasLoss | PrivacyLoss


def loss_of(release: Release) -> PrivacyLoss:
    """Return the present loss of a release, copied into a `PrivacyLoss` that cannot change.

    Examples
    --------
    >>> loss_of(PrivacyLoss.concentrated(0.5))
    PrivacyLoss(epsilon=inf, mu=inf, rho=0.5)
    """
    if not isinstance(release, PrivacyLoss) and not hasattr(release, "loss"):
        raise ArgumentTypeError.must_be(
            "releases", "mechanisms or privacy losses", got=type(release).__name__
        )
    loss = release if isinstance(release, PrivacyLoss) else release.loss()
    if not isinstance(loss, PrivacyLoss):
        raise ArgumentTypeError.must(
            "releases", "have a loss() that returns a PrivacyLoss", got=type(loss).__name__
        )
    return PrivacyLoss(loss.epsilon, loss.mu, loss.rho, loss.profile, loss.unit)


def is_immutable(cls: type) -> bool:
    """Tell whether the class is ours: its objects never change, so one call of loss() is enough.

    Examples
    --------
    >>> is_immutable(PrivacyLoss), is_immutable(dict)
    (True, False)
    """
    return cls.__module__.startswith("inbounds.")
