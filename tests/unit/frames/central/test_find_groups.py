import datetime
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from inbounds.accounting.ledger import Ledger
from inbounds.errors import (
    ArgumentError,
    ArgumentTypeError,
    BudgetExceededError,
    WeakGuaranteeWarning,
)
from inbounds.frames.central.find_groups import find_groups
from inbounds.frames.central.statistic import count
from inbounds.frames.central.summarize import summarize
from inbounds.unit import Unit

PRICE: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-9}
TOWNS = ["Ulm", "Rom", "Bern", "rom"]
DATA = {
    "town": [*TOWNS * 200, "Tiny"],
    "year": [*[2020, 2021] * 400, 2020],
    "who": [*np.arange(800).tolist(), 0],
}


def frame() -> pd.DataFrame:
    return pd.DataFrame(DATA)


@pytest.mark.parametrize(
    "make",
    [
        pd.DataFrame,
        pl.DataFrame,
        pl.LazyFrame,
        pa.table,
        lambda data: duckdb.connect().from_arrow(pa.table(data)),
    ],
    ids=["pandas", "polars", "lazy", "arrow", "duckdb"],
)
@pytest.mark.parametrize("options", [{}, {"id": "who"}, {"adjacency": "add-remove", "rows": 2}])
def test_large_groups_are_found_in_order_and_small_ones_are_not(
    make: Any, options: dict[str, Any]
) -> None:
    """A group of one row is found with a probability below 1e-9."""
    assert find_groups(make(DATA), "town", **PRICE, **options) == sorted(TOWNS)
    pairs = find_groups(make(DATA), ["town", "year"], **PRICE, **options)
    assert pairs == [("Bern", 2020), ("Rom", 2021), ("Ulm", 2020), ("rom", 2021)]


def test_a_group_needs_more_rows_if_rows_are_replaced() -> None:
    """With 28 rows, about 3 in 5 groups are found; all 80 of them once in 10¹⁶ runs, or none."""
    table = pd.DataFrame({"key": np.arange(80 * 28) % 80})
    price: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6}
    assert len(find_groups(table, "key", **price, adjacency="add-remove")) == 80
    assert 0 < len(find_groups(table, "key", **price)) < 80
    assert find_groups(table, "key", **price, adjacency="add-remove", rows=20) == []


def test_what_is_found_can_be_summarized() -> None:
    found = find_groups(frame(), ["town"], **PRICE)
    assert found == [(town,) for town in sorted(TOWNS)]
    counts = summarize(frame(), count(), ["town"], found, rho=1e12)["value"]
    assert counts.round().tolist() == [200] * 4


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([True, False], [False, True]),
        ([10, 9, -1], [-1, 9, 10]),
        ([datetime.date(2026, 5, 1), datetime.date(2025, 6, 1)], None),
    ],
)
def test_groups_are_values_of_their_own_type_in_their_own_order(
    values: list[Any], expected: list[Any] | None
) -> None:
    for make in (pd.DataFrame, pl.DataFrame, pa.table):
        found = find_groups(make({"key": values * 300}), "key", **PRICE)
        assert found == (expected or sorted(values))
        assert {type(value) for value in found} == {type(values[0])}


def test_a_table_without_groups_has_none() -> None:
    empty = pl.DataFrame({"town": pl.Series([], dtype=pl.String)})
    assert find_groups(empty, "town", **PRICE) == []
    assert find_groups(pd.DataFrame({"town": [None] * 9}), "town", **PRICE) == []


def test_a_delta_of_zero_is_refused() -> None:
    with pytest.raises(ArgumentError, match="delta must be above 0 to find groups") as caught:
        find_groups(frame(), "town", epsilon=1.0, delta=0)
    assert caught.value.hint is not None


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"delta": 1.0}, "delta"),
        ({"delta": -0.1}, "delta"),
        ({"adjacency": "swap"}, "adjacency"),
        ({"rows": 0}, "rows"),
        ({"id": 3}, "id"),
        ({"id": "nobody"}, "id"),
        ({"ledger": object(), "dataset": "d"}, "ledger"),
        ({"dataset": "d"}, "ledger"),
        ({"label": "x"}, "label"),
        ({"epsilon": 1e-30}, "epsilon"),
    ],
)
def test_wrong_arguments_are_refused_by_name(options: dict[str, Any], argument: str) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError)) as caught:
        find_groups(frame(), "town", **(PRICE | options))
    assert caught.value.argument == argument


@pytest.mark.parametrize("by", [None, [], ["town", "town"], 3, ["nowhere"], "nowhere"])
def test_by_names_columns(by: Any) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError)) as caught:
        find_groups(frame(), by, **PRICE)
    assert caught.value.argument == "by"


def test_epsilon_and_delta_have_no_default() -> None:
    with pytest.raises(ArgumentTypeError, match="epsilon and delta must be given"):
        find_groups(frame(), "town")  # type: ignore[call-arg]


def test_columns_that_cannot_be_grouped_by_are_refused_without_a_value() -> None:
    table = pl.DataFrame({"x": [1234.5, 0.5], "who": [None, "Secretaria"]})
    with pytest.raises(ArgumentTypeError, match="column 'x' must hold strings"):
        find_groups(table, "x", **PRICE)
    with pytest.raises(ArgumentError, match="column 'who' must have no nulls") as caught:
        find_groups(table.with_columns(town=pl.lit("Ulm")), "town", id="who", **PRICE)
    assert "Secretaria" not in str(caught.value)


def test_a_weak_guarantee_warns() -> None:
    with pytest.warns(WeakGuaranteeWarning, match="delta"):
        find_groups(frame(), "town", epsilon=1.0, delta=0.1)


def test_a_ledger_is_charged_once_with_the_unit_and_a_label(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("d", epsilon=2.0, delta=1e-6, unit=Unit("replace", "person"))
    found = find_groups(
        frame(), "town", id="who", epsilon=0.5, delta=1e-7, ledger=ledger, dataset="d"
    )
    assert set(found) <= set(TOWNS)
    (record,) = ledger.records("d")
    assert record["label"] == "find_groups('town')"
    assert record["asked"] == "epsilon=0.5, delta=1e-07"
    assert ledger.remaining("d").epsilon == 1.5
    summarize(
        frame(), count(), "town", TOWNS, id="who", size=900, epsilon=1.0, ledger=ledger, dataset="d"
    )
    assert ledger.remaining("d").epsilon == pytest.approx(0.5)
    with pytest.raises(BudgetExceededError):
        find_groups(frame(), "town", id="who", epsilon=0.6, delta=1e-7, ledger=ledger, dataset="d")
    assert len(ledger.records("d")) == 2


def test_nothing_is_charged_if_the_engine_fails(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("d", epsilon=2.0, delta=1e-6)
    with pytest.raises(ArgumentError):
        find_groups(frame(), "nowhere", ledger=ledger, dataset="d", **PRICE)
    assert len(ledger.records("d")) == 0


def test_the_charge_comes_before_the_draw() -> None:
    class Refusing:
        def spend(self, dataset: str, **charge: Any) -> None:
            assert charge["unit"] == Unit("add-remove", "row", 3)
            assert (charge["epsilon"], charge["delta"]) == (1.0, 1e-9)
            raise BudgetExceededError("no room")

    options: Any = {"adjacency": "add-remove", "rows": 3, "label": "towns"}
    with pytest.raises(BudgetExceededError):
        find_groups(frame(), "town", ledger=Refusing(), dataset="d", **options, **PRICE)
