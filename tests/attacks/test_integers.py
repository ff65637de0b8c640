"""Attacks on numbers that are no doubles: rounding them moves neighbours further apart than stated.

Doubles beyond 2⁵³ are 2 and more apart. Two integers that differ by 1 become doubles that are equal
or differ by 256 near 2⁶⁰, and noise that hides a change of 1 hides nothing. The same is true of
decimals, fractions and long doubles of any size, by less.
"""

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from inbounds import (
    BoundedGaussian,
    BoundedLaplace,
    Box,
    ClampedGaussian,
    ClampedLaplace,
    ClampedStaircase,
    Ledger,
    PerCoordinate,
)
from inbounds.cli.app import app
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.queries import Query, stack

FAR = 2**60  # doubles just above it are 256 apart
FIRST, SECOND = FAR + 128, FAR + 129  # neighbours, whose doubles are 2⁶⁰ and 2⁶⁰ + 256
BOX = Box(FAR, FAR + 2**30)
HIDES_ONE = [
    BoundedLaplace.calibrated(BOX, 1, epsilon=1.0),
    ClampedLaplace.calibrated(BOX, 1, epsilon=1.0),
    ClampedGaussian(BOX, 1, sigma=2.0),
    BoundedGaussian(BOX, 1, sigma=2.0),
    ClampedStaircase(BOX, 1, epsilon=1.0),
]
READ_AS: dict[str, Callable[[list[int]], Any]] = {
    "int64": lambda values: np.array(values, np.int64),
    "big-endian": lambda values: np.array(values, ">i8"),
    "uint64": lambda values: np.array(values, np.uint64),
    "list": list,
    "list with a double": lambda values: [*values, 0.5],
    "list of two types": lambda values: [*map(np.uint64, values), np.int64(1)],
    "objects": lambda values: np.array(values, object),
    "Decimal": lambda values: list(map(Decimal, values)),
    "Fraction": lambda values: list(map(Fraction, values)),
    "arrays of no dimension": lambda values: [*map(np.array, values), np.array(0.5)],
    "lists of arrays": lambda values: [*([np.array(v)] for v in values), (np.array(0.5),)],
    "columns in lists": lambda values: [*map(pd.Series, ([v] for v in values)), pd.Series([0.5])],
    "objects of numpy": lambda values: np.array(list(map(np.int64, values)), object),
    "pandas": pd.Series,
    "pandas nullable": lambda values: pd.Series(values, dtype="Int64"),
    "pandas decimal": lambda values: pd.Series(
        list(map(Decimal, values)), dtype=pd.ArrowDtype(pa.decimal128(38, 2))
    ),
    "Polars": pl.Series,
    "Polars unsigned": lambda values: pl.Series(values, dtype=pl.UInt64),
    "Polars decimal": lambda values: pl.Series(list(map(Decimal, values))),
    "Arrow": pa.array,
    "Arrow chunks": lambda values: pa.chunked_array([values[:5], values[5:]]),
    "Arrow decimal": lambda values: pa.array(list(map(Decimal, values))),
}
if np.finfo(np.longdouble).nmant > 60:  # elsewhere it is a double, and rounded by its owner
    READ_AS["longdouble"] = lambda values: np.array(values, np.int64).astype(np.longdouble)
SIZES = {"short": 100, "long": 3000}  # the exact sampler, and the kernel


def highs(mechanism: Mechanism, values: Any, size: int) -> float:
    """Return how many of the first answers are above 2⁶⁰ + 128, the coin that values toss.

    Doubles just above 2⁶⁰ are 2⁶⁰ and 2⁶⁰ + 256. Answers around 2⁶⁰ + 128 are one of them.
    """
    return float(np.mean(np.asarray(mechanism.release(values)).ravel()[:size] > FAR + 128))


def agree(first: float, second: float, size: int) -> bool:
    """Tell whether two frequencies may be those of neighbours at epsilon 1.

    False alarm: 6e-7 each, five standard deviations of a fair coin.
    """
    room = 5 * math.sqrt(0.25 / size)
    ends = (first, second), (second, first), (1 - first, 1 - second), (1 - second, 1 - first)
    return all(one <= math.e * other + 2 * room for one, other in ends) and 0 < first < 1


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("read", READ_AS.values(), ids=READ_AS)
def test_integers_of_any_type_that_differ_by_one_are_not_told_apart(
    read: Callable[[list[int]], Any], size: int
) -> None:
    """False alarm: below 1e-6. Rounded first, one frequency would be 0 and the other 1."""
    for mechanism in HIDES_ONE[:2]:
        first, second = (highs(mechanism, read([v] * size), size) for v in (FIRST, SECOND))
        assert agree(first, second, size)


@pytest.mark.parametrize("mechanism", HIDES_ONE, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_no_mechanism_tells_integers_apart_that_differ_by_one(
    mechanism: Mechanism, size: int
) -> None:
    """False alarm: below 1e-6, as above."""
    first, second = (highs(mechanism, np.full(size, v), size) for v in (FIRST, SECOND))
    assert agree(first, second, size)


@pytest.mark.parametrize("mechanism", HIDES_ONE, ids=lambda m: type(m).__name__)
def test_integers_that_differ_by_one_are_not_told_apart_one_at_a_time(
    mechanism: Mechanism,
) -> None:
    """False alarm: below 1e-6, as above."""
    size = 3000
    first, second = (
        float(np.mean([mechanism.release(v) > FAR + 128 for _ in range(size)]))
        for v in (FIRST, SECOND)
    )
    assert agree(first, second, size)


@pytest.mark.parametrize("value", [FIRST, np.int64(FIRST), Decimal(FIRST), Fraction(FIRST)])
def test_a_query_holds_integers_exactly_alone_and_stacked(value: Any) -> None:
    alone = Query("time", value, BOX, 1)
    vector = Query("times", [value, 0.5], Box([FAR, 0], [FAR + 2**30, 1]), 1)
    together = stack([alone, Query("y", 0.5, Box(0, 1), 1)])
    assert alone.value == FIRST
    assert vector.value.tolist() == together.value.tolist() == [FIRST, 0.5]


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_a_column_of_integers_beside_one_of_doubles_is_not_rounded(
    size: int, tmp_path: Path
) -> None:
    """False alarm: below 1e-6, as above. Every package makes doubles of such a frame."""
    mechanism = BoundedLaplace(
        Box([FAR, 0], [FAR + 2**30, 1]), PerCoordinate([1, 1]), scale=[2.0, 2.0]
    )
    ledger = Ledger(tmp_path / "ledger.db")
    ledger.open("d", rho=1e9)
    makers: list[Any] = [pd.DataFrame, pl.DataFrame, pa.table]
    makers += [lambda columns: list(pd.DataFrame(columns).itertuples(index=False, name=None))]
    makers += [lambda columns, make=make: [[make(columns)]] for make in makers[:3]]
    for make in makers:
        for release in (mechanism.release, partial(ledger.release, mechanism, dataset="d")):
            frames = [
                make({"time": np.full(size, v), "share": np.full(size, 0.5)})
                for v in (FIRST, SECOND)
            ]
            first, second = (np.mean(release(f)[..., 0] > FAR + 128) for f in frames)
            assert agree(first, second, size)


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("kind", [np.int64, np.uint64, object])
@pytest.mark.parametrize(
    ("ends", "value", "bound"),
    [((0.2, 0.8), 0, 0.2), ((0.2, 0.8), 1, 0.8), ((3.5, 3.7), 9, 3.7)],
)
def test_an_integer_beside_an_interval_without_any_is_moved_to_the_nearer_bound(
    ends: tuple[float, float], value: int, bound: float, kind: Any, size: int
) -> None:
    """No false alarm: the noise is 0.001. The other coordinate has integers that are no doubles."""
    box = Box([ends[0], 0], [ends[1], 2**60])
    mechanism = BoundedLaplace(box, PerCoordinate([1, 1]), scale=[0.001, 2.0**56])
    outputs = mechanism.release(np.full((size, 2), value).astype(kind))
    assert abs(outputs[:, 0].mean() - bound) < 0.01


@pytest.mark.parametrize("text", ["{}", "{}.0", "+{}", "{}e0"])
def test_integers_in_a_file_that_differ_by_one_are_not_told_apart(
    text: str, tmp_path: Path
) -> None:
    """False alarm: below 1e-6, as above."""
    size, source = 2000, tmp_path / "values.txt"
    frequencies = []
    for value in (FIRST, SECOND):
        source.write_text(f"{text.format(value)}\n" * size)
        command = ["release", "--bounds", f"{FAR}:{FAR + 2**30}"]
        command += ["--sensitivity", "1", "--epsilon", "1", "--mechanism", "bounded-laplace"]
        done = CliRunner().invoke(app, [*command, "--input", str(source)])
        assert done.exit_code == 0, done.output
        answers = np.array(done.stdout.split(), float)
        assert answers.size == size
        frequencies.append(float(np.mean(answers > FAR + 128)))
    assert agree(*frequencies, size)


def test_the_control_is_broken_doubles_do_tell_such_integers_apart() -> None:
    """No false alarm: the noise is 2 and the doubles are 256 apart."""
    mechanism = HIDES_ONE[0]
    low, high = (mechanism.release(np.full(200, float(value))) for value in (FIRST, SECOND))
    assert low.max() < high.min()
