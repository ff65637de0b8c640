"""CSV, Parquet and Arrow files as streams of record batches, in a constant amount of memory."""

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

_BUFFER = 1 << 20  # bytes of a Parquet column that are read at once
_FAILURES = (pa.ArrowException, OSError)
_MAGIC = b"ARROW1"  # the first bytes of an Arrow file; an Arrow stream begins otherwise


@dataclass(frozen=True, slots=True)
class Source:
    """An open file.

    Attributes
    ----------
    schema
        The names and types of its columns.
    batches
        Its rows, which can be read once. The ends of batches do not depend on the file's layout.
    rows
        The number of rows, if the file states it.
    sorted_by
        The columns by which the rows are sorted, according to the file.
    """

    schema: Any
    batches: Iterator[Any]
    rows: int | None = None
    sorted_by: frozenset[str] = frozenset()


def format_of(path: Path, otherwise: str | None = None) -> Format:
    """Return the format of a file according to its name, or else `otherwise`.

    Examples
    --------
    >>> format_of(Path("people.parquet")), format_of(Path("people.txt"), "csv")
    ('parquet', 'csv')
    """
    form = SUFFIXES.get(path.suffix.lower(), otherwise)
    if form not in get_args(Format):
        suffixes = ", ".join(SUFFIXES)
        requirement = f"given for a file whose name does not end in one of {suffixes}"
        raise ArgumentError.must_be("format", requirement, got=repr(path.name))
    return form  # type: ignore[return-value]


@contextmanager
def opened(
    path: Path,
    form: Format,
    numbers: Collection[str] = (),
    texts: Collection[str] = (),
    *,
    typed: bool = True,
    **options: Any,
) -> Iterator[Source]:
    r"""Open a file; all other arguments are for CSV, as in `csv_reader.read`.

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
        file = stack.enter_context(path.open("rb"))  # its errors state the file and the reason
        if form == "csv":
            yield Source(*csv_reader.read(file, numbers, texts, typed=typed, **options))
            return
        read, explain = _parquet if form == "parquet" else _arrow, partial(_unreadable, form)
        source = in_our_words(lambda: read(path, file, stack), explain, *_FAILURES)
        rebuilt = Rebuilt(source.schema)
        batches = rebuilt.batches(each_in_our_words(source.batches, explain, *_FAILURES))
        yield Source(rebuilt.schema, batches, source.rows, source.sorted_by)


def _parquet(path: Path, _: IO[bytes], stack: ExitStack) -> Source:
    # data buffered in advance would stay in memory until the end
    parquet = pq.ParquetFile(str(path), buffer_size=_BUFFER, pre_buffer=False)
    file = stack.enter_context(parquet)
    facts = file.metadata
    batches = file.iter_batches(batch_size=batch_rows(file.schema_arrow))
    return Source(file.schema_arrow, batches, facts.num_rows, _sorted_by(facts))


def _sorted_by(facts: Any) -> frozenset[str]:
    """Return the first column by which row groups are sorted, according to the file."""
    groups = (facts.row_group(i) for i in range(facts.num_row_groups))
    first = {g.sorting_columns[0].column_index for g in groups if g.sorting_columns}
    return frozenset(facts.schema.column(i).path for i in first)


def _arrow(path: Path, file: IO[bytes], stack: ExitStack) -> Source:
    """Map an Arrow file or stream into memory, because a single batch may be larger than memory."""
    source = stack.enter_context(pa.memory_map(str(path)))
    if file.read(len(_MAGIC)) == _MAGIC:
        reader = stack.enter_context(pa.ipc.open_file(source))
        batches = (reader.get_batch(i) for i in range(reader.num_record_batches))
    else:
        reader = stack.enter_context(pa.ipc.open_stream(source))
        batches = iter(reader)
    return Source(reader.schema, batches)


def _unreadable(form: Format, error: Exception) -> Exception:
    """Keep an error of the system; replace an error of Arrow, whose message may show a value."""
    if isinstance(error, OSError) and error.errno is not None:
        return error
    return ArgumentError.must_be("the file", f"a complete and valid {form.capitalize()} file")


@contextmanager
def writing(
    file: IO[bytes],
    form: Format,
    schema: Any,
    released: Collection[str] = (),
    **options: Any,
) -> Iterator[Callable[[Any], None]]:
    """Yield a function that writes record batches; finish the file unless the block fails.

    The `released` columns have noise, so that doubles in them rarely repeat and Parquet needs no
    dictionary for them. `options` are for CSV, as in `csv_writer.writer`.

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
            pq.ParquetWriter(file, schema, use_dictionary=_repeating(schema, released))
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
    """Return options that let later batches add values to a dictionary."""
    return pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)


def _unwritable(form: Format, _: Exception) -> ArgumentError:
    return ArgumentError.must(
        "columns", f"have types and dictionaries that a file of format {form} can hold"
    )


def _repeating(schema: Any, released: Collection[str]) -> bool | list[str]:
    """Return the columns that get a dictionary, or True for all if any has inner columns."""
    if any(pa.types.is_nested(field.type) for field in schema):
        return True
    noise = {name for name in released if schema.field(name).type == pa.float64()}
    return [name for name in schema.names if name not in noise]


def _abandon(target: Any) -> None:
    """Close a writer that cannot finish its file, so that it does not try again later."""
    try:
        target.close()
    except Exception:  # the first error is the one to report
        if isinstance(target, pq.ParquetWriter):
            target.is_open = False


def write_changed(
    batches: Iterable[Any], change: Callable[[Any], Any], write: Callable[[Any], None]
) -> Generator[int, None, None]:
    """Change and write batches, and yield the number of rows so far.

    Each batch is written while the next one is changed and the one after it is read, so that at
    most three are in memory. If the caller stops early, it must close this generator before the
    files.

    Examples
    --------
    >>> written, batch = [], pa.record_batch({"age": [41, 7]})
    >>> list(write_changed([batch], lambda batch: batch, written.append))
    [2]
    """
    rows, source = 0, iter(batches)
    pending: Future[None] | None = None
    with ThreadPoolExecutor(1) as reader, ThreadPoolExecutor(1) as writer:
        upcoming = reader.submit(next, source, None)
        while (batch := upcoming.result()) is not None:
            upcoming = reader.submit(next, source, None)
            changed = change(batch)
            if pending is not None:
                pending.result()
            pending = writer.submit(write, changed)
            rows += batch.num_rows
            yield rows
        if pending is not None:
            pending.result()
