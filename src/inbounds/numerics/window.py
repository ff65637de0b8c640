"""The distribution of the window mechanism on the unit interval, and readings of its outputs."""

from dataclasses import dataclass

import numpy as np

from inbounds._types import Floats

_UP = 1 + 2.0**-30  # covers rounding, and places that are not quite equally likely


@dataclass(frozen=True, slots=True)
class WindowShape:
    """Uniform on [0, 1] with probability `rare`, and on [(1-f)z, (1-f)z + f] with `often`.

    Here z in [0, 1] is the value, and f is `length`.

    Examples
    --------
    >>> shape = WindowShape(0.25, 0.75, 0.5)
    >>> float(shape.below(np.array(0.5), np.array(0.0))), float(shape.density(0.25, 0.0))
    (0.875, 1.75)
    >>> float(shape.quantile(np.array(0.875), np.array(0.0)))
    0.5
    """

    rare: float
    often: float
    length: float

    def start(self, z: Floats) -> Floats:
        """Return where the window of a value begins."""
        return (1 - self.length) * z

    def density(self, x: Floats, z: Floats) -> Floats:
        """Return the density at x."""
        covered = (x >= self.start(z)) & (x <= self.start(z) + self.length)
        return np.asarray(self.rare + self.often / self.length * covered)

    def below(self, x: Floats, z: Floats) -> Floats:
        """Return the probability of an output below x."""
        inside = np.clip((x - self.start(z)) / self.length, 0.0, 1.0)
        return np.asarray(self.rare * x + self.often * inside)

    def quantile(self, q: Floats, z: Floats) -> Floats:
        """Return x with `below` equal to q."""
        start, often = self.start(z), self.often
        first = self.rare * start
        last = first + self.rare * self.length + often
        within = start + (q - first) / (self.rare + often / self.length)
        above = start + self.length + (q - last) / self.rare
        return np.where(q <= first, q / self.rare, np.where(q <= last, within, above))

    def values(self, x: Floats, level: float, margin: float) -> tuple[Floats, Floats]:
        """Return the ends of the values whose window has its middle within a radius of x.

        An output of any value is within the radius of the middle with a probability of at least
        `level`. The margin is added to the radius. Proof: docs/proofs/window.md, theorem 7.
        """
        often = self.often
        inside = often + self.rare * self.length  # the probability of the window
        if level <= inside:
            radius = self.length / 2 * level / inside
        else:  # at the bounds of the box there is more to add on one side only
            radius = (level - often) / self.rare - self.length / 2
        radius = radius * _UP + margin
        low, high = (
            np.clip((x - self.length / 2 + side) / (1 - self.length), 0.0, 1.0)
            for side in (-radius, radius)
        )
        return low, high


def posterior_start(index: Floats, places: int, length: int, rare: float) -> Floats:
    """Return the mean of a uniform start s in [0, places - length], given the place of an output.

    The window begins at ⌊s + u⌋ for a uniform u in [0, 1], so it holds the output if s + u is in
    [low, high + 1). The mass and the mean of these s are averaged over u. Proof:
    docs/proofs/window.md, theorem 6.

    Examples
    --------
    >>> float(posterior_start(np.array(1.0), 2, 1, 0.5))  # s is the probability of place 1
    0.583333...
    """
    last = float(places - length)
    low, high = np.maximum(index - length + 1, 0.0), np.minimum(index, last)
    left, left_square = (
        np.where(low > 0, low - 0.5, 0.0),
        np.where(low > 0, low**2 - low + 1 / 3, 0.0),
    )
    right, right_square = (
        np.where(high < last, high + 0.5, last),
        np.where(high < last, high**2 + high + 1 / 3, last**2),
    )
    odds = (1 - rare) / rare * places / length
    mass = last + odds * (right - left)
    return np.asarray((last**2 / 2 + odds * (right_square - left_square) / 2) / mass)


def posterior_place(index: Floats, places: int, length: int, rare: float) -> Floats:
    """Return the mean place of a value that is equally likely on every place, given an output's.

    A value at place i has the start s = i·(places - length)/(places - 1), and its window holds the
    output if s + u is in [low, high + 1) for a uniform u in [0, 1]. Proof:
    docs/proofs/window.md, theorem 6.

    Examples
    --------
    >>> float(posterior_place(np.array(1.0), 2, 1, 0.5))  # randomised response
    0.75
    """
    low, high = np.maximum(index - length + 1, 0.0), np.minimum(index, float(places - length))
    reached, moment = _reached(low, places, length)
    passed, passed_moment = _reached(high + 1, places, length)
    odds = (1 - rare) / rare * places / length
    mass = places + odds * (reached - passed)
    return np.asarray((places * (places - 1) / 2 + odds * (moment - passed_moment)) / mass)


def _reached(start: Floats, places: int, length: int) -> tuple[Floats, Floats]:
    """Return the sums over all places i of P(s + u >= start), and of i times it."""
    slope = (places - length) / (places - 1)
    first = np.clip(np.floor((start - 1) / slope) + 1, 0, places)
    sure = np.clip(np.ceil(start / slope), first, places)
    count, rest = sure - first, places - sure
    middle = (first + sure - 1) / 2  # of the places from the first to the last one before sure
    chance = slope * middle - start + 1
    moment = middle * chance + slope * (count**2 - 1) / 12
    return count * chance + rest, count * moment + rest * (sure + places - 1) / 2
