"""Trials of every kind and the short exact sampler, which share no code, draw from one law.

A run takes 50 000 draws of each; `INBOUNDS_AGREEMENT_DRAWS=1000000 pytest <this file>` a million,
in about five minutes.
"""

import os
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from inbounds.numerics.laplace import LAPLACE
from inbounds.numerics.noise import Noise
from inbounds.numerics.normal import NORMAL
from inbounds.sampling import blocks, reference, sampler
from inbounds.sampling.entropy import SYSTEM
from inbounds.sampling.grid import Grid
from inbounds.sampling.sampler import Sampler

from .goodness import THRESHOLD, Cells, two_sample_p_value

DRAWS = int(os.environ.get("INBOUNDS_AGREEMENT_DRAWS", "50000"))
VALUE = 0.3


@pytest.fixture(params=["few", "many", "compiled"], autouse=True)
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let plain floats, arrays or compiled code serve draws of any size."""
    monkeypatch.setattr(sampler, "FEW", 10**9 if request.param == "few" else 0)
    monkeypatch.setattr(blocks, "MANY", 1 if request.param == "compiled" else 10**9)
    monkeypatch.setattr(blocks, "_REPAYS", 0)


@pytest.mark.parametrize("clamped", [False, True], ids=["bounded", "clamped"])
@pytest.mark.parametrize("noise", [NORMAL, LAPLACE])
def test_trials_and_short_sampler_agree(noise: Noise, clamped: bool) -> None:
    """False alarm: 1e-6 for each; trials whose scale is 12 % wrong are told apart."""
    right, wrong = p_values(noise, clamped)
    assert right > THRESHOLD
    assert wrong < THRESHOLD


def p_values(noise: Noise, clamped: bool) -> tuple[float, float]:
    """Compare the short sampler with trials, and with trials at a wrong scale."""
    fast = Sampler(noise, np.zeros(1), np.ones(1), np.array([0.2]), (None,), clamped)
    wrong = replace(fast, scale=1.12 * fast.scale)
    cells = Cells(fast, 0, VALUE, DRAWS)
    short = cells.count(drawn_by_the_short_sampler(noise, clamped))
    trials = (cells.count(one.draw(np.full(DRAWS, VALUE), SYSTEM)) for one in (fast, wrong))
    right_p, wrong_p = (two_sample_p_value(drawn, short) for drawn in trials)
    return right_p, wrong_p


@cache
def drawn_by_the_short_sampler(noise: Noise, clamped: bool) -> NDArray[np.float64]:
    grid = Grid.fit(0.0, 1.0, None, 0.2)
    indices = (
        reference.draw(VALUE, 0.2, grid, SYSTEM, noise, clamped=clamped) for _ in range(DRAWS)
    )
    return grid.points(np.fromiter(indices, np.int64, DRAWS))
