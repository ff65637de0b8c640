import itertools
import math

import pytest
from mpmath import mp, mpf

from inbounds.calibration.gaussian import gaussian_delta, gaussian_mu


def true_delta(mu: float, epsilon: float) -> mpf:
    shift, rate = mpf(mu) / 2, mpf(epsilon) / mpf(mu)
    return mp.ncdf(shift - rate) - mp.exp(epsilon) * mp.ncdf(-shift - rate)


@pytest.mark.parametrize(
    ("mu", "epsilon"),
    [
        *itertools.product([1e-9, 1e-3, 0.1, 1.0, 7.0], [0.0, 1e-9, 1e-3, 0.2]),
        (1.0, 5.0),
        (0.05, 1.5),
        (30.0, 700.0),
        (45.0, 1000.0),
    ],
)
def test_delta_is_the_true_one_rounded_up(mu: float, epsilon: float) -> None:
    computed = gaussian_delta(mu, epsilon)
    with mp.workdps(700):
        truth = true_delta(mu, epsilon)
        assert truth <= computed
        assert computed <= truth * (1 + mpf(2) ** -50) or truth < 1e-305


@pytest.mark.parametrize("epsilon", [0.0, 1e-10, 1e-3, 0.1, 1.0, 10.0, 700.0, 1000.0])
@pytest.mark.parametrize("delta", [1e-299, 1e-100, 1e-12, 1e-6, 0.1, 0.9, 1 - 1e-9])
def test_mu_is_the_largest_that_keeps_delta(epsilon: float, delta: float) -> None:
    mu = gaussian_mu(epsilon, delta)
    with mp.workdps(700):
        assert true_delta(mu, epsilon) <= delta
        more = 4 * math.ulp(delta) / min(delta, 1 - delta) + 1e-12
        assert true_delta(mu * (1 + 4 * more), epsilon) > delta


def test_the_analytic_gaussian_of_the_literature_is_found() -> None:
    """Δ = 1, ε = 1, δ = 1e-6: σ = 4.2247 (Balle and Wang's algorithm)."""
    assert 1 / gaussian_mu(1.0, 1e-6) == pytest.approx(4.224678889326892, rel=1e-12)


@pytest.mark.parametrize(("mu", "epsilon"), [(1e-300, 1.0), (1e-3, 1e300), (1e-200, 1e200)])
def test_far_in_the_tail_delta_is_the_least_double(mu: float, epsilon: float) -> None:
    assert gaussian_delta(mu, epsilon) == math.ulp(0.0)


def test_far_apart_delta_is_one() -> None:
    assert gaussian_delta(1e200, 1e3) == 1.0
