"""Cells that outputs are counted in, and their probabilities: the rows need not be kept."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from inbounds import _check
from inbounds._check import format_numbers
from inbounds._types import Floats
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.sampling.grid import Grid

_FINER = 2  # cells of outputs in a cell of true values
_NODES = (np.arange(8) + 0.5) / 8  # true values that represent their cell, with equal weights
_MOST_COUNTED = 2.0**53
_BLOCK = 1 << 20  # outputs counted together


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Cells of true values between `edges`, and cells of outputs, up to and with each of `cuts`.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.ClampedLaplace(ib.Box(0, 8), 8, scale=2.0)
    >>> cells = Cells.of(m, 2)
    >>> cells.edges.tolist()
    [0.0, 4.0, 8.0]
    >>> cells.count([0.0, 0.0, 0.5, 8.0]).tolist()  # each bound is a cell
    [2.0, 1.0, 0.0, 0.0, 0.0, 1.0]
    >>> cells.response(m).sum(axis=1).round(12).tolist()
    [1.0, 1.0]
    """

    edges: Floats
    cuts: Floats
    atoms: bool  # whether the first and the last cell of outputs are the bounds alone
    points: Floats | None = None  # the true value of each cell, if every cell is one step

    @classmethod
    def of(cls, mechanism: object, bins: int) -> Cells:
        """Divide the mechanism's box, more finely for outputs; bounds with mass are cells."""
        if not isinstance(mechanism, Mechanism):
            got = f"mechanism={_check.quoted(mechanism)}"
            requirement = "an inbounds mechanism for numbers"
            hint = (
                "its own estimate(outputs) reads categories."
                if hasattr(mechanism, "codes")
                else None
            )
            raise ArgumentTypeError.must_be("mechanism", requirement, got=got, hint=hint)
        box = mechanism.domain
        if not box.is_interval:
            raise ArgumentError.must("mechanism", "have an interval as its box", got=repr(box))
        lower, upper = float(box.lower), float(box.upper)
        clamped = mechanism.mass_at_bounds(lower)[0] > 0
        if box.steps[0] is None:
            cuts = np.linspace(lower, upper, _FINER * bins + 1)
            if clamped:
                inner = [lower, *cuts[1:-1], np.nextafter(upper, lower)]
                return cls(cuts[::_FINER], np.array(inner), atoms=True)
            return cls(cuts[::_FINER], cuts[1:-1], atoms=False)
        grid = Grid.fit(lower, upper, box.steps[0], 1.0)
        group = math.ceil((grid.intervals + 1) / bins)
        ends, finer = (
            np.arange(g, grid.intervals + 1, g) for g in (group, max(1, group // _FINER))
        )
        if clamped:  # each bound's step is a cell
            finer = np.union1d(finer, [1, grid.intervals])
        spacing = float(grid.spacing)
        below = lower - spacing / 2
        edges = np.array([lower, *(below + spacing * ends), upper])
        stops: Floats = np.asarray(below + spacing * np.union1d(finer, ends), dtype=np.float64)
        points = None
        if group == 1:
            points = np.asarray(grid.points(np.arange(grid.intervals + 1)), np.float64)
        return cls(edges, stops, atoms=False, points=points)

    @property
    def home(self) -> Any:
        """The cell of true values that each cell of outputs lies in."""
        after = np.append(self.cuts, np.inf)
        return np.clip(np.searchsorted(self.edges, after) - 1, 0, len(self.edges) - 2)

    def count(self, outputs: Any, counts: Any = None) -> Floats:
        """Return the number of outputs in every cell of outputs; an iterator yields chunks."""
        total = np.zeros(len(self.cuts) + 1)
        for block, times in blocks(outputs, counts, (self.edges[0], self.edges[-1])):
            self.add(total, block, times)
        return total

    def add(self, total: Floats, block: Floats, times: Floats | None) -> None:
        """Add outputs, each as often as `times` says, to the `total` of their cells."""
        total += np.bincount(np.searchsorted(self.cuts, block), times, total.size)

    def response(self, mechanism: Mechanism) -> Floats:
        """Return the probability of every cell of outputs, averaged over a cell of true values.

        The outermost nodes are the bounds: with little noise, only a value there is released as a
        bound. What nodes neglect: docs/proofs/deconvolution.md, theorem 4.
        """
        if self.points is not None:
            return self.probabilities(mechanism, self.points)
        nodes = self.edges[:-1, None] + np.diff(self.edges)[:, None] * _NODES
        nodes[0, 0], nodes[-1, -1] = self.edges[0], self.edges[-1]
        by_node = [self.probabilities(mechanism, column) for column in nodes.T]
        return np.asarray(np.mean(by_node, axis=0))

    def probabilities(self, mechanism: Mechanism, values: Floats) -> Floats:
        """Return the probability of every cell of outputs, for each of the true `values`."""
        upto = np.zeros((len(values), len(self.cuts) + 2))
        upto[:, -1] = 1
        upto[:, 1:-1] = mechanism.cdf(self.cuts[None, :], values[:, None])
        if self.atoms:
            upto[:, -2] = 1 - mechanism.mass_at_bounds(values)[1]
        return np.maximum(np.diff(upto, axis=1), 0.0)


def blocks(
    outputs: Any, counts: Any, bounds: tuple[float, float]
) -> Iterator[tuple[Floats, Floats | None]]:
    """Yield checked outputs in blocks, with their counts; an iterator yields chunks.

    Examples
    --------
    >>> [
    ...     (block.tolist(), times)
    ...     for block, times in blocks(iter([[1.0], [2.0, 3.0]]), None, (0, 9))
    ... ]
    [([1.0], None), ([2.0, 3.0], None)]
    """
    seen = 0.0
    for chunk in outputs if isinstance(outputs, Iterator) else (outputs,):
        checked = _check.public_values(outputs=chunk).ravel()
        times = None if counts is None else _times(counts, checked.size)
        seen += checked.size if times is None else float(times.sum())
        for start in range(0, checked.size, _BLOCK):
            block = checked[start : start + _BLOCK]
            if block.min() < bounds[0] or block.max() > bounds[1]:
                ends = f"{format_numbers(bounds[0])} and {format_numbers(bounds[1])}"
                raise ArgumentError.must("outputs", f"lie in the mechanism's box, between {ends}")
            yield block, None if times is None else times[start : start + _BLOCK]
    if seen < 1:
        raise ArgumentError.must("outputs", "hold at least one output")


def _times(counts: Any, size: int) -> Floats:
    times = _check.public_values(counts=counts).ravel()
    if times.size != size or not np.isfinite(times).all() or (times < 0).any():
        raise ArgumentError.must_be("counts", "zero or more, and as many as outputs")
    if times.sum() > _MOST_COUNTED:
        raise ArgumentError.must_be("counts", "at most 2**53 in sum")
    return times
