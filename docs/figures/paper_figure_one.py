"""Chen and Hale's Figure 1, recomputed, with the exact calibration and the errors beside it.

Drawn for docs/how-to/reproduce-the-paper.md.
"""

import numpy as np
from matplotlib.figure import Figure

from inbounds.analysis.reproduction import figure1


def draw() -> Figure:
    """Return the squared scales on the left, and the errors of the outputs on the right."""
    data = figure1(np.concatenate([[0.1, 0.15, 0.2, 0.3, 0.4], np.arange(2, 13) / 4]))
    figure = Figure(figsize=(7, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    methods = [
        ("Liu", ":", data.liu, data.liu_rmse),
        ("Chen and Hale", "--", data.paper, data.paper_rmse),
        ("exact", "-", data.exact, data.exact_rmse),
    ]
    for (name, style, squares, errors), colour in zip(methods, ("C5", "C1", "C0"), strict=True):
        left.plot(data.epsilons, squares, style, color=colour, linewidth=2, label=name)
        right.plot(data.epsilons, errors, style, color=colour, linewidth=2)
    middle = right.axhline(data.middle_rmse, color="C3", linewidth=1)
    right.legend([middle], ["the middle of the box"], frameon=False, loc="lower left")
    left.set(yscale="log", xlabel="ε", ylabel="σ², before truncation", xlim=(0, 3.05))
    left.legend(frameon=False)
    right.set(xlabel="ε", ylabel="RMSE of the outputs", ylim=(0, None), xlim=(0, 3.05))
    return figure
