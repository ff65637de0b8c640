"""What audits prove about epsilon by their number of releases, for a right and a faulty mechanism.

Drawn for docs/tutorials/convincing-a-reviewer.md. Random numbers are repeatable.
"""

import math

import numpy as np
from matplotlib.figure import Figure

import inbounds as ib
from inbounds.sampling.entropy import SeededEntropy

BOX, SENSITIVITY = ib.Box(0, 120), 10


def draw() -> Figure:
    """Return the two lower bounds, the claim, and the true epsilon of the faulty one."""
    releases = np.geomspace(1e3, 1e6, 13).round().astype(int)
    mechanism = ib.calibrate(BOX, SENSITIVITY, epsilon=1.0)
    right = [ib.audit(mechanism, releases=n, entropy=SeededEntropy(1)) for n in releases]
    claim = {"box": BOX, "sensitivity": SENSITIVITY, "claimed_epsilon": 1.0, "vectorized": True}
    faulty = [ib.audit(_drawn_again(), releases=n, **claim) for n in releases]
    inside = [1 - math.exp(-v / 10) / 2 - math.exp(-(120 - v) / 10) / 2 for v in (0, 10)]

    figure = Figure(figsize=(7, 3.6), layout="constrained")
    axes = figure.subplots()
    curves = {"Optimal of inbounds": (right, "o"), "drawn again until in bounds": (faulty, "s")}
    for label, (audits, marker) in curves.items():
        bounds = [audit.epsilon_lower for audit in audits]
        axes.plot(releases, bounds, marker=marker, markersize=4, label=label)
    axes.axhline(1, color="C3", linestyle="--", linewidth=1.2, label="claimed")
    true = 1 + math.log(inside[1] / inside[0])
    axes.axhline(true, color="C1", linestyle=":", linewidth=1.6)
    axes.set_xscale("log")
    axes.set_xlim(releases[0], releases[-1])
    axes.set_ylim(0, 1.65)
    axes.set_xlabel("releases")
    axes.set_ylabel("ε is at least")
    axes.legend(frameon=False, loc="lower right")
    return figure


def _drawn_again():
    """Return Laplace noise that is drawn again until the output is in the box."""
    rng = np.random.default_rng(1)

    def release(values: np.ndarray) -> np.ndarray:
        outputs = np.full(values.shape, -1.0)
        while (outside := (outputs < 0) | (outputs > 120)).any():
            noise = rng.laplace(scale=SENSITIVITY, size=outside.sum())
            outputs[outside] = values[outside] + noise
        return outputs

    return release
