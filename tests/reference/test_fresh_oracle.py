"""Problems outside the table, against mpmath at 60 digits or more.

One dimension: the closed form and a root of it. Several: ε enclosed between what an allowed change
reaches and the tangent plane there, which no allowed change exceeds since the loss is concave.
Nothing here comes from the library's numerics.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.optimize import brentq
from scipy.special import erf

import inbounds as ib

# Guarantees of every strength are tried.
pytestmark = pytest.mark.filterwarnings("ignore::inbounds.errors.WeakGuaranteeWarning")

DIGITS = 60


def loss(width: mpf, change: mpf, sigma: mpf) -> mpf:
    """ε of one coordinate: γ(2u-γ)/2 - ln([erf(γ/√2) + erf((u-γ)/√2)] / erf(u/√2))."""
    if change == width:
        return (width / sigma) ** 2 / 2
    root = mp.sqrt(2) * sigma
    ratio = (mp.erf(change / root) + mp.erf((width - change) / root)) / mp.erf(width / root)
    return change * (2 * width - change) / (2 * sigma**2) - mp.log(ratio)


def slope(width: mpf, change: mpf, sigma: mpf) -> mpf:
    """dε/dc: the mean of the law centred at w - c, over σ²."""
    rest, root = width - change, mp.sqrt(2) * sigma
    edges = mp.exp(-((rest / sigma) ** 2) / 2) - mp.exp(-((change / sigma) ** 2) / 2)
    mass = mp.erf(change / root) + mp.erf(rest / root)
    return rest / sigma**2 + mp.sqrt(2 / mp.pi) * edges / mass / sigma


def interval_sigma(width: mpf, change: mpf, epsilon: mpf) -> mpf:
    """Root of ε(σ) inside the bracket cw/2 <= σ²ε <= c(w - c/2), in logarithms."""
    low = mp.log(change * width / (2 * epsilon)) / 2
    high = mp.log(change * (width - change / 2) / epsilon) / 2

    def excess(log_sigma: mpf) -> mpf:
        return mp.log(loss(width, change, mp.exp(log_sigma)) / epsilon)

    margin = mpf(10) ** -20
    return mp.exp(mp.findroot(excess, (low - margin, high + margin), solver="anderson", tol=1e-40))


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(10 ** rng.uniform(math.log10(low), math.log10(high)))


def interval_problems() -> list[tuple[float, float, float]]:
    """Width, sensitivity and ε over the whole range users may ask for."""
    rng = np.random.default_rng(20261115)
    problems = []
    for index in range(120):
        width = log_uniform(rng, 1e-6, 1e12)
        near_the_width = index % 3 == 0
        change = width * rng.uniform(0.5, 2) if near_the_width else log_uniform(rng, 1e-18, width)
        problems.append((width, change, log_uniform(rng, 1e-9, 1e3)))
    corners = [(w, d, e) for w in (1e-6, 1e12) for d in (1e-18, 2 * w) for e in (1e-9, 1e3)]
    return problems + corners


@pytest.mark.parametrize(("width", "change", "epsilon"), interval_problems())
def test_sigma_and_epsilon_on_an_interval(width: float, change: float, epsilon: float) -> None:
    mechanism = ib.BoundedGaussian.calibrated(ib.Box(0, width), change, epsilon=epsilon)
    with mp.workdps(120):  # the smallest changes cost 70 digits
        reach = min(mpf(change), mpf(width))
        sigma = interval_sigma(mpf(width), reach, mpf(epsilon))
        delivered = loss(mpf(width), reach, mpf(mechanism.sigma))
        assert abs(mechanism.sigma / sigma - 1) < 1e-11
        assert abs(mechanism.epsilon / delivered - 1) < 1e-12
        assert delivered <= mechanism.epsilon <= epsilon
        assert delivered <= mechanism.certificate().epsilon <= delivered * (1 + mpf(2) ** -51)


@pytest.mark.parametrize("share", [1e-12, 1e-4, 0.2, 0.5, 0.8, 1 - 1e-9, 1])
@pytest.mark.parametrize("u", [10.0**k for k in range(-9, 8)] + [0.9, 2.0, 3.7, 12.0])
def test_epsilon_from_w_over_sigma_1e_9_to_1e7(u: float, share: float) -> None:
    mechanism = ib.BoundedGaussian(ib.Box(0, 1), share, 1 / u)
    with mp.workdps(120):
        delivered = loss(mpf(1), mpf(share), mpf(mechanism.sigma))
        assert abs(mechanism.epsilon / delivered - 1) < 1e-12


def test_epsilon_is_never_below_the_truth_nor_1e_13_above_it() -> None:
    """Dense where the formulas change hands: w/σ from 0.2 to 50, changes of every size."""
    rng = np.random.default_rng(5)
    for _ in range(400):
        u = log_uniform(rng, 0.2, 50)
        change = float(rng.uniform(0, 1)) if rng.random() < 0.5 else log_uniform(rng, 0.05, 2) / u
        mechanism = ib.BoundedGaussian(ib.Box(0, 1), change, 1 / u)
        with mp.workdps(DIGITS):
            truth = loss(mpf(1), mpf(min(change, 1.0)), mpf(mechanism.sigma))
            assert truth <= mechanism.epsilon <= truth * (1 + mpf(10) ** -13)


@dataclass(frozen=True)
class Problem:
    """Changes c with 0 <= c <= caps and ‖c‖ <= radius, by the norm of this order if any."""

    widths: np.ndarray
    caps: np.ndarray
    order: int | None
    radius: float
    sensitivity: Any
    epsilon: float

    @property
    def norm_binds(self) -> bool:
        return self.order is not None and np.linalg.norm(self.caps, self.order) > self.radius


def float_slope(width: np.ndarray, change: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    u, far, near = width / sigma, width - change, change
    near, far = np.minimum(near, far) / sigma, np.maximum(near, far) / sigma
    edges = np.exp(-near * near / 2) * np.expm1(-u * (far - near) / 2)
    edges *= np.where(change * 2 <= width, 1, -1)
    mass = erf(near / math.sqrt(2)) + erf(far / math.sqrt(2))
    return ((width - change) / sigma + math.sqrt(2 / math.pi) * edges / mass) / sigma


def response(problem: Problem, sigma: np.ndarray, nu: float) -> np.ndarray:
    """The change of each coordinate at price ν, by bisection."""
    low, high = np.zeros_like(problem.caps), problem.caps.copy()
    for _ in range(54):
        middle = (low + high) / 2
        price = nu * middle if problem.order == 2 else nu
        rises = float_slope(problem.widths, middle, sigma) > price
        low, high = np.where(rises, middle, low), np.where(rises, high, middle)
    return np.where(low == 0, 0, high)


def nearly_worst_change(problem: Problem, sigma: np.ndarray) -> tuple[np.ndarray, float]:
    """Find the price at which the responses just meet the norm; doubles are enough."""
    if not problem.norm_binds:
        return problem.caps, 0.0

    def excess(nu: float) -> float:
        return float(np.linalg.norm(response(problem, sigma, nu), problem.order)) - problem.radius

    steepest = float(float_slope(problem.widths, np.zeros_like(sigma), sigma).max())
    most = 2 * steepest
    if problem.order == 2:
        most *= math.sqrt(problem.widths.size) / problem.radius
    nu = brentq(excess, most * 1e-30, most, xtol=most * 1e-40, rtol=1e-15, maxiter=300)
    below, above = (response(problem, sigma, nu * factor) for factor in (1 - 2e-15, 1 + 2e-15))
    over, under = (np.linalg.norm(c, problem.order) - problem.radius for c in (below, above))
    share = under / (under - over) if over >= 0 > under else 0.0
    return above + (below - above) * share, nu


def bracket(problem: Problem, sigma: np.ndarray) -> tuple[mpf, mpf]:
    """Enclose ε: from below by an allowed change, from above by its tangent plane."""
    change, nu = nearly_worst_change(problem, sigma)
    widths, caps, scales, point = (
        [mpf(x) for x in side.tolist()] for side in (problem.widths, problem.caps, sigma, change)
    )
    if problem.norm_binds:  # to the last digit
        norm = mp.fsum(c**problem.order for c in point) ** (mpf(1) / problem.order)
        point = [
            min(c * min(1, problem.radius / norm), k) for c, k in zip(point, caps, strict=True)
        ]
    lower = mp.fsum(map(loss, widths, point, scales))
    if not problem.norm_binds:
        return lower, lower
    slopes = list(map(slope, widths, point, scales))
    along = mp.fsum(a * c for a, c in zip(slopes, point, strict=True))
    return lower, lower + best_along(problem, slopes, caps, mpf(nu)) - along


def best_along(problem: Problem, slopes: list[mpf], caps: list[mpf], nu: mpf) -> mpf:
    """Bound the largest Σ slope·x over allowed x (exactly under l1, by duality under l2)."""
    if problem.order == 1:
        left, total = mpf(problem.radius), mpf(0)
        for steep, cap in sorted(zip(slopes, caps, strict=True), reverse=True):
            step = min(cap, left)
            left, total = left - step, total + steep * step
        return total
    best = [min(steep / nu, cap) for steep, cap in zip(slopes, caps, strict=True)]
    rest = nu * mpf(problem.radius) ** 2 / 2
    return rest + mp.fsum(a * x - nu * x * x / 2 for a, x in zip(slopes, best, strict=True))


def box_problem(kind: str, dimension: int, seed: int) -> Problem:
    rng = np.random.default_rng([seed, dimension, len(kind)])
    decades = (0.3, 1, 3)[seed % 3]
    widths = log_uniform(rng, 1e-6, 1e12) * 10 ** rng.uniform(-decades, decades, dimension)
    share = log_uniform(rng, 1e-6, 1) if seed % 2 else rng.uniform(0.1, 0.9)
    caps = np.minimum(widths, widths * share * 10 ** rng.uniform(-0.5, 0.5, dimension))
    order = {"L2": 2, "L1": 1}.get(kind[:2])
    radius = float(np.linalg.norm(caps, order)) * rng.uniform(0.4, 0.8) if order else math.inf
    norm = {2: ib.L2, 1: ib.L1}.get(order)
    if "&" in kind:
        sensitivity = norm(radius) & ib.PerCoordinate(caps)
    elif order:
        sensitivity, caps = norm(radius), np.full(dimension, radius)
    elif kind == "LInf":
        sensitivity, caps = ib.LInf(caps[0]), np.full(dimension, caps[0])
    else:
        sensitivity = ib.PerCoordinate(caps)
    caps = np.minimum(caps, widths)
    return Problem(widths, caps, order, radius, sensitivity, log_uniform(rng, 1e-9, 1e3))


KINDS = ["L2", "L1", "L2 & PerCoordinate", "L1 & PerCoordinate", "LInf", "PerCoordinate"]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("scaling", ["isotropic", "width"])
@pytest.mark.parametrize("dimension", [2, 3, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_sigma_and_epsilon_on_a_box(kind: str, dimension: int, scaling: str, seed: int) -> None:
    """ε falls at least as fast as 1/σ², so an ε within 2e-12 below the request fixes σ to 1e-12."""
    problem = box_problem(kind, dimension, seed)
    mechanism = ib.BoundedGaussian.calibrated(
        ib.Box(0, problem.widths), problem.sensitivity, epsilon=problem.epsilon, scaling=scaling
    )
    sigma = np.broadcast_to(mechanism.sigma, dimension)
    with mp.workdps(DIGITS):
        lower, upper = bracket(problem, sigma)
        assert upper <= lower * (1 + mpf(10) ** -12)
        assert lower <= mechanism.certificate().epsilon <= mechanism.epsilon <= problem.epsilon
        assert mechanism.epsilon <= lower * (1 + mpf(10) ** -12)
        assert problem.epsilon <= lower * (1 + 2 * mpf(10) ** -12)
    if scaling == "width" and problem.norm_binds:
        assert sigma / problem.widths == pytest.approx(sigma[0] / problem.widths[0], rel=1e-14)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["LInf", "PerCoordinate"])
def test_scaling_by_width_gives_each_coordinate_a_share_like_its_root_k(
    kind: str, seed: int
) -> None:
    """In units of the width, K = d(1 - d/2): the sum of (σ/w)² is then least at low noise."""
    problem = box_problem(kind, 4, seed)
    mechanism = ib.BoundedGaussian.calibrated(
        ib.Box(0, problem.widths), problem.sensitivity, epsilon=problem.epsilon, scaling="width"
    )
    part = problem.caps / problem.widths
    root = np.sqrt(part * (1 - part / 2))
    with mp.workdps(DIGITS):
        columns = zip(problem.widths, problem.caps, mechanism.sigma, strict=True)
        spent = [float(loss(*map(mpf, column))) for column in columns]
    assert spent == pytest.approx(problem.epsilon * root / root.sum(), rel=1e-12, abs=0)
