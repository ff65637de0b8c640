from types import SimpleNamespace

import numpy as np
import pytest

from inbounds.plots.reproduction import figure1_figure

DATA = SimpleNamespace(
    epsilons=np.array([0.5, 1.0, 2.0]),
    liu=np.array([200.0, 100.0, 50.0]),
    paper=np.array([150.0, 70.0, 30.0]),
    exact=np.array([60.0, 30.0, 15.0]),
    liu_rmse=np.array([4.0, 3.9, 3.8]),
    paper_rmse=np.array([3.9, 3.8, 3.6]),
    exact_rmse=np.array([3.8, 3.5, 3.0]),
    middle_rmse=2.5,
    paper_below_liu=np.array([25.0, 30.0, 40.0]),
    exact_below_liu=np.array([70.0, 70.0, 70.0]),
    paper_rmse_below_liu=np.array([2.5, 2.6, 5.3]),
    exact_rmse_below_liu=np.array([5.0, 10.3, 21.1]),
)


def lines(axes):
    return {line.get_label(): line for line in axes.get_lines()}


@pytest.fixture
def panels():
    return figure1_figure(DATA).axes  # left, right, and the percentages of each


def test_titles_and_axes_say_what_is_drawn(panels):
    assert [axes.get_title() for axes in panels[:2]] == [
        "(a) Scale of the noise",
        "(b) Error of the outputs",
    ]
    assert {axes.get_xlabel() for axes in panels[:2]} == {"privacy budget ε"}
    assert [axes.get_ylabel() for axes in panels] == [
        "σ² (squared scale before truncation)",
        "average RMSE of the outputs",
        "percent reduction of σ² against Liu",
        "percent reduction of RMSE against Liu",
    ]


@pytest.mark.parametrize(("panel", "suffix"), [(0, ""), (1, "_rmse")])
def test_every_curve_and_every_percentage_is_the_data(panels, panel, suffix):
    curves, marks = lines(panels[panel]), lines(panels[panel + 2])
    for label, name in (("Liu", "liu"), ("Chen and Hale", "paper"), ("exact", "exact")):
        assert curves[label].get_ydata().tolist() == getattr(DATA, name + suffix).tolist()
        assert curves[label].get_xdata().tolist() == DATA.epsilons.tolist()
    for label, name in (("Chen and Hale", "paper"), ("exact", "exact")):
        drawn = marks[f"{label}: reduction (right axis)"]
        assert drawn.get_ydata().tolist() == getattr(DATA, f"{name}{suffix}_below_liu").tolist()
        assert drawn.get_linestyle() == "None"


def test_the_legend_names_every_line_of_both_axes(panels):
    for panel in (0, 1):
        shown = [text.get_text() for text in panels[panel].get_legend().get_texts()]
        assert shown == [*lines(panels[panel]), *lines(panels[panel + 2])]


def test_the_middle_of_the_box_is_a_level_line_of_the_error_only(panels):
    name = "always the middle of the box"
    assert set(lines(panels[1])[name].get_ydata()) == {2.5}
    assert name not in lines(panels[0])


def test_lines_and_markers_differ_without_colour(panels):
    assert len({line.get_linestyle() for line in panels[0].get_lines()}) == 3
    assert len({line.get_marker() for line in panels[2].get_lines()}) == 2


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_the_figure_saves(tmp_path, kind):
    figure1_figure(DATA).savefig(tmp_path / f"figure.{kind}")
    assert (tmp_path / f"figure.{kind}").stat().st_size > 10_000
