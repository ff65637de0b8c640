"""What the layout of a published table may tell: where batches, row groups and quotes are.

Every attack compares what is published of two inputs that differ in private values, or in a layout
that private values decided; nothing but the private numbers may differ.
"""

import csv
import io
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import inbounds as ib
from inbounds.cli.app import app
from inbounds.frames.local import csv_reader
from inbounds.frames.local.privatize import privatize

AGE = ib.BoundedGaussian.calibrated(ib.Box(0, 120, step=1), 120, epsilon=1.0)
SPLITS = ([7, 3, 5], [1, 13, 1])  # as a writer that groups rows by age might split them
TOWNS = ["Ulm", "Rom", "Bonn", "Jena", "Köln"] * 3


def published(source, target, *options):
    args = ["privatize", str(source), str(target), "--column", "age=0:120:1@1", "--force"]
    result = CliRunner().invoke(app, [*args, *options])
    assert result.exit_code == 0, result.output
    return target


def sizes(path):
    """How many rows each row group or record batch has."""
    if path.suffix == ".parquet":
        facts = pq.read_metadata(path)
        return [facts.row_group(i).num_rows for i in range(facts.num_row_groups)]
    with pa.ipc.open_file(path.read_bytes()) as file:
        return [file.get_batch(i).num_rows for i in range(file.num_record_batches)]


def pieces(split):
    ends = np.cumsum(split)
    table = pa.table({"age": range(15), "town": TOWNS})
    return [
        table.slice(end - size, size).combine_chunks()
        for size, end in zip(split, ends, strict=True)
    ]


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(csv_reader, "_BLOCK", 1 << 12)


def test_a_plain_reader_cuts_where_private_cells_say():
    def cuts(first):
        text = f"age,town\n{first},Ulm\n" + "30,Bonn\n" * 2000
        reader = pa.csv.open_csv(
            io.BytesIO(text.encode()), pa.csv.ReadOptions(block_size=1 << 12, use_threads=False)
        )
        return [batch.num_rows for batch in reader]

    assert cuts("5") != cuts("100")


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
@pytest.mark.parametrize("shuffle", [[], ["--shuffle"]])
@pytest.mark.usefixtures("small_blocks")
def test_how_long_private_cells_are_does_not_cut_our_rows(tmp_path, kind, shuffle):
    found = []
    for first in ("5", "100.00000"):
        (tmp_path / "in.csv").write_text(f"age,town\n{first},Ulm\n" + "30,Bonn\n" * 2000)
        found.append(sizes(published(tmp_path / "in.csv", tmp_path / f"out.{kind}", *shuffle)))
    assert found[0] == found[1]


@pytest.mark.usefixtures("small_blocks")
def test_how_long_private_cells_are_does_not_change_quotes(tmp_path):
    found = []
    for first in ("5", "100"):
        rows = f'{first},"a,b"\n' + "30,Bonn\n" * 2000
        (tmp_path / "in.csv").write_text("age,town\n" + rows)
        target = published(tmp_path / "in.csv", tmp_path / "out.csv")
        found.append([line.partition(",")[2] for line in target.read_text().splitlines()])
    assert found[0] == found[1] == ["town", '"a,b"', *["Bonn"] * 2000]


@pytest.mark.usefixtures("small_blocks")
def test_how_long_private_cells_are_does_not_change_the_types_of_others(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_reader, "INFERRED", 640, raising=False)
    found = []
    for age in ("5", "100"):  # a block of text is 682 rows of the former, 512 of the latter
        rows = [f"{age},100"] * 600 + [f"{age},none"] * 40
        (tmp_path / "in.csv").write_text("age,town\n" + "\n".join(rows) + "\n")
        args = ["privatize", str(tmp_path / "in.csv"), str(tmp_path / "out.parquet"), "--force"]
        found.append(CliRunner().invoke(app, [*args, "--column", "age=0:120:1@1"]).exit_code)
    assert found == [0, 0]


@pytest.mark.parametrize("kind", ["parquet", "arrow", "stream"])
@pytest.mark.parametrize("result", ["parquet", "arrow"])
@pytest.mark.parametrize("shuffle", [[], ["--shuffle"]])
def test_where_batches_of_a_file_end_is_not_passed_on(tmp_path, kind, result, shuffle):
    found = []
    for split in SPLITS:
        source = tmp_path / f"in.{'parquet' if kind == 'parquet' else 'arrow'}"
        schema = pieces(split)[0].schema
        if kind == "parquet":
            writer = pq.ParquetWriter(source, schema)
        else:
            writer = (pa.ipc.new_stream if kind == "stream" else pa.ipc.new_file)(source, schema)
        with writer:
            for piece in pieces(split):
                writer.write_table(piece)
        found.append(sizes(published(source, tmp_path / f"out.{result}", *shuffle)))
    assert found == [[15], [15]]


@pytest.mark.parametrize("shuffle", [False, True])
def test_pieces_of_columns_in_memory_are_not_passed_on(shuffle):
    lazily = []
    for split in SPLITS:
        table = pa.concat_tables(pieces(split))
        assert [len(c) for c in table.column("town").chunks] == split
        arrow = privatize(table, {"age": AGE}, shuffle=shuffle)
        assert [column.num_chunks for column in arrow.columns] == [1, 1]
        stream = privatize(table.to_reader(), {"age": AGE}, shuffle=shuffle)
        assert [batch.num_rows for batch in stream] == [15]
        polars = pl.concat([pl.from_arrow(piece) for piece in pieces(split)], rechunk=False)
        assert polars.n_chunks() == 3
        assert privatize(polars, {"age": AGE}, shuffle=shuffle).n_chunks("all") == [1, 1]
        lazy = privatize(polars.lazy(), {"age": AGE}, shuffle=shuffle)
        lazily.append([len(chunk) for chunk in lazy.collect()["town"].get_chunks()])
        kinds = [
            pd.Series(piece["town"], dtype=pd.ArrowDtype(pa.string())) for piece in pieces(split)
        ]
        frame = pd.DataFrame({"age": range(15), "town": pd.concat(kinds, ignore_index=True)})
        assert pa.chunked_array(frame["town"]).num_chunks == 3
        frame = privatize(frame, {"age": AGE}, shuffle=shuffle)
        assert pa.chunked_array(frame["town"]).num_chunks == 1
    assert lazily[0] == lazily[1]  # the engine's own pieces, by the number of rows


def noted(kind):
    return np.dtype(kind, metadata={"true": "ages-were-17-41"})


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize(
    "other",
    [
        np.array([1, 2], noted("i8")),
        np.array([1, 2], noted("M8[ns]")),
        np.array([None, "a"], noted("O")),
        pd.array(np.array([1, 2], noted("i8")), dtype="Int64"),
        pd.arrays.FloatingArray(np.array([1.0, 2.0]), np.array([True, False], noted("?"))),
        pd.Categorical.from_codes([0, 1], pd.Index(np.array([1, 2], noted("i8")))),
        pd.arrays.SparseArray(np.array([1, 2], noted("i8"))),
        pd.arrays.IntervalArray.from_breaks(np.array([1, 2, 3], noted("i8"))),
    ],
    ids=lambda other: str(other.dtype),
)
def test_dtypes_of_pandas_carry_nothing(other, shuffle):
    index = pd.MultiIndex.from_arrays([np.array([1, 2], noted("i8"))])
    for labels in (pd.Index(np.array([1, 2], noted("i4"))), index):
        frame = pd.DataFrame({"age": np.array([17, 41], noted("i4")), "x": other}, index=labels)
        assert b"ages-were" in pickle.dumps(frame)
        published = privatize(frame, {"age": AGE}, shuffle=shuffle)
        assert b"ages-were" not in pickle.dumps(published)
        assert published["age"].dtype.metadata is None
        assert published["x"].dtype == frame["x"].dtype
        if not shuffle:
            pd.testing.assert_frame_equal(published[["x"]], frame[["x"]])


def test_the_list_of_categories_of_a_shuffled_table_does_not_tell_the_old_order(tmp_path):
    """Categories are often listed as they first appeared; with unique names that is the order."""
    names = [f"{i * 7919 % 101:03}" for i in range(100)]
    coded = pa.array(names).dictionary_encode()
    assert coded.dictionary.to_pylist() == names
    table = pa.table({"age": range(100), "name": coded})
    arrow = privatize(table, {"age": AGE}, shuffle=True)["name"].combine_chunks()
    frame = privatize(table.to_pandas(), {"age": AGE}, shuffle=True)["name"]
    pq.write_table(table, tmp_path / "in.parquet")
    published(tmp_path / "in.parquet", tmp_path / "out.arrow", "--shuffle")
    with pa.ipc.open_file((tmp_path / "out.arrow").read_bytes()) as file:
        written = file.get_batch(0)["name"]
    for categories, values in (
        (arrow.dictionary.to_pylist(), arrow.to_pylist()),
        (frame.cat.categories.tolist(), frame.tolist()),
        (written.dictionary.to_pylist(), written.to_pylist()),
    ):
        assert categories == sorted(names)
        assert values != names
        assert sorted(values) == sorted(names)


def test_csv_rows_are_what_others_read_whatever_the_quotes(tmp_path):
    cells = ["a", "b,c", 'q"q', "", "l\nl", " "]
    with (tmp_path / "in.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["age", "x"], *([4, cell] for cell in cells)])
    with published(tmp_path / "in.csv", tmp_path / "out.csv").open(newline="") as file:
        assert [row[1] for row in csv.reader(file)] == ["x", *cells]
