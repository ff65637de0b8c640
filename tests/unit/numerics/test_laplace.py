import itertools
import math

import numpy as np
import pytest
from mpmath import mp, mpf

from inbounds.numerics.laplace import LAPLACE

DIGITS = 50
WIDTHS = [1e-9, 1e-4, 0.1, 1.0, 3.0, 29.9, 30.1, 80.0, 1e3, 1e7]
CENTRES = [0.0, 1e-9, 0.1, 0.5, 0.9, 1.0]
SIDES = [(u * fraction, u * (1 - fraction)) for u, fraction in itertools.product(WIDTHS, CENTRES)]
FRACTIONS = [1e-12, 1e-6, 1e-3, 0.1, 0.5, 0.9, 0.999]
LEVELS = [1e-300, 1e-20, 1e-9, 1e-3, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999, 1 - 1e-9, 1 - 2.0**-53]

each_side = pytest.mark.parametrize(("left", "right"), SIDES)


def positions(left: float, right: float) -> np.ndarray:
    """Both ends, fractions of the width from both of them, and whole scales around the centre."""
    u = left + right
    z = [-left, right, 0.0]
    z += [-left + u * fraction for fraction in FRACTIONS]
    z += [right - u * fraction for fraction in FRACTIONS]
    z += [float(k) for k in range(-60, 61, 3) if -left < k < right]
    return np.clip(z, -left, right)


def between(low: float, high: float) -> mpf:
    """The mass of the Laplace distribution of scale one between any two points."""
    a, b = mpf(low), mpf(high)
    if a >= 0:
        return (mp.exp(-a) - mp.exp(-b)) / 2
    if b <= 0:
        return (mp.exp(b) - mp.exp(a)) / 2
    return (2 - mp.exp(a) - mp.exp(-b)) / 2


def true_cdf(z: float, left: float, right: float) -> mpf:
    with mp.workdps(DIGITS):
        return between(-left, z) / between(-left, right)


def partial_moment(order: int, end: float) -> mpf:
    """∫zⁿe^-z/2 over [0, end], by the recursion of partial integration."""
    e = mpf(end)
    if order == 0:
        return -mp.expm1(-e) / 2
    return order * partial_moment(order - 1, end) - e**order * mp.exp(-e) / 2


def arrays(*numbers: float) -> list[np.ndarray]:
    return [np.asarray(number) for number in numbers]


@each_side
def test_mass_and_moments_are_right(left: float, right: float) -> None:
    with mp.workdps(90):  # partial integration cancels in narrow intervals
        mass = between(-left, right)
        sides = [[partial_moment(order, side) for side in (left, right)] for order in (1, 2)]
        bias = (sides[0][1] - sides[0][0]) / mass
        square = (sides[1][0] + sides[1][1]) / mass
    assert float(LAPLACE.mass(*arrays(left, right))) == pytest.approx(float(mass), rel=1e-15, abs=0)
    assert float(LAPLACE.second_moment(*arrays(left, right))) == pytest.approx(
        float(square), rel=1e-14, abs=0
    )
    # The mean is a difference of two sides: right to a few units of the larger side.
    larger = float(max(sides[0]) / mass)
    computed = float(LAPLACE.bias(*arrays(left, right)))
    assert computed == pytest.approx(float(bias), rel=1e-14, abs=4e-15 * larger)


@each_side
def test_the_density_is_the_laplace_one_inside_and_zero_outside(left: float, right: float) -> None:
    z = positions(left, right)
    with mp.workdps(DIGITS):
        peak = float(1 / (2 * between(-left, right)))
    expected = peak * np.exp(-np.abs(z))
    np.testing.assert_allclose(LAPLACE.density(z, *arrays(left, right)), expected, rtol=1e-14)
    for outside in (math.nextafter(-left, -math.inf), math.nextafter(right, math.inf), 1e300):
        assert LAPLACE.density(*arrays(outside, left, right)) == 0


@each_side
def test_the_cdf_is_right_and_small_probabilities_keep_their_digits(
    left: float, right: float
) -> None:
    z = positions(left, right)
    computed = LAPLACE.cumulative(z, *arrays(left, right))
    for one, value in zip(z.tolist(), computed.tolist(), strict=True):
        exact = true_cdf(one, left, right)
        assert abs(value - exact) <= 5e-16
        if 1e-290 < exact < 0.1:
            assert abs(value / exact - 1) < 1e-14


@each_side
def test_the_cdf_of_the_mirror_image_is_the_upper_tail(left: float, right: float) -> None:
    z = positions(left, right)
    below = LAPLACE.cumulative(z, *arrays(left, right))
    above = LAPLACE.cumulative(-z, *arrays(right, left))
    np.testing.assert_allclose(below + above, 1.0, rtol=0, atol=5e-16)


@each_side
def test_the_cdf_runs_from_zero_to_one_and_never_falls(left: float, right: float) -> None:
    ends = LAPLACE.cumulative(np.array([-math.inf, -left, right, math.inf]), *arrays(left, right))
    assert ends.tolist() == [0, 0, 1, 1]
    z = np.linspace(max(-left, -50.0), min(right, 50.0), 400)
    assert (np.diff(LAPLACE.cumulative(z, *arrays(left, right))) >= -2.3e-16).all()


@each_side
def test_the_quantile_is_where_the_cdf_passes_the_level(left: float, right: float) -> None:
    computed = LAPLACE.quantile(np.array(LEVELS), *arrays(left, right))
    assert LAPLACE.quantile(np.array([0.0, 1.0]), *arrays(left, right)).tolist() == [-left, right]
    for q, z in zip(LEVELS, computed.tolist(), strict=True):
        assert -left <= z <= right
        margin = 1e-14 * min(left + right, max(1.0, abs(z)))
        assert z - margin <= -left or true_cdf(z - margin, left, right) <= q, (q, z)
        assert z + margin >= right or true_cdf(z + margin, left, right) >= q, (q, z)


@each_side
def test_the_quantile_inverts_the_cdf_where_doubles_allow(left: float, right: float) -> None:
    z = positions(left, right)
    density = LAPLACE.density(z, *arrays(left, right))
    back = LAPLACE.quantile(LAPLACE.cumulative(z, *arrays(left, right)), *arrays(left, right))
    known = density * min(left + right, 1.0) > 1e-3  # elsewhere a level stands for many points
    margin = 2e-16 / density[known] + 1e-14 * np.maximum(min(left + right, 1.0), abs(z[known]))
    assert known.any()
    assert (np.abs(back - z)[known] <= 4 * margin).all()


def test_the_plain_distribution_is_the_laplace_distribution() -> None:
    z = np.array([-700.0, -3.0, -1e-9, 0.0, 1e-9, 3.0, 30.0])
    np.testing.assert_allclose(LAPLACE.plain_density(z), np.exp(-np.abs(z)) / 2, rtol=1e-15)
    with mp.workdps(DIGITS):
        exact = [float(between(x, 800.0) + mp.exp(-800) / 2) for x in z.tolist()]
    np.testing.assert_allclose(LAPLACE.tail(z), exact, rtol=1e-15)
    q = np.array([1e-300, 1e-9, 0.3, 0.5, 0.75, 1 - 1e-9])
    np.testing.assert_allclose(LAPLACE.tail(-LAPLACE.plain_quantile(q)), q, rtol=3e-13)
    assert LAPLACE.plain_quantile(np.array([0.0, 0.5, 1.0])).tolist() == [-math.inf, 0, math.inf]


def test_truncated_noise_has_no_atoms() -> None:
    low, high = LAPLACE.atoms(np.ones((2, 1)), np.ones(3))
    assert low.shape == high.shape == (2, 3)
    assert not low.any()
    assert not high.any()


def test_moments_of_the_mirror_image_are_mirrored() -> None:
    for left, right in SIDES:
        sides, mirror = arrays(left, right), arrays(right, left)
        assert LAPLACE.bias(*sides) == -LAPLACE.bias(*mirror)
        assert LAPLACE.second_moment(*sides) == LAPLACE.second_moment(*mirror)


def test_a_wide_interval_leaves_the_laplace_distribution_and_a_narrow_one_the_uniform() -> None:
    assert float(LAPLACE.second_moment(*arrays(1e7, 1e7))) == pytest.approx(2, rel=1e-15, abs=0)
    narrow = arrays(0.0, 1e-9)
    assert float(LAPLACE.second_moment(*narrow)) == pytest.approx(1e-18 / 3, rel=1e-9, abs=0)
    assert float(LAPLACE.bias(*narrow)) == pytest.approx(5e-10, rel=1e-9, abs=0)
    np.testing.assert_allclose(LAPLACE.quantile(np.array([0.2, 0.8]), *narrow), [2e-10, 8e-10])


def test_functions_broadcast() -> None:
    z, left, right = np.zeros((3, 1)), np.array([1.0, 2.0]), np.array([2.0, 5.0])
    assert LAPLACE.density(z, left, right).shape == (3, 2)
    assert LAPLACE.cumulative(z, left, right).shape == (3, 2)
    assert LAPLACE.quantile(z + 0.5, left, right).shape == (3, 2)
