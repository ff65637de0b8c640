"""Categories through ``inbounds privatize`` and back through ``inbounds estimate``."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather
from typer.testing import CliRunner

import inbounds as ib
from inbounds.cli.app import app

ROWS = 1500
SURE = ["--levels", "education=none,school,uni@80", "--levels", "smoker=false,true@80"]
SURE += ["--levels", "k=0,1,2@80"]  # flips nothing: e^-80 is below 1e-34
HEADER = "education,smoker,k,town\n"


def run(*args: Any, input: str | None = None) -> Any:
    return CliRunner().invoke(app, [*map(str, args)], input=input)


def people() -> pa.Table:
    third = ROWS // 3
    return pa.table(
        {
            "education": pa.array(["none", "uni", "uni"] * third).dictionary_encode(),
            "smoker": [True, False, False] * third,
            "k": pa.array([0, 1, 1] * third, pa.int8()),
            "town": ["Ulm"] * third + ["Rom"] * (2 * third),
        }
    )


def written(table: pa.Table, path: Path) -> Path:
    if path.suffix == ".csv":
        rows = (
            f"{row['education']},{str(row['smoker']).lower()},{row['k']},{row['town']}\n"
            for row in table.to_pylist()
        )
        path.write_text(HEADER + "".join(rows))
    elif path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        feather.write_feather(table, str(path))
    return path


def read(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".csv":
        return list(pd.read_csv(path).to_dict("records"))
    table = pq.read_table(path) if path.suffix == ".parquet" else feather.read_table(str(path))
    return list(table.to_pylist())


@pytest.mark.parametrize("source", ["in.csv", "in.parquet", "in.feather"])
@pytest.mark.parametrize("target", ["out.csv", "out.parquet", "out.arrow"])
def test_levels_keep_their_types_from_any_file_to_any_file(
    source: str, target: str, tmp_path: Path
) -> None:
    given, made = written(people(), tmp_path / source), tmp_path / target
    result = run("privatize", given, made, *SURE)
    assert result.exit_code == 0, result.stderr
    assert read(made) == people().to_pylist()
    assert f"Privacy: {ROWS} rows at epsilon=240 each ('education' 80" in result.stderr
    assert "Plain counts of private columns are biased." in result.stderr
    facts = json.loads((tmp_path / f"{target}.privacy.json").read_text())
    assert facts["columns"][0]["levels"] == ["none", "school", "uni"]
    found = run("estimate", made, "--json")
    assert found.exit_code == 0, found.stderr
    rows = json.loads(found.stdout)["estimates"]
    fractions = [round(row["value"], 9) for row in rows if row["statistic"] == "fraction"]
    third, rest = round(1 / 3, 9), round(2 / 3, 9)
    assert fractions == [third, 0.0, rest, rest, third, third, rest, 0.0]


def test_randomised_response_is_what_is_drawn(tmp_path: Path) -> None:
    """False alarm below 1e-6: 5 standard deviations of 1500 flips; 27 % instead would be 17."""
    given, made = written(people(), tmp_path / "in.parquet"), tmp_path / "out.parquet"
    assert run("privatize", given, made, "--levels", "smoker=false,true@2").exit_code == 0
    before, after = people()["smoker"].to_pylist(), pq.read_table(made)["smoker"].to_pylist()
    flips = sum(old != new for old, new in zip(before, after, strict=True)) / ROWS
    expected = ib.RandomizedResponse([False, True], epsilon=2.0).flip_probability
    assert abs(flips - expected) < 5 * (expected * (1 - expected) / ROWS) ** 0.5


def test_numbers_and_categories_are_read_back_together_by_group(tmp_path: Path) -> None:
    """Intervals at 1 - 1e-6."""
    table = people().append_column("age", pa.array([30.0] * ROWS))
    given, made = written(table, tmp_path / "in.parquet"), tmp_path / "out.parquet"
    options = ["--epsilon", 4, "--column", "age=0:120", "--levels", "education=none,school,uni"]
    result = run("privatize", given, made, *options)
    assert "Plain averages and counts of private columns are biased." in result.stderr
    found = run("estimate", made, "--by", "town", "--quantile", 0.5, "--level", 0.999999, "--json")
    rows = json.loads(found.stdout)["estimates"]
    per_town = ["count", "mean", "quantile", "count", *["fraction"] * 3]
    assert [row["statistic"] for row in rows] == per_town * 2
    truth = {"none": 1 / 3, "school": 0.0, "uni": 2 / 3}
    for row in rows:
        if row["statistic"] == "fraction":
            assert row["lower"] <= truth[row["level"]] <= row["upper"]
    expected = ib.estimate(pq.read_table(made), f"{made}.privacy.json", "town", quantiles=[0.5])
    assert expected["value"].to_pylist() == [row["value"] for row in rows]
    shown = run("estimate", made)
    assert "school" in shown.stdout
    assert "level" in run("estimate", made, "--csv").stdout.splitlines()[0].split(",")


@pytest.mark.parametrize("nulls", ["keep", "uniform"])
@pytest.mark.parametrize("names", ["x", "x,name"])
def test_a_blank_cell_is_a_missing_value(nulls: str, names: str, tmp_path: Path) -> None:
    given, made = tmp_path / "in.csv", tmp_path / "out.csv"
    more = ",A" if "," in names else ""
    given.write_text(f"{names}\n" + f"yes{more}\n{more}\nno{more}\n" * 50)
    options = ["--levels", "x=no,yes@80"]
    refused = run("privatize", given, made, *options)
    assert refused.exit_code == 1
    assert "column 'x' must have no nulls" in refused.stderr
    assert not made.exists()
    assert run("privatize", given, made, *options, "--nulls", nulls).exit_code == 0
    lines = [line.split(",")[0] for line in made.read_text().splitlines()[1:]]
    assert len(lines) == 150
    assert (lines.count(""), lines[0], lines[2]) == (50 if nulls == "keep" else 0, "yes", "no")
    result = run("estimate", made, "--json")
    rows = json.loads(result.stdout)["estimates"]
    assert rows[0]["value"] == (100 if nulls == "keep" else 150)
    if nulls == "keep":
        assert rows[1]["value"] == pytest.approx(0.5)
    else:
        assert "or among the levels" in result.stderr


@pytest.mark.parametrize("source", ["in.csv", "in.parquet"])
def test_a_value_that_is_no_level_is_refused_and_not_shown(source: str, tmp_path: Path) -> None:
    given = written(people(), tmp_path / source)
    result = run("privatize", given, tmp_path / "out.csv", "--levels", "education=none,school@1")
    assert result.exit_code == 1
    assert "column 'education' must hold levels of the mechanism only" in result.stderr
    assert "uni" not in result.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == [source]


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--levels", "nowhere=a,b@1"], 2, "--levels: the input has no column 'nowhere'"),
        (["--levels", "k=a,b@1"], 2, "--levels 'k' must be integers, as the column holds."),
        (["--levels", "k=1,300@1"], 1, "column 'k' must hold integers"),
        (["--levels", "smoker=no,yes@1"], 2, "--levels 'smoker' must be false and true"),
        ([], 2, "--column or --levels must be given"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_written(
    options: Any, code: int, message: str, tmp_path: Path
) -> None:
    given = written(people(), tmp_path / "in.parquet")
    result = run("privatize", given, tmp_path / "out.parquet", *options)
    assert (result.exit_code, message in result.stderr) == (code, True), result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--quantile", 0.5], "--quantile is for columns of numbers"),
        (["--histogram", 3], "--histogram is for columns of numbers"),
        (["--by", "smoker"], "--by must name columns that are not private"),
    ],
)
def test_quantiles_of_categories_are_refused(options: Any, message: str, tmp_path: Path) -> None:
    given, made = written(people(), tmp_path / "in.parquet"), tmp_path / "out.parquet"
    assert run("privatize", given, made, *SURE).exit_code == 0
    result = run("estimate", made, *options)
    assert (result.exit_code, message in result.stderr) == (2, True), result.stderr


def test_a_histogram_names_a_column_of_numbers(tmp_path: Path) -> None:
    table = people().append_column("age", pa.array([30.0] * ROWS))
    given, made = written(table, tmp_path / "in.parquet"), tmp_path / "out.parquet"
    options = ["--column", "age=0:120@1", "--levels", "smoker=false,true@1"]
    assert run("privatize", given, made, *options).exit_code == 0
    result = run("estimate", made, "--histogram", "smoker=2")
    assert "--histogram must name a private column of numbers, got 'smoker'" in result.stderr


def test_pipes_take_levels_and_shuffled_rows_stay_whole() -> None:
    text = HEADER + "".join(f"{'uni' if i % 2 else 'none'},true,{i % 2},{i}\n" for i in range(200))
    result = run("privatize", "-", "-", *SURE, "--shuffle", input=text)
    assert result.exit_code == 0, result.stderr
    rows = [line.split(",") for line in result.stdout.splitlines()[1:]]
    assert sorted(int(row[3]) for row in rows) == list(range(200))
    assert all((row[0] == "uni") == bool(int(row[3]) % 2) for row in rows)


@pytest.mark.parametrize("name", ["out.parquet", "out.feather"])
def test_a_dictionary_lists_levels_and_not_the_true_values_in_their_order(
    name: str, tmp_path: Path
) -> None:
    codes = pa.DictionaryArray.from_arrays([0, 1] * 5, ["uni", "none"])
    given, made = written(pa.table({"education": codes}), tmp_path / "in.feather"), tmp_path / name
    assert run("privatize", given, made, *SURE[:2]).exit_code == 0
    table = pq.read_table(made) if made.suffix == ".parquet" else feather.read_table(str(made))
    assert table["education"].chunk(0).dictionary.to_pylist() == ["none", "school", "uni"]
    assert table["education"].to_pylist() == ["uni", "none"] * 5
