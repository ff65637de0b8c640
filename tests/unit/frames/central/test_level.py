import pickle
from datetime import date
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.frames.central.level import categories, proportion
from inbounds.frames.central.statistic import count, mean
from inbounds.frames.central.summarize import summarize

ROWS = 300
TABLE = pd.DataFrame(
    {
        "school": ["none", "some", "all"] * (ROWS // 3),
        "smoker": [True, False, False, False, True] * (ROWS // 5),
        "children": [0, 1, 2, 3, 1, 0] * (ROWS // 6),
        "town": ["Ulm", "Rom"] * (ROWS // 2),
    }
)
SCHOOL = ["all", "some", "none"]
CLOSE: dict[str, Any] = {"rho": 1e10}


def test_levels_are_counted_in_the_order_given() -> None:
    result = summarize(TABLE, categories("school", SCHOOL), "town", ["Rom"], **CLOSE)
    rows = TABLE[TABLE["town"] == "Rom"]["school"].value_counts()
    assert result["level"].tolist() == SCHOOL
    assert result["value"].tolist() == [rows[level] for level in SCHOOL]
    assert set(result["statistic"]) == {"categories"}


@pytest.mark.parametrize("change", [{}, {"school": "other"}, {"school": None}])
def test_a_value_that_is_no_level_belongs_to_none(change: dict[str, Any]) -> None:
    table = TABLE.assign(school=TABLE["school"].where(TABLE.index >= 30, change.get("school", "?")))
    asked = categories("school", SCHOOL, complete=False)
    result = summarize(table, asked, nulls="skip", **CLOSE)
    assert result["value"].sum() == ROWS - 30


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("epsilon", [0.01, 1.0])
def test_counts_add_up_to_a_public_size(*, complete: bool, epsilon: float) -> None:
    asked = [count(), categories("school", SCHOOL, complete=complete)]
    result = summarize(TABLE, asked, epsilon=epsilon)
    levels = result[result["statistic"] == "categories"]
    assert (levels["value"] >= 0).all()
    assert (levels["value"] % 1 == 0).all()
    assert (levels["lower"] <= levels["value"]).all()
    assert (levels["value"] <= levels["upper"]).all()
    total = levels["value"].sum()
    assert total == ROWS if complete else total <= ROWS


def test_a_proportion_is_the_mean_of_truths_and_of_ones() -> None:
    result = summarize(TABLE, proportion("smoker"), "town", ["Ulm"], **CLOSE)
    truth = TABLE[TABLE["town"] == "Ulm"]["smoker"].mean()
    assert result["value"].tolist() == pytest.approx([truth], abs=1e-4)
    ones = TABLE.assign(smoker=TABLE["smoker"].astype(int))
    assert summarize(ones, proportion("smoker"), **CLOSE)["value"][0] == pytest.approx(
        TABLE["smoker"].mean(), abs=1e-4
    )
    noisy = summarize(TABLE, proportion("smoker"), "town", ["Ulm"], epsilon=1e-3)
    assert noisy["value"].between(0, 1).all()


@pytest.mark.parametrize(
    "make",
    [
        pd.DataFrame,
        lambda data: pd.DataFrame(data).assign(smoker=lambda f: f["smoker"].astype("boolean")),
        lambda data: pd.DataFrame(data).assign(smoker=lambda f: f["smoker"].astype(object)),
        pl.DataFrame,
        pl.LazyFrame,
        pa.table,
    ],
)
def test_truths_are_read_in_every_type(make: Any) -> None:
    result = summarize(make(TABLE.to_dict("list")), proportion("smoker"), **CLOSE)
    values = nw.from_native(result)["value"].to_list()
    assert values == pytest.approx([0.4], abs=1e-4)


def test_one_column_may_be_counted_twice_and_grouped_by() -> None:
    asked = [categories("town", ["Ulm", "Bern"], complete=False), categories("town", ["Rom"])]
    result = summarize(TABLE, asked, "town", ["Ulm"], **CLOSE)
    assert result["value"].tolist() == [ROWS / 2, 0, 0]


def test_levels_of_several_types_are_written_as_text() -> None:
    asked = [categories("school", SCHOOL), categories("children", [0, 3], complete=False)]
    result = summarize(TABLE, [*asked, mean("children", 0, 3)], **CLOSE)
    assert result["level"].tolist()[:-1] == [*SCHOOL, "0", "3"]
    assert result["value"].tolist()[:-1] == [100, 100, 100, 100, 50]
    alone = summarize(TABLE, categories("children", np.array([3, 0])), **CLOSE)
    assert alone["level"].tolist() == [3, 0]


@pytest.mark.parametrize(
    ("statistic", "argument"),
    [
        (categories("school", [1, 2]), "levels"),
        (categories("children", ["1"]), "levels"),
        (proportion("school"), "column 'school'"),
        (categories("height", ["a"]), "statistics"),
    ],
)
def test_a_column_of_another_type_is_refused(statistic: Any, argument: str) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError)) as failure:
        summarize(TABLE, statistic, epsilon=1.0)
    assert failure.value.argument == argument


def test_levels_of_floats_are_refused_with_a_way_out() -> None:
    table = TABLE.assign(children=TABLE["children"] / 2)
    with pytest.raises(ArgumentTypeError, match=r"^column 'children' must hold .* to count"):
        summarize(table, categories("children", [1]), epsilon=1.0)


@pytest.mark.parametrize(
    "levels", [[], ["a", "a"], "ab", {"a"}, [1.5], ["a", 1], [True, 1], [None], 7, [["a"]]]
)
def test_wrong_levels_are_refused_by_name(levels: Any) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError)) as failure:
        categories("school", levels)
    assert failure.value.argument == "levels"


@pytest.mark.parametrize("make", [proportion, lambda column: categories(column, ["a"])])
@pytest.mark.parametrize("column", ["", -1, None])
def test_a_column_has_a_name(make: Any, column: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"^column must be the name"):
        make(column)


def test_these_statistics_are_plain_data() -> None:
    asked = categories("when", [date(2026, 1, 1)], complete=False)
    assert repr(asked) == "categories('when', [datetime.date(2026, 1, 1)], complete=False)"
    for statistic in (asked, proportion("smoker"), categories("school", SCHOOL)):
        copy = pickle.loads(pickle.dumps(statistic))
        assert copy == statistic
        assert hash(copy) == hash(statistic)
    assert categories("school", SCHOOL) != categories("school", SCHOOL[:2])
