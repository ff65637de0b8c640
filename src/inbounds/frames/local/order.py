"""Random orders of rows, and a warning if a frame says that it is sorted by a private column.

Whether a column is sorted is itself private, so the data are never examined, only flags that a
frame or a file already has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inbounds._entry import warn_caller
from inbounds.errors import RowOrderWarning
from inbounds.sampling.entropy import SYSTEM, Entropy


def permutation(count: int, entropy: Entropy = SYSTEM) -> NDArray[np.int64]:
    """Return a random order of `count` rows; all orders have exactly the same probability.

    Rows are sorted by random words. If two words are equal, all are drawn again.

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
    """Return an order of categories that does not depend on the order in which they are given.

    It is sorted if all categories have one type with a total order, and random otherwise.

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
    """Return one random word of 64 bits for each row.

    Examples
    --------
    >>> random_keys(3).dtype
    dtype('uint64')
    """
    return np.asarray(entropy.words(count), np.uint64)[:count] if count else np.empty(0, np.uint64)


def warn_if_sorted(names: Iterable[Any]) -> None:
    """Warn about private columns by which the rows are sorted, according to the frame.

    Examples
    --------
    >>> warn_if_sorted([])
    """
    for name in names:
        text = (
            f"the frame says that its rows are sorted by the private column {name!r}, so that the "
            "place of a row reveals its value despite the noise.\nHint: use shuffle=True."
        )
        warn_caller(RowOrderWarning(text))
