"""Check a guarantee from outside: draw releases, count an event, bound epsilon from below.

Only `release` is called, so this works for any mechanism, including those of other libraries. The
pair and the event are chosen by releases that are not counted afterwards.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds import _check
from inbounds._entry import called
from inbounds._progress import bar
from inbounds._table import Printed, Table
from inbounds.auditing.choice import choose
from inbounds.auditing.coded import as_numbers
from inbounds.auditing.event import Event, caution, epsilon_lower_bound
from inbounds.auditing.neighbour import Pair
from inbounds.auditing.overview import audit_table, tried, verdict
from inbounds.auditing.subject import (
    Subject,
    check_subject,
    claim_of,
    is_own,
    number_or_tuple,
    pairs_of,
    proved_epsilon,
)
from inbounds.domain import Box
from inbounds.guarantee import check_delta
from inbounds.sampling.entropy import Entropy
from inbounds.sensitivity import Sensitivity

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FEWEST = 1000
_MOST = 10**12
_EXPLORED = 1 << 20  # outputs for each value that an event is chosen by, at most
_BINS = 80


@dataclass(frozen=True, slots=True, repr=False)
class Audit(Printed):
    """What counted releases prove about epsilon, beside what is claimed. `print` shows the table.

    Attributes
    ----------
    mechanism
        What was audited.
    epsilon_lower
        The lower bound on the true epsilon, at `confidence`.
    claimed_epsilon, delta
        The guarantee that was tested.
    certificate_epsilon
        The proved upper bound on the pure epsilon, where the mechanism has a certificate.
    confidence
        The true epsilon is at least `epsilon_lower` with at least this probability.
    pair
        The two values; the event is more likely for the first.
    event
        The set of outputs that was counted.
    counts
        How many of the `trials` outputs for each value were in the event.
    trials
        Number of fresh outputs for each value, drawn after the event was chosen.
    releases
        Number of all outputs drawn, including those that the event was chosen by.
    edges, histograms
        For `plot`: bins, and how many outputs for each value are in them.
    tried
        In words, which pairs of values and which events were tried.

    See Also
    --------
    audit : Makes an audit.

    Notes
    -----
    For N = `trials`, counts (K, L) and α = 1 − `confidence`, let p be the probability at which K or
    more of N outputs are in the event with probability α/2, and q the one at which L or fewer are.
    Then `epsilon_lower` = max(0, ln((p − δ)/q)) (docs/proofs/audit.md, theorem 1).

    Examples
    --------
    >>> import inbounds as ib
    >>> result = ib.audit(ib.ClampedLaplace(ib.Box(0, 1), 1, scale=1.0), releases=10_000)
    >>> result
    Audit(passed, epsilon_lower=..., claimed_epsilon=1, delta=0, confidence=0.999)
    >>> result.passed, 0 < result.epsilon_lower <= 1
    (True, True)
    """

    mechanism: str
    epsilon_lower: float
    claimed_epsilon: float
    delta: float
    certificate_epsilon: float | None
    confidence: float
    pair: tuple[float | tuple[float, ...], float | tuple[float, ...]]
    event: Event
    counts: tuple[int, int]
    trials: int
    releases: int
    edges: tuple[float, ...] = field(compare=False)
    histograms: tuple[tuple[int, ...], tuple[int, ...]] = field(compare=False)
    tried: str = ""

    @property
    def passed(self) -> bool:
        """Whether the claim was not refuted, which does not prove it.

        A true claim is refuted with probability 1 - `confidence` at most:
        docs/proofs/audit.md, theorem 2.
        """
        return self.epsilon_lower <= self.claimed_epsilon

    def to_json(self) -> str:
        """Return, as JSON, everything that is needed to compute `epsilon_lower` again.

        Examples
        --------
        >>> import json
        >>> import inbounds as ib
        >>> result = ib.audit(ib.ClampedLaplace(ib.Box(0, 1), 1, scale=1.0), releases=10_000)
        >>> json.loads(result.to_json())["passed"]
        True
        """
        facts = {"passed": self.passed, **asdict(self)}
        for plotted in ("edges", "histograms"):
            del facts[plotted]
        return json.dumps(facts, allow_nan=False)

    def plot(self) -> Figure:
        """Draw the outputs for both values and the event; needs matplotlib."""
        from inbounds.plots.audit import audit_figure  # noqa: PLC0415 - optional

        return audit_figure(self)

    def verdict(self) -> str:
        """Return a sentence about what the audit found."""
        return verdict(self)

    def _table(self) -> Table:
        return audit_table(self)

    def __repr__(self) -> str:
        state = "passed" if self.passed else "REFUTED"
        bound, claim = f"{self.epsilon_lower:.4g}", f"{self.claimed_epsilon:.6g}"
        test = f"delta={self.delta:g}, confidence={self.confidence:.12g}"
        return f"Audit({state}, epsilon_lower={bound}, claimed_epsilon={claim}, {test})"


@called()
def audit(
    mechanism: Any,
    *,
    releases: float = 10**6,
    confidence: float = 0.999,
    delta: float = 0.0,
    claimed_epsilon: float | None = None,
    box: Box | None = None,
    sensitivity: Sensitivity | float | None = None,
    pair: tuple[Any, Any] | None = None,
    vectorized: bool | None = None,
    entropy: Entropy | None = None,
    progress: bool = False,
) -> Audit:
    """Draw releases at the worst pairs of values and bound epsilon from below by counting.

    Parameters
    ----------
    mechanism
        An object whose ``release(values)`` returns an independent output for each element of an
        array (each row, on a box of several coordinates); or any function of one value.
    releases
        Number of outputs to draw. A quarter of them or less serve to choose the pair and the event.
    confidence
        The bound holds with at least this probability.
    delta
        The delta of the (epsilon, delta)-privacy to test.
    claimed_epsilon
        The claim at this delta; by default, the mechanism's own.
    box, sensitivity
        The range of values, and what a neighbour may change; by default, the mechanism's ``domain``
        and ``sensitivity``.
    pair
        Two values to test. By default, neighbours at both ends and in the middle are tried. For
        mechanisms of other libraries, a few random pairs are added, the same in every audit, and on
        a box of several coordinates some pairs that differ in one coordinate.
    vectorized
        Whether `mechanism` takes arrays; by default, objects do and functions do not.
    entropy
        Passed on to the mechanism, for repeatable tests.
    progress
        Whether to show a progress bar; needs rich.

    Returns
    -------
    Audit

    Raises
    ------
    ArgumentError
        If a number is out of its range, or the outputs cannot be counted.
    ArgumentTypeError
        If `mechanism` cannot be called, or does not state what it claims and for which values.

    Notes
    -----
    If an event has k of n outputs for one value and l of n for the other, Clopper and Pearson's
    intervals give p ≤ P(E) and q ≥ Q(E), and epsilon is at least ln((p − δ)/q):
    docs/proofs/audit.md, theorem 1. Which pairs and events are the best, and how close the bound
    comes: docs/proofs/audit.md, theorems 3 to 5.

    References
    ----------
    C. J. Clopper and E. S. Pearson (1934). The use of confidence or fiducial limits illustrated in
    the case of the binomial. Z. Ding, Y. Wang, G. Wang, D. Zhang and D. Kifer (2018). Detecting
    violations of differential privacy.

    Guarantees
    ----------
    If the outputs are independent, `epsilon_lower` is above the mechanism's true epsilon at this
    delta with probability 1 - `confidence` at most, for every mechanism. The converse is not
    guaranteed: a leak that no tried event shows stays unseen.

    Examples
    --------
    >>> import numpy as np
    >>> import inbounds as ib
    >>> m = ib.BoundedGaussian.calibrated(ib.Box(0, 1), 1, epsilon=1.0)
    >>> ib.audit(m, releases=100_000).passed
    True
    >>> def leaky(value):
    ...     return value if np.random.default_rng().random() < 0.1 else 0.5
    >>> ib.audit(leaky, box=ib.Box(0, 1), sensitivity=1, claimed_epsilon=1.0, releases=5000)
    Audit(REFUTED, ...)
    """
    total = _check.whole(_FEWEST, _MOST, releases=releases)
    confidence = _check.within(0.5, 1.0, confidence=confidence)
    delta = check_delta(delta)
    mechanism = as_numbers(mechanism)
    check_subject(mechanism)
    pairs, weights = pairs_of(mechanism, box, sensitivity, pair)
    claim = claim_of(mechanism, claimed_epsilon, delta)
    is_ours = is_own(mechanism)
    explored = min(total // (8 * len(pairs)), _EXPLORED // (1 if is_ours else pairs[0][0].size))
    trials = (total - 2 * explored * len(pairs)) // 2
    with bar(total, "Audit", progress=progress) as advance:
        subject = Subject(mechanism, vectorized, entropy, advance)
        level = caution(confidence, explored, trials)
        every = not is_ours and weights is not None  # it is not known where it may leak
        options = {"confidence": level, "delta": delta}
        chosen = choose(subject, pairs, weights, explored, every=every, **options)
        first, second = (subject.count(value, trials, chosen.event) for value in chosen.pair)
    edges, histograms = _histograms(chosen.seen)
    return Audit(
        mechanism=subject.name,
        epsilon_lower=epsilon_lower_bound(
            first, second, trials, confidence=confidence, delta=delta
        ),
        claimed_epsilon=claim,
        delta=delta,
        certificate_epsilon=proved_epsilon(mechanism),
        confidence=confidence,
        pair=(number_or_tuple(chosen.pair[0]), number_or_tuple(chosen.pair[1])),
        event=chosen.event,
        counts=(first, second),
        trials=trials,
        releases=subject.drawn,
        edges=edges,
        histograms=(histograms[0], histograms[1]),
        tried=tried(pairs, is_ours=is_ours, chosen=pair is not None),
    )


def _histograms(seen: Pair) -> tuple[tuple[float, ...], list[tuple[int, ...]]]:
    """Return bins, the outer ones centred on the extreme outputs, and the counts in them."""
    low, high = (float(end(side)) for end, side in ((np.min, seen), (np.max, seen)))
    half = (high - low) / (2 * _BINS - 2) or 0.5
    edges = np.linspace(low - half, high + half, _BINS + 1)
    counts = [tuple(np.histogram(side, edges)[0].tolist()) for side in seen]
    return tuple(edges.tolist()), counts
