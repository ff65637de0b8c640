"""A history in which edits are detected: the hash of every entry covers the hash before it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from inbounds.errors import ArgumentError, ArgumentTypeError, LedgerError, quoted


@dataclass(frozen=True, slots=True)
class Opening:
    """The first entry of a dataset: its budget, with decimals and unit as they were stated."""

    dataset: str
    epsilon: str | None
    delta: str | None
    rho: str | None
    time: str
    unit: str | None = None

    @property
    def hash(self) -> str:
        """The hash that the first charge builds on."""
        entry = (self.dataset, self.epsilon, self.delta, self.rho, self.time)
        if self.unit is None:  # as it was hashed before units existed
            return digest("opening", *entry)
        return digest("opening with unit", *entry, self.unit)


@dataclass(frozen=True, slots=True)
class Charge:
    """One entry of a dataset's history; `cost` is the digest of the cost of one release.

    `asked` is the guarantee that was asked for, as JSON, and `asked_by` is who asked. Both are None
    in entries of ledgers that have no columns for them.
    """

    dataset: str
    number: int
    time: str
    label: str
    mechanism: str
    cost: str
    count: int
    asked: str | None = None
    asked_by: str | None = None

    def hash_after(self, previous: str) -> str:
        """Return the hash of this entry, given that of the entry before it."""
        entry = (self.number, self.time, self.label, self.mechanism, self.cost, self.count)
        if self.asked is None and self.asked_by is None:  # as it was hashed before these existed
            return digest("charge", previous, self.dataset, *entry)
        request = (self.asked, self.asked_by)
        return digest("charge with request", previous, self.dataset, *entry, *request)


@dataclass(frozen=True, slots=True)
class Account:
    """The state of a verified history: its newest entry, and how often each cost was charged.

    `is_old` tells whether the first charge lacks a request, as it did before requests existed.
    """

    opening: Opening
    number: int = 0
    head: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    is_old: bool = False
    newest: Charge | None = None

    @classmethod
    @lru_cache(maxsize=256)
    def opened(cls, opening: Opening, stored: str) -> Account:
        """Start from the opening entry, after checking it against its stored hash.

        This is cached, because every charge asks for it.
        """
        if opening.hash != stored:
            raise tampered(opening.dataset, "its budget was changed")
        return cls(opening, head=stored)

    def followed_by(self, entries: Sequence[tuple[Charge, str]]) -> Account:
        """Return the account after further charges, each checked against its stored hash.

        Examples
        --------
        >>> account = Account.opened(
        ...     opening := Opening("d", "3.0", None, None, "now"), opening.hash
        ... )
        >>> charge = Charge("d", 1, "later", "", "", "cost", 2)
        >>> account.followed_by([(charge, charge.hash_after(account.head))]).counts
        {'cost': 2}
        >>> account.followed_by([(charge, "0" * 64)])
        Traceback (most recent call last):
        inbounds.errors.LedgerError: dataset 'd' was tampered with: entry 1 was changed.
        """
        if not entries:
            return self
        number, head, counts = self.number, self.head, dict(self.counts)
        is_old, newest = self.is_old, self.newest
        for charge, stored in entries:
            if charge.number != number + 1:
                raise tampered(charge.dataset, f"entry {number + 1} is missing")
            if charge.hash_after(head) != stored:
                raise tampered(charge.dataset, f"entry {charge.number} was changed")
            if charge.count < 1:  # someone who may append must not be able to undo charges
                raise tampered(charge.dataset, f"entry {charge.number} charges nothing")
            number, head = charge.number, stored
            counts[charge.cost] = counts.get(charge.cost, 0) + charge.count
            is_old, newest = is_old or (number == 1 and charge.asked_by is None), charge
        return replace(self, number=number, head=head, counts=counts, is_old=is_old, newest=newest)

    def with_newest(self, charge: Charge, head: str) -> Account:
        """Return the account after a charge that this process wrote itself, with its hash."""
        counts = {**self.counts, charge.cost: self.counts.get(charge.cost, 0) + charge.count}
        is_old = self.is_old if self.number else charge.asked_by is None
        return Account(self.opening, charge.number, head, counts, is_old, charge)


def digest(*parts: object) -> str:
    """Return the SHA-256 of the parts, encoded so that different lists give different texts.

    Examples
    --------
    >>> digest("a", "b") == digest("ab"), len(digest())
    (False, 64)
    """
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def tampered(dataset: str, how: str) -> LedgerError:
    """Return the error for a history that is inconsistent."""
    return LedgerError(f"dataset {dataset!r} was tampered with: {how}.")


def text(**labelled: object) -> str:
    """Return a text after checking that every database can store it: ``text(label=label)``.

    Examples
    --------
    >>> text(label="mean age")
    'mean age'
    """
    ((name, value),) = labelled.items()
    if not isinstance(value, str):
        raise ArgumentTypeError.must_be(name, "a string", got=type(value).__name__)
    if (name == "dataset" and not value) or not value.isprintable():
        raise ArgumentError.must_be(name, "printable text", got=f"{name}={quoted(value)}")
    return value
