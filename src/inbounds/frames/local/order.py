"""The order of rows: a random one, and a warning where an engine says that a column is sorted.

Whether a column is sorted is itself private, so the data are never looked at: only flags that an
engine or a file carries already are.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inbounds.errors import RowOrderWarning
from inbounds.sampling.entropy import SYSTEM, Entropy


def permutation(count: int, entropy: Entropy = SYSTEM) -> NDArray[np.int64]:
    """Return an order of `count` rows, all exactly equally likely.

    Rows are sorted by random words. Should two words be equal, all are drawn again.

    Examples
    --------
    >>> sorted(permutation(4).tolist())
    [0, 1, 2, 3]
    """
    while True:
        keys = random_keys(count, entropy)
        order: NDArray[np.int64] = np.argsort(keys).astype(np.int64)
        ranked = keys[order]
        if (ranked[1:] != ranked[:-1]).all():
            return order


def category_order(categories: Sequence[Any]) -> NDArray[np.int64]:
    """Return the order in which to list categories that may be listed as they first appeared.

    It is sorted or, unless all are of one type with a total order, random.

    Examples
    --------
    >>> category_order(["Ulm", "Rom"]).tolist()
    [1, 0]
    """
    if len(kinds := set(map(type, categories))) > 1 or not kinds <= {str, bytes, int, bool, date}:
        return permutation(len(categories))
    order = sorted(range(len(categories)), key=categories.__getitem__)
    return np.array(order, np.int64)


def random_keys(count: int, entropy: Entropy = SYSTEM) -> NDArray[np.uint64]:
    """Return random words of 64 bits, one a row.

    Examples
    --------
    >>> random_keys(3).dtype
    dtype('uint64')
    """
    return np.asarray(entropy.words(count), np.uint64)[:count] if count else np.empty(0, np.uint64)


def warn_if_sorted(names: Iterable[Any]) -> None:
    """Warn of private columns that the engine or the file says the rows are sorted by.

    Examples
    --------
    >>> warn_if_sorted([])
    """
    for name in names:
        warnings.warn(
            f"rows are sorted by the private column {name!r}, says its frame or file: the place "
            "of a row tells its value, whatever the noise.\nHint: shuffle=True.",
            RowOrderWarning,
            stacklevel=4,
        )
