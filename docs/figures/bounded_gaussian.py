"""Densities of the bounded Gaussian for three true values."""

import numpy as np
from matplotlib.figure import Figure

import inbounds as ib


def draw() -> Figure:
    mechanism = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 2.5, epsilon=1.0)
    figure = Figure(figsize=(7, 3), layout="constrained")
    axes = figure.add_subplot()
    outputs = np.linspace(0, 120, 601)
    for value, style in zip((0, 60, 120), ("-", "--", "-."), strict=True):
        density = mechanism.pdf(outputs, np.full_like(outputs, value))
        (line,) = axes.plot(outputs, density, style, label=f"true value {value}")
        axes.fill_between(outputs, density, alpha=0.12, color=line.get_color())
    axes.set(xlim=(-6, 126), ylim=(0, None), xlabel="output", ylabel="density")
    axes.legend(loc="upper center", ncols=3)
    return figure
