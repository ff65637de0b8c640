import json
from pathlib import Path
from typing import Any

import pytest

import inbounds as ib
from inbounds.cli import column
from inbounds.errors import ArgumentError, ArgumentTypeError, CertificateError
from inbounds.frames.reading import sidecar
from inbounds.frames.reading.sidecar import private_columns, read_sidecar

AGE = ib.Window(ib.Box(0, 120), 120, epsilon=1.0)


def written(*texts: str, mechanism: str | None = None, nulls: str = "keep") -> dict[str, Any]:
    facts = column.describe(column.calibrated(list(texts), 1.0, None, mechanism), nulls)
    return dict(json.loads(json.dumps(facts)))


def test_what_privatize_writes_is_read() -> None:
    facts = written("age=0:120:1", "pay=0:2e5", nulls="uniform")
    read = read_sidecar(json.dumps(facts))
    assert read.nulls == "uniform"
    expected = column.calibrated(["age=0:120:1", "pay=0:2e5"], 1.0, None)
    assert dict(read.mechanisms) == {one.name: one.mechanism for one in expected}
    assert (column.SIDECAR, column.SIDECAR_VERSION) == (sidecar.FORMAT, sidecar.VERSION)


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        (("format",), "x"),
        (("version",), 2),
        (("version",), True),
        (("version",), 1.0),
        (("nulls",), "drop"),
        (("nulls",), ["keep"]),
        (("columns",), []),
        (("columns",), 3),
        (("columns", 0), "age"),
        (("columns", 0, "name"), 3),
        (("columns", 0, "document"), {}),
        (("columns", 0, "pure_epsilon"), 0.1),
        (("columns", 0, "document", "version"), 2),
        (("columns", 0, "document", "parameters", "epsilon"), 100.0),
        (("columns", 0, "document", "parameters", "epsilon"), -1),
        (("columns", 0, "document", "domain"), {"lower": [0], "upper": [1], "step": None}),
    ],
)
def test_a_file_with_something_wrong_is_refused(path: Any, wrong: Any) -> None:
    facts = written("age=0:120:1")
    place: Any = facts
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = wrong
    with pytest.raises((ArgumentError, ArgumentTypeError)):
        read_sidecar(json.dumps(facts))


@pytest.mark.parametrize("text", ["", "{}", "[", "[" * 100_000, "3", '{"format": NaN}'])
def test_text_that_is_no_such_file_is_refused(text: str) -> None:
    with pytest.raises(ArgumentError, match="columns must be a file written by inbounds privatize"):
        read_sidecar(text)


def test_a_column_must_not_occur_twice() -> None:
    facts = written("age=0:120:1")
    facts["columns"] *= 2
    with pytest.raises(ArgumentError, match="twice"):
        read_sidecar(json.dumps(facts))


def test_a_table_that_does_not_give_its_epsilon_is_refused() -> None:
    facts = written("age=0:120:1", mechanism="optimal")
    facts["columns"][0]["document"]["parameters"]["epsilon"] = 0.5
    with pytest.raises(CertificateError):
        read_sidecar(json.dumps(facts))


def test_columns_are_a_mapping_or_a_file(tmp_path: Path) -> None:
    path = tmp_path / "x.csv.privacy.json"
    path.write_text(json.dumps(written("age=0:120", nulls="keep")))
    assert private_columns(path) == private_columns(str(path), "keep")
    assert private_columns(path).mechanisms == {"age": AGE}
    assert private_columns({"age": AGE}, "uniform").nulls == "uniform"
    with pytest.raises(ArgumentError, match="nulls must be 'keep' here"):
        private_columns(path, "error")
    with pytest.raises(ArgumentError, match="nulls must be one of"):
        private_columns({"age": AGE}, "drop")
    with pytest.raises(FileNotFoundError):
        private_columns(tmp_path / "missing.json")


@pytest.mark.parametrize(
    ("columns", "error"),
    [
        ({}, ArgumentError),
        ([("age", AGE)], ArgumentTypeError),
        ({3: AGE}, ArgumentTypeError),
        ({"age": 1.0}, ArgumentTypeError),
        ({"age": ib.BoundedGaussian(ib.Box([0, 0], [1, 1]), 1, 1.0)}, ArgumentError),
    ],
)
def test_other_columns_are_refused(columns: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        private_columns(columns)
