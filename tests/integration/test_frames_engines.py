"""What every engine must do alike, on real ones; Spark has a file of its own."""

import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from scipy.stats import ks_2samp

import inbounds as ib
from inbounds.frames.local.privatize import privatize

pytestmark = pytest.mark.filterwarnings("ignore::inbounds.RepeatedReleaseWarning")

ROWS = 100_000
BATCH = 2048  # rows that go through an engine together, at the least
THRESHOLD = 1e-7  # ten times below the false alarm rate: the test's own law is an approximation
EVEN = ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=1000.0)  # 2²² about equally likely answers
SHAPED = ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=0.2)
WRONG = ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=0.22)

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Engine:
    """How to make a frame of columns "age" and "place", and how to read it again."""

    name: str
    make: Callable[[Values], Any]
    read: Callable[[Any], dict[str, Any]]
    lazy: bool = False


def columns(values: Values) -> dict[str, Values]:
    return {"place": np.arange(values.size, dtype=np.float64), "age": values}


def from_arrow(table: Any) -> dict[str, Any]:
    return {name: table[name].to_numpy() for name in table.column_names}


def from_polars(engine: Any) -> Callable[[Any], dict[str, Any]]:
    return lambda lazy: from_arrow(lazy.collect(engine=engine).to_arrow())


def reader(values: Values) -> Any:
    return pa.table(columns(values)).to_reader(max_chunksize=BATCH)


def relation(values: Values) -> Any:
    return duckdb.connect().from_arrow(pa.table(columns(values)))


ENGINES = [
    Engine("pandas", lambda x: pd.DataFrame(columns(x)), lambda y: {k: y[k].array for k in y}),
    Engine("Polars", lambda x: pl.DataFrame(columns(x)), lambda y: from_arrow(y.to_arrow())),
    Engine("Polars, kept", lambda x: pl.LazyFrame(columns(x)), from_polars("in-memory")),
    Engine("Polars, lazy", lambda x: pl.LazyFrame(columns(x)), from_polars("in-memory"), lazy=True),
    Engine(
        "Polars, streaming", lambda x: pl.LazyFrame(columns(x)), from_polars("streaming"), lazy=True
    ),
    Engine("Arrow", lambda x: pa.table(columns(x)), from_arrow),
    Engine("Arrow reader", reader, lambda y: from_arrow(y.read_all())),
    Engine("DuckDB, kept", relation, lambda y: from_arrow(y.to_arrow_table())),
    Engine("DuckDB, lazy", relation, lambda y: from_arrow(y.to_arrow_table()), lazy=True),
]
each = pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)


@pytest.fixture(scope="module")
def reference() -> Values:
    answers: Values = SHAPED.release(np.full(ROWS, 0.3))
    return answers


def answers_of(engine: Engine, mechanism: Any, values: Values) -> Values:
    frame = engine.make(values)
    published = privatize(frame, {"age": mechanism}, lazy=engine.lazy)
    assert type(published) is type(frame)
    read = engine.read(published)
    assert list(read) == ["place", "age"]
    assert np.array_equal(read["place"], np.arange(values.size))
    return np.asarray(read["age"])


@each
def test_answers_have_the_law_of_release(engine: Engine, reference: Values) -> None:
    """False alarm below 1e-6; a scale ten percent wrong is found."""
    answers = answers_of(engine, SHAPED, np.full(ROWS, 0.3))
    assert ((answers >= 0) & (answers <= 1)).all()
    assert ks_2samp(answers, reference, method="asymp").pvalue > THRESHOLD
    wrong = answers_of(engine, WRONG, np.full(ROWS, 0.3))
    assert ks_2samp(wrong, reference, method="asymp").pvalue < THRESHOLD


@each
def test_no_batch_repeats_the_noise_of_another(engine: Engine) -> None:
    """False alarm below 1e-6: 1,180 ± 35 of 10⁵ answers repeat by chance, a batch adds 2,048."""
    answers = answers_of(engine, EVEN, np.full(ROWS, 0.5))
    assert ROWS - np.unique(answers).size < 1600


@each
def test_every_row_gets_the_answer_to_its_own_value(engine: Engine) -> None:
    """False alarm below 1e-6: a thousandth of noise never moves a value by a hundredth."""
    values = np.linspace(0, 1, 10_000)
    sharp = ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=0.001)
    assert np.abs(answers_of(engine, sharp, values) - values).max() < 0.01


@each
def test_every_look_shows_the_same_outputs_unless_lazy_is_asked_for(engine: Engine) -> None:
    """False alarm below 1e-6. Two releases agree in a place with a probability of 2⁻²²."""
    values = np.full(3000, 0.5)
    published = privatize(engine.make(values), {"age": EVEN}, lazy=engine.lazy)
    first = np.asarray(engine.read(published)["age"])
    again = np.asarray(engine.read(published)["age"])
    if engine.name == "Arrow reader":
        assert again.size == 0
    elif engine.lazy:
        assert (again == first).sum() < 7
    else:
        assert np.array_equal(again, first)


def averages(engine: Engine, looks: int) -> Values:
    """The average of several looks at private outputs for 0.2 and 0.8, as anybody can take it."""
    values = np.repeat([0.2, 0.8], 500)
    published = privatize(engine.make(values), {"age": SHAPED}, lazy=engine.lazy)
    return np.mean([engine.read(published)["age"] for _ in range(looks)], axis=0)


@pytest.mark.parametrize(
    "engine", [e for e in ENGINES if e.name.endswith(("kept", "lazy"))], ids=lambda e: e.name
)
def test_averaging_looks_tells_nothing_more_than_one_look(engine: Engine) -> None:
    """False alarm below 1e-6: at a deviation of 0.16, some of 1000 outputs cross the middle.

    Of the average of 50 looks at a lazy result, which deviates by 0.02, none does.
    """
    low, high = np.split(averages(engine, 50), 2)
    if engine.lazy:
        assert low.max() < high.min()
    else:
        assert low.max() > high.min()


def messages(error: BaseException) -> Iterator[str]:
    yield "".join(traceback.format_exception(error))
    yield repr(error)


@each
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_no_error_shows_a_value_or_its_row(engine: Engine, bad: float) -> None:
    values = np.full(5000, 0.123456789)
    values[4321] = bad
    with pytest.raises(Exception, match=r"column 'age' must (be finite|have no nulls)") as caught:
        engine.read(privatize(engine.make(values), {"age": EVEN}, lazy=engine.lazy))
    for message in messages(caught.value):
        assert "0.1234" not in message
        assert "4321" not in message
