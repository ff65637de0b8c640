import numpy as np
import pytest

import inbounds as ib
from inbounds.accounting.composition import compose
from inbounds.calibration.gaussian import gaussian_delta
from inbounds.errors import ArgumentError
from inbounds.plots.privacy import composition_figure, profile_figure

GAUSSIAN = ib.BoundedGaussian(ib.Box(0, 10), 1, sigma=2.75)
WIDE = ib.BoundedGaussian(ib.Box(0, 1000), 1, sigma=4.0)
LAPLACE = ib.BoundedLaplace(ib.Box(0, 1), 1, scale=10.0)


def lines(figure):
    return {line.get_label(): line for line in figure.axes[0].get_lines()}


def test_the_curve_is_delta_of_the_mechanism_and_ends_at_its_pure_epsilon():
    x, y = lines(profile_figure(GAUSSIAN))["BoundedGaussian"].get_data()
    np.testing.assert_array_equal(y[:5], [GAUSSIAN.delta(e) for e in x[:5]])
    assert np.isnan(y[x >= GAUSSIAN.epsilon]).all()
    assert np.nanmin(y) < 1e-12
    assert x.max() > GAUSSIAN.epsilon


def test_the_plain_gaussian_is_drawn_and_never_below():
    drawn = lines(profile_figure(GAUSSIAN))
    x, plain = drawn["plain Gaussian, μ = 0.3636"].get_data()
    _, own = drawn["BoundedGaussian"].get_data()
    assert plain[3] == gaussian_delta(GAUSSIAN.gdp, x[3])
    assert not (own > plain).any()


def test_the_pure_epsilon_is_marked_where_it_is_in_sight():
    marked = lines(profile_figure(GAUSSIAN))[f"pure ε = {GAUSSIAN.epsilon:.4g}: δ = 0"]
    assert set(marked.get_xdata()) == {GAUSSIAN.epsilon}
    assert not any(label.startswith("pure") for label in lines(profile_figure(WIDE)))


@pytest.mark.parametrize("figure", [profile_figure(LAPLACE), profile_figure(
    ib.BoundedGaussian(ib.Box([0, 0], [1, 2]), 1, sigma=[2.0, 3.0]))])  # fmt: skip
def test_every_mechanism_has_a_profile(figure):
    assert len(figure.axes[0].get_legend().get_texts()) == 4
    assert figure.axes[0].get_title().startswith("Privacy of one release")


def test_every_bound_is_drawn_as_compose_gives_it():
    figure = composition_figure(GAUSSIAN, delta=1e-6, counts=[1, 10, 100])
    drawn = list(lines(figure).values())
    expected = compose([(GAUSSIAN, 10)]).epsilons(1e-6)
    order = ("basic", "optimal pure", "total variation", "zCDP", "GDP", "PLD")
    assert [line.get_ydata()[1] for line in drawn] == [expected[bound] for bound in order]
    assert figure.axes[0].get_ylabel() == "ε at δ = 1e-6"
    assert figure.axes[0].get_xscale() == figure.axes[0].get_yscale() == "log"


def test_lines_differ_without_colour():
    drawn = lines(composition_figure(LAPLACE, delta=1e-6, counts=[1, 2])).values()
    assert len({line.get_marker() for line in drawn}) == 6
    assert len({str(line._dash_pattern) for line in drawn}) == 6
    drawn = lines(profile_figure(GAUSSIAN)).values()
    assert len({(str(line._dash_pattern), line.get_linewidth()) for line in drawn}) == 4


@pytest.mark.parametrize("delta", [0.0, 1.0, -1e-6])
def test_delta_must_be_a_probability(delta):
    with pytest.raises(ArgumentError, match=r"^delta must be"):
        composition_figure(GAUSSIAN, delta=delta)


def test_counts_must_not_be_empty():
    with pytest.raises(ArgumentError, match=r"^counts must not be empty"):
        composition_figure(GAUSSIAN, delta=1e-6, counts=[])


def test_a_long_title_has_lines_that_fit_the_figure():
    far = ib.Optimal(ib.Box(2**60, 2**60 + 2**30), 2**28, 1.0, "unbiased")
    figure = profile_figure(far)
    figure.draw_without_rendering()
    title = figure.axes[0].title
    assert title.get_text().count("\n") == 2
    box, edge = title.get_window_extent(), figure.bbox
    assert edge.x0 <= box.x0 < box.x1 <= edge.x1
