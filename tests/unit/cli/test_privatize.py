import json
import subprocess
import sys
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from inbounds.cli.app import app

AGE = ["--column", "age=0:120:1@1"]
SURE = ["--column", "age=0:120@1e9"]  # sigma is 0.003: a tenth is 37 of them
PEOPLE = "name,age,zip\nDoe,41,007\nRoe,7,010\n"


def privatize(*args, **options):
    return CliRunner().invoke(app, ["privatize", *map(str, args)], **options)


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE)
    return path


def test_one_column_is_replaced_and_all_else_stays(people, tmp_path):
    target = tmp_path / "public.csv"
    result = privatize(people, target, *SURE)
    assert (result.exit_code, result.stdout) == (0, "")
    warning, cost, hint = result.stderr.splitlines(keepends=True)
    assert warning.startswith("Warning: --epsilon=1e+09 means")
    assert cost == (
        "Privacy: 2 rows at epsilon=1e+09 each ('age' 1e+09). Other columns are unchanged.\n"
    )
    assert hint == (
        "Plain averages of private columns are biased. Read them with: "
        f"inbounds estimate {target}\n"
    )
    rows = [line.split(",") for line in target.read_text().splitlines()]
    assert [row[0::2] for row in rows] == [["name", "zip"], ["Doe", "007"], ["Roe", "010"]]
    assert [float(row[1]) for row in rows[1:]] == pytest.approx([41, 7], abs=0.1)
    assert people.read_text() == PEOPLE


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.arrow", "-"])
def test_a_dry_run_reads_everything_and_publishes_nothing(people, tmp_path, name):
    target = "-" if name == "-" else tmp_path / name
    result = privatize(people, target, *AGE, "--dry-run")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "Dry run: all rows can be drawn (2). Nothing was published.\n"
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]
    people.write_text(f"{PEOPLE}Poe,secret77,011\n")
    result = privatize(people, target, *AGE, "--dry-run")
    assert result.exit_code == 1
    assert "must have a number in row 3 below the header" in result.stderr
    assert "secret77" not in result.output
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


def test_the_json_of_a_dry_run_says_so_and_how_large_the_copy_would_be(people, tmp_path):
    result = privatize(people, tmp_path / "out.csv", *AGE, "--dry-run", "--json")
    facts = json.loads(result.stdout)
    assert (facts["dry_run"], facts["rows"]) == (True, 2)
    header = len(b"name,age,zip\n")
    assert header < facts["bytes"] <= header + 2 * len(b"Doe,120,007\n")


@pytest.mark.parametrize(
    "mechanism", ["bounded-gaussian", "bounded-laplace", "clamped-laplace", "window", "optimal"]
)
def test_outputs_are_whole_numbers_in_bounds(tmp_path, mechanism):
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("age\n" + "41\n" * 300)
    privatize(source, target, *AGE, "--mechanism", mechanism)
    outputs = target.read_text().split()[1:]
    assert len(outputs) == 300
    assert all(output.isdigit() and int(output) <= 120 for output in outputs)
    fewest = 1 if mechanism == "optimal" else 20
    assert len(set(outputs)) > fewest  # below 1e-6 by far


def test_the_guarantee_stands_beside_the_output_and_is_what_json_prints(people, tmp_path):
    target = tmp_path / "public.csv"
    options = ["--column", "zip=0:99@0.5", "--epsilon", "2", "--json"]
    result = privatize(people, target, "--column", "age=0:120:1", *options)
    facts = json.loads((tmp_path / "public.csv.privacy.json").read_text())
    assert json.loads(result.stdout) == facts
    assert facts["rows"] == 2
    assert facts["output"] == "public.csv"
    assert [one["name"] for one in facts["columns"]] == ["age", "zip"]
    assert facts["row"]["requested"]["epsilon"] == pytest.approx(2)
    assert facts["columns"][0]["requested"]["epsilon"] == pytest.approx(1.5)
    assert facts["row"]["pure_epsilon"] <= 2
    assert "41" not in json.dumps(facts["columns"][1]["bounds"])


def test_parquet_keeps_types_and_arrow_dictionaries(tmp_path):
    town = pa.array(["Ulm", "Rom"]).dictionary_encode()
    table = pa.table({"town": town, "age": pa.array([41, 7], pa.int16())})
    pq.write_table(table, tmp_path / "in.parquet")
    for name in ("out.parquet", "out.feather"):
        assert privatize(tmp_path / "in.parquet", tmp_path / name, *AGE).exit_code == 0
    found = pq.read_table(tmp_path / "out.parquet")
    assert found.schema.equals(table.schema)
    with pa.memory_map(str(tmp_path / "out.feather")) as source:
        assert pa.ipc.open_file(source).read_all().schema.equals(table.schema)


def test_pipes_are_csv():
    result = privatize("-", "-", *SURE, input=PEOPLE)
    assert result.exit_code == 0
    name, age, zipped = result.stdout.splitlines()[1].split(",")
    assert (name, zipped) == ("Doe", "007")
    assert float(age) == pytest.approx(41, abs=0.1)


def test_a_pipe_that_breaks_off_says_what_was_spent(monkeypatch):
    monkeypatch.setattr("inbounds.frames.local.csv_reader._BLOCK", 8)
    monkeypatch.setattr("inbounds.frames.local.layout._MOST", 3)
    result = privatize("-", "-", *AGE, input="age\n" + "41\n" * 9 + "77x77\n")
    assert result.exit_code == 1
    assert "Stopped early. Privacy: " in result.stderr
    assert "77x77" not in result.output


@pytest.mark.parametrize("policy", ["error", "keep", "uniform"])
def test_missing_values_are_treated_as_told(tmp_path, policy):
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("x,age\na,\nb,41\n")
    result = privatize(source, target, *AGE, "--nulls", policy)
    if policy == "error":
        assert result.exit_code == 1
        assert "Hint: --nulls uniform treats them as random numbers" in result.stderr
        assert list(tmp_path.iterdir()) == [source]
    else:
        first = target.read_text().splitlines()[1].split(",")[1]
        assert (first == "") == (policy == "keep")
        assert ("where values are missing" in result.stderr) == (policy == "keep")


def test_nothing_is_replaced_unless_forced(people, tmp_path):
    target, side = tmp_path / "public.csv", tmp_path / "public.csv.privacy.json"
    for path in (target, side):
        path.write_text("old")
        result = privatize(people, target, *AGE)
        assert result.exit_code == 2
        assert "exists already. Hint: --force" in result.stderr
        assert path.read_text() == "old"
        path.unlink()
    target.write_text("old")
    assert privatize(people, target, *AGE, "--force").exit_code == 0
    assert target.read_text() != "old"
    assert json.loads(side.read_text())["rows"] == 2


def test_the_input_is_never_replaced(people, tmp_path):
    (tmp_path / "link.csv").hardlink_to(people)
    for target in (people, tmp_path / "link.csv", tmp_path / ".." / tmp_path.name / "people.csv"):
        result = privatize(people, target, *AGE, "--force")
        assert result.exit_code == 2
        assert "OUTPUT must not be the input file" in result.stderr
    assert people.read_text() == PEOPLE


def test_a_redirected_input_is_never_replaced(people):
    command = [sys.executable, "-m", "inbounds", "privatize", "-", str(people), *AGE, "--force"]
    with people.open() as values:
        done = subprocess.run(command, stdin=values, capture_output=True, check=False)
    assert done.returncode == 2
    assert b"OUTPUT must not be the input file" in done.stderr
    assert people.read_text() == PEOPLE


def test_columns_must_be_there_once(people, tmp_path):
    for name, header, found in (
        ("height", "name,age\n", "no column"),
        ("age", "age,age\n", "2 columns named"),
    ):
        people.write_text(header + "1,2\n")
        result = privatize(people, tmp_path / "out.csv", "--column", f"{name}=0:1@1")
        assert result.exit_code == 2
        assert f"--column: the input has {found} '{name}'.\n" in result.stderr


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_another_delimiter_is_named_and_then_used(people, tmp_path, delimiter):
    people.write_text(PEOPLE.replace(",", delimiter).replace("Doe", '"Doe, J."'))
    result = privatize(people, tmp_path / "out.csv", *AGE)
    assert result.exit_code == 2
    assert f"its cells seem to be separated by {delimiter!r}: use --delimiter." in result.stderr
    given = r"\t" if delimiter == "\t" else delimiter
    result = privatize(people, tmp_path / "out.csv", *AGE, "--delimiter", given)
    assert result.exit_code == 0, result.stderr
    rows = [line.split(delimiter) for line in (tmp_path / "out.csv").read_text().splitlines()]
    assert [row[0::2] for row in rows] == [["name", "zip"], ["Doe, J.", "007"], ["Roe", "010"]]


def test_a_delimiter_that_cannot_be_is_refused(people, tmp_path):
    for delimiter in ("", ";;", "1", '"'):
        result = privatize(people, tmp_path / "out.csv", *AGE, "--delimiter", delimiter)
        assert result.exit_code == 2
        assert "'--delimiter': must be one ASCII character" in result.stderr
    pq.write_table(pa.table({"age": [1]}), tmp_path / "in.parquet")
    result = privatize(tmp_path / "in.parquet", tmp_path / "out.parquet", *AGE, "--delimiter", ";")
    assert result.exit_code == 2
    assert "neither INPUT nor OUTPUT is CSV" in result.stderr


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ("age=0:120:1@1", pa.int64()),
        ("age=-5:10:5@1", pa.int64()),
        ("age=0:120@1", pa.float64()),
        ("age=0:120:0.5@1", pa.float64()),
        ("age=0:36893488147419103232:36893488147419103232@1", pa.float64()),
    ],
)
@pytest.mark.parametrize("nulls", ["keep", "uniform"])
def test_whole_steps_from_csv_are_integers(tmp_path, column, kind, nulls):
    source, target = tmp_path / "in.csv", tmp_path / "out.parquet"
    source.write_text("age,x\n41,a\n,b\n7.5,c\n")
    result = privatize(source, target, "--column", column, "--nulls", nulls)
    assert result.exit_code == 0, result.stderr
    found = pq.read_table(target)["age"]
    assert found.type == kind
    assert found.null_count == (nulls == "keep")


def test_the_statement_says_that_types_are_inferred(people, tmp_path):
    people.write_text("age,zip,when\n41,007,2020-01-01T00:00:00+01:00\n")
    result = privatize(people, tmp_path / "out.parquet", *AGE, "--json")
    assert "Other columns have types inferred from the first 65536 rows" in result.stderr
    assert json.loads(result.stdout)["types"] == {"inferred": True, "rows": 65536}
    row = pq.read_table(tmp_path / "out.parquet").to_pylist()[0]
    assert row["zip"] == 7
    assert str(row["when"]) == "2019-12-31 23:00:00+00:00"
    people.write_text("age\n41\n")  # no other column
    result = privatize(people, tmp_path / "one.parquet", *AGE)
    assert "Other columns are unchanged." in result.stderr


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ("pay=0:900:1@1", pa.decimal128(5, 2)),
        ("pay=0:1000:1@1", pa.float64()),
        ("pay=0:900@1", pa.float64()),
    ],
)
def test_decimals_of_a_file_are_privatized(tmp_path, column, kind):
    pay = pa.array([Decimal("17.25"), Decimal("800.01"), None], pa.decimal128(5, 2))
    pq.write_table(pa.table({"pay": pay}), tmp_path / "in.parquet")
    args = ("--column", column, "--nulls", "uniform")
    result = privatize(tmp_path / "in.parquet", tmp_path / "out.parquet", *args)
    assert result.exit_code == 0, result.stderr
    found = pq.read_table(tmp_path / "out.parquet")["pay"]
    assert found.type == kind
    assert all(0 <= value <= 1000 for value in found.to_pylist())
    if kind != pa.float64():
        assert all(value == int(value) for value in found.to_pylist())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "must have a header, got an empty file"),
        ("age\nsecret77\n", "column 'age' must have a number in row 1 below the header"),
        ("age\n77\n1e999\n", "column 'age' must be finite"),
        ("age,x\n77\n", "row 1 below the header must have as many cells as the header (2), got 1"),
        ('age,x\n1,"a\n77,b\n', "must have quotes only around whole cells"),
        ("age,x\nNA,1\nNA,2\n", "column 'age' must have no nulls"),
    ],
)
def test_bad_data_is_named_by_its_place_and_leaves_nothing(people, tmp_path, content, message):
    people.write_text(content)
    result = privatize(people, tmp_path / "out.csv", *AGE)
    assert result.exit_code == 1
    assert message in result.stderr
    assert "77" not in result.output.replace(str(tmp_path), "")
    assert list(tmp_path.iterdir()) == [people]


def test_columns_of_text_and_of_nothing_are_refused_by_type(tmp_path):
    for values in (["77"], pa.nulls(1)):
        pq.write_table(pa.table({"age": values}), tmp_path / "in.parquet")
        result = privatize(tmp_path / "in.parquet", tmp_path / "out.parquet", *AGE)
        assert result.exit_code == 1
        assert "column 'age' must hold integers or floats" in result.stderr
        assert "77" not in result.output.replace(str(tmp_path), "")


def test_a_header_alone_costs_nothing(people, tmp_path):
    people.write_text("name,age\n")
    result = privatize(people, tmp_path / "out.csv", *AGE)
    assert result.stderr == "Privacy: no row, so nothing was spent.\n"
    assert (tmp_path / "out.csv").read_text() == "name,age\n"


def test_places_that_cannot_be_are_refused(people, tmp_path):
    cases = {
        (people, tmp_path): (2, "OUTPUT must be a file, got the directory"),
        (people, tmp_path / "none" / "x.csv"): (1, "No such file or directory"),
        (tmp_path / "none.csv", tmp_path / "x.csv"): (1, "none.csv: No such file or directory"),
        (people, tmp_path / "x.xlsx"): (2, "--format must be given"),
        (tmp_path, tmp_path / "x.csv"): (2, "--format must be given"),
    }
    for (source, target), (code, message) in cases.items():
        result = privatize(source, target, *AGE)
        assert (result.exit_code, message in result.stderr) == (code, True), result.stderr
    assert privatize("-", "-", *AGE, "--json", input=PEOPLE).exit_code == 2
    assert list(tmp_path.iterdir()) == [people]


def test_a_format_is_for_names_that_tell_none(people, tmp_path):
    assert privatize(people, tmp_path / "out", *AGE, "--format", "parquet").exit_code == 0
    assert pq.read_metadata(tmp_path / "out").num_rows == 2


def test_progress_is_shown_if_asked_for(people, tmp_path):
    result = privatize(people, tmp_path / "out.csv", *AGE, "--progress")
    assert "2 rows" in result.stderr
    assert "rows/s" in result.stderr


def test_a_device_gets_no_guarantee_beside_it(people):
    assert privatize(people, "/dev/null", *AGE, "--format", "csv").exit_code == 0


def test_the_file_beside_the_output_names_mechanisms_and_their_parameters(people, tmp_path):
    target = tmp_path / "public.csv"
    for options, name, parameters in (
        ([], "Window", {"epsilon": 2}),
        (["--objective", "unbiased"], "Optimal", {"epsilon": 2, "objective": "unbiased"}),
        (["--mechanism", "best"], "Optimal", {"epsilon": 2, "objective": "unbiased"}),
        (["--delta", "1e-6"], "Window", {"epsilon": 2}),
    ):
        args = (people, target, "--column", "age=0:120@2", "--force", *options)
        assert privatize(*args).exit_code == 0
        (facts,) = json.loads((tmp_path / "public.csv.privacy.json").read_text())["columns"]
        assert (facts["mechanism"], facts["parameters"]) == (name, parameters)
