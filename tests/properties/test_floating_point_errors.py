"""Nothing depends on what a caller asked NumPy to do about floating-point errors.

With numpy.seterr(all="raise"), an error that one value causes and another does not would tell them
apart; with "warn", a warning would.
"""

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest

import inbounds as ib
from inbounds.frames import count, histogram, mean, median

BOXES = [
    ib.Box(0, 1),
    ib.Box(-5, 7, step=1),
    ib.Box(0, 1e6),
    ib.Box(1e-3, 1.5e-3),
    ib.Box([0, 0], [1, 10]),
    ib.Box(1e-300, 2e-300),
]
KINDS: list[tuple[Any, dict[str, float]]] = [
    (ib.BoundedGaussian, {}),
    (ib.BoundedGaussian, {"delta": 1e-6}),
    (ib.BoundedLaplace, {}),
    (ib.ClampedGaussian, {"delta": 1e-6}),
    (ib.ClampedLaplace, {}),
    (ib.Window, {}),
    (ib.ClampedStaircase, {}),
    (ib.Optimal, {}),
]
ON_INTERVALS = ib.Window, ib.ClampedStaircase, ib.Optimal


CASES = [
    (box, *kind)
    for box, kind in itertools.product(BOXES, KINDS)
    if box.dimension == 1 or kind[0] not in ON_INTERVALS
]


@pytest.mark.parametrize(("box", "kind", "given"), CASES)
def test_public_calls_raise_no_floating_point_error(
    box: ib.Box, kind: Any, given: dict[str, float]
) -> None:
    lower, upper = np.asarray(box.lower, float), np.asarray(box.upper, float)
    values = lower, upper, (lower + upper) / 2, lower - 1, upper + 1e9, lower + 5e-324
    with np.errstate(all="raise"):
        for part, epsilon in itertools.product((1e-3, 1.0), (0.01, 20.0)):
            change = part * float(np.max(upper - lower))
            try:
                mechanism = kind.calibrated(box, change, epsilon=epsilon, **given)
            except ib.ArgumentError:
                continue  # a table of steps that would be too large, for example
            for value, size in itertools.product(values, (1, 40, 1000)):
                mechanism.release(np.broadcast_to(value, (size, *np.shape(value))).copy())
            for value in values:
                output = mechanism.release(value)
                for name in ("mean", "bias", "variance", "mse", "mass_at_bounds", "denoise"):
                    getattr(mechanism, name)(value)
                mechanism.pdf(output, value)
                mechanism.cdf(output, value)
                mechanism.quantile(0.01, value)
                mechanism.output_interval(value, 0.95)
                if box.dimension == 1:
                    mechanism.confidence(output, 0.95)


@pytest.mark.filterwarnings("ignore::inbounds.errors.FewOutputsWarning")
@pytest.mark.parametrize("kind", [kind for kind, given in KINDS if not given])
def test_reading_back_raises_no_floating_point_error(kind: Any) -> None:
    people = np.random.default_rng(3).uniform(0, 0.4, 500)
    for change, epsilon in ((1.0, 1.0), (0.02, 20.0), (1.0, 8.0)):
        mechanism = kind.calibrated(ib.Box(0, 1), change, epsilon=epsilon)
        outputs = mechanism.release(people)
        with np.errstate(all="raise"):
            result = ib.deconvolve(outputs, mechanism, bootstrap=0)
            assert 0 <= result.mean <= 1
            assert result.variance >= 0
            result.quantile(0.5), result.cdf(0.5), result.histogram(4)
            for statistic in ("mean", "median"):
                result.interval(statistic, 0.95)
            result.histogram_interval(4, 0.95)
            frame = pd.DataFrame({"x": outputs, "town": people > 0.2})
            ib.estimate(frame, {"x": mechanism}, by="town", quantiles=[0.5])


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 30.0])
def test_tables_raise_no_floating_point_error(epsilon: float) -> None:
    frame = pd.DataFrame({"age": np.linspace(0, 120, 300), "town": np.arange(300) % 3})
    asked = [count(), mean("age", 0, 120), median("age", 0, 120), histogram("age", [0, 60, 120])]
    with np.errstate(all="raise"):
        for given in ({}, {"delta": 1e-6}):
            ib.summarize(frame, asked, by="town", groups=range(3), epsilon=epsilon, **given)


def test_such_errors_are_raised_here_if_nothing_prevents_it() -> None:
    """Power: what the test above would see."""
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        np.exp(np.array([-800.0]))
