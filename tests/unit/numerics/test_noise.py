import itertools
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from flint import acb, arb, ctx
from mpmath import mp, mpf
from scipy.integrate import quad

from inbounds.numerics.noise import Noise
from inbounds.numerics.noises import BY_NAME, NOISES
from inbounds.numerics.normal import NORMAL

DIGITS = 50
WIDTHS = [1e-9, 1e-3, 0.5, 1.0, 3.0, 9.0, 40.0, 1e3, 1e7]
CENTRES = [0.0, 1e-9, 0.1, 0.5, 0.9, 1.0]
SIDES = [(u * fraction, u * (1 - fraction)) for u, fraction in itertools.product(WIDTHS, CENTRES)]
DISTRIBUTIONS = {noise.name: noise.clamped for noise in NOISES}

each_distribution = pytest.mark.parametrize("name", DISTRIBUTIONS)
each_side = pytest.mark.parametrize(("left", "right"), SIDES)


def true_tail(name: str, distance: Any) -> mpf:
    """P(noise > distance), any sign of the distance."""
    d = mpf(distance)
    if name == "normal":
        return mp.erfc(d / mp.sqrt(2)) / 2
    return mp.exp(-d) / 2 if d >= 0 else 1 - mp.exp(d) / 2


def expected_minimum(name: str, order: int, end: float) -> mpf:
    """E[min(Y, end)ⁿ; Y > 0] of the noise Y, by partial integration; order 1 or 2."""
    e = mpf(end)
    if name == "laplace":
        first = -mp.expm1(-e) / 2
        return first if order == 1 else 2 * (first - e * mp.exp(-e) / 2)
    edge = e * mp.erfc(e / mp.sqrt(2)) / 2
    inner = -mp.expm1(-e * e / 2) / mp.sqrt(2 * mp.pi)
    if order == 1:
        return inner + edge
    return mp.erf(e / mp.sqrt(2)) / 2 - e * mp.npdf(e) + e * edge


def arrays(*numbers: float) -> list[np.ndarray]:
    return [np.asarray(number) for number in numbers]


@each_distribution
@each_side
def test_atoms_and_moments_are_right(name: str, left: float, right: float) -> None:
    distribution = DISTRIBUTIONS[name]
    with mp.workdps(90):
        atoms = [true_tail(name, side) for side in (left, right)]
        means = [expected_minimum(name, 1, side) for side in (left, right)]
        square = sum(expected_minimum(name, 2, side) for side in (left, right))
    for computed, exact in zip(distribution.atoms(*arrays(left, right)), atoms, strict=True):
        # The tail itself turns an error of half a unit in its argument into one of `side` units.
        assert float(computed) == pytest.approx(
            float(exact), rel=1e-14 * (1 + max(left, right) ** 2), abs=1e-320
        )
    bias = float(distribution.bias(*arrays(left, right)))
    larger = float(max(means))
    assert bias == pytest.approx(float(means[1] - means[0]), rel=1e-14, abs=4e-15 * larger)
    found_square = float(distribution.second_moment(*arrays(left, right)))
    assert found_square == pytest.approx(float(square), rel=3e-14, abs=0)


@each_distribution
@each_side
def test_the_cdf_holds_the_atoms_at_both_ends(name: str, left: float, right: float) -> None:
    distribution = DISTRIBUTIONS[name]
    ends = distribution.cumulative(np.array([-left, right, math.inf]), *arrays(left, right))
    low, high = distribution.atoms(*arrays(left, right))
    assert ends[0] == low
    assert ends[1:].tolist() == [1, 1]
    just_below = distribution.cumulative(*arrays(math.nextafter(right, -math.inf), left, right))
    assert float(just_below) == pytest.approx(1 - float(high), rel=1e-9, abs=0)


@each_distribution
@each_side
def test_the_cdf_inside_is_that_of_the_plain_noise(name: str, left: float, right: float) -> None:
    z = [-left + (left + right) * fraction for fraction in (0.01, 0.3, 0.5, 0.8, 0.99)]
    computed = DISTRIBUTIONS[name].cumulative(np.array(z), *arrays(left, right))
    with mp.workdps(DIGITS):
        exact = [float(true_tail(name, -one)) for one in z]
    np.testing.assert_allclose(computed, exact, rtol=1e-15, atol=3e-16)


@each_distribution
@each_side
def test_quantile_and_cdf_invert_each_other(name: str, left: float, right: float) -> None:
    distribution = DISTRIBUTIONS[name]
    q = np.array([0.0, 1e-12, 1e-3, 0.1, 0.4, 0.5, 0.6, 0.9, 1 - 1e-9, 1.0])
    z = distribution.quantile(q, *arrays(left, right))
    assert ((z >= -left) & (z <= right)).all()
    back = distribution.cumulative(z, *arrays(left, right))
    assert (back >= q - 1e-15).all()  # the least z whose probability reaches q
    inside = (z > -left) & (z < right)
    np.testing.assert_allclose(back[inside], q[inside], rtol=3e-14)
    again = distribution.quantile(back, *arrays(left, right))
    np.testing.assert_allclose(again[inside], z[inside], rtol=1e-6, atol=1e-15)


@each_distribution
def test_the_density_is_the_plain_one_strictly_inside(name: str) -> None:
    z, (left, right) = np.array([-2.0, -1.999, 0.0, 2.999, 3.0, 5.0]), arrays(2.0, 3.0)
    computed = DISTRIBUTIONS[name].density(z, left, right)
    plain = DISTRIBUTIONS[name].noise.plain_density(z)
    assert computed.tolist() == [0, *plain[1:4].tolist(), 0, 0]


@each_distribution
def test_density_and_atoms_add_up_to_one(name: str) -> None:
    for left, right in ((0.0, 2.0), (1.0, 0.5), (3.0, 4.0)):
        distribution = DISTRIBUTIONS[name]
        z = np.linspace(-left, right, 200_001)
        z = (z[1:] + z[:-1]) / 2
        inside = distribution.density(z, *arrays(left, right)).sum() * (left + right) / z.size
        low, high = distribution.atoms(*arrays(left, right))
        assert inside + low + high == pytest.approx(1, abs=1e-9)


@each_distribution
def test_the_mirror_image_is_mirrored(name: str) -> None:
    distribution = DISTRIBUTIONS[name]
    for left, right in SIDES:
        sides, mirror = arrays(left, right), arrays(right, left)
        assert distribution.bias(*sides) == -distribution.bias(*mirror)
        np.testing.assert_allclose(
            distribution.second_moment(*sides), distribution.second_moment(*mirror), 1e-15
        )
        assert distribution.atoms(*sides) == distribution.atoms(*mirror)[::-1]


def test_distributions_of_the_same_noise_are_equal() -> None:
    assert NORMAL.clamped == DISTRIBUTIONS["normal"] != DISTRIBUTIONS["laplace"]
    for noise in NOISES:
        assert pickle.loads(pickle.dumps(noise)) == noise
        assert BY_NAME[repr(noise)] is noise


@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_balls_hold_what_doubles_say(noise: Noise) -> None:
    with ctx.workprec(200):
        for z in (1e-9, 0.3, 1.0, 4.0, 30.0):
            within = noise.ball_within(arb(z))
            assert float(noise.ball_tail(arb(z))) == pytest.approx(float(noise.tail(np.array(z))))
            assert within.overlaps(1 - 2 * noise.ball_tail(arb(z)))
            assert noise.ball_distance(within).overlaps(arb(z))
            assert noise.ball_distance(-within).overlaps(-arb(z))
            assert float(noise.log_density(arb(-z))) == -noise.fall(z)
            plain = noise.plain_density(np.array(z)) / noise.plain_density(np.array(0.0))
            assert float(plain) == pytest.approx(math.exp(-noise.fall(z)), rel=1e-13)
    total, _ = quad(lambda z: math.exp(-noise.fall(z)), 0, 40)
    assert total == pytest.approx(noise.half_mass, rel=1e-9)


def by_quadrature(noise: Noise, width: arb, change: arb, scale: arb) -> tuple[arb, arb]:
    """The loss and its slope at the worst pair and the output 0, by rigorous quadrature.

    The pair is (w - c, w) for normal noise and (0, c) for Laplace noise.
    """
    u, gamma, rest = width / scale, change / scale, (width - change) / scale

    def side(length: arb, of: Callable[[acb], acb]) -> arb:
        def weighted(x: acb, _: bool) -> acb:
            return of(x) * (-(x * x / 2 if noise is NORMAL else x)).exp()

        return acb.integral(weighted, 0, length).real

    def integral(value: arb) -> arb:
        return side(value, lambda _: acb(1)) + side(u - value, lambda _: acb(1))

    def log_density(value: arb) -> arb:
        return noise.log_density(value) - integral(value).log()

    if noise is NORMAL:  # the slope is the mean output for w - c
        below, above = side(rest, lambda x: rest - x), side(gamma, lambda x: rest + x)
        return log_density(rest) - log_density(u), (below + above) / integral(rest) / scale
    below, above = side(gamma, lambda _: acb(1)), side(rest, lambda _: acb(1))
    slope = (1 + (above - below) / integral(gamma)) / scale
    return log_density(arb(0)) - log_density(gamma), slope


@pytest.mark.parametrize("noise", NOISES, ids=repr)
@pytest.mark.parametrize("scale", [1e-1, 0.3, 1.0, 7.0, 1e4])
@pytest.mark.parametrize("change", [1e-6, 0.1, 0.5, 0.9, 1.0])
def test_the_loss_is_that_of_the_definition(noise: Noise, scale: float, change: float) -> None:
    with ctx.workprec(192):
        sides = arb(1), arb(change), arb(scale)
        for ways in (noise.loss_and_slope, noise.loss_by_integrals):
            for ball, truth in zip(ways(*sides), by_quadrature(noise, *sides), strict=True):
                assert ball.overlaps(truth)
                assert ball.rel_accuracy_bits() > 60 or abs(truth) < 1e-30


@pytest.mark.parametrize("noise", NOISES, ids=repr)
@pytest.mark.parametrize("scale", [2.0**-240, 1e-9, 1e-3, 1e9, 2.0**240])
def test_both_ways_to_the_loss_agree_for_extreme_scales(noise: Noise, scale: float) -> None:
    for change in (2.0**-240, 1e-12, 0.3, 1 - 2.0**-50, 1.0, 1 + 2.0**-51):
        with ctx.workprec(2048):
            sides = arb(1), arb(change), arb(scale)
            pairs = zip(noise.loss_and_slope(*sides), noise.loss_by_integrals(*sides), strict=True)
            for closed, integrated in pairs:
                assert closed.overlaps(integrated)
                assert integrated.is_finite() or not closed.is_finite()
