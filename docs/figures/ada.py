"""The output of a private mean age if Ada is 30 and if she is 90, and the ratio of the densities.

Drawn for docs/tutorials/first-release.md.
"""

import math

import numpy as np
from matplotlib.figure import Figure

import inbounds as ib
from inbounds.data import load_anes96


def draw() -> Figure:
    """Return the two densities above their ratio."""
    ages = load_anes96()["age"]
    people, others = len(ages), int(ages[1:].sum())
    mechanism = ib.calibrate(ib.Box(0, 120), 120 / people, epsilon=1.0)
    young, old = (others + 30) / people, (others + 90) / people
    outputs = np.linspace(46.35, 47.8, 4001)
    densities = {30: mechanism.pdf(outputs, young), 90: mechanism.pdf(outputs, old)}

    figure = Figure(figsize=(7, 4.4), layout="constrained")
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
    for (age, density), colour in zip(densities.items(), ("C0", "C1"), strict=True):
        top.plot(outputs, density, color=colour, label=f"Ada is {age}")
        top.fill_between(outputs, density, color=colour, alpha=0.15)
    top.set_ylabel("density")
    top.set_ylim(bottom=0)
    top.legend(frameon=False)

    bottom.plot(outputs, densities[90] / densities[30], color="C2")
    bottom.axhline(math.e, color="C3", linestyle="--", linewidth=1)
    bottom.axhline(1 / math.e, color="C3", linestyle="--", linewidth=1)
    bottom.set_yscale("log")
    bottom.set_ylim(0.25, 4)
    bottom.set_yticks([1 / math.e, 1, math.e], ["1/e", "1", "e"])
    bottom.minorticks_off()
    bottom.set_ylabel("ratio, 90 to 30")
    bottom.set_xlabel("output: mean age in years")
    bottom.set_xlim(outputs[0], outputs[-1])
    return figure
