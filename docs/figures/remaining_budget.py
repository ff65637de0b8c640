"""What is left of a budget by release: by simple addition, and by the ledger's accountant.

Drawn for docs/tutorials/budget-for-a-year.md.
"""

import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import inbounds as ib

BUDGET, EACH, DELTA = 3.0, 0.25, 1e-6


def draw() -> Figure:
    """Return the two curves, until nothing fits."""
    noise = ib.BoundedGaussian.calibrated(ib.Box(0, 100), 100 / 944, epsilon=EACH, delta=DELTA)
    added = BUDGET - EACH * np.arange(int(BUDGET / EACH) + 1)
    counted = [BUDGET]
    with tempfile.TemporaryDirectory() as folder, ib.Ledger(Path(folder) / "budget.db") as ledger:
        ledger.open("panel", epsilon=BUDGET, delta=DELTA)
        while ledger.would_fit(noise, dataset="panel", releases=len(counted)):
            fit = ledger.would_fit(noise, dataset="panel", releases=len(counted))
            counted.append(fit.remaining.epsilon)

    figure = Figure(figsize=(7, 3.4), layout="constrained")
    axes = figure.subplots()
    for label, left, marker in (("by addition", added, "s"), ("by the ledger", counted, "o")):
        axes.plot(range(len(left)), left, marker=marker, markersize=3, linewidth=1, label=label)
        axes.annotate(
            f"{len(left) - 1} releases",
            (len(left) - 1, left[-1]),
            textcoords="offset points",
            xytext=(8, 10) if left is added else (0, 12),
            ha="left" if left is added else "center",
        )
    axes.set_xlabel("releases")
    axes.set_ylabel("ε that is left")
    axes.set_ylim(0, BUDGET)
    axes.set_xlim(0, len(counted) + 4)
    axes.legend(frameon=False)
    return figure
