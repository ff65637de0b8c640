from typing import Any

import numpy as np
import pandas as pd
import pytest

import inbounds as ib
from inbounds.accounting.offer import asked_of, checked_release, stated_amount
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.guarantee import Amount

PLANE = ib.BoundedLaplace(ib.Box([0, 0], [1, 1]), ib.L1(1), scale=2.0)


def test_rows_are_counted_and_outputs_keep_their_shape() -> None:
    offer = checked_release(PLANE, np.zeros((3, 2)), {})
    assert offer.count == 3
    assert offer.rebuilt(np.ones((3, 2))).shape == (3, 2)


def test_no_private_value_is_in_a_message() -> None:
    with pytest.raises(ArgumentError) as caught:
        checked_release(PLANE, [41.3125, 41.3125, 41.3125], {})
    assert "41.3" not in str(caught.value)


def test_something_else_called_asked_is_not_a_guarantee() -> None:
    class Liar:
        asked = "epsilon=0"

    assert asked_of(Liar()) is None
    assert asked_of(PLANE) is None


def test_numbers_are_kept_as_they_were_stated() -> None:
    assert stated_amount(np.float64(0.1), 1e-7, None) == Amount(epsilon=0.1, delta=1e-7)
    assert stated_amount(None, None, None) is None


SMOKER = ib.RandomizedResponse(["no", "yes"], epsilon=0.5)


@pytest.mark.parametrize(
    ("value", "count"),
    [("no", 1), (["no", "yes"], 2), (np.array([["no"], ["yes"], ["no"]]), 3)],
)
def test_levels_are_counted_one_by_one(value: Any, count: int) -> None:
    assert checked_release(SMOKER, value, {}).count == count


@pytest.mark.parametrize(
    "value",
    [
        *("secret", ["no", "secret"], ["no", None], [], np.array([], str), {"secret": 1}),
        *(None, 41, pd.Series(["secret"]), b"secret", float("nan")),
    ],
)
def test_what_is_no_level_is_refused_before_anything_is_charged(value: Any) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError), match=r"^value must") as caught:
        checked_release(SMOKER, value, {})
    assert "secret" not in str(caught.value)


def test_levels_that_change_after_the_check_do_not_change_the_release() -> None:
    values = ["no"]
    offer = checked_release(SMOKER, values, {})
    values += ["yes"] * 9
    assert offer.values == ["no"]
    array = np.array(["no", "yes"])
    offer = checked_release(SMOKER, array, {})
    array[:] = "x"
    assert offer.values.tolist() == ["no", "yes"]


def test_a_source_that_is_none_is_refused_before_anything_is_charged() -> None:
    with pytest.raises(ArgumentTypeError, match="entropy must be a source"):
        checked_release(SMOKER, "no", {"entropy": 41})
    with pytest.raises(TypeError, match="equal_time"):
        checked_release(SMOKER, "no", {"equal_time": True})


def test_what_was_asked_of_randomised_response_is_its_epsilon() -> None:
    assert asked_of(SMOKER) == Amount(epsilon=0.5)
