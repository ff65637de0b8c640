"""Boxes of many dimensions: epsilon enclosed between an allowed change and the certificate."""

import itertools
import math
import zlib

import numpy as np
import pytest
from flint import arb, ctx
from scipy.optimize import brentq
from scipy.special import erf

import inbounds as ib
from inbounds.numerics.normal import NORMAL

# Guarantees of every strength are tried.
pytestmark = pytest.mark.filterwarnings("ignore::inbounds.errors.WeakGuaranteeWarning")

KINDS = ["L2", "L1", "L2 & PerCoordinate", "L1 & PerCoordinate"]
CASES = [
    *itertools.product([50, 1000], KINDS, ["distinct", "repeated"], ["isotropic", "width"]),
    (20000, "L2 & PerCoordinate", "distinct", "isotropic"),
    (20000, "L1 & PerCoordinate", "distinct", "width"),
    (20000, "L1", "repeated", "isotropic"),
    (20000, "L2", "repeated", "width"),
]


def slopes(width: np.ndarray, change: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    """How fast the loss of each coordinate grows with its change: the mean of p over σ²."""
    rest = width - change
    edges = np.exp(-((rest / sigma) ** 2) / 2) - np.exp(-((change / sigma) ** 2) / 2)
    mass = erf(change / sigma / math.sqrt(2)) + erf(rest / sigma / math.sqrt(2))
    return (rest / sigma + math.sqrt(2 / math.pi) * edges / mass) / sigma


def nearly_worst_change(
    width: np.ndarray, cap: np.ndarray, order: int, radius: float, sigma: np.ndarray
) -> np.ndarray:
    """Six digits of the worst change: what it reaches is second order in its error."""

    def response(price: float) -> np.ndarray:
        low, high = np.zeros_like(cap), cap.copy()
        for _ in range(30):
            middle = (low + high) / 2
            rises = slopes(width, middle, sigma) > price * middle ** (order - 1)
            low, high = np.where(rises, middle, low), np.where(rises, high, middle)
        return np.where(low == 0, 0, high)

    def excess(log_price: float) -> float:
        return float(np.linalg.norm(response(math.exp(log_price)), order)) / radius - 1

    most = 2 * float(slopes(width, np.zeros_like(cap), sigma).max())
    most *= (math.sqrt(width.size) / radius) ** (order - 1)
    change = response(math.exp(brentq(excess, math.log(most) - 60, math.log(most), xtol=1e-8)))
    for _ in range(5):  # what is missing goes to those below their caps
        free = (change > 0) & (change < cap)
        wanted = radius**order - float((change[~free] ** order).sum())
        factor = (wanted / float((change[free] ** order).sum())) ** (1 / order)
        change[free] = np.minimum(change[free] * factor, cap[free])
    return change * min(1.0, radius / float(np.linalg.norm(change, order))) * (1 - 1e-14)


@pytest.mark.parametrize(("size", "kind", "widths", "scaling"), CASES)
def test_epsilon_of_a_large_box_is_enclosed_within_1e_12(
    size: int, kind: str, widths: str, scaling: str
) -> None:
    rng = np.random.default_rng(zlib.crc32(f"{size} {kind} {widths} {scaling}".encode()))
    width = 10 ** rng.uniform(-1, 1, size)
    if widths == "repeated":
        width = rng.choice(width[:7], size)
    order, share = int(kind[1]), rng.uniform(0.05, 0.6)
    cap = share * width * rng.choice([0.3, 0.7, 1.0], size)
    radius = 0.5 * float(np.linalg.norm(cap, order))
    sensitivity = {1: ib.L1, 2: ib.L2}[order](radius)
    if "&" in kind:
        sensitivity &= ib.PerCoordinate(cap)
    else:
        cap = np.minimum(width, radius)
    epsilon = float(10 ** rng.uniform(-1, 1) * math.sqrt(size))
    mechanism = ib.BoundedGaussian.calibrated(
        ib.Box(np.zeros(size), width), sensitivity, epsilon=epsilon, scaling=scaling
    )

    proof = mechanism.certificate()
    assert proof.epsilon <= mechanism.epsilon <= epsilon
    assert mechanism.epsilon <= proof.epsilon * (1 + 1e-12)

    sigma = np.broadcast_to(mechanism.sigma, size)
    change = nearly_worst_change(width, cap, order, radius, sigma)
    columns, counts = np.unique(np.stack([width, change, sigma]), axis=1, return_counts=True)
    with ctx.workprec(128):
        reached = arb(0)
        for (w, c, s), count in zip(columns.T.tolist(), counts.tolist(), strict=True):
            reached += count * NORMAL.loss_and_slope(arb(w), arb(c), arb(s))[0]
    assert reached <= arb(proof.epsilon)
    assert float(reached) >= epsilon * (1 - 1e-12)


@pytest.mark.parametrize(("size", "kind"), [(50, "LInf"), (1000, "LInf"), (20000, "PerCoordinate")])
def test_coordinates_bounded_one_by_one_add_up(size: int, kind: str) -> None:
    rng = np.random.default_rng(size)
    width = 10 ** rng.uniform(-1, 1, size)
    cap = np.full(size, 0.3) if kind == "LInf" else 0.2 * width * rng.uniform(0.5, 1.5, size)
    sensitivity = ib.LInf(0.3) if kind == "LInf" else ib.PerCoordinate(cap)
    epsilon = math.sqrt(size)
    mechanism = ib.BoundedGaussian.calibrated(
        ib.Box(np.zeros(size), width), sensitivity, epsilon=epsilon
    )
    with ctx.workprec(128):
        sigma, total = arb(mechanism.sigma), arb(0)
        for w, c in zip(width.tolist(), np.minimum(cap, width).tolist(), strict=True):
            total += NORMAL.loss_and_slope(arb(w), arb(c), sigma)[0]
    proof = mechanism.certificate()
    assert total <= arb(proof.epsilon)
    assert proof.epsilon <= mechanism.epsilon <= epsilon
    assert float(total) >= epsilon * (1 - 1e-12)
