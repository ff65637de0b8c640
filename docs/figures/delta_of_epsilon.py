"""Delta at every epsilon for three releases that are all (1, 10⁻⁶)-private.

Drawn for docs/tutorials/epsilon-or-delta.md.
"""

import numpy as np
from matplotlib.figure import Figure

import inbounds as ib


def draw() -> Figure:
    """Return the three curves and the point that they have in common."""
    box, sensitivity = ib.Box(0, 120), 120 / 944
    gaussian = ib.BoundedGaussian.calibrated(box, sensitivity, epsilon=1.0, delta=1e-6)
    pure = ib.calibrate(box, sensitivity, epsilon=1.0)
    epsilons = np.linspace(0, 2, 81)
    before = np.append(epsilons[epsilons < 1], 1 - np.geomspace(2e-2, 1e-14, 40))

    figure = Figure(figsize=(7, 3.8), layout="constrained")
    axes = figure.subplots()
    curves = {
        "pure ε = 1": (before, [pure.delta(x) for x in before], "-"),
        "Gaussian noise": (epsilons, [gaussian.delta(x) for x in epsilons], "-"),
        "all rows with probability 10⁻⁶": (epsilons, np.full(epsilons.size, 1e-6), "--"),
    }
    for label, (x, delta, line) in curves.items():
        axes.plot(x, delta, linestyle=line, label=label)
    axes.plot([1], [1e-6], color="C3", marker="o", linestyle="none", label="(1, 10⁻⁶)")
    axes.set_yscale("log")
    axes.set_ylim(1e-15, 1)
    axes.set_xlim(0, 2)
    axes.set_xlabel("ε")
    axes.set_ylabel("δ")
    axes.legend(loc="lower left", frameon=False)
    return figure
