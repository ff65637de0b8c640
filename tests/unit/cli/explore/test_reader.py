import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from inbounds.cli.explore import reader
from inbounds.cli.explore.reader import columns_of, main
from inbounds.errors import ArgumentError

TABLE = pa.table(
    {
        "age": pa.array([41], pa.int8()),
        "pay": [1.5],
        "smoker": [True],
        "town": pa.array(["Ulm"]).dictionary_encode(),
        "day": pa.array([0], pa.date32()),
        "more": [[1]],
    }
)


def test_types_of_a_parquet_file_are_told(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "a.parquet")
    held = [column["type"] for column in columns_of(tmp_path / "a.parquet")["columns"]]
    assert held == ["number", "number", "yes/no", "text", "other", "other"]


def test_types_of_a_csv_file_are_unknown(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b'"a;b";b\n1;2\n')
    found = columns_of(tmp_path / "a.csv", ";")["columns"]
    assert found == [{"name": name, "type": "unknown"} for name in ("a;b", "b")]


@pytest.mark.parametrize("data", [b"", b"PAR1nonsense", b"age\n41\n"])
def test_a_damaged_file_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], data: bytes
) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(data)
    assert main([str(path)]) in (1, 2)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "Error: the file must be a complete and valid Parquet file.\n"


def test_columns_are_printed_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.csv").write_text("ε,b\n1,2\n", encoding="utf-8")
    assert main([str(tmp_path / "a.csv")]) == 0
    names = [column["name"] for column in json.loads(capsys.readouterr().out)["columns"]]
    assert names == ["ε", "b"]


def notes(tmp_path: Path, data: bytes, delimiter: str = ",") -> list[str]:
    (tmp_path / "a.csv").write_bytes(data)
    found = columns_of(tmp_path / "a.csv", delimiter)["notes"]
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize(
    ("data", "delimiter", "said"),
    [
        (b"age,town\n41,Ulm\n", ",", []),
        (b"41,Ulm\n7,Rom\n", ",", ["look like numbers"]),
        (b"41,5;Ulm\n7;Rom\n", ";", ["look like numbers"]),
        (b"nan,inf\n1,2\n", ",", []),
        (b"Name;Alter;Region\nA;41;B\n", ",", ["its name holds semicolons"]),
        (b"a\tb\n1\t2\n", ",", ["its name holds tabs"]),
        (b",age\n0,41\n", ",", ["A column without a name"]),
        (b"age,age\n1,2\n", ",", ["the same name"]),
    ],
)
def test_notes_say_what_is_likely_wrong(
    tmp_path: Path, data: bytes, delimiter: str, said: list[str]
) -> None:
    found = notes(tmp_path, data, delimiter)
    assert len(found) == len(said)
    assert all(words in note for words, note in zip(said, found, strict=True))


def test_a_column_without_a_name_is_not_offered(tmp_path: Path) -> None:
    """As the index that pandas writes: it cannot be replaced, and it must not stop the others."""
    (tmp_path / "a.csv").write_bytes(b",age\n0,41\n")
    assert [c["name"] for c in columns_of(tmp_path / "a.csv")["columns"]] == ["age"]


def test_a_quoted_name_before_a_semicolon_is_not_a_matter_of_utf_8(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b'"Name";Alter\nA;41\n')
    with pytest.raises(ArgumentError, match="its header holds semicolons"):
        columns_of(tmp_path / "a.csv")
    found = columns_of(tmp_path / "a.csv", ";")["columns"]
    assert [column["name"] for column in found] == ["Name", "Alter"]
    (tmp_path / "a.csv").write_bytes(b'"N\xe4me";Alter\nA;41\n')
    with pytest.raises(ArgumentError, match="UTF-8"):
        columns_of(tmp_path / "a.csv")


def test_a_small_file_of_many_rows_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """45 kilobytes of Parquet can stand for ten million rows, and for an answer of 70 MB."""
    pq.write_table(pa.table({"age": [41] * 1000}), tmp_path / "a.parquet")
    assert columns_of(tmp_path / "a.parquet")["columns"]
    monkeypatch.setattr(reader, "MOST_ROWS", 999)
    with pytest.raises(ArgumentError, match="at most 999 rows on this page, got 1,000"):
        columns_of(tmp_path / "a.parquet")
