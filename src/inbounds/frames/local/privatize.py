"""Local privacy for data frames: the choice of the engine, and the cost of a row."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Hashable, Mapping
from typing import Any, TypeVar

from inbounds import _check
from inbounds._entry import called, warn_caller
from inbounds.accounting.composition import Composition, compose
from inbounds.errors import ArgumentError, ArgumentTypeError, RepeatedReleaseWarning
from inbounds.frames.local.category import CategoryColumn
from inbounds.frames.local.column import Nulls, PrivateColumn
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.mechanisms.randomized_response import RandomizedResponse
from inbounds.unit import Unit

Frame = TypeVar("Frame")

# For each package, its kinds of frame and our module for them.
_ENGINES = {
    "pandas": (("DataFrame",), "pandas_frame"),
    "polars": (("DataFrame", "LazyFrame"), "polars_frame"),
    "pyarrow": (("Table", "RecordBatch", "RecordBatchReader"), "arrow_frame"),
    "duckdb": (("DuckDBPyRelation",), "duckdb_frame"),
    "pyspark.sql": (("DataFrame",), "spark_frame"),
}
_LAZY = {("polars", "LazyFrame"), ("duckdb", "DuckDBPyRelation"), ("pyspark.sql", "DataFrame")}
_REPEATED = (
    "lazy=True draws new noise each time the result is evaluated, and each evaluation is another "
    "release: k of them cost k times as much, and their average approaches the true values.\n"
    "Hint: evaluate the result once, and continue with what was written."
)


@called()
def privatize(
    frame: Frame,
    mechanisms: Mapping[Any, Mechanism | RandomizedResponse],
    *,
    nulls: Nulls = "error",
    shuffle: bool = False,
    lazy: bool = False,
) -> Frame:
    """Replace every value in some columns by a private output, before the data leave their owner.

    This is local privacy: the result may be published row by row. Each row must be about one
    person. Columns that are not named are published unchanged, so they must not be secret.

    Parameters
    ----------
    frame
        A pandas DataFrame, a Polars DataFrame or LazyFrame, a PyArrow Table, RecordBatch or
        RecordBatchReader, a DuckDB relation, or a PySpark DataFrame.
    mechanisms
        For the name of each column to replace, a mechanism on an interval. Its sensitivity must be
        at least the width of the interval, because two people may have any two values. For
        categories and yes/no columns, a `RandomizedResponse` over their levels.
    nulls
        What to do about missing values. ``"error"``: refuse them. ``"keep"``: leave them missing.
        ``"uniform"``: treat each as a number drawn uniformly from the box, or as a random level.
    shuffle
        Whether to put the rows into a random order, with randomness from the operating system. A
        pandas index is then replaced by a new one. **Without it, the order of the rows is
        published**: if a table is sorted by a private column, or was filled in an order related to
        it, the place of a row reveals its value, no matter how much noise is added. A
        `RowOrderWarning` is given only if the frame itself says that it is sorted, because
        examining the data would reveal something.
    lazy
        What to do about a Polars LazyFrame, a DuckDB relation or a PySpark DataFrame, which an
        engine evaluates at every look. By default it is evaluated here, once, and the result is a
        lazy frame over the outputs: they are held in memory (Polars, DuckDB) or in a checkpoint
        (PySpark), so that every look shows the same ones. **With** ``lazy=True`` **every look is
        another release**, which a `RepeatedReleaseWarning` says: use it to write a table that does
        not fit into memory to a file, once.

    Returns
    -------
    data frame
        A frame of the same kind, lazy if `frame` is. Names, the values of other columns and, unless
        `shuffle` is true, the order of rows and the index are unchanged. Metadata are left out. The
        index of a pandas frame is published like any other column: it must not be private.

    Raises
    ------
    ArgumentError
        If `mechanisms` is empty, `nulls` is not one of its choices, `frame` does not have exactly
        one column of each name, a mechanism is not on an interval or has a smaller sensitivity than
        its width, a column's type cannot hold the outputs, or a column has nulls (with
        ``nulls="error"``) or infinite values.
        An engine that fails to evaluate `frame` is named without its message, which may show
        values. A Spark session with speculation is refused unless `lazy` is true.
    ArgumentTypeError
        If `frame` or a column has a type that cannot be used, or `mechanisms` is not a mapping of
        names to mechanisms.

    See Also
    --------
    inbounds.compose : what the columns of one published row cost together.
    inbounds.summarize : statistics of all rows instead, with far less noise.
    inbounds.deconvolve : the distribution of the true values, estimated from private outputs.

    Guarantees
    ----------
    Each row is released at ``compose(mechanisms.values())``: any change of the values in its named
    columns changes the probability of any outcome by at most that. The unit is
    ``Unit("replace", "row")``. With ``nulls="uniform"`` a missing value is hidden like any other
    value. **With** ``nulls="keep"`` **it is not hidden**: which values are missing is published.

    **One call is one release**: every output is drawn once, and all looks at the result show the
    same outputs. (A RecordBatchReader draws while it is read, which is possible once.) With
    ``lazy=True`` each evaluation draws again and costs as much again, and the average of many
    evaluations approaches the true values.

    Spark computes lost rows again, which would draw them again, even after ``cache()``. The result
    is therefore a checkpoint, where the plan ends. If the session has a checkpoint directory, rows
    are written there and survive the loss of executors. Otherwise the executors store them, and
    after the loss of one Spark raises an error. A task that fails while the checkpoint is made
    draws again, but the rows of the failed attempt are in no result. With ``lazy=True`` a retried
    task or a recomputed stage may draw a row again that was already used elsewhere, so that two
    draws of one row can be written: nothing in Spark prevents this after a shuffle.

    Notes
    -----
    A value x in column j becomes an output of its mechanism Mⱼ, and all draws are independent. For
    two rows x and x′ and a set S of rows, P(M(x) ∈ S) ≤ exp(∑ⱼ εⱼ) P(M(x′) ∈ S), where εⱼ is the
    epsilon of Mⱼ (docs/proofs/composition.md, theorem 1).

    Doubles stay doubles. Integers keep their type if the box has whole steps
    (``Box(0, 120, step=1)``) and become doubles otherwise. Narrower floats become doubles, because
    rounding to them could leave the box. Dictionary-encoded Arrow columns are decoded, because the
    dictionary would list the true values. The nullable and Arrow types of pandas are kept. Decimals
    of PyArrow keep their type if the box has whole steps, and become doubles otherwise. Booleans,
    other decimals, strings and times are refused.

    With `RandomizedResponse`, columns of texts, integers and booleans keep their type. Categories
    of pandas, enums and dictionaries of text stay such, and list levels of the mechanism, whatever
    the column listed: its own list may depend on the data. A value that is none of the levels is an
    error. Texts are compared by their bytes.

    Other Arrow columns, including those of pandas, are built anew, so that their memory holds the
    published rows and nothing else. Views of text become text, and runs and dictionaries become
    their values, except ordered categories and top-level dictionaries of text. Unions and views of
    lists are refused.

    NaN is a missing value in pandas and an error elsewhere; infinities are errors. Values outside
    the box are moved to the nearest bound. Errors name the column and never show a value. With
    ``lazy=True`` they are raised when the result is evaluated, wrapped in an error of the engine.

    Examples
    --------
    >>> import pandas as pd
    >>> import inbounds as ib
    >>> frame = pd.DataFrame({"age": [17, 41, 68], "town": ["Ulm", "Rom", "Ulm"]})
    >>> m = ib.BoundedGaussian.calibrated(ib.Box(0, 120, step=1), 120, epsilon=2.0)
    >>> published = ib.privatize(frame, {"age": m})
    >>> all(0 <= age <= 120 for age in published["age"]), published["town"].tolist()
    (True, ['Ulm', 'Rom', 'Ulm'])
    """
    _check.one_of(("error", "keep", "uniform"), nulls=nulls)
    columns = _columns(mechanisms, nulls)
    engine, is_lazy = _engine(frame)
    module = importlib.import_module(f"inbounds.frames.local.{engine}")
    options = {"shuffle": _check.yes_or_no(shuffle=shuffle)}
    if _check.yes_or_no(lazy=lazy) and is_lazy:
        options["lazy"] = True
        warn_caller(RepeatedReleaseWarning(_REPEATED))
    result: Frame = module.privatize_frame(frame, columns, **options)
    return result


def row_guarantee(mechanisms: Mapping[Any, Mechanism | RandomizedResponse]) -> Composition:
    """Return what publishing one row, with all its named columns, costs the person it is about.

    Parameters
    ----------
    mechanisms
        For the name of each private column, a mechanism on an interval, as for `privatize`.

    Returns
    -------
    Composition
        The cost of all mechanisms together, for the unit ``Unit("replace", "row")``.

    Raises
    ------
    ArgumentError
        If `mechanisms` is empty, or a mechanism is not on an interval or has a smaller sensitivity
        than its width.
    ArgumentTypeError
        If `mechanisms` is not a mapping of names to mechanisms.

    See Also
    --------
    privatize : publishes the rows.
    inbounds.compose : the cost of any releases together.

    Notes
    -----
    The pure epsilon of a row is at most the sum of the epsilons of its columns; the other bounds
    compose as in docs/proofs/composition.md, theorems 1 to 7. With ``lazy=True`` a row costs this
    each time that it is evaluated. A person with several rows pays for each of them.

    Examples
    --------
    >>> import inbounds as ib
    >>> age = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 120, epsilon=1.0)
    >>> pay = ib.BoundedLaplace.calibrated(ib.Box(0, 1e5), 1e5, epsilon=0.5)
    >>> round(row_guarantee({"age": age, "pay": pay}).pure, 9)
    1.5
    """
    columns = _columns(mechanisms, "error")
    return compose((column.mechanism for column in columns), unit=Unit("replace", "row"))


def _columns(
    mechanisms: Mapping[Hashable, Mechanism | RandomizedResponse], nulls: Nulls
) -> list[PrivateColumn | CategoryColumn]:
    if not isinstance(mechanisms, Mapping):
        raise ArgumentTypeError.must(
            "mechanisms", "map names of columns to mechanisms", got=type(mechanisms).__name__
        )
    if not mechanisms:
        raise ArgumentError.must("mechanisms", "name at least one column")
    return [
        CategoryColumn(name, mechanism, nulls)
        if isinstance(mechanism, RandomizedResponse)
        else PrivateColumn(name, mechanism, nulls)
        for name, mechanism in mechanisms.items()
    ]


def _engine(frame: object) -> tuple[str, bool]:
    """Return the name of our module for a frame, and whether its engine evaluates it at each look.

    The package of an existing frame is loaded.
    """
    for package, (kinds, module) in _ENGINES.items():
        loaded = sys.modules.get(package)
        for kind in kinds:
            if hasattr(loaded, kind) and isinstance(frame, getattr(loaded, kind)):
                return module, (package, kind) in _LAZY
    raise ArgumentTypeError.must_be(
        "frame",
        "a pandas or Polars data frame, a PyArrow table or reader, a DuckDB relation or a "
        "PySpark data frame",
        got=type(frame).__name__,
    )
