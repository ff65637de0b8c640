"""How smooth a recovered distribution is: as asked, or as the outputs themselves suggest.

Little noise or many outputs show spikes where there are any; much noise hardly shows a hump. So
several distributions are fitted, from a free one to an even one, and averaged. Each counts by how
well it explains the outputs, less what its freedom alone would explain. The weights depend on
outputs and public parameters alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from inbounds._types import Floats
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.recovery.cells import Cells
from inbounds.recovery.response import Fit, bending, fit, freedom

_ATOM = 1.0  # nats that all values on a bound cost
_PER_DECADE = 1.0  # nats against every factor of ten between a price and 1
_FREE, _EVEN = -2.0, -1.0  # nats in favour of no price at all, and of an even density
_FEWEST = 16  # cells of true values that are worth smoothing
_ALIKE = 1e-6  # a difference of probabilities that no table shows
_NEGLIGIBLE = 0.01  # weight of a candidate that the bootstrap leaves out


@dataclass(frozen=True, slots=True)
class Candidate:
    """A price of curvature, in nats; an infinite one makes the density even.

    `atom` is the price of values on a bound, and `favour` is what speaks for the candidate before
    the outputs are seen.
    """

    smooth: float
    atom: float
    favour: float = 0.0


CANDIDATES = (
    Candidate(0.0, 0.0, _FREE),
    *(Candidate(10.0**d, _ATOM, -_PER_DECADE * abs(d)) for d in range(-2, 4)),
    Candidate(math.inf, _ATOM, _EVEN),
    Candidate(math.inf, math.inf, _EVEN),
)


@dataclass(frozen=True, slots=True)
class Recovered:
    """Weights of the cells, the parts of them on the bounds, the gap, and what was averaged."""

    weights: Floats
    atoms: Floats
    gap: float
    average: tuple[tuple[Candidate, float], ...]

    @property
    def smoothing(self) -> dict[float, float]:
        """The weight of each price of curvature in the average."""
        weights: dict[float, float] = {}
        for candidate, weight in self.average:
            weights[candidate.smooth] = weights.get(candidate.smooth, 0.0) + weight
        return weights

    @property
    def kept(self) -> tuple[Candidate, ...]:
        """The candidates that count."""
        return tuple(candidate for candidate, weight in self.average if weight >= _NEGLIGIBLE)


@dataclass(frozen=True, slots=True)
class Model:
    """The likelihood: the first and the last row are for the bounds, the others for cells.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.Window(ib.Box(0, 1), 1, epsilon=4.0)
    >>> cells = Cells.of(m, 32)
    >>> model = Model.of(cells, m)
    >>> outputs = cells.count(m.release(np.linspace(0, 1, 10_000)))
    >>> model.recover(outputs, model.candidates(None)).kept[-1].smooth  # an even distribution
    inf
    """

    response: Floats
    bend: Floats
    by_step: bool

    @classmethod
    def of(cls, cells: Cells, mechanism: Mechanism) -> Model:
        """Compute the probabilities and the penalty for cells.

        What cells neglect: docs/proofs/deconvolution.md, theorem 4.
        """
        ends = cells.edges if cells.points is None else cells.points
        at_bounds = cells.probabilities(mechanism, ends[[0, -1]])
        response = np.vstack([at_bounds[:1], cells.response(mechanism), at_bounds[1:]])
        widths = np.diff(cells.edges) if cells.points is None else np.ones(len(cells.points))
        return cls(response, np.pad(bending(widths), 1), cells.points is not None)

    @property
    def kinds(self) -> int:
        """How many kinds of true values the outputs tell apart: the rank of the response."""
        return int(np.linalg.matrix_rank(self.response, tol=_ALIKE))

    def candidates(self, smooth: float | None) -> tuple[Candidate, ...]:
        """Return the price asked for, or all candidates if the outputs are to choose."""
        if smooth is None and len(self.response) - 2 >= _FEWEST:
            return CANDIDATES
        price = 1.0 if smooth is None else smooth
        return (Candidate(price, price * _ATOM),)

    def recover(self, counts: Floats, candidates: tuple[Candidate, ...]) -> Recovered:
        """Return the average of the candidates' distributions, given the counts of outputs.

        Rule: docs/proofs/deconvolution.md, theorem 11.
        """
        fits = [self._fit(counts, candidate) for candidate in candidates]
        chances = np.ones(1)
        if len(candidates) > 1:
            pairs = zip(fits, candidates, strict=True)
            score = np.array([self._score(counts, one, candidate) for one, candidate in pairs])
            chances = np.exp(score - score.max())
            chances /= chances.sum()
        mixed = chances @ np.array([one.weights for one in fits])
        atoms, weights = mixed[[0, -1]], mixed[1:-1].copy()
        weights[0] += atoms[0]
        weights[-1] += atoms[1]
        if self.by_step:
            atoms = weights[[0, -1]]
        gap = max(one.gap for one, chance in zip(fits, chances, strict=True) if chance > 0)
        average = tuple(zip(candidates, chances.tolist(), strict=True))
        return Recovered(weights, atoms, gap, average)

    def _fit(self, counts: Floats, candidate: Candidate) -> Fit:
        if math.isfinite(candidate.smooth):
            price = np.zeros(len(self.response))
            price[[0, -1]] = candidate.atom
            return fit(self.response, counts, candidate.smooth * self.bend, price)
        size = len(self.response) - 2
        best = Fit(np.array([0.0, 1.0, 0.0]), 0.0)
        if math.isfinite(candidate.atom):
            price = candidate.atom * np.array([1.0, 0.0, 1.0])
            best = fit(self._even, counts, None, price)
        low, inner, high = best.weights
        return Fit(np.concatenate([[low], np.full(size, inner / size), [high]]), best.gap)

    def _score(self, counts: Floats, best: Fit, candidate: Candidate) -> float:
        """Return Akaike's criterion, the log-likelihood less the freedom, and the favour.

        Rule: docs/proofs/deconvolution.md, theorem 11.
        """
        seen = counts > 0
        with np.errstate(divide="ignore"):  # a candidate may exclude what was seen
            likelihood = float(counts[seen] @ np.log(best.weights @ self.response[:, seen]))
        if math.isfinite(candidate.smooth):
            free = freedom(self.response, counts, candidate.smooth * self.bend, best.weights)
        else:
            weights = np.array([best.weights[0], best.weights[1:-1].sum(), best.weights[-1]])
            free = freedom(self._even, counts, np.zeros((3, 3)), weights)
        return likelihood - free + candidate.favour

    @property
    def _even(self) -> Floats:
        """The response of an even distribution, between those of the bounds."""
        first, *inner, last = self.response
        return np.array([first, np.mean(inner, axis=0), last])
