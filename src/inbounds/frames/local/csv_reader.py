"""CSV as a stream of record batches. Errors say where a bad cell is, and never show its content."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from inbounds._extra import optional
from inbounds.errors import ArgumentError
from inbounds.frames.local.layout import batch_rows, rebatched
from inbounds.frames.silence import in_our_words

with optional():
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

_BLOCK = 1 << 24  # bytes read together
INFERRED = 1 << 16  # rows, not bytes: how many rows fit into bytes depends on private cells
_LONGEST_HEADER = 1 << 20
_LONGEST_ROW = 1 << 26
_TWO_ENDS = (b"\n\n", b"\n\r", b"\r\r")  # line ends with a blank line between them
_AROUND = b'\r\n"'  # what, besides the delimiter, may precede or follow the quotes around a cell
_CELLS = {"double": "a number", "string": "UTF-8 text", "bool": "true, false, 1 or 0"}
_REFUSED = re.compile(r"In CSV column #(\d+): Row #(\d+): CSV conversion error to ([a-z0-9]+)")


def read(
    stream: IO[bytes],
    numbers: Collection[str],
    texts: Collection[str] = (),
    *,
    truths: Collection[str] = (),
    typed: bool = False,
    delimiter: str = ",",
    check: Callable[[list[str]], object] = bool,
) -> tuple[Any, Iterator[Any]]:
    r"""Return the schema of a CSV file with a header, and its record batches.

    Below a header with one name every line is a row, and a blank line is a row whose value is
    missing, so that the number of rows does not reveal who gave a value. Below a header with
    several names blank lines are refused, except at the end of the file, where they are ignored.

    Parameters
    ----------
    stream
        The file. Only a few blocks of it are in memory at any time.
    numbers
        Columns to read as doubles, because a type inferred from the first rows may not fit the
        last ones.
    texts
        Columns to read as text, whatever they look like.
    truths
        Columns to read as booleans: true, false, 1 or 0.
    typed
        Whether to infer the types of other columns from the first `INFERRED` rows. Otherwise their
        text is passed on unchanged.
    delimiter
        The character between cells: ASCII, and not part of numbers, quotes or line ends.
    check
        A function that is called with the names in the header before any row is read. It raises an
        error if they are wrong.

    Examples
    --------
    >>> import io
    >>> schema, batches = read(io.BytesIO(b"age,zip\n41,007\n"), ["age"])
    >>> schema.types, next(batches).to_pylist()
    ([DataType(double), DataType(string)], [{'age': 41.0, 'zip': '007'}])
    >>> next(read(io.BytesIO(b"age\n41\n\n7\n"), ["age"])[1])["age"].to_pylist()
    [41.0, None, 7.0]
    """
    names = _header(stream, delimiter)
    check(names)
    kinds = {} if typed else dict.fromkeys(names, pa.string())
    kinds |= dict.fromkeys(numbers, pa.float64()) | dict.fromkeys(texts, pa.string())
    kinds |= dict.fromkeys(truths, pa.bool_())
    blocks = _blocks(stream, delimiter)
    if len(names) > 1:
        blocks = _without_blank_lines(blocks)
    if typed:
        blocks = _first_rows_together(blocks)
    tables = _tables(blocks, names, kinds, delimiter)
    first = next(tables, None)
    if first is None:
        return pa.schema([(name, kinds.get(name, pa.string())) for name in names]), iter(())
    batches = (batch for table in chain([first], tables) for batch in table.to_batches())
    return first.schema, rebatched(batches, first.schema, batch_rows(first.schema))


def _tables(
    blocks: Iterable[bytes], names: list[str], kinds: dict[str, Any], delimiter: str
) -> Iterator[Any]:
    """Parse the blocks one by one; types that are inferred from the first are added to `kinds`."""
    rows = 0
    for block in blocks:
        table = _parsed(block, names, kinds, rows, delimiter)
        if table is not None:
            types = {field.name: field.type for field in table.schema}
            blank = [name for name, kind in types.items() if pa.types.is_null(kind)]
            if blank:  # later blocks may have values of any type, and text can hold them
                types |= dict.fromkeys(blank, pa.string())
                table = table.cast(pa.schema([(name, types[name]) for name in names]))
            kinds |= types
            rows += table.num_rows
            yield table


def _first_rows_together(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the first `INFERRED` rows as one block, no matter how long their private cells are."""
    held: list[bytes] = []
    missing = INFERRED
    for block in blocks:
        ends = _row_ends(block)
        if ends.size >= missing:
            end = int(ends[missing - 1])
            yield b"".join([*held, block[:end]])
            yield block[end:]
            yield from blocks
            return
        held.append(block)
        missing -= ends.size
    yield b"".join(held)


def _row_ends(block: bytes) -> NDArray[np.int64]:
    """Return where rows end; line ends inside quotes do not count."""
    data = np.frombuffer(block, np.uint8)
    ends = data == ord("\n")
    if b"\r" in block:
        alone = data == ord("\r")
        alone[:-1] &= ~ends[1:]
        ends |= alone
    if b'"' in block:
        ends &= np.cumsum(data == ord('"'), dtype=np.uint8) % 2 == 0
    return np.flatnonzero(ends) + 1


def _blocks(stream: IO[bytes], delimiter: str) -> Iterator[bytes]:
    """Read blocks that consist of whole rows.

    Arrow's own stream reads ahead in a thread, which crashes a process that exits meanwhile.
    """
    rest, lines = b"", 0
    while block := stream.read(_BLOCK):
        rest += block
        end = _row_end(rest)
        if end:
            yield _checked_quotes(rest[:end], lines, delimiter)
            lines += rest.count(b"\n", 0, end)
            rest = rest[end:]
        elif len(rest) > _LONGEST_ROW:
            hint = "look for a quote that is not closed."
            requirement = f"shorter than {_LONGEST_ROW} bytes"
            raise ArgumentError.must_be("every row", requirement, hint=hint)
    if rest:
        yield _checked_quotes(rest, lines, delimiter)


def _without_blank_lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Refuse a blank line with a row after it, which Arrow would skip without an error."""
    lines, first_blank = 0, None
    for block in blocks:
        if first_blank is None and (place := _blank_line(block)) is not None:
            first_blank = lines + block.count(b"\n", 0, place) + 1
            block_rest = block[place:]
        else:
            block_rest = block
        if first_blank is not None and block_rest.strip(b"\r\n"):
            raise ArgumentError.must(
                f"line {first_blank} below the header",
                "not be blank: every row must have as many cells as the header",
            )
        lines += block.count(b"\n")
        yield block


def _blank_line(block: bytes) -> int | None:
    """Return where the first blank line of a block begins; line ends inside quotes do not count."""
    if block[:1] not in (b"\n", b"\r") and not any(ends in block for ends in _TWO_ENDS):
        return None
    data = np.frombuffer(block, np.uint8)
    inside = np.cumsum(data == ord('"')) % 2 == 1
    ends = np.isin(data, np.frombuffer(b"\r\n", np.uint8)) & ~inside
    before = np.concatenate([[True], ends[:-1]])
    returns = np.concatenate([[False], ends[:-1] & (data[:-1] == ord("\r"))])
    blank = np.flatnonzero(ends & before & ~((data == ord("\n")) & returns))
    return int(blank[0]) if blank.size else None


def _row_end(data: bytes) -> int:
    """Return where the last whole row ends: at the last line end with no open quote before it."""
    end = data.rfind(b"\n") + 1
    quotes = data.count(b'"', 0, end)
    while quotes % 2:
        before = data.rfind(b"\n", 0, data.rfind(b'"', 0, end)) + 1
        quotes -= data.count(b'"', before, end)
        end = before
    return end


def _checked_quotes(block: bytes, lines: int, delimiter: str) -> bytes:
    """Refuse stray quotes, after which Arrow would read numbers as text without an error.

    Quotes open and close cells in turn. A doubled quote closes a cell and opens it again.
    """
    data = np.frombuffer(b"\n" + block + b"\n", np.uint8)
    quotes = np.flatnonzero(data == ord('"'))
    beside = quotes + np.where(np.arange(quotes.size) % 2, 1, -1)
    around = np.frombuffer(_AROUND + delimiter.encode(), np.uint8)
    wrong = quotes[~np.isin(data[beside], around)]
    if quotes.size % 2 and not wrong.size:
        wrong = quotes[-1:]
    if wrong.size:
        line = lines + block.count(b"\n", 0, int(wrong[0]) - 1) + 1
        raise ArgumentError.must(
            f"line {line} below the header",
            "have quotes only around whole cells, and close all of them",
        )
    return block


def _parsed(
    block: bytes, names: list[str], kinds: dict[str, Any], rows: int, delimiter: str
) -> Any:
    uneven: list[Any] = []

    def refuse(row: Any) -> str:
        uneven.append(row)
        return "error"

    failure = None
    try:
        return arrow_csv.read_csv(
            pa.BufferReader(block),
            # only a single thread numbers the rows in its errors
            arrow_csv.ReadOptions(column_names=names, block_size=len(block) + 1, use_threads=False),
            arrow_csv.ParseOptions(
                delimiter=delimiter,
                newlines_in_values=True,
                ignore_empty_lines=len(names) > 1,  # below one name they are rows
                invalid_row_handler=refuse,
            ),
            arrow_csv.ConvertOptions(column_types=kinds),
        )
    except pa.ArrowInvalid as error:
        if str(error) != "Empty CSV file":  # the block has no rows
            failure = _explained(error, names, uneven, rows)
    if failure is not None:
        raise failure
    return None


def _header(stream: IO[bytes], delimiter: str) -> list[str]:
    """Read the first row alone, so that every column has a type before data are read."""
    line = stream.readline(_LONGEST_HEADER)
    while line.count(b'"') % 2 and len(line) < _LONGEST_HEADER:
        more = stream.readline(_LONGEST_HEADER)
        if not more:
            break
        line += more
    if not line:
        raise ArgumentError.must("a CSV file", "have a header", got="an empty file")
    if len(line) >= _LONGEST_HEADER:
        size = f"{_LONGEST_HEADER >> 20} MiB"
        raise ArgumentError.must("a CSV file", f"have a header shorter than {size}")
    names = in_our_words(
        lambda: _only_row(line, delimiter),
        lambda _: ArgumentError.must(
            "a CSV file",
            "begin with a header in UTF-8",
            hint="save it again with the encoding UTF-8.",
        ),
        ValueError,  # includes errors of decoding
        csv.Error,
    )
    if not names:
        raise ArgumentError.must("a CSV file", "begin with a header", got="a blank line")
    return names


def _only_row(line: bytes, delimiter: str) -> list[str]:
    (row,) = csv.reader([line.decode("utf-8-sig")], delimiter=delimiter, strict=True)
    return row


def _explained(error: Exception, names: list[str], uneven: list[Any], before: int) -> ArgumentError:
    """Return our own error, because Arrow's message shows the cell or even the whole row."""
    if uneven:
        bad = uneven[0]
        return ArgumentError.must(
            f"row {before + bad.number} below the header",
            f"have as many cells as the header ({bad.expected_columns})",
            got=str(bad.actual_columns),
        )
    if not (match := _REFUSED.match(str(error))):
        return ArgumentError.must_be("the rows below the header", "valid CSV")
    name, row, kind = names[int(match[1])], before + int(match[2]), match[3]
    cell = _CELLS.get(kind, f"a value of type {kind}")
    hint = {
        "double": "a number has a point and no comma, as in 1234.5.",
        "string": "save the file again with the encoding UTF-8.",
        "bool": None,
    }.get(kind, f"types are inferred from the first {INFERRED} rows.")
    requirement = f"have {cell} in row {row} below the header"
    return ArgumentError.must(f"column {name!r}", requirement, hint=hint)
