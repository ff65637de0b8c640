import io
from contextlib import redirect_stderr
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import inbounds as ib
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.frames.reading import block, group
from inbounds.frames.reading.estimate import estimate
from inbounds.sampling.entropy import SeededEntropy

AGES = ib.Window(ib.Box(0, 120), 120, epsilon=2.0)
STEPS = ib.Optimal(ib.Box(0, 7, step=1), 7, epsilon=2.0, objective="unbiased")
ROWS = 4000


def private(**more: Any) -> pd.DataFrame:
    """Values 30 in Rom and 80 in Ulm, made private."""
    towns = np.array(["Rom", "Ulm"] * (ROWS // 2))
    values = np.where(towns == "Rom", 30.0, 80.0)
    days = np.where(towns == "Rom", 1, 6)
    return pd.DataFrame(
        {
            "age": AGES.release(values, entropy=SeededEntropy(1)),
            "days": STEPS.release(days, entropy=SeededEntropy(2)),
            "town": towns,
        }
        | more
    )


def test_means_quantiles_and_histograms_of_groups_are_near_the_truth() -> None:
    """Each interval is at 1 - 1e-6, and the seeds are fixed."""
    result = estimate(
        private(),
        {"age": AGES, "days": STEPS},
        by="town",
        quantiles=[0.5],
        histogram={"age": [0, 60, 120]},
        level=1 - 1e-6,
    )
    assert list(result) == [
        *("town", "statistic", "column", "q", "bin_lower", "bin_upper"),
        *("value", "standard_error", "lower", "upper"),
    ]
    truth = {
        ("Rom", "age"): (30, 30, [1, 0]),
        ("Ulm", "age"): (80, 80, [0, 1]),
        ("Rom", "days"): (1, 1, []),
        ("Ulm", "days"): (6, 6, []),
    }
    for (town, column), (mean, median, fractions) in truth.items():
        part = result[(result["town"] == town) & (result["column"] == column)]
        assert part["statistic"].tolist() == ["count", "mean", "quantile"] + ["histogram"] * len(
            fractions
        )
        values = [ROWS // 2, mean, median, *fractions]
        assert (part["lower"] <= np.array(values) + 1e-9).all()
        assert (part["upper"] >= np.array(values) - 1e-9).all()
        assert ((part["lower"] <= part["value"]) & (part["value"] <= part["upper"])).all()
        assert part["standard_error"].notna().tolist() == [True, True] + [False] * (len(part) - 2)
    naive = private().groupby("town")["age"].mean()
    assert naive["Rom"] > 40  # what a plain average says, of people who are all 30


def test_the_mean_is_that_of_deconvolve_and_so_is_the_quantile() -> None:
    frame = private()
    result = estimate(frame, {"age": AGES}, quantiles=0.25)
    expected = ib.deconvolve(frame["age"], AGES, bootstrap=0)
    rows = result.set_index("statistic")
    assert rows.loc["mean", "value"] == expected.mean
    ends = rows.loc["mean", ["lower", "upper"]].tolist()
    assert ends == list(expected.interval("mean", 0.95))
    assert rows.loc["quantile", "value"] == expected.quantile(0.25)
    assert rows.loc["quantile", ["lower", "upper"]].tolist() == list(expected.interval(0.25, 0.95))


def test_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = private()
    whole = estimate(frame, {"age": AGES}, by="town", histogram=3)
    monkeypatch.setattr(block, "ROWS", 777)
    pieces = estimate(frame, {"age": AGES}, by="town", histogram=3)
    pd.testing.assert_frame_equal(whole, pieces)


def test_listed_groups_keep_their_order_and_may_be_empty() -> None:
    options: Any = {"quantiles": [0.5], "histogram": 2}
    result = estimate(private(), {"age": AGES}, "town", ["Ulm", "Bern"], **options)
    assert result["town"].unique().tolist() == ["Ulm", "Bern"]
    bern = result[result["town"] == "Bern"]
    assert bern["value"].tolist()[0] == 0
    assert bern["value"][1:].isna().all()
    assert bern["lower"].tolist() == [0, 0, 0, 0, 0]
    assert bern["upper"].tolist() == [0, 120, 120, 1, 1]


def test_several_columns_split_the_rows_and_a_missing_key_is_a_group() -> None:
    years = [2020, 2021] * (ROWS // 4) + [2021, 2020] * (ROWS // 4)
    frame = private(year=years, day=[date(2026, 1, 1), None] * (ROWS // 2))
    result = estimate(frame, {"age": AGES}, by=["town", "year"])
    keys = result[["town", "year"]].drop_duplicates().values.tolist()
    assert keys == [["Rom", 2020], ["Rom", 2021], ["Ulm", 2020], ["Ulm", 2021]]
    assert result["value"][result["statistic"] == "count"].tolist() == [ROWS / 4] * 4
    some = estimate(frame, {"age": AGES}, ["town", "year"], [("Ulm", 2021)])
    assert len(some) == 2
    assert estimate(frame, {"age": AGES}, "day")["day"].isna().tolist() == [False] * 2 + [True] * 2


def test_nulls_are_left_out_only_if_privatize_kept_them() -> None:
    frame = private()
    frame.loc[::4, "age"] = np.nan  # of Rom
    with pytest.raises(ArgumentError, match=r"column 'age' must have no nulls") as caught:
        estimate(frame, {"age": AGES})
    assert 'nulls="keep"' in str(caught.value)
    with pytest.raises(ArgumentError, match="no nulls"):
        estimate(frame, {"age": AGES}, nulls="uniform")
    kept = estimate(frame, {"age": AGES}, nulls="keep")
    expected = ib.deconvolve(frame["age"].dropna(), AGES, bootstrap=0)
    assert kept["value"].tolist() == [ROWS * 3 / 4, expected.mean]


@pytest.mark.parametrize("bad", [-0.5, 120.5, np.inf, -np.inf])
def test_numbers_that_are_no_outputs_are_refused_and_not_shown(bad: float) -> None:
    frame = private()
    frame.loc[7, "age"] = bad
    with pytest.raises(ArgumentError, match="column 'age' must lie in the box") as caught:
        estimate(frame, {"age": AGES})
    assert str(bad) not in str(caught.value)


def test_nan_of_arrow_is_no_null() -> None:
    table = pa.table({"age": [1.0, float("nan")]})
    with pytest.raises(ArgumentError, match="lie in the box"):
        estimate(table, {"age": AGES}, nulls="keep")


def test_too_many_groups_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group, "MOST_GROUPS", 10)
    frame = private(who=np.arange(ROWS) % 11)
    with pytest.raises(ArgumentError, match="at most 10 groups"):
        estimate(frame, {"age": AGES}, by="who")
    assert len(estimate(frame[frame["who"] < 10], {"age": AGES}, by="who")) == 20


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"by": "age"}, "by must name columns that are not private, got 'age'"),
        ({"by": "nowhere"}, "no column 'nowhere'"),
        ({"by": ["town", "town"]}, "twice"),
        ({"by": "value"}, "result adds"),
        ({"groups": ["Rom"]}, "by must be given together with groups"),
        ({"by": "town", "groups": []}, "at least one group"),
        ({"by": "town", "groups": ["Rom", "Rom"]}, "none twice"),
        ({"by": ["town"], "groups": ["Rom"]}, "one value per column"),
        ({"quantiles": [1.5]}, "quantiles must be between 0 and 1"),
        ({"quantiles": [float("nan")]}, "quantiles"),
        ({"histogram": 1}, "histogram"),
        ({"histogram": [3, 2]}, "increasing"),
        ({"histogram": {"town": 3}}, "private columns"),
        ({"level": 1.0}, "level must be strictly between"),
        ({"columns": {"town": AGES}}, "column 'town' must hold numbers"),
        ({"columns": {"nowhere": AGES}}, "no column 'nowhere'"),
        ({"frame": 3}, "frame must be"),
        ({"by": 3}, "by must be"),
        ({"by": "town", "groups": "Rom"}, "groups must be a list"),
        ({"by": "town", "groups": [3]}, "type str"),
        ({"by": "town", "groups": [["Rom"]]}, "groups must be a list"),
        ({"progress": 3}, "progress"),
    ],
)
def test_wrong_arguments_are_named(options: dict[str, Any], words: str) -> None:
    given: dict[str, Any] = {"frame": private(), "columns": {"age": AGES}} | options
    with pytest.raises((ArgumentError, ArgumentTypeError), match=words):
        estimate(**given)


def test_progress_is_shown_only_when_asked_for() -> None:
    for progress in (False, True):
        with redirect_stderr(io.StringIO()) as text:
            estimate(private(), {"age": AGES}, progress=progress)
        assert ("groups" in text.getvalue()) == progress
