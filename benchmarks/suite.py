"""The tables of a suite, each measured once in a process, however many ask for them."""

import importlib
from collections.abc import Iterator

from rich.table import Table

from benchmarks.recorded import RecordedTable
from benchmarks.timing import Ratio

_measured: dict[str, list[Table]] = {}


def tables(name: str) -> Iterator[Table]:
    """Yield the tables of a suite as they are measured, or as they were."""
    if name in _measured:
        yield from _measured[name]
        return
    kept = []
    for table in importlib.import_module(f"benchmarks.{name}").run():
        kept.append(table)
        yield table
    _measured[name] = kept


def ratios(name: str, *words: str) -> dict[str, Ratio]:
    """Return the ratios of the first table of a suite that has some whose keys hold all words."""
    for table in tables(name):
        if isinstance(table, RecordedTable):
            found = {key: x for key, x in table.ratios.items() if all(w in key for w in words)}
            if found:
                return found
    raise LookupError(f"the suite {name} has no ratio whose key holds {', '.join(words)}")
