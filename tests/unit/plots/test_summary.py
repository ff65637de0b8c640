"""The figure of a summary: what is drawn where, in any number of groups; nothing overlaps."""

from itertools import combinations
from typing import Any

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from inbounds.plots.summary import _COLOURS, _MARKERS, SummaryRow, panels_of, summary_figure

LONG = "a rather long name of a district in $ number "


def row(group: str, statistic: str = "mean", label: Any = None, **given: Any) -> SummaryRow:
    facts = {"column": "age", "value": 41.0, "lower": 38.5, "upper": 44.0} | given
    return SummaryRow(group, statistic, facts.pop("column"), label, **facts)


def named(figure: Any, title: str) -> Any:
    return next(axes for axes in figure.axes if axes.get_title() == title)


def intervals(axes: Any) -> list[list[tuple[float, float]]]:
    """The ends of each interval, for each series of points."""
    return [
        [(float(path[0][0]), float(path[1][0])) for path in lines.get_segments()]
        for lines in axes.collections
    ]


def points(axes: Any) -> list[tuple[float, float]]:
    return [
        (float(x), float(y))
        for line in axes.get_lines()
        if line.get_marker() != "|"
        for x, y in line.get_xydata()
    ]


def texts(figure: Any) -> list[Any]:
    """All texts that are shown, other than empty ones."""
    found = [figure._suptitle]
    for axes in figure.axes:
        found += [axes.title, axes.xaxis.label, axes.yaxis.label]
        found += [
            text for text in axes.get_yticklabels() if axes.yaxis.get_tick_params()["labelleft"]
        ]
        found += axes.get_legend().get_texts() if axes.get_legend() else []
    return [text for text in found if text.get_text() and text.get_visible()]


def overlapping(figure: Any) -> list[tuple[str, str]]:
    """Pairs of texts of which one covers a part of the other."""
    FigureCanvasAgg(figure).draw()
    boxes = [
        (text.get_text(), text.get_window_extent().shrunk(0.98, 0.9)) for text in texts(figure)
    ]
    return [(a, b) for (a, x), (b, y) in combinations(boxes, 2) if x.overlaps(y)]


def everything(groups: list[str], bins: int = 12) -> list[SummaryRow]:
    rows = []
    for place, group in enumerate(groups):
        rows += [
            row(group, "count", column="", value=100.0 + place, lower=90.0, upper=120.0),
            row(group, "mean", value=41.0 + place / 10),
            row(group, "median", 0.5),
            *(row(group, "quantile", q, value=100 * q, lower=None, upper=None) for q in (0.1, 0.9)),
            row(group, "total", column="yearly income in $ before taxes, with all benefits"),
            *(row(group, "histogram", (float(i), i + 1.0)) for i in range(bins)),
            *(row(group, "categories", f"level {i}", column="school") for i in range(5)),
        ]
    return rows


def test_points_and_intervals_are_the_numbers_of_the_groups() -> None:
    rows = [row("Ulm"), row("Rom", value=7.0, lower=5.0, upper=9.0)]
    figure = summary_figure(rows, "town")
    (axes,) = figure.axes
    assert points(axes) == [(41.0, 0.0), (7.0, 1.0)]
    assert intervals(axes) == [[(38.5, 44.0), (5.0, 9.0)]]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["Ulm", "Rom"]
    assert axes.get_ylim() == (1.5, -0.5)  # the first group is at the top
    assert figure.get_suptitle() == "Private statistics by town with 95 % intervals"


def test_without_groups_there_is_one_row_for_all() -> None:
    figure = summary_figure([row("", "count", column="")])
    assert figure.axes[0].get_title() == "count"
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == ["all rows"]
    assert figure.get_suptitle() == "Private statistics with 95 % intervals"


def test_quantiles_of_a_column_share_a_panel_and_differ_in_marker_and_height() -> None:
    figure = summary_figure(everything(["Ulm", "Rom"]), "town")
    axes = named(figure, "quantiles of age")
    series = [line for line in axes.get_lines() if line.get_marker() != "|"]
    assert len({line.get_marker() for line in series}) == len(series) == 3
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "q = 0.1",
        "q = 0.5",
        "q = 0.9",
    ]
    assert len({y for _, y in points(axes)}) == 6
    assert intervals(axes) == [[(38.5, 44.0)] * 2]  # only the median has intervals


@pytest.mark.parametrize(
    ("rows", "title"),
    [
        ([row("", "median", 0.5)], "median of age"),
        ([row("", "quantile", 0.25)], "quantile 0.25 of age"),
    ],
)
def test_a_single_quantile_is_in_the_title(rows: list[SummaryRow], title: str) -> None:
    (axes,) = summary_figure(rows).axes
    assert axes.get_title() == title
    assert axes.get_legend() is None


def test_a_statistic_that_was_asked_for_twice_has_two_panels() -> None:
    twice = [row(group, value=value) for group in ("Ulm", "Rom") for value in (1.0, 2.0)]
    assert [[r.value for r in panel] for panel in panels_of(twice)] == [[1.0, 1.0], [2.0, 2.0]]
    bins = [row("", "histogram", label) for label in ((0, 9), (9, 18), (0, 6), (6, 12), (12, 18))]
    assert [len(panel) for panel in panels_of(bins)] == [2, 3]
    levels = [row("", "categories", label) for label in "abbc"]
    assert [len(panel) for panel in panels_of(levels)] == [2, 2]


@pytest.mark.parametrize("count", [1, 3, 50])
def test_no_text_covers_another(count: int) -> None:
    groups = [f"{LONG}{i}" for i in range(count)]
    rows = everything(groups)
    if count == 50:  # panels of bars are drawn by the hundred; points alone are enough here
        rows = [r for r in rows if r.statistic not in ("histogram", "categories")]
    figure = summary_figure(rows, "the district that people live in, or did before they moved")
    assert overlapping(figure) == []
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert len(set(labels)) == count  # what tells long names apart is not cut


def test_texts_that_overlap_would_be_noticed() -> None:
    figure = summary_figure(everything(["Ulm"]), "town")
    figure.axes[0].set_title("a title that is much too long for a panel of this width " * 2)
    assert overlapping(figure)


def lightness(colour: str) -> float:
    """The relative luminance by which contrast is defined."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("colour", _COLOURS)
def test_every_colour_is_seen_on_white_in_grey(colour: str) -> None:
    assert 1.05 / (lightness(colour) + 0.05) > 3  # the least contrast of graphics (WCAG 2.1)


def test_markers_tell_ten_quantiles_apart_without_colour() -> None:
    assert len(set(_MARKERS)) == len(_MARKERS) == 10
