import numpy as np
import pytest

import inbounds as ib
from inbounds.plots.comparison import comparison_figure


def one_of_each(comparison):
    """The best calibration of each mechanism; contenders are sorted by their error."""
    kinds = [type(c.mechanism) for c in comparison.contenders]
    return [c for i, c in enumerate(comparison.contenders) if kinds.index(kinds[i]) == i]


@pytest.fixture(scope="module")
def wide():
    """Every value may change to every other: atoms at both bounds."""
    return ib.compare(ib.Box(0, 1), 1, epsilon=1.0)


def named(figure, start):
    return next(axes for axes in figure.axes if axes.get_title().startswith(start))


def stems(figure):
    """The (x, mass) of what has a probability of its own, by panel order."""
    twins = [a for a in figure.axes if a.get_ylabel().startswith("probability of a")]
    return [[tuple(xy) for line in a.get_lines() for xy in line.get_xydata()] for a in twins]


def test_the_bars_are_the_errors(wide):
    axes = named(comparison_figure(wide), "Error of the outputs")
    average, worst = axes.containers
    assert [bar.get_width() for bar in average] == [c.error.average_rmse for c in wide.contenders]
    assert [bar.get_width() for bar in worst] == [c.error.worst_rmse for c in wide.contenders]
    labels = [text.get_text().replace("\n", " ") for text in axes.get_yticklabels()]
    assert labels == [c.name for c in wide.contenders]
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    lines = ["always the middle of the box", "least possible average"]
    assert legend == [*lines, "average over values", "worst value"]
    places = [set(line.get_xdata()) for line in axes.get_lines()]
    assert places == [{wide.baseline.average_rmse}, {wide.limit.rmse[0]}]
    assert average[0].get_hatch() != worst[0].get_hatch()


@pytest.mark.parametrize(("start", "value"), [("middle", 0.5), ("lower bound", 0.0)])
def test_the_curves_are_the_densities_of_the_outputs(wide, start, value):
    axes = named(comparison_figure(wide), f"Outputs when the value is the {start}")
    drawn = {line.get_label(): line for line in axes.get_lines()}
    assert set(drawn) == {c.name for c in one_of_each(wide)}
    assert len(drawn) == 7
    for contender in one_of_each(wide):
        if isinstance(contender.mechanism, ib.Optimal):
            continue
        x, y = drawn[contender.name].get_data()
        np.testing.assert_array_equal(y, contender.mechanism.pdf(x, value))
        below, above = contender.mechanism.mass_at_bounds(value)
        assert np.trapezoid(y, x) + below + above == pytest.approx(1, abs=1e-3)


def test_curves_differ_without_colour(wide):
    axes = named(comparison_figure(wide), "Outputs when the value is the middle")
    assert (
        len({str(line._unscaled_dash_pattern) for line in axes.get_lines()}) == 6
    )  # and Optimal, which has no density


def test_atoms_are_drawn_with_their_mass_just_outside_the_box(wide):
    for masses, value in zip(stems(comparison_figure(wide)), (0.5, 0.0), strict=True):
        expected = [
            mass
            for c in wide.contenders
            for mass in c.mechanism.mass_at_bounds(value)
            if c.name.startswith("Clamped")
        ]
        assert sorted(mass for x, mass in masses if not 0 < x < 1) == sorted(expected)


def test_a_finite_number_of_outputs_is_drawn_as_stems_at_these_outputs(wide):
    optimal = wide["Optimal"].mechanism
    for masses, value in zip(stems(comparison_figure(wide)), (0.5, 0.0), strict=True):
        inside = [(x, mass) for x, mass in masses if 0 < x < 1]
        assert sum(mass for _, mass in inside) == pytest.approx(1, abs=1e-3)
        assert {x for x, _ in inside} <= set(optimal.outputs)
        assert optimal.mean(value) == pytest.approx(sum(x * mass for x, mass in inside), abs=1e-3)


def test_an_atom_out_of_sight_is_not_drawn():
    figure = comparison_figure(ib.compare(ib.Box(0, 120), 12, epsilon=3.0))
    *_, masses = stems(figure)
    atoms = [(x, mass) for x, mass in masses if x < 0]
    assert [round(mass, 3) for _, mass in atoms] == [0.5, 0.5, 0.5]  # of all three kinds of noise
    assert all(-6 < x < 0 for x, _ in atoms)
    assert all(x < 60 for x, _ in masses)  # none at the upper bound


def test_the_title_states_the_guarantee(wide):
    assert comparison_figure(wide).get_suptitle() == (
        "Mechanisms on Box(0, 1) at the same guarantee: epsilon=1, delta=0"
    )


def test_of_several_coordinates_the_first_is_drawn():
    box = ib.Box([0, 1], [10, 9])
    result = ib.compare(box, ib.PerCoordinate([4, 2]), epsilon=1.0)
    axes = named(comparison_figure(result), "Outputs when the value is the middle, 5 (first")
    line = next(line for line in axes.get_lines() if line.get_label() == "BoundedGaussian")
    x, y = line.get_data()
    joint = np.column_stack([x, np.full_like(x, 4.0)])
    expected = result["BoundedGaussian"].mechanism.pdf(joint, [5.0, 4.0])[:, 0]
    np.testing.assert_allclose(y, expected, rtol=1e-12)


def test_many_coordinates_are_counted_and_not_listed():
    result = ib.compare(ib.Box([0] * 5, 1), 1, epsilon=1.0)
    assert "a box of 5 coordinates" in comparison_figure(result).get_suptitle()


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_the_figure_saves(tmp_path, wide, kind):
    comparison_figure(wide).savefig(tmp_path / f"figure.{kind}")
    assert (tmp_path / f"figure.{kind}").stat().st_size > 10_000
