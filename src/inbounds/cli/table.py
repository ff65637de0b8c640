"""The columns of a table that a command uses, in memory.

What a column of CSV holds follows from the options that name it: numbers, booleans or text. It is
never inferred from the rows, because then a single private cell could change how all rows are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inbounds.cli.failure import InputError, UsageError, in_options
from inbounds.cli.progress import row_bar
from inbounds.cli.source import PIPE, check_columns, opened
from inbounds.errors import ArgumentError, ArgumentTypeError

if TYPE_CHECKING:
    from inbounds.frames.local.file import Format, Source


@dataclass(frozen=True, slots=True)
class Uses:
    """The columns that options name, and for each an option that does.

    Attributes
    ----------
    numbers, truths, texts
        Columns of numbers, of booleans, and of values that are compared with each other.
    """

    numbers: Mapping[str, str]
    truths: Mapping[str, str]
    texts: Mapping[str, str]

    @property
    def names(self) -> list[str]:
        """All of the columns."""
        return list({**self.numbers, **self.truths, **self.texts})

    def check(self, header: list[str]) -> None:
        """Refuse columns that the header does not name exactly once."""
        for name, option in {**self.numbers, **self.truths, **self.texts}.items():
            check_columns([name], header, option)

    def check_csv(self) -> None:
        """Refuse a column of CSV that would have to be two things at once."""
        for name, option in self.texts.items():
            other = self.numbers.get(name) or self.truths.get(name)
            if other:
                hint = "in Parquet and Arrow files columns have types."
                message = f"{option} and {other} must not name the same column of CSV, got {name!r}"
                raise UsageError(f"{message}. Hint: {hint}")


@contextmanager
def opened_table(source: Path, form: Format, uses: Uses, delimiter: str) -> Iterator[Source]:
    """Open a file, or a pipe of CSV, and check that it has the columns that are used."""
    from inbounds.frames.local import csv_reader, file  # noqa: PLC0415 - help must be quick

    options: Any = {}
    if form == "csv":
        uses.check_csv()
        truths = [name for name in uses.truths if name not in uses.numbers]
        options = {"typed": False, "truths": truths, "delimiter": delimiter, "check": uses.check}
    numbers = list(uses.numbers)
    with explained(source), ExitStack() as stack:
        if source == PIPE:
            stream = stack.enter_context(opened(source))
            table = file.Source(*csv_reader.read(stream, numbers, **options))
        else:
            table = stack.enter_context(file.opened(source, form, numbers, **options))
        uses.check(table.schema.names)
        yield table


@contextmanager
def explained(source: Path) -> Iterator[None]:
    """Report errors in the data as errors of the input, not of the options."""
    try:
        yield
    except (ArgumentError, ArgumentTypeError) as error:
        name = "standard input" if source == PIPE else source
        raise InputError(f"{name}: {in_options(error)}") from None


def read_columns(
    table: Source, names: Sequence[str], *, from_text: bool, progress: bool | None
) -> Any:
    """Return some columns as a table of Arrow; without names, the first one.

    In CSV an empty cell is a missing value, even in a column of text.
    """
    import pyarrow as pa  # noqa: PLC0415 - help must be quick

    places = [table.schema.names.index(name) for name in names] or [0]
    schema = pa.schema([table.schema.field(place) for place in places])
    prepared = partial(_without_empty_text, from_text=from_text)
    batches, rows = [], 0
    with row_bar(table.rows, progress) as update:
        for batch in table.batches:
            columns = [prepared(batch.column(place)) for place in places]
            batches.append(pa.RecordBatch.from_arrays(columns, schema=schema))
            rows += batch.num_rows
            update(rows)
    return pa.Table.from_batches(batches, schema)


def _without_empty_text(column: Any, *, from_text: bool) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - help must be quick
    import pyarrow.compute as pc  # noqa: PLC0415 - as above

    if not from_text or column.type != pa.string():
        return column
    return pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column)
