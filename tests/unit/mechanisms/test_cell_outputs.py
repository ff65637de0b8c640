"""Staircase noise in cells on a box with a step that is longer than the sensitivity."""

import numpy as np
import pytest

import inbounds as ib
from inbounds.mechanisms.cell_outputs import CellOutputs
from inbounds.sampling.entropy import SeededEntropy


def test_a_sensitivity_far_below_the_step_leaves_values_on_their_steps() -> None:
    mechanism = ib.ClampedStaircase(ib.Box(0, 100, step=1), 0.01, 1.0)
    assert isinstance(mechanism._outputs, CellOutputs)
    values = np.arange(101)
    drawn = mechanism.release(values, entropy=SeededEntropy(1))  # wrong with probability 1e-19
    assert np.array_equal(drawn, values)
    assert mechanism.denoise(values) == pytest.approx(values, abs=1e-9)
    assert not mechanism.has_unbiased


def test_the_deviation_is_that_of_the_noise_far_from_bounds() -> None:
    outputs = ib.ClampedStaircase(ib.Box(-1e4, 1e4), 1, 2.0)._outputs
    assert outputs.deviation**2 == pytest.approx(float(outputs.mse(np.zeros(()))), rel=1e-9)
