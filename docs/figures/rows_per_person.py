"""Private counts of viewers by day, if seven and if three rows of each person are used.

Drawn for docs/tutorials/table-by-group.md, with its table of evenings.
"""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import inbounds as ib
from inbounds.data import load_anes96
from inbounds.frames import count

WEEK = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]


def draw() -> Figure:
    """Return the true counts, and two private ones with their intervals."""
    rng = np.random.default_rng(1996)
    rows = [
        (person, day)
        for person, evenings in enumerate(load_anes96()["tv_news"])
        for day in rng.choice(WEEK, evenings, replace=False)
    ]
    table = pd.DataFrame(rows, columns=["person", "day"])
    truth = table["day"].value_counts()[WEEK]

    figure = Figure(figsize=(7, 3.4), layout="constrained")
    axes = figure.subplots()
    place = np.arange(len(WEEK))
    axes.plot(place, truth, color="C1", marker="_", markersize=26, linestyle="none", label="truth")
    for most, marker, shift in ((7, "o", -0.12), (3, "s", 0.12)):
        result = ib.summarize(
            table, count(), by="day", groups=WEEK, epsilon=1.0, id="person", rows=most, size=944
        )
        value = result["value"].to_numpy()
        ends = [value - result["lower"].to_numpy(), result["upper"].to_numpy() - value]
        axes.errorbar(
            place + shift,
            value,
            yerr=ends,
            color="C0" if most == 7 else "C2",
            marker=marker,
            linestyle="none",
            capsize=3,
            label=f"{most} rows per person",
        )
    axes.set_xticks(place, WEEK)
    axes.set_ylim(0, 800)
    axes.set_ylabel("viewers")
    axes.legend(frameon=False, ncols=3, loc="upper center")
    return figure
