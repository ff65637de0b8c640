"""What a user asks of a ledger: a guarantee in the user's own numbers, and whether it fits."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import lru_cache

from inbounds import _json
from inbounds._table import HasHtml, Table
from inbounds.guarantee import Amount

_NUMBERS = ("epsilon", "delta", "rho")
_ENCODER = json.JSONEncoder(separators=(",", ":"))


def written(asked: Amount | None) -> str:
    """Return what was asked as JSON; it is empty if the caller stated no guarantee.

    Examples
    --------
    >>> written(Amount(epsilon=0.9, delta=1e-07))
    '{"epsilon":0.9,"delta":1e-07}'
    """
    return _ENCODER.encode({} if asked is None else asked.stated())


@lru_cache(maxsize=256)
def read(text: str) -> Amount | None:
    """Return what `written` wrote; a ValueError tells that it did not.

    Examples
    --------
    >>> read('{"epsilon":0.9,"delta":1e-07}'), read("{}")
    (Amount(epsilon=0.9, delta=1e-07), None)
    """
    fields = _json.read(text)
    if not isinstance(fields, dict) or not set(fields) <= set(_NUMBERS):
        raise ValueError
    if not all(type(number) in (int, float) and number >= 0 for number in fields.values()):
        raise ValueError
    return Amount(**{name: float(number) for name, number in fields.items()}) if fields else None


def in_words(asked: Amount | None, count: int) -> str:
    """Return what was asked as the object of a sentence.

    Examples
    --------
    >>> in_words(Amount(epsilon=0.1), 1), in_words(Amount(epsilon=0.1), 31), in_words(None, 2)
    ('epsilon=0.1', '31 releases at epsilon=0.1', '2 releases')
    """
    if asked is None:
        return "this release" if count == 1 else f"{count} releases"
    return str(asked) if count == 1 else f"{count} releases at {asked}"


def refusal(dataset: str, budget: Amount, left: Amount, asked: str, cost: Amount) -> str:
    """Return why a charge does not fit, in the words of the request and of the budget.

    Examples
    --------
    >>> budget, asked = Amount(epsilon=1.0), Amount(epsilon=1.5)
    >>> refusal("survey", budget, budget, in_words(asked, 1), asked)
    "dataset 'survey' has epsilon=1.0 left of epsilon=1.0, too little for epsilon=1.5."
    >>> refusal("d", budget, budget, in_words(Amount(epsilon=0.5), 3), asked)
    "... too little for 3 releases at epsilon=0.5: the cost here is epsilon=1.5."
    """
    if math.inf in cost.stated().values():
        asked += ": this budget cannot count the cost"
    elif asked not in (str(cost), f"epsilon={cost.epsilon!r}", _shortly(cost)):
        same = _shortly(cost) == _shortly(left)
        asked += f": the cost here is {cost if same else _shortly(cost)}"
    remaining = left if _shortly(cost) == _shortly(left) else _shortly(left)
    return f"dataset {dataset!r} has {remaining} left of {budget}, too little for {asked}."


def _shortly(amount: Amount) -> str:
    """Return an amount in twelve digits."""
    digits = {name: float(f"{number:.12g}") for name, number in amount.stated().items()}
    return ", ".join(f"{name}={number!r}" for name, number in digits.items())


@dataclass(frozen=True, slots=True, repr=False)
class Fit(HasHtml):
    """Whether a charge would fit in a budget, as `Ledger.would_fit` returns it; true if it would.

    Attributes
    ----------
    fits
        Whether the budget has room for the charge.
    cost
        What it would cost in terms of the budget, after all earlier charges.
    remaining
        What would be left: as much as now if it does not fit.
    reason
        Why it does not fit, as the error of `Ledger.release` would say; empty if it does.

    Examples
    --------
    >>> bool(Fit(True, Amount(epsilon=0.1), Amount(epsilon=2.9)))
    True
    """

    fits: bool
    cost: Amount
    remaining: Amount
    reason: str = ""

    def __bool__(self) -> bool:
        return self.fits

    def _table(self) -> Table:
        facts = [("fits", "yes" if self.fits else "no"), ("cost", str(self.cost))]
        facts += [("remaining", str(self.remaining))]
        facts += [] if self.fits else [("reason", self.reason)]
        return Table.of_facts("Would it fit?", facts)

    def __repr__(self) -> str:
        reason = f", reason={self.reason!r}" if self.reason else ""
        return f"Fit({self.fits}, cost={self.cost!r}, remaining={self.remaining!r}{reason})"
