"""Neighbours are as far apart in the sampler as they are, whatever types their numbers have.

Drawn are a box, two values of any type that differ by at most a drawn change, and how they are
handed over; compared are the exact numbers that the sampler works with.
"""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import example, given, settings
from hypothesis import strategies as st

from inbounds import _check
from inbounds._column import open_column
from inbounds.numerics.normal import NORMAL
from inbounds.sampling.sampler import Sampler

Pair = list[Any]
WHOLE: dict[str, Callable[[Pair], Any]] = {
    "list": list,
    "tuple": tuple,
    "with a double": lambda pair: [*pair, 0.5],
    "with a fraction": lambda pair: [*pair, Fraction(1, 3)],
    "objects": lambda pair: np.array(pair, dtype=object),
    "Decimal": lambda pair: list(map(Decimal, pair)),
    "pandas objects": lambda pair: pd.Series(pair, dtype=object),
    "Arrow decimal": lambda pair: pa.array(list(map(Decimal, pair)), pa.decimal256(76, 3)),
}
SHORT: dict[str, Callable[[Pair], Any]] = {
    "int64": lambda pair: np.array(pair, np.int64),
    "big-endian": lambda pair: np.array(pair, ">i8"),
    "longdouble": lambda pair: np.array(pair, np.int64).astype(np.longdouble),
    "pandas": lambda pair: pd.Series(pair, dtype="Int64"),
    "Polars": lambda pair: pl.Series(pair, dtype=pl.Int64),
    "Polars decimal": lambda pair: pl.Series(list(map(Decimal, pair))),
    "Arrow": pa.array,
    "scalars": lambda pair: [np.int64(pair[0]), np.int64(pair[1]), np.uint64(1)],
}
FINE: dict[str, Callable[[Pair], Any]] = {
    "fractions": list,
    "with a double": lambda pair: [*pair, 0.5],
    "objects": lambda pair: np.array([*pair, 7], dtype=object),
}


@st.composite
def boxes(draw: st.DrawFn) -> tuple[float, float]:
    """Intervals near and far from zero, narrow and wide."""
    far = draw(st.sampled_from([0, 1, 2**20, 2**53, 2**60, 2**62, 2**80])) * draw(
        st.sampled_from([-1, 1])
    )
    lower = float(far + draw(st.integers(-(10**6), 10**6))) + draw(st.sampled_from([0.0, 0.5, 0.1]))
    width = 2.0 ** draw(st.integers(-3, 63)) * draw(st.floats(1, 2))
    upper = lower + width
    return (lower, upper) if upper > lower else (lower, float(np.nextafter(lower, np.inf)))


def numbers_used(values: Any, box: tuple[float, float], count: int) -> list[tuple[Any, float]]:
    """Return the exact numbers that oracle and `refine` work with, and the kernel's distances."""
    sampler = Sampler(NORMAL, *(np.array([end]) for end in box), np.ones(1), (None,))
    column = open_column(values)
    flat = _check.private_array(values=column[0] if column else values).reshape(-1)
    block = sampler._reader(flat.dtype)(flat, np.zeros(1, np.intp))
    origin = 0.0 if block.plan is not sampler._plan else box[0]
    found = []
    for i in range(count):
        number = Fraction(min(max(block.number(i), box[0]), box[1]))
        distance = min(max(float(block.doubles[i]) - origin, 0.0), box[1] - box[0])
        found.append((number, distance))
    return found


def compare(pair: Pair, values: Any, box: tuple[float, float]) -> None:
    """Check that the sampler works with the pair itself, so never with a larger difference."""
    used = numbers_used(values, box, 2)
    for number, (found, distance) in zip(pair, used, strict=True):
        assert found == min(max(Fraction(number), Fraction(box[0])), Fraction(box[1]))
        exact = found - Fraction(box[0])
        assert abs(Fraction(distance) - exact) <= 2 * exact / 2**53
    change = abs(Fraction(pair[0]) - Fraction(pair[1]))
    assert abs(used[0][0] - used[1][0]) <= change


@given(
    box=boxes(),
    place=st.floats(-0.2, 1.2),
    nudge=st.integers(-300, 300),
    change=st.integers(0, 300),
    read=st.sampled_from([*WHOLE, *SHORT]),
)
@example(box=(0.0, 2.0**60), place=1.0, nudge=-129, change=1, read="int64")
@example(box=(2.0**60, 2.0**61), place=0.0, nudge=128, change=1, read="with a double")
@settings(max_examples=800, deadline=None)
def test_integers_of_any_type_are_as_far_apart_as_they_are(
    box: tuple[float, float], place: float, nudge: int, change: int, read: str
) -> None:
    first = int(box[0] + (box[1] - box[0]) * place) + nudge
    pair = [first, first + change]
    readers = WHOLE if read in WHOLE or max(map(abs, pair)) >= 2**63 else SHORT
    reader = readers.get(read, WHOLE["list"])
    compare(pair, reader(pair), box)


@given(
    box=boxes(),
    place=st.floats(-0.2, 1.2),
    nudge=st.fractions(-300, 300, max_denominator=10**9),
    change=st.fractions(0, 300, max_denominator=10**9),
    read=st.sampled_from([*FINE]),
)
@settings(max_examples=300, deadline=None)
def test_fractions_are_as_far_apart_as_they_are(
    box: tuple[float, float], place: float, nudge: Fraction, change: Fraction, read: str
) -> None:
    first = Fraction(box[0] + (box[1] - box[0]) * place) + nudge
    pair = [first, first + change]
    compare(pair, FINE[read](pair), box)


@given(
    box=boxes(),
    pair=st.lists(st.decimals(-(10**25), 10**25, places=6), min_size=2, max_size=2),
)
@settings(max_examples=300, deadline=None)
def test_decimals_are_as_far_apart_as_they_are(box: tuple[float, float], pair: Pair) -> None:
    for values in (pair, pd.Series(pair), pa.array(pair, pa.decimal256(76, 10))):
        compare(pair, values, box)
