import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from mpmath import mp, mpf

from inbounds.numerics import ball, partition
from inbounds.numerics.normal import NORMAL

DIGITS = 200
SETTINGS = [  # width, change, sigma; certificates may hold changes outside the width
    (width, width * fraction, width / u)
    for width, u, fraction in itertools.product(
        (1e-6, 1.0, 3e12), (1e-9, 1e-3, 0.7, 6.0, 25.0), (-0.5, 1e-12, 0.1, 0.5, 0.999, 1.0, 1.5)
    )
]


@pytest.fixture(autouse=True, params=[128, 300])
def precision(request: pytest.FixtureRequest) -> Iterator[int]:
    with ctx.workprec(request.param):
        yield request.param


def holds(enclosure: arb, number: mpf) -> bool:
    sign, mantissa, exponent, _ = number._mpf_
    with ctx.workprec(2000):  # so that the number itself is exact
        return enclosure.contains(arb((-int(mantissa) if sign else int(mantissa), exponent)))


def is_narrow(enclosure: arb, width: float, change: float) -> bool:
    """Outside the width the masses nearly cancel, and only more bits can help."""
    return enclosure.rel_accuracy_bits() > 20 or not (0 <= change <= width or ctx.prec > 200)


def balls(*numbers: float) -> list[arb]:
    return [arb(ball.exact(number)) for number in numbers]


def true_loss(width: mpf, change: mpf, sigma: mpf) -> mpf:
    root = mp.sqrt(2) * sigma
    mass = mp.erf(change / root) + mp.erf((width - change) / root)
    whole = change * (2 * width - change) / (2 * sigma**2)
    return whole - mp.log(mass / mp.erf(width / root))


@pytest.mark.parametrize("number", [0.1, -1e300, 5e-324, 3, 0.0, np.float64(1 / 3)])
def test_a_double_is_read_as_the_rational_it_is(number: float) -> None:
    rational = ball.exact(number)
    assert Fraction(int(rational.p), int(rational.q)) == Fraction(float(number))


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_loss_ball_holds_the_loss_and_is_narrow(setting: tuple[float, ...]) -> None:
    with mp.workdps(DIGITS):
        exact = true_loss(*(mpf(number) for number in setting))
    enclosure = NORMAL.loss_and_slope(*balls(*setting))[0]
    assert holds(enclosure, exact)
    assert is_narrow(enclosure, *setting[:2])


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_slope_ball_holds_the_derivative_and_is_narrow(setting: tuple[float, ...]) -> None:
    with mp.workdps(DIGITS):
        width, change, sigma = (mpf(number) for number in setting)
        rest = width - change
        mass = (mp.erf(change / sigma / mp.sqrt(2)) + mp.erf(rest / sigma / mp.sqrt(2))) / 2
        edges = mp.npdf(rest / sigma) - mp.npdf(change / sigma)
        exact = (rest / sigma + edges / mass) / sigma
    enclosure = NORMAL.loss_and_slope(*balls(*setting))[1]
    assert holds(enclosure, exact)
    assert is_narrow(enclosure, *setting[:2])


@pytest.mark.parametrize("setting", SETTINGS[::4])
def test_the_slope_is_the_derivative_of_the_loss(setting: tuple[float, ...]) -> None:
    with mp.workdps(DIGITS):
        width, change, sigma = (mpf(number) for number in setting)
        step = sigma * mpf(10) ** -40
        up, down = (true_loss(width, change + shift, sigma) for shift in (step, -step))
        numerical = (up - down) / (2 * step)
    with ctx.workprec(500):
        enclosure = NORMAL.loss_and_slope(*balls(*setting))[1]
    assert float(enclosure.mid()) == pytest.approx(float(numerical), rel=1e-12, abs=0)


@pytest.mark.parametrize("setting", [s for s in SETTINGS if 0 < s[1] <= s[0]])
def test_balls_and_doubles_agree(setting: tuple[float, ...]) -> None:
    width, change, sigma = setting
    double = partition.loss(width / sigma, change / sigma, (width - change) / sigma)
    with ctx.workprec(300):
        assert double == pytest.approx(
            float(NORMAL.loss_and_slope(*balls(*setting))[0]), rel=1e-14, abs=0
        )


NUMBERS = ["1/3", "-1/3", "1", "0", "1e-30", "-1e-30", "7e200", "2/7e-300", "-9007199254740993"]


@pytest.mark.parametrize("text", NUMBERS)
@pytest.mark.parametrize("radius", [0.0, 1e-40, 1e-3])
def test_float_above_is_above_everything_in_the_ball(text: str, radius: float) -> None:
    top, _, bottom = text.partition("/")
    middle = arb(top) / arb(bottom or "1")
    enclosure = middle + abs(middle) * arb(0, radius)
    above = ball.float_above(enclosure)
    assert arb(above) >= enclosure.upper()
    assert arb(math.nextafter(above, -math.inf)) < enclosure.upper()


def test_float_above_rounds_up_and_not_to_nearest() -> None:
    just_above = arb(1) + arb(2) ** -100
    assert ball.float_above(just_above) == math.nextafter(1.0, 2.0)
    assert ball.float_above(arb(1) - arb(2) ** -100) == 1.0
    assert ball.float_above(-arb(1) - arb(2) ** -100) == -1.0


def test_float_above_what_no_double_reaches_is_infinite() -> None:
    assert ball.float_above(arb("1e400")) == math.inf


def test_float_above_the_smallest_numbers_is_a_positive_double() -> None:
    assert 0 < ball.float_above(arb("1e-400")) <= 5e-324
    assert ball.float_above(arb("-1e-400")) <= 0.0
