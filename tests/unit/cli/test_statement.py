import pytest

from inbounds.cli.column import calibrated, describe
from inbounds.cli.statement import statement, types_told


def facts(nulls="error", **more):
    columns = calibrated(["age=0:120"], 1.0, None, "bounded-laplace")
    return describe(columns, nulls) | {"rows": 2, "types": "kept"} | more


def test_without_rows_nothing_is_spent():
    assert statement(facts(rows=0)) == "Privacy: no row, no release, nothing spent."


def test_one_row_is_one_and_missing_values_are_told():
    text = statement(facts("keep", rows=1))
    assert text.startswith("Privacy: 1 row at epsilon=1 each")
    assert "Where values are missing is published. Other columns are as they were." in text


@pytest.mark.parametrize(
    ("forms", "others", "inferred"),
    [
        (("csv", "csv"), True, False),
        (("csv", "parquet"), True, True),
        (("csv", "arrow"), False, False),
        (("parquet", "arrow"), True, False),
    ],
)
def test_types_are_inferred_from_text_alone(forms, others, inferred):
    told = types_told(forms, others=others)
    assert (told != "kept") == inferred
    assert ("as they were" in statement(facts(types=told))) != inferred
