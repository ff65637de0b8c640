import warnings
from collections import Counter

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import inbounds as ib
from inbounds.cli.app import app
from inbounds.errors import ArgumentTypeError, RowOrderWarning
from inbounds.frames.local.order import permutation
from inbounds.frames.local.privatize import privatize

SHARP = ib.BoundedGaussian(ib.Box(0, 4000), 4000, sigma=0.01)
ROWS = 3000
COLUMNS = {"age": np.arange(ROWS, dtype=float), "who": np.arange(ROWS)}


class Repeating:
    """Gives equal words first, then different ones."""

    def __init__(self):
        self.calls = 0

    def words(self, count):
        self.calls += 1
        return np.zeros(count, np.uint64) if self.calls == 1 else np.arange(count, dtype=np.uint64)


def test_every_order_is_equally_likely():
    """False alarm below 1e-6: each of 6 orders 2000 ± 41 times in 12,000, within 6 deviations."""
    seen = Counter(tuple(permutation(3).tolist()) for _ in range(12_000))
    assert len(seen) == 6
    assert all(abs(times - 2000) < 250 for times in seen.values())


def test_equal_words_are_drawn_again():
    source = Repeating()
    assert permutation(3, source).tolist() == [0, 1, 2]
    assert source.calls == 2


@pytest.mark.parametrize("count", [0, 1])
def test_no_rows_and_one_row_have_one_order(count):
    assert permutation(count).tolist() == list(range(count))


def engines():
    table = pa.table(COLUMNS)
    connection = duckdb.connect()
    relation = connection.from_arrow(table)
    yield "pandas", pd.DataFrame(COLUMNS), pa.Table.from_pandas
    yield "Polars", pl.DataFrame(COLUMNS), lambda y: y.to_arrow()
    yield "lazy", pl.LazyFrame(COLUMNS), lambda y: y.collect().to_arrow()
    yield "streaming", pl.LazyFrame(COLUMNS), lambda y: y.collect(engine="streaming").to_arrow()
    yield "Arrow", table, lambda y: y
    yield "batch", table.to_batches()[0], lambda y: pa.Table.from_batches([y])
    yield "reader", table.to_reader(max_chunksize=100), lambda y: y.read_all()
    yield "DuckDB", relation, lambda y: y.to_arrow_table()
    connection.close()


def test_every_engine_shuffles_whole_rows():
    """False alarm below 1e-6: noise of a hundredth moves no value by a half; half of 3000 rows."""
    for name, frame, read in engines():
        published = privatize(frame, {"age": SHARP}, shuffle=True)
        assert type(published) is type(frame)
        table = read(published)
        age, who = table["age"].to_numpy(), table["who"].to_numpy()
        assert sorted(who.tolist()) == list(range(ROWS)), name
        assert np.abs(age - who).max() < 0.5, name
        moved = np.abs(who - np.arange(ROWS)).mean()
        assert 0.28 * ROWS < moved < 0.39 * ROWS, name  # a third, give or take


def test_rows_stay_in_their_order_by_default():
    for name, frame, read in engines():
        table = read(privatize(frame, {"age": SHARP}))
        assert table["who"].to_pylist() == list(range(ROWS)), name


def test_a_slice_of_a_shuffled_lazy_frame_is_not_its_first_rows():
    """False alarm below 1e-6: 20 of 3000 rows, all among the first 100."""
    lazy = privatize(pl.LazyFrame(COLUMNS), {"age": SHARP}, shuffle=True)
    assert lazy.head(20).collect()["who"].max() > 100


@pytest.mark.parametrize("shuffle", [1, "yes", None])
def test_shuffle_is_true_or_false(shuffle):
    with pytest.raises(ArgumentTypeError, match=r"^shuffle must be True or False"):
        privatize(pd.DataFrame(COLUMNS), {"age": SHARP}, shuffle=shuffle)


def test_a_frame_that_says_it_is_sorted_gets_a_warning_without_values():
    plain = pl.DataFrame(COLUMNS)
    for marked in (plain.sort("age"), plain.sort("age", descending=True)):
        with pytest.warns(RowOrderWarning, match=r"sorted by the private column 'age'"):
            privatize(marked, {"age": SHARP})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            privatize(marked, {"age": SHARP}, shuffle=True)
            privatize(marked, {"who": SHARP})


def test_data_are_not_examined_for_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _, frame, read in engines():
            read(privatize(frame, {"age": SHARP}))  # sorted, but without a flag


def run(*args):
    return CliRunner().invoke(app, ["privatize", *map(str, args)])


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow"])
def test_files_are_shuffled_on_request(tmp_path, kind):
    source, target = tmp_path / "in.parquet", tmp_path / f"out.{kind}"
    pq.write_table(pa.table(COLUMNS), source, row_group_size=500)
    result = run(source, target, "--column", "age=0:4000@9", "--shuffle")
    assert result.exit_code == 0, result.output
    frame = {"csv": pl.read_csv, "parquet": pl.read_parquet, "arrow": pl.read_ipc}[kind](target)
    who = frame["who"].to_numpy()
    assert sorted(who.tolist()) == list(range(ROWS))
    assert np.abs(who - np.arange(ROWS)).mean() > 0.28 * ROWS
    assert "3000 rows" in result.output


def test_a_parquet_file_that_says_it_is_sorted_gets_a_warning(tmp_path):
    source, target = tmp_path / "in.parquet", tmp_path / "out.csv"
    pq.write_table(pa.table(COLUMNS), source, sorting_columns=[pq.SortingColumn(0)])
    warning = "Warning: the file says that its rows are sorted by the private column 'age'"
    age, who = ("--column", "age=0:4000@9"), ("--column", "who=0:4000@9")
    assert warning in run(source, target, *age).output
    assert "Warning" not in run(source, target, *age, "--shuffle", "--force").output
    assert "Warning" not in run(source, target, *who, "--force").output
