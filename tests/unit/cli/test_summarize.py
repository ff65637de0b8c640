import csv
import io
import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import inbounds as ib
from inbounds.cli.app import app
from inbounds.cli.summarize import EXAMPLES

ROWS = 600
EXACT = ["--rho", "1e12"]  # next to no noise


def run(*args: Any, **options: Any) -> Any:
    return CliRunner().invoke(app, ["summarize", *map(str, args)], **options)


def people() -> pd.DataFrame:
    generator = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "district": generator.choice(["Ulm", "Rom", "Bern, CH"], ROWS),
            "sex": generator.choice(["f", "m"], ROWS),
            "year": generator.choice([2025, 2026], ROWS),
            "age": generator.integers(0, 100, ROWS),
            "smoker": generator.random(ROWS) < 0.3,
            "education": generator.choice(["none", "school", "university"], ROWS),
            "person": np.arange(ROWS) // 2,
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("people")
    people().to_parquet(path / "people.parquet")
    people().to_csv(path / "people.csv", index=False)
    return path


def rows(*args: Any, **options: Any) -> list[dict[str, Any]]:
    result = run(*args, "--json", **options)
    assert result.exit_code == 0, result.stderr
    return list(json.loads(result.stdout)["estimates"])


ALL = [
    *("--count", "--mean", "age=0:120", "--total", "age=0:120", "--variance", "age=0:120"),
    *("--median", "age=0:120:1", "--quantile", "age=0:120:1:0.25,0.75", "--proportion", "smoker"),
    *("--histogram", "age=0:120:3", "--categories", "education=none,school"),
    *("--incomplete", "education"),
]


@pytest.mark.parametrize("name", ["people.parquet", "people.csv"])
def test_every_statistic_of_every_group_is_about_its_rows(folder: Path, name: str) -> None:
    groups = ["--by", "district", "--by", "sex", "--groups", 'Ulm:f,"Bern, CH:m"']
    found = rows(folder / name, *ALL, *groups, *EXACT)
    assert len(found) == 2 * 13
    for district, sex in (("Ulm", "f"), ("Bern, CH", "m")):
        part = people().query("district == @district and sex == @sex")
        mine = [row for row in found if (row["district"], row["sex"]) == (district, sex)]
        value = {
            (row["statistic"], row.get("q"), row.get("level"), row.get("bin_lower")): row["value"]
            for row in mine
        }
        age = part["age"]
        assert value["count", None, None, None] == len(part)
        assert value["mean", None, None, None] == pytest.approx(age.mean(), rel=1e-4)
        assert value["total", None, None, None] == pytest.approx(age.sum(), rel=1e-4)
        assert value["variance", None, None, None] == pytest.approx(age.var(ddof=0), rel=1e-3)
        assert value["proportion", None, None, None] == pytest.approx(part["smoker"].mean(), 1e-3)
        drawn = {0.5: value["median", None, None, None]}
        drawn |= {q: value["quantile", q, None, None] for q in (0.25, 0.75)}
        for q, point in drawn.items():  # any point between two rows may be the quantile
            assert (age < point).sum() <= q * len(age) <= (age <= point).sum()
        for level in ("none", "school"):
            count = value["categories", None, level, None]
            assert count == (part["education"] == level).sum()
        bins = [value["histogram", None, None, low] for low in (0.0, 40.0, 80.0)]
        assert bins == np.histogram(age, [0, 40, 80, 120])[0].tolist()


def test_the_options_are_the_arguments_of_the_library(folder: Path) -> None:
    """Standard errors of counts are those of the noise alone, so two calls have the same ones."""
    options = [
        *("--by", "year", "--groups", "2026", "--groups", 2025, "--count", "--mean", "age=0:120"),
        *("--epsilon", 1, "--delta", 1e-6, "--adjacency", "add-remove", "--rows", 2),
        *("--id", "person", "--size", 400, "--nulls", "skip", "--weights", "count=9"),
        *("--mechanism", "clamped-gaussian"),
    ]
    found = rows(folder / "people.parquet", *options)
    expected = ib.summarize(
        people(),
        [ib.frames.count(), ib.frames.mean("age", 0, 120)],
        by="year",
        groups=[2026, 2025],
        epsilon=1.0,
        delta=1e-6,
        adjacency="add-remove",
        rows=2,
        id="person",
        size=400,
        nulls="skip",
        weights=[9, 1],
        mechanism="ClampedGaussian",
    )
    assert [row["year"] for row in found] == expected["year"].tolist() == [2026, 2026, 2025, 2025]
    assert [row["mechanism"] for row in found] == ["ClampedGaussian"] * 4
    assert found[0]["standard_error"] == expected["standard_error"][0]
    result = run(folder / "people.parquet", *options)
    assert "Privacy: one release at epsilon=1, delta=1e-06" in result.stderr
    assert "add or remove one person" in result.stderr


def test_text_of_csv_is_compared_as_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("zip;age\n007;1\n7;2\n7;3\n;4\n")
    options = ["--delimiter", ";", "--by", "zip", "--groups", "7,007,7.0", "--count", *EXACT]
    assert [row["value"] for row in rows(path, *options)] == [2, 1, 0]
    piped = rows("-", *options, input=path.read_text())
    assert [row["value"] for row in piped] == [2, 1, 0]


def test_missing_values_stop_or_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("school,age\na,1\n,2\nb,\n")
    for options in (["--mean", "age=0:9"], ["--categories", "school=a,b"]):
        result = run(path, *options, "--epsilon", 1)
        assert (result.exit_code, result.stdout) == (1, "")
        assert "must have no nulls. Hint: --nulls skip leaves out rows with nulls." in result.stderr
    asked = ["--categories", "school=a,b", "--nulls", "skip"]
    assert [row["value"] for row in rows(path, *asked, *EXACT)] == [1, 1]


def test_numbers_out_of_bounds_are_moved_left_out_or_refused_by_column(tmp_path: Path) -> None:
    path = tmp_path / "codes.csv"
    path.write_text("age,pay\n20,9\n999,5\n40,1\n")
    asked = (path, "--mean", "age=0:120", "--mean", "pay=0:4", *EXACT, "--size", 9)
    moved = [row["value"] for row in rows(*asked[:-2])]
    assert moved == pytest.approx([60, 3], abs=1e-3)
    left = [row["value"] for row in rows(*asked, "--outside", "age=skip")]
    assert left == pytest.approx([30, 2.5], abs=1e-3)
    for options in (["error"], ["pay=error"]):
        result = run(*asked[:-2], "--outside", *options)
        assert result.exit_code == 1
        assert "must have no values outside its bounds. Hint: --outside clip" in result.stderr
    for wrong in (["skip", "age=skip"], ["age=skip", "age=clip"], ["drop"], ["town=skip"]):
        given = [text for policy in wrong for text in ("--outside", policy)]
        result = run(*asked, *given)
        assert result.exit_code == 2
        assert "--outside" in result.stderr


def test_forms_of_output_hold_the_same_columns(folder: Path, tmp_path: Path) -> None:
    asked = [folder / "people.parquet", "--by", "sex", "--groups", "f,m", "--count", "--epsilon", 1]
    names = list(rows(*asked)[0])
    printed = list(csv.DictReader(io.StringIO(run(*asked, "--csv").stdout)))
    assert [list(row) for row in printed] == [names] * 2
    result = run(*asked, "--output", tmp_path / "out.parquet")
    assert (result.exit_code, result.stdout) == (0, "")
    assert pq.read_table(tmp_path / "out.parquet").column_names == names
    assert run(*asked, "--output", tmp_path / "out.parquet").exit_code == 2
    assert run(*asked, "--output", tmp_path / "out.parquet", "--force").exit_code == 0


def test_a_figure_is_drawn(folder: Path, tmp_path: Path) -> None:
    asked = [folder / "people.csv", "--mean", "age=0:120", "--histogram", "age=0:120:12"]
    asked += ["--by", "sex", "--groups", "f,m", "--epsilon", 1]
    result = run(*asked, "--plot", tmp_path / "out.svg")
    assert result.exit_code == 0, result.stderr
    assert "Private statistics" in result.stdout
    assert (tmp_path / "out.svg").stat().st_size > 10_000


@pytest.fixture
def ledger(tmp_path: Path) -> ib.Ledger:
    opened = ib.Ledger(tmp_path / "budget.db")
    opened.open("survey", epsilon=1.5, unit=ib.Unit("replace", "row"))
    return opened


def test_a_release_is_charged_once_and_refused_where_the_budget_is_spent(
    folder: Path, tmp_path: Path, ledger: ib.Ledger
) -> None:
    asked = [folder / "people.parquet", "--mean", "age=0:120", "--median", "age=0:120"]
    asked += ["--epsilon", 1, "--ledger", tmp_path / "budget.db", "--dataset", "survey"]
    asked += ["--label", "ages", "--user", "Ana"]
    dry = run(*asked, "--dry-run")
    assert (dry.exit_code, dry.stderr) == (0, "")
    assert (
        dry.stdout == "survey: this would cost epsilon=1, and leave epsilon=0.5 of epsilon=1.5.\n"
    )
    assert ledger.records("survey") == []
    result = run(*asked)
    assert result.exit_code == 0
    assert "survey: epsilon=0.5 left of epsilon=1.5." in result.stderr
    (charge,) = ledger.records("survey")
    assert (charge["label"], charge["user"]) == ("ages", "Ana")
    for more in ([], ["--dry-run"], ["--output", tmp_path / "out.csv"]):
        refused = run(*asked, *more)
        assert (refused.exit_code, refused.stdout) == (1, "")
        assert "too little for epsilon=1.0" in refused.stderr
    assert not (tmp_path / "out.csv").exists()
    assert json.loads(run(*asked, "--dry-run", "--json").stdout)["fits"] is False
    assert len(ledger.records("survey")) == 1


def test_a_public_number_costs_nothing(folder: Path, tmp_path: Path, ledger: ib.Ledger) -> None:
    asked = [folder / "people.parquet", "--count", "--epsilon", 1]
    charged = ["--ledger", tmp_path / "budget.db", "--dataset", "survey"]
    assert run(*asked, *charged, "--dry-run").stdout == "survey: this would cost nothing.\n"
    facts = json.loads(run(*asked, *charged, "--dry-run", "--json").stdout)
    assert (facts["fits"], facts["cost"]) == (True, {})
    assert "so nothing was spent" in run(*asked, *charged).stderr
    assert ledger.records("survey") == []


def test_what_cannot_be_drawn_is_not_charged(
    folder: Path, tmp_path: Path, ledger: ib.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.delitem(sys.modules, "inbounds.plots.figure", raising=False)
    charged = ["--ledger", tmp_path / "budget.db", "--dataset", "survey"]
    asked = [folder / "people.parquet", "--mean", "age=0:120", "--epsilon", 1, *charged]
    result = run(*asked, "--plot", tmp_path / "out.png")
    assert result.exit_code == 1
    assert "inbounds[plots]" in result.stderr
    missing = run(*asked, "--output", tmp_path / "nowhere" / "out.csv")
    assert missing.exit_code == 1
    assert ledger.records("survey") == []


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ([], 2, "at least one statistic must be asked for"),
        (["--count"], 2, "--epsilon or --rho must be given"),
        (["--count", "--epsilon", 1, "--rho", 1], 2, "--epsilon or --rho must be given, but not"),
        (["--mean", "age=0:120", "--epsilon", -1], 2, "--epsilon must be positive"),
        (["--mean", "nobody=0:1", "--epsilon", 1], 2, "--mean: the input has no column 'nobody'"),
        (["--count", "--by", "sex", "--epsilon", 1], 2, "--groups or --groups-from must be given"),
        (["--count", "--id", "person", "--epsilon", 1], 2, "--size must be given where"),
        (["--count", "--id", "nobody", "--epsilon", 1], 2, "--id: the input has no column"),
        (["--mean", "age=0:9", "--size", 9, "--epsilon", 1], 2, "--size must be left out here"),
        (["--mean", "sex=0:1", "--epsilon", 1], 1, "column 'sex' must hold numbers, got String"),
        (["--proportion", "sex", "--epsilon", 1], 1, "column 'sex' must hold booleans"),
        (["--mean", "age=0:9", "--weights", "mean:age=0", "--epsilon", 1], 2, "--weights must be"),
        (
            ["--mean", "age=0:9", "--mechanism", "clamped-gaussian", "--epsilon", 1],
            2,
            "Hint: leave --mechanism out",
        ),
        (["--mean", "age=0:9", "--epsilon", 1, "--delimiter", ";"], 2, "--delimiter is for CSV"),
        (["--mean", "age=0:9", "--epsilon", 1, "--dry-run"], 2, "--dry-run must not be given"),
        (["--by", "year", "--groups", "MMXXVI", "--count", "--epsilon", 1], 2, "list integers"),
    ],
)
def test_wrong_options_are_one_line(folder: Path, options: Any, code: int, words: str) -> None:
    result = run(folder / "people.parquet", *options)
    assert (result.exit_code, result.stdout) == (code, "")
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not re.search(r"\b(nulls|size|groups|mechanism|weights)=", result.stderr.split("got")[0])


def test_an_error_about_data_shows_none(tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    pd.DataFrame({"pay": [77123.5, float("inf")]}).to_parquet(path)
    result = run(path, "--mean", "pay=0:1e5", "--epsilon", 1)
    assert result.exit_code == 1
    assert "column 'pay' must be finite" in result.stderr
    assert "77123" not in result.stderr


def examples() -> list[str]:
    parts = EXAMPLES.replace("\\\n", "").split("\n\n")
    return [part.strip()[2:] for part in parts if part.strip().startswith("$ ")]


def test_the_examples_of_the_help_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert len(examples()) == 3
    visits = people().assign(cost=10.0, emergency=1)
    visits.to_csv("visits.csv", index=False)
    ib.Ledger("budget.db").open("survey-2026", epsilon=1.0)
    for line in examples():
        expanded = line.replace(
            "--groups={Ulm,Rom}:{f,m}",
            "--groups=Ulm:f --groups=Ulm:m --groups=Rom:f --groups=Rom:m",
        )
        result = CliRunner().invoke(app, shlex.split(expanded.split(" > ")[0])[1:])
        assert result.exit_code == 0, result.stderr
    assert Path("ages.png").exists()
