import itertools
import math
from functools import cache

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.integrate import quad

from inbounds.numerics import normal
from inbounds.numerics.normal import NORMAL

DIGITS = 60
WIDTHS = [1e-9, 1e-6, 1e-3, 0.1, 0.4999, 0.5, 1.0, 3.0, 4.0, 9.0, 40.0, 1e3, 1e7]
CENTRES = [0.0, 1e-9, 0.1, 0.5, 0.9, 1.0]
SIDES = [(u * fraction, u * (1 - fraction)) for u, fraction in itertools.product(WIDTHS, CENTRES)]
FRACTIONS = [1e-12, 1e-6, 1e-3, 0.1, 0.5, 0.9, 0.999]

each_side = pytest.mark.parametrize(("left", "right"), SIDES)


def positions(left: float, right: float) -> np.ndarray:
    """Both ends, fractions of the width from both of them, and whole sigmas around the centre."""
    u = left + right
    z = [-left, right, 0.0]
    z += [-left + u * fraction for fraction in FRACTIONS]
    z += [right - u * fraction for fraction in FRACTIONS]
    z += [float(k) for k in range(-37, 38) if -left < k < right]
    return np.array(z)


def between(low: float, high: float) -> mpf:
    """The mass of the unit normal distribution between two points, from the nearer tail."""
    with mp.workdps(DIGITS):
        a, b = mpf(low) / mp.sqrt(2), mpf(high) / mp.sqrt(2)
        if a > 0:
            return (mp.erfc(a) - mp.erfc(b)) / 2
        return (mp.erfc(-b) - mp.erfc(-a)) / 2 if b < 0 else (mp.erf(b) - mp.erf(a)) / 2


@cache
def true_cdf(z: float, left: float, right: float) -> mpf:
    with mp.workdps(DIGITS):
        return between(-left, z) / between(-left, right)


def arrays(*numbers: float) -> list[np.ndarray]:
    return [np.asarray(number) for number in numbers]


@each_side
def test_the_mass_is_right(left: float, right: float) -> None:
    computed = float(NORMAL.mass(*arrays(left, right)))
    assert computed == pytest.approx(float(between(-left, right)), rel=1e-15, abs=0)


@each_side
def test_the_density_integrates_to_one(left: float, right: float) -> None:
    def density(z: float) -> float:
        return float(NORMAL.density(*arrays(z, left, right)))

    inner = [k for k in (-9.0, -3.0, 0.0, 3.0, 9.0) if -left < k < right]
    ends = [max(-left, -39.0), *inner, min(right, 39.0)]
    parts = [quad(density, low, high)[0] for low, high in itertools.pairwise(ends)]
    assert math.fsum(parts) == pytest.approx(1.0, rel=1e-12, abs=0)


@each_side
def test_the_density_is_the_normal_one_inside_and_zero_outside(left: float, right: float) -> None:
    z = positions(left, right)
    computed = NORMAL.density(z, *arrays(left, right))
    peak = 1 / (math.sqrt(2 * math.pi) * float(between(-left, right)))
    np.testing.assert_allclose(computed, peak * np.exp(-z * z / 2), rtol=1e-14)
    below, above = math.nextafter(-left, -math.inf), math.nextafter(right, math.inf)
    for outside in (below, above, -math.inf, math.inf, -left - 1, right + 1):
        assert NORMAL.density(*arrays(outside, left, right)) == 0


@pytest.mark.parametrize("z", [1e154, -1e200, 1e308])
def test_the_density_far_outside_is_zero_without_a_warning(z: float) -> None:
    assert NORMAL.density(*arrays(z, 1.0, 2.0)) == 0


@each_side
def test_the_cdf_is_right_to_an_ulp_or_two_of_one(left: float, right: float) -> None:
    z = positions(left, right)
    computed = NORMAL.cumulative(z, *arrays(left, right))
    for one, value in zip(z.tolist(), computed.tolist(), strict=True):
        assert abs(value - true_cdf(one, left, right)) <= 5e-16


@each_side
def test_small_probabilities_at_the_lower_end_keep_their_digits(left: float, right: float) -> None:
    for z in positions(left, right):
        exact = true_cdf(z, left, right)
        if 1e-290 < exact < 0.1:
            computed = float(NORMAL.cumulative(*arrays(z, left, right)))
            assert abs(computed / exact - 1) < 1e-12, z


@each_side
def test_the_cdf_of_the_mirror_image_is_the_upper_tail(left: float, right: float) -> None:
    z = positions(left, right)
    below = NORMAL.cumulative(z, *arrays(left, right))
    above = NORMAL.cumulative(-z, *arrays(right, left))
    np.testing.assert_allclose(below + above, 1.0, rtol=0, atol=4e-16)


@each_side
def test_the_cdf_runs_from_zero_to_one_and_never_falls(left: float, right: float) -> None:
    ends = NORMAL.cumulative(np.array([-math.inf, -left, right, math.inf]), *arrays(left, right))
    assert ends.tolist() == [0, 0, 1, 1]
    z = np.linspace(max(-left, -50.0), min(right, 50.0), 400)
    assert (np.diff(NORMAL.cumulative(z, *arrays(left, right))) >= -2.3e-16).all()


LEVELS = [1e-300, 1e-20, 1e-9, 1e-3, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999, 1 - 1e-9, 1 - 2.0**-53]


@each_side
def test_the_quantile_is_where_the_cdf_passes_the_level(left: float, right: float) -> None:
    computed = NORMAL.quantile(np.array(LEVELS), *arrays(left, right))
    for q, z in zip(LEVELS, computed.tolist(), strict=True):
        assert -left <= z <= right
        width = left + right
        margin = 1e-14 * min(width, max(1.0, abs(z)))
        assert z - margin <= -left or true_cdf(z - margin, left, right) <= q, (q, z)
        assert z + margin >= right or true_cdf(z + margin, left, right) >= q, (q, z)


@each_side
def test_the_quantile_of_zero_and_of_one_are_the_ends(left: float, right: float) -> None:
    assert NORMAL.quantile(np.array([0.0, 1.0]), *arrays(left, right)).tolist() == [-left, right]


@each_side
def test_the_quantile_inverts_the_cdf_where_doubles_allow(left: float, right: float) -> None:
    z = positions(left, right)
    density = NORMAL.density(z, *arrays(left, right))
    level = NORMAL.cumulative(z, *arrays(left, right))
    back = NORMAL.quantile(level, *arrays(left, right))
    known = density * min(left + right, 1.0) > 1e-3  # elsewhere a level stands for many points
    margin = 2e-16 / density[known] + 1e-14 * np.maximum(min(left + right, 1.0), abs(z[known]))
    assert known.any()
    assert (np.abs(back - z)[known] <= 4 * margin).all()


@each_side
def test_the_cdf_inverts_the_quantile(left: float, right: float) -> None:
    q = np.array(LEVELS)
    z = NORMAL.quantile(q, *arrays(left, right))
    slack = NORMAL.density(z, *arrays(left, right)) * np.maximum(np.spacing(np.abs(z)), 5e-324)
    back = NORMAL.cumulative(z, *arrays(left, right))
    slack += NORMAL.density(z, *arrays(left, right)) * np.spacing(max(left, right, 5e-324))
    assert (np.abs(back - q) <= 4 * slack + 4e-15 * np.minimum(q, 1 - q) + 3e-16).all()


@each_side
def test_the_mean_and_the_second_moment_are_right(left: float, right: float) -> None:
    with mp.workdps(DIGITS):
        a, b = mpf(left), mpf(right)
        mass = between(-left, right)
        bias = (mp.npdf(a) - mp.npdf(b)) / mass
        square = 1 - (a * mp.npdf(a) + b * mp.npdf(b)) / mass
    assert float(NORMAL.bias(*arrays(left, right))) == pytest.approx(
        float(bias), rel=2e-14, abs=1e-300
    )
    assert float(NORMAL.second_moment(*arrays(left, right))) == pytest.approx(
        float(square), rel=2e-14, abs=0
    )


@each_side
def test_moments_of_the_mirror_image_are_mirrored(left: float, right: float) -> None:
    sides, mirror = arrays(left, right), arrays(right, left)
    assert NORMAL.bias(*sides) == -NORMAL.bias(*mirror)
    assert NORMAL.second_moment(*sides) == NORMAL.second_moment(*mirror)
    assert NORMAL.mass(*sides) == NORMAL.mass(*mirror)


def test_the_bias_points_away_from_the_nearer_bound() -> None:
    for u in WIDTHS:
        assert NORMAL.bias(*arrays(u / 2, u / 2)) == 0
        assert NORMAL.bias(*arrays(0.0, u)) > 0 > NORMAL.bias(*arrays(u, 0.0))


def test_a_wide_interval_leaves_the_normal_distribution_and_a_narrow_one_the_uniform() -> None:
    assert float(NORMAL.second_moment(*arrays(1e7, 1e7))) == pytest.approx(1, rel=1e-15, abs=0)
    assert float(NORMAL.second_moment(*arrays(0.0, 1e-9))) == pytest.approx(
        1e-18 / 3, rel=1e-14, abs=0
    )
    assert float(NORMAL.bias(*arrays(0.0, 1e-9))) == pytest.approx(5e-10, rel=1e-14, abs=0)
    level = np.array([0.2, 0.8])
    uniform = NORMAL.quantile(level, *arrays(0.0, 1e-9))
    np.testing.assert_allclose(uniform, 1e-9 * level, rtol=1e-14)
    standard = NORMAL.quantile(np.array([0.975]), *arrays(1e7, 1e7))
    np.testing.assert_allclose(standard, [1.959963984540054], rtol=1e-14)


def test_arrays_give_what_their_elements_give() -> None:
    left, right = (np.array(side) for side in zip(*SIDES, strict=True))
    z, q = 0.3 * right - 0.2 * left, np.linspace(0.01, 0.99, left.size)
    for function, first in ((NORMAL.density, z), (NORMAL.cumulative, z), (NORMAL.quantile, q)):
        whole = function(first, left, right)
        single = [float(function(*arrays(*row))) for row in zip(first, left, right, strict=True)]
        np.testing.assert_allclose(whole, single, rtol=4e-15)


def test_functions_broadcast() -> None:
    z, left, right = np.zeros((3, 1)), np.array([1.0, 2.0]), np.array([2.0, 5.0])
    assert NORMAL.density(z, left, right).shape == (3, 2)
    assert NORMAL.cumulative(z, left, right).shape == (3, 2)
    assert NORMAL.quantile(z + 0.5, left, right).shape == (3, 2)
    assert NORMAL.posterior_mean(np.ones((3, 2)), np.array([2.0, 4.0])).shape == (3, 2)


POSTERIORS = [
    (u, x)
    for u in (1e-9, 1e-3, 0.5, 1.0, 4.0, 12.0, 25.0, 1e7)
    for x in (0.0, 0.3 * u, u - min(u, 1.0) / 3)
]


@pytest.mark.parametrize(("u", "x"), POSTERIORS)
def test_the_posterior_mean_is_the_ratio_of_its_integrals(u: float, x: float) -> None:
    with mp.workdps(18):
        low, high = max(mpf(0), mpf(x) - 10), min(mpf(u), mpf(x) + 10)
        root = mp.sqrt(2)

        def likelihood(s: mpf) -> mpf:
            inside = mp.erf(s / root) + mp.erf((mpf(u) - s) / root)
            return mp.exp(-((mpf(x) - s) ** 2) / 2) / inside

        pieces = mp.linspace(low, high, 5)
        whole = mp.quad(likelihood, pieces)
        centre = mp.quad(lambda s: s * likelihood(s), pieces) / whole
    computed = float(NORMAL.posterior_mean(*arrays(x, u)))
    assert computed == pytest.approx(float(centre), rel=1e-12, abs=0)


def test_the_posterior_mean_rises_with_the_output_and_is_mirrored() -> None:
    for u in (1e-6, 0.7, 5.0, 30.0):
        x = np.linspace(0, u, 201)
        computed = NORMAL.posterior_mean(x, np.full(x.size, u))
        assert (np.diff(computed) > 0).all()
        np.testing.assert_allclose(computed + computed[::-1], u, rtol=1e-13)


def test_more_outputs_than_one_block_are_all_denoised(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.linspace(0, 3, 50)
    expected = NORMAL.posterior_mean(x, np.full(50, 3.0))
    monkeypatch.setattr(normal, "_BLOCK", 7)
    np.testing.assert_allclose(NORMAL.posterior_mean(x, np.full(50, 3.0)), expected, rtol=1e-15)
