"""Exact distributions of draws: the library's own code, run once for every outcome of its draws.

The two draws are replaced by functions that return a scripted outcome and multiply its exact
probability, so everything else, from ranks to ladders, is the code that users run.
"""

import math
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from inbounds.frames.central import plan, recursion
from inbounds.frames.central.grid import Counts

Law = dict[Hashable, fmpq]
"""Exact probabilities, in flint's fractions, which are fast."""

Rows = tuple[int, ...]
_CLOSE = 1e-9


def weighted(sizes: Sequence[int], weights: Sequence[int]) -> list[tuple[tuple[int, int], fmpq]]:
    """The exponential mechanism: each candidate with a probability proportional to its weight."""
    total = sum(s * w for s, w in zip(sizes, weights, strict=True))
    return [
        ((i, place), fmpq(weights[i], total))
        for i in range(len(sizes))
        for place in range(sizes[i])
    ]


def flipped(sizes: Sequence[int], weights: Sequence[int]) -> list[tuple[tuple[int, int], fmpq]]:
    """Permute-and-flip as it was published: candidates in random order, the first success wins.

    Given its place among others, it is the integral over t of its probability of success times the
    product of 1 - t·(theirs), which is a polynomial in t.
    """
    most = max(weights)
    names = [(i, place) for i in range(len(sizes)) for place in range(sizes[i])]
    success = [fmpq(weights[i], most) for i, _ in names]
    found = []
    for j, name in enumerate(names):
        polynomial = [fmpq(1)]
        for i, chance in enumerate(success):
            if i != j:
                longer = [*polynomial, fmpq(0)]
                polynomial = [
                    c - (chance * polynomial[d - 1] if d else 0) for d, c in enumerate(longer)
                ]
        integral = sum((c / (d + 1) for d, c in enumerate(polynomial)), fmpq(0))
        found.append((name, success[j] * integral))
    return found


class Outcomes:
    """Runs a function for every sequence of outcomes of the draws that it makes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._script: list[int] = []
        self._made: list[tuple[int, int]] = []  # the outcome taken, and how many there were
        self._probability = fmpq(1)
        by_weight, willing = self._stand_in(weighted), self._stand_in(flipped)
        monkeypatch.setattr(plan, "draw_by_weight", by_weight)
        monkeypatch.setattr(plan, "draw_willing", willing)
        monkeypatch.setattr(recursion, "draw_by_weight", by_weight)

    def law(self, run: Callable[[], Hashable]) -> Law:
        """Return the exact probability of everything that a function can return."""
        law: Law = {}
        self._script = []
        while True:
            self._made, self._probability = [], fmpq(1)
            result = run()
            law[result] = law.get(result, fmpq(0)) + self._probability
            while self._made and self._made[-1][0] + 1 == self._made[-1][1]:
                self._made.pop()
            if not self._made:
                assert sum(law.values(), fmpq(0)) == 1
                return law
            self._script = [taken for taken, _ in self._made]
            self._script[-1] += 1

    def _stand_in(self, law: Callable[..., Any]) -> Callable[..., tuple[int, int]]:
        def draw(sizes: Sequence[int], weights: Sequence[int], entropy: object) -> tuple[int, int]:
            outcomes = law(sizes, weights)
            step = len(self._made)
            taken = self._script[step] if step < len(self._script) else 0
            self._made.append((taken, len(outcomes)))
            outcome, probability = outcomes[taken]
            self._probability *= probability
            return outcome

        return draw


def tables(last: int, sizes: Sequence[int]) -> list[Rows]:
    """All tables of some sizes whose rows are points from 0 to `last`."""
    return [rows for n in sizes for rows in combinations_with_replacement(range(last + 1), n)]


def replaced(rows: Rows, last: int) -> set[Rows]:
    """All tables in which one row is another."""
    return {
        tuple(sorted((*rows[:i], point, *rows[i + 1 :])))
        for i in range(len(rows))
        for point in range(last + 1)
    } - {rows}


def added(rows: Rows, last: int) -> set[Rows]:
    """All tables with one row more."""
    return {tuple(sorted((*rows, point))) for point in range(last + 1)}


def counted(rows: Rows) -> Counts:
    """The rows at each point, as an engine returns them."""
    points, counts = np.unique(np.array(rows, np.int64), return_counts=True)
    return Counts(points, counts.astype(np.int64))


def spread(one: Law, other: Law, bound: Fraction) -> tuple[float, float]:
    """The least and the largest logarithm of a quotient of probabilities.

    Both must be within the bound: close to it, that is decided in ball arithmetic.
    """
    assert one.keys() == other.keys()
    ratios = [log_ratio(one[key], other[key]) for key in one]
    for key, ratio in zip(one, ratios, strict=True):
        if abs(ratio) > float(bound) - _CLOSE:
            quotient = max(one[key] / other[key], other[key] / one[key])
            with ctx.workprec(1200):
                exact = arb(quotient).log()
                limit = arb(fmpq(bound.numerator, bound.denominator))
                assert exact <= limit, f"{float(exact)} is more than {bound}"
    return min(ratios), max(ratios)


def log_ratio(a: fmpq, b: fmpq) -> float:
    """The logarithm of a quotient, which is off by less than 1e-10."""
    logs = [math.log(int(part)) for part in (a.p, b.q, a.q, b.p)]
    return math.fsum([logs[0], logs[1], -logs[2], -logs[3]])
