from typing import Any

import numpy as np
import pytest

from inbounds.plots.summary import SummaryRow, summary_figure
from inbounds.plots.summary_bars import bar_height


def bins(group: str, values: list[float]) -> list[SummaryRow]:
    return [
        SummaryRow(group, "histogram", "age", (10.0 * i, 10.0 * i + 10), v, max(0.0, v - 3), v + 3)
        for i, v in enumerate(values)
    ]


def levels(group: str, counts: dict[str, float]) -> list[SummaryRow]:
    return [
        SummaryRow(group, "categories", "school", name, v, v - 1, v + 1)
        for name, v in counts.items()
    ]


def stairs(axes: Any) -> list[Any]:
    return [patch.get_data() for patch in axes.patches]


def test_a_histogram_has_steps_and_a_band_of_its_intervals_for_each_group() -> None:
    figure = summary_figure(bins("Ulm", [5.0, 0.0, 9.0]) + bins("Rom", [1.0, 2.0, 3.0]), "town")
    assert [axes.get_title() for axes in figure.axes] == ["Ulm", "Rom"]
    for axes, values in zip(figure.axes, ([5.0, 0.0, 9.0], [1.0, 2.0, 3.0]), strict=True):
        filled, band, line = stairs(axes)
        assert filled.values.tolist() == line.values.tolist() == values
        assert line.edges.tolist() == [0, 10, 20, 30]
        assert band.values.tolist() == [v + 3 for v in values]
        assert np.asarray(band.baseline).tolist() == [max(0.0, v - 3) for v in values]


def test_all_groups_have_the_same_scale_which_holds_every_interval() -> None:
    figure = summary_figure(bins("Ulm", [5.0, 7.0]) + bins("Rom", [1.0, 900.0]), "town")
    assert [axes.get_ylim() for axes in figure.axes] == [(0.0, pytest.approx(1.04 * 903))] * 2
    figure = summary_figure(levels("Ulm", {"a": 5.0}) + levels("Rom", {"a": 900.0}), "town")
    assert [axes.get_xlim() for axes in figure.axes] == [(0.0, pytest.approx(1.04 * 901))] * 2


def test_bins_that_do_not_touch_are_not_joined() -> None:
    rows = bins("", [5.0, 6.0, 7.0, 8.0])
    (axes,) = summary_figure([rows[0], *rows[2:]]).axes
    edges = [data.edges.tolist() for data in stairs(axes)]
    assert edges == [[0.0, 10.0]] * 3 + [[20.0, 30.0, 40.0]] * 3


def test_levels_stand_at_the_same_place_in_every_group() -> None:
    rows = levels("Ulm", {"none": 5.0, "school": 6.0}) + levels("Rom", {"school": 9.0})
    first, second = summary_figure(rows, "town").axes
    assert [text.get_text() for text in first.get_yticklabels()] == ["none", "school"]
    bars = [(bar.get_y() + bar.get_height() / 2, bar.get_width()) for bar in second.patches]
    assert bars == [(pytest.approx(1.0), 9.0)]
    (lines,) = second.collections
    assert lines.get_segments()[0].tolist() == [[8.0, 1.0], [10.0, 1.0]]


def test_no_rows_at_all_are_still_a_figure() -> None:
    rows = [SummaryRow("", "histogram", "age", (0.0, 1.0), 0.0, 0.0, 0.0)]
    assert summary_figure(rows).axes[0].get_ylim() == (0.0, 1.0)


def test_fifty_groups_are_higher_than_one() -> None:
    rows = bins("a", [1.0] * 120)
    assert bar_height(rows, ["a"]) < 4
    assert 15 < bar_height(rows, [f"{i}" for i in range(50)]) < 40
