"""How a recovered distribution is printed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from inbounds._table import Table

if TYPE_CHECKING:
    from inbounds.recovery.deconvolution import Deconvolution

_SHOWN = 0.005  # the smallest weight that is shown


def deconvolution_table(result: Deconvolution, *, proper: bool) -> Table:
    """Return a table of what was recovered; `proper`: intervals are known.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=0.2)
    >>> result = ib.deconvolve(m.release([0.2, 0.8] * 50), m, bootstrap=0)
    >>> deconvolution_table(result, proper=True).rows[1]
    ('outputs', '100')
    """
    facts = [("mechanism", repr(result.mechanism)), ("outputs", f"{result.count:,}")]
    names: tuple[Literal["mean", "median", "variance"], ...] = ("mean", "median", "variance")
    numbers = result.mean, float(result.quantile(0.5)), result.variance
    for name, number in zip(names, numbers, strict=True):
        text = f"{number:.6g}"
        if proper:
            low, high = result.interval(name, 0.95)
            text += f" (95 % interval {low:.6g} to {high:.6g})"
        facts.append((name, text))
    facts += [
        ("standard deviation", f"{result.variance**0.5:.6g}"),
        ("cells", f"{len(result.weights)}, from {result.edges[0]:g} to {result.edges[-1]:g}"),
        ("smoothing", _smoothing(result.smoothing)),
        ("bootstrap", f"{len(result.replicates)} resamples"),
    ]
    if result.kinds is not None:
        text = f"told apart by the outputs: {result.kinds}. The shape is mostly a guess."
        facts.append(("kinds of values", text))
    return Table.of_facts("Distribution of the true values", facts)


def _smoothing(weights: dict[float, float]) -> str:
    """Return the prices of curvature and how much each counts, the largest first.

    Examples
    --------
    >>> _smoothing({1.0: 0.25, 10.0: 0.75, 0.0: 0.001}), _smoothing({1.0: 1.0})
    ('10 nats (75 %), 1 nats (25 %)', '1 nats (100 %)')
    """
    order = sorted((-weight, price) for price, weight in weights.items() if weight >= _SHOWN)
    shown = (
        ("even" if math.isinf(price) else f"{price:g} nats", -weight) for weight, price in order
    )
    return ", ".join(f"{name} ({100 * weight:.0f} %)" for name, weight in shown)
