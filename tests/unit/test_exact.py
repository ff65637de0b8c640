"""Data are read as the numbers they are, and bounds on them never rounded down."""

import math
from array import array
from collections import UserList, deque
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from inbounds import L1, L2, ArgumentError, ArgumentTypeError, PerCoordinate, _check, _exact

LONG = 2**60 + 1
EXACTLY: list[tuple[Any, list[Any]]] = [
    (LONG, [LONG]),
    ([LONG, 0.5], [LONG, 0.5]),
    ((0.5, LONG), [0.5, LONG]),
    ([[LONG, 0.5], [1, 2]], [LONG, 0.5, 1, 2]),
    ([np.int64(LONG), np.float32(0.5)], [LONG, 0.5]),
    ([np.uint64(2**63 + 1), np.int64(-1)], [2**63 + 1, -1]),
    ([np.array([LONG, 1]), np.array([0.5, 1])], [LONG, 1, 0.5, 1]),
    ([2**63 + 1, -1], [2**63 + 1, -1]),
    ([10**30 + 1, 0.25], [10**30 + 1, 0.25]),
    (Decimal("0.1"), [Fraction(1, 10)]),
    ([Decimal("0.1"), 3], [Fraction(1, 10), 3]),
    ([Fraction(1, 3), 0.5], [Fraction(1, 3), 0.5]),
    (pd.Series([Decimal("0.1")]), [Fraction(1, 10)]),
    (pd.DataFrame({"a": [LONG], "b": [0.5]}), [LONG, 0.5]),
    (pd.DataFrame({"a": [LONG], "b": [Decimal("0.1")]}), [LONG, Fraction(1, 10)]),
    (
        pd.DataFrame({"a": np.array([LONG], "i8"), "b": np.array([LONG], "u8")}),
        [LONG, LONG],
    ),
    (pl.DataFrame({"a": [LONG], "b": [0.5]}), [LONG, 0.5]),
    (pa.table({"a": [LONG], "b": [0.5]}), [LONG, 0.5]),
    (pa.record_batch({"a": [LONG], "b": [0.5]}), [LONG, 0.5]),
    (deque([LONG, 0.5]), [LONG, 0.5]),
    (UserList([LONG, 0.5]), [LONG, 0.5]),
    ([pd.DataFrame({"a": [LONG], "b": [0.5]})], [LONG, 0.5]),
    ([pl.DataFrame({"a": [LONG], "b": [0.5]}), [[1, 2]]], [LONG, 0.5, 1, 2]),
    ([pd.Series([LONG]), pd.Series([0.5])], [LONG, 0.5]),
    (pd.DataFrame({"a": [LONG], "b": [0.5]}).astype({"a": "Int64"}), [LONG, 0.5]),
    ([np.array(LONG), np.array(0.5)], [LONG, 0.5]),
    ([np.array(LONG), Fraction(1, 3)], [LONG, Fraction(1, 3)]),
    ([[[np.array(LONG)]], ((0.5,),)], [LONG, 0.5]),
    ([[pd.DataFrame({"a": [LONG], "b": [0.5]})]], [LONG, 0.5]),
    ([pa.chunked_array([[LONG]]), pa.array([0.5])], [LONG, 0.5]),
    ([pd.Index([LONG]), pl.Series([0.5])], [LONG, 0.5]),
    ([memoryview(array("q", [LONG])), array("d", [0.5])], [LONG, 0.5]),
    (deque([deque([LONG]), [0.5]]), [LONG, 0.5]),
]


@pytest.mark.parametrize(("value", "numbers"), EXACTLY, ids=lambda v: type(v).__name__)
def test_data_are_read_as_the_numbers_they_are(value: Any, numbers: list[Any]) -> None:
    read = _check.private_array(values=value)
    assert read.ravel().tolist() == numbers
    again = _check.private_array(values=read)
    assert again.dtype == read.dtype
    assert again.ravel().tolist() == numbers


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ([1, 2], np.int64),
        ([1.5, 2.5], np.float64),
        ([1, 2.5], np.float64),
        ([Decimal(3), Fraction(1, 4)], np.float64),
        (np.array([1, 2.5], dtype=object), np.float64),
        (np.array([1.5], dtype=np.longdouble), np.float64),
        (np.array([1.5], dtype=np.float32), np.float32),
        (pd.DataFrame({"a": [1], "b": [0.5]}), np.float64),
        (array("d", [1.5]), np.float64),
        (array("q", [LONG]), np.int64),
        (range(3), np.int64),
    ],
    ids=repr,
)
def test_what_doubles_hold_is_read_as_numpy_does(value: Any, kind: Any) -> None:
    assert _check.private_array(values=value).dtype == kind


@pytest.mark.parametrize(
    "value",
    [
        [True, 0.5],
        [np.array(True), 0.5],
        [[np.bool_(False)], [0.5]],
        [np.array([5], "m8[ns]"), np.array([0.5])],
        [np.ma.array([1.5, 2.5], mask=[False, True]), [0.5, 1.0]],
        pd.DataFrame({"a": [True], "b": [0.5]}),
        pd.DataFrame({"a": pd.to_datetime(["2026-01-01"]), "b": [0.5]}),
        [Fraction(1, 3), "7"],
        [{1: 2}, 0.5],
    ],
    ids=str,
)
def test_what_is_no_number_is_refused_wherever_it_stands(value: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"^values must be"):
        _check.private_array(values=value)


def test_a_long_double_keeps_all_of_its_digits() -> None:
    third = np.longdouble(1) / 3
    (number,) = _check.private_array(values=[third]).tolist()
    assert Fraction(number) == Fraction(*third.as_integer_ratio())
    assert _check.private_values(values=third) == float(third)


def test_a_decimal_of_zero_is_zero_however_it_is_written() -> None:
    zeros = [Decimal("0e-999999999"), Decimal("-0e999999999")]
    assert _check.private_array(values=zeros).tolist() == [0, 0]


def test_decimals_beyond_all_doubles_stay_beyond_them_at_once() -> None:
    huge = [Decimal("-1e999999999"), Decimal("1e999999999")]
    low, high = _check.private_array(values=huge).tolist()
    assert low < -math.nextafter(math.inf, 0)
    assert high > math.nextafter(math.inf, 0)


def test_digits_that_no_sensitivity_could_tell_are_cut_off() -> None:
    fine = Decimal("0." + "3" * 10_050)
    cut = _exact.rationals(
        np.array([fine, Decimal("1e-999999"), Decimal("-1e-10001")], dtype=object)
    )
    assert cut[0] == Fraction(Decimal("0." + "3" * 10_000))
    assert abs(cut[0] - Fraction(fine)) < Fraction(1, 10**10_000)
    assert cut[1:].tolist() == [0, 0]


@pytest.mark.parametrize("bad", [math.nan, math.inf, Decimal("sNaN"), Decimal("-Infinity")])
def test_what_is_not_finite_is_refused_among_exact_numbers(bad: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^values must be finite"):
        _check.private_array(values=[Decimal("0.1"), bad])


@pytest.mark.parametrize(
    ("given", "bound"),
    [
        (LONG, 2.0**60 + 256),
        (2**60 - 1, 2.0**60),
        (np.int64(LONG), 2.0**60 + 256),
        (Decimal("0.3"), math.nextafter(0.3, 1)),
        (Decimal("0.1"), 0.1),
        (Fraction(1, 3), math.nextafter(1 / 3, 1)),
        (0.3, 0.3),
        (7, 7.0),
    ],
)
def test_a_sensitivity_that_is_no_double_is_rounded_up(given: Any, bound: float) -> None:
    assert L1(given).bound == L2(given).bound == PerCoordinate(given).bound == bound
    nested = [np.array(given), np.array(0.5)] if isinstance(given, int) else (given, 0.5)
    for several in ([given, 0.5], np.array([given, 0.5], dtype=object), nested):
        assert np.array_equal(PerCoordinate(several).bound, [bound, 0.5])
    assert not PerCoordinate([given, 0.5]).bound.flags.writeable  # type: ignore[union-attr]


def test_rounding_up_leaves_doubles_alone() -> None:
    doubles = np.array([0.1, 0.3])
    assert _exact.rounded_up(doubles, doubles) is doubles
