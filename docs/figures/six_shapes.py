"""Where the outputs of six mechanisms are for two true values, at the same guarantee.

Drawn for docs/tutorials/which-mechanism.md. Probabilities of bins show densities, outputs at a
bound and tables of few outputs in the same unit.
"""

import numpy as np
from matplotlib.figure import Figure

import inbounds as ib

NAMES = {
    "BoundedLaplace": "Laplace,\ntruncated",
    "BoundedGaussian": "Gaussian,\ntruncated",
    "Optimal": "Optimal",
    "ClampedLaplace": "Laplace,\nclamped",
    "ClampedGaussian": "Gaussian,\nclamped",
    "ClampedStaircase": "staircase,\nclamped",
}


def draw() -> Figure:
    """Return six panels with the probabilities of bins of three years."""
    comparison = ib.compare(ib.Box(0, 120), 10, epsilon=1.0)
    edges = np.linspace(0, 120, 41)
    figure = Figure(figsize=(7, 4.6), layout="constrained")
    panels = figure.subplots(2, 3, sharex=True, sharey=True).flat
    for axes, (name, title) in zip(panels, NAMES.items(), strict=True):
        mechanism = comparison[name].mechanism
        for value, colour in ((15.0, "C0"), (60.0, "C1")):
            below = np.array([float(mechanism.cdf(edge, value)) for edge in edges[1:]])
            bins = np.diff(below, prepend=0.0)
            axes.stairs(bins, edges, color=colour, fill=True, alpha=0.25)
            axes.stairs(bins, edges, color=colour, label=f"value {value:g}")
        axes.set_title(title, fontsize="medium")
        axes.set_xlim(0, 120)
        axes.set_xticks([0, 60, 120])
    for axes in figure.axes[3:]:
        axes.set_xlabel("output")
    for axes in figure.axes[::3]:
        axes.set_ylabel("probability of a bin")
    lines = figure.axes[0].get_legend_handles_labels()
    figure.legend(*lines, frameon=False, ncols=2, loc="outside upper center")
    return figure
