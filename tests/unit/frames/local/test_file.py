import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from inbounds.errors import ArgumentError
from inbounds.frames.local import file, layout

META = {b"source": b"survey"}
SCHEMA = pa.schema(
    [
        pa.field("town", pa.dictionary(pa.int32(), pa.string())),
        pa.field("age", pa.int16(), nullable=False, metadata={"unit": "a"}),
        pa.field("when", pa.timestamp("us", "UTC")),
        pa.field("marks", pa.list_(pa.int8())),
    ],
    metadata=META,
)
TABLE = pa.table(
    [pa.array(["Ulm", None]).dictionary_encode(), [17, 41], [0, None], [[1, 2], []]], schema=SCHEMA
)


def save(table, path, form):
    with path.open("wb") as out, file.writing(out, form, table.schema) as write:
        for batch in table.to_batches():
            write(batch)


def load(path, form, **options):
    with file.opened(path, form, **options) as source:
        return pa.Table.from_batches(source.batches, source.schema)


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_a_table_comes_back_with_types_and_order_and_no_metadata(tmp_path, form):
    save(TABLE, tmp_path / "x", form)
    loaded = load(tmp_path / "x", form)
    names = ["age", "marks", "when", "town"]
    assert loaded.column_names == TABLE.column_names
    assert loaded.select(names[:3]).equals(TABLE.select(names[:3]))
    assert loaded["town"].to_pylist() == ["Ulm", None]
    assert loaded.schema.field("town").type == SCHEMA.field("town").type
    assert loaded.schema.field("age").metadata is None
    assert loaded.schema.metadata is None


def test_parquet_states_the_number_of_rows(tmp_path):
    save(TABLE, tmp_path / "x", "parquet")
    with file.opened(tmp_path / "x", "parquet") as source:
        assert source.rows == 2


def test_an_arrow_stream_is_read_like_an_arrow_file(tmp_path):
    with pa.OSFile(str(tmp_path / "x"), "wb") as out, pa.ipc.new_stream(out, SCHEMA) as target:
        target.write_table(TABLE)
    assert load(tmp_path / "x", "arrow").equals(TABLE)


@pytest.mark.parametrize("form", ["parquet", "arrow"])
@pytest.mark.parametrize("sizes", [[950], [7, 3, 940], [1] * 950])
def test_batches_do_not_end_where_those_of_the_file_end(tmp_path, monkeypatch, form, sizes):
    monkeypatch.setattr(layout, "_MOST", 100)
    monkeypatch.setattr(layout, "_FEWEST", 1)
    table = pa.table({"x": range(950)})
    with (tmp_path / "x").open("wb") as out, file.writing(out, form, table.schema) as write:
        for size, end in zip(sizes, np.cumsum(sizes), strict=True):
            write(table.slice(end - size, size).combine_chunks().to_batches()[0])
    with file.opened(tmp_path / "x", form) as source:
        row_counts = [batch.num_rows for batch in source.batches]
    assert row_counts == [100] * 9 + [50]
    assert load(tmp_path / "x", form).equals(table)


def test_how_large_private_cells_are_does_not_change_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(layout, "_MOST_OF_TEXT", 64)
    monkeypatch.setattr(layout, "_FEWEST", 1)
    for width in (1, 1000):
        texts = pa.array([f"{i:0{width}}" for i in range(100)])
        pq.write_table(pa.table({"x": texts}), tmp_path / "x", use_dictionary=False)
        with file.opened(tmp_path / "x", "parquet") as source:
            assert [batch.num_rows for batch in source.batches] == [64, 36]


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow"])
def test_a_table_without_rows_keeps_its_columns(tmp_path, form):
    save(pa.table({"age": pa.array([], pa.float64())}), tmp_path / "x", form)
    loaded = load(tmp_path / "x", form, numbers=["age"])
    assert loaded.num_rows == 0
    assert loaded.schema.equals(pa.schema({"age": pa.float64()}))


@pytest.mark.parametrize("form", ["parquet", "arrow"])
@pytest.mark.parametrize("content", [b"", b"age\n77\n", b"ARROW1\0\0PAR177", b"PAR1" * 9])
def test_a_file_of_another_kind_is_refused_without_showing_it(tmp_path, form, content):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(ArgumentError, match=rf"a complete and valid {form.title()}") as caught:
        load(tmp_path / "x", form)
    assert "77" not in str(caught.value)


def test_damage_inside_a_file_is_an_error_of_ours(tmp_path):
    table = pa.table({"x": [float(i) for i in range(10_000)]})
    save(table, tmp_path / "x", "parquet")
    data = bytearray((tmp_path / "x").read_bytes())
    data[100:5000] = bytes(4900)
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(ArgumentError, match="a complete and valid Parquet file"):
        load(tmp_path / "x", "parquet")


def test_the_system_s_own_errors_keep_their_reason(tmp_path):
    for form in ("csv", "parquet", "arrow"):
        with pytest.raises(FileNotFoundError, match="missing"):
            load(tmp_path / "missing", form)
        with pytest.raises(IsADirectoryError):
            load(tmp_path, form)


def test_the_name_determines_the_format():
    names = {"a.csv": "csv", "A.PARQUET": "parquet", "a.b.arrow": "arrow", "a.feather": "arrow"}
    assert {name: file.format_of(Path(name)) for name in names} == names
    assert file.format_of(Path("a.csv"), "parquet") == "csv"
    assert file.format_of(Path("a"), "parquet") == "parquet"
    for name in ("a", "a.xlsx", "csv"):
        with pytest.raises(ArgumentError, match=r"^format must be given"):
            file.format_of(Path(name))


def test_doubles_that_are_noise_get_no_dictionary_and_others_do():
    table = pa.table({"pay": [1.0, 2.0], "age": [1, 2], "x": [1.0, 2.0]})
    out = io.BytesIO()
    with file.writing(out, "parquet", table.schema, ["pay", "age"]) as write:
        write(table.to_batches()[0])
    group = pq.read_metadata(out).row_group(0)
    have_dictionaries = [group.column(i).has_dictionary_page for i in range(3)]
    assert have_dictionaries == [False, True, True]


def test_an_arrow_file_refuses_dictionaries_that_change(tmp_path):
    texts = pa.chunked_array([pa.array([x]).dictionary_encode() for x in ("a77", "b77")])
    with pytest.raises(ArgumentError, match="types and dictionaries that") as caught:
        save(pa.table({"x": texts}), tmp_path / "x", "arrow")
    assert "77" not in str(caught.value)


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow"])
def test_a_full_disk_is_reported_by_the_system_s_own_error(form):
    class Full(io.BytesIO):
        def write(self, data):
            if self.tell() + len(data) > 100_000:
                raise OSError(28, "No space left on device")
            return super().write(data)

    batch = pa.record_batch({"x": [i / 7 for i in range(50_000)]})
    with (
        pytest.raises(OSError, match="No space left") as caught,
        file.writing(Full(), form, batch.schema, ["x"]) as write,
    ):
        write(batch)
    assert caught.value.errno == 28


def test_batches_are_changed_and_written_in_order():
    batches = [pa.record_batch({"x": [i, i]}) for i in range(5)]
    written = []
    counts = file.write_changed(
        iter(batches), lambda batch: batch.column(0)[0].as_py(), written.append
    )
    assert list(counts) == [2, 4, 6, 8, 10]
    assert written == [0, 1, 2, 3, 4]


def test_an_error_while_writing_is_raised_even_for_the_last_batch():
    def fail(_):
        raise OSError(28, "No space left on device")

    for count in (1, 3):
        batches = [pa.record_batch({"x": [1]})] * count
        with pytest.raises(OSError, match="No space"):
            list(file.write_changed(batches, lambda batch: batch, fail))
