import dataclasses

import numpy as np
import pytest

import inbounds as ib
from inbounds.auditing.audit import audit
from inbounds.auditing.event import Event
from inbounds.plots.audit import audit_figure
from inbounds.sampling.entropy import SeededEntropy

BOX = ib.Box(0, 1)


def drawn(mechanism, **options):
    return audit(mechanism, releases=20_000, entropy=SeededEntropy(1), **options)


@pytest.fixture(scope="module")
def result():
    return drawn(ib.BoundedGaussian.calibrated(BOX, 1, epsilon=1.0))


def texts(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def stairs(axes):
    return [patch for patch in axes.patches if hasattr(patch, "get_data")]


def spans(axes):
    return [patch for patch in axes.patches if patch.get_hatch()]


def test_the_histograms_are_the_fractions_of_the_outputs(result):
    upper, _ = audit_figure(result).axes
    for bins, (filled, outline) in zip(
        result.histograms, zip(stairs(upper)[::2], stairs(upper)[1::2], strict=True), strict=True
    ):
        for patch in (filled, outline):
            values, edges, _ = patch.get_data()
            np.testing.assert_array_equal(edges, result.edges)
            np.testing.assert_allclose(values, np.array(bins) / sum(bins))


def test_the_two_values_differ_without_colour(result):
    filled, first, _, second = stairs(audit_figure(result).axes[0])
    assert filled.get_fill()
    assert first.get_linestyle() != second.get_linestyle()


@pytest.mark.parametrize(
    ("event", "inside", "outside", "ends"),
    [
        (Event("below", 0.2), 0.1, 0.3, {0.2}),
        (Event("above", 0.7), 0.8, 0.6, {0.7}),
        (Event("near", 0.25, 0.5), 0.6, 0.8, {0.25, 0.75}),
        (Event("near", 0.0, 0.5), 0.5, 0.6, {0.5}),
    ],
    ids=str,
)
def test_the_event_is_shaded_in_both_panels_and_its_ends_are_marked(
    result, event, inside, outside, ends
):
    for axes in audit_figure(dataclasses.replace(result, event=event)).axes:
        (shade,) = spans(axes)
        left, right = shade.get_x(), shade.get_x() + shade.get_width()
        assert left <= inside <= right
        assert not left <= outside <= right
        marks = [set(line.get_xdata()) for line in axes.get_lines()]
        assert {x for mark in marks if len(mark) == 1 for x in mark} == ends


def test_the_legend_names_values_shares_and_the_event(result):
    upper, lower = audit_figure(result).axes
    first, second, event = texts(upper)
    share = result.counts[0] / result.trials
    assert first == f"value {result.pair[0]:g}: {share:.3g} of the outputs in the event"
    assert second.startswith(f"value {result.pair[1]:g}: ")
    assert event == f"event: {result.event}"
    assert "ε claimed, 1" in texts(lower)
    assert f"ε ≥ {result.epsilon_lower:.4g}, by the event" in texts(lower)


def test_the_ratio_of_each_bin_is_drawn_against_the_claim(result):
    _, lower = audit_figure(result).axes
    first, second = (np.array(bins) for bins in result.histograms)
    kept = (first >= 5) & (second >= 5)
    points = lower.containers[0].lines[0].get_ydata()
    np.testing.assert_allclose(points, np.log(first[kept] / second[kept]))
    heights = {line.get_ydata()[0] for line in lower.get_lines() if len(line.get_xdata()) == 2}
    assert {result.claimed_epsilon, result.epsilon_lower} <= heights


def test_the_title_is_the_verdict(result):
    title = audit_figure(result).get_suptitle()
    assert title.startswith("Audit of BoundedGaussian(Box(0, 1), L2(1)")
    assert "\nnot refuted: ε ≥ " in title
    wrong = drawn(ib.ClampedLaplace(BOX, 1, scale=0.2), claimed_epsilon=1.0, delta=1e-6)
    assert "\nREFUTED: ε ≥ " in audit_figure(wrong).get_suptitle()
    assert "δ = 1e-6" in audit_figure(wrong).get_suptitle()


def test_a_joint_release_is_drawn_along_its_direction():
    joint = drawn(ib.BoundedGaussian(ib.Box([0, 1], [10, 9]), ib.PerCoordinate([4, 2]), 3.0))
    upper, lower = audit_figure(joint).axes
    assert lower.get_xlabel() == "weighted sum of the output's coordinates"
    assert texts(upper)[0].startswith("value (")
    assert len(audit_figure(joint).get_suptitle().splitlines()[0]) < 90


def test_a_mechanism_that_never_varies_can_be_drawn():
    found = audit(lambda value: value, pair=(0.0, 1.0), claimed_epsilon=1.0, releases=1000)
    assert not found.passed
    audit_figure(found).draw_without_rendering()


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_the_figure_saves(tmp_path, result, kind):
    result.plot().savefig(tmp_path / f"figure.{kind}")
    assert (tmp_path / f"figure.{kind}").stat().st_size > 10_000
