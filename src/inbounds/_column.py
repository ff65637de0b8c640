"""Columns of pandas, Polars and Arrow: read as numbers, and rebuilt from outputs.

None of these packages is imported here, because a caller who has a column has already loaded its
package.
"""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from inbounds.errors import ArgumentError, ArgumentTypeError

Rebuild = Callable[[Any], Any]


def open_column(values: Any, name: str = "values") -> tuple[Any, Rebuild] | None:
    """Return the numbers in a column and a function that makes such a column from outputs.

    Returns None if `values` is not a column. `name` is the argument that errors name.

    Examples
    --------
    >>> import pandas as pd
    >>> numbers, rebuild = open_column(pd.Series([1.5, 2.5], index=["a", "b"], name="height"))
    >>> rebuild(numbers + 1).index.tolist()
    ['a', 'b']
    >>> open_column([1.5, 2.5]) is None
    True
    """
    if isinstance(values, np.ndarray | list | tuple):
        return None
    if _is_a("pandas", ("Series",), values):
        _refuse_nulls(name, bool(values.isna().any()))
        series, labels = type(values), {"index": values.index, "name": values.name}
        return _numbers(name, values), lambda outputs: series(outputs, **labels)
    if _is_a("polars", ("Series",), values):
        _refuse_nulls(name, values.null_count() > 0)
        return _numbers(name, values), lambda outputs: type(values)(values.name, outputs)
    if _is_a("pyarrow", ("Array", "ChunkedArray"), values):
        _refuse_nulls(name, values.null_count > 0)
        arrow = sys.modules["pyarrow"]
        if isinstance(values, arrow.ChunkedArray):
            return _numbers(name, values), lambda outputs: arrow.chunked_array(
                [arrow.array(outputs)]
            )
        return _numbers(name, values, zero_copy_only=False), arrow.array
    return None


def _is_a(package: str, names: tuple[str, ...], values: object) -> bool:
    loaded = sys.modules.get(package)
    classes = tuple(getattr(loaded, name) for name in names if hasattr(loaded, name))
    return isinstance(values, classes)


def _numbers(name: str, values: Any, **options: Any) -> Any:
    """Return a column as an array; the error names its type and nothing that it holds."""
    try:
        return values.to_numpy(**options)
    except Exception:  # its message may hold values
        column = type(values).__name__
    got = f"a {column} of another type"
    raise ArgumentTypeError.must_be(name, "a column of real numbers", got=got)


def _refuse_nulls(name: str, has_nulls: bool) -> None:
    if has_nulls:
        hint = "drop or fill them first, or use privatize, which has an option for nulls."
        raise ArgumentError.must(name, "have no nulls", hint=hint)
