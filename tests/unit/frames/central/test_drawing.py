import os
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from inbounds.accounting.ledger import Ledger
from inbounds.errors import ArgumentError, BudgetExceededError
from inbounds.frames.central.drawing import fractions
from inbounds.frames.central.quantile import median, quantile
from inbounds.frames.central.request import check_request
from inbounds.frames.central.statistic import count, mean
from inbounds.frames.central.summarize import summarize
from inbounds.unit import Unit

ROWS = 3000
DATA = {
    "age": np.arange(ROWS) % 100,
    "income": np.linspace(0, 2e5, ROWS),
    "town": np.array(["Ulm", "Rom", "Ulm"] * (ROWS // 3)),
    "who": np.arange(ROWS) // 2,
}
ASKED = [
    mean("age", 0, 120),
    median("age", 0, 120),
    quantile("income", [0.75, 0.25], 0, 1e6, interval=True),
]
OPTIONS: list[dict[str, Any]] = [
    {},
    {"by": "town", "groups": ["Rom", "Ulm", "Oslo"]},
    {"adjacency": "add-remove", "size": ROWS},
    {"id": "who", "rows": 2, "size": ROWS},
    {"nulls": "skip"},
    {"outside": "skip"},
]
GUARANTEES = [{"epsilon": 1.0}, {"epsilon": 1.0, "delta": 1e-6}, {"rho": 0.1}]
PLAIN = {"adjacency": "replace", "rows": 1, "person": None, "size": None, "nulls": "error"}


def frame() -> pd.DataFrame:
    return pd.DataFrame(DATA)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("guarantee", GUARANTEES, ids=str)
def test_every_quantile_is_within_its_interval_and_its_bounds(
    options: dict[str, Any], guarantee: dict[str, Any]
) -> None:
    result = summarize(frame(), ASKED, **options, **guarantee)
    assert len(result) == 4 * len(options.get("groups", [0]))
    drawn = result[result["statistic"] != "mean"]
    highs = drawn["column"].map({"age": 120, "income": 1e6})
    assert (drawn["lower"] >= 0).all()
    assert (drawn["lower"] <= drawn["value"]).all()
    assert (drawn["value"] <= drawn["upper"]).all()
    assert (drawn["upper"] <= highs).all()
    assert drawn["standard_error"].isna().all()
    assert result["q"].dropna().unique().tolist() == [0.75, 0.25]


def test_a_tiny_guarantee_gives_intervals_of_the_whole_range() -> None:
    result = summarize(frame(), median("age", 0, 120), epsilon=1e-9)
    assert result[["lower", "upper"]].to_numpy().tolist() == [[0, 120]]


def test_little_noise_gives_the_true_quantiles() -> None:
    asked = [median("age", 0, 120), quantile("age", [0.1, 0.9], 0, 120, step=1)]
    result = summarize(frame(), asked, epsilon=20.0)
    low, middle, high = np.quantile(DATA["age"], [0.1, 0.5, 0.9])
    assert np.abs(result["value"] - [middle, low, high]).max() <= 1


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (pl.DataFrame, pl.DataFrame),
        (pl.LazyFrame, pl.DataFrame),
        (pa.table, pa.Table),
        (lambda data: duckdb.from_arrow(pa.table(data)), pa.Table),
    ],
)
def test_every_engine_returns_empty_cells_where_there_is_no_number(make: Any, kind: Any) -> None:
    asked = [quantile("age", [0.5, 0.9], 0, 120), median("income", 0, 1e6)]
    result = summarize(make(DATA), asked, by="town", groups=["Ulm"], epsilon=1.0)
    assert isinstance(result, kind)
    table = result if isinstance(result, pa.Table) else result.to_arrow()
    columns = table.to_pydict()
    assert columns["standard_error"] == [None] * 3
    assert [low is None for low in columns["lower"]] == [True, True, False]
    assert columns["q"] == [0.5, 0.9, None]
    assert str(table.schema.field("standard_error").type) == "double"


def test_quantiles_alone_need_no_size_and_no_rows() -> None:
    for options in ({"adjacency": "add-remove"}, {"id": "who"}):
        result = summarize(frame()[:0], median("age", 0, 120), epsilon=1.0, **options)
        assert result[["lower", "upper"]].to_numpy().tolist() == [[0, 120]]
    with pytest.raises(ArgumentError, match="size must be given"):
        summarize(frame(), [count(), median("age", 0, 120)], epsilon=1.0, adjacency="add-remove")


def test_a_table_without_rows_is_refused_only_where_that_is_public() -> None:
    with pytest.raises(ArgumentError, match="frame must have at least one row"):
        summarize(frame()[:0], median("age", 0, 120), epsilon=1.0)


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=str)
@pytest.mark.parametrize("asked", [ASKED, ASKED[1:]], ids=len)
@pytest.mark.parametrize("options", OPTIONS[1:3], ids=str)
def test_a_release_is_one_charge_and_fits_in_a_budget_of_its_guarantee(
    options: dict[str, Any], asked: Any, guarantee: dict[str, Any], tmp_path: Any
) -> None:
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("people", **guarantee)
    summarize(frame(), asked, ledger=ledger, dataset="people", **options, **guarantee)
    (entry,) = ledger.records("people")
    assert "median('age', 0, 120)" in entry["label"]
    assert "c0" not in entry["mechanism"]
    with pytest.raises(BudgetExceededError):
        summarize(frame(), asked, ledger=ledger, dataset="people", **options, **guarantee)


def test_the_unit_of_the_charge_is_that_of_the_request(tmp_path: Any) -> None:
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("people", epsilon=1.0, unit=Unit("replace", "person"))
    with pytest.raises(ArgumentError):
        summarize(frame(), ASKED, epsilon=1.0, ledger=ledger, dataset="people")
    how = {"id": "who", "size": ROWS, "ledger": ledger, "dataset": "people"}
    summarize(frame(), ASKED, epsilon=1.0, **how)
    assert len(ledger.records("people")) == 1


def test_no_bit_is_drawn_before_the_charge(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("people", epsilon=0.5)
    drawn = []

    def counted(size: int, draw: Any = os.urandom) -> bytes:
        drawn.append(size)
        return bytes(draw(size))

    monkeypatch.setattr(os, "urandom", counted)
    for asked in (ASKED, ASKED[1:]):
        with pytest.raises(BudgetExceededError):
            summarize(frame(), asked, epsilon=1.0, ledger=ledger, dataset="people")
    assert drawn == []
    summarize(frame(), ASKED[1:], epsilon=0.5, ledger=ledger, dataset="people")
    assert drawn


def test_a_column_may_be_called_q_unless_the_result_needs_the_name() -> None:
    table = frame().rename(columns={"town": "q"})
    result = summarize(table, [mean("age", 0, 120)], by="q", groups=["Ulm"], epsilon=1.0)
    assert result["q"].tolist() == ["Ulm"]
    summarize(table, [median("age", 0, 120)], by="q", groups=["Ulm"], epsilon=1.0)
    with pytest.raises(ArgumentError, match="by must not have the name of a column"):
        summarize(table, quantile("age", 0.5, 0, 120), by="q", groups=["Ulm"], epsilon=1.0)


@pytest.mark.parametrize(
    ("asked", "options", "parts"),
    [
        ([count(), median("a", 0, 1)], {}, [0, 1]),
        ([count(), median("a", 0, 1)], {"adjacency": "add-remove", "size": 9}, [0.5, 0.5]),
        ([mean("a", 0, 1), median("a", 0, 1), quantile("a", [0.1, 0.2], 0, 1)], {}, [1 / 3] * 3),
        ([mean("a", 0, 1)], {}, [1]),
        ([count()], {}, [0]),
    ],
    ids=str,
)
def test_statistics_that_need_noise_have_equal_parts(
    asked: Any, options: dict[str, Any], parts: list[float]
) -> None:
    request = check_request(statistics=asked, by=None, groups=None, **{**PLAIN, **options})
    assert [float(part) for part in fractions(request)] == parts


def test_weights_change_the_parts() -> None:
    asked = [mean("a", 0, 1), median("a", 0, 1)]
    request = check_request(statistics=asked, by=None, groups=None, **PLAIN)
    assert fractions(request, [1.0, 3.0]) == [Fraction(1, 4), Fraction(3, 4)]


def test_the_same_rows_of_a_person_are_used_for_sums_and_quantiles() -> None:
    table = pd.DataFrame({"a": [1.0, 2.0, 3.0] * 500, "who": np.arange(1500) // 3})
    asked = [mean("a", 0, 10), median("a", 0, 10, step=1)]
    result = summarize(table, asked, epsilon=20.0, delta=1e-3, id="who", rows=1, size=500)
    assert np.abs(result["value"] - 2).max() < 0.2


def test_nulls_and_infinities_are_refused_as_for_other_statistics() -> None:
    for bad in (None, np.inf, np.nan):
        table = pl.DataFrame({"a": [1.0, 77.25, bad]})
        with pytest.raises(ArgumentError, match="column 'a' must") as refused:
            summarize(table, median("a", 0, 10), epsilon=1.0)
        assert "77" not in str(refused.value)
    skipped = summarize(
        pl.DataFrame({"a": [1.0] * 500 + [None]}),
        median("a", 0, 10, step=1),
        epsilon=5.0,
        nulls="skip",
    )
    assert skipped["value"].to_list() == [1]
