"""Rows of integers, few of which are distinct, and what is computed of all of them at once.

A table of a million probabilities has a few thousand distinct ones. Everything here is exact.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

_WHOLE, _EXACT = 62, 53  # bits of integers of 64 bits, and of doubles, whose sums are exact


@dataclass(frozen=True, eq=False, repr=False)
class Entries(Sequence[tuple[int, ...]]):
    """Rows of integers of one length, as the places of their entries among the distinct ones.

    It is a sequence of tuples, and equal to the tuple of them.

    Parameters
    ----------
    distinct
        The distinct integers, in increasing order.
    places
        For each entry of each row, its place in `distinct`.

    Examples
    --------
    >>> entries = Entries.of([(1, 7), (4, 4)])
    >>> entries.distinct, entries.places.tolist(), entries[1], entries == ((1, 7), (4, 4))
    ((1, 4, 7), [[0, 2], [1, 1]], (4, 4), True)
    """

    distinct: tuple[int, ...]
    places: NDArray[np.int32]

    def __post_init__(self) -> None:
        places: Any = self.places  # anybody can make an object of this class
        if isinstance(places, np.ndarray) and places.dtype != object:
            own = np.frombuffer(places.tobytes(), places.dtype)  # for ever read-only
            object.__setattr__(self, "places", own.reshape(places.shape))

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.distinct, self.places)

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> Self:
        """Return the entries of rows of one length."""
        flat = [*chain.from_iterable(rows)]
        return cls.at(flat, np.arange(len(flat)).reshape(len(rows), -1))

    @classmethod
    def at(cls, integers: Sequence[int], index: NDArray[np.int64]) -> Self:
        """Return rows of some integers, given the index of each entry among these.

        Examples
        --------
        >>> Entries.at([9, 5, 9], np.array([[0, 1], [2, 2]]))[:]
        ((9, 5), (9, 9))
        """
        used = np.bincount(index.reshape(-1), minlength=len(integers)).tolist()
        distinct = tuple(
            sorted({entry for entry, uses in zip(integers, used, strict=True) if uses})
        )
        place = {entry: i for i, entry in enumerate(distinct)}
        places = np.fromiter((place.get(entry, 0) for entry in integers), np.int32, len(integers))
        return cls(distinct, places[index])

    @property
    def is_sound(self) -> bool:
        """Whether the fields are what they must be: anybody can make an object of this class."""
        if type(self) is not Entries or type(self.distinct) is not tuple:
            return False
        places, count = self.places, len(self.distinct)
        if not all(type(entry) is int for entry in self.distinct):
            return False
        if not all(a < b for a, b in pairwise(self.distinct)):
            return False
        if type(places) is not np.ndarray or places.dtype != np.int32 or places.ndim != 2:
            return False
        return bool(places.min(initial=0) >= 0 and places.max(initial=-1) < count)

    @property
    def width(self) -> int:
        """The number of entries of each row."""
        return int(self.places.shape[1])

    @overload
    def __getitem__(self, index: int) -> tuple[int, ...]: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[tuple[int, ...], ...]: ...

    def __getitem__(self, index: int | slice) -> Any:
        places, entry = self.places[index].tolist(), self.distinct.__getitem__
        if isinstance(index, slice):
            return tuple(tuple(map(entry, row)) for row in places)
        return tuple(map(entry, places))

    def __len__(self) -> int:
        return len(self.places)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Entries):
            same = self.distinct == other.distinct
            return same and np.array_equal(self.places, other.places)
        return self[:] == other if isinstance(other, tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(self[:])

    def with_column(self, column: Sequence[int]) -> Entries:
        """Return the rows with one more entry each."""
        places = np.column_stack([self.places, len(self.distinct) + np.arange(len(column))])
        return Entries.at((*self.distinct, *column), places)

    def joined(self, groups: Iterable[Sequence[int]]) -> Entries:
        """Return rows with a column for each group of columns, their sum.

        Examples
        --------
        >>> Entries.of([(1, 7, 2), (4, 4, 2)]).joined([[0, 2], [1]])[:]
        ((3, 7), (6, 4))
        """
        integers, columns = [*self.distinct], list[NDArray[Any]]()
        for group in groups:
            if len(group) == 1:
                columns.append(self.places[:, group[0]])
            else:
                columns.append(len(integers) + np.arange(len(self)))
                rows = self.places[:, group].tolist()
                integers.extend(sum(map(self.distinct.__getitem__, row)) for row in rows)
        return Entries.at(integers, np.column_stack(columns))

    def replaced(self, by: Callable[[int], object]) -> NDArray[Any]:
        """Return an array with the same number in place of equal entries.

        Examples
        --------
        >>> Entries.of([(1, 7), (4, 4)]).replaced(lambda entry: entry / 2).tolist()
        [[0.5, 3.5], [2.0, 2.0]]
        """
        return np.array([by(entry) for entry in self.distinct])[self.places]

    def sums(self) -> list[int]:
        """Return the sum of every row; entries must not be negative."""
        bits = _WHOLE - self.width.bit_length()
        parts = {
            shift: digits[self.places].sum(axis=1) for shift, digits in _digits(self.distinct, bits)
        }
        return _joined(parts, len(self))

    def products(self, *weights: Sequence[int]) -> list[list[int]]:
        """Return, for some lists of weights, the sum of each row's entries times its weights.

        Entries must not be negative. Numbers are cut into digits so short that sums of their
        products are exact in doubles, whatever the order in which they are added:
        docs/proofs/optimal.md, theorem 7.

        Examples
        --------
        >>> Entries.of([(1, 7), (4, 4)]).products([10**30, -1], [1, 1])
        [[999999999999999999999999999993, 3999999999999999999999999999996], [8, 8]]
        """
        bits = (_EXACT - self.width.bit_length()) // 2
        columns, owners = [], []
        for i, numbers in enumerate(weights):
            signs = np.array([-1.0 if number < 0 else 1.0 for number in numbers])
            for shift, digits in _digits(map(abs, numbers), bits):
                columns.append(signs * digits)
                owners.append((i, shift))
        matrix, parts = np.array(columns).T, [dict[int, NDArray[np.int64]]() for _ in weights]
        for shift, digits in _digits(self.distinct, bits):
            found = (digits.astype(np.float64)[self.places] @ matrix).astype(np.int64)
            for (i, more), part in zip(owners, found.T, strict=True):
                place = shift + more
                parts[i][place] = parts[i].get(place, 0) + part
        return [_joined(part, len(self)) for part in parts]

    def grows_at_most(self, numerator: int, denominator: int, *, within: int) -> bool:
        """Tell whether no two entries of a column have a larger ratio, so few rows apart.

        Proof: docs/proofs/optimal.md, theorem 4.

        Examples
        --------
        >>> steps = Entries.of([(4,), (6,), (9,)])
        >>> steps.grows_at_most(3, 2, within=1), steps.grows_at_most(3, 2, within=2)
        (True, False)
        """
        size = min(within + 1, len(self))
        largest, smallest = (_windows(of, self.places, size) for of in (np.maximum, np.minimum))
        most = [entry * numerator // denominator for entry in self.distinct]
        last = np.array([bisect_right(self.distinct, entry) - 1 for entry in most])
        return bool((largest <= last[smallest]).all())


def _digits(numbers: Iterable[int], bits: int) -> list[tuple[int, NDArray[np.int64]]]:
    """Return the digits of numbers in base 2**bits, the lowest first, after their exponents of 2.

    At least one digit of each is returned.
    """
    held = list(numbers)
    mask = (1 << bits) - 1
    return [
        (shift, np.array([(number >> shift) & mask for number in held], np.int64))
        for shift in range(0, max(1, max(held, default=0).bit_length()), bits)
    ]


def _joined(parts: dict[int, NDArray[np.int64]], count: int) -> list[int]:
    """Return the sum of whole numbers times powers of two, by the exponents."""
    sums = [0] * count
    for shift, part in parts.items():
        pairs = zip(sums, part.tolist(), strict=True)
        sums = [total + (more << shift) for total, more in pairs]
    return sums


def _windows(of: Any, array: NDArray[Any], size: int) -> NDArray[Any]:
    """Return the largest or smallest entry of each column in every `size` consecutive rows."""
    span = 1
    while 2 * span <= size:
        array = of(array[:-span], array[span:])
        span *= 2
    rest = size - span
    return np.asarray(of(array[:-rest], array[rest:]) if rest else array)
