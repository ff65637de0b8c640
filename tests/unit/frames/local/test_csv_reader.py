import csv
import io

import pyarrow as pa
import pytest

from inbounds.errors import ArgumentError
from inbounds.frames.local import csv_reader, layout


def read(text, numbers=("age",), **options):
    stream = io.BytesIO(text if isinstance(text, bytes) else text.encode())
    schema, batches = csv_reader.read(stream, numbers, **options)
    return pa.Table.from_batches(batches, schema)


def refusal(text, **options):
    with pytest.raises(ArgumentError) as caught:
        read(text, **options)
    assert "77" not in str(caught.value)
    return str(caught.value)


def test_whole_numbers_and_fractions_are_both_numbers():
    assert read("age\n41\n 7.5 \n1e2\n")["age"].to_pylist() == [41, 7.5, 100]


def test_missing_values_are_null():
    assert read("x,age\na,\nb,NA\nc,nan\nd,4\n")["age"].null_count == 3


def test_columns_of_truths_hold_booleans_or_nothing():
    table = read("age,b\n1,true\n2,FALSE\n3,1\n4,0\n5,\n", truths=["b"])
    assert table["b"].to_pylist() == [True, False, True, False, None]
    text = refusal("age,b\n1,true\n2,77\n", truths=["b"])
    assert text == "column 'b' must have true, false, 1 or 0 in row 2 below the header."


def test_types_of_other_columns_are_inferred_only_on_request():
    table = read("age,zip,town,none\n41,007,Ulm,\n", typed=True)
    assert table.schema.types == [pa.float64(), pa.int64(), pa.string(), pa.string()]


def test_marks_quotes_line_ends_and_carriage_returns_are_read():
    table = read('\ufeff"a\nge",age\r\n"Doe, ""J.""\r\nUlm",41\r\n')
    assert table.to_pylist() == [{"a\nge": 'Doe, "J."\r\nUlm', "age": 41.0}]


@pytest.mark.parametrize("text", ["age,x", "age,x\n", "age,x\n\n\r\n"])
def test_a_header_alone_has_types_and_no_rows(text):
    table = read(text)
    assert table.num_rows == 0
    assert table.schema.types == [pa.float64(), pa.string()]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "{end}"])
def test_below_one_name_a_blank_line_is_a_row_without_a_value(end, last):
    lines = ["age", "41", "", "7", "", "", '""', "5"]
    text = end.join(lines) + last.format(end=end)
    assert read(text)["age"].to_pylist() == [41, None, 7, None, None, None, 5]
    assert read(f"age{end}{end}")["age"].to_pylist() == [None]
    assert read(f"age{end}41{end}{end}")["age"].to_pylist() == [41, None]


@pytest.mark.parametrize("size", [3, 7, 1 << 20])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_below_several_names_a_blank_line_is_refused_by_its_number(monkeypatch, end, size):
    monkeypatch.setattr(csv_reader, "_BLOCK", size)
    message = refusal(f'age,x\n1,"a{end}{end}b"{end}{end}77,b\n')
    line = 1 if end == "\r" else 4  # line feeds are counted
    assert message.startswith(f"line {line} below the header must not be blank")


@pytest.mark.parametrize("size", [3, 7, 1 << 20])
def test_blank_lines_in_quotes_or_at_the_end_are_accepted(monkeypatch, size):
    monkeypatch.setattr(csv_reader, "_BLOCK", size)
    table = read('age,x\n1,"a\n\nb"\n2,"\r\r"\n\n\r\n\n')
    assert table.to_pylist() == [{"age": 1.0, "x": "a\n\nb"}, {"age": 2.0, "x": "\r\r"}]


@pytest.mark.parametrize(
    "text",
    ["", "\nage\n77\n", '"age\n77\n', b"\xff\xfea\x00g\x00e\x00\n77\n", "age\r77\r78\r"],
    ids=["empty", "blank", "open quote", "UTF-16", "carriage returns alone"],
)
def test_a_file_without_a_header_is_refused(text):
    assert "header" in refusal(text)


@pytest.mark.parametrize("typed", [True, False])
def test_a_bad_cell_is_named_by_column_and_row(typed):
    message = refusal("x,age\n" + "a,1\n" * 4 + "b,secret77\n", typed=typed)
    assert message == (
        "column 'age' must have a number in row 5 below the header.\n"
        "Hint: a number has a point and no comma, as in 1234.5."
    )


def test_a_header_that_is_too_long_is_not_taken_for_a_shorter_one():
    names = ",".join(f"column_{i:06}" for i in range(90_000))
    assert "a header shorter than 1 MiB" in refusal(f"{names}\n{',1' * 90_000}\n")


def test_a_row_of_another_length_is_named_by_its_number():
    message = refusal("x,age\na,1\nb,2,77\n")
    assert message == "row 2 below the header must have as many cells as the header (2), got 3."


def test_text_must_be_utf_8():
    assert "'x' must have UTF-8 text in row 1" in refusal(b"x,age\n77\xff,1\n")


def test_a_type_that_does_not_last_is_named(monkeypatch):
    monkeypatch.setattr(csv_reader, "INFERRED", 4)
    text = "age,x\n" + "1,2\n" * 10 + "1,b77\n"
    message = refusal(text, typed=True)
    assert message.startswith("column 'x' must have a value of type int64 in row 11 below")
    assert read(text).num_rows == 11


def test_rows_are_counted_across_blocks(monkeypatch):
    monkeypatch.setattr(csv_reader, "_BLOCK", 10)
    rows = "".join(f'"x\n,{i}",{i}\n' for i in range(50))
    assert read("x,age\n" + rows)["age"].to_pylist() == list(range(50))
    assert "in row 51 below" in refusal("x,age\n" + rows + "y,x77\n")
    assert "row 51 below" in refusal("x,age\n" + rows + "y,77,77\n")


@pytest.mark.parametrize("size", [3, 7, 64, 1 << 20])
def test_blocks_change_nothing(monkeypatch, size):
    monkeypatch.setattr(csv_reader, "_BLOCK", size)
    cells = ["a", 'q"q', "", "l\nl", "c,c", '"', '""', "\r\n"]
    file = io.StringIO(newline="")
    csv.writer(file).writerows([["x", "age"], *([cell, 4] for cell in cells * 9)])
    assert read(file.getvalue())["x"].to_pylist() == cells * 9


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ('1,"a\n77,b\n78,c\n', 1),
        ('1,"a\n77,b\n78,"c\n', 3),
        ('1,a\n2,5" pipe\n', 2),
        ('1,"a"b\n', 1),
        ('1,a\n1,"a""\n77,b\n', 2),
    ],
)
def test_a_stray_quote_is_refused_because_numbers_after_it_would_be_read_as_text(rows, line):
    assert refusal(f"age,x\n{rows}").startswith(f"line {line} below the header must have quotes")


def test_a_row_without_an_end_does_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr(csv_reader, "_BLOCK", 16)
    monkeypatch.setattr(csv_reader, "_LONGEST_ROW", 64)
    assert "every row must be shorter" in refusal('age,x\n1,"' + "7" * 200)


@pytest.mark.parametrize("size", [8, 64, 1 << 20])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_the_length_of_private_cells_does_not_change_from_how_many_rows_types_are_inferred(
    monkeypatch, size, end
):
    monkeypatch.setattr(csv_reader, "_BLOCK", size)
    monkeypatch.setattr(csv_reader, "INFERRED", 5)
    for age in ("5", "100.000000"):
        rows = [f'{age},1,"a{end}b"'] * 4 + ["1,b,c"] + ["1,2,3"] * 3
        table = read("age,x,y\n" + end.join(rows) + end, typed=True)
        assert table.schema.types == [pa.float64(), pa.string(), pa.string()]
        rows[4:4] = ["1,2,3"]
        message = refusal("age,x,y\n" + end.join(rows) + end, typed=True)
        assert message.startswith("column 'x' must have a value of type int64 in row 6 below")
        assert message.endswith("the first 5 rows.")


def test_batches_do_not_end_where_blocks_of_text_end(monkeypatch):
    monkeypatch.setattr(layout, "_MOST_OF_TEXT", 4)
    monkeypatch.setattr(layout, "_FEWEST", 1)
    for size in (3, 20, 1 << 20):
        monkeypatch.setattr(csv_reader, "_BLOCK", size)
        _, batches = csv_reader.read(io.BytesIO(b"age,x\n" + b"1,a\n" * 9), ["age"])
        assert [batch.num_rows for batch in batches] == [4, 4, 1]


@pytest.mark.parametrize("delimiter", [";", "\t", "|", " "])
def test_another_delimiter_is_read(delimiter):
    cells = ["a,b", f"x{delimiter}y", 'q"q', ""]
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=delimiter).writerows([["age", "x"], *([4, c] for c in cells)])
    table = read(file.getvalue(), delimiter=delimiter)
    assert table["x"].to_pylist() == cells
    assert table["age"].to_pylist() == [4.0] * 4
