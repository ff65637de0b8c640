"""Nothing depends on what a caller asked NumPy to do about floating-point errors.

With numpy.seterr(all="raise"), an error that one value causes and another does not would tell them
apart; with "warn", a warning would.
"""

import itertools
from typing import Any

import numpy as np
import pytest

import inbounds as ib

BOXES = [
    ib.Box(0, 1),
    ib.Box(-5, 7, step=1),
    ib.Box(0, 1e6),
    ib.Box(1e-3, 1.5e-3),
    ib.Box([0, 0], [1, 10]),
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


def test_such_errors_are_raised_here_if_nothing_prevents_it() -> None:
    """Power: what the test above would see."""
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        np.exp(np.array([-800.0]))
