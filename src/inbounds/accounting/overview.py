"""The table that a notebook shows for a ledger: its datasets, their budgets and what is left."""

from inbounds._table import Table
from inbounds.accounting.book import Book
from inbounds.accounting.chain import Account
from inbounds.accounting.request import in_words

_MOST = 50  # datasets shown


def overview(book: Book) -> Table | None:
    """Return a table of the datasets, or None if the ledger cannot be read.

    Nothing is written. Problems of the ledger are reported when it is used, not when it is shown.

    Examples
    --------
    >>> import tempfile
    >>> from inbounds.accounting.budget import Budget
    >>> book = Book(tempfile.mkdtemp() + "/budget.db")
    >>> overview(book) is None
    True
    >>> book.open("survey", Budget(epsilon=3.0), create=True)
    >>> overview(book).rows
    (('survey', 'not stated', 'epsilon=3.0', 'epsilon=3.0', '0', ''),)
    """
    try:
        names = book.datasets()
        rows = tuple(_row(book, name) for name in names[:_MOST])
    except Exception:  # no ledger yet, a server that cannot be reached, a history that was changed
        return None
    omitted = len(names) - len(rows)
    return Table(
        f"Ledger {book.store.shown}",
        ("dataset", "unit", "budget", "left", "charges", "asked last"),
        rows,
        caption=f"and {omitted:,} more" if omitted else "",
        numbers=(4,),
    )


def _row(book: Book, name: str) -> tuple[str, ...]:
    account = book.account(name)
    budget = book.budget_of(account)
    unit = "not stated" if budget.unit is None else str(budget.unit)
    left = budget.left(book.spent(account))
    return name, unit, str(budget), str(left), f"{account.number:,}", _newest(book, account)


def _newest(book: Book, account: Account) -> str:
    """Return what was asked last, and by whom."""
    charge = account.newest
    if charge is None or charge.asked_by is None:
        return ""
    return f"{in_words(book.asked(charge), charge.count)}, by {charge.asked_by}"
