"""How many releases a second the ledger allows, and whether a long history slows it down.

Aims: 0.8 of the speed of a bare insert that is as durable; a charge behind 10⁵ entries as quick as
one behind 10. Everything is in the current folder, so that a disk is measured and not memory.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from rich.table import Table

import inbounds as ib
from benchmarks.timing import Timing, duration, judged, new_table, race
from inbounds.accounting.chain import Account, Charge
from inbounds.accounting.ledger import Ledger

SPEED_AIM = 0.8
GROWTH_AIM = 1.25  # a shared disk tells no finer

_BATCH = 10  # rows to a sample: one alone shows the moods of the disk
_SECONDS = 6.0
_SHORT, _LONG = 10, 10**5
_DELTA = 1e-6
_ENDLESS = 1e9
_AGE = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 2.5, epsilon=0.1)
Run = Callable[[], object]


def run() -> Iterator[Table]:
    with TemporaryDirectory(dir=os.getcwd()) as folder:
        yield _against_a_bare_insert(Path(folder))
        yield _behind_a_history(Path(folder))


# --- against a bare insert ---


def _against_a_bare_insert(folder: Path) -> Table:
    ledger = Ledger(folder / "speed.db")
    ledger.open("survey", epsilon=_ENDLESS)
    connection = _bare(folder / "bare.db", ledger)

    def insert(row: tuple[object, ...]) -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"INSERT INTO charges VALUES ({', '.join('?' * len(row))})", row)
        connection.execute("COMMIT")

    row = _row(folder / "speed.db")
    runners = [lambda: insert(row), lambda: _release(ledger, "survey"), lambda: _AGE.release(41.3)]
    bare, ours, draw = race(*(_batch(runner) for runner in runners), seconds=_SECONDS)
    speed = bare.over(ours)
    table = new_table(
        "Ledger.release of one number under a pure budget, and the insert it cannot do without",
        "A second; × is the share of the bare insert's speed (aim "
        f"{SPEED_AIM:g}). The insert is sqlite3's own, of a row as long, in a transaction of its "
        "own, with the same journal and synchronous=EXTRA. The draw is part of a release.",
        *("bare insert", "Ledger.release", "×", "draw alone"),
        labels=(),
    )
    cells = (_rate(bare), _rate(ours), judged(f"{speed:.2f}", speed >= SPEED_AIM), _rate(draw))
    table.add_row(*cells)
    connection.close()
    ledger.close()
    return table


def _bare(path: Path, ledger: Ledger) -> sqlite3.Connection:
    """Open a table with the columns of a charge and nothing else, as durable as the ledger."""
    _release(ledger, "survey")
    connection = sqlite3.connect(path, isolation_level=None)
    with ledger._book.store.reading() as theirs:
        for name in ("journal_mode", "synchronous", "fullfsync"):
            connection.execute(f"PRAGMA {name}={theirs.exec_driver_sql(f'PRAGMA {name}').scalar()}")
    columns = ", ".join([*(field.name for field in fields(Charge)), "hash"])
    connection.execute(f"CREATE TABLE charges ({columns})")
    return connection


def _row(path: Path) -> tuple[object, ...]:
    connection = sqlite3.connect(path)
    (row,) = connection.execute("SELECT * FROM ledger_charges LIMIT 1").fetchall()
    connection.close()
    return tuple(row)


def _release(ledger: Ledger, dataset: str) -> object:
    return ledger.release(_AGE, 41.3, dataset=dataset, label="mean age")


def _batch(runner: Run) -> Run:
    def repeated() -> None:
        for _ in range(_BATCH):
            runner()

    return repeated


def _rate(timing: Timing) -> str:
    return f"{_BATCH / timing.seconds:,.0f}"


# --- behind a history ---


@dataclass(frozen=True)
class Case:
    """A kind of budget, and what decides that a charge fits in it."""

    name: str
    decides: str
    budget: Callable[[int], dict[str, Any]]  # with room for so many releases
    each: int  # releases to an entry of the history


def _behind_a_history(folder: Path) -> Table:
    table = new_table(
        f"One release behind {_SHORT} and behind {_LONG:,} entries",
        f"Aim: at most {GROWTH_AIM:g} times as long. The first use of a Ledger checks the whole "
        "chain; later ones check what is new.",
        *("budget", "decided by", "10", "10⁵", "ratio", "first use at 10⁵"),
        labels=("budget", "decided by"),
    )
    for k, case in enumerate(_cases()):
        _add(table, case, folder / f"history{k}.db")
    return table


def _add(table: Table, case: Case, path: Path) -> None:
    ledger = Ledger(path)
    for dataset, entries in (("short", _SHORT), ("long", _LONG)):
        ledger.open(dataset, **case.budget(entries * case.each))
        _release(ledger, dataset)
        _prolong(path, ledger._book.account(dataset), entries - 1, case.each)
    ledger.close()
    ledger = Ledger(path)
    started = perf_counter()
    ledger.head("long")
    first = perf_counter() - started
    runners = (lambda: _release(ledger, "short"), lambda: _release(ledger, "long"))
    short, long = race(*runners, seconds=_SECONDS)
    ratio = long.over(short, better="lower")
    shown = judged(f"{ratio:.2f}", ratio <= GROWTH_AIM)
    table.add_row(case.name, case.decides, str(short), str(long), shown, duration(first))
    ledger.close()


def _prolong(path: Path, account: Account, entries: int, each: int) -> None:
    """Append entries like the first, all in one transaction; the chain is a true one."""
    dataset, head = account.opening.dataset, account.head
    (cost,) = account.counts
    rows: list[tuple[Any, ...]] = []
    columns = [*(field.name for field in fields(Charge)), "hash"]
    request = ('{"epsilon":0.1}', "analyst")
    for number in range(account.number + 1, account.number + 1 + entries):
        entry = Charge(dataset, number, "2026-01-01", "mean age", repr(_AGE), cost, each, *request)
        head = entry.hash_after(head)
        rows.append((*(getattr(entry, name) for name in columns[:-1]), head))
    places = ", ".join("?" * len(columns))
    insert = f"INSERT INTO ledger_charges ({', '.join(columns)}) VALUES ({places})"
    with sqlite3.connect(path) as connection:
        connection.executemany(insert, rows)
    connection.close()


def _cases() -> list[Case]:
    def concentrated(count: int) -> dict[str, Any]:  # too little for a sum of epsilons
        epsilon = ib.compose([(_AGE, count + 200)]).epsilon(_DELTA)
        return {"epsilon": 1.5 * float(epsilon), "delta": _DELTA}

    return [
        Case("epsilon", "sum of epsilons", lambda _: {"epsilon": _ENDLESS}, each=1),
        Case("rho", "sum of rhos", lambda _: {"rho": _ENDLESS}, each=1),
        Case("epsilon, delta", "sums of divergences", concentrated, each=20),
    ]
