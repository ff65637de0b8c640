"""Summaries of any engine are drawn; other tables are refused, and not shown."""

from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.frames import (
    categories,
    count,
    histogram,
    mean,
    median,
    plot_summary,
    quantile,
    summarize,
)

TABLE = pa.table({"age": [17, 41, 68] * 50, "town": ["Ulm", "Rom", "Ulm"] * 50})
ASKED = [
    count(),
    mean("age", 0, 120),
    median("age", 0, 120),
    quantile("age", [0.25, 0.75], 0, 120),
    histogram("age", [0, 60, 120]),
    categories("town", ["Ulm", "Rom"]),
]
FRAMES = {
    "pandas": TABLE.to_pandas(),
    "pandas of arrow": TABLE.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.DataFrame(pl.from_arrow(TABLE)),
    "polars lazy": pl.DataFrame(pl.from_arrow(TABLE)).lazy(),
    "arrow": TABLE,
    "duckdb": duckdb.connect().from_arrow(TABLE),
}


@pytest.mark.parametrize("engine", FRAMES)
def test_a_summary_of_any_engine_is_drawn(engine: str) -> None:
    result = summarize(FRAMES[engine], ASKED, epsilon=1.0)
    titles = [axes.get_title() for axes in plot_summary(result).axes]
    assert titles == ["count", "mean of age", "quantiles of age", "", ""]


def test_groups_are_named_by_all_columns_that_split_the_rows() -> None:
    days = pd.DataFrame({"day": [date(2026, 1, 31)] * 9, "q": ["a"] * 9})
    result = summarize(days, count(), by=["day", "q"], groups=[(date(2026, 1, 31), "a")], rho=1.0)
    figure = plot_summary(result)
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == ["2026-01-31, a"]
    assert figure.get_suptitle() == "Private statistics by day, q with 95 % intervals"


def test_some_rows_of_a_summary_are_drawn() -> None:
    result = summarize(TABLE.to_pandas(), ASKED, by="town", groups=["Ulm", "Rom"], epsilon=1.0)
    figure = plot_summary(result.query("statistic == 'mean'"))
    assert [axes.get_title() for axes in figure.axes] == ["mean of age"]


@pytest.mark.parametrize("name", ["out.png", "out.PDF", "out.svg"])
def test_a_figure_is_saved_in_the_format_of_its_name(tmp_path: Path, name: str) -> None:
    result = summarize(TABLE, count(), by="town", groups=["Ulm"], epsilon=1.0)
    plot_summary(result, tmp_path / name)
    start = {"out.png": b"\x89PNG", "out.PDF": b"%PDF", "out.svg": b"<?xml"}[name]
    assert (tmp_path / name).read_bytes().startswith(start)


def test_another_format_is_refused_before_anything_is_drawn(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"path must be a file that ends in one of .pdf, .png"):
        plot_summary(TABLE, tmp_path / "out.gif")


NUMBERS = {"value": 41.0, "standard_error": 1.0, "lower": 38.5, "upper": 44.0}
ROW = {"town": "Ulm", "statistic": "mean", "column": "age", **NUMBERS, "mechanism": "Window"}


def summary(**changed: Any) -> pd.DataFrame:
    return pd.DataFrame([ROW, ROW | {"statistic": "count", "column": None}]).assign(**changed)


@pytest.mark.parametrize(
    "table",
    [
        TABLE,
        summary().drop(columns="mechanism"),
        summary(statistic="secret 77"),
        summary(statistic="histogram"),
        summary(statistic="quantile"),
        summary(statistic=None),
        summary(value=float("nan")),
        summary(value="secret 77"),
        pd.concat([summary(), summary()], axis=1),
    ],
)
def test_a_table_that_is_no_summary_is_refused_and_not_shown(table: Any) -> None:
    with pytest.raises(ArgumentError, match="result must be a table that summarize") as caught:
        plot_summary(table)
    assert "77" not in str(caught.value)


@pytest.mark.parametrize("other", [[1, 2], "secret 77", None, 3.0])
def test_what_is_no_table_is_refused_by_its_type(other: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="what summarize returned, got ") as caught:
        plot_summary(other)
    assert "77" not in str(caught.value)


def test_no_rows_and_too_many_groups_are_refused() -> None:
    with pytest.raises(ArgumentError, match="result must have at least one row"):
        plot_summary(summary().head(0))
    assert plot_summary(summary()).axes
    many = pd.concat([summary(town=f"{i}") for i in range(201)])
    with pytest.raises(ArgumentError, match="at most 200 groups"):
        plot_summary(many)
