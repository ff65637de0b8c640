"""Fractions of private categories, by group."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import binom

import inbounds as ib
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.frames.reading.estimate import estimate
from inbounds.frames.reading.level import LevelTally
from inbounds.frames.reading.row import level_rows

LEVELS = ["none", "school", "uni"]
EDUCATION = ib.RandomizedResponse(LEVELS, epsilon=1.5)
SURE = ib.RandomizedResponse(LEVELS, epsilon=80.0)  # never flips
AGES = ib.Window(ib.Box(0, 120), 120, epsilon=2.0)


def private(n: int = 600) -> pd.DataFrame:
    education = EDUCATION.release(np.array(["none", "uni"])[np.arange(n) % 2])
    return pd.DataFrame({"education": education, "town": np.repeat(["Rom", "Ulm"], n // 2)})


def test_the_fractions_of_groups_are_those_of_the_mechanism_itself() -> None:
    frame = private()
    result = estimate(frame, {"education": EDUCATION}, by="town", level=0.9)
    assert list(result) == [
        *("town", "statistic", "column", "level"),
        *("value", "standard_error", "lower", "upper"),
    ]
    for town in ("Rom", "Ulm"):
        part = result[result["town"] == town]
        assert part["statistic"].tolist() == ["count", *["fraction"] * 3]
        assert part["level"].tolist()[1:] == LEVELS
        expected = EDUCATION.estimate(frame["education"][frame["town"] == town])
        assert part["value"].tolist() == [300.0, *expected.fractions.tolist()]
        assert part["standard_error"].tolist()[1:] == expected.standard_errors.tolist()
        low, high = expected.interval(0.9)
        assert part["lower"].tolist()[1:] == np.minimum(low, expected.fractions).tolist()
        assert part["upper"].tolist()[1:] == np.maximum(high, expected.fractions).tolist()


@pytest.mark.parametrize("k", range(2, 6))
def test_every_interval_holds_its_estimate(k: int) -> None:
    """All counts of six outputs; estimates are moved to the simplex, which could leave it."""
    tally = LevelTally(ib.RandomizedResponse(range(k), epsilon=0.5))
    for counts in np.ndindex(*[7] * k):
        if sum(counts) == 6:
            tally.seen = np.array(counts)
            for row in level_rows(tally, 0.5):
                assert 0 <= row["lower"] <= row["value"] <= row["upper"] <= 1


@pytest.mark.parametrize("people", [10, 50])
@pytest.mark.parametrize("shape", ["equal", "skewed"])
def test_intervals_of_many_small_groups_cover(people: int, shape: str) -> None:
    """1000 groups in one call. False alarm below 1e-6; intervals of half the length are refused."""
    groups, m = 1000, ib.RandomizedResponse(LEVELS, epsilon=1.0)
    truth = {"equal": [0.0, 1.0, 0.0], "skewed": [0.02, 0.9, 0.08]}[shape]
    levels = np.random.default_rng().choice(LEVELS, groups * people, p=truth)
    frame = pd.DataFrame({"x": levels, "who": np.repeat(np.arange(groups), people)})
    result = estimate(ib.privatize(frame, {"x": m}), {"x": m}, by="who")
    worst = 1.0
    for level, true in zip(LEVELS, truth, strict=True):
        rows = result[result["level"] == level]
        covered = ((rows["lower"] <= true) & (true <= rows["upper"])).sum()
        assert covered >= binom.ppf(3e-7, groups, 0.95)
        middle, half = (rows["lower"] + rows["upper"]) / 2, (rows["upper"] - rows["lower"]) / 4
        worst = min(worst, ((middle - half <= true) & (true <= middle + half)).mean())
    assert worst * groups < binom.ppf(3e-7, groups, 0.95)


def test_a_group_without_rows_has_fractions_that_say_nothing() -> None:
    result = estimate(private(), {"education": EDUCATION}, "town", ["Bern"])
    assert result["value"].tolist()[0] == 0
    assert result["value"][1:].isna().all()
    assert result["lower"].tolist() == [0, 0, 0, 0]
    assert result["upper"].tolist() == [0, 1, 1, 1]


def test_numbers_and_categories_of_several_types_are_in_one_table() -> None:
    truth = ib.RandomizedResponse([False, True], epsilon=80.0)
    frame = pd.DataFrame({"age": [41.0] * 9, "x": LEVELS * 3, "smoker": [True] * 9})
    columns = {"age": AGES, "x": SURE, "smoker": truth}
    result = estimate(frame, columns)
    statistics = ["count", "mean", "count", *["fraction"] * 3, "count", *["fraction"] * 2]
    assert result["statistic"].tolist() == statistics
    assert result["level"].dropna().tolist() == [*LEVELS, "False", "True"]
    fractions = result["value"][result["statistic"] == "fraction"]
    assert fractions.tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0, 1], abs=1e-12)


def test_missing_levels_are_left_out_or_count_as_random_ones() -> None:
    """At "uniform" a third of each half: the 5000 nulls count 1/6 each. False alarm below 1e-6."""
    frame = pd.DataFrame({"x": ["uni", None] * 5000})
    columns = {"x": SURE}
    kept = ib.privatize(frame, columns, nulls="keep")
    assert estimate(kept, columns, nulls="keep")["value"].tolist() == [5000, 0, 0, 1]
    for nulls in (None, "error", "uniform"):
        with pytest.raises(ArgumentError, match="column 'x' must have no nulls"):
            estimate(kept, columns, nulls=nulls)  # type: ignore[arg-type]
    hidden = estimate(ib.privatize(frame, columns, nulls="uniform"), columns, nulls="uniform")
    assert hidden["value"].tolist()[1:] == pytest.approx([1 / 6, 1 / 6, 2 / 3], abs=0.02)


@pytest.mark.parametrize(
    ("values", "levels"),
    [
        (pd.Categorical(["b", "a", "b"]), ["a", "b"]),
        (pd.array(["b", "a", "b"], "string[python]"), ["a", "b"]),
        (pd.array(["b", "a", "b"], pd.ArrowDtype(pa.string())), ["a", "b"]),
        (pd.array([2, 1, 2], "Int8"), [1, 2]),
        ([2.0, 1.0, 2.0], [1, 2]),
        (["2", "1", "2"], [1, 2]),
        ([2, 1, 2], ["1", "2"]),
        (pd.array([True, False, True], "boolean"), [False, True]),
        (["True", "False", "True"], [False, True]),
        ([True, False, True], ["false", "true"]),
    ],
)
def test_levels_are_recognised_in_any_type(values: Any, levels: Any) -> None:
    m = ib.RandomizedResponse(levels, epsilon=80.0)
    result = estimate(pd.DataFrame({"x": values}), {"x": m})
    assert result["value"].tolist() == pytest.approx([3, 1 / 3, 2 / 3])


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"x": ["uni", "secret"]}),
        pd.DataFrame({"x": ["uni", "Uni"]}),
        pd.DataFrame({"x": [41.5, 1.0]}),
        pl.DataFrame({"x": [1.0, float("nan")]}),
        pd.DataFrame({"x": pd.Categorical(["uni", "secret"])}),
    ],
)
def test_values_that_are_no_levels_are_refused_and_not_shown(frame: Any) -> None:
    with pytest.raises(ArgumentError, match="column 'x' must hold levels of its mechanism") as seen:
        estimate(frame, {"x": SURE}, nulls="keep")
    assert not any(word in str(seen.value) for word in ("secret", "41.5", "Uni"))
    assert seen.value.__context__ is None


@pytest.mark.parametrize(
    "values", [[b"uni"], [["uni"]], [1, "uni"], pd.to_datetime(["2026-01-01"])]
)
def test_columns_that_cannot_hold_levels_are_refused(values: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="column 'x' must hold levels, which are texts"):
        estimate(pd.DataFrame({"x": values}), {"x": SURE})


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"quantiles": 0.5}, "quantiles"),
        ({"histogram": 3}, "histogram"),
        ({"histogram": {"education": 3}}, "histogram"),
    ],
)
def test_quantiles_and_histograms_of_categories_are_refused(options: Any, argument: str) -> None:
    with pytest.raises(ArgumentError, match=f"^{argument} must not be asked of columns") as caught:
        estimate(private(), {"education": EDUCATION}, **options)
    assert "fractions of the levels" in str(caught.value)
    frame = private().assign(age=41.0)
    columns = {"education": EDUCATION, "age": AGES}
    if argument == "histogram" and isinstance(options["histogram"], dict):
        with pytest.raises(ArgumentError, match=r"^histogram must not be asked"):
            estimate(frame, columns, **options)
    else:
        statistics = set(estimate(frame, columns, **options)["statistic"])
        assert statistics == {
            "count",
            "mean",
            "fraction",
            {"quantiles": "quantile"}.get(argument, argument),
        }


def test_private_levels_do_not_split_the_rows() -> None:
    with pytest.raises(ArgumentError, match="by must name columns that are not private"):
        estimate(private(), {"education": EDUCATION}, by="education")


def test_a_sidecar_says_how_a_column_was_made(tmp_path: Path) -> None:
    facts = {"format": "inbounds private columns", "version": 1, "nulls": "error"}
    document = json.loads(EDUCATION.to_json())
    facts["columns"] = [{"name": "education", "document": document}]  # type: ignore[assignment]
    path = tmp_path / "x.privacy.json"
    path.write_text(json.dumps(facts))
    frame = private()
    pd.testing.assert_frame_equal(estimate(frame, path), estimate(frame, {"education": EDUCATION}))
    document["parameters"]["epsilon"] = -1
    path.write_text(json.dumps(facts))
    with pytest.raises(ArgumentError):
        estimate(frame, path)
