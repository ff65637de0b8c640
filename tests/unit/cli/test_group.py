from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from inbounds.cli.failure import InputError, UsageError
from inbounds.cli.group import ColumnTypes, read_groups
from inbounds.errors import ArgumentTypeError
from inbounds.frames import categories, count

SCHEMA = pa.schema(
    {
        "town": pa.string(),
        "code": pa.dictionary(pa.int8(), pa.string()),
        "year": pa.int16(),
        "member": pa.bool_(),
        "day": pa.date32(),
        "pay": pa.float64(),
        "when": pa.timestamp("s"),
    }
)


def test_groups_come_from_options_and_then_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "groups.csv"
    file.write_text('sex,other,town\nf,1,"Ulm, Neu"\nm,2,a:b\n', encoding="utf-8-sig")
    assert read_groups(["town"], ["Ulm", 'Rom,"a,b"'], None) == [("Ulm",), ("Rom",), ("a,b",)]
    assert read_groups(["town", "sex"], ["Rom:f"], file) == [
        ("Rom", "f"),
        ("Ulm, Neu", "f"),
        ("a:b", "m"),
    ]
    file.write_text("town;x\nUlm, Neu;1\n")
    assert read_groups(["town"], None, file, ";") == [("Ulm, Neu",)]


@pytest.mark.parametrize(
    ("by", "texts", "words"),
    [
        ([], ["Ulm"], "--groups must not be given without --by"),
        (["town"], None, "--groups or --groups-from must be given with --by"),
        (["town", "town"], ["Ulm"], "--by must name no column twice"),
        (["town"], ["Ulm,,Rom"], "--groups must be values with commas between them"),
        (["town"], [""], "--groups must be values with commas between them"),
        (["town", "sex"], ["Ulm"], "--groups must be 2 values joined by colons"),
        (["town", "sex"], ["a:b:c"], "--groups-from reads values with colons"),
        (["town", "sex"], ["a:"], "--groups must be 2 values joined by colons"),
    ],
)
def test_groups_that_cannot_be_read_are_refused(by: Any, texts: Any, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_groups(by, texts, None)
    assert words in caught.value.format_message()


@pytest.mark.parametrize("text", ["", 'town\n"a', "town\na,b\n", b"town\n\xff\n"])
def test_a_file_of_groups_that_is_no_csv_is_refused(tmp_path: Path, text: Any) -> None:
    file = tmp_path / "groups.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError, match="this is no CSV file with a header"):
        read_groups(["town"], None, file)


def test_a_file_of_groups_must_name_the_columns(tmp_path: Path) -> None:
    file = tmp_path / "groups.csv"
    file.write_text("city\nUlm\n")
    with pytest.raises(UsageError, match="--groups-from: the input has no column 'town'"):
        read_groups(["town"], None, file)
    with pytest.raises(UsageError, match="--groups-from must not be given without --by"):
        read_groups([], None, file)


def test_text_becomes_what_the_column_holds() -> None:
    names = ["town", "code", "year", "member", "day"]
    types = ColumnTypes.of(SCHEMA, names)
    group = ("7", "07", "-7", "True", "2026-01-31")
    assert types.groups([group], names) == [("7", "07", -7, True, date(2026, 1, 31))]
    assert types.statistic(categories("year", ["2026", "7"])) == categories("year", [2026, 7])
    some = categories("town", ["a"], complete=False)
    assert types.statistic(some) == some
    assert types.statistic(count()) == count()


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("year", "7.0", "integers"),
        ("year", "1_000", "integers"),
        ("year", "٧", "integers"),
        ("member", "1", "true or false"),
        ("day", "31.1.2026", "dates, as 2026-01-31"),
        ("day", "2026-02-30", "dates, as 2026-01-31"),
        ("day", "20260131", "dates, as 2026-01-31"),
    ],
)
def test_text_that_the_column_cannot_hold_is_refused(name: str, text: str, words: str) -> None:
    types = ColumnTypes.of(SCHEMA, [name])
    with pytest.raises(UsageError) as caught:
        types.groups([(text,)], [name])
    expected = f"--groups must list {words} for the column {name!r}, got {text!r}."
    assert caught.value.format_message() == expected
    with pytest.raises(UsageError, match=f"--categories must list {words}"):
        types.statistic(categories(name, [text]))


def test_values_that_become_equal_are_listed_twice() -> None:
    types = ColumnTypes.of(SCHEMA, ["year"])
    with pytest.raises(UsageError, match="--groups must list no group twice"):
        types.groups([("7",), ("+7",)], ["year"])
    with pytest.raises(UsageError, match="--categories 'year': levels must hold"):
        types.statistic(categories("year", ["7", "07"]))


@pytest.mark.parametrize("name", ["pay", "when"])
def test_columns_that_are_not_compared_are_refused(name: str) -> None:
    with pytest.raises(ArgumentTypeError, match=f"column '{name}' must hold strings, integers"):
        ColumnTypes.of(SCHEMA, [name])
