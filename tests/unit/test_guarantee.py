import copy
import math
import pickle
from typing import Any

import pytest

from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.guarantee import Amount, Guarantee, check_delta, check_epsilon, check_kind

EVERY_KIND = [
    Guarantee(epsilon=1.0),
    Guarantee(epsilon=1.0, delta=1e-6),
    Guarantee(rho=0.1),
    Amount(epsilon=0.0, delta=1e-6),
    Amount(epsilon=math.inf),
]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "epsilon or rho must be given, but not both, got neither.\nHint: for "
         "example epsilon=1.0."),
        ({"delta": 0.1}, "epsilon or rho must be given, but not both, got neither.\nHint: for "
         "example epsilon=1.0; delta goes with epsilon."),
        ({"epsilon": 1, "rho": 1}, "epsilon or rho must be given, but not both, got both."),
        ({"epsilon": "1"}, "epsilon must be a real number, got epsilon='1', a string."),
        ({"epsilon": 1, "delta": "0"}, "delta must be a real number, got delta='0', a string."),
    ],
)  # fmt: skip
def test_what_is_missing_or_no_number_is_an_error_of_type(
    given: dict[str, Any], message: str
) -> None:
    with pytest.raises(ArgumentTypeError) as caught:
        Guarantee(**given)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("given", "argument", "requirement"),
    [
        ({"rho": 1, "delta": 0.1}, "delta", "0 if rho is given"),
        ({"epsilon": 1, "delta": 1}, "delta", "below 1"),
        ({"epsilon": 1, "delta": -0.1}, "delta", "zero or more"),
        ({"epsilon": 1, "delta": math.nan}, "delta", "finite"),
        ({"epsilon": 0}, "epsilon", "positive"),
        ({"epsilon": math.inf}, "epsilon", "finite"),
        ({"epsilon": 1e101}, "epsilon", "strictly between 1e-100 and 1e+100"),
        ({"rho": 0}, "rho", "positive"),
        ({"rho": 1e-101}, "rho", "strictly between 1e-100 and 1e+100"),
    ],
)
def test_an_impossible_number_is_named_and_shown(
    given: dict[str, Any], argument: str, requirement: str
) -> None:
    with pytest.raises(ArgumentError) as caught:
        Guarantee(**given)
    error = caught.value
    assert (error.argument, error.requirement, error.hint) == (argument, requirement, None)
    assert f"got {argument}=" in str(error)


def test_numbers_are_kept_as_doubles_and_a_delta_of_zero_is_none() -> None:
    guarantee = Guarantee(epsilon=1, delta=0)
    assert guarantee == Guarantee(1.0)
    assert (type(guarantee.epsilon), guarantee.delta) == (float, None)
    assert Guarantee(delta=0.0, rho=1).stated() == {"rho": 1.0}


def test_only_epsilon_without_delta_is_pure() -> None:
    assert [
        guarantee.is_pure for guarantee in EVERY_KIND[:3] if isinstance(guarantee, Guarantee)
    ] == [
        True,
        False,
        False,
    ]
    assert Guarantee(epsilon=1.0).pair == (1.0, 0.0)
    assert Guarantee(epsilon=1.0, delta=1e-6).pair == (1.0, 1e-6)


def test_what_is_stated_makes_the_guarantee_again() -> None:
    for amount in EVERY_KIND:
        assert type(amount)(**amount.stated()) == amount


def test_it_is_written_exactly_or_as_a_format_says() -> None:
    guarantee = Guarantee(epsilon=1 / 3, delta=1e-6)
    assert str(guarantee) == "epsilon=0.3333333333333333, delta=1e-06"
    assert repr(guarantee) == f"Guarantee({guarantee})"
    assert f"{guarantee:.3g}" == "epsilon=0.333, delta=1e-06"
    assert "0.3333333333333333" in guarantee._repr_html_()


def test_an_amount_and_a_guarantee_of_the_same_numbers_are_not_equal() -> None:
    assert Amount(epsilon=1.0) != Guarantee(epsilon=1.0)
    assert isinstance(Guarantee(epsilon=1.0), Amount)


@pytest.mark.parametrize("amount", EVERY_KIND, ids=repr)
def test_copies_and_pickles_are_equal(amount: Amount) -> None:
    assert copy.deepcopy(amount) == pickle.loads(pickle.dumps(amount)) == amount


def test_the_checks_return_doubles() -> None:
    assert check_epsilon(2) == 2.0
    assert check_delta(0) == 0.0
    check_kind(None, 0.0, 1.0)
