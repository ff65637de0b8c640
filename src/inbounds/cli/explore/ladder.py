"""Numbers with three significant digits, and the first of them at which an error is low enough."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

_REACH = 60  # places from the start that are tried first, then four times as many
_GUESSES = 6  # before an error that jumps is taken for what it is


@dataclass(frozen=True, slots=True)
class Ladder:
    """The numbers with three significant digits from one power of ten up to a number.

    Below 100, a ladder of whole numbers has all of them.

    Examples
    --------
    >>> ladder = Ladder(1e-3, 20.0)
    >>> ladder.number(0), ladder.number(737), ladder.number(ladder.last)
    (0.001, 0.00837, 20.0)
    >>> people = Ladder(1, 1e6, whole=True)
    >>> [people.number(place) for place in (0, 98, 99, 100, people.last)]
    [1.0, 99.0, 100.0, 101.0, 1000000.0]
    """

    low: float
    high: float
    whole: bool = False

    @property
    def last(self) -> int:
        """The place of the largest number."""
        return self.place(self.high)

    def number(self, place: int) -> float:
        """Return the number at a place, as its decimal is read."""
        if self.whole:
            if place < 99:
                return float(place + 1)
            place, exponent = place - 99, 2
        else:
            exponent = round(math.log10(self.low))
        decade, rest = divmod(place, 900)
        return float(f"{100 + rest}e{exponent + decade - 2}")

    def place(self, number: float) -> int:
        """Return the place of the number, or of the next smaller one.

        Examples
        --------
        >>> Ladder(1e-3, 20.0).place(0.00837), Ladder(1, 1e6, whole=True).place(50.5)
        (737, 49)
        """
        if self.whole and number < 100:
            return int(number) - 1
        exponent = math.floor(math.log10(number))
        first = 2 if self.whole else round(math.log10(self.low))
        digits = min(999, max(100, math.floor(number / 10.0**exponent * 100 * (1 + 1e-12))))
        return (99 if self.whole else 0) + 900 * (exponent - first) + digits - 100


@dataclass(frozen=True, slots=True)
class Found:
    """The first number that is enough, its error, and whether it is the lowest of the ladder."""

    number: float
    error: float
    is_lowest: bool


def first_enough(
    ladder: Ladder, error: Callable[[float], float], at_most: float, start: float
) -> Found | float:
    """Return the first number with so low an error, or the error of the largest if none has.

    The error should fall along the ladder. That of the number which is returned was computed, and
    so was the error of the number before it, which is too high.

    Examples
    --------
    >>> first_enough(Ladder(1e-3, 20.0), lambda epsilon: 2 / epsilon, 0.3, 1.0)
    Found(number=6.67, error=0.29985..., is_lowest=False)
    >>> first_enough(Ladder(1e-3, 20.0), lambda epsilon: 2 / epsilon, 0.01, 1.0)
    0.1
    """
    search = _Search(ladder, error, at_most)
    low, high = search.bracket(ladder.place(min(max(start, ladder.number(0)), ladder.high)))
    if high > ladder.last:
        return search.errors[ladder.last]
    while high - low > 1:
        place = min(max(search.guess(low, high), low + 1), high - 1)
        low, high = (low, place) if search.is_enough(place) else (place, high)
    return Found(ladder.number(high), search.errors[high], is_lowest=low < 0)


def scanned(
    ladder: Ladder, error: Callable[[float], float], at_most: float, least: float
) -> Found | float:
    """Return a number with so low an error, or the error of the largest if that is too high.

    This is for an error that does not fall steadily: numbers are looked at from below, so that the
    answer does not depend on where a search begins. Those between may be enough, too. `least` is a
    number below which none is enough.

    Examples
    --------
    >>> found = scanned(Ladder(1e-3, 20.0), lambda epsilon: 2 / epsilon, 0.3, 1e-3)
    >>> found
    Found(number=6.67, error=0.29985..., is_lowest=False)
    """
    search = _Search(ladder, error, at_most)
    if not search.is_enough(ladder.last):
        return search.errors[ladder.last]
    low, place = -1, ladder.place(min(max(least, ladder.number(0)), ladder.high))
    while not search.is_enough(place):
        low, place = place, min(place + _REACH, ladder.last)
    while place - low > 1 and low >= 0:
        middle = (low + place) // 2
        low, place = (low, middle) if search.is_enough(middle) else (middle, place)
    return Found(ladder.number(place), search.errors[place], is_lowest=place == 0)


class _Search:
    """The errors that were computed, by place."""

    def __init__(self, ladder: Ladder, error: Callable[[float], float], at_most: float) -> None:
        self.ladder, self.error, self.at_most = ladder, error, at_most
        self.errors: dict[int, float] = {}
        self.guesses = 0

    def is_enough(self, place: int) -> bool:
        """Return whether the error at a place is low enough."""
        if place not in self.errors:
            self.errors[place] = self.error(self.ladder.number(place))
        return self.errors[place] <= self.at_most

    def bracket(self, start: int) -> tuple[int, int]:
        """Return a place whose error is too high, or -1, and one whose error is not, or the end."""
        low = high = start
        reach = _REACH
        if self.is_enough(start):
            while low >= 0 and self.is_enough(low):
                high, low = low, max(low - reach, 0) if low else -1
                reach *= 4
        else:
            while high <= self.ladder.last and not self.is_enough(high):
                is_last = high == self.ladder.last
                low, high = high, high + 1 if is_last else min(high + reach, self.ladder.last)
                reach *= 4
        return low, high

    def guess(self, low: int, high: int) -> int:
        """Return the next place to try: by a power of the number at first, then in the middle."""
        self.guesses += 1
        here, there = self.errors.get(low, math.inf), self.errors[high]
        if self.guesses > _GUESSES or not math.inf > here > self.at_most >= there > 0:
            return (low + high) // 2
        part = math.log(here / self.at_most) / math.log(here / there)
        first, last = (math.log(self.ladder.number(place)) for place in (low, high))
        return self.ladder.place(math.exp(first + part * (last - first))) + self.guesses % 2
