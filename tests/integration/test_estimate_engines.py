"""Every engine gives the same estimates, up to the order of summation.

Quantiles and histograms come from the same counts by the same code, so means are enough. So do
fractions of categories, which engines store in types of their own.
"""

from collections.abc import Callable
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import inbounds as ib
from inbounds.sampling.entropy import SeededEntropy

# PySpark warns of pandas 3 wherever Arrow is used; no pandas object is made here.
pytestmark = pytest.mark.filterwarnings(
    "ignore:PySpark does not yet fully support pandas:FutureWarning"
)

ROWS = 3000
AGES = ib.Window(ib.Box(0, 120, step=1), 120, epsilon=2.0)
PAY = ib.ClampedLaplace.calibrated(ib.Box(0, 1e5), 1e5, epsilon=2.0)
SCHOOL = ib.RandomizedResponse(["none", "d'oh", "ünï"], epsilon=1.0)
SMOKER = ib.RandomizedResponse([False, True], epsilon=1.0)
COLUMNS = {"an age": AGES, "pay": PAY, "school": SCHOOL, "smoker": SMOKER}
ENGINES = {  # and the package of the result
    "pandas": "pandas",
    "pandas nullable": "pandas",
    "polars": "polars",
    "polars lazy": "polars",
    "arrow": "pyarrow",
    "arrow batch": "pyarrow",
    "arrow reader": "pyarrow",
    "duckdb": "pyarrow",
    "spark": "pyspark",
}


def data() -> pa.Table:
    """Private columns with nulls that were kept, and keys with a null."""
    generator = np.random.default_rng(3)
    pay = PAY.release(generator.exponential(2e4, ROWS).clip(0, 1e5), entropy=SeededEntropy(1))
    ages = AGES.release(generator.integers(18, 90, ROWS), entropy=SeededEntropy(2))
    return pa.table(
        {
            "an age": pa.array(ages, pa.int32()),
            "pay": pa.array(pay, pa.float64(), mask=generator.random(ROWS) < 0.1),
            "school": pa.array(
                SCHOOL.release(["ünï", "d'oh"] * (ROWS // 2), entropy=SeededEntropy(3)).tolist(),
                mask=generator.random(ROWS) < 0.1,
            ),
            "smoker": pa.array(
                SMOKER.release([True] * ROWS, entropy=SeededEntropy(4)),
                mask=generator.random(ROWS) < 0.1,
            ),
            "town.name": pa.array(generator.choice(["Ulm", "Rom", None], ROWS).tolist()),
            "year": pa.array(generator.integers(1, 3, ROWS), pa.int64()),
        }
    )


def opened(engine: str, table: pa.Table, request: pytest.FixtureRequest) -> Any:
    makers: dict[str, Callable[[], Any]] = {
        "pandas": table.to_pandas,
        "pandas nullable": lambda: table.to_pandas(types_mapper=pd.ArrowDtype),
        "polars": lambda: pl.from_arrow(table),
        "polars lazy": lambda: pl.DataFrame(pl.from_arrow(table)).lazy(),
        "arrow": lambda: table,
        "arrow batch": lambda: table.combine_chunks().to_batches()[0],
        "arrow reader": lambda: table.to_reader(max_chunksize=700),
        "duckdb": lambda: duckdb.connect().from_arrow(table),
        "spark": lambda: request.getfixturevalue("spark").createDataFrame(table).repartition(3),
    }
    return makers[engine]()


def estimated(frame: Any) -> Any:
    return ib.estimate(
        frame,
        COLUMNS,
        by=["town.name", "year"],
        nulls="keep",
    )


@pytest.fixture(scope="module")
def expected() -> list[dict[str, Any]]:
    return list(estimated(data()).to_pylist())


@pytest.mark.parametrize("engine", ENGINES)
def test_estimates_are_the_same_on_every_engine(
    engine: str, expected: list[dict[str, Any]], request: pytest.FixtureRequest
) -> None:
    result = estimated(opened(engine, data(), request))
    assert type(result).__module__.partition(".")[0] == ENGINES[engine]
    if ENGINES[engine] == "pyspark":
        rows = [row.asDict() for row in result.collect()]
    else:
        rows = nw.from_native(result, eager_only=True).to_arrow().to_pylist()
    assert len(rows) == len(expected) == 6 * (2 + 2 + 4 + 3)
    for row, other in zip(rows, expected, strict=True):
        assert list(row) == list(other)
        for name, value in other.items():
            if isinstance(value, float):
                assert row[name] == pytest.approx(value, rel=1e-9)
            else:
                assert row[name] is None if value is None else row[name] == value


def test_a_private_relation_is_evaluated_once() -> None:
    """A relation draws again at every look, so a second look would be another release."""
    looks = []

    def look(values: Any) -> Any:
        looks.append(len(values))
        return values

    connection = duckdb.connect()
    connection.create_function("look", look, ["DOUBLE"], "DOUBLE", type="arrow", side_effects=True)
    relation = connection.sql("SELECT look(range * 1.0) AS age FROM range(100)")
    ib.estimate(relation, {"age": ib.Window(ib.Box(0, 120), 120, 1.0)}, quantiles=[0.5])
    assert sum(looks) == 100
    connection.close()
