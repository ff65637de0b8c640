import json
import math

import pytest

import inbounds as ib
from inbounds.calibration.certificate import Certificate
from inbounds.cli.column import (
    asked_epsilon,
    calibrated,
    describe,
    divided_epsilon,
    read_column,
)
from inbounds.cli.failure import UsageError


def test_a_column_has_bounds_and_perhaps_a_step_and_an_epsilon():
    assert read_column("t=-40:5e1") == read_column("t=-40:50")
    assert read_column("age=0:120@0.5").epsilon == 0.5
    assert read_column("age=0:120:1").step == 1
    assert read_column("x:y=z@w=0:1").name == "x:y=z@w"


@pytest.mark.parametrize(
    "text", ["age", "age=", "0:1", "age=0", "age=0:1:2:3", "age=a:b", "age=0:1@", "age=0:1@x"]
)
def test_another_form_is_refused(text):
    with pytest.raises(UsageError, match="--column must be NAME=LOW:HIGH"):
        read_column(text)


def test_the_epsilon_of_a_row_is_divided_and_never_exceeded():
    for count in range(1, 40):
        assert math.fsum(divided_epsilon([None] * count, 0.7)) <= 0.7
    assert divided_epsilon([0.25, None], 1.0)[1] == pytest.approx(0.75, abs=1e-11)
    assert divided_epsilon([0.25, 0.5], None) == [0.25, 0.5]
    assert divided_epsilon([0.1, 0.2], 0.3) == [0.1, 0.2]


@pytest.mark.parametrize(
    ("own", "epsilon"), [([0.6, 0.6], 1.0), ([1.0, None], 1.0), ([2.0, None], 1.0)]
)
def test_columns_cannot_have_more_than_their_row(own, epsilon):
    with pytest.raises(UsageError, match="--epsilon is for all columns of a row together"):
        divided_epsilon(own, epsilon)


def test_an_epsilon_must_come_from_somewhere():
    with pytest.raises(UsageError, match="--epsilon must be given"):
        divided_epsilon([0.5, None], None)


def test_each_mechanism_hides_any_change_at_its_part_of_epsilon():
    age, pay = calibrated(["age=0:120:1", "pay=0:2e5@0.75"], 1.0, None, "bounded-gaussian")
    assert age.mechanism.domain == ib.Box(0, 120, step=1)
    assert age.mechanism.epsilon == pytest.approx(0.25)
    assert pay.mechanism.epsilon == pytest.approx(0.75)
    assert pay.mechanism.sensitivity == ib.L2(2e5)


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (["age=5:1"], {}, "'age': upper must be above lower"),
        (["age=0:1:7"], {}, "'age': step must be at most"),
        (["age=0:inf"], {}, "'age': upper must be finite"),
        (["age=0:1@-1"], {"epsilon": None}, "'age': epsilon must be positive"),
        (["age=0:1", "age=0:2"], {}, "'age' must be given once"),
        (["age=0:1"], {"epsilon": -1.0}, "^epsilon must be positive"),
        (["age=0:1"], {"epsilon": math.nan}, "^epsilon must be finite"),
        (["age=0:1", "x=0:1"], {"delta": 1.5}, "^delta must be below 1, got delta=1.5"),
        (
            ["age=0:1"],
            {"mechanism": "bounded-laplace", "delta": 1e-6},
            "delta must not be given with",
        ),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(columns, options, message):
    given = {"epsilon": 1.0, "delta": None, "mechanism": "bounded-gaussian"} | options
    with pytest.raises((UsageError, ib.ArgumentError), match=message):
        calibrated(columns, **given)


def test_the_guarantee_of_a_row_is_that_of_its_columns_together():
    columns = calibrated(["age=0:120:1", "pay=0:2e5", "x=-1:1"], 1.0, None, "bounded-laplace")
    facts = describe(columns, "error")
    assert facts["unit"] == {"change": "replace", "of": "row", "count": 1}
    row = facts["row"]
    assert row["pure_epsilon"] <= 1
    assert row["pure_epsilon"] == pytest.approx(1)
    assert row["pure_epsilon"] >= sum(one["pure_epsilon"] for one in facts["columns"])
    assert 0 < row["rho"] < 0.5  # of pure epsilon 1
    assert facts["columns"][0]["step"] == 1
    assert facts["columns"][1]["bounds"] == [0, 2e5]


def test_certificates_prove_what_is_stated():
    (facts,) = describe(calibrated(["age=0:120"], 1.0, None, "bounded-gaussian"), "error")[
        "columns"
    ]
    proof = Certificate.from_json(json.dumps(facts["certificate"]))
    proof.check()
    assert proof.epsilon <= 1
    assert proof.rows[0].scale == facts["scale"]


def test_a_delta_is_divided_too_and_the_row_keeps_what_was_asked():
    columns = calibrated(["age=0:120", "pay=0:2e5"], 1.0, 1e-6, "bounded-gaussian")
    for one in columns:
        assert one.mechanism.delta(0.5) <= 5e-7
    requested = describe(columns, "error")["row"]["requested"]
    assert requested["epsilon"] == pytest.approx(1)
    assert requested["epsilon"] <= 1
    assert requested["delta"] <= 1e-6


def test_a_mechanism_without_proofs_has_none():
    columns = calibrated(["age=0:120"], 1.0, None, "clamped-laplace")
    assert describe(columns, "keep")["columns"][0]["certificate"] is None
    assert "where values are missing" in describe(columns, "keep")["guarantee"]


def test_the_guarantee_speaks_of_delta_where_there_is_one():
    pure = calibrated(["age=0:120"], 1.0, None, "bounded-gaussian")
    relaxed = calibrated(["age=0:120"], 1.0, 1e-6, "bounded-gaussian")
    assert "delta" not in describe(pure, "error")["guarantee"]
    assert "a further delta" in describe(relaxed, "error")["guarantee"]


@pytest.mark.parametrize(
    ("columns", "epsilon", "parts", "row"),
    [
        (["a=0:1", "b=0:1"], 1.0, [0.5, 0.5], 1.0),
        (["a=0:1", "b=0:1", "c=0:1"], 1.0, [1 / 3, 1 / 3, 1 / 3], 1.0),
        (["a=0:1@0.1", "b=0:1@0.2"], None, [0.1, 0.2], 0.3),
        (["a=0:1@0.1", "b=0:1"], 0.3, [0.1, 0.2], 0.3),
        (["a=0:1@0.1", "b=0:1@0.2"], 0.5, [0.1, 0.2], 0.3),
    ],
)
def test_the_file_beside_the_output_says_what_was_asked(
    columns: list[str], epsilon: float | None, parts: list[float], row: float
) -> None:
    facts = describe(calibrated(columns, epsilon, None, "bounded-laplace"), "error")
    assert facts["row"]["requested"] == {"epsilon": row}
    assert [column["requested"] for column in facts["columns"]] == [{"epsilon": p} for p in parts]
    assert facts["row"]["pure_epsilon"] <= row * (1 + 1e-12)
    assert asked_epsilon([None, None], 0.7) == ([0.35, 0.35], 0.7)


def test_the_delta_that_was_asked_is_beside_the_output_too() -> None:
    facts = describe(calibrated(["a=0:1", "b=0:1"], 1.0, 1e-6, "bounded-gaussian"), "error")
    assert facts["row"]["requested"] == {"epsilon": 1.0, "delta": 1e-6}
    assert facts["columns"][0]["requested"] == {"epsilon": 0.5, "delta": 5e-7}
