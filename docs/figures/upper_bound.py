"""The error of a private mean age against the upper bound: the bias of clamping, and the noise.

Drawn for docs/tutorials/bounds-and-sensitivity.md.
"""

import numpy as np
from matplotlib.figure import Figure

import inbounds as ib
from inbounds.data import load_anes96

EPSILONS = (0.1, 1.0)


def draw() -> Figure:
    """Return one panel for each epsilon."""
    ages = load_anes96()["age"]
    uppers = np.linspace(40, 160, 121)
    figure = Figure(figsize=(7, 3.4), layout="constrained")
    for axes, epsilon in zip(figure.subplots(1, len(EPSILONS)), EPSILONS, strict=True):
        bias, noise = np.array([parts(ages, upper, epsilon) for upper in uppers]).T
        both = np.hypot(bias, noise)
        best = both.argmin()
        axes.plot(uppers, np.abs(bias), color="C0", linestyle="--", label="bias")
        axes.plot(uppers, noise, color="C1", linestyle=":", linewidth=2, label="noise")
        axes.plot(uppers, both, color="C2", label="together")
        axes.plot(uppers[best], both[best], color="C2", marker="o")
        axes.annotate(
            f"best at {uppers[best]:.0f}",
            (uppers[best], both[best]),
            textcoords="offset points",
            xytext=(8, -16),
        )
        axes.set_title(f"ε = {epsilon:g}")
        axes.set_xlabel("upper bound in years")
        axes.set_ylim(0, 4 * both[best])
        axes.set_xlim(uppers[0], uppers[-1])
    figure.axes[0].set_ylabel("error in years")
    figure.axes[0].legend(frameon=False)
    return figure


def parts(ages: np.ndarray, upper: float, epsilon: float) -> tuple[float, float]:
    """Return the bias of clamping at `upper`, and the standard deviation of the noise."""
    clamped = np.clip(ages, 0, upper).mean()
    box, sensitivity = ib.Box(0, upper), upper / len(ages)
    mechanism = ib.ClampedLaplace.calibrated(box, sensitivity, epsilon=epsilon)
    return float(clamped - ages.mean()), float(np.sqrt(mechanism.variance(clamped)))
