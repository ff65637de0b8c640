import numpy as np
import pytest
from scipy.optimize import minimize

import inbounds as ib
from inbounds.recovery.cells import Cells
from inbounds.recovery.places import Places
from inbounds.recovery.plausible import Plausible, _drop

STEPS = ib.Window(ib.Box(0, 5, step=1), 5, epsilon=2.0)
VALUES = np.repeat([0, 1, 4], [300, 100, 200])


def found(mechanism: ib.Mechanism = STEPS, values: object = VALUES) -> Plausible:
    cells = Cells.of(mechanism, 64)
    return Plausible.of(mechanism, cells, cells.count(mechanism.release(np.asarray(values))))


def log_likelihood(plausible: Plausible, weights: np.ndarray) -> float:
    return float(plausible.counts @ np.log(weights @ plausible.places.response))


def by_another_solver(plausible: Plausible, gain: np.ndarray, drop: float) -> float:
    """The largest gain·w over plausible w, by sequential quadratic programming."""
    size = len(gain)
    total = plausible.counts.sum()
    even = np.full(size, 1 / size)
    simplex = {"type": "eq", "fun": lambda w: w.sum() - 1}
    bounds = [(1e-12, 1)] * size
    best = minimize(
        lambda w: -log_likelihood(plausible, w) / total,
        even,
        bounds=bounds,
        constraints=[simplex],
        options={"ftol": 1e-12, "maxiter": 500},
    )
    top = -best.fun * total
    near = {"type": "ineq", "fun": lambda w: (log_likelihood(plausible, w) - top + drop) / total}
    result = minimize(
        lambda w: -gain @ w,
        best.x,
        bounds=bounds,
        constraints=[simplex, near],
        options={"ftol": 1e-10, "maxiter": 500},
    )
    return float(-result.fun)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.9999])
def test_bounds_are_those_of_another_solver(level: float) -> None:
    plausible, drop = found(), _drop(level)
    for gain in (np.eye(6)[0], np.arange(6) / 5, (np.arange(6) <= 2).astype(float)):
        expected = by_another_solver(plausible, gain, drop)
        attained, bound = plausible._search(gain, drop)
        assert attained <= bound + 1e-12
        assert bound == pytest.approx(expected, abs=2e-3)


def test_no_plausible_distribution_is_outside_of_the_intervals() -> None:
    plausible, level = found(), 0.9
    quantiles = {q: plausible.quantile(q, level) for q in (0.1, 0.5, 0.9)}
    low, high = plausible.fraction(1, 5, level, closed=True)
    least, most = plausible.variance(1.5, level)
    needed = plausible._highest - _drop(level)
    generator = np.random.default_rng(2)
    best, points = plausible._fit(np.zeros(6))[0], np.arange(6)
    others = best + generator.normal(0, 0.05, (20_000, 6))
    others = np.abs(others) / np.abs(others).sum(axis=1)[:, None]
    seen = 0
    for weights in others:
        if log_likelihood(plausible, weights) < needed:
            continue
        seen += 1
        upto = np.cumsum(weights)
        for q, (lower, upper) in quantiles.items():
            assert lower <= np.searchsorted(upto, q - 1e-9) <= upper
        assert low <= weights[1:].sum() <= high + 1e-9
        mean = weights @ points
        assert least <= weights @ (points - mean) ** 2 <= most + 1e-9
    assert seen > 100


def test_intervals_grow_with_the_level_and_shrink_with_people() -> None:
    plausible = found()
    inner, outer = (plausible.fraction(0, 1, level) for level in (0.5, 0.99))
    assert outer[0] < inner[0] < inner[1] < outer[1]
    many = found(values=np.repeat(VALUES, 30)).fraction(0, 1, 0.99)
    assert many[1] - many[0] < (outer[1] - outer[0]) / 3


@pytest.mark.parametrize(
    "mechanism",
    [
        ib.Window(ib.Box(0, 1), 1, epsilon=2.0),
        ib.Window(ib.Box(0, 1), 1, epsilon=8.0),
        ib.ClampedLaplace(ib.Box(0, 1), 1, scale=0.1),
        ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=0.1),
        ib.Optimal(ib.Box(0, 1), 1, epsilon=2.0),
        ib.Window(ib.Box(0, 200, step=1), 200, epsilon=2.0),
    ],
    ids=repr,
)
def test_a_value_between_two_points_has_nearly_the_outputs_of_a_mixture(
    mechanism: ib.Mechanism,
) -> None:
    cells = Cells.of(mechanism, 64)
    places = Places.of(mechanism, cells)
    upper = float(mechanism.domain.upper)
    values = np.array([0.123, 0.5071, 0.98]) * upper
    drawn = cells.probabilities(mechanism, values)
    right = np.searchsorted(places.points, values)
    low, high = places.points[right - 1], places.points[right]
    part = ((values - low) / (high - low))[:, None]
    mixed = (1 - part) * places.response[right - 1] + part * places.response[right]
    merged = np.array([places.merged(row) for row in drawn])
    assert mixed.sum(axis=1) == pytest.approx(1)
    assert np.abs(mixed - merged).sum(axis=1).max() < 0.02


def test_the_ends_of_an_interval_are_in_the_box_and_in_order() -> None:
    plausible = found(ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=0.5), np.full(20, 0.7))
    for q in (0, 0.01, 0.5, 1):
        low, high = plausible.quantile(q, 0.95)
        assert 0 <= low <= high <= 1
    assert plausible.fraction(-1, 2, 0.95)[1] == 1
    assert plausible.fraction(2, 3, 0.95) == (0, 0)
    low, high = plausible.variance(0.7, 0.95)
    assert 0 <= low <= high <= 1
