"""The rows of ``inbounds privatize``: read, made private and written, batch by batch."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any

from inbounds.cli.column import CalibratedColumn, warn_of_order
from inbounds.cli.progress import row_bar

if TYPE_CHECKING:
    from inbounds.frames.local.file import Format, Source


def write_private(
    source: Source,
    columns: list[CalibratedColumn],
    target: IO[bytes],
    forms: tuple[Format, Format],
    facts: dict[str, Any],
    *,
    delimiter: str,
    shuffle: bool,
    progress: bool | None,
) -> None:
    """Write private copies of all rows, batch by batch, and count them before they leave."""
    from inbounds.frames.local import arrow_frame, column, file  # noqa: PLC0415 - help must be quick

    from_text = forms[0] == "csv"
    jobs = [_job(c, facts["nulls"], from_text=from_text) for c in columns]
    csv = {"delimiter": delimiter, "quote_empty": not from_text}
    source = _with_levels(source, jobs, columns) if from_text else source
    places = column.locate(jobs, source.schema.names)
    schema = arrow_frame.released_schema(source.schema, places)

    def change(batch: Any) -> Any:
        return arrow_frame.released_batch(batch, places, schema)

    def keep(batch: Any) -> Any:
        return batch

    batches, then = source.batches, change
    if shuffle:
        batches, then = arrow_frame.shuffled_batches(map(change, source.batches), schema), keep
    else:
        warn_of_order(columns, source.sorted_by)
    with (
        row_bar(source.rows, progress) as update,
        file.writing(target, forms[1], schema, [c.name for c in columns], **csv) as write,
        closing(file.write_changed(batches, then, write)) as counts,
    ):
        for rows in counts:
            facts["rows"] = rows
            update(rows)


def _job(column: CalibratedColumn, nulls: Any, *, from_text: bool) -> Any:
    from inbounds.frames.local.category import CategoryColumn  # noqa: PLC0415 - help must be quick
    from inbounds.frames.local.column import PrivateColumn  # noqa: PLC0415 - as above

    mechanism: Any = column.mechanism
    if column.texts:
        return CategoryColumn(column.name, mechanism, nulls)
    return PrivateColumn(column.name, mechanism, nulls, from_text)


def _with_levels(source: Source, jobs: list[Any], columns: list[CalibratedColumn]) -> Source:
    """Read levels, which are text in CSV, as what they are."""
    from inbounds.frames.local.text_level import level_schema, read_levels  # noqa: PLC0415 - as above

    texts = {job: c.texts for job, c in zip(jobs, columns, strict=True) if c.texts}
    schema = level_schema(source.schema, texts)
    batches = read_levels(source.batches, schema, texts)
    return replace(source, schema=schema, batches=batches)
