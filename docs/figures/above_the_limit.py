"""How far the errors of mechanisms are above the lowest error of any mechanism."""

import numpy as np
from matplotlib.figure import Figure

import inbounds as ib

_STYLES = {
    "Optimal": "-o",
    "ClampedStaircase": "--s",
    "ClampedLaplace": "-.^",
    "BoundedLaplace": ":D",
    "BoundedGaussian": "-v",
}


def draw() -> Figure:
    epsilons = [0.5, 1.0, 2.0, 4.0]
    errors: dict[str, list[float]] = {name: [] for name in _STYLES}
    for epsilon in epsilons:
        comparison = ib.compare(ib.Box(0, 120), 30, epsilon=epsilon)
        assert comparison.limit is not None
        rows = {row["mechanism"]: row["average_rmse"] for row in comparison.rows()}
        for name, ratios in errors.items():
            ratios.append(rows[name] / np.sqrt(comparison.limit.lower))
    figure = Figure(figsize=(7, 3.4), layout="constrained")
    axes = figure.add_subplot()
    for name, ratios in errors.items():
        axes.plot(epsilons, ratios, _STYLES[name], label=name)
    axes.axhline(1, color="C5", linewidth=1)
    axes.set(xscale="log", yscale="log", xlabel="epsilon", ylabel="error / lowest possible error")
    axes.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
    axes.set_yticks([1, 1.5, 2, 3, 5], ["1", "1.5", "2", "3", "5"])
    axes.minorticks_off()
    axes.legend(ncols=2)
    return figure
