"""The page on how cost grows explains every line of its figure."""

import importlib
import json
from pathlib import Path
from runpy import run_path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/growth.md").read_text(encoding="utf-8")


@pytest.fixture
def growth(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("benchmarks.growth")


def test_the_page_explains_every_line(growth: ModuleType, tmp_path: Path) -> None:
    explained = "\n" + PAGE.partition("Where a line is not straight")[2]
    for panel, name, *_ in growth._jobs(tmp_path):
        parts = [part for part in explained.split("\n- ") if part.startswith(f"**{panel}**")]
        ours = not name.startswith("numpy")
        assert parts, panel
        assert not ours or any(f"`{name}`" in part.replace("\n", " ") for part in parts), name


def test_the_figure_is_drawn_from_what_the_command_writes(growth: ModuleType) -> None:
    assert json.loads(growth.SAVED.read_text(encoding="utf-8"))["curves"]
    assert "```{drawn} growth\n" in PAGE
    assert "python -m benchmarks growth" in PAGE


def test_every_job_runs_at_its_smallest_sizes(growth: ModuleType, tmp_path: Path) -> None:
    for panel, name, sizes, make in growth._jobs(tmp_path):
        small = [size for size in sizes if size <= 10][:2]
        curve = growth._measured(panel, name, small, make)
        assert all(seconds > 0 for seconds in curve.seconds)


def test_slopes_are_those_of_the_two_largest_decades(growth: ModuleType) -> None:
    sizes = (1, 10, 100, 1000, 10_000)
    curve = growth.Curve("p", "n", sizes, (5.0, 5.0, 1e2, 1e3, 1e4), (None,) * 5)
    assert curve.slope(curve.seconds) == pytest.approx(1.0)
    assert curve.slope(curve.memory) is None


def test_the_figure_labels_every_line_with_its_slope(growth: ModuleType) -> None:
    figure_of = run_path(str(ROOT / "docs/figures/growth.py"))["growth"]
    sizes = (1, 10, 100)
    curves = [
        growth.Curve("values", "release", sizes, (1e-6, 1e-5, 1e-4), (1e5, 1e6, 1e7)),
        growth.Curve("values", "numpy normal", sizes, (1e-6, 1e-6, 1e-6), (None,) * 3),
        growth.Curve("groups", "summarize", sizes, (1e-3, 1e-3, 1e-1), (1e5, 1e5, 1e5)),
    ]
    drawn = figure_of(json.loads(growth._written(curves))["curves"], columns=2, width=7)
    legends = [legend for axes in drawn.axes if (legend := axes.get_legend())]
    texts = {text.get_text() for legend in legends for text in legend.get_texts()}
    assert texts == {"release: slope 1.00", "numpy normal: slope 0.00", "summarize: slope 1.00"}
