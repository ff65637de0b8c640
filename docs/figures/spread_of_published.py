"""Where a published count lands around the true one, at three values of epsilon.

Drawn for docs/how-to/for-stakeholders.md, and without any noise: the bars are probabilities.
"""

import numpy as np
from matplotlib.figure import Figure

import inbounds as ib

TRUE = 37  # people in a made-up district


def draw() -> Figure:
    """Return three rows of bars: how often each number would be published."""
    figure = Figure(figsize=(7, 4.4), layout="constrained")
    rows = figure.subplots(3, 1, sharex=True)
    words = {0.1: "strong protection, ε = 0.1", 0.5: "medium, ε = 0.5", 1.0: "weaker, ε = 1"}
    numbers = np.arange(TRUE - 32, TRUE + 33)
    box = ib.Box(0, 500, step=1)
    for axes, (epsilon, name), colour in zip(rows, words.items(), ("C2", "C0", "C1"), strict=True):
        mechanism = ib.ClampedLaplace.calibrated(box, 1, epsilon=epsilon)
        edges = np.append(numbers - 0.5, numbers[-1] + 0.5)
        chances = 100 * np.diff(mechanism.cdf(edges, float(TRUE)))
        axes.bar(numbers, chances, width=0.8, color=colour)
        axes.axvline(TRUE, color="C3", linestyle="--", linewidth=1.2)
        axes.set_title(name, loc="left", fontsize=10)
        axes.set_ylabel("% of releases")
        axes.set_ylim(0, 45)
    rows[0].annotate(
        "the true number",
        (TRUE, 32),
        (TRUE + 7, 32),
        va="center",
        arrowprops={"arrowstyle": "->", "color": "C3"},
    )
    rows[-1].set_xlabel("published number of people")
    return figure
