"""The verified histories in a store: entries are checked when read, and appended if they fit."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache

from inbounds import _json
from inbounds._extra import optional
from inbounds.accounting import name, request, schema
from inbounds.accounting.budget import Budget
from inbounds.accounting.chain import Account, Charge, Opening, digest, tampered, text
from inbounds.accounting.cost import Cost
from inbounds.accounting.request import Fit
from inbounds.accounting.store import Store
from inbounds.accounting.user import system_user
from inbounds.errors import ArgumentError, ArgumentTypeError, BudgetExceededError, LedgerError
from inbounds.guarantee import Amount
from inbounds.unit import Unit

with optional():
    from sqlalchemy import Connection

Costs = list[tuple[Cost, int]]


class Book:
    """The history of every dataset, verified in full once, and then from where that ended.

    While this object lives, entries that it has verified count as they were then, even if somebody
    changes them in the store, and new entries must follow from them.
    """

    def __init__(self, place: str | os.PathLike[str]) -> None:
        self.store = Store(place)
        self._known: dict[str, Account] = {}
        self._costs: dict[str, Cost] = {}

    def datasets(self) -> list[str]:
        """Return the names of all datasets."""
        with self.store.reading() as connection:
            return schema.names(connection)

    def open(self, dataset: str, budget: Budget, *, create: bool) -> Budget | None:
        """Give a dataset its budget and return None, or return the budget that it already has."""
        decimals = _decimal(budget.epsilon), _decimal(budget.delta), _decimal(budget.rho)
        unit = None if budget.unit is None else budget.unit.to_json()
        # Openings wait for each other, because two names that look alike may be opened at once.
        with self.store.writing("", create=create, newest=unit is not None) as connection:
            known = schema.names(connection)
            dataset = name.stored(dataset, known)
            if dataset not in known:
                name.check_new(dataset, known)
            entry = Opening(dataset, *decimals, _now(), unit)
            if schema.opening(connection, dataset) is not None:
                return self.budget_of(self._account(connection, dataset))
            if dataset in self._known:
                raise tampered(dataset, "it was removed")
            schema.add_opening(connection, entry)
            return None

    def named(self, dataset: str) -> str:
        """Return the stored name of a dataset."""
        if text(dataset=dataset) in self._known:
            return dataset
        with self.store.reading() as connection:
            return name.stored(dataset, schema.names(connection))

    def account(self, dataset: str) -> Account:
        """Return the verified state of a dataset's history."""
        dataset = self.named(dataset)
        with self.store.reading() as connection:
            return self._account(connection, dataset)

    def budget(self, dataset: str) -> Budget:
        """Return the budget as last read. It may lack a unit that was set since then."""
        return self.budget_of(self._known.get(dataset) or self.account(dataset))

    def budget_of(self, account: Account) -> Budget:
        """Return the budget with its unit: the stated one, or that of the charges so far."""
        budget = opened_with(account.opening)
        units = {self._costs[key].loss.unit for key in account.counts} | {budget.unit}
        if len(units - {None}) > 1:
            raise tampered(account.opening.dataset, "its charges refer to different units")
        unit = next(iter(units - {None}), None)
        if unit == budget.unit and account.is_old == budget.one_order:
            return budget
        return replace(budget, unit=unit, one_order=account.is_old)

    def spent(self, account: Account) -> Costs:
        """Return how often each cost was charged."""
        return [(self._costs[key], count) for key, count in account.counts.items()]

    def charges(self, dataset: str) -> list[tuple[Charge, Cost]]:
        """Return every charge, with the cost of one release of it."""
        dataset = self.named(dataset)
        with self.store.reading() as connection:
            self._account(connection, dataset)
            entries = schema.charges(connection, dataset, start=1)
            self._opened(connection, dataset).followed_by(entries)
        return [(charge, self._costs[charge.cost]) for charge, _ in entries]

    def charge(
        self,
        dataset: str,
        cost: Cost,
        count: int,
        *,
        label: str,
        mechanism: str,
        asked: Amount | None = None,
        user: str | None = None,
    ) -> None:
        """Append a charge if the budget has room for it; it is on disk when this returns.

        A cost in another unit than the dataset's is converted or refused. What was asked, and by
        whom, is recorded. Without a `user` it is the operating system's, and a ledger that is too
        old to record this goes on without, if it may not be migrated.
        """
        dataset = self.named(dataset)
        stated = cost.loss.unit
        newest = True if stated is not None or user is not None else None
        with self.store.writing(dataset, newest=newest) as connection:
            account = self._account(connection, dataset)
            notes = (
                (request.written(asked), user or system_user())
                if schema.holds_requests(connection)
                else (None, None)
            )
            budget = self.budget_of(account)
            if not account.number:
                budget = replace(budget, one_order=None in notes)
            cost = cost.counted_in(budget.unit)
            if cost.loss.unit != stated:
                mechanism = f"{mechanism} converted from {str(stated)!r}".lstrip()
            key, text = _written(cost)
            spent = self.spent(account)
            budget.check(cost, spent)
            admitted = budget.admits([*spent, (cost, count)])
            if admitted:
                if key not in account.counts:
                    schema.add_cost(connection, key, text)
                where = (dataset, account.number + 1, _now())
                entry = Charge(*where, label, mechanism, key, count, *notes)
                head = entry.hash_after(account.head)
                schema.add_charge(connection, entry, head)
        if not admitted:
            raise _exceeded(dataset, budget, spent, (cost, count), asked)
        if key in self._costs:  # now that it is committed, it need not be verified when read
            self._known[dataset] = account.with_newest(entry, head)

    def asked(self, charge: Charge) -> Amount | None:
        """Return what was asked with a charge, or None if it was not stated."""
        try:
            return None if charge.asked is None else request.read(charge.asked)
        except (ValueError, RecursionError):
            how = f"what was asked with entry {charge.number} cannot be read"
            raise tampered(charge.dataset, how) from None

    def fit(self, dataset: str, cost: Cost, count: int, asked: Amount | None) -> Fit:
        """Return whether `charge` would append a charge now, without writing anything."""
        dataset = self.named(dataset)
        with self.store.reading() as connection:
            account = self._account(connection, dataset)
            newest = schema.holds_requests(connection) or schema.may_migrate(connection)
        budget, spent = self.budget_of(account), self.spent(account)
        if not account.number:
            budget = replace(budget, one_order=not newest)
        new = (cost.counted_in(budget.unit), count)
        budget.check(new[0], spent)
        price = budget.asked(*new, spent)
        if budget.admits([*spent, new]):
            return Fit(True, price, budget.left([*spent, new]))
        error = _exceeded(dataset, budget, spent, new, asked)
        return Fit(False, price, budget.left(spent), str(error))

    def verify(self, dataset: str, expected_head: str | None) -> str:
        """Check the whole history again, and that it contains an earlier head."""
        dataset = self.named(dataset)
        with self.store.reading() as connection:
            start = self._opened(connection, dataset)
            entries = schema.charges(connection, dataset, start=1)
            account = start.followed_by(entries)
            schema.costs(connection, dataset, account.counts)
            self._account(connection, dataset)
        hashes = {start.head, *(stored for _, stored in entries)}
        if expected_head is not None and expected_head not in hashes:
            raise tampered(dataset, "the expected head is not in its history")
        return account.head

    def _account(self, connection: Connection, dataset: str) -> Account:
        """Check the entries that are new, and return the account."""
        start = self._opened(connection, dataset)
        known = self._known.get(dataset, start)
        entries = schema.charges(connection, dataset, start=max(known.number, 1))
        if known.opening != start.opening:
            raise tampered(dataset, "its opening was replaced")
        if known.number and (not entries or entries.pop(0)[1] != known.head):
            raise tampered(dataset, f"entry {known.number} differs from what was read before")
        account = known.followed_by(entries)
        self._learn(connection, dataset, account.counts)
        self._known[dataset] = account
        return account

    def _opened(self, connection: Connection, dataset: str) -> Account:
        opening = schema.opening(connection, text(dataset=dataset))
        if opening is None:
            names = ", ".join(map(repr, schema.names(connection))) or "none"
            raise LedgerError(f"dataset {dataset!r} is unknown. Known: {names}.")
        return Account.opened(*opening)

    def _learn(self, connection: Connection, dataset: str, keys: Iterable[str]) -> None:
        new = schema.costs(connection, dataset, [key for key in keys if key not in self._costs])
        try:
            self._costs.update({key: Cost.from_json(cost) for key, cost in new.items()})
        except (ArgumentError, KeyError, TypeError, ValueError, ArithmeticError, RecursionError):
            raise tampered(dataset, "a cost cannot be read") from None


@lru_cache(maxsize=256)
def opened_with(opening: Opening) -> Budget:
    """Return the budget that an opening entry states; cached, because every charge asks for it.

    Examples
    --------
    >>> opened_with(Opening("survey", "3.0", None, None, "2026-01-01"))
    Budget(epsilon=3.0)
    """
    decimals = (opening.epsilon, opening.delta, opening.rho)
    try:
        epsilon, delta, rho = (None if part is None else _json.double(part) for part in decimals)
        unit = None if opening.unit is None else Unit.from_json(opening.unit)
        return Budget(epsilon, delta, rho, unit)
    except (ArgumentTypeError, ValueError):
        raise tampered(opening.dataset, "its budget cannot be read") from None


def _exceeded(
    dataset: str, budget: Budget, spent: Costs, new: tuple[Cost, int], asked: Amount | None
) -> BudgetExceededError:
    price, remaining = budget.asked(*new, spent), budget.left(spent)
    words = request.in_words(asked, new[1])
    return BudgetExceededError(
        request.refusal(dataset, budget, remaining, words, price),
        dataset=dataset,
        asked=asked or price,
        cost=price,
        remaining=remaining,
    )


@lru_cache(maxsize=256)
def _written(cost: Cost) -> tuple[str, str]:
    """Return the digest of a cost, and its text; cached, because releases repeat."""
    written = cost.to_json()
    return digest(written), written


def _decimal(number: float | None) -> str | None:
    return None if number is None else repr(number)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
