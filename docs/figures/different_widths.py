"""Errors of a mean age and a mean income that are released together, in four ways.

Drawn for docs/how-to/columns-of-different-widths.md.
"""

import numpy as np
from matplotlib.figure import Figure

import inbounds as ib

PEOPLE = 500
WIDTHS = np.array([120.0, 1e6])


def draw() -> Figure:
    """Return one row for each way, with a dot for each column."""
    ways = fractions()
    rows = np.arange(len(ways))
    figure = Figure(figsize=(7, 2.6), layout="constrained")
    axes = figure.subplots()
    for column, (name, marker, place) in enumerate(
        [("age, 0 to 120", "o", -0.1), ("income, 0 to 1 000 000", "s", 0.1)]
    ):
        errors = [way[column] for way in ways.values()]
        axes.plot(errors, rows + place, marker, color=f"C{column}", label=name)
    axes.set_xscale("log")
    axes.set_xlim(1e-3, 1)
    axes.set_xticks([0.001, 0.01, 0.1, 1], labels=["0.1 %", "1 %", "10 %", "100 %"])
    axes.set_xlabel("typical error, as a fraction of the width")
    axes.set_yticks(rows, labels=list(ways))
    axes.set_ylim(len(ways) - 0.5, -0.5)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2, frameon=False)
    return figure


def fractions() -> dict[str, np.ndarray]:
    """Return the errors of each way in the middle of the box, divided by the widths."""
    box, unit = ib.Box([0, 0], WIDTHS), ib.Box([0, 0], [1, 1])
    change, relative = ib.PerCoordinate(WIDTHS / PEOPLE), ib.PerCoordinate(1 / PEOPLE)
    plain = ib.calibrate(box, change, epsilon=1.0)
    by_hand = ib.calibrate(unit, relative, epsilon=1.0)
    wide = ib.BoundedGaussian.calibrated(box, change, epsilon=1.0, scaling="width")
    single = ib.calibrate(ib.Box(0, 1), 1 / PEOPLE, epsilon=0.5)
    return {
        "as they are": np.sqrt(plain.mse(WIDTHS / 2)) / WIDTHS,
        "by hand to [0, 1]": np.sqrt(by_hand.mse([0.5, 0.5])),
        'scaling="width"': np.sqrt(wide.mse(WIDTHS / 2)) / WIDTHS,
        "one after the other": np.full(2, np.sqrt(single.mse(0.5))),
    }
