"""How fast a column of a data frame is privatized, against the same pipeline that does nothing.

Aims: in Polars half the speed of a pipeline whose function returns its input, in DuckDB 0.7. Polars
hands that function a view of memory, so that in memory, it does nothing at all: the aim means
something from file to file, which is how data leaves its owner. DuckDB calls a function with 2048
rows at a time; outputs that are held in memory pass through Arrow, and so does what they are
compared with.
"""

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray
from rich.table import Table

import inbounds as ib
from benchmarks.timing import Timing, code, judged, new_table, race
from inbounds.frames.local.privatize import privatize

AIMS = {"Polars": 0.5, "DuckDB": 0.7}

_ROWS = 4 * 10**6
_SECONDS = 4.0
_RNG = np.random.default_rng(0)
_AGE = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 120, epsilon=1.0)
Run = Callable[[], object]


def run() -> Iterator[Table]:
    warnings.simplefilter("ignore", ib.RepeatedReleaseWarning)  # nothing is published here
    table = new_table(
        f"{_ROWS:,} rows, one column of doubles: privatize, all cores",
        "Million rows a second, and × as a multiple of the same pipeline with a function that "
        "returns its input (aims: Polars 0.5, DuckDB 0.7). noise + clip is numpy's normal, "
        "clipped: neither exact nor of pure epsilon.",
        *("engine", "pipeline", "no-op", "privatize", "×", "noise + clip", "×"),
        labels=("engine", "pipeline"),
    )
    with TemporaryDirectory() as folder, code(compiled=True):
        source = Path(folder, "in.parquet")
        # numbers like the answers, so that a file of them costs as much to write
        ages = _AGE.release(_RNG.uniform(0, 120, _ROWS))
        pl.DataFrame({"age": ages}).write_parquet(source)
        for (engine, pipeline), contenders in _pipelines(source, Path(folder)).items():
            _add(table, engine, pipeline, race(*contenders, seconds=_SECONDS))
    return iter([table])


def _add(table: Table, engine: str, pipeline: str, timings: tuple[Timing, ...]) -> None:
    nothing, ours, clipped = timings
    speed = nothing.over(ours)
    cells = (_rate(nothing), _rate(ours), judged(f"{speed:.2f}", speed >= AIMS[engine]))
    table.add_row(engine, pipeline, *cells, _rate(clipped), f"{float(nothing.over(clipped)):.2f}")


def _rate(timing: Timing) -> str:
    return f"{_ROWS / timing.seconds / 1e6:.3g} M/s"


def _noisy(values: NDArray[np.float64]) -> NDArray[np.float64]:
    noise = np.random.default_rng().normal(values, float(_AGE.sigma))
    return np.clip(noise, 0, 120, out=noise)


def _pipelines(source: Path, folder: Path) -> dict[tuple[str, str], list[Run]]:
    target = folder / "out.parquet"
    lazy = _polars_contenders(pl.scan_parquet(source))
    held = _polars_contenders(pl.read_parquet(source).lazy())
    connection = duckdb.connect()
    opened = connection.read_parquet(str(source))
    relations = _duckdb_contenders(opened, connection)
    connection.sql(f"CREATE TABLE ages AS FROM '{source}'")
    tables = _duckdb_contenders(connection.table("ages"), connection)
    return {
        ("Polars", "file to file"): [lambda x=x: x.sink_parquet(target) for x in lazy],
        ("Polars", "sum in memory"): [
            lambda x=x: x.select(pl.col("age").sum()).collect(engine="streaming") for x in held
        ],
        ("DuckDB", "file to memory"): [
            lambda: _held(opened, connection, lambda values: values),
            lambda: privatize(opened, {"age": _AGE}),
            lambda: _held(opened, connection, _noisy),
        ],
        ("DuckDB", "lazy, file to file"): [
            lambda x=x: x.write_parquet(str(target), overwrite=True) for x in relations
        ],
        ("DuckDB", "lazy, sum in memory"): [
            lambda x=x: x.aggregate("sum(age)").fetchall() for x in tables
        ],
    }


def _held(relation: Any, connection: Any, step: Callable[[Any], Any]) -> Any:
    """Take a column through Arrow into a relation in memory, in the batches of privatize."""
    batches = relation.to_arrow_reader(1 << 19)
    arrays = [pa.array(step(batch["age"].to_numpy())) for batch in batches]
    return connection.from_arrow(pa.table({"age": pa.chunked_array(arrays)})).materialize()


def _polars_contenders(lazy: pl.LazyFrame) -> list[pl.LazyFrame]:
    def clip(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(pl.Series("age", _noisy(frame["age"].to_numpy())))

    mapped = [
        lazy.map_batches(step, predicate_pushdown=False, streamable=True)
        for step in (lambda frame: frame, clip)
    ]
    return [mapped[0], privatize(lazy, {"age": _AGE}, lazy=True), mapped[1]]


def _duckdb_contenders(relation: Any, connection: Any) -> list[Any]:
    steps = {"same": lambda column: column, "clip": lambda x: pa.array(_noisy(x.to_numpy()))}
    mapped = []
    for name, step in steps.items():
        unique = f"{name}_{relation.alias}"
        connection.create_function(
            unique,
            step,
            ["DOUBLE"],
            "DOUBLE",
            type="arrow",
            null_handling="special",
            side_effects=True,
        )
        mapped.append(relation.project(f"* REPLACE ({unique}(age) AS age)"))
    return [mapped[0], privatize(relation, {"age": _AGE}, lazy=True), mapped[1]]
