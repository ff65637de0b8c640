import numpy as np
import pytest

import inbounds as ib
from inbounds.cli.rounded import MOST_STEPS, Rounded, seen_interval

MECHANISMS = [
    ib.ClampedLaplace(ib.Box(0, 120, step=7), 2.5, scale=2.5),
    ib.BoundedGaussian(ib.Box(0, 120, step=1), 2.5, sigma=16.0),
    ib.BoundedLaplace(ib.Box(-3, 1, step=0.25), 4, scale=3.0),
    ib.ClampedStaircase.calibrated(ib.Box(0, 120, step=1), 2.5, epsilon=1.0),
]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
@pytest.mark.parametrize("part", [0.0, 0.31, 0.5, 1.0])
def test_numbers_are_those_of_outputs_that_are_drawn(mechanism, part):
    lower, upper = float(mechanism.domain.lower), float(mechanism.domain.upper)
    value = lower + part * (upper - lower)
    rounded = Rounded.of(mechanism)
    assert rounded is not None
    outputs = mechanism.release(np.full(40_000, value))
    assert np.isin(np.round(outputs, 9), np.round(rounded.points, 9)).all()
    moments = {name: x[0] for name, x in rounded.moments(np.array([value])).items()}
    errors = outputs - value
    # each fails once in 10⁸ runs, by the variance of what is averaged
    for found, seen in ((moments["rmse"] ** 2, errors**2), (moments["bias"], errors)):
        assert abs(found - seen.mean()) <= 6 * seen.std() / np.sqrt(seen.size) + 1e-9
    low, high = seen_interval(mechanism, value, 0.95)
    inside = (outputs >= low - 1e-9) & (outputs <= high + 1e-9)
    assert inside.mean() >= 0.95 - 6 * np.sqrt(0.05 * 0.95 / outputs.size)
    assert {low, high} <= set(rounded.points.tolist())


def test_the_average_of_the_steps_is_that_of_the_comparison():
    for mechanism in MECHANISMS:
        rounded = Rounded.of(mechanism)
        assert rounded is not None
        mse = rounded.moments(rounded.points)["rmse"] ** 2
        expected = ib.analysis.error.ErrorSummary.of(mechanism).average_rmse
        assert np.sqrt(mse.mean()) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    "mechanism",
    [
        ib.ClampedLaplace(ib.Box(0, 120), 2.5, scale=2.5),
        ib.ClampedLaplace(ib.Box(0, 120, step=120 / MOST_STEPS), 2.5, scale=2.5),
        ib.ClampedLaplace(ib.Box([0, 0], [1, 1], step=0.5), 2.5, scale=2.5),
        ib.Window(ib.Box(0, 120, step=1), 120, epsilon=1.0),
    ],
)
def test_nothing_is_counted_where_nothing_is_rounded_or_too_much(mechanism):
    assert Rounded.of(mechanism) is None


@pytest.mark.parametrize(
    "box",
    [ib.Box(0, 120, step=70), ib.Box(0, 1, step=0.001), ib.Box([-1, 0], [1, 9], step=(0.3, None))],
)
@pytest.mark.parametrize("scale", [0.01, 0.7])
def test_intervals_hold_what_is_drawn_however_many_steps(box, scale):
    mechanism = ib.ClampedLaplace(box, 1, scale=scale)
    value = np.asarray(box.lower) + 0.37 * box.widths.reshape(np.shape(box.lower))
    low, high = seen_interval(mechanism, value, 0.95)
    outputs = mechanism.release(np.broadcast_to(value, (40_000, *np.shape(value))))
    inside = ((outputs >= np.asarray(low) - 1e-6) & (outputs <= np.asarray(high) + 1e-6)).mean(
        axis=0
    )
    assert np.min(inside) >= 0.95 - 6 * np.sqrt(0.05 * 0.95 / 40_000)  # fails once in 10⁸ runs
    drawn = {round(float(x), 9) for x in np.unique(np.ravel(outputs))}
    if box.is_interval:
        assert {round(low, 9), round(high, 9)} <= drawn


def test_what_is_never_rounded_keeps_its_interval():
    window = ib.Window(ib.Box(0, 120, step=1), 120, epsilon=1.0)
    assert seen_interval(window, 60.0, 0.95) == window.output_interval(60.0, 0.95)
    half = ib.ClampedLaplace(ib.Box(0, 120, step=7), 2.5, scale=2.5)
    low, high = seen_interval(half, np.linspace(0, 120, 500), 0.95)
    assert (np.diff(low) >= 0).all()
    assert (np.diff(high) >= 0).all()
