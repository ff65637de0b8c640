"""Files with the same public part are published as the same bytes but for the noise.

The private column, and every choice of layout that it might have decided (blocks, row groups,
record batches, dictionaries, pages, codecs), are drawn twice. Noise is replaced by zero, so that
all of the two published files can be compared, byte by byte.
"""

import io
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import inbounds as ib
from inbounds.errors import ArgumentError
from inbounds.frames.local import arrow_frame, csv_reader, file, layout
from inbounds.frames.local.column import PrivateColumn, locate

AGE = ib.ClampedLaplace(ib.Box(0, 120, step=1), 120, scale=120.0)
CELLS = st.text(st.sampled_from('ab,;"\n\r 17'), max_size=4)
KINDS = [pa.string(), pa.string_view(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]
ROUGH = settings(
    max_examples=40,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking takes minutes
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.fixture(autouse=True)
def small_and_silent(monkeypatch):
    """Small batches, and an output of zero for every value."""
    for module, name, value in (
        (layout, "_FEWEST", 1),
        (layout, "_MOST", 7),
        (layout, "_MOST_OF_TEXT", 7),
        (csv_reader, "INFERRED", 5),
    ):
        monkeypatch.setattr(module, name, value)
    zeros = SimpleNamespace(draw=lambda numbers, _: np.zeros(numbers.size))
    monkeypatch.setattr(PrivateColumn, "_sampler", zeros)


@st.composite
def public_parts(draw):
    rows = draw(st.integers(0, 25))
    texts = st.lists(CELLS, min_size=rows, max_size=rows)
    numbers = st.lists(st.none() | st.integers(-9, 9), min_size=rows, max_size=rows)
    return draw(texts), draw(numbers)


def csv_text(draw, texts, numbers):
    """A private number of any length and layout, between public cells."""
    number = st.sampled_from(["5", "100", " 7", "41.00000", "1e2", '"9"', ""])
    lines = io.StringIO(newline="")
    lines.write("rank,age,town\n")
    for text, rank in zip(texts, numbers, strict=True):
        cell = text if text.isalnum() else '"' + text.replace('"', '""') + '"'
        lines.write(f"{'' if rank is None else rank},{draw(number)},{cell}\n")
    return lines.getvalue().encode()


def splits(draw, rows):
    cuts = draw(st.sets(st.integers(0, rows), max_size=4)) | {0, rows}
    return list(pairwise(sorted(cuts)))


def arrow_table(draw, texts, numbers, kind):
    ages = st.one_of(st.none(), st.sampled_from([17.0, 41.5, 1e-300]))
    age = draw(st.lists(ages, min_size=len(texts), max_size=len(texts)))
    town = pa.array(texts, pa.string())
    if pa.types.is_dictionary(kind):
        town = town.dictionary_encode()
    return pa.table(
        {"rank": pa.array(numbers, pa.int64()), "age": pa.array(age, pa.float64()), "town": town}
    ).cast(pa.schema({"rank": pa.int64(), "age": pa.float64(), "town": kind}))


def reencoded(table):
    """Give a part of a table a dictionary of its own, as a writer might."""
    if not pa.types.is_dictionary(table.schema.field("town").type):
        return table
    town = pa.chunked_array([table["town"].cast(pa.string()).combine_chunks().dictionary_encode()])
    return table.set_column(2, "town", town)


def write_parquet(draw, table, path):
    options = {
        "compression": draw(st.sampled_from(["snappy", "zstd", "none"])),
        "use_dictionary": draw(st.booleans()),
        "write_statistics": draw(st.booleans()),
        "data_page_size": draw(st.sampled_from([1, 1 << 20])),
    }
    with pq.ParquetWriter(path, table.schema, **options) as writer:
        for start, stop in splits(draw, table.num_rows):
            writer.write_table(reencoded(table.slice(start, stop - start)))


def write_arrow(draw, table, path):
    with pa.ipc.new_stream(path, table.schema) as writer:
        for start, stop in splits(draw, table.num_rows):
            writer.write_table(reencoded(table.slice(start, stop - start)))


def published(source, form):
    """What the command writes, without its calibration, or the words in which it refuses."""
    try:
        return written(source, form)
    except ArgumentError as error:  # types inferred from the first rows may not last
        return str(error)


def written(source, form):
    kind = source.suffix[1:]
    columns = [PrivateColumn("age", AGE, "uniform", untyped=kind == "csv")]
    target = io.BytesIO()
    with file.opened(source, kind, ["age"], typed=form != "csv") as opened:
        places = locate(columns, opened.schema.names)
        schema = arrow_frame.released_schema(opened.schema, places)
        options = {"quote_empty": kind != "csv"}
        with file.writing(target, form, schema, ["age"], **options) as write:
            for batch in opened.batches:
                write(arrow_frame.released_batch(batch, places, schema))
    return target.getvalue()


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow"])
@ROUGH
@given(st.data())
def test_a_csv_file_is_published_by_its_public_part(tmp_path, monkeypatch, form, data):
    texts, numbers = data.draw(public_parts())
    found = []
    for _ in range(2):
        monkeypatch.setattr(csv_reader, "_BLOCK", data.draw(st.sampled_from([8, 40, 1 << 20])))
        (tmp_path / "in.csv").write_bytes(csv_text(data.draw, texts, numbers))
        found.append(published(tmp_path / "in.csv", form))
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
@pytest.mark.parametrize("form", ["csv", "parquet", "arrow"])
@ROUGH
@given(st.data())
def test_a_file_of_batches_is_published_by_its_public_part(tmp_path, kind, form, data):
    texts, numbers = data.draw(public_parts())
    of_town = data.draw(st.sampled_from(KINDS))
    found = []
    for _ in range(2):
        table = arrow_table(data.draw, texts, numbers, of_town)
        source = tmp_path / f"in.{kind}"
        (write_parquet if kind == "parquet" else write_arrow)(data.draw, table, source)
        found.append(published(source, form))
    assert found[0] == found[1]
