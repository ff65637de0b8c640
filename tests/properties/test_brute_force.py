"""Epsilon against brute force over all (s, s', z): never exceeded, and reached.

The loss is ln p_s(z) - ln p_s'(z) from the definition of the density, searched on grids over the
values, the neighbours and the answers at once, and then refined by a general optimiser. Nothing
here knows where the worst case lies, nor comes from the library's numerics.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import erf

import inbounds as ib

ROUNDING = 1e-12  # of the brute force itself
REACHED = 1e-9

INTERVALS = [(0, 1), (-7, -4.5), (1e9, 1e9 + 0.375), (-1e9 - 3, -1e9), (-1e-3, 2e6), (-3e-7, 1e-7)]
BOXES = {
    "the paper's example": ([0, 1], [10, 9]),
    "negative": ([-7, -3], [-2, -0.5]),
    "offset by 1e9": ([1e9, -1e9 - 0.5], [1e9 + 2, -1e9]),
    "of very different widths": ([0, -1e6], [1, 0]),
    "cube": ([0, 0, 0], [1, 1, 1]),
    "three offsets": ([-1, 1e9, 5], [1.5, 1e9 + 3, 5.25]),
    "three very different widths": ([0, -50, 1e9], [1, 950, 1e9 + 1e6]),
}
KINDS = ["L2", "L1", "LInf", "PerCoordinate", "L2 & PerCoordinate", "L1 & PerCoordinate"]


def log_density(x: np.ndarray, s: np.ndarray, width: float, sigma: float) -> np.ndarray:
    """ln p_s(x) with p_s(x) ∝ exp(-(x-s)²/2σ²) on [0, w], normalised; positions from `lower`."""
    inside = erf((width - s) / sigma / math.sqrt(2)) + erf(s / sigma / math.sqrt(2))
    return -(((x - s) / sigma) ** 2) / 2 - np.log(sigma * math.sqrt(math.pi / 2) * inside)


@dataclass(frozen=True)
class Search:
    """A box by its exact widths, the noise, and the differences allowed: |d| <= caps, ‖d‖ <= D."""

    widths: np.ndarray
    sigma: np.ndarray
    caps: np.ndarray
    order: int | None
    radius: float

    @property
    def size(self) -> int:
        return self.widths.size

    def loss(self, point: np.ndarray) -> float:
        """The privacy loss of s, s' and z, given one after the other as shares of the widths."""
        s, other, z = point.reshape(3, -1) * self.widths
        columns = zip(s, other, z, self.widths, self.sigma, strict=True)
        return float(
            sum(log_density(c, a, w, g) - log_density(c, b, w, g) for a, b, c, w, g in columns)
        )

    def allows(self, sizes: list[np.ndarray]) -> np.ndarray:
        """Which combinations of one difference per coordinate are allowed, up to an ulp or two."""
        slack = 4e-16 * self.widths
        inside = [size <= cap + e for size, cap, e in zip(sizes, self.caps, slack, strict=True)]
        allowed = reduce(np.logical_and.outer, inside)
        if self.order is not None:
            powers = reduce(np.add.outer, [size**self.order for size in sizes])
            allowed &= powers <= (self.radius * (1 + 1e-15) + slack.sum()) ** self.order
        return allowed.ravel()

    def on_a_grid(self, coarse: int) -> tuple[float, list[np.ndarray]]:
        """Try every s, s' and z of a grid that also holds points one change away from the ends.

        Return the largest loss, and where to climb from: the best point, and the best of those
        that differ in every coordinate (where two values agree, nothing tells z where to go).
        """
        axes, losses, sizes = [], [], []
        for i in range(self.size):
            width, near = self.widths[i], self.caps[i]
            if self.order is not None:
                near = min(near, self.radius / self.size ** (1 / self.order))
            ends = [0, near, width - near, width]
            axis = np.unique(np.concatenate([np.linspace(0, width, coarse), ends]))
            s, other, z = (g.ravel() for g in np.meshgrid(axis, axis, axis, indexing="ij"))
            losses.append(
                log_density(z, s, width, self.sigma[i])
                - log_density(z, other, width, self.sigma[i])
            )
            sizes.append(np.abs(s - other))
            axes.append(np.stack([s, other, z]) / width)
        total = np.where(self.allows(sizes), reduce(np.add.outer, losses).ravel(), -np.inf)
        everywhere = reduce(np.logical_and.outer, [size > 0 for size in sizes]).ravel()
        starts = []
        for candidates in (total, np.where(everywhere, total, -np.inf)):
            best = np.unravel_index(int(candidates.argmax()), [size.size for size in sizes])
            point = np.stack([axis[:, k] for axis, k in zip(axes, best, strict=True)], axis=1)
            starts.append(point.ravel())
        return float(total.max()), starts

    def refined(self, start: np.ndarray) -> float:
        """Climb from `start` with a general optimiser: the size of each difference, s' and z.

        Sizes are counted in the largest each may take; what comes out is made allowed exactly.
        """
        m, s, other = self.size, *start.reshape(3, -1)[:2]
        sign = np.where(s >= other, 1.0, -1.0)
        unit = self.caps / self.widths
        scale = self.loss(start)

        def unpack(x: np.ndarray) -> np.ndarray:
            size, at, z = x.reshape(3, -1)
            return np.concatenate([at + sign * size * unit, at, z])

        def descent(x: np.ndarray) -> np.ndarray:
            by_s, by_other, by_z = self.slopes(unpack(x)).reshape(3, -1)
            return -np.concatenate([by_s * sign * unit, by_s + by_other, by_z]) / scale

        rules = [
            {"type": "ineq", "fun": lambda x: unpack(x)[:m]},
            {"type": "ineq", "fun": lambda x: 1 - unpack(x)[:m]},
        ]
        if self.order is not None:
            most, order = self.caps / self.radius, self.order
            rules.append({"type": "ineq", "fun": lambda x: 1 - ((x[:m] * most) ** order).sum()})
        x = np.concatenate([np.abs(s - other) / unit, start[m:]])
        best = scale
        for _ in range(3):
            x = minimize(
                lambda x: -self.loss(unpack(x)) / scale,
                x,
                jac=descent,
                bounds=[(0, 1)] * (3 * m),
                constraints=rules,
                method="SLSQP",
                options={"ftol": 1e-16, "maxiter": 200},
            ).x
            x = self.allowed(np.clip(x, 0, 1))
            found = self.loss(np.clip(unpack(x), 0, 1))
            if found <= best * (1 + 1e-12):
                break
            best = found
        return max(best, found)

    def slopes(self, point: np.ndarray) -> np.ndarray:
        """The gradient of `loss`, in the same order."""
        s, other, z = point.reshape(3, -1) * self.widths

        def by_value(s: np.ndarray) -> np.ndarray:
            left, right = s / self.sigma, (self.widths - s) / self.sigma
            inside = math.sqrt(math.pi / 2) * (erf(left / math.sqrt(2)) + erf(right / math.sqrt(2)))
            edges = np.exp(-left * left / 2) - np.exp(-right * right / 2)
            return (z - s) / self.sigma**2 - edges / inside / self.sigma

        by_z = (s - other) / self.sigma**2
        return np.concatenate(
            [by_value(s) * self.widths, -by_value(other) * self.widths, by_z * self.widths]
        )

    def allowed(self, x: np.ndarray) -> np.ndarray:
        """Shorten the difference until the norm allows it, which keeps s in the box."""
        size, rest = x[: self.size], x[self.size :]
        if self.order is not None:
            norm = float(np.linalg.norm(size * self.caps, self.order))
            size = size * min(1.0, self.radius / max(norm, 1e-300))
        return np.concatenate([size, rest])


def build(
    kind: str, share: float, lower: list[float], upper: list[float], sigma: float | np.ndarray
) -> tuple[Search, ib.BoundedGaussian]:
    pairs = zip(lower, upper, strict=True)
    widths = np.array([float(Fraction(high) - Fraction(low)) for low, high in pairs])
    uneven = np.linspace(0.6, 1.2, widths.size) if widths.size > 1 else np.ones(1)
    caps, order, radius = np.full(widths.size, math.inf), None, math.inf
    parts = []
    for name in kind.split(" & "):
        if name == "PerCoordinate":
            caps = share * uneven * widths
            parts.append(ib.PerCoordinate(caps))
        elif name == "LInf":
            caps = np.full(widths.size, share * widths.max())
            parts.append(ib.LInf(caps[0]))
        else:
            order = int(name[1])
            # beside caps the norm must cut, and leave some caps to matter
            radius = share * float(np.linalg.norm(widths, order)) * (0.7 if "&" in kind else 1)
            parts.append({1: ib.L1, 2: ib.L2}[order](radius))
    sensitivity = reduce(lambda a, b: a & b, parts)
    box = ib.Box(lower, upper) if widths.size > 1 else ib.Box(lower[0], upper[0])
    reach = np.minimum(np.minimum(caps, radius), widths)
    search = Search(widths, np.broadcast_to(sigma, widths.size), reach, order, radius)
    return search, ib.BoundedGaussian(box, sensitivity, sigma)


def compare(search: Search, mechanism: ib.BoundedGaussian, coarse: int) -> None:
    on_grid, starts = search.on_a_grid(coarse)
    best = max(on_grid, *map(search.refined, starts))
    assert best <= mechanism.epsilon * (1 + ROUNDING)
    assert best >= mechanism.epsilon * (1 - REACHED)


@pytest.mark.parametrize("ratio", [0.5, 3.0, 20.0])
@pytest.mark.parametrize("share", [0.01, 0.1, 0.5, 0.9, 1.0, 2.5])
@pytest.mark.parametrize(("lower", "upper"), INTERVALS)
def test_on_an_interval_brute_force_reaches_epsilon_and_never_exceeds_it(
    lower: float, upper: float, share: float, ratio: float
) -> None:
    search, mechanism = build("L2", share, [lower], [upper], (upper - lower) / ratio)
    compare(search, mechanism, coarse=41)


@pytest.mark.parametrize("share", [0.3, 1.0, 1.4])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_sensitivity_means_the_same_on_an_interval(kind: str, share: float) -> None:
    search, mechanism = build(kind, share, [-2], [3], 1.7)
    compare(search, mechanism, coarse=41)


@pytest.mark.parametrize("noise", ["isotropic", "low isotropic", "per coordinate"])
@pytest.mark.parametrize("share", [0.05, 0.4, 1.0, 1.7])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", list(BOXES))
def test_on_a_box_brute_force_reaches_epsilon_and_never_exceeds_it(
    name: str, kind: str, share: float, noise: str
) -> None:
    lower, upper = BOXES[name]
    widths = np.array(upper, float) - np.array(lower, float)
    sigma = {
        "isotropic": widths.max() / 3,
        "low isotropic": math.sqrt(widths.max() * widths.min()) / 5,
        "per coordinate": widths * np.linspace(0.9, 0.2, widths.size),
    }[noise]
    search, mechanism = build(kind, share, lower, upper, sigma)
    compare(search, mechanism, coarse=7 if widths.size == 2 else 2)


@pytest.mark.parametrize("ratio", [0.5, 3.0, 20.0])
@pytest.mark.parametrize("share", [0.1, 0.9, 2.5])
@pytest.mark.parametrize(("lower", "upper"), INTERVALS)
def test_the_densities_a_mechanism_states_differ_by_at_most_its_epsilon(
    lower: float, upper: float, share: float, ratio: float
) -> None:
    width = upper - lower
    mechanism = ib.BoundedGaussian(ib.Box(lower, upper), share * width, width / ratio)
    grid = lower + width * np.linspace(0, 1, 61)
    grid[-1] = upper
    density = np.log(mechanism.pdf(grid[None, :], grid[:, None]))  # value by answer
    near = np.abs(grid[:, None] - grid[None, :]) <= share * width
    losses = (density[:, None, :] - density[None, :, :]).max(axis=2)
    assert losses[near].max() <= mechanism.epsilon * (1 + 1e-11)
    assert losses[near].max() >= mechanism.epsilon * 0.8
