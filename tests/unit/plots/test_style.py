import itertools
import subprocess
import sys

import pytest

from inbounds.errors import MissingPackageError
from inbounds.plots.style import blank, look_of, short_number, tidy

NAMES = [
    "BoundedGaussian",
    "BoundedGaussian (paper)",
    "BoundedGaussian (Liu)",
    "BoundedLaplace",
    "ClampedGaussian",
    "ClampedLaplace",
]
MAPPED = ["BoundedGaussian", "BoundedLaplace", "ClampedGaussian", "ClampedLaplace"]


def lightness(colour):
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return 0.299 * red + 0.587 * green + 0.114 * blue


@pytest.mark.parametrize("trait", ["line", "marker", "hatch"])
def test_no_two_mechanisms_look_alike_without_colour(trait):
    assert len({getattr(look_of(name), trait) for name in NAMES}) == len(NAMES)


def test_the_fills_of_a_map_are_far_apart_in_grey():
    for one, other in itertools.combinations(MAPPED, 2):
        assert abs(lightness(look_of(one).fill) - lightness(look_of(other).fill)) > 0.2


def test_an_unknown_mechanism_has_a_look_too():
    assert look_of("Something else") == look_of("Another") != look_of("BoundedGaussian")


def test_a_blank_figure_has_a_canvas_of_its_own():
    figure = blank(4, 3)
    assert type(figure.canvas).__name__ == "FigureCanvasAgg"
    assert figure.get_size_inches().tolist() == [4.0, 3.0]


def test_tidy_names_the_axes():
    axes = blank(4, 3).add_subplot()
    tidy(axes, "title", "x", "y")
    assert (axes.get_title(), axes.get_xlabel(), axes.get_ylabel()) == ("title", "x", "y")


@pytest.mark.parametrize(
    ("number", "text"),
    [(0.0, "0"), (1e-6, "1e-6"), (2.5e-5, "2.5e-5"), (120.0, "120"), (41.31234, "41.31")],
)
def test_numbers_are_written_plainly(number, text):
    assert short_number(number) == text


@pytest.mark.parametrize("module", ["matplotlib.figure", "matplotlib.backends.backend_agg"])
def test_without_matplotlib_the_error_says_what_to_install(monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, "inbounds.plots.figure", raising=False)
    with pytest.raises(MissingPackageError, match=r"pip install 'inbounds\[plots\]'"):
        blank(4, 3)


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)


def test_the_modules_load_without_matplotlib_and_every_figure_asks_for_it():
    code = """
import sys
sys.modules["matplotlib"] = None
import inbounds as ib
from inbounds.analysis.regimes import regimes
from inbounds.analysis.reproduction import figure1
from inbounds.plots.release import release_figure
m = ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=1.0)
for draw in (
    lambda: release_figure(m),
    ib.compare(ib.Box(0, 1), 1, epsilon=1.0).plot,
    regimes(delta=0.0, fractions=[1], epsilons=[1]).plot,
    figure1([1.0]).plot,
):
    try:
        draw()
    except ImportError as error:
        print("inbounds[plots]" in str(error))
"""
    assert run(code).stdout.split() == ["True"] * 4


def test_pyplot_is_never_loaded():
    code = """
import sys
import inbounds as ib
from inbounds.analysis.regimes import regimes
from inbounds.analysis.reproduction import figure1
from inbounds.plots.release import release_figure
figures = [
    release_figure(ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=1.0)),
    ib.compare(ib.Box(0, 1), 1, epsilon=1.0).plot(),
    regimes(delta=0.0, fractions=[0.1, 1], epsilons=[0.1, 1]).plot(),
    figure1([1.0]).plot(),
]
import io
for figure in figures:
    figure.savefig(io.BytesIO(), format="png")
print("matplotlib.figure" in sys.modules, "matplotlib.pyplot" in sys.modules)
"""
    assert run(code).stdout.split() == ["True", "False"]
