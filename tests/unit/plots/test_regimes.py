from dataclasses import dataclass

import numpy as np
import pytest
from matplotlib.colors import to_hex
from scipy.interpolate import RegularGridInterpolator

from inbounds.plots.regimes import regimes_figure
from inbounds.plots.style import look_of

NAMES = ("BoundedGaussian", "BoundedLaplace", "ClampedGaussian", "ClampedLaplace")


@dataclass
class Map:
    rmse: np.ndarray
    delta: float = 0.0
    dimension: int = 1
    names: tuple = NAMES

    def __post_init__(self):
        self.fractions = np.logspace(-2, 0, self.rmse.shape[2])
        self.epsilons = np.logspace(-1, 1, self.rmse.shape[1])
        self.best = np.asarray(NAMES)[self.rmse.argmin(axis=0)]
        first, second = np.sort(self.rmse, axis=0)[:2]
        self.margin = 100 * (1 - first / second)
        self.over_the_middle = first / (0.99 / np.sqrt(12))


@pytest.fixture
def crossing():
    """The Gaussian wins on the right, the clamped Laplace on the left; errors fall upwards."""
    right = np.array([[0.5, 0.4, 0.3], [0.1, 0.08, 0.06]])
    left = np.array([[0.32, 0.4, 0.5], [0.06, 0.08, 0.1]])
    return Map(np.array([right, left + 0.01, left + 0.4, left - 0.01]), delta=1e-6, dimension=7)


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def contours(axes):
    return [c for c in axes.collections if type(c).__name__ == "QuadContourSet"]


def test_cells_have_the_shade_of_the_best_and_the_number_of_its_margin(crossing):
    axes = regimes_figure([crossing]).axes[0]
    mesh = axes.collections[0]
    shades = [to_hex(colour) for colour in np.asarray(mesh.get_array()).reshape(-1, 3)]
    assert shades == [look_of(name).fill for name in crossing.best.ravel()]
    assert [text.get_text() for text in axes.texts] == [f"{m:.0f}" for m in crossing.margin.ravel()]


def test_titles_axes_and_legend_say_what_is_drawn(crossing):
    figure = regimes_figure([crossing])
    axes = figure.axes[0]
    assert axes.get_title() == "m = 7 coordinates together, δ = 1e-6"
    assert axes.get_xlabel() == "l2 sensitivity Δ, in widths of one coordinate"
    assert axes.get_ylabel() == "privacy budget ε"
    assert axes.get_xscale() == axes.get_yscale() == "log"
    entries = legend(figure)
    assert entries[:2] == ["BoundedGaussian is best", "ClampedLaplace is best"]
    assert entries[2].startswith("below: BoundedGaussian is better")
    assert "middle of the box" in entries[3]


def test_the_lines_lie_where_the_errors_cross(crossing):
    drawn = contours(regimes_figure([crossing]).axes[0])[1::2]  # each has a white rim below it
    gaussian, laplace = crossing.rmse[:2]
    levels = np.log(gaussian / laplace), np.log(crossing.rmse.min(axis=0) * np.sqrt(12) / 0.99)
    for line, level in zip(drawn, levels, strict=True):
        grid = (crossing.epsilons, crossing.fractions)
        at = RegularGridInterpolator(grid, level, bounds_error=False, fill_value=None)
        places = np.concatenate([path.vertices for path in line.get_paths()])
        assert len(places) >= 2
        np.testing.assert_allclose(at(places[:, ::-1]), 0, atol=1e-9)


def test_a_line_that_does_not_exist_is_said_in_words():
    flat = np.full((2, 3), 0.1)
    gaussian = Map(np.array([flat, 2 * flat, np.full_like(flat, np.inf), 3 * flat]))
    figure = regimes_figure([gaussian])
    assert contours(figure.axes[0]) == []
    assert figure.axes[0].get_title().split("\n") == [
        "m = 1 coordinate, δ = 0",
        "no ClampedGaussian at this guarantee",
        "BoundedGaussian is better than BoundedLaplace everywhere",
    ]
    laplace = Map(np.array([2 * flat, flat, 4 * flat, 3 * flat]))
    assert regimes_figure([laplace]).axes[0].get_title().endswith("than BoundedGaussian everywhere")


def test_one_cell_is_enough_for_a_map():
    axes = regimes_figure([Map(np.array([0.1, 0.2, 0.3, 0.4]).reshape(4, 1, 1))]).axes[0]
    assert [text.get_text() for text in axes.texts] == ["50"]


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_four_maps_make_one_figure_that_saves(tmp_path, crossing, kind):
    figure = regimes_figure([crossing] * 4)
    assert len(figure.axes) == 4
    assert len(figure.legends) == 1
    figure.savefig(tmp_path / f"map.{kind}")
    assert (tmp_path / f"map.{kind}").stat().st_size > 10_000
