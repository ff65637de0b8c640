import numpy as np
import pytest

import inbounds as ib
from inbounds.plots.release import marginal, release_figure

GAUSSIAN = ib.BoundedGaussian(ib.Box(0, 120), 2.5, sigma=16.0)
CLAMPED = ib.ClampedLaplace(ib.Box(0, 120), 20, scale=20.0)
JOINT = ib.BoundedGaussian(ib.Box([0, 1], [10, 9]), 1, sigma=[2.0, 3.0])


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_by_default_both_bounds_and_the_middle_are_drawn():
    figure = release_figure(GAUSSIAN)
    assert legend(figure.axes[0]) == ["value 0", "value 60", "value 120"]
    assert figure.get_suptitle() == "Outputs of BoundedGaussian on Box(0, 120), sigma = 16"
    assert figure.axes[0].get_ylabel() == "density of the output"
    assert figure.axes[1].get_xlabel() == "output"


def test_the_curves_are_densities_and_the_bars_95_percent_intervals():
    top, bottom = release_figure(GAUSSIAN, [10.0, 70.0]).axes
    for line, value in zip(top.get_lines(), (10.0, 70.0), strict=True):
        x, y = line.get_data()
        np.testing.assert_array_equal(y, GAUSSIAN.pdf(x, value))
        assert value in x  # the peak is not cut off
        assert np.trapezoid(y, x) == pytest.approx(1, abs=1e-4)
    bars = [line.get_xdata() for line in bottom.get_lines()][::2]
    for (low, high), value in zip(bars, (10.0, 70.0), strict=True):
        held = GAUSSIAN.cdf(high, value) - GAUSSIAN.cdf(low, value)
        assert held == pytest.approx(0.95, abs=1e-9)


def test_an_output_is_marked_in_both_panels():
    top, bottom = release_figure(GAUSSIAN, 60.0, output=41.3).axes
    assert legend(top) == ["value 60", "output 41.3"]
    assert set(top.get_lines()[-1].get_xdata()) == {41.3}
    assert set(bottom.get_lines()[-1].get_xdata()) == {41.3}


def test_one_value_is_shown_close_up_and_reaches_to_the_output():
    narrow = ib.BoundedGaussian(ib.Box(0, 120), 2.5, sigma=1.0)
    low, high = release_figure(narrow, 60.0).axes[1].get_xlim()
    assert 50 < low < 56.5
    assert 63.5 < high < 70
    assert release_figure(narrow, 60.0, output=100.0).axes[1].get_xlim()[1] > 100


def test_atoms_stand_on_an_axis_of_probabilities():
    twin = release_figure(CLAMPED, [5.0]).axes[2]
    assert twin.get_ylabel() == "probability of a bound itself"
    masses = [line.get_ydata()[0] for line in twin.get_lines()]
    assert masses == pytest.approx(CLAMPED.mass_at_bounds(5.0))
    assert len(release_figure(GAUSSIAN, [5.0]).axes) == 2  # truncated noise has none


@pytest.mark.parametrize("objective", ["average", "worst", "unbiased"])
def test_a_finite_number_of_outputs_has_stems_of_their_probabilities(objective):
    m = ib.Optimal(ib.Box(0, 120), 40, 1.0, objective)
    top, bottom = release_figure(m, [30.0, 90.0]).axes  # there is no axis of densities
    assert top.get_ylabel() == "probability of an output"
    assert legend(top) == ["value 30", "value 90"]
    drawn = [line.get_xydata() for line in top.get_lines() if len(line.get_xdata())]
    for points, value in zip(drawn, (30.0, 90.0), strict=True):
        assert points[:, 1].sum() == pytest.approx(1, abs=0.05)  # the smallest are not drawn
        below = m.cdf(np.nextafter(m.outputs, -np.inf), value)
        masses = m.cdf(m.outputs, value) - below
        seen = masses >= 0.01 * masses.max()
        np.testing.assert_allclose(points[:, 1], masses[seen], atol=1e-12)
        assert np.abs(points[:, 0] - m.outputs[seen]).max() < 1.0
    low, high = bottom.get_xlim()
    assert low < 30
    assert high > 90


def test_stems_of_a_box_with_a_step_are_not_said_to_be_rounded():
    m = ib.Optimal(ib.Box(0, 10, step=1), 5, 1.0)
    assert release_figure(m).get_suptitle() == (
        "Outputs of Optimal on Box(0, 10, step=1), epsilon = 1, objective = average"
    )


def test_the_density_beside_an_atom_does_not_drop_to_zero():
    _, y = release_figure(CLAMPED, [5.0]).axes[0].get_lines()[0].get_data()
    assert y.min() > 0
    assert y[0] == pytest.approx(np.exp(-5 / 20) / 40, rel=1e-6)


def test_each_coordinate_of_a_box_has_a_panel_of_its_own():
    figure = release_figure(JOINT, [[2.0, 3.0], [8.0, 5.0]], output=[4.0, 6.0])
    assert [axes.get_xlabel() for axes in figure.axes[2:4]] == [
        "output, coordinate 1",
        "output, coordinate 2",
    ]
    assert legend(figure.axes[1]) == ["value 3", "value 5", "output 6"]
    x, y = figure.axes[1].get_lines()[0].get_data()
    joint = np.column_stack([np.full_like(x, 2.0), x])
    np.testing.assert_allclose(y, JOINT.pdf(joint, [2.0, 3.0])[:, 1], rtol=1e-12)


def test_of_many_coordinates_three_are_drawn():
    m = ib.BoundedGaussian(ib.Box([0] * 50, 1), 1, sigma=1.0)
    figure = release_figure(m)
    assert len(figure.axes) == 6
    assert "a box of 50 coordinates" in figure.get_suptitle()


def test_a_marginal_has_the_law_of_its_coordinate():
    one = marginal(JOINT, 1)
    assert (one.domain, one.sigma) == (ib.Box(1, 9), 3.0)
    assert one.cdf(2.0, 5.0) == JOINT.cdf([2.0, 2.0], [5.0, 5.0])[1]
    assert marginal(GAUSSIAN, 0) is GAUSSIAN


def test_the_title_warns_of_rounding():
    m = ib.BoundedGaussian(ib.Box(0, 120, step=1), 1, sigma=10.0)
    assert release_figure(m).get_suptitle().endswith("(before rounding to the step)")


@pytest.mark.parametrize(
    ("mechanism", "values", "output", "message"),
    [
        (GAUSSIAN, [1.0, 2.0, 3.0, 4.0, 5.0], None, "values must hold from 1 to 4 values, got 5"),
        (GAUSSIAN, [], None, "values must hold from 1 to 4 values, got 0"),
        (GAUSSIAN, None, [1.0, 2.0], "output must be a single output"),
        (JOINT, [1.0], None, "values must have a last axis of length 2"),
        (JOINT, None, 1.0, "output must have a last axis of length 2"),
    ],
)
def test_what_cannot_be_drawn_is_refused(mechanism, values, output, message):
    with pytest.raises(ib.ArgumentError, match=message):
        release_figure(mechanism, values, output)


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_the_figure_saves(tmp_path, kind):
    release_figure(CLAMPED, output=3.0).savefig(tmp_path / f"figure.{kind}")
    assert (tmp_path / f"figure.{kind}").stat().st_size > 10_000


def test_the_old_name_of_output_works_and_says_so():
    with pytest.warns(DeprecationWarning, match="answer is now called output") as caught:
        figure = release_figure(GAUSSIAN, 60.0, answer=41.3)
    assert caught[0].filename == __file__
    assert "output 41.3" in [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
