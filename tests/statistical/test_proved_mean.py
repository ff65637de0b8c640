"""The proved interval of a mean holds the truth of populations, in outputs that are really drawn.

Noise is seeded, so no run raises a false alarm. With fresh noise the probability of one would be
below 1e-6 for all tests of this file together.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

import inbounds as ib
from inbounds._types import Floats
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.recovery.capital import Tally
from inbounds.recovery.reader import UnbiasedReader
from inbounds.sampling.entropy import SeededEntropy

BOX = ib.Box(0, 120)
KINDS: dict[str, Callable[[float], Mechanism]] = {
    "window": lambda epsilon: ib.Window.calibrated(BOX, 120, epsilon=epsilon),
    "clamped": lambda epsilon: ib.ClampedLaplace.calibrated(BOX, 120, epsilon=epsilon),
    "optimal": lambda epsilon: ib.Optimal.calibrated(
        BOX, 120, epsilon=epsilon, objective="unbiased"
    ),
}
LUMPS = {0.3: 36.0, 0.05: 120.0, 0.5: 120.0}  # a fraction of people at this value, others at 0
COLUMNS, PEOPLE, LEVEL = 40, 30, 0.8


def intervals(mechanism: Mechanism, columns: Floats) -> Floats:
    """The proved intervals of the columns."""
    reader = UnbiasedReader(mechanism)
    reader.add(columns[0], None)
    public = reader.read().proved
    assert public is not None
    ends = []
    for column in mechanism.unbiased(columns) - public.centre:
        tally = Tally(*public.reach)
        tally.add(column, None)
        ends.append(replace(public, sample=tally.sample()).interval(LEVEL))
    return np.array(ends)


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
@pytest.mark.parametrize("kind", list(KINDS))
def test_the_proved_interval_holds_the_mean_of_any_population(kind: str, epsilon: float) -> None:
    """An eighth as long, it would be refused where the box does not cut it off."""
    mechanism = KINDS[kind](epsilon)
    fewest = int(binom.ppf(1e-6 / 18, COLUMNS, LEVEL))
    for seed, (fraction, lump) in enumerate(LUMPS.items()):
        values = lump * (np.random.default_rng(seed).random((COLUMNS, PEOPLE)) < fraction)
        outputs = np.asarray(mechanism.release(values, entropy=SeededEntropy(seed)), float)
        low, high = intervals(mechanism, outputs).T
        truth = fraction * lump
        assert np.sum((low <= truth) & (truth <= high)) >= fewest
        if fraction == 0.5 and epsilon >= 3:
            assert np.sum(np.abs(truth - (low + high) / 2) <= (high - low) / 16) < fewest


def test_it_is_the_interval_that_deconvolve_gives() -> None:
    mechanism = KINDS["window"](3.0)
    outputs = np.asarray(mechanism.release(np.full(200, 30.0), entropy=SeededEntropy(1)), float)
    result = ib.deconvolve(outputs, mechanism, bootstrap=0)
    assert result.interval("mean", LEVEL, proved=True) == pytest.approx(
        tuple(intervals(mechanism, outputs[None])[0]), rel=1e-12
    )
