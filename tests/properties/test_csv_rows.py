"""As many rows come out of `privatize` as went in, whatever the file looks like."""

import io

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import inbounds as ib
from inbounds.cli.failure import InputError
from inbounds.cli.rows import Layout, checked_first
from inbounds.errors import ArgumentError
from inbounds.frames.local import csv_reader
from inbounds.frames.local.privatize import privatize

AGE = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 120, epsilon=1.0)
CELLS = st.sampled_from(["41", "7.5", '"41"', "", '""', " 3 ", "NA", "1e2"])
ENDS = st.sampled_from(["\n", "\r\n"])
MISSING = {"", '""', "NA"}


@st.composite
def files(draw, columns):
    """A file's text, and whether each row lacks its first cell; every line may end in its own way.

    The last line may have no end, unless it is blank: then there would be no line.
    """
    rows = draw(st.lists(st.tuples(*[CELLS] * columns), max_size=8))
    header = ",".join(["age", "x", "y"][:columns])
    lines = [header, *(",".join(row) for row in rows)]
    text = "".join(line + draw(ENDS) for line in lines)
    if lines[-1] and draw(st.booleans()):
        text = text.rstrip("\r\n")
    if draw(st.booleans()):
        text = "\ufeff" + text
    return text, [row[0] in MISSING for row in rows]


@settings(max_examples=400)
@given(st.integers(1, 3).flatmap(files), st.integers(1, 60))
def test_every_row_of_a_csv_file_is_published_whether_or_not_it_has_a_value(file, block):
    text, missing = file
    before, csv_reader._BLOCK = csv_reader._BLOCK, block
    try:
        schema, batches = csv_reader.read(io.BytesIO(text.encode()), ["age"])
        table = pa.Table.from_batches(batches, schema)
    finally:
        csv_reader._BLOCK = before
    assert table["age"].is_null().to_pylist() == missing
    assert privatize(table, {"age": AGE}, nulls="uniform").num_rows == len(missing)
    try:
        assert privatize(table, {"age": AGE}).num_rows == len(missing)
        assert not any(missing)
    except ArgumentError:
        assert any(missing)


@settings(max_examples=300)
@given(st.integers(1, 3).flatmap(files))
def test_release_reads_every_row_or_stops(file):
    text, missing = file
    try:
        rows = list(checked_first(io.BytesIO(text.encode()), Layout(1, ["age"])))
    except InputError:
        assert any(missing)
    else:
        assert len(rows) == len(missing)
        assert not any(missing)
