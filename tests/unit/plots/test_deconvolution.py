"""The figure of a private column: what is drawn and named; nothing is cut silently."""

import numpy as np
import pytest

import inbounds as ib
from inbounds.data import load_anes96
from inbounds.errors import ArgumentError
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.plots.deconvolution import deconvolution_figure
from inbounds.recovery.deconvolve import deconvolve
from inbounds.sampling.entropy import SeededEntropy

AGES = load_anes96()["age"]
TRUNCATED = ib.BoundedGaussian(ib.Box(0, 120), 120, sigma=60.0)
CLAMPED = ib.ClampedLaplace(ib.Box(0, 120), 120, scale=60.0)


def labels(mechanism: Mechanism, bootstrap: int, *, shown: bool) -> list[str]:
    outputs = mechanism.release(AGES, entropy=SeededEntropy(1))
    figure = deconvolve(outputs, mechanism, bootstrap=bootstrap).plot(AGES if shown else None)
    legend = figure.axes[0].get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


def test_the_truth_is_drawn_only_if_given_and_is_called_not_private() -> None:
    assert labels(TRUNCATED, 0, shown=False) == ["private outputs", "recovered"]
    assert "true values (not private)" in labels(TRUNCATED, 0, shown=True)


def test_a_band_needs_enough_of_a_bootstrap() -> None:
    band = "recovered, 95 % of bootstrap"
    assert band in labels(TRUNCATED, 20, shown=False)
    assert band not in labels(TRUNCATED, 19, shown=False)


@pytest.mark.parametrize(("mechanism", "named"), [(CLAMPED, 2), (TRUNCATED, 0)])
def test_end_cells_too_high_to_draw_are_named(mechanism: Mechanism, named: int) -> None:
    result = deconvolve(mechanism.release(AGES, entropy=SeededEntropy(1)), mechanism, bootstrap=0)
    axes = result.plot(AGES).axes[0]
    texts = [text.get_text() for text in axes.texts]
    assert len(texts) == named
    if named:
        assert texts[0] == f"{result.private[0]:.0%} of outputs ↑"
        assert axes.get_ylim()[1] < result.private[0] / np.diff(result.edges)[0]


def test_the_recovered_stairs_hold_all_of_the_probability() -> None:
    result = deconvolve(TRUNCATED.release(AGES, entropy=SeededEntropy(1)), TRUNCATED, bootstrap=0)
    stairs = deconvolution_figure(result, AGES).axes[0].patches
    areas = [np.diff(s.get_data().edges) @ s.get_data().values for s in stairs]  # type: ignore[attr-defined]
    assert areas == pytest.approx([1, 1, 1])


def test_an_empty_truth_is_refused() -> None:
    with pytest.raises(ArgumentError, match="raw must hold at least one value"):
        deconvolve([60.0], TRUNCATED, bootstrap=0).plot([])
