import math
from typing import Any

import pytest
from mpmath import mp, mpf
from scipy.special import ndtr

from inbounds import L1, L2, Box, ClampedGaussian, LInf, PerCoordinate
from inbounds.errors import ArgumentError, ArgumentTypeError

WIDE = Box(0, 1e9)
PLANE = Box([0, 1], [10, 9])
EPSILONS = [0.01, 0.1, 1.0, 3.0, 10.0]
DELTAS = [1e-12, 1e-6, 1e-3, 0.1]


def gaussian_delta(sigma: Any, epsilon: Any) -> mpf:
    """The plain Gaussian's δ at sensitivity 1, at the precision of the caller."""
    s, e = mpf(sigma), mpf(epsilon)
    near, far = 1 / (2 * s) - e * s, -1 / (2 * s) - e * s
    return mp.ncdf(near) - mp.exp(e) * mp.ncdf(far)


def analytic_sigma(epsilon: float, delta: float) -> float:
    """The least sigma by bisection at 40 digits: an implementation of its own."""
    with mp.workdps(40):
        low, high = mpf("1e-3"), mpf(10) ** 4
        for _ in range(70):
            middle = mp.sqrt(low * high)
            low, high = (
                (low, middle) if gaussian_delta(middle, epsilon) <= delta else (middle, high)
            )
        return float(high)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", DELTAS)
def test_the_analytic_sigma_agrees_with_an_independent_computation(
    epsilon: float, delta: float
) -> None:
    mechanism = ClampedGaussian.calibrated(WIDE, 1.0, epsilon=epsilon, delta=delta)
    assert mechanism.sigma == pytest.approx(analytic_sigma(epsilon, delta), rel=1e-9, abs=0)
    with mp.workdps(40):
        assert gaussian_delta(mechanism.sigma, epsilon) <= delta


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0])
@pytest.mark.parametrize("delta", [*DELTAS, 0.9])
def test_the_classical_sigma_is_the_textbook_formula_and_never_too_small(
    epsilon: float, delta: float
) -> None:
    classical = ClampedGaussian.calibrated(
        WIDE, 2.0, epsilon=epsilon, delta=delta, method="classical"
    )
    expected = 2.0 * math.sqrt(2 * math.log(1.25 / delta)) / epsilon
    assert classical.sigma == pytest.approx(expected, rel=1e-13, abs=0)
    with mp.workdps(40):
        assert gaussian_delta(classical.sigma / 2, epsilon) <= delta


@pytest.mark.parametrize("epsilon", [1.0000001, 2.0, 1e9])
def test_the_classical_formula_ends_at_epsilon_one(epsilon: float) -> None:
    with pytest.raises(ArgumentError, match=r"^epsilon must be at most 1 for method='classical'"):
        ClampedGaussian.calibrated(WIDE, 1.0, epsilon=epsilon, delta=1e-6, method="classical")


def test_the_classical_formula_would_be_wrong_for_large_epsilon() -> None:
    """Why the limit: at epsilon 10 the formula promises δ = 1e-6 and gives nearly twice that."""
    sigma = math.sqrt(2 * math.log(1.25e6)) / 10
    with mp.workdps(40):
        assert gaussian_delta(sigma, 10) > 1.9e-6


def test_clamping_lowers_the_sigma_needed_in_a_narrow_box() -> None:
    sigmas = {
        method: ClampedGaussian.calibrated(Box(0, 1), 1.0, epsilon=0.1, delta=1e-6, method=method)
        for method in ("analytic", "exact")
    }
    assert sigmas["analytic"].sigma == pytest.approx(36.305, abs=5e-4)
    assert sigmas["exact"].sigma == pytest.approx(8.364, abs=5e-4)
    wide = ClampedGaussian.calibrated(WIDE, 1.0, epsilon=0.1, delta=1e-6, method="exact")
    assert wide.sigma == pytest.approx(sigmas["analytic"].sigma, rel=1e-9)


@pytest.mark.parametrize("width", [1.0, 3.0, 20.0])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("delta", [0.0, 1e-9, 1e-3])
def test_the_exact_method_never_needs_more_and_keeps_its_promise(
    width: float, epsilon: float, delta: float
) -> None:
    exact = ClampedGaussian.calibrated(
        Box(0, width), 1.0, epsilon=epsilon, delta=delta, method="exact"
    )
    assert exact.delta(epsilon) <= delta
    if delta == 0:
        assert epsilon * (1 - 1e-11) <= exact.epsilon <= epsilon
    else:
        plain = ClampedGaussian.calibrated(Box(0, width), 1.0, epsilon=epsilon, delta=delta)
        assert exact.sigma <= plain.sigma * (1 + 1e-12)
        assert plain.delta(epsilon) <= delta


@pytest.mark.parametrize("sensitivity", [L1(4), L2(4), LInf(4), PerCoordinate([4, 2])])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.1])
def test_joint_releases_keep_their_promise(sensitivity: Any, epsilon: float, delta: float) -> None:
    mechanism = ClampedGaussian.calibrated(PLANE, sensitivity, epsilon=epsilon, delta=delta)
    assert mechanism.delta(epsilon) <= delta
    diameter = {L1: 4, L2: 4, LInf: math.hypot(4, 4)}.get(type(sensitivity), math.hypot(4, 2))
    assert mechanism.sigma == pytest.approx(diameter * analytic_sigma(epsilon, delta), rel=1e-9)
    assert mechanism.delta(mechanism.epsilon) == 0


def test_pure_epsilon_is_finite_and_the_ratio_of_the_atoms() -> None:
    mechanism = ClampedGaussian(Box(0, 10), 4.0, 3.0)
    near, far = mechanism.mass_at_bounds([6.0, 10.0])[0]
    assert mechanism.epsilon == pytest.approx(math.log(near / far), rel=1e-12)
    assert mechanism.mass_at_bounds(0.0)[0] == 0.5
    assert mechanism.mass_at_bounds(0.0)[1] == pytest.approx(ndtr(-10 / 3), rel=1e-13)


@pytest.mark.parametrize("method", ["analytic", "classical"])
def test_no_delta_at_all_needs_the_exact_method(method: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^delta must be above 0 and below 1") as caught:
        ClampedGaussian.calibrated(Box(0, 1), 1.0, epsilon=1.0, delta=0, method=method)
    assert "Hint:" in str(caught.value)


@pytest.mark.parametrize("bad", [-1e-9, 1.0, 1.5, math.nan, math.inf])
def test_delta_must_be_a_probability_below_one(bad: float) -> None:
    for method in ("analytic", "classical", "exact"):
        with pytest.raises(ArgumentError, match=r"^delta must be"):
            ClampedGaussian.calibrated(Box(0, 1), 1.0, epsilon=1.0, delta=bad, method=method)


@pytest.mark.parametrize("bad", ["1e-6", None, True, [1e-6]])
def test_delta_must_be_a_number(bad: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"^delta must be a real number"):
        ClampedGaussian.calibrated(Box(0, 1), 1.0, epsilon=1.0, delta=bad)


def test_delta_has_no_default() -> None:
    with pytest.raises(TypeError, match="delta"):
        ClampedGaussian.calibrated(Box(0, 1), 1.0, epsilon=1.0)  # type: ignore[call-arg]


@pytest.mark.parametrize("bad", ["", "Exact", "renyi", None, 3])
def test_an_unknown_method_is_refused_with_the_choices(bad: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^method must be one of 'analytic', 'classical'"):
        ClampedGaussian.calibrated(Box(0, 1), 1.0, epsilon=1.0, delta=1e-6, method=bad)


def test_the_exact_method_is_for_one_coordinate() -> None:
    with pytest.raises(ArgumentError, match=r"^method must be 'analytic' or 'classical' on sev"):
        ClampedGaussian.calibrated(PLANE, 1.0, epsilon=1.0, delta=1e-6, method="exact")
    single = Box([0.0], [2.0])
    mechanism = ClampedGaussian.calibrated(single, 1.0, epsilon=1.0, delta=1e-6, method="exact")
    assert mechanism.sigma == pytest.approx(1.518, abs=5e-4)
