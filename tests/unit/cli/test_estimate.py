import csv
import io
import json
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import inbounds as ib
from inbounds.cli.app import app

ROWS = 2000


def run(*args: Any) -> Any:
    return CliRunner().invoke(app, [*map(str, args)])


def people() -> pa.Table:
    towns = ["Rom", "Ulm"] * (ROWS // 2)
    ages = [30, 80] * (ROWS // 2)
    days = [date(2026, 1, 1)] * (ROWS // 2) + [date(2026, 1, 2)] * (ROWS // 2)
    return pa.table({"town": towns, "age": ages, "day": days})


@pytest.fixture(scope="module")
def private(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("people")
    pq.write_table(people(), folder / "people.parquet")
    target = folder / "private.parquet"
    options = ["--column", "age=0:120:1", "--epsilon", 2]
    assert run("privatize", folder / "people.parquet", target, *options).exit_code == 0
    return target


def estimates(*args: Any) -> list[dict[str, Any]]:
    result = run("estimate", *args, "--json")
    assert result.exit_code == 0, result.stderr
    return list(json.loads(result.stdout)["estimates"])


def test_what_the_command_says_is_what_the_function_says(private: Path) -> None:
    options = ["--by", "town", "--quantile", "0.5", "--histogram", "0:60:120", "--level", "0.9"]
    found = estimates(private, *options)
    expected = ib.estimate(
        pq.read_table(private),
        f"{private}.privacy.json",
        by="town",
        quantiles=[0.5],
        histogram=[0, 60, 120],
        level=0.9,
    ).to_pylist()
    kept = [{k: v for k, v in row.items() if v is not None} for row in expected]
    assert [{k: v for k, v in row.items() if v is not None} for row in found] == kept


def test_the_truth_is_in_the_intervals(private: Path) -> None:
    """At 1 - 1e-6 each."""
    rows = estimates(private, "--by", "town", "--quantile", "0.5", "--level", "0.999999")
    for row in rows:
        truth = {"Rom": 30, "Ulm": 80}[row["town"]]
        truth = ROWS // 2 if row["statistic"] == "count" else truth
        assert row["lower"] <= truth <= row["upper"]


def test_formats_and_dates(private: Path, tmp_path: Path) -> None:
    table = pq.read_table(private)
    expected = estimates(private, "--by", "day")
    assert [row["day"] for row in expected[::2]] == ["2026-01-01", "2026-01-02"]
    sidecar = Path(f"{private}.privacy.json")
    text = "town;age;day\n" + "".join(
        f"{row['town']};{row['age']};{row['day']}\n" for row in table.to_pylist()
    )
    (tmp_path / "private.txt").write_text(text)
    options = ["--format", "csv", "--delimiter", ";", "--sidecar", sidecar]
    assert estimates(tmp_path / "private.txt", "--by", "day", *options) == expected


def test_csv_and_the_table_show_the_same_rows(private: Path) -> None:
    rows = estimates(private, "--histogram", "age=3")
    written = list(
        csv.DictReader(io.StringIO(run("estimate", private, "--histogram", 3, "--csv").stdout))
    )
    assert [float(row["value"]) for row in written] == [row["value"] for row in rows]
    shown = run("estimate", private, "--histogram", 3).stdout
    assert "Estimates with 95 % intervals" in shown
    assert all(f"{row['value']:.6g}" in shown for row in rows)


def test_it_says_what_missing_values_count_as(tmp_path: Path) -> None:
    for nulls, words in (("keep", "were left out"), ("uniform", "uniform in the range")):
        source, target = tmp_path / "in.csv", tmp_path / f"{nulls}.csv"
        source.write_text("name,age\nA,41\nB,\nC,7\n")
        options = ["--column", "age=0:120@1", "--nulls", nulls]
        assert run("privatize", source, target, *options).exit_code == 0
        result = run("estimate", target, "--json")
        assert words in result.stderr
        rows = json.loads(result.stdout)
        assert rows["nulls"] == nulls
        assert rows["estimates"][0]["value"] == (2 if nulls == "keep" else 3)


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--by", "age"], 2, "--by must name columns that are not private"),
        (["--by", "nowhere"], 2, "--by: the input has no column 'nowhere'"),
        (["--by", "town", "--by", "town"], 2, "twice"),
        (["--quantile", "1.5"], 2, "--quantile must be between 0 and 1"),
        (["--level", "1"], 2, "--level must be strictly between"),
        (["--histogram", "town=3"], 2, "--histogram must name a private column"),
        (["--histogram", "x"], 2, "--histogram must be [NAME=]EDGES"),
        (["--histogram", "5:1"], 2, "--histogram must be a number of bins"),
        (["--json", "--csv"], 2, "--csv must not be given with --json"),
        (["--delimiter", ";"], 2, "--delimiter is for CSV"),
        (["--sidecar", "nowhere.json"], 1, "nowhere.json: No such file"),
    ],
)
def test_wrong_options_are_named(private: Path, options: Any, code: int, words: str) -> None:
    result = run("estimate", private, *options)
    assert (result.exit_code, result.stdout) == (code, "")
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_sidecar_of_another_table_is_not_believed(private: Path, tmp_path: Path) -> None:
    """Read by another epsilon, outputs would look like other people, with short intervals."""
    copy = tmp_path / "private.parquet"
    copy.write_bytes(private.read_bytes())
    sidecar = Path(f"{copy}.privacy.json")
    sidecar.write_bytes(Path(f"{private}.privacy.json").read_bytes())
    assert estimates(copy) == estimates(private)
    pq.write_table(pq.read_table(private).slice(1), copy)
    refused = run("estimate", copy)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "private.parquet.privacy.json was written for another table" in refused.stderr
    assert estimates(copy, "--sidecar", sidecar)[0]["value"] == ROWS - 1
    facts = json.loads(sidecar.read_text())
    del facts["sha256"]  # as earlier versions wrote it
    sidecar.write_text(json.dumps(facts))
    assert run("estimate", copy).exit_code == 0
    sidecar.write_text(json.dumps(facts | {"sha256": "0"}))
    assert "no valid file" in run("estimate", copy).stderr


def test_a_file_that_was_not_made_private_is_refused(private: Path, tmp_path: Path) -> None:
    sidecar = Path(f"{private}.privacy.json")
    broken = tmp_path / "broken.json"
    broken.write_text(sidecar.read_text().replace('"version": 1', '"version": 2'))
    assert (
        "no valid file of inbounds privatize"
        in run("estimate", private, "--sidecar", broken).stderr
    )
    other = tmp_path / "other.parquet"
    pq.write_table(pa.table({"age": np.array([1.0, 1e6])}), other)
    result = run("estimate", other, "--sidecar", sidecar)
    assert result.exit_code == 1
    assert "column 'age' must lie in the box" in result.stderr
    assert "1000000" not in result.stderr
    pq.write_table(pa.table({"other": [1.0]}), other)
    assert (
        "INPUT: the input has no column 'age'"
        in run("estimate", other, "--sidecar", sidecar).stderr
    )


def test_progress_counts_rows(private: Path) -> None:
    assert f"{ROWS:,} rows" in run("estimate", private, "--progress").stderr
