from typing import Any

import pyarrow as pa
import pytest

import inbounds as ib
from inbounds.cli.column import calibrated, describe
from inbounds.cli.failure import UsageError
from inbounds.cli.level import LevelsOption, read_levels, response, typed_columns


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("smoker=no,yes", LevelsOption("smoker", ("no", "yes"), None)),
        ("smoker= no , yes @0.5", LevelsOption("smoker", ("no", "yes"), 0.5)),
        ("x=a=b,c", LevelsOption("x", ("a=b", "c"), None)),
        ('"a=b"=0,1', LevelsOption("a=b", ("0", "1"), None)),
        ('"say ""hi"""=0,1', LevelsOption('say "hi"', ("0", "1"), None)),
        ('x="a, b"," c@1 ","say ""hi"""@2', LevelsOption("x", ("a, b", " c@1 ", 'say "hi"'), 2.0)),
        ("x=ä,日本", LevelsOption("x", ("ä", "日本"), None)),
    ],
)
def test_levels_are_read_as_they_are_typed(text: str, expected: LevelsOption) -> None:
    assert read_levels(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("", "smoker", "=no,yes", "x=a,b@", "x=a,b@high", "x=a,b@0,5", "x=a@1,b", 'x="a,b'),
        *('x=a"b,c', 'x="a"b,c', '"x=a,b', "x=a,b@0.1@0.2", "x=a,b@0.30000000000000001"),
    ],
)
def test_what_could_be_read_in_two_ways_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--levels must be NAME=LEVEL,LEVEL"):
        read_levels(text)


@pytest.mark.parametrize(
    ("levels", "options", "message"),
    [
        (["x=a"], {}, "--levels 'x': levels must be 2 to 65536"),
        (["x=a,a"], {}, "--levels 'x': levels must be distinct"),
        (["x=a,,b"], {}, "--levels 'x': levels must not be blank"),
        (["x=a,b@-1"], {"epsilon": None}, "--levels 'x': epsilon must be"),
        (["x=a,b", "x=a,b"], {}, "--levels 'x' must be given once"),
        (["age=a,b"], {"texts": ["age=0:120"]}, "--levels 'age' must be given once"),
        (["x=a,b"], {"delta": 1e-6}, "--delta is for columns of numbers"),
        (["x=a,b"], {"mechanism": "window"}, "--mechanism is for columns of numbers"),
        (["x=a,b"], {"objective": "worst"}, "--objective is for columns of numbers"),
        (["x=a,b"], {"epsilon": None}, "--epsilon must be given"),
        ([], {}, "--column or --levels must be given"),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(levels: Any, options: Any, message: str) -> None:
    arguments = {"texts": [], "epsilon": 1.0, "delta": None} | options
    with pytest.raises(UsageError) as caught:
        calibrated(**arguments, levels=levels)
    assert message in str(caught.value)


def test_numbers_and_categories_share_the_epsilon_of_a_row_and_numbers_its_delta() -> None:
    columns = calibrated(["age=0:9"], 1.0, 1e-6, "bounded-gaussian", levels=["x=a,b", "y=0,1@0.5"])
    assert [column.guarantee.stated() for column in columns] == [
        {"epsilon": 0.25, "delta": 1e-6},
        {"epsilon": 0.25},
        {"epsilon": 0.5},
    ]
    facts = describe(columns, "error")
    assert facts["columns"][1]["levels"] == ["a", "b"]
    assert facts["columns"][1]["mechanism"] == "RandomizedResponse"
    assert facts["columns"][0]["certificate"] is not None
    pure = describe(calibrated(["age=0:9"], 1.0, None, levels=["x=a,b", "y=0,1@0.5"]), "error")
    assert 0.999 < pure["row"]["pure_epsilon"] <= 1


INTEGER, TEXT, TRUTH = pa.int16(), pa.string(), pa.bool_()


@pytest.mark.parametrize(
    ("texts", "kind", "forms", "expected"),
    [
        ("0,1", INTEGER, ("parquet", "csv"), (0, 1)),
        ("-3,10", pa.dictionary(pa.int8(), pa.int64()), ("arrow", "arrow"), (-3, 10)),
        ("0,1", TEXT, ("parquet", "parquet"), ("0", "1")),
        ("no,yes", pa.dictionary(pa.int8(), TEXT), ("arrow", "csv"), ("no", "yes")),
        ("FALSE,true", TRUTH, ("parquet", "parquet"), (False, True)),
        ("True,False", TRUTH, ("arrow", "parquet"), (True, False)),
        ("0,1", TEXT, ("csv", "csv"), ("0", "1")),
        ("0,1", TEXT, ("csv", "parquet"), (0, 1)),
        ("01,1", TEXT, ("csv", "parquet"), ("01", "1")),
        ("-0,1", TEXT, ("csv", "parquet"), ("-0", "1")),
        ("true,False", TEXT, ("csv", "arrow"), (True, False)),
        ("true,false,maybe", TEXT, ("csv", "arrow"), ("true", "false", "maybe")),
    ],
)
def test_levels_get_the_type_of_their_column(
    texts: str, kind: Any, forms: Any, expected: Any
) -> None:
    columns = calibrated([], 1.0, None, levels=[f"x={texts}"])
    (column,) = typed_columns(columns, pa.schema({"x": kind}), forms)
    assert column.mechanism.levels == expected  # type: ignore[union-attr]
    assert [type(level) for level in column.mechanism.levels] == [  # type: ignore[union-attr]
        type(level) for level in expected
    ]
    assert column.texts == tuple(texts.split(","))
    assert column.mechanism.epsilon == 1.0


@pytest.mark.parametrize(
    ("texts", "kind", "message"),
    [
        ("no,yes", INTEGER, "--levels 'x' must be integers, as the column holds."),
        ("0,1.0", INTEGER, "--levels 'x' must be integers, as the column holds."),
        ("0,1", TRUTH, "--levels 'x' must be false and true, as the column holds."),
        ("true,false,maybe", TRUTH, "--levels 'x' must be false and true, as the column holds."),
        ("true,TRUE", TRUTH, "--levels 'x' must be false and true, as the column holds."),
        ("1,9007199254740993", pa.int64(), "--levels 'x': levels must be integers from -2**53"),
        ("1,99999999999999999999", pa.uint64(), "--levels 'x': levels must be integers that one"),
    ],
)
def test_levels_that_a_column_cannot_hold_are_refused(texts: str, kind: Any, message: str) -> None:
    columns = calibrated([], 1.0, None, levels=[f"x={texts}"])
    with pytest.raises(UsageError) as caught:
        typed_columns(columns, pa.schema({"x": kind}), ("parquet", "parquet"))
    assert message in str(caught.value)


def test_what_is_built_is_what_python_builds() -> None:
    assert response(read_levels("x=a,b"), 2.0) == ib.RandomizedResponse(["a", "b"], epsilon=2.0)
