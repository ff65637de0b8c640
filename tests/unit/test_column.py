from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import inbounds as ib
from inbounds._column import open_column
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.sampling.entropy import SeededEntropy

WHOLE = ib.BoundedGaussian.calibrated(ib.Box(0, 120, step=1), 120, epsilon=1.0)
FINE = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 120, epsilon=1.0)
VALUES = np.array([17.0, 41.0, 68.0])
COLUMNS = {
    "pandas": pd.Series(VALUES, index=list("abc"), name="age"),
    "pandas, nullable": pd.Series(VALUES, name="age", dtype="Int64"),
    "pandas, Arrow": pd.Series(VALUES, name="age", dtype="double[pyarrow]"),
    "Polars": pl.Series("age", VALUES),
    "Arrow": pa.array(VALUES),
    "Arrow, sliced": pa.array([0.0, *VALUES, 9.0]).slice(1, 3),
    "Arrow, chunked": pa.chunked_array([VALUES[:1], VALUES[1:]]),
}
each = pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS.keys())


@each
@pytest.mark.parametrize("mechanism", [WHOLE, FINE], ids=["whole", "fine"])
def test_a_column_is_released_as_its_numbers_are(column: Any, mechanism: Any) -> None:
    """No false alarm: the seed is fixed, and the outputs are the same."""
    outputs = mechanism.release(column, entropy=SeededEntropy(3))
    plain = mechanism.release(VALUES, entropy=SeededEntropy(3))
    assert isinstance(outputs, pa.Array if isinstance(column, pa.Array) else type(column))
    assert np.array_equal(np.asarray(outputs), plain)


def test_a_series_keeps_its_index_and_name() -> None:
    outputs = FINE.release(COLUMNS["pandas"])
    assert outputs.index.tolist() == ["a", "b", "c"]
    assert outputs.name == "age"
    assert FINE.release(COLUMNS["Polars"]).name == "age"


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([17.0, None]),
        pd.Series([17, None], dtype="Int64"),
        pl.Series([17, None]),
        pa.array([17, None]),
        pa.chunked_array([[17], [None]]),
    ],
    ids=str,
)
def test_a_null_is_refused_and_nothing_shown(column: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^values must have no nulls") as caught:
        FINE.release(column)
    assert "17" not in str(caught.value)


@pytest.mark.parametrize(
    "column",
    [pd.Series(["17"]), pl.Series([True]), pa.array(["17"]), pd.Series([17, "a"], dtype=object)],
    ids=str,
)
def test_what_is_no_number_is_refused_and_nothing_shown(column: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"^values must be a real number") as caught:
        FINE.release(column)
    assert "17" not in str(caught.value)


def test_an_empty_column_stays_one() -> None:
    assert FINE.release(pd.Series([], dtype=float)).empty
    assert FINE.release(pl.Series([], dtype=pl.Float64)).is_empty()
    assert len(FINE.release(pa.array([], pa.float64()))) == 0


def test_a_joint_box_reads_a_series_as_one_point() -> None:
    joint = ib.BoundedGaussian(ib.Box([0, 0, 0], 120), 10, sigma=50.0)
    assert type(joint.release(COLUMNS["pandas"])) is np.ndarray


@pytest.mark.parametrize("other", [1.0, [1.0], np.ones(2), pd.DataFrame({"a": [1.0]}), None])
def test_anything_else_is_no_column(other: Any) -> None:
    assert open_column(other) is None
