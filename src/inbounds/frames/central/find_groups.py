"""The groups of a table, found privately."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from inbounds import _check
from inbounds._entry import called, unwarned, warn_if_weak
from inbounds.calibration.report import ReportTable, RowPrice
from inbounds.errors import ArgumentError, ArgumentTypeError, quoted
from inbounds.frames.binding import bind_columns
from inbounds.frames.central import person
from inbounds.frames.central.aggregate import Key
from inbounds.frames.central.argument import AnyColumn, is_column
from inbounds.frames.central.charge import check_ledger, unit_of
from inbounds.frames.central.check import check_table
from inbounds.frames.central.group_count import group_counts
from inbounds.frames.central.request import check_by
from inbounds.frames.central.value_type import check_keys, check_person
from inbounds.frames.silence import quietly
from inbounds.guarantee import Guarantee, check_delta
from inbounds.sampling.entropy import SYSTEM
from inbounds.sampling.flip import flips
from inbounds.unit import Adjacency, check_adjacency


@called()
@unwarned
def find_groups(
    frame: Any,
    by: AnyColumn | Sequence[AnyColumn],
    *,
    epsilon: float,
    delta: float,
    adjacency: Adjacency = "replace",
    rows: int = 1,
    id: AnyColumn | None = None,
    ledger: Any = None,
    dataset: str | None = None,
    label: str | None = None,
) -> list[Any]:
    """Find groups of a table privately, where it is not public which groups there are.

    Groups with many rows are found, and groups with few rows are not.

    Parameters
    ----------
    frame
        As in `summarize`. Its engine counts the rows of each group. A lazy frame is evaluated once,
        and once more if there is an `id`.
    by
        One or more columns that split the rows: strings, which are told apart by their bytes,
        integers, booleans or dates, or categories of these. Rows with nulls belong to no group.
    epsilon
        The epsilon of the list of groups.
    delta
        The delta that goes with it, which must be above 0: it is an upper bound on the probability
        with which a group is found that only one person belongs to.
    adjacency
        Which tables are neighbours, as in `summarize`.
    rows
        How many rows may belong to one person. With `id`, at most this many rows of each person are
        used, which are chosen at random.
    id
        The column that identifies each row's person, as in `summarize`.
    ledger
        A `Ledger` that is charged before anything is drawn. The unit of the charge is that of
        `summarize`. The charge states a delta, so a budget without one refuses it, and a budget
        with one takes it only if the first charge had one, too: find groups before anything else.
    dataset
        The dataset of the ledger whose budget is charged.
    label
        A note for the history of the ledger.

    Returns
    -------
    list
        The groups that were found, in sorted order: values, or tuples of values if `by` is a list.
        They can be passed to `summarize` as `groups`.

    Raises
    ------
    ArgumentError
        If an argument is not valid, the frame lacks a column, the column of ids has nulls or
        infinite values, or the engine fails. The message shows no values.
    ArgumentTypeError
        If an argument or a column has a type that cannot be used.
    BudgetExceededError
        If the ledger has no room for the charge. Nothing is charged or drawn then.

    See Also
    --------
    summarize : Release statistics of the groups.

    Guarantees
    ----------
    The list is one release at `epsilon` and `delta`, for any two tables that are neighbours:
    docs/proofs/groups.md, theorems 1 and 3 to 5. A ledger is charged once, before anything is
    drawn. Statistics of the groups cost extra.

    Notes
    -----
    A group with n rows is found with the probability π(n), independently of all others, where
    π(0) = 0 and π(n + 1) = min(e^ε₁ π(n) + δ₁, 1 − e^−ε₁ (1 − π(n) − δ₁), 1) [1]_. No rule that
    depends on n alone finds more: docs/proofs/groups.md, theorem 2. If one row is added or removed,
    ε₁ and δ₁ are epsilon and delta; if it is replaced, it leaves a group and enters another, and
    they are half of these. With k rows, ε₁ is one kth, and δ₁ is the part that adds up to delta in
    k steps. At epsilon 1 and delta 1e-6, the probability is above 1/2 from 14 rows on, and 1 from
    28 rows on (``"add-remove"``), or from 27 and 54 rows on (``"replace"``).

    References
    ----------
    .. [1] Desfontaines, Voss, Gipson and Mandayam (2022), "Differentially private partition
       selection", PoPETs 2022(1).

    Examples
    --------
    >>> import pandas as pd
    >>> import inbounds as ib
    >>> from inbounds.frames import count
    >>> table = pd.DataFrame({"town": ["Ulm", "Rom"] * 100 + ["Tiny"]})
    >>> towns = ib.find_groups(table, "town", epsilon=1.0, delta=1e-9)
    >>> towns
    ['Rom', 'Ulm']
    >>> len(ib.summarize(table, count(), by="town", groups=towns, epsilon=1.0))
    2
    """
    guarantee = Guarantee(epsilon, _positive(delta))
    warn_if_weak(epsilon=epsilon, delta=delta, rho=None)
    names, neighbours = check_by(by), check_adjacency(adjacency=adjacency)
    rows = _check.positive_integer(rows=rows)
    if not (id is None or is_column(id)):
        requirement = "the name of a column, or its index in an array"
        raise ArgumentTypeError.must_be("id", requirement, got=quoted(id))
    check_ledger(ledger, dataset, label, "spend")
    report = _report(guarantee, neighbours, rows)
    people = _People(id, rows)
    counts = quietly(lambda: _counts(frame, names, people), "evaluate the frame by itself.")
    if ledger is not None:  # the charge is durable before anything is drawn
        label = f"find_groups({by!r})" if label is None else label
        cost, unit = guarantee.stated(), unit_of(neighbours, rows, id)
        ledger.spend(dataset, **cost, label=label, unit=unit)
    found = sorted(_drawn(counts, report))
    return [group[0] for group in found] if is_column(by) else found


@dataclass(frozen=True, slots=True)
class _People:
    column: AnyColumn | None
    rows: int


def _positive(delta: object) -> float:
    """Return delta, which must be above 0: without it, no group could ever be found."""
    checked = check_delta(delta)
    if checked == 0:
        hint = "a delta well below 1/n for n people, such as 1e-9; or list the groups yourself."
        raise ArgumentError.must_be("delta", "above 0 to find groups", got="delta=0.0", hint=hint)
    return checked


def _report(guarantee: Guarantee, adjacency: Adjacency, rows: int) -> ReportTable:
    """Return with which probability groups are reported, by their number of rows.

    The price of a row: docs/proofs/groups.md, theorem 3.
    """
    sides = 1 if adjacency == "add-remove" else 2
    return ReportTable.of(RowPrice.of(*guarantee.pair, rows=rows, sides=sides))


def _counts(frame: Any, by: Sequence[AnyColumn], people: _People) -> dict[Key, int]:
    """Return the number of rows that are used, of each group that has any."""
    used = [("by", name) for name in by]
    if people.column is not None:
        used.append(("id", people.column))
    table, names = bind_columns(frame, used, keys=by)
    for name in by:
        check_keys(table, names[name], name, [])
    who = None if people.column is None else names[people.column]
    if people.column is not None and who is not None:
        check_person(table, who, people.column)
        called_by = {new: name for name, new in names.items()}
        check_table(table, [], who, "error", called_by.__getitem__)
    return group_counts(
        table,
        [names[name] for name in by],
        person=who,
        rows=people.rows,
        secret=person.new_key(),
    )


def _drawn(counts: dict[Key, int], report: ReportTable) -> list[Key]:
    """Draw which of the groups are reported.

    Groups without rows need no draw: docs/proofs/groups.md, theorem 1.
    """
    parts = [report.chance(rows) for rows in counts.values()]
    reported = flips(parts, report.bits, SYSTEM)
    return [group for group, is_reported in zip(counts, reported, strict=True) if is_reported]
