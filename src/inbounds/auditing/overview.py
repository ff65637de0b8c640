"""How an audit is printed: its table, its verdict, and what was tried."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds._check import format_numbers
from inbounds._table import Table
from inbounds.auditing.neighbour import AXES, RANDOM, Pair

if TYPE_CHECKING:
    from inbounds.auditing.audit import Audit


def audit_table(audit: Audit) -> Table:
    """Return a table of what was claimed, proved and measured, and the verdict.

    Examples
    --------
    >>> import inbounds as ib
    >>> result = ib.audit(ib.ClampedLaplace(ib.Box(0, 1), 1, scale=1.0), releases=10_000)
    >>> audit_table(result).rows[1]
    ('claimed', 'ε ≤ 1 at δ = 0')
    """
    facts = [
        ("mechanism", audit.mechanism),
        ("claimed", f"ε ≤ {audit.claimed_epsilon:.10g} at δ = {audit.delta:g}"),
    ]
    if audit.certificate_epsilon is not None:
        proved = f"pure ε ≤ {audit.certificate_epsilon:.10g}, by the mechanism's certificate"
        facts.append(("proved", proved))
    fractions = (f"{count:,} of {audit.trials:,}" for count in audit.counts)
    facts += [
        ("measured", f"ε ≥ {audit.epsilon_lower:.6g}, confidence {audit.confidence:.12g}"),
        ("values", " and ".join(map(_value, audit.pair))),
        ("event", str(audit.event)),
        ("outputs in it", " and ".join(fractions)),
        ("releases drawn", f"{audit.releases:,}"),
        *([("tried", audit.tried)] if audit.tried else []),
        ("verdict", verdict(audit)),
    ]
    return Table.of_facts("Audit", facts)


def verdict(audit: Audit) -> str:
    """Return a sentence about what an audit found.

    Examples
    --------
    >>> import inbounds as ib
    >>> verdict(ib.audit(ib.ClampedLaplace(ib.Box(0, 1), 1, scale=1.0), releases=10_000))
    'Not refuted: ε ≥ ... at confidence 0.999; the claim is ε = 1.'
    """
    claim = f"ε = {audit.claimed_epsilon:.6g}" + f", δ = {audit.delta:g}" * (audit.delta > 0)
    bound = f"ε ≥ {audit.epsilon_lower:.4g} at confidence {audit.confidence:.12g}"
    if audit.passed:
        return f"Not refuted: {bound}; the claim is {claim}."
    return f"REFUTED: {bound}, and the claim is {claim}."


def _value(value: Any) -> str:
    return format_numbers(np.asarray(value)) if np.ndim(value) else f"{value:.6g}"


def tried(pairs: list[Pair], *, is_ours: bool, chosen: bool) -> str:
    """Return, in words, which pairs of values and which events an audit tried.

    Examples
    --------
    >>> tried([(np.array(0.0), np.array(1.0))], is_ours=False, chosen=True)
    'the pair that was given; outputs below, above and near a threshold'
    """
    size = pairs[0][0].size
    if chosen:
        where = "the pair that was given"
    else:
        axes = min(size, AXES) if size > 1 else 0
        usual = len(pairs) if is_ours else len(pairs) - RANDOM - axes
        where = "the ends of the box" if usual == 1 else "pairs at both ends and in the middle"
        if not is_ours:
            where += f" and {RANDOM} random pairs" + " in random directions" * (size > 1)
            where += f" and {axes} pairs that differ in one coordinate" * (size > 1)
            where += ", the same in every audit"
    what = "outputs"
    if size > 1:
        what = "weighted sums of the coordinates"
        if not is_ours:
            what += ", by direction and by Fisher's discriminant, and coordinates alone,"
    return f"{where}; {what} below, above and near a threshold"
