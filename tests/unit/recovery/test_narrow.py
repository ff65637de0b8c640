import numpy as np
import pytest

import inbounds as ib
from inbounds.recovery.cells import Cells
from inbounds.recovery.narrow import Near

BOX = ib.Box(0, 1)
MECHANISMS = [
    ib.ClampedLaplace(BOX, 1, scale=0.001),
    ib.BoundedGaussian(BOX, 1, sigma=0.002),
    ib.ClampedGaussian(ib.Box(0, 1, step=0.001), 1, sigma=0.002),
]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_the_truth_is_in_the_interval_and_the_interval_is_short(mechanism: ib.Mechanism) -> None:
    """At 1 - 1e-6 each, so that none of some thousand runs fails."""
    cells = Cells.of(mechanism, 64)
    for values in (np.linspace(0, 1, 4000) ** 3, np.repeat([0.0, 0.3, 1.0], [2000, 1500, 500])):
        near = Near.of(mechanism, cells, cells.count(mechanism.release(values)))
        assert near.reach < 0.03
        for q in (0.1, 0.5, 0.9):
            low, high = near.quantile(q, 1 - 1e-6)
            assert low <= np.quantile(values, q) <= high
        low, high = near.fraction(0.2, 0.6, 1 - 1e-6)
        assert low <= np.mean((values >= 0.2) & (values < 0.6)) <= high
        assert high - low < 0.3
        low, high = near.variance(float(values.mean()), 1 - 1e-6)
        assert low <= values.var() <= high < low + 0.1


def test_outputs_are_rarely_further_away_than_the_reach() -> None:
    mechanism = MECHANISMS[0]
    cells = Cells.of(mechanism, 64)
    near = Near.of(mechanism, cells, np.ones(len(cells.cuts) + 1))
    for value in (0.0, 0.5, 1.0):
        above = 1 - mechanism.cdf(value + near.reach, value)
        below = mechanism.cdf(value - near.reach, value)
        assert max(above, below) <= near.tail


def test_deconvolve_uses_it_where_noise_is_narrow() -> None:
    values = np.linspace(0, 1, 3000) ** 2
    result = ib.deconvolve(MECHANISMS[0].release(values), MECHANISMS[0], bootstrap=0)
    low, high = result.interval("median", 0.999)
    assert low < 0.25 < high < low + 0.15
    lower, upper = result.histogram_interval([0, 0.25, 1], 0.999)
    assert (lower <= 0.5).all()
    assert (upper >= 0.5).all()
    assert "95 % interval" in str(result)
