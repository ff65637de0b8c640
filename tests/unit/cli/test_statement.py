import pytest

from inbounds import Box
from inbounds.cli.column import calibrated, describe
from inbounds.cli.statement import described_types, release_statement, row_statement
from inbounds.guarantee import Amount


def facts(nulls="error", **more):
    columns = calibrated(["age=0:120"], 1.0, None, "bounded-laplace")
    return describe(columns, nulls) | {"rows": 2, "types": "kept"} | more


def test_without_rows_nothing_is_spent():
    assert row_statement(facts(rows=0)) == "Privacy: no row, so nothing was spent."


def test_one_row_is_singular_and_missing_values_are_mentioned():
    text = row_statement(facts("keep", rows=1))
    assert text.startswith("Privacy: 1 row at epsilon=1 each")
    assert "The output shows where values are missing. Other columns are unchanged." in text


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
    told = described_types(forms, others=others)
    assert (told != "kept") == inferred
    assert ("unchanged" in row_statement(facts(types=told))) != inferred


def test_releases_are_counted_and_the_guarantee_is_named():
    text = release_statement(Box(0, 1), Amount(rho=0.5), 3)
    assert text.startswith("Privacy: 3 releases at rho=0.5 each; together 3 times that")
