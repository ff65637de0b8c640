"""How a recovered distribution is printed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from inbounds._table import Table

if TYPE_CHECKING:
    from inbounds.recovery.deconvolution import Deconvolution

_SHOWN = 0.005  # the smallest weight that is shown


def deconvolution_table(result: Deconvolution, *, proper: bool) -> Table:
    """Return a table of what was recovered; `proper`: the interval of the mean is known.

    Other intervals take a second each to compute, which printing must not; the table says how to
    ask for them.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=0.2)
    >>> result = ib.deconvolve(m.release([0.2, 0.8] * 50), m, bootstrap=0)
    >>> deconvolution_table(result, proper=True).rows[1]
    ('outputs', '100')
    """
    facts = [("mechanism", repr(result.mechanism)), ("outputs", f"{result.count:,}")]
    mean = f"{result.mean:.6g}"
    if proper:
        low, high = result.interval("mean", 0.95)
        mean += f" (95 % interval {low:.6g} to {high:.6g})"
    facts += [("mean", mean), ("median", f"{float(result.quantile(0.5)):.6g}")]
    facts += [("variance", f"{result.variance:.6g}")]
    facts += [
        ("standard deviation", f"{result.variance**0.5:.6g}"),
        ("cells", f"{len(result.weights)}, from {result.edges[0]:g} to {result.edges[-1]:g}"),
        ("smoothing", _smoothing(result.smoothing)),
        ("bootstrap", f"{len(result.replicates)} resamples"),
    ]
    if proper:
        facts.append(("other intervals", 'interval("median", 0.95), and so on'))
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
