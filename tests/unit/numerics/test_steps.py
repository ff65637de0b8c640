"""Posterior means on steps against sums in high precision, in the corners of step and scale."""

import mpmath
import numpy as np
import pytest

from inbounds._types import Floats
from inbounds.numerics.laplace import LAPLACE
from inbounds.numerics.normal import NORMAL
from inbounds.numerics.steps import clamped_posterior, truncated_posterior

mpmath.mp.dps = 50
UPTO = {
    LAPLACE: lambda z: mpmath.exp(z) / 2 if z < 0 else 1 - mpmath.exp(-z) / 2,
    NORMAL: mpmath.ncdf,
}


def by_sums(noise: object, last: int, step: float, width: float | None) -> Floats:
    """The definition: P(value is i | output is k) from differences of the cdf."""
    upto, step = UPTO[noise], mpmath.mpf(step)  # type: ignore[index]
    means = []
    for k in range(last + 1):
        mass = moment = mpmath.mpf(0)
        for i in range(last + 1):
            bottom, top = (
                (mpmath.ninf, mpmath.inf) if width is None else (-i * step, width - i * step)
            )
            low = bottom if k == 0 else (k - i - mpmath.mpf(1) / 2) * step
            high = top if k == last else (k - i + mpmath.mpf(1) / 2) * step
            chance = (upto(high) - upto(low)) / (upto(top) - upto(bottom))
            mass, moment = mass + chance, moment + i * chance
        means.append(float(moment / mass))
    return np.array(means)


@pytest.mark.parametrize("noise", [LAPLACE, NORMAL])
@pytest.mark.parametrize("step", [1e-12, 1e-8, 0.01, 0.7, 30.0])
@pytest.mark.parametrize("last", [1, 2, 9])
def test_posterior_means_are_the_sums_of_their_definition(
    noise: object, step: float, last: int
) -> None:
    found = clamped_posterior(noise, last, step)  # type: ignore[arg-type]
    np.testing.assert_allclose(found, by_sums(noise, last, step, None), rtol=1e-8, atol=1e-9)
    for beyond in (0.0, 0.4, 0.9):  # of a step, by which the box is wider than its steps
        width = (last + beyond) * step
        found = truncated_posterior(noise, last, step, width)  # type: ignore[arg-type]
        np.testing.assert_allclose(found, by_sums(noise, last, step, width), rtol=1e-7, atol=1e-8)


def test_many_steps_are_as_precise_as_few() -> None:
    """With noise of three steps, the middle of a long box reads its outputs as they are."""
    found = clamped_posterior(NORMAL, 1 << 18, 1 / 3)
    inner = np.arange(100, (1 << 18) - 99)
    np.testing.assert_allclose(found[inner], inner, rtol=0, atol=1e-6)
    np.testing.assert_allclose(found[:50], clamped_posterior(NORMAL, 200, 1 / 3)[:50], atol=1e-9)
