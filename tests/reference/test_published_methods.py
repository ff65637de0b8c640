"""The published calibrations against their own equations, solved here by a general optimiser."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import erf

import inbounds as ib


def log_delta_c(widths: np.ndarray, diameter: float, sigma: float) -> float:
    """Largest Σ ln([erf(c/√2σ) + erf((w-c)/√2σ)] / erf(w/√2σ)) with ‖c‖ <= ΔQ, 0 <= c <= w/2."""
    root = math.sqrt(2) * sigma

    def total(part: np.ndarray) -> float:
        change = part * widths / 2
        mass = erf(change / root) + erf((widths - change) / root)
        return -float(np.log(mass / erf(widths / root)).sum())

    def left(part: np.ndarray) -> float:
        return 1 - float(((part * widths / 2) ** 2).sum()) / diameter**2

    start = np.full(widths.size, min(1.0, diameter / float(np.linalg.norm(widths / 2))))
    found = minimize(
        total,
        start,
        bounds=[(0, 1)] * widths.size,
        constraints=[{"type": "ineq", "fun": left}],
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 300},
    )
    return -found.fun


@pytest.mark.parametrize("seed", range(12))
def test_the_paper_s_sigma_solves_the_paper_s_equation(seed: int) -> None:
    """σ² = K/(ε - ln ΔC(σ)) with K = (‖w‖ + ΔQ/2)ΔQ, on the side where ε > ln ΔC."""
    rng = np.random.default_rng(seed)
    widths = 10 ** rng.uniform(-0.5, 0.5, 2 + seed % 4)
    norm = float(np.linalg.norm(widths))
    diameter = norm * float(rng.uniform(0.05, 1))
    epsilon = float(10 ** rng.uniform(-1, 1.5))
    mechanism = ib.BoundedGaussian.calibrated(
        ib.Box(0 * widths, widths), diameter, epsilon=epsilon, method="paper"
    )
    left = epsilon - log_delta_c(widths, diameter, mechanism.sigma)
    assert left > 0
    assert mechanism.sigma**2 == pytest.approx((norm + diameter / 2) * diameter / left, rel=1e-8)


@pytest.mark.parametrize("seed", range(6))
def test_liu_s_sigma_is_the_published_sum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    widths = 10 ** rng.uniform(-2, 2, 1 + seed)
    changes = widths * rng.uniform(0.01, 1, widths.size)
    epsilon = float(10 ** rng.uniform(-3, 3))
    mechanism = ib.BoundedGaussian.calibrated(
        ib.Box(0 * widths, widths), ib.PerCoordinate(changes), epsilon=epsilon, method="liu"
    )
    expected = float((2 * widths * changes + changes**2).sum()) / epsilon
    assert mechanism.sigma**2 == pytest.approx(expected, rel=1e-13, abs=0)
