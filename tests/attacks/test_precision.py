"""Attacks on the precision of answers: it tells the value behind a sum of doubles, not behind ours.

Haney, Desfontaines, Hartman, Shrestha and Hay, Precision-based Attacks and Interval Refining: How
to Break, Then Fix, Differential Privacy on Finite Computers (2022). Noise may be sampled perfectly
and rounded once, with every double possible; the sum still cannot be finer than the larger of its
two parts. An answer that is finer than the value has ruled that value out.
"""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from inbounds import (
    BoundedGaussian,
    BoundedLaplace,
    Box,
    ClampedGaussian,
    ClampedLaplace,
    ClampedStaircase,
)
from inbounds.sampling.lattice import Lattice

Floats = NDArray[np.float64]
Answer = Callable[[Floats], Floats]
UPPER = 2.0**20
FINEST = -33  # of 2²⁰ plus noise: both are multiples of 2⁻³³ wherever their sum is in the box
SCALE = 1e5 * UPPER  # epsilon is about 1e-5: the law itself tells next to nothing
TRIALS, ANSWERS = 4000, 16  # guesses, and the answers that each is made from
OURS = [
    BoundedGaussian(Box(0, UPPER), UPPER, SCALE),
    BoundedLaplace(Box(0, UPPER), UPPER, SCALE),
    ClampedGaussian(Box(0, UPPER), UPPER, SCALE),
    ClampedLaplace(Box(0, UPPER), UPPER, SCALE),
    ClampedStaircase(Box(0, UPPER), UPPER, 1e-5),
]


def by_perfect_noise(values: Floats) -> Floats:
    """Add noise drawn to 100 bits and rounded once, conditioned on the sum being in the box.

    Over so small a part of it, the density of the normal law is constant up to 1e-10.
    """
    generator = np.random.default_rng()
    high, low = generator.integers(0, 2**50, (2, values.size))
    shares = [
        Fraction((int(h) << 50) + int(rest), 2**100) for h, rest in zip(high, low, strict=True)
    ]
    pairs = zip(shares, values.ravel().tolist(), strict=True)
    noise = [float(share * int(UPPER) - Fraction(value)) for share, value in pairs]
    return values + np.array(noise).reshape(values.shape)


def finest_bit(answers: Floats) -> NDArray[np.int64]:
    """Return the exponent of the last bit set in any of the answers, along the last axis."""
    fraction, exponent = np.frexp(answers)
    whole = (np.abs(fraction) * 2.0**53).astype(np.int64)
    place = np.log2(np.maximum(whole & -whole, 1)).astype(np.int64) + exponent - 53
    return np.where(whole == 0, 99, place).min(axis=-1)


def accuracy(answer: Answer, small: float) -> float:
    """Return how often the finest bit tells `small` from 2²⁰, by the best rule for half the trials.

    Which of the two is released is a fair coin each time.
    """
    large = np.random.default_rng().integers(0, 2, 2 * TRIALS).astype(bool)
    values = np.repeat(np.where(large, UPPER, small)[:, None], ANSWERS, axis=1)
    bits = finest_bit(answer(values))
    rules = [(cut, side) for cut in np.unique(bits) for side in (True, False)]
    seen, truth = bits[:TRIALS], large[:TRIALS]
    cut, side = max(rules, key=lambda rule: float(np.mean(((seen >= rule[0]) == rule[1]) == truth)))
    return float(np.mean(((bits[TRIALS:] >= cut) == side) == large[TRIALS:]))


@pytest.mark.parametrize("small", [0.0, 1 / 3])
def test_sixteen_answers_tell_the_value_behind_perfect_noise(small: float) -> None:
    """Power of the test below. Chance would pass with a probability below 1e-100."""
    assert accuracy(by_perfect_noise, small) > 0.95


def test_one_fine_answer_rules_the_large_value_out() -> None:
    """No false alarm: 2²⁰ plus noise is never finer than 2⁻³³; of the others a third is, ±0.03."""
    bits = [finest_bit(by_perfect_noise(np.full((10_000, 1), value))) for value in (0.0, UPPER)]
    assert (bits[1] >= FINEST).all()
    assert 0.3 < np.mean(bits[0] < FINEST) < 0.37


@pytest.mark.parametrize("small", [0.0, 1.0, 1 / 3])
@pytest.mark.parametrize("mechanism", OURS, ids=lambda m: type(m).__name__)
def test_the_precision_of_our_answers_tells_nothing(
    mechanism: BoundedGaussian, small: float
) -> None:
    """False alarm: 4e-7 each: 0.04 is five standard deviations of 4000 fair coins.

    The privacy that was promised lets sixteen answers shift it by 1e-4 at most.
    """
    assert 0.46 - 1e-4 <= accuracy(mechanism.release, small) <= 0.54 + 1e-4


DYADIC = [mechanism for mechanism in OURS if not isinstance(mechanism, ClampedStaircase)]
VALUES = (0.0, 5e-324, 1 / 3, 1.0, UPPER / 3, UPPER)


@pytest.mark.parametrize("mechanism", DYADIC, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("size", [200, 20_000])  # the short sampler, and the kernel
def test_our_answers_have_the_same_grid_whatever_the_value(
    mechanism: BoundedGaussian, size: int
) -> None:
    """No false alarm: the grid has 2²² steps in the box, so no bit is finer than 2⁻²."""
    for value in VALUES:
        assert finest_bit(mechanism.release(np.full(size, value))) >= -2


@pytest.mark.parametrize("size", [200, 20_000])
def test_the_staircase_has_the_same_outputs_whatever_the_value(size: int) -> None:
    """No false alarm: an output is a whole number of cells, multiplied and rounded once.

    Cells are not a power of two wide, so the multiples differ in their last bits; but a number of
    cells has one output, from whichever value. At epsilon = 1, two thirds of them are inside.
    """
    lattice = Lattice.fit(0.0, UPPER, UPPER / 16, 1.0)
    mechanism = ClampedStaircase(Box(0, UPPER), UPPER / 16, 1.0)
    cells: dict[int, float] = {}
    for value in VALUES:
        for output in mechanism.release(np.full(size, value)).tolist():
            cell = round(output * lattice.per_unit)
            assert abs(output - min(cell / lattice.per_unit, UPPER)) <= 2 * math.ulp(UPPER)
            assert cells.setdefault(cell, output) == output
    assert len(cells) > 3 * size
