"""True ages, their private outputs, and the distribution that was recovered from the outputs.

Drawn for docs/tutorials/private-column.md. The noise is repeatable, so that the words fit it.
"""

import numpy as np
from matplotlib.figure import Figure

import inbounds as ib
from inbounds.data import load_anes96
from inbounds.sampling.entropy import SeededEntropy


def draw() -> Figure:
    """Return the three densities on the same cells."""
    ages = load_anes96()["age"]
    mechanism = ib.Window.calibrated(ib.Box(0, 120, step=1), 120, epsilon=2.0)
    outputs = mechanism.release(ages, entropy=SeededEntropy(7))
    result = ib.deconvolve(outputs, mechanism, bootstrap=0)
    edges = np.linspace(0, 120, 25)
    width = edges[1] - edges[0]
    densities = {
        "private outputs": np.histogram(outputs, edges)[0] / len(ages) / width,
        "true ages": np.histogram(ages, edges)[0] / len(ages) / width,
        "recovered": result.histogram(edges)[0] / width,
    }

    figure = Figure(figsize=(7, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.stairs(densities["private outputs"], edges, color="C5", fill=True, alpha=0.3)
    axes.stairs(densities["private outputs"], edges, color="C5", label="private outputs")
    axes.stairs(
        densities["true ages"], edges, color="C1", linestyle="--", linewidth=1.5, label="true ages"
    )
    axes.stairs(densities["recovered"], edges, color="C0", linewidth=2.2, label="recovered")
    axes.set_xlim(0, 120)
    axes.set_xticks(range(0, 121, 20))
    axes.set_xlabel("age in years")
    axes.set_ylabel("density")
    axes.legend(frameon=False)
    return figure
