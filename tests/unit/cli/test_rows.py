from fractions import Fraction
from io import BytesIO

import pytest

from inbounds.cli.failure import InputError, UsageError
from inbounds.cli.rows import Layout, blocks, checked_first


def read(data, width=1, columns=(), delimiter=","):
    return list(checked_first(BytesIO(data), Layout(width, columns, delimiter)))


@pytest.mark.parametrize(
    "data",
    [
        b"1\n-2.5\n",
        b"1\n-2.5",
        b"1\r\n-2.5\r\n",
        b"\xef\xbb\xbf1\n-2.5\n",
        b" 1 \n\t-2.5e0\n",
        b'"1"\n"-2.5"\n',
        b"+1.0\n-25e-1",
    ],
)
def test_numbers_are_read_whatever_the_ends_of_lines_and_marks(data):
    assert read(data) == [[1.0], [-2.5]]


@pytest.mark.parametrize(
    "text",
    [
        "1152921504606846977",
        "1152921504606846977.0",
        "-9007199254740993",
        "0.1",
        "4503599627370496.3",
        "3.00000000000000000001",
        "1e-400",
        "7e-1",
        "12345678901234567890123",
    ],
)
def test_a_number_is_what_is_written_and_not_the_nearest_double(text):
    ((number,),) = read(text.encode())
    assert Fraction(number) == Fraction(text)


def test_nothing_is_read_from_nothing():
    assert read(b"") == read(b"", 2) == read(b"\n\n", 2) == []


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b'""', b"  ", b"\n\n\n"])
@pytest.mark.parametrize(("head", "columns"), [(b"", ()), (b"age\n", ("age",))])
def test_a_blank_line_is_a_row_without_a_value_even_at_the_end(head, columns, end):
    """If it were left out, the number of rows would tell who gave no value."""
    line = 3 if columns else 2
    with pytest.raises(InputError, match=rf"^line {line} is blank, but must hold a value"):
        read(head + b"1\n" + end, 1, columns)


def test_blank_lines_at_the_end_of_a_wider_table_are_no_rows():
    assert read(b"1,2\n\n  \n\n", 2) == [[1.0, 2.0]]
    assert read(b"age,name\n41,Doe\n\n\r\n", 1, ["age"]) == [[41.0]]
    with pytest.raises(InputError, match=r"^line 3 is blank"):
        read(b"age,name\n41,Doe\n\n7,Roe\n", 1, ["age"])


@pytest.mark.parametrize(
    "bad",
    [
        b"secret",
        b"nan",
        b"inf",
        b"-Infinity",
        b"1e999",
        b"3,5",
        b"1_000",
        b"1 2",
        b"0x1F",
        b"\xff\xfe",
        b"7\x00",
        b",",
        b"7;8",
        b"9" * 5000 + b"z",
    ],
)
def test_a_bad_line_is_named_by_its_number_and_never_shown(bad):
    with pytest.raises(InputError) as caught:
        read(b"1\n" + bad + b"\n3\n")
    assert str(caught.value) == "line 2 must be a finite number, as in 41.3."
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize("bad", [b'"41', b'"41\n', b'"41\n42\n', b'"41"x\n', b'"41" \n'])
@pytest.mark.parametrize("columns", [(), ("age",)])
def test_a_quote_that_is_not_closed_is_named_by_its_line(bad, columns):
    with pytest.raises(InputError) as caught:
        read((b"age\n" if columns else b"7\n") + bad, 1, columns)
    assert str(caught.value) == "line 2 cannot be read as CSV."


@pytest.mark.parametrize("bad", [b"41", b"41,Doe,extra", b"41,Doe,", b",,"])
def test_a_row_must_be_as_long_as_the_header(bad):
    with pytest.raises(InputError) as caught:
        read(b"age,name\n7,Roe\n" + bad + b"\n", 1, ["age"])
    assert str(caught.value) == "line 3 must have as many cells as the first line."


@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf"])
def test_columns_of_an_empty_file_are_refused(data):
    with pytest.raises(UsageError, match="in the first line, but the input is empty"):
        read(data, 1, ["age"])


def test_a_header_alone_holds_no_rows():
    assert read(b"age,name\n", 1, ["age"]) == []


def test_a_blank_line_between_values_is_bad():
    with pytest.raises(InputError, match=r"^line 2 is blank"):
        read(b"1\n\n\n3\n")


def test_a_line_too_long_for_csv_is_bad():
    with pytest.raises(InputError, match=r"^line 2 cannot be read"):
        read(b"1\n" + b"7" * 200_000)


def test_a_row_of_a_box_holds_one_number_per_coordinate():
    assert read(b"2.5,4\n1, 3\n", 2) == [[2.5, 4.0], [1.0, 3.0]]
    for bad in (b"1\n", b"1,2,3\n", b"1,\n", b"1;2\n"):
        with pytest.raises(InputError, match=r"^line 1 must be 2 finite numbers, as in 41\.3,7"):
            read(bad, 2)


def test_columns_are_found_by_name_in_any_order():
    data = b'\xef\xbb\xbfage,"full name", income \r\n41,"Doe, Jane",3e4\r\n7,"two\nlines",0\r\n'
    assert read(data, 1, ["age"]) == [[41.0], [7.0]]
    assert read(data, 2, ["income", "age"]) == [[30000.0, 41.0], [0.0, 7.0]]


def test_lines_are_counted_as_an_editor_does():
    data = b'name,age\n"two\nlines",7\nDoe,secret\n'
    with pytest.raises(InputError) as caught:
        read(data, 1, ["age"])
    assert str(caught.value) == "line 4 must have a finite number in age."


def test_a_row_without_its_column_is_bad():
    with pytest.raises(InputError, match=r"^line 2 must have a finite number in age"):
        read(b"name,age\nDoe,\n", 1, ["age"])


@pytest.mark.parametrize("header", [b"name,years\n", b"age,age\n", b"secret 41\n"])
def test_a_column_must_be_in_the_header_once_and_the_header_is_not_shown(header):
    with pytest.raises(UsageError) as caught:
        read(header + b"1,2\n", 1, ["age"])
    assert caught.value.message in (
        "--column: the input has no column 'age'.",
        "--column: the input has 2 columns named 'age'.",
    )


def test_another_delimiter_is_used_for_the_header_and_the_rows():
    assert read(b"2.5;4\n1; 3\n", 2, delimiter=";") == [[2.5, 4.0], [1.0, 3.0]]
    assert read(b'name\tage\n"Doe\tJ."\t41\n', 1, ["age"], "\t") == [[41.0]]
    with pytest.raises(InputError, match=r"^line 1 must be 2 finite numbers, as in 41\.3;7"):
        read(b"1,2\n", 2, delimiter=";")


def test_a_column_is_needed_for_each_coordinate():
    with pytest.raises(UsageError, match="once per coordinate, 2 in all"):
        Layout(2, ["age"])


def test_a_stream_that_can_be_read_twice_is_checked_before_the_first_row():
    with pytest.raises(InputError, match="line 3"):
        checked_first(BytesIO(b"1\n2\nsecret\n"), Layout(1))


def test_a_stream_that_was_read_in_part_is_taken_from_there():
    stream = BytesIO(b"header\n1\n2\n")
    stream.readline()
    assert list(checked_first(stream, Layout(1))) == [[1.0], [2.0]]
    assert not stream.closed


def test_a_pipe_gives_rows_before_its_end_is_seen():
    class Pipe(BytesIO):
        def seekable(self):
            return False

    rows = checked_first(Pipe(b"1\nsecret\n"), Layout(1))
    assert next(rows) == [1.0]
    with pytest.raises(InputError, match="line 2"):
        next(rows)


def test_rows_are_taken_from_the_source_only_as_blocks_need_them():
    taken = []

    def source():
        for i in range(10):
            taken.append(i)
            yield [float(i)]

    made = blocks(source(), 4)
    assert next(made) == [[0.0], [1.0], [2.0], [3.0]]
    assert len(taken) == 4
    assert [len(block) for block in made] == [4, 2]
