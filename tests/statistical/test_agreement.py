"""The compiled kernel and the short exact sampler, which share no code, draw from one law.

A run takes 50 000 draws of each; `INBOUNDS_AGREEMENT_DRAWS=1000000 pytest <this file>` a million,
in about five minutes.
"""

import os
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from inbounds.numerics.laplace import LAPLACE
from inbounds.numerics.noise import Noise
from inbounds.numerics.normal import NORMAL
from inbounds.sampling import reference
from inbounds.sampling.entropy import SYSTEM
from inbounds.sampling.sampler import SMALL, Sampler

from .goodness import THRESHOLD, Cells, two_sample_p_value

DRAWS = int(os.environ.get("INBOUNDS_AGREEMENT_DRAWS", "50000"))
VALUE = 0.3


@pytest.mark.parametrize("clamped", [False, True], ids=["bounded", "clamped"])
@pytest.mark.parametrize("noise", [NORMAL, LAPLACE])
def test_kernel_and_short_sampler_agree(noise: Noise, clamped: bool) -> None:
    """False alarm: 1e-6 for each law; a kernel whose scale is 12 % wrong is told apart."""
    assert DRAWS >= SMALL, "fewer draws would not take the kernel"
    right, wrong = p_values(noise, clamped)
    assert right > THRESHOLD
    assert wrong < THRESHOLD


def p_values(noise: Noise, clamped: bool) -> tuple[float, float]:
    """Compare the short sampler with the kernel, and with the kernel at a wrong scale."""
    sampler = Sampler(noise, np.zeros(1), np.ones(1), np.array([0.2]), (None,), clamped)
    wrong = replace(sampler, scale=1.12 * sampler.scale)
    cells = Cells(sampler, 0, VALUE, DRAWS)
    short = cells.count(drawn_by_the_short_sampler(sampler))
    kernels = (cells.count(drawn_by_the_kernel(kernel)) for kernel in (sampler, wrong))
    right_p, wrong_p = (two_sample_p_value(kernel, short) for kernel in kernels)
    return right_p, wrong_p


def drawn_by_the_kernel(sampler: Sampler) -> NDArray[np.float64]:
    return sampler.draw(np.full(DRAWS, VALUE), SYSTEM)


def drawn_by_the_short_sampler(sampler: Sampler) -> NDArray[np.float64]:
    grid, scale = sampler.grid(0), float(sampler.scale[0])
    indices = (
        reference.draw(VALUE, scale, grid, SYSTEM, sampler.noise, clamped=sampler.clamped)
        for _ in range(DRAWS)
    )
    return grid.points(np.fromiter(indices, np.int64, DRAWS))
