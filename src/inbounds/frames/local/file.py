"""Files as streams of record batches: CSV, Parquet and Arrow, in memory that does not grow."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, Literal, get_args

from inbounds._extra import optional
from inbounds.errors import ArgumentError
from inbounds.frames.local import csv_reader, csv_writer
from inbounds.frames.local.layout import Rebuilt, batch_rows
from inbounds.frames.silence import each_in_our_words, in_our_words

with optional():
    import pyarrow as pa
    import pyarrow.parquet as pq

Format = Literal["csv", "parquet", "arrow"]
SUFFIXES: dict[str, Format] = {
    ".csv": "csv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
}

_BUFFER = 1 << 20  # bytes of a Parquet column read together
_FAILURES = (pa.ArrowException, OSError)
_MAGIC = b"ARROW1"  # how an Arrow file begins, unlike a stream


@dataclass(frozen=True, slots=True)
class Source:
    """An open file.

    Attributes
    ----------
    schema
        Names and types of its columns.
    batches
        Its rows, to be read once, in batches that the file's own layout does not change.
    rows
        How many there are, if the file tells.
    sorted_by
        Columns that the file says its rows are sorted by.
    """

    schema: Any
    batches: Iterator[Any]
    rows: int | None = None
    sorted_by: frozenset[str] = frozenset()


def format_of(path: Path, otherwise: str | None = None) -> Format:
    """Return the format that the name of a file tells, or else `otherwise`.

    Examples
    --------
    >>> format_of(Path("people.parquet")), format_of(Path("people.txt"), "csv")
    ('parquet', 'csv')
    """
    found = SUFFIXES.get(path.suffix.lower(), otherwise)
    if found not in get_args(Format):
        suffixes = ", ".join(SUFFIXES)
        requirement = f"given where the name of a file does not end in one of {suffixes}"
        raise ArgumentError.must_be("format", requirement, got=repr(path.name))
    return found  # type: ignore[return-value]


@contextmanager
def opened(
    path: Path,
    form: Format,
    numbers: Collection[str] = (),
    *,
    typed: bool = True,
    **options: Any,
) -> Iterator[Source]:
    r"""Open a file; `numbers`, `typed` and `options` are for CSV: see `csv_reader.read`.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "ages.csv")
    >>> _ = path.write_text("age\n41\n7\n")
    >>> with opened(path, "csv") as source:
    ...     [batch.to_pylist() for batch in source.batches]
    [[{'age': 41}, {'age': 7}]]
    """
    with ExitStack() as stack:
        file = stack.enter_context(path.open("rb"))  # whose errors have a name and a reason
        if form == "csv":
            yield Source(*csv_reader.read(file, numbers, typed=typed, **options))
            return
        read, explain = _parquet if form == "parquet" else _arrow, partial(_unreadable, form)
        source = in_our_words(lambda: read(path, file, stack), explain, *_FAILURES)
        rebuilt = Rebuilt(source.schema)
        batches = rebuilt.batches(each_in_our_words(source.batches, explain, *_FAILURES))
        yield Source(rebuilt.schema, batches, source.rows, source.sorted_by)


def _parquet(path: Path, _: IO[bytes], stack: ExitStack) -> Source:
    # what is buffered ahead would stay in memory to the end
    parquet = pq.ParquetFile(str(path), buffer_size=_BUFFER, pre_buffer=False)
    file = stack.enter_context(parquet)
    facts = file.metadata
    batches = file.iter_batches(batch_size=batch_rows(file.schema_arrow))
    return Source(file.schema_arrow, batches, facts.num_rows, _sorted_by(facts))


def _sorted_by(facts: Any) -> frozenset[str]:
    """Return the first column that row groups are sorted by, as the file says."""
    groups = (facts.row_group(i) for i in range(facts.num_row_groups))
    first = {g.sorting_columns[0].column_index for g in groups if g.sorting_columns}
    return frozenset(facts.schema.column(i).path for i in first)


def _arrow(path: Path, file: IO[bytes], stack: ExitStack) -> Source:
    """Open an Arrow file or stream; it is mapped, as one batch may be larger than memory."""
    source = stack.enter_context(pa.memory_map(str(path)))
    if file.read(len(_MAGIC)) == _MAGIC:
        reader = stack.enter_context(pa.ipc.open_file(source))
        batches = (reader.get_batch(i) for i in range(reader.num_record_batches))
    else:
        reader = stack.enter_context(pa.ipc.open_stream(source))
        batches = iter(reader)
    return Source(reader.schema, batches)


def _unreadable(form: Format, error: Exception) -> Exception:
    """Keep what the system says; replace what Arrow says, as it may show a value."""
    if isinstance(error, OSError) and error.errno is not None:
        return error
    return ArgumentError(f"the file must be a whole and sound {form.capitalize()} file.")


@contextmanager
def writing(
    file: IO[bytes],
    form: Format,
    schema: Any,
    answered: Collection[str] = (),
    **options: Any,
) -> Iterator[Callable[[Any], None]]:
    """Write record batches to a file, which is finished when the block ends without an error.

    Columns that are `answered` hold noise: doubles among them hardly repeat, so that Parquet needs
    no dictionary of them. `options` are for CSV, as for `csv_writer.writer`.

    Examples
    --------
    >>> import io
    >>> batch = pa.record_batch({"age": [41, 7]})
    >>> file = io.BytesIO()
    >>> with writing(file, "parquet", batch.schema) as write:
    ...     write(batch)
    >>> pq.read_table(file).num_rows
    2
    """
    if form == "csv":
        yield csv_writer.writer(file, schema, **options)
        return
    explain = partial(_unwritable, form)
    target: Any = in_our_words(
        lambda: (
            pq.ParquetWriter(file, schema, use_dictionary=_repeating(schema, answered))
            if form == "parquet"
            else pa.ipc.new_file(file, schema, options=_growing_dictionaries())
        ),
        explain,
        pa.ArrowException,
    )
    try:
        yield lambda batch: in_our_words(
            lambda: target.write_batch(batch), explain, pa.ArrowException
        )
        target.close()
    except BaseException:
        _abandon(target)
        raise


def _growing_dictionaries() -> Any:
    """Return the options that let a later batch add to a dictionary."""
    return pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)


def _unwritable(form: Format, _: Exception) -> ArgumentError:
    return ArgumentError(
        f"columns must be of types, and dictionaries as few, as a file of format {form} can hold."
    )


def _repeating(schema: Any, answered: Collection[str]) -> bool | list[str]:
    """Return the columns that get a dictionary; nested ones go by other names, so then all do."""
    if any(pa.types.is_nested(field.type) for field in schema):
        return True
    noise = {name for name in answered if schema.field(name).type == pa.float64()}
    return [name for name in schema.names if name not in noise]


def _abandon(target: Any) -> None:
    """Close what cannot be finished, so that nothing tries to finish it later."""
    try:
        target.close()
    except Exception:  # the first error is the one to tell
        if isinstance(target, pq.ParquetWriter):
            target.is_open = False


def passed_on(
    batches: Iterable[Any], change: Callable[[Any], Any], write: Callable[[Any], None]
) -> Generator[int, None, None]:
    """Change and write batches, yielding the number of rows so far.

    A batch is written while the next one is changed. Whoever stops early must close this before
    the file.

    Examples
    --------
    >>> written = []
    >>> list(passed_on([pa.record_batch({"age": [41, 7]})], lambda batch: batch, written.append))
    [2]
    """
    rows = 0
    pending: Future[None] | None = None
    with ThreadPoolExecutor(1) as pool:
        for batch in batches:
            changed = change(batch)
            if pending is not None:
                pending.result()
            pending = pool.submit(write, changed)
            rows += batch.num_rows
            yield rows
        if pending is not None:
            pending.result()
