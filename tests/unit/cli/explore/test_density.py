import numpy as np
import pytest

import inbounds as ib
from inbounds.cli.explore.density import density_and_stems, visible_range

KINDS = (
    *("BoundedGaussian", "BoundedLaplace", "ClampedLaplace", "ClampedStaircase", "Window"),
    *("ClampedGaussian", "Optimal"),
)
DRAWING = 0.012  # what is left out of the picture: unlikely outputs, and corners that are cut


def calibrated(kind, box, change, epsilon):
    delta = {"delta": 1e-6} if kind == "ClampedGaussian" else {}
    return getattr(ib, kind).calibrated(box, change, epsilon=epsilon, **delta)


def total(density, stems):
    area = 0.0 if density is None else float(np.trapezoid(density["y"], density["x"]))
    return area + sum(stem["probability"] for stem in stems)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", [1, 0.02, 0.004])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 8.0])
@pytest.mark.parametrize("value", [-3.0, 11.0, 37.0])
def test_density_and_stems_are_all_the_probability_there_is(kind, part, epsilon, value):
    m = calibrated(kind, ib.Box(-3, 37), 40 * part, epsilon)
    density, stems = density_and_stems(m, value)
    assert total(density, stems) == pytest.approx(1, abs=DRAWING)
    assert all(-3 <= stem["at"] <= 37 and 0 < stem["probability"] <= 1 + 1e-12 for stem in stems)
    if density is not None:
        x = np.array(density["x"])
        assert 100 <= x.size <= 500
        assert (np.diff(x) > 0).all()
        assert -3 <= x[0] < -2.9
        assert 36.9 < x[-1] <= 37
        np.testing.assert_array_equal(density["y"], m.pdf(x, value))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("steps", [10, 40, 511])
def test_outputs_on_few_steps_are_stems_with_their_probabilities(kind, steps):
    m = calibrated(kind, ib.Box(0, 40, step=40 / steps), 4, 1.0)
    density, stems = density_and_stems(m, 11.0)
    assert density is None
    assert total(None, stems) == pytest.approx(1, abs=DRAWING)
    places = np.array([stem["at"] for stem in stems]) * (steps / 40)
    assert (np.diff(places) > 0.5).all()
    np.testing.assert_allclose(places, np.rint(places), atol=1e-9)


def test_the_probabilities_of_steps_are_those_of_outputs_as_they_are_drawn():
    m = ib.BoundedGaussian(ib.Box(0, 10, step=1), 1, sigma=2.0)
    stems = density_and_stems(m, 2.0)[1]
    drawn = m.release(np.full(200_000, 2.0))
    for stem in stems:
        chance = stem["probability"]
        seen = float(np.mean(drawn == stem["at"]))
        assert abs(seen - chance) < 6 * np.sqrt(chance / drawn.size)  # fails once in 10⁷ runs


@pytest.mark.parametrize("kind", ["Window", "ClampedStaircase", "ClampedLaplace"])
def test_many_steps_are_drawn_as_a_density_and_bounds_count_once(kind):
    for value in (0.0, 500.0, 123.0):
        m = calibrated(kind, ib.Box(0, 1000, step=1), 3, 3.0)
        density, stems = density_and_stems(m, value)
        assert density is not None
        assert total(density, stems) == pytest.approx(1, abs=DRAWING)


def test_atoms_of_clamped_noise_are_stems_at_the_bounds():
    m = ib.ClampedLaplace(ib.Box(0, 1), 1, scale=1.0)
    _, stems = density_and_stems(m, 0.25)
    low, high = m.mass_at_bounds(0.25)
    assert stems == [{"at": 0.0, "probability": low}, {"at": 1.0, "probability": high}]
    assert density_and_stems(ib.BoundedLaplace(ib.Box(0, 1), 1, scale=1.0), 0.25)[1] == []


def test_outputs_that_can_be_seen_are_never_left_out():
    m = ib.Window(ib.Box(0, 511, step=1), 511, epsilon=5.0)  # most of the probability is spread out
    stems = density_and_stems(m, 100.0)[1]
    assert total(None, stems) > 0.99
    m = ib.Optimal(ib.Box(0, 120), 2.5, epsilon=1.0)
    chances = np.diff(m.cdf(m.outputs, 41.0), prepend=0.0)
    seen = {stem["at"] for stem in density_and_stems(m, 41.0)[1]}
    assert set(m.outputs[chances >= 0.01 * chances.max()].tolist()) <= seen


def test_the_visible_range_holds_nearly_all_outputs():
    for kind in KINDS:
        m = calibrated(kind, ib.Box(0, 100), 1, 1.0)
        low, high = visible_range(m, 50.0)
        assert m.cdf(high, 50.0) - m.cdf(low, 50.0) > 0.999
    assert visible_range(ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=0.01), 0.02)[0] == 0.0
