"""Record batches as CSV. The text of a cell depends on that cell alone."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from typing import IO, Any

from inbounds._extra import optional
from inbounds.errors import ArgumentError
from inbounds.frames.silence import in_our_words

with optional():
    import pyarrow as pa
    import pyarrow.compute as pc


def writer(
    file: IO[bytes], schema: Any, delimiter: str = ",", *, quote_empty: bool = True
) -> Callable[[Any], None]:
    r"""Write the header, and return a function that writes a record batch.

    A cell of text is put in quotes only if it contains a delimiter, a quote or a line end, or if
    it is empty but not missing and `quote_empty` is true. Other cells have no influence on that.

    Examples
    --------
    >>> file = io.BytesIO()
    >>> batch = pa.record_batch({"age": [41.0, 7.25], "name": ["Doe", "Roe, J."]})
    >>> writer(file, batch.schema)(batch)
    >>> file.getvalue()
    b'age,name\n41,Doe\n7.25,"Roe, J."\n'
    """
    separator, end, nothing = _texts(delimiter, "\n", "")
    special = "[" + re.escape(f'{delimiter}"\r\n') + "]"

    def encoded(batch: Any) -> memoryview:
        cells = [_cells(column, special, quote_empty=quote_empty) for column in batch.columns]
        rows = pc.binary_join_element_wise(*cells, separator)
        lines = pc.binary_join_element_wise(rows, nothing, end)
        return memoryview(lines.buffers()[2] or b"")

    encoded(pa.RecordBatch.from_pylist([], schema))  # refuses lists before anything is written
    header = io.StringIO(newline="")
    csv.writer(header, delimiter=delimiter, lineterminator="\n").writerow(schema.names)
    file.write(header.getvalue().encode())

    def write(batch: Any) -> None:
        file.write(encoded(batch))

    return write


def _cells(column: Any, special: str, *, quote_empty: bool) -> Any:
    """Return the text of a column's cells, in quotes where a cell needs them."""
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.storage
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    text = in_our_words(
        lambda: column.cast(kind).cast(pa.large_string()),
        lambda _: ArgumentError.must(
            "columns", "hold numbers, times or UTF-8 text to be written as CSV"
        ),
        pa.ArrowException,  # its message shows the cell
    )
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        is_special = pc.match_substring_regex(text, special)
        if quote_empty:
            is_special = pc.or_(is_special, pc.equal(text, ""))
        quote, nothing = _texts('"', "")
        doubled = pc.replace_substring(text, '"', '""')
        quoted = pc.binary_join_element_wise(quote, doubled, quote, nothing)
        text = pc.if_else(is_special, quoted, text)
    return text.fill_null("")


def _texts(*texts: str) -> list[Any]:
    return [pa.scalar(text, pa.large_string()) for text in texts]
