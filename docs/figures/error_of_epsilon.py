"""The largest error of a private mean age against epsilon, for three numbers of people.

Drawn for docs/how-to/choose-epsilon-from-an-error.md.
"""

import math

import numpy as np
from matplotlib.figure import Figure

import inbounds as ib

ACCEPTED = 1.0  # years


def draw() -> Figure:
    """Return one line for each number of people, and where it reaches the accepted error."""
    epsilons = np.geomspace(0.02, 4, 24)
    figure = Figure(figsize=(7, 3.6), layout="constrained")
    axes = figure.subplots()
    for i, people in enumerate((200, 1000, 5000)):
        errors = [largest_error(people, epsilon) for epsilon in epsilons]
        axes.plot(epsilons, errors, color=f"C{i}", label=f"{people:,} people")
        enough = np.exp(np.interp(-math.log(ACCEPTED), -np.log(errors), np.log(epsilons)))
        axes.plot([enough], [ACCEPTED], color=f"C{i}", marker="o")
        axes.annotate(
            f"ε = {enough:.2g}", (enough, ACCEPTED), textcoords="offset points", xytext=(6, 5)
        )
    axes.axhline(ACCEPTED, color="C3", linestyle="--", label="accepted")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("ε")
    axes.set_ylabel("error in years")
    axes.set_xticks([0.02, 0.1, 0.5, 1, 4], labels=["0.02", "0.1", "0.5", "1", "4"])
    axes.set_yticks([0.01, 0.1, 1, 10], labels=["0.01", "0.1", "1", "10"])
    axes.minorticks_off()
    axes.legend(loc="lower left", frameon=False)
    return figure


def largest_error(people: int, epsilon: float) -> float:
    """Return the root mean squared error at the value where it is largest."""
    box = ib.Box(0, 120)
    m = ib.calibrate(box, 120 / people, epsilon=epsilon, criterion="worst_rmse")
    return float(np.sqrt(m.mse(np.linspace(0, 120, 241)).max()))
