import csv
import gc
import io
import sys

import pyarrow as pa
import pytest

from inbounds.errors import ArgumentError
from inbounds.frames.local import csv_reader
from inbounds.frames.local.csv_writer import writer


def read(text):
    schema, batches = csv_reader.read(io.BytesIO(text.encode()), ["age"])
    return pa.Table.from_batches(batches, schema)


def written(table, file=None, **options):
    file = io.BytesIO() if file is None else file
    write = writer(file, table.schema, **options)
    for batch in table.to_batches():
        write(batch)
    return file.getvalue().decode()


def test_text_of_other_columns_is_written_as_it_was_read():
    text = "age,zip,when,share\n41,007,2020-1-1,1.50\n7,NA,,x\n"
    assert written(read(text), quote_empty=False) == text


def test_missing_values_of_a_single_column_are_written_and_read_again():
    table = read("age\n\n41\n\n")
    assert written(table) == "age\n\n41\n\n"
    assert read(written(table))["age"].to_pylist() == [None, 41, None]


def test_another_csv_reader_reads_the_same_values():
    texts = ["plain", "comma,", 'quote"', "line\nend", ""]
    table = pa.table({"age": [1.0, 2.5, 41.0, 1e-300, 120.0], "x": texts})
    rows = list(csv.DictReader(io.StringIO(written(table), newline="")))
    assert [row["x"] for row in rows] == texts
    assert [float(row["age"]) for row in rows] == table["age"].to_pylist()


def test_empty_text_differs_from_a_missing_value():
    assert written(pa.table({"x": ["", None], "age": [1.0, None]})) == 'x,age\n"",1\n,\n'


def test_dictionaries_are_written_as_their_values():
    assert written(pa.table({"x": pa.array(["b", "a", "b"]).dictionary_encode()})) == "x\nb\na\nb\n"


def test_a_type_that_csv_cannot_hold_is_refused_before_anything_is_written():
    file = io.BytesIO()
    with pytest.raises(ArgumentError, match="to be written as CSV"):
        writer(file, pa.schema({"x": pa.list_(pa.int64())}))
    assert file.getvalue() == b""


def test_bytes_that_are_not_text_are_refused_without_being_shown():
    with pytest.raises(ArgumentError, match="UTF-8 text to be written as CSV") as caught:
        written(pa.table({"x": [b"77\xff"]}))
    assert "77" not in str(caught.value)


def test_an_error_while_writing_leaves_nothing_that_cannot_be_collected(monkeypatch):
    class Full(io.BytesIO):
        def write(self, data):
            if len(data) > 100:
                raise OSError(28, "No space left on device")
            return super().write(data)

    def fill():
        kept = []
        kept.append(kept)  # only the collector frees it
        try:
            written(pa.table({"x": list(range(100))}), Full())
        except OSError as error:
            kept.append(error)  # and with it the rows, because its traceback leads to them

    complaints = []
    monkeypatch.setattr(sys, "unraisablehook", complaints.append)
    fill()
    gc.collect()
    assert complaints == []


def test_how_a_cell_is_written_does_not_depend_on_other_cells():
    cells = ["a", "b,c", 'q"', "", None, " ", "l\nl", "r\r"]
    alone = [written(pa.table({"x": [cell], "age": [1]})) for cell in cells]
    together = written(pa.table({"x": cells, "age": [1] * len(cells)}))
    assert together == "x,age\n" + "".join(text.removeprefix("x,age\n") for text in alone)


@pytest.mark.parametrize("delimiter", [";", "\t", "|", " ", ":", "]", "^", "\\"])
def test_another_delimiter_is_written(delimiter):
    cells = ["a,b", f"x{delimiter}y", 'q"q', "", "z"]
    times = pa.array(range(5), pa.timestamp("s"))
    table = pa.table({"x": cells, "when": times, "n": [0.5] * 5})
    reader = csv.reader(io.StringIO(written(table, delimiter=delimiter)), delimiter=delimiter)
    header, *rows = reader
    assert header == ["x", "when", "n"]
    assert [row[0] for row in rows] == cells
    assert {len(row) for row in rows} == {3}
