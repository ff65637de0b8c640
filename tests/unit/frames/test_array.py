import datetime
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import inbounds as ib
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.frames import categories, count, mean, median, proportion, summarize, total
from inbounds.frames.array import open_array
from inbounds.frames.central.aggregate import sums
from inbounds.frames.central.moment import moments
from inbounds.frames.central.request import check_request, open_table

PEOPLE = np.array([[17, 0, 1], [41, 1, 2], [68, 0, 2], [150, 1, 3]] * 50)
TABLE = np.array(
    [(17.5, "Ulm", True), (41.0, "Rom", False)] * 100,
    dtype=[("age", ">f4"), ("town", "<U3"), ("smoker", "?")],
)


def exact_sums(array: Any, statistics: Any, **options: Any) -> Any:
    plain: dict[str, Any] = {"adjacency": "replace", "rows": 1, "person": None}
    plain |= {"by": None, "groups": None, "size": None, "nulls": "error"} | options
    opened = open_table(array, check_request(statistics=statistics, **plain))
    request = opened.request
    needed = moments(request.statistics, sizes_public=request.sizes_public)
    return sums(opened.table, needed, by=request.by, groups=request.groups)


def test_columns_of_an_array_are_given_by_their_index() -> None:
    asked = [count(), mean(0, 0, 120), median(0, 0, 120), mean(2, 0, 4)]
    result = summarize(PEOPLE, asked, epsilon=1e6)
    assert type(result).__module__.startswith("pandas")
    assert result["column"].isna().tolist() == [True, False, False, False]
    assert result["column"][1:].tolist() == [0, 0, 2]
    size, first, middle, last = result["value"].tolist()
    assert (size, first, last) == (200, pytest.approx(61.5, rel=1e-3), pytest.approx(2, rel=1e-3))
    assert 41 <= middle <= 68  # all of these are medians


def test_groups_and_people_of_an_array_are_given_by_an_index() -> None:
    result = summarize(
        PEOPLE, [count()], by=1, groups=[0, 1], id=2, rows=300, size=300, epsilon=1e6
    )
    assert result[1].tolist() == [0, 1]
    assert result["value"].tolist() == pytest.approx([100, 100])
    one_each = summarize(PEOPLE, [count()], id=2, size=300, epsilon=1e6)
    assert one_each["value"].tolist() == pytest.approx([3])


def test_columns_of_a_structured_array_are_given_by_name() -> None:
    asked = [mean("age", 0, 120), proportion("smoker"), categories("smoker", [True, False])]
    result = summarize(TABLE, asked, by="town", groups=["Ulm", "ulm"], epsilon=1e6)
    assert result["town"].tolist() == ["Ulm"] * 4 + ["ulm"] * 4
    values = result["value"].tolist()
    assert values[:4] == pytest.approx([17.5, 1, 100, 0], abs=1e-3)
    assert values[6:] == pytest.approx([0, 0])
    same = summarize(TABLE.view(np.recarray), asked[:1], by="town", groups=["Ulm"], epsilon=1e6)
    assert same["value"].tolist() == pytest.approx([17.5], abs=1e-3)


def test_one_dimension_is_one_column() -> None:
    assert summarize(PEOPLE[:, 0], [total(0, 0, 120)], epsilon=1e9)["value"].tolist() == [
        pytest.approx(12300)
    ]


@pytest.mark.parametrize("kind", ["i1", ">i2", "<i4", ">u8", "f2", ">f4", "f8", "g"])
@pytest.mark.parametrize("layout", ["C", "F", "strided", "reversed", "matrix", "memmap"])
def test_the_sums_of_any_type_and_layout_are_exact(kind: str, layout: str, tmp_path: Any) -> None:
    values = [[3, 1], [5, 2], [100, 7], [64, 9]]
    array: Any = np.array(values, dtype=kind, order="F" if layout == "F" else "C")
    if layout == "strided":
        array = np.repeat(np.repeat(array, 2, axis=0), 3, axis=1)[::2, ::3]
    elif layout == "reversed":
        array = array[::-1, ::-1][:, ::-1]
    elif layout == "matrix":
        array = array.view(np.matrix)
    elif layout == "memmap":
        on_disk = np.memmap(tmp_path / "x", dtype=kind, mode="w+", shape=(4, 2))
        on_disk[:] = array
        array = on_disk
    ((first,),) = exact_sums(array, [mean(0, 0, 128)])
    assert first == sum(Fraction(row[0], 128) - Fraction(1, 2) for row in values)


@given(
    npst.arrays(
        st.sampled_from(["i8", ">u8", "f8", ">f4", "f2"]),
        st.tuples(st.integers(1, 12), st.integers(1, 3)),
        elements={"allow_nan": False, "allow_infinity": False},
    )
)
def test_an_array_has_the_sums_of_its_values_one_by_one(array: Any) -> None:
    """The oracle is Python: every value is a double, moved into the bounds and then to the grid."""
    column = array.shape[1] - 1
    ((released,),) = exact_sums(array, [mean(column, 0, 2)])
    steps = [min(max(float(value), 0.0), 2.0) / 2 * 2**40 for value in array[:, column].tolist()]
    assert released == sum(Fraction(int(step + 0.5), 2**40) - Fraction(1, 2) for step in steps)


def test_a_long_double_beyond_all_doubles_is_outside_the_same_bound() -> None:
    values = np.array([np.longdouble("1e4000"), np.longdouble("-1e4000"), 3])
    ((released,),) = exact_sums(values, [mean(0, 0, 4)])
    assert released == Fraction(1, 2) - Fraction(1, 2) + Fraction(3, 4) - Fraction(1, 2)


def test_nan_is_a_null_as_in_pandas_and_infinities_are_refused() -> None:
    values = np.array([1.0, np.nan, 3.0] * 100, dtype=">f4")
    with pytest.raises(ArgumentError, match="column 0 must have no nulls"):
        summarize(values, [mean(0, 0, 4)], epsilon=1.0)
    result = summarize(values, [count(), mean(0, 0, 4)], nulls="skip", epsilon=1e6)
    assert result["value"].tolist() == pytest.approx([200, 2], abs=1e-3)
    for kind in ("f2", "f8", "g"):
        with pytest.raises(ArgumentError, match="column 0 must be finite"):
            summarize(np.array([1.0, np.inf], dtype=kind), [mean(0, 0, 4)], epsilon=1.0)


@pytest.mark.parametrize("kind", ["<U9", ">U9", object, np.dtypes.StringDType()])
def test_texts_of_any_type_are_compared_by_their_characters(kind: Any) -> None:
    texts = ["Ulm", "ulm", "Ulm ", "Ｕlm", "U\u0301lm", "\ud800", "Ulm"]
    texts = texts if kind is object or "U" in str(kind) else [t for t in texts if t != "\ud800"]
    groups = ["Ulm", "Ulm ", "Ｕlm"]
    ((ulm,), (padded,), (wide,)) = exact_sums(
        np.array(texts, dtype=kind), [count()], by=0, groups=groups
    )
    assert (ulm, padded, wide) == (2, 1, 1)


def test_days_are_dates_and_other_times_are_refused_with_a_way_out() -> None:
    days = np.array(["2026-02-28", "NaT", "2026-02-28", "0001-01-01"], dtype=">M8[D]")
    ((number,),) = exact_sums(days, [count()], by=0, groups=[datetime.date(2026, 2, 28)])
    assert number == 2
    for kind in ("M8[s]", "M8[ns]", "m8[D]"):
        with pytest.raises(ArgumentTypeError, match="column 0 must hold strings") as caught:
            summarize(np.zeros(3, kind), count(), by=0, groups=["x"], epsilon=1.0)
        assert "cast it to strings" in str(caught.value)


def test_booleans_and_bytes_are_what_they_are() -> None:
    truths = np.array([[True, False], [True, True]] * 50)
    assert summarize(truths, proportion(1), epsilon=1e6)["value"].tolist() == pytest.approx([0.5])
    people = np.array([(b"a", 1), (b"b", 2), (b"a", 3)], dtype=[("who", "S4"), ("x", "i4")])
    result = summarize(people, count(), id="who", size=9, epsilon=1e6)
    assert result["value"].tolist() == pytest.approx([2])


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((2, 2), "c16"), "column 0 must hold numbers.* got complex128"),
        (np.zeros(3, "V4"), "column 0 must hold numbers.* got several values"),
        (np.full((2, 1), "secret"), "column 0 must hold numbers, got"),
        (np.full((2, 1), b"secret"), "column 0 must hold numbers, got"),
        (np.array([["secret", 1]], object), "column 0 must hold numbers, got"),
        (np.array([[17, 41]], object), "column 0 must hold numbers, got"),
        (np.ma.masked_array([17.0, 41.0], [True, False]), "frame must not be masked"),
        (np.zeros((2, 2, 2)), "frame must have rows and columns, got an array of 3 dimensions"),
        (np.array(17), "frame must have rows and columns, got an array of 0 dimensions"),
        (np.zeros((3, 0)), "which has no column 0"),
        (np.zeros((0, 2)), "frame must have at least one row"),
        (np.zeros(3, [("x", "f8")]), "which has no column 0"),
        (np.zeros((3, 1), [("x", "f8")]), "frame must have one dimension"),
    ],
)
def test_what_is_no_column_of_numbers_is_refused_without_its_values(
    array: Any, message: str
) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError), match=message) as caught:
        summarize(array, [mean(0, 0, 120)], epsilon=1.0)
    for value in ("secret", "17", "41"):
        assert value not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None


def test_fields_of_several_values_are_refused_and_others_are_not_looked_at() -> None:
    nested = np.zeros(300, [("x", "f8"), ("pair", "f8", (2,)), ("inner", [("y", "i4")])])
    for name in ("pair", "inner"):
        with pytest.raises(ArgumentTypeError, match=f"column '{name}' must hold numbers"):
            summarize(nested, [mean(name, 0, 1)], epsilon=1.0)
    assert summarize(nested, [mean("x", 0, 1)], epsilon=1e6)["value"].item() < 0.01


def test_a_column_that_is_not_there_is_named() -> None:
    for name in (3, "0"):
        with pytest.raises(ArgumentError, match=f"which has no column {name!r}"):
            summarize(PEOPLE, [mean(name, 0, 1)], epsilon=1.0)
    with pytest.raises(ArgumentError, match="by must name columns"):
        summarize(PEOPLE, count(), by=3, groups=[1], epsilon=1.0)
    with pytest.raises(ArgumentError, match="at least one column"):
        summarize(np.zeros((3, 0)), count(), adjacency="add-remove", size=9, epsilon=1.0)


def test_a_column_is_a_copy_without_notes() -> None:
    array = np.zeros((2, 1), np.dtype("f8", metadata={"true": [17]}))
    column = open_array(array)[1](0)
    array[0, 0] = 5.0
    assert column.tolist() == [0.0, 0.0]
    assert column.dtype.metadata is None


def test_an_array_of_floats_is_grouped_by_its_integers() -> None:
    cells = [[1.0, 20.0], [2.0, 40.0], [1.5, 90.0], [np.nan, 90.0], [1.0, 40.0], [1e300, 90.0]]
    asked = [count(), mean(1, 0, 120)]
    result = ib.summarize(np.array(cells), asked, by=0, groups=[1, 2], rho=1e12)
    assert result["value"].tolist() == pytest.approx([2, 30, 1, 40], abs=1e-3)
    levels = categories(0, [1, 2], complete=False)
    found = ib.summarize(np.array(cells), levels, rho=1e12, nulls="skip")["value"].tolist()
    assert found == [2, 1]
    assert ib.find_groups(np.repeat(cells, 200, axis=0), 0, epsilon=1.0, delta=1e-3) == [1, 2]
