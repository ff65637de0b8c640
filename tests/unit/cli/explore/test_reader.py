import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from inbounds.cli.explore.reader import columns_of, main

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
    held = [column["type"] for column in columns_of(tmp_path / "a.parquet")]
    assert held == ["number", "number", "yes/no", "text", "other", "other"]


def test_types_of_a_csv_file_are_unknown(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b'"a;b";b\n1;2\n')
    found = columns_of(tmp_path / "a.csv", ";")
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
