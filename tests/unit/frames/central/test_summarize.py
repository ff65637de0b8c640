import math
from collections.abc import Callable
from typing import Any

import duckdb
import narwhals as nw
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
from inbounds.frames.central.statistic import count, histogram, mean, total, variance
from inbounds.frames.central.summarize import summarize
from inbounds.mechanisms.bounded_gaussian import BoundedGaussian
from inbounds.mechanisms.clamped_gaussian import ClampedGaussian
from inbounds.mechanisms.noise_mechanism import NoiseMechanism
from inbounds.unit import Unit

ROWS = 400
DATA = {
    "age": np.arange(ROWS) % 100,
    "income": np.linspace(0, 2e5, ROWS),
    "town": np.array(["Ulm", "Rom", "Bern", "Ulm"] * (ROWS // 4)),
    "who": np.arange(ROWS) // 2,
}
ASKED = [
    count(),
    mean("age", 0, 120),
    total("income", 0, 1e5),
    variance("age", 0, 120),
    histogram("age", [0, 30, 60, 120]),
]
HIGHS = {"count": ROWS, "mean": 120, "total": 1e5 * ROWS, "variance": 3600, "histogram": ROWS}


def frame() -> pd.DataFrame:
    return pd.DataFrame(DATA)


class Spy:
    """Looks like a ledger, and keeps what it is given."""

    def __init__(self) -> None:
        self.given: list[tuple[NoiseMechanism, Any, str, str]] = []

    def release(self, mechanism: Any, value: Any, *, dataset: str, label: str, unit: Any) -> Any:
        self.given.append((mechanism, value, dataset, label))
        return mechanism.release(value)


def asked(*arguments: Any, **options: Any) -> tuple[NoiseMechanism, Any]:
    """The mechanism and the private values of one summary."""
    spy = Spy()
    summarize(frame(), *arguments, ledger=spy, dataset="d", **options)
    ((mechanism, value, _, _),) = spy.given
    return mechanism, value


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"by": "town", "groups": ["Rom", "Ulm"]},
        {"adjacency": "add-remove", "size": ROWS},
        {"id": "who", "rows": 2, "size": ROWS},
        {"nulls": "skip"},
        {"outside": "skip"},
        {"by": ["town", "who"], "groups": [("Ulm", 0), ("Rom", 7)], "size": ROWS},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "guarantee", [{"epsilon": 0.1}, {"epsilon": 5.0}, {"epsilon": 1.0, "delta": 1e-6}, {"rho": 0.1}]
)
def test_every_value_is_in_its_range_and_its_interval(
    options: dict[str, Any], guarantee: dict[str, Any]
) -> None:
    result = summarize(frame(), ASKED, **options, **guarantee)
    assert len(result) == 7 * len(options.get("groups", [0]))
    highs = result["statistic"].map(HIGHS)
    assert (result["lower"] >= 0).all()
    assert (result["lower"] <= result["value"]).all()
    assert (result["value"] <= result["upper"]).all()
    assert (result["upper"] <= highs).all()
    assert (result["standard_error"] >= 0).all()
    assert (result["standard_error"] <= highs).all()
    counts = result[result["statistic"].isin(["count", "histogram"])]
    assert (counts["value"] % 1 == 0).all()


def test_little_noise_gives_the_true_statistics() -> None:
    result = summarize(frame(), ASKED, "town", ["Ulm", "Rom"], rho=1e12)
    table = frame().assign(income=frame()["income"].clip(upper=1e5))
    for town in ("Ulm", "Rom"):
        rows = table[table["town"] == town]
        found = result[result["town"] == town]["value"].tolist()
        bins = np.histogram(rows["age"], [0, 30, 60, 120])[0]
        truth = [len(rows), rows["age"].mean(), rows["income"].sum(), rows["age"].var(ddof=0)]
        assert found == pytest.approx([*truth, *bins], rel=1e-4)


def test_columns_say_what_a_row_is_about() -> None:
    result = summarize(frame(), ASKED[1], epsilon=1.0)
    assert list(result)[:-1] == ["statistic", "column", "value", "standard_error", "lower", "upper"]
    assert list(result)[-1] == "mechanism"
    result = summarize(frame(), ASKED, "town", ["Rom"], epsilon=1.0)
    assert list(result)[:5] == ["town", "statistic", "column", "bin_lower", "bin_upper"]
    assert result["bin_upper"].dropna().tolist() == [30, 60, 120]
    assert result["column"].isna().tolist() == [True] + [False] * 6


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (pd.DataFrame, pd.DataFrame),
        (pl.DataFrame, pl.DataFrame),
        (pl.LazyFrame, pl.DataFrame),
        (pa.table, pa.Table),
        (lambda data: duckdb.connect().from_arrow(pa.table(data)), pa.Table),
    ],
    ids=["pandas", "polars", "lazy", "arrow", "duckdb"],
)
def test_the_result_is_of_the_kind_of_the_frame(
    make: Callable[[dict[str, Any]], Any], kind: type
) -> None:
    result = summarize(make(DATA), ASKED, "town", ["Rom"], epsilon=1.0)
    assert type(result) is kind


def test_a_count_with_next_to_no_noise_is_not_called_exact() -> None:
    table = pd.DataFrame({"x": [1.0, 2.0]})
    with pytest.warns(WeakGuaranteeWarning):
        result = summarize(table, [count()], epsilon=1000.0, adjacency="add-remove", size=9)
    assert result["mechanism"].tolist() == ["ClampedLaplace"]


def test_a_public_number_of_rows_is_told_exactly_and_costs_nothing() -> None:
    spy = Spy()
    result = summarize(frame(), count(), epsilon=1.0, ledger=spy, dataset="d")
    assert result[["value", "standard_error", "lower", "upper"]].values.tolist() == [
        [ROWS, 0, ROWS, ROWS]
    ]
    assert spy.given == []


@pytest.mark.parametrize(
    "options",
    [{}, {"by": "town", "groups": ["Ulm", "Rom"]}, {"adjacency": "add-remove", "size": 9}],
)
def test_the_release_gives_the_guarantee_asked_for(options: dict[str, Any]) -> None:
    mechanism, values = asked(ASKED, **options, epsilon=0.7)
    assert mechanism.epsilon == pytest.approx(0.7)
    assert mechanism.epsilon <= 0.7
    assert np.shape(values) == (mechanism.domain.dimension,)
    assert asked(ASKED, **options, rho=0.2)[0].rho <= 0.2
    assert asked(ASKED, **options, epsilon=1.0, delta=1e-6)[0].delta(1.0) <= 1e-6


def test_the_norm_with_less_noise_is_used() -> None:
    many = histogram("age", np.linspace(0, 120, 41).tolist())
    l1, _ = asked(many, epsilon=1.0, mechanism="BoundedGaussian")
    assert "L1" in repr(l1.sensitivity)
    l2 = BoundedGaussian.calibrated(l1.domain, math.sqrt(2) / ROWS, epsilon=1.0)
    assert float(np.max(l1.scale)) < 0.9 * float(np.max(l2.sigma))
    assert "L2" in repr(asked(variance("age", 0, 120), rho=0.1)[0].sensitivity)


def test_a_loose_size_needs_no_more_noise() -> None:
    scales = [
        float(asked(count(), "town", ["Ulm"], epsilon=1.0, size=size)[0].scales[0]) * size
        for size in (ROWS, 250)
    ]
    assert scales == pytest.approx([1.0, 1.0])


def test_more_rows_of_one_person_need_more_noise() -> None:
    few, many = (float(np.max(asked(ASKED, rho=0.1, rows=k)[0].scales)) for k in (1, 3))
    assert many == pytest.approx(3 * few, rel=0.01)


def test_the_result_says_which_mechanism_released_it() -> None:
    noisy = {"by": "town", "groups": ["Rom", "Ulm"]}
    for how, name in (({"epsilon": 1.0}, "ClampedLaplace"), ({"rho": 0.1}, "ClampedGaussian")):
        assert set(summarize(frame(), ASKED, **noisy, **how)["mechanism"]) == {name}
    mixed = summarize(frame(), ASKED[:2], epsilon=1.0)
    assert mixed["mechanism"].isna().tolist() == [True, False]
    assert summarize(frame(), count(), epsilon=1.0)["mechanism"].isna().all()


@pytest.mark.parametrize(
    "kind", [BoundedGaussian, "BoundedLaplace", ClampedGaussian, "ClampedLaplace"]
)
def test_a_mechanism_that_is_named_is_used(kind: Any) -> None:
    name = kind if isinstance(kind, str) else kind.__name__
    result = summarize(frame(), ASKED[1:], epsilon=1.0, delta=1e-6, mechanism=kind)
    assert set(result["mechanism"]) == {name}
    mechanism, _ = asked(ASKED, epsilon=1.0, delta=1e-6, mechanism=kind)
    assert type(mechanism).__name__ == name
    assert mechanism.delta(1.0) <= 1e-6


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"mechanism": "Laplace"}, "mechanism"),
        ({"mechanism": 3}, "mechanism"),
        ({"mechanism": Unit}, "mechanism"),
        ({"mechanism": "ClampedGaussian"}, "mechanism"),
        ({"weights": [1.0]}, "weights"),
        ({"weights": 1.0}, "weights"),
        ({"weights": "aa"}, "weights"),
        ({"weights": [1.0, 0.0]}, "weights"),
        ({"weights": [1.0, float("nan")]}, "weights"),
        ({"by": "mechanism", "groups": ["Ulm"]}, "by"),
    ],
)
def test_a_wrong_mechanism_or_weight_is_refused_by_name(
    options: dict[str, Any], argument: str
) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError)) as failure:
        summarize(frame(), [ASKED[1], ASKED[3]], epsilon=1.0, **options)
    assert failure.value.argument == argument


@pytest.mark.parametrize(
    "weights",
    [
        "age",
        np.linspace(-5.0, 98765.0, ROWS),
        pd.Series([0.0] * ROWS),
        [float("nan"), *[98765.0] * (ROWS - 1)],
        pa.array([98765] * ROWS),
    ],
    ids=["name", "array", "series", "list", "arrow"],
)
def test_weights_of_rows_are_refused_with_a_way_out_and_without_a_value(weights: Any) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError), match="weights must") as failure:
        summarize(frame(), [ASKED[1], ASKED[3]], epsilon=1.0, weights=weights)
    assert "total() of a column that holds weight times value" in str(failure.value.hint)
    assert not any(secret in str(failure.value) for secret in ("98765", "-5", "nan", str(ROWS)))


def test_one_number_is_no_list_of_weights() -> None:
    with pytest.raises(ArgumentTypeError, match="weights must be a list"):
        summarize(frame(), ASKED[1], epsilon=1.0, weights=np.array(1.0))  # type: ignore[arg-type]


CODES = pd.DataFrame({"age": [40, 60, 999] * 100, "who": [0, 0, 0, *range(1, 298)]})


def test_codes_of_missing_values_are_moved_to_a_bound_or_left_out_or_refused() -> None:
    asked_for = [count(), mean("age", 0, 120)]
    moved = summarize(CODES, asked_for, rho=1e12)["value"].tolist()
    assert moved == pytest.approx([300, (40 + 60 + 120) / 3])
    left = summarize(CODES, asked_for, rho=1e12, outside="skip")["value"].tolist()
    assert left == pytest.approx([200, 50], rel=1e-4)
    with pytest.raises(ArgumentError, match="column 'age' must have no values outside") as failure:
        summarize(CODES, asked_for, rho=1e12, outside="error")
    assert "999" not in str(failure.value)
    assert summarize(CODES, count(), rho=1e12, outside="error")["value"].tolist() == [300]


def test_rows_are_left_out_before_those_of_a_person_are_chosen() -> None:
    """Whoever has a valid row has it used."""
    options: dict[str, Any] = {"id": "who", "size": 300, "rho": 1e12, "outside": "skip"}
    table = pd.DataFrame({"age": [*[999] * 99, 7] * 3, "who": np.repeat([1, 2, 3], 100)})
    for _ in range(3):
        result = summarize(table, [count(), mean("age", 0, 120)], **options)
        assert result["value"].tolist() == pytest.approx([3, 7], rel=1e-4)


def test_columns_may_have_policies_of_their_own() -> None:
    table = pd.DataFrame({"age": [20, 999, 40], "pay": [9.0, 5.0, 1.0]})
    asked_for = [count(), mean("age", 0, 120), mean("pay", 0, 4)]
    options: dict[str, Any] = {"rho": 1e12, "size": 9}
    left = summarize(table, asked_for, outside={"age": "skip"}, **options)["value"]
    assert left.tolist() == pytest.approx([2, 30, 2.5], abs=1e-3)
    same = summarize(table, asked_for, outside={"age": "clip"}, rho=1e12)["value"]
    assert same.tolist() == pytest.approx([3, 60, 3], abs=1e-3)
    with pytest.raises(ArgumentError, match="column 'pay' must have no values outside"):
        summarize(table, asked_for, outside={"pay": "error", "age": "skip"}, **options)
    for wrong in ({"town": "skip"}, {"age": "drop"}, {"age": 3}, {3: "skip"}):
        with pytest.raises((ArgumentError, ArgumentTypeError), match="outside must"):
            summarize(table, asked_for, outside=wrong, **options)  # type: ignore[arg-type]


def test_a_row_is_left_out_if_any_of_its_columns_is_outside_any_of_its_bounds() -> None:
    table = pd.DataFrame({"a": [1, 9, 1, 1], "b": [1.0, 1.0, float("inf"), 5.0]})
    asked_for = [count(), mean("a", 0, 10), total("a", 0, 8), mean("b", 0, 4)]
    result = summarize(table, asked_for, rho=1e12, outside="skip")
    assert result["value"].tolist() == pytest.approx([1, 1, 1, 1], rel=1e-4)


@pytest.mark.parametrize("guarantee", [{"epsilon": 1.0}, {"epsilon": 0.01}, {"rho": 0.1}], ids=str)
def test_the_noise_does_not_depend_on_the_rows(guarantee: dict[str, float]) -> None:
    """Only on how many there are, where that is public."""
    found = []
    for table in (frame(), frame().assign(age=0, town="Ulm", income=1e9), frame()[::-1]):
        spy = Spy()
        summarize(table, ASKED, "town", ["Rom", "Ulm"], ledger=spy, dataset="d", **guarantee)
        found.append(spy.given[0][0])
    assert found[0] == found[1] == found[2]


def test_what_weighs_more_has_less_noise() -> None:
    pair = [count(), mean("age", 0, 120)]
    errors = [
        summarize(frame(), pair, "town", ["Ulm"], epsilon=1.0, weights=weights)["standard_error"]
        for weights in ([1, 1], [100, 1], np.array([1, 100]))
    ]
    assert errors[1][0] < errors[0][0] < errors[2][0]
    assert errors[2][1] < errors[1][1]


def test_rows_of_a_person_beyond_the_limit_are_not_used() -> None:
    _, one = asked(count(), epsilon=1.0, id="who", size=ROWS)
    _, two = asked(count(), epsilon=1.0, id="who", rows=2, size=ROWS)
    assert (one[0], two[0]) == (0.5, 1.0)


def test_a_group_larger_than_its_size_is_cut_off_without_a_word() -> None:
    result = summarize(frame(), count(), adjacency="add-remove", size=5, rho=1e9)
    assert result["value"].tolist() == [5]


@pytest.mark.parametrize(
    ("options", "unit"),
    [
        ({}, Unit("replace", "row")),
        ({"rows": 3}, Unit("replace", "row", 3)),
        ({"adjacency": "add-remove", "rows": 2, "size": 9}, Unit("add-remove", "row", 2)),
        ({"id": "who", "rows": 2, "size": 9}, Unit("replace", "person")),
        ({"adjacency": "add-remove", "id": "who", "size": 9}, Unit("add-remove", "person")),
    ],
)
def test_a_ledger_is_told_which_change_is_hidden(
    tmp_path: Any, options: dict[str, Any], unit: Unit
) -> None:
    table = pd.DataFrame({"age": [17, 41, 68], "who": ["a", "b", "b"]})
    ledger = Ledger(tmp_path / "budget.db")
    for dataset, stated in (("free", None), ("edges", Unit("add-remove", "edge"))):
        ledger.open(dataset, epsilon=1.0, unit=stated)
    summarize(table, mean("age", 0, 120), epsilon=0.5, ledger=ledger, dataset="free", **options)
    assert ledger.budget("free").unit == unit
    with pytest.raises(ArgumentError, match=r"^unit must be of one edge"):
        summarize(
            table, mean("age", 0, 120), epsilon=0.5, ledger=ledger, dataset="edges", **options
        )
    assert ledger.records("edges") == []


def test_a_ledger_is_charged_once_and_told_what_for(tmp_path: Any) -> None:
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("people", epsilon=1.0)
    summarize(frame(), ASKED[:2], epsilon=0.75, ledger=ledger, dataset="people")
    (charge,) = ledger.records("people")
    assert charge["label"] == "count(), mean('age', 0, 120)"
    assert ledger.remaining("people").epsilon == pytest.approx(0.25)
    assert charge["unit"] == "replace one row"
    with pytest.raises(BudgetExceededError):
        summarize(frame(), ASKED[:2], epsilon=0.75, ledger=ledger, dataset="people", label="more")
    assert len(ledger.records("people")) == 1


def test_what_is_wrong_is_found_before_anything_is_charged() -> None:
    spy = Spy()
    broken = frame().assign(age=float("nan"))
    with pytest.raises(ArgumentError, match="column 'age'"):
        summarize(broken, ASKED, epsilon=1.0, ledger=spy, dataset="d")
    assert spy.given == []


@pytest.mark.parametrize("options", [{"dataset": "d"}, {"label": "x"}, {"ledger": Spy()}])
def test_a_ledger_comes_with_a_dataset(options: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match="ledger") as failure:
        summarize(frame(), ASKED, epsilon=1.0, **options)
    assert failure.value.argument in {"ledger", "dataset", "label"}


def test_a_guarantee_must_be_asked_for() -> None:
    with pytest.raises(ArgumentTypeError, match="epsilon or rho"):
        summarize(frame(), ASKED)


def test_a_table_without_rows_has_no_public_statistics() -> None:
    with pytest.raises(ArgumentError, match="at least one row"):
        summarize(frame()[:0], ASKED, epsilon=1.0)


def test_a_table_without_rows_is_like_any_other_where_their_number_is_private() -> None:
    result = summarize(frame()[:0], ASKED, adjacency="add-remove", size=50, rho=0.1)
    assert result["value"].notna().all()


def test_integers_decimals_and_narrow_floats_are_numbers() -> None:
    kinds = [pl.Int8, pl.UInt64, pl.Float32, pl.Decimal(10, 2)]
    for kind in kinds:
        table = pl.DataFrame({"x": pl.Series([1, 2, 3], dtype=pl.Int64).cast(kind)})
        result = summarize(table, mean("x", 0, 4), rho=1e12)
        assert result["value"].item() == pytest.approx(2, abs=1e-4)


LARGE = pa.table({"g": pa.array([2**63, 2**63, 7, 2**64 - 1], pa.uint64())})


@pytest.mark.parametrize(
    "make",
    [
        lambda table: table,
        lambda table: table.to_pandas(),
        pl.from_arrow,
        lambda table: duckdb.connect().from_arrow(table),
    ],
    ids=["arrow", "pandas", "polars", "duckdb"],
)
def test_groups_may_be_integers_that_only_an_unsigned_type_holds(make: Any) -> None:
    groups = [2**63, 7, 2**64 - 1]
    result = nw.from_native(summarize(make(LARGE), count(), "g", groups, rho=1e12))
    assert result["g"].to_list() == groups
    assert result["value"].to_list() == [2, 1, 1]


@pytest.mark.parametrize("group", [-1, 2**64])
def test_groups_that_arrow_cannot_write_are_refused_by_name(group: int) -> None:
    with pytest.raises(ArgumentError, match="groups must hold integers that fit in 64") as failure:
        summarize(LARGE, count(), "g", [2**63, group], rho=1.0)
    assert failure.value.argument == "groups"


@pytest.mark.parametrize(
    ("changes", "argument"),
    [
        ({"statistics": mean("town", 0, 1)}, "column 'town'"),
        ({"statistics": mean("height", 0, 1)}, "statistics"),
        ({"by": "age", "groups": ["Ulm"]}, "groups"),
        ({"by": "income", "groups": [1]}, "column 'income'"),
        ({"by": "town"}, "groups"),
        ({"groups": ["Ulm"]}, "by"),
        ({"by": "town", "groups": {"Ulm"}}, "groups"),
        ({"id": "where", "size": 9}, "id"),
        ({"frame": [1]}, "frame"),
        ({"frame": frame().assign(income=float("inf"))}, "column 'income'"),
        ({"frame": frame().assign(income=None)}, "column 'income'"),
        ({"frame": frame().assign(who=None), "id": "who", "size": 9}, "column 'who'"),
        ({"frame": pl.LazyFrame(DATA).with_columns(income=pl.col("town").cast(pl.Int64))}, "frame"),
    ],
)
def test_an_error_names_the_argument_or_the_column(changes: dict[str, Any], argument: str) -> None:
    arguments = {"frame": frame(), "statistics": mean("income", 0, 1), "epsilon": 1.0} | changes
    with pytest.raises((ArgumentError, ArgumentTypeError)) as failure:
        summarize(**arguments)
    assert failure.value.argument == argument
    assert str(failure.value).startswith(argument)


def test_what_is_not_a_ledger_is_refused_by_name() -> None:
    frame = pd.DataFrame({"age": [17.0, 41.0]})
    with pytest.raises(ArgumentTypeError, match="ledger must be a Ledger, got str"):
        summarize(frame, mean("age", 0, 120), epsilon=1.0, ledger="b.db", dataset="d")


@pytest.mark.parametrize(
    "make", [pa.table, lambda data: duckdb.from_arrow(pa.table(data)), pd.DataFrame, pl.DataFrame]
)
def test_groups_of_long_unsigned_numbers_are_told_in_every_engine(make: Any) -> None:
    keys = [1, 2**63, 2**64 - 1]
    found = summarize(make({"key": np.array(keys * 4, np.uint64)}), count(), "key", keys, rho=1e4)
    told = found.to_dict("list") if isinstance(found, pd.DataFrame) else pa.table(found).to_pydict()
    assert told["key"] == keys
    assert told["value"] == pytest.approx([4, 4, 4], abs=1)


def test_groups_that_no_column_holds_are_refused_in_our_words() -> None:
    table = pa.table({"key": np.array([1], np.uint64)})
    for keys in ([1, 2**64], [-1, 2**63]):
        with pytest.raises(ArgumentError, match=r"^groups must hold integers that fit"):
            summarize(table, count(), "key", keys, rho=1.0)
