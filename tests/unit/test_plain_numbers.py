"""Plain numbers take a path without arrays; it must give what the path with arrays gives.

Each number is passed as it is, and as a 0-dimensional array of objects, which is never plain.
"""

import itertools
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from inbounds import (
    L1,
    L2,
    BoundedGaussian,
    BoundedLaplace,
    Box,
    ClampedLaplace,
    LInf,
    PerCoordinate,
    _check,
    _exact,
)
from inbounds.guarantee import Guarantee
from inbounds.mechanisms.argument import check_scale

NUMBERS: list[Any] = [
    *(0, 1, -1, 2, 120, 0.0, -0.0, 0.1, 2.5, -3.75, 1e-9, 1e9, 1e100, 1e300, 1e308, -1e308),
    *(5e-324, 2.0**-1022, 2.0**-1040, 2.0**-250, math.nan, math.inf, -math.inf),
    *(2**53, 2**53 + 1, -(2**53) - 1, 2**60 + 1, 10**30, 10**400, -(10**400)),
]
OTHERS: list[Any] = [
    *(True, False, None, "1", b"1", 1j, [], [1.0], [[1.0]], {}),
    *(np.float64(2.5), np.float32(0.1), np.int64(3), np.longdouble("0.1"), np.bool_(True)),
    *(Decimal("0.1"), Decimal("NaN"), Fraction(1, 3), Fraction(5, 2), np.array(2.5)),
]


def wrapped(number: Any) -> Any:
    """The same number in a form that is not plain."""
    array = np.empty((), dtype=object)
    array[()] = number
    return array


def outcome(call: Callable[[], Any]) -> Any:
    """What a call returns, or its error without the text of the wrapped number."""
    try:
        return repr(call())
    except Exception as error:
        return type(error), str(error).partition(", got")[0]


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
def test_a_number_is_plain_only_if_it_is_a_double_exactly(number: Any) -> None:
    plain = _exact.plain(number)
    if plain is None:
        assert type(number) is int
        assert abs(number) > 2**53
    else:
        assert type(plain) is float
        assert plain == number or math.isnan(number)


@pytest.mark.parametrize("other", OTHERS, ids=repr)
def test_nothing_else_is_plain(other: Any) -> None:
    assert _exact.plain(other) is None


@pytest.mark.parametrize("lower", NUMBERS, ids=repr)
def test_boxes_of_plain_numbers_are_those_of_arrays(lower: Any) -> None:
    for upper in NUMBERS:
        plain, array = (
            outcome(lambda low=low, high=high: Box(low, high))
            for low, high in ((lower, upper), (wrapped(lower), wrapped(upper)))
        )
        assert plain == array, upper


@pytest.mark.parametrize("step", NUMBERS, ids=repr)
def test_plain_steps_are_those_of_arrays(step: Any) -> None:
    for upper in (1, 120.0, 1e-300, 1e300, [1.0, 1e10], [1e-20, 2.0]):
        plain, array = (
            outcome(lambda s=s, upper=upper: Box(0, upper, step=s)) for s in (step, wrapped(step))
        )
        assert plain == array, upper


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
@pytest.mark.parametrize("kind", [L1, L2, LInf, PerCoordinate])
def test_plain_sensitivities_are_those_of_arrays(kind: Any, number: Any) -> None:
    assert outcome(lambda: kind(number)) == outcome(lambda: kind(wrapped(number)))


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
@pytest.mark.parametrize("check", ["finite", "positive", "not_negative", "charge"])
def test_plain_arguments_are_checked_as_arrays_are(check: str, number: Any) -> None:
    for name in ("sigma", "epsilon"):
        plain, array = (
            outcome(lambda value=value, name=name: getattr(_check, check)(**{name: value}))
            for value in (number, wrapped(number))
        )
        assert plain == array


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
def test_plain_scales_are_checked_as_vectors_are(number: Any) -> None:
    for width in (5e-324, 1e-300, 2.0**-1022, 1e-9, 1.0, 120.0, 1e300):
        interval, box = Box(0, width), Box([0], [width])
        plain = outcome(lambda box=interval: check_scale(box, sigma=number))
        assert plain == outcome(lambda box=interval: check_scale(box, sigma=wrapped(number)))
        assert plain == outcome(lambda box=box: check_scale(box, sigma=number))


@pytest.mark.parametrize("epsilon", [*NUMBERS, *OTHERS], ids=repr)
def test_a_plain_epsilon_makes_the_guarantee_that_all_checks_make(epsilon: Any) -> None:
    """A delta of zero takes the long way."""
    assert outcome(lambda: Guarantee(epsilon)) == outcome(lambda: Guarantee(epsilon, 0.0))


KINDS: dict[str, Any] = {
    "gaussian": BoundedGaussian,
    "laplace": BoundedLaplace,
    "clamped laplace": ClampedLaplace,
}
WIDTHS = [1e-320, 2.0**-1022, 1e-300, 1e-9, 0.1, 1.0, 120.0, 1e9, 1e300]


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("width", WIDTHS)
def test_an_interval_and_a_box_of_one_coordinate_are_calibrated_alike(
    name: str, width: float
) -> None:
    for part, epsilon in itertools.product((1e-9, 0.02, 0.5, 1.0, 3.0), (1e-99, 1e-6, 1.0, 40.0)):
        if not width * part > 0:
            continue
        made = [
            outcome(
                lambda box=box, part=part, epsilon=epsilon: (
                    KINDS[name].calibrated(box, width * part, epsilon=epsilon).scale
                )
            )
            for box in (Box(0, width), Box([0], [width]))
        ]
        assert made[0] == made[1], (part, epsilon)


@pytest.mark.parametrize("kind", [BoundedGaussian, BoundedLaplace])
@pytest.mark.parametrize("width", WIDTHS)
def test_the_epsilon_of_the_search_is_that_of_the_scale_it_found(kind: Any, width: float) -> None:
    """In units of a power of two every quotient is the same double."""
    checked = 0
    for part, epsilon in itertools.product((1e-9, 0.02, 0.5, 1.0, 3.0), (1e-9, 0.3, 1.0, 40.0)):
        try:
            m = kind.calibrated(Box(-width / 3, width), width * part, epsilon=epsilon)
        except ValueError:
            continue
        again = kind(m.domain, m.sensitivity, m.scale)
        assert again.epsilon == m.epsilon <= epsilon
        assert again.worst_change.tolist() == m.worst_change.tolist()
        checked += 1
    assert checked > 5 or width < 1e-300
