"""Local privacy for data frames: which engine, and what a row costs."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Hashable, Mapping
from typing import Any, TypeVar

from inbounds import _check
from inbounds.accounting.composition import Composition, compose
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.frames.local.column import Column, Nulls
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.unit import Unit

Frame = TypeVar("Frame")

# Of each package: the kinds of frame, and our module for them.
_ENGINES = {
    "pandas": (("DataFrame",), "pandas_frame"),
    "polars": (("DataFrame", "LazyFrame"), "polars_frame"),
    "pyarrow": (("Table", "RecordBatch", "RecordBatchReader"), "arrow_frame"),
    "duckdb": (("DuckDBPyRelation",), "duckdb_frame"),
    "pyspark.sql": (("DataFrame",), "spark_frame"),
}


def privatize(
    frame: Frame,
    mechanisms: Mapping[Any, Mechanism],
    *,
    nulls: Nulls = "error",
    shuffle: bool = False,
) -> Frame:
    """Replace every value in some columns by a private one, before the data leaves its owner.

    This is local privacy: the result may be published row by row. Each row must be about one
    person, and columns that are not named are passed on as they are, so they must not be secret.

    Parameters
    ----------
    frame
        A pandas DataFrame, a Polars DataFrame or LazyFrame, a PyArrow Table, RecordBatch or
        RecordBatchReader, a DuckDB relation, or a PySpark DataFrame. The same kind comes back:
        other columns, the order, the names and the index are as before, and lazy stays lazy.
    mechanisms
        For each column to replace, by its name, a mechanism on an interval. Its sensitivity must
        be the whole width: two people may have any two values.
    nulls
        What to do where a value is missing. ``"error"``: refuse. ``"keep"``: leave it missing.
        ``"uniform"``: answer as if the person had reported a number drawn uniformly from the box.
    shuffle
        Whether to put the rows into a random order, drawn from the operating system; a pandas index
        is replaced by a new one. Lazy frames are held in memory for it when they run. **The order
        of rows is published as it is otherwise**: in a table that is sorted by a private column, or
        was filled in an order that has to do with it, the place of a row tells its value whatever
        the noise. A `RowOrderWarning` is given only where the frame itself says that it is sorted,
        since looking at the data would tell.

    Guarantees
    ----------
    What is published of a row is private at ``row_guarantee(mechanisms)``, whatever the values of
    its named columns: no two of them change the probability of any outcome by more than that. Its
    unit is ``Unit("replace", "row")``.
    With ``nulls="uniform"`` a missing value is one of them. **With** ``nulls="keep"`` **it is
    not**: whether somebody answered is published as it is.

    **A lazy frame draws fresh noise each time it is evaluated, and each time is another
    release**: two of them cost twice as much. Evaluate it once, keep the result (write it to a
    file, ``collect()`` it, ``materialize()`` a relation) and go on from there. Spark may evaluate
    again by itself, also after ``cache()``, if it loses an executor: write to storage instead.

    Notes
    -----
    Doubles stay doubles. Integers stay of their type where the box has whole steps
    (``Box(0, 120, step=1)``) and become doubles otherwise; so do narrower floats, as rounding to
    them could leave the box. Dictionary-encoded Arrow columns are decoded, as the dictionary would
    list the true values. pandas' nullable and Arrow types are kept. Decimals of PyArrow become
    doubles, or stay where the box has whole steps. Booleans, other decimals, strings and times are
    refused.

    Other columns of Arrow, also those of pandas, are built anew, so that their memory holds the
    rows that are published and nothing else. Views of text become text, and runs and dictionaries
    become their values, but for ordered categories and for top-level dictionaries of text. Unions
    and views of lists are refused.

    NaN is a missing value in pandas, and an error elsewhere; infinities are errors. Values outside
    the box are moved to it. Errors name the column and never show a value; those raised while a
    lazy frame runs arrive wrapped in the engine's own.

    Examples
    --------
    >>> import pandas as pd
    >>> import inbounds as ib
    >>> frame = pd.DataFrame({"age": [17, 41, 68], "town": ["Ulm", "Rom", "Ulm"]})
    >>> m = ib.BoundedGaussian.calibrated(ib.Box(0, 120, step=1), 120, epsilon=2.0)
    >>> published = privatize(frame, {"age": m})
    >>> all(0 <= age <= 120 for age in published["age"]), published["town"].tolist()
    (True, ['Ulm', 'Rom', 'Ulm'])
    """
    _check.one_of(("error", "keep", "uniform"), nulls=nulls)
    columns = _columns(mechanisms, nulls)
    module = importlib.import_module(f"inbounds.frames.local.{_engine(frame)}")
    shuffle = _check.yes_or_no(shuffle=shuffle)
    result: Frame = module.privatize_frame(frame, columns, shuffle=shuffle)
    return result


def row_guarantee(mechanisms: Mapping[Any, Mechanism]) -> Composition:
    """Return what publishing one row costs the person it is about, over all named columns.

    A lazy frame costs that much each time it is evaluated; a person with several rows pays for
    each of them.

    Examples
    --------
    >>> import inbounds as ib
    >>> age = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 120, epsilon=1.0)
    >>> pay = ib.BoundedLaplace.calibrated(ib.Box(0, 1e5), 1e5, epsilon=0.5)
    >>> round(row_guarantee({"age": age, "pay": pay}).pure, 9)
    1.5
    """
    jobs = _columns(mechanisms, "error")
    return compose((column.mechanism for column in jobs), unit=Unit("replace", "row"))


def _columns(mechanisms: Mapping[Hashable, Mechanism], nulls: Nulls) -> list[Column]:
    if not isinstance(mechanisms, Mapping):
        raise ArgumentTypeError.must(
            "mechanisms", "map names of columns to mechanisms", got=type(mechanisms).__name__
        )
    if not mechanisms:
        raise ArgumentError.must("mechanisms", "name at least one column")
    return [Column(name, mechanism, nulls) for name, mechanism in mechanisms.items()]


def _engine(frame: object) -> str:
    """Return our module for a frame; whoever has one has loaded its package."""
    for package, (kinds, module) in _ENGINES.items():
        loaded = sys.modules.get(package)
        classes = tuple(getattr(loaded, kind) for kind in kinds if hasattr(loaded, kind))
        if isinstance(frame, classes):
            return module
    raise ArgumentTypeError.must_be(
        "frame",
        "a pandas or Polars data frame, a PyArrow table or reader, a DuckDB relation or a "
        "PySpark data frame",
        got=type(frame).__name__,
    )
