"""What accounting needs of a mechanism, and how the loss of a release is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from inbounds import _check
from inbounds.domain import Box
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.loss import PrivacyLoss

_MOST = 10**15  # releases of one mechanism


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


class PricedResponse(Priced, Protocol):
    """What a ledger needs of a mechanism for categories, which has levels in place of a box."""

    def codes(self, values: Any, name: str = ...) -> NDArray[np.int64]:
        """Return the places of values among the levels, or refuse them; nothing is drawn."""
        ...

    @property
    def release(self) -> Callable[..., Any]:
        """The method that draws outputs: a level for a level, an array for an array."""
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


def _is_count(number: object) -> bool:
    is_integer = isinstance(number, int | np.integer) and not isinstance(number, bool)
    return is_integer and 1 <= number <= _MOST  # type: ignore[operator]


def counted_losses(releases: Iterable[Release | tuple[Release, int]]) -> Counter[PrivacyLoss]:
    """Return each distinct loss of `releases`, and the number of releases that have it.

    Examples
    --------
    >>> loss = PrivacyLoss.concentrated(0.5)
    >>> counted_losses([loss, (loss, 2)])
    Counter({PrivacyLoss(epsilon=inf, mu=inf, rho=0.5): 3})
    """
    counts: Counter[PrivacyLoss] = Counter()
    if not isinstance(releases, Iterable):
        raise ArgumentTypeError.must_be(
            "releases",
            "a list of mechanisms, or of pairs with a count",
            got=type(releases).__name__,
        )
    # Keeping each release alive keeps its id from being used again.
    known: dict[int, tuple[object, PrivacyLoss]] = {}
    for entry in releases:
        pair: tuple[Any, ...] = tuple(entry) if isinstance(entry, tuple) else (entry, 1)
        if len(pair) != 2:
            requirement = "mechanisms, or pairs of a mechanism and a count"
            raise ArgumentTypeError.must_be("releases", requirement, got=f"{len(pair)} items")
        release, count = pair
        if not _is_count(count):
            requirement = "hold counts that are whole numbers from 1 to 10¹⁵"
            got, hint = _check.quoted(count), "write (mechanism, count)."
            raise ArgumentError.must("releases", requirement, got=got, hint=hint)
        if id(release) not in known or not is_immutable(type(release)):
            known[id(release)] = release, loss_of(release)
        _, loss = known[id(release)]
        counts[loss] += int(count)
    return counts
