"""Columns of pandas, Polars and Arrow: numbers in, the same kind of column out.

None of these packages is imported here: whoever has a column of theirs has loaded it.
"""

import sys
from collections.abc import Callable
from typing import Any

from inbounds.errors import ArgumentError, ArgumentTypeError

Rebuild = Callable[[Any], Any]


def open_column(values: Any, name: str = "values") -> tuple[Any, Rebuild] | None:
    """Return the numbers in a column and what makes such a column of outputs, or None.

    Errors call it by `name`.

    Examples
    --------
    >>> import pandas as pd
    >>> numbers, rebuild = open_column(pd.Series([1.5, 2.5], index=["a", "b"], name="height"))
    >>> rebuild(numbers + 1).index.tolist()
    ['a', 'b']
    >>> open_column([1.5, 2.5]) is None
    True
    """
    if _is_a("pandas", ("Series",), values):
        _refuse_nulls(name, bool(values.isna().any()))
        kind, labels = type(values), {"index": values.index, "name": values.name}
        return _numbers(name, values), lambda outputs: kind(outputs, **labels)
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


def _is_a(package: str, kinds: tuple[str, ...], values: object) -> bool:
    loaded = sys.modules.get(package)
    classes = tuple(getattr(loaded, kind) for kind in kinds if hasattr(loaded, kind))
    return isinstance(values, classes)


def _numbers(name: str, values: Any, **options: Any) -> Any:
    """Return what a column holds as an array; what cannot be one is refused by its type."""
    try:
        return values.to_numpy(**options)
    except Exception:  # whose message may hold values
        failed = type(values).__name__
    raise ArgumentTypeError.must_be(name, "a column of real numbers", got=f"a {failed} of others")


def _refuse_nulls(name: str, found: bool) -> None:
    if found:
        hint = "privatize takes them in frames."
        raise ArgumentError.must(name, "have no nulls", hint=hint)
