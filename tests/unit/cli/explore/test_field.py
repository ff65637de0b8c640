import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import inbounds as ib
from inbounds.cli.explore.field import fields, named_as_on_the_page, number, numbers, one_of
from inbounds.errors import CertificateError, Hint


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53))
def test_every_finite_double_is_read_as_it_is(value):
    assert number("step", value) == value


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, 10**400, -(10**400), 2**53 + 1, 10**30 + 1]
)
def test_a_number_that_no_double_is_is_refused(value):
    with pytest.raises(ib.ArgumentError, match=r"^step must be "):
        number("step", value)


@pytest.mark.parametrize("value", [True, False, "1", None, [1], {"a": 1}, 1j])
def test_what_is_no_number_is_refused_by_its_type(value):
    with pytest.raises(ib.ArgumentTypeError, match=r"^step must be a number"):
        number("step", value)


@pytest.mark.parametrize("value", [math.nan, 1e999, "41.25", [41.25], 2**53 + 1])
def test_a_number_that_is_not_to_be_shown_is_not_shown(value):
    with pytest.raises((ib.ArgumentError, ib.ArgumentTypeError)) as caught:
        number("value", value, shown=False)
    assert not any(digits in str(caught.value) for digits in ("41", "nan", "inf", "9007"))


@pytest.mark.parametrize("value", [[], [1] * 9, 1, "12", (1, 2), {"0": 1}])
def test_lists_have_one_to_eight_numbers(value):
    with pytest.raises((ib.ArgumentError, ib.ArgumentTypeError), match=r"^value must be a list of"):
        numbers("value", value, 8)
    assert numbers("value", [1, 2.5], 8) == (1.0, 2.5)


def test_objects_have_no_unknown_keys_and_texts_are_options():
    assert fields("goal", {"find": 1}, ("find",)) == {"find": 1}
    with pytest.raises(ib.ArgumentError, match="no other fields than find, got 'finds'"):
        fields("goal", {"finds": 1}, ("find",))
    with pytest.raises(ib.ArgumentTypeError, match="goal must be a JSON object, got list"):
        fields("goal", [], ("find",))
    with pytest.raises(ib.ArgumentTypeError, match="norm must be one of l1, l2, got 1"):
        one_of("norm", 1, ("l1", "l2"))


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (ib.ArgumentError.must_be("lower", "finite"), "bounds: lower must be finite."),
        (ib.ArgumentError.must_be("values", "finite"), "value must be finite."),
        (ib.ArgumentTypeError.must_be("epsilon", "given"), "epsilon must be given."),
        (ib.ArgumentError("no argument at all."), "no argument at all."),
        (
            ib.ArgumentError.must_be("delta", "0", hint=Hint("{} works.", "method='exact'")),
            "delta must be 0.",  # the page has no method
        ),
        (
            ib.ArgumentError.must_be("norm", "other", hint=Hint("use {}.", "LInf(...)")),
            "norm must be other.\nHint: use the norm linf.",
        ),
        (
            ib.ArgumentError.must_be("norm", "other", hint="use units."),
            "norm must be other.\nHint: use units.",
        ),
    ],
)
def test_errors_name_the_fields_of_the_page(raised, said):
    with pytest.raises(type(raised)) as caught, named_as_on_the_page():
        raise raised
    assert str(caught.value) == said


def test_a_guarantee_that_cannot_be_proved_is_an_argument_that_is_wrong():
    said = r"^guarantee must be one that can be given: no number up to 1 is enough"
    with pytest.raises(ib.ArgumentError, match=said), named_as_on_the_page():
        raise CertificateError("no number up to 1 is enough.")
