import math
import re
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from inbounds import _check
from inbounds.errors import ArgumentError, ArgumentTypeError, InBoundsError

HUGE_INT = 10**400
NOT_NUMBERS = [
    "1",
    b"1",
    None,
    True,
    np.True_,
    1j,
    np.complex128(1),
    np.timedelta64(1, "s"),
    timedelta(1),
    object(),
    [1.0],
    (1.0,),
    np.array([1.0]),
    {"a": 1},
    np.datetime64("2020-01-01"),
    np.array(None),
    np.array("1"),
    np.array(True),
]
NOT_ARRAYS = [
    "1",
    None,
    True,
    np.True_,
    1j,
    object(),
    {"a": 1},
    {1.0, 2.0},
    ["a", "b"],
    [None, 1.0],
    [1.0, [2.0, 3.0]],
    [True, False],
    [1j, 2.0],
    [1.0, Decimal(1), "a"],
    np.array([1.0, None], dtype=object),
    np.array(["2020-01-01"], dtype="datetime64[D]"),
    np.zeros(2, dtype=[("a", float)]),
    np.ma.masked_array([1.0, 2.0], mask=[True, False]),
    np.ma.masked,
]
SCALAR_CHECKS: list[Callable[..., Any]] = [
    _check.finite,
    _check.positive,
    lambda **labelled: _check.within(0, 1, **labelled),
]
VECTOR_CHECKS: list[Callable[..., Any]] = [_check.finite_vector, _check.positive_vector]
ARRAY_CHECKS: list[Callable[..., Any]] = [
    *VECTOR_CHECKS,
    _check.private_values,
    _check.public_values,
]


class Hostile:
    """An object that refuses to become an array, and tells its secret while doing so."""

    def __array__(self, *_: object, **__: object) -> np.ndarray:
        raise RuntimeError("secret 123456.789")


def id_of(value: object) -> str:
    """Name a case alike in every process, so that tests can run in several."""
    return type(value).__name__ + re.sub(r" at 0x\w+", "", repr(value))


@pytest.mark.parametrize("check", SCALAR_CHECKS)
@pytest.mark.parametrize("value", NOT_NUMBERS, ids=id_of)
def test_what_is_not_a_number_is_a_type_error_naming_the_argument(
    check: Callable[..., Any], value: object
) -> None:
    with pytest.raises(ArgumentTypeError, match=r"^thing must be a real number, got "):
        check(thing=value)


@pytest.mark.parametrize("check", [*SCALAR_CHECKS, *VECTOR_CHECKS])
@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, np.float32("nan"), np.array(np.inf)], ids=repr
)
def test_what_is_not_finite_is_a_value_error_naming_the_argument(
    check: Callable[..., Any], value: object
) -> None:
    with pytest.raises(ArgumentError, match=r"^thing must be finite, got thing=.*\.$"):
        check(thing=value)


@pytest.mark.parametrize("check", [*SCALAR_CHECKS, *VECTOR_CHECKS, _check.public_values])
@pytest.mark.parametrize(
    "value",
    [HUGE_INT, -HUGE_INT, Fraction(HUGE_INT), Decimal("1e999")],
    ids=["+", "-", "/", "decimal"],
)
def test_a_number_beyond_doubles_is_a_value_error_naming_the_argument(
    check: Callable[..., Any], value: object
) -> None:
    with pytest.raises(ArgumentError, match=r"^thing must .*fit.* in a double") as caught:
        check(thing=value)
    assert len(str(caught.value)) < 200


LARGEST = math.nextafter(math.inf, 0)
WIDE = np.longdouble(2) ** 5000 if np.finfo(np.longdouble).maxexp > 5000 else HUGE_INT


@pytest.mark.parametrize(
    "value", [HUGE_INT, Fraction(HUGE_INT, 7), Decimal("1e999"), WIDE], ids=type
)
def test_data_beyond_doubles_become_the_largest_since_being_out_of_bounds_is_no_error(
    value: Any,
) -> None:
    assert _check.private_values(values=value) == LARGEST
    assert _check.private_values(values=-value) == -LARGEST
    assert _check.private_values(values=[value, 1, -value]).tolist() == [LARGEST, 1, -LARGEST]
    mixed = np.array([[value, 0.5], [Decimal(1), -value]], dtype=object)
    assert _check.private_values(values=mixed).tolist() == [[LARGEST, 0.5], [1, -LARGEST]]


@pytest.mark.parametrize("bad", ["NaN", "sNaN", "Infinity", "-Infinity"])
def test_a_decimal_that_is_not_finite_is_refused_like_any_such_number(bad: str) -> None:
    for value in (Decimal(bad), [Decimal(bad), 1.0]):
        with pytest.raises(ArgumentError, match=r"^values must be finite"):
            _check.private_values(values=value)
    with pytest.raises(ArgumentError, match=r"^epsilon must be finite, got epsilon=Decimal"):
        _check.finite(epsilon=Decimal(bad))


def test_conversion_to_doubles_is_correctly_rounded() -> None:
    """Half a unit in the last place is the tie: a little more goes up, a little less does not."""
    tie = Decimal(2**53 + 1)
    with localcontext(prec=100):
        decimals = [tie - Decimal("1e-30"), tie + Decimal("1e-30")]
    numbers = [*decimals, Fraction(2**53 + 1) + Fraction(1, 9)]
    wanted = [2.0**53, 2.0**53 + 2, 2.0**53 + 2]
    assert _check.private_values(values=numbers).tolist() == wanted
    assert [_check.finite(thing=number) for number in numbers] == wanted
    assert _check.private_values(values=[10**30, Decimal("0.1")]).tolist() == [1e30, 0.1]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("271828182", "a string"),
        (["271828182", 1.0], "a list that holds strings"),
        (np.array(["271828182"]), "an array of strings"),
        (pd.Series(["271828182"]), "a Series that holds strings"),
        (pd.Series(["271828182"], dtype="category"), "a Series that holds strings"),
        (True, "a boolean"),
        ([True, False], "a list that holds booleans"),
        (np.array([True]), "an array of booleans"),
        (pl.Series([True]), "a Series of booleans"),
        (pa.array([True]), "a BooleanArray of booleans"),
        (date(2718, 2, 8), "a date"),
        ([datetime(2718, 2, 8)], "a list that holds dates"),
        (np.array(["2718-02-08"], "M8[D]"), "an array of dates"),
        (pa.array([datetime(2018, 2, 8)]), "a TimestampArray of dates"),
        (timedelta(271828182), "a duration"),
        (np.timedelta64(271828182, "s"), "a duration"),
        (complex(271828182), "a complex number"),
        (np.array([271828182j]), "an array of complex numbers"),
        (None, "None"),
        ([271828182, None], "a list that holds missing values"),
        (pd.NA, "a missing value"),
        (pd.NaT, "a missing value"),
        ([[271828182], [1, 2]], "a list that holds lists"),
        ({271828182}, "a set"),
        ({"a": 271828182}, "a dictionary"),
        ((x for x in [271828182]), "an iterator"),
        (np.zeros(2, dtype=[("271828182", float)]), "an array of records"),
        (
            np.array([object(), None, "271828182"]),
            "missing values, strings and objects of type object",
        ),
        (b"271828182", "bytes"),
        (Hostile, "a type"),
        (range, "a type"),
    ],
    ids=lambda value: id_of(value)[:40] if not isinstance(value, str) else value,
)
def test_the_type_of_data_that_are_refused_is_named_and_nothing_else_told(
    value: object, kind: str
) -> None:
    with pytest.raises(ArgumentTypeError, match=r"^values must be a real number or an array") as e:
        _check.private_values(values=value)
    first = str(e.value).split("\n")[0]
    assert kind in first
    assert "2718" not in str(e.value)
    assert e.value.__cause__ is e.value.__context__ is None


@pytest.mark.parametrize(
    ("value", "kind"),
    [("1", "a string"), (True, "a boolean"), (1j, "a complex number")],
)
def test_the_type_of_a_parameter_that_is_refused_is_named_beside_its_value(
    value: object, kind: str
) -> None:
    with pytest.raises(ArgumentTypeError) as caught:
        _check.positive(epsilon=value)
    text = f"epsilon must be a real number, got epsilon={value!r}, {kind}."
    assert str(caught.value) == text


def test_a_list_given_for_a_number_may_be_data_and_is_not_shown() -> None:
    with pytest.raises(ArgumentTypeError) as caught:
        _check.positive(epsilon=[47.125])
    assert str(caught.value) == "epsilon must be a real number, got a list."


@pytest.mark.parametrize("check", ARRAY_CHECKS)
def test_more_numbers_than_memory_holds_are_refused_at_once(check: Callable[..., Any]) -> None:
    for absurd in (np.broadcast_to(0.5, 10**12), np.broadcast_to(0.5, (10**6, 10**6, 10**4))):
        with pytest.raises(ArgumentError, match=r"^thing must fit in memory: 1[0,]* numbers take"):
            check(thing=absurd)


@pytest.mark.parametrize("check", [*SCALAR_CHECKS, *VECTOR_CHECKS])
def test_a_long_double_beyond_doubles_is_not_finite(check: Callable[..., Any]) -> None:
    huge = (
        np.longdouble(2) ** 5000 if np.finfo(np.longdouble).maxexp > 5000 else np.longdouble("inf")
    )
    with pytest.raises(ArgumentError, match=r"^thing must be (finite|a number that fits)"):
        check(thing=huge)


@pytest.mark.parametrize("check", ARRAY_CHECKS)
@pytest.mark.parametrize("value", NOT_ARRAYS, ids=id_of)
def test_what_holds_no_numbers_is_a_type_error_naming_the_argument(
    check: Callable[..., Any], value: object
) -> None:
    with pytest.raises(ArgumentTypeError, match=r"^thing must"):
        check(thing=value)


@pytest.mark.parametrize("check", SCALAR_CHECKS)
def test_a_masked_number_is_refused(check: Callable[..., Any]) -> None:
    with pytest.raises(InBoundsError, match=r"^thing must"):
        check(thing=np.ma.array(0.5, mask=True))


@pytest.mark.parametrize("check", ARRAY_CHECKS)
def test_an_object_that_fails_to_become_an_array_gives_our_error_alone(
    check: Callable[..., Any],
) -> None:
    with pytest.raises(ArgumentTypeError, match=r"^thing must") as caught:
        check(thing=Hostile())
    assert "123456" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__


@pytest.mark.parametrize("check", SCALAR_CHECKS)
@pytest.mark.parametrize(
    "value",
    [
        *(0.5, np.float32(0.5), np.float64(0.5), np.longdouble(0.5), Fraction(1, 2)),
        *(Decimal("0.5"), np.array(0.5), np.array(Decimal("0.5"))),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_kind_of_real_number_comes_back_as_a_float(
    check: Callable[..., Any], value: object
) -> None:
    number = check(thing=value)
    assert type(number) is float
    assert number == 0.5


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3), np.array(3)])
def test_integers_come_back_as_floats(value: object) -> None:
    assert type(_check.finite(thing=value)) is float
    assert _check.positive(thing=value) == 3.0
    assert _check.finite_vector(thing=value) == 3.0


@pytest.mark.parametrize("value", [0, 0.0, -0.0, -1, -1e-300])
def test_zero_and_below_are_not_positive(value: float) -> None:
    for check in (_check.positive, _check.positive_vector):
        with pytest.raises(ArgumentError, match=r"^thing must be positive, got thing="):
            check(thing=value)


def test_one_coordinate_that_is_not_positive_is_enough_to_refuse() -> None:
    with pytest.raises(ArgumentError, match=r"^thing must be positive, got thing="):
        _check.positive_vector(thing=[1.0, 0.0, 2.0])


def test_the_smallest_double_is_positive() -> None:
    assert _check.positive(thing=5e-324) == 5e-324


@pytest.mark.parametrize("value", [0.0, 1.0, -0.5, 2])
def test_within_excludes_its_ends(value: float) -> None:
    with pytest.raises(ArgumentError, match=r"^thing must be strictly between 0 and 1, got thing="):
        _check.within(0, 1, thing=value)


def test_a_message_is_the_requirement_and_what_was_given() -> None:
    with pytest.raises(ArgumentError, match=r"^sigma must be positive, got sigma=-1\.0\.$"):
        _check.positive(sigma=-1.0)


def test_a_long_argument_is_cut_in_the_message() -> None:
    with pytest.raises(ArgumentError) as caught:
        _check.finite_vector(thing=[math.nan] * 10_000)
    assert len(str(caught.value)) < 200
    assert str(caught.value).endswith("....")


@pytest.mark.parametrize("check", VECTOR_CHECKS)
@pytest.mark.parametrize("value", [[], (), [[]], [[1.0, 2.0]], np.ones((2, 2)), np.ones((1, 1, 1))])
def test_a_vector_has_one_axis_and_at_least_one_entry(
    check: Callable[..., Any], value: object
) -> None:
    with pytest.raises(ArgumentError, match=r"^thing must be .* got shape \("):
        check(thing=value)


@pytest.mark.parametrize("check", VECTOR_CHECKS)
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_vector_is_finite_in_every_coordinate(check: Callable[..., Any], bad: float) -> None:
    with pytest.raises(ArgumentError, match=r"^thing must be finite in every coordinate"):
        check(thing=[1.0, bad])


def test_a_vector_is_a_read_only_copy() -> None:
    given = np.array([1.0, 2.0])
    vector = _check.finite_vector(thing=given)
    given[0] = 99.0
    assert isinstance(vector, np.ndarray)
    assert vector.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 3.0


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "u8", ">f8", ">i4"])
def test_a_vector_of_any_width_and_byte_order_becomes_doubles(dtype: str) -> None:
    vector = np.asarray(_check.positive_vector(thing=np.array([1, 2], dtype=dtype)))
    assert vector.dtype == np.float64
    assert vector.dtype.isnative
    assert vector.tolist() == [1.0, 2.0]


def test_an_option_is_returned_and_anything_else_is_refused_with_the_choices() -> None:
    assert _check.one_of(["a", "b"], thing="b") == "b"
    for value in ("c", "", "A", None, 1, ["a"], np.array(["a", "b"])):
        with pytest.raises(ArgumentError, match=r"^thing must be one of 'a', 'b', got thing="):
            _check.one_of(iter(["a", "b"]), thing=value)


@pytest.mark.parametrize(
    "value",
    [
        "123456.789",
        b"123456.789",
        ["123456.789", "1"],
        [123456.789, None],
        [123456.789, math.nan],
        [123456.789, math.inf],
        np.array([123456.789, -math.inf]),
        np.array([123456.789, None], dtype=object),
        complex(123456.789, 1),
        Decimal("NaN123456"),
        [Decimal("123456.789"), "a"],
        np.ma.masked_array([123456.789, 1.0], mask=[False, True]),
        np.datetime64("1234-05-06"),
        [123456.789, [1.0]],
        {"123456": 1},
        math.nan,
        math.inf,
        -math.inf,
    ],
    ids=lambda value: type(value).__name__,
)
def test_no_message_about_private_values_tells_any_of_them(value: object) -> None:
    with pytest.raises(InBoundsError, match=r"^thing must") as caught:
        _check.private_values(thing=value)
    message = str(caught.value)
    assert "1234" not in message
    assert "got thing=" not in message
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_the_length_of_a_private_text_is_not_told() -> None:
    for alike in (("5", "123456.789"), (["5"], ["1", "1234567"], ["1", 5.0, 2])):
        messages = set()
        for secret in alike:
            with pytest.raises(ArgumentTypeError) as caught:
                _check.private_values(thing=secret)
            messages.add(str(caught.value))
        assert len(messages) == 1


def test_all_values_that_are_not_finite_give_the_same_message() -> None:
    messages = set()
    for bad in (math.nan, math.inf, -math.inf, [1.0, math.nan], np.full(10**5, -math.inf)):
        with pytest.raises(ArgumentError, match=r"^values must be finite") as caught:
            _check.private_values(values=bad)
        messages.add(str(caught.value))
    assert len(messages) == 1


def test_private_values_keep_shape_and_numbers() -> None:
    for value in (1.5, [1, 2], np.ones((2, 0, 3)), np.float32(2), np.arange(6).reshape(2, 3)):
        array = _check.private_values(values=value)
        assert array.dtype == np.float64
        assert array.shape == np.shape(value)
        assert (array == value).all()


def test_published_numbers_may_be_infinite_but_not_nan() -> None:
    assert _check.public_values(x=[-math.inf, math.inf]).tolist() == [-math.inf, math.inf]
    with pytest.raises(ArgumentError, match=r"^x must not contain NaN"):
        _check.public_values(x=[0.0, math.nan])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (120.0, "120"),
        (-0.5, "-0.5"),
        (np.float64(3), "3"),
        (1e15, "1000000000000000.0"),
        (1e300, "1e+300"),
        (0.1, "0.1"),
        (None, "None"),
        ([1.0, None, 2.5], "[1, None, 2.5]"),
        (np.arange(6.0), "[0, 1, 2, 3, 4, 5]"),
        (np.arange(7.0), "[0, 1, 2, ..., 6]"),
    ],
)
def test_numbers_are_written_as_a_person_would(value: object, text: str) -> None:
    assert _check.format_numbers(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "True"),
        (7, "7"),
        ("1", "'1'"),
        ([1, [2.0], "a"], "[1, <list>, 'a']"),
        ([[1], [2, 3]], "[<list>, <list>]"),
        (np.zeros((2, 2)), "<ndarray>"),
        ({"a": 1}, "<dict>"),
    ],
)
def test_what_is_no_number_is_written_without_an_error(value: object, text: str) -> None:
    """It may come from a file that anybody wrote."""
    assert _check.format_numbers(value) == text


@pytest.mark.parametrize("labelled", [{}, {"a": 1.0, "b": 2.0}])
def test_a_check_takes_exactly_one_argument(labelled: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="unpack"):
        _check.finite(**labelled)
