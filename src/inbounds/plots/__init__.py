"""Figures of matplotlib, each with its own canvas: no display and no global state is needed.

>>> import inbounds as ib
>>> m = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 2.5, epsilon=1.0)
>>> ib.plots.release_figure(m).savefig("release.png")  # doctest: +SKIP
"""

from typing import TYPE_CHECKING

from inbounds._lazy import loader

if TYPE_CHECKING:
    from inbounds.plots.audit import audit_figure
    from inbounds.plots.comparison import comparison_figure
    from inbounds.plots.deconvolution import deconvolution_figure
    from inbounds.plots.privacy import composition_figure, profile_figure
    from inbounds.plots.regimes import regimes_figure
    from inbounds.plots.release import release_figure
    from inbounds.plots.reproduction import figure1_figure

__all__ = [
    "audit_figure",
    "comparison_figure",
    "composition_figure",
    "deconvolution_figure",
    "figure1_figure",
    "profile_figure",
    "regimes_figure",
    "release_figure",
]

if not TYPE_CHECKING:  # they need matplotlib
    __getattr__ = loader(
        __name__,
        {
            "inbounds.plots.audit": ["audit_figure"],
            "inbounds.plots.comparison": ["comparison_figure"],
            "inbounds.plots.deconvolution": ["deconvolution_figure"],
            "inbounds.plots.privacy": ["composition_figure", "profile_figure"],
            "inbounds.plots.regimes": ["regimes_figure"],
            "inbounds.plots.release": ["release_figure"],
            "inbounds.plots.reproduction": ["figure1_figure"],
        },
    )
