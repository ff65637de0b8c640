import numpy as np
import pytest

import inbounds as ib
from inbounds.accounting.offer import asked_of, checked_release, stated_amount
from inbounds.errors import ArgumentError
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
