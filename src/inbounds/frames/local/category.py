"""One column of categories: which types it may have, and its release by randomised response."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inbounds._extra import optional
from inbounds._kind import type_name
from inbounds.errors import ArgumentError, ArgumentTypeError, Hint
from inbounds.frames.local.column import Nulls, PrivateColumn, draw_uniform
from inbounds.mechanisms.level import foreign_value
from inbounds.mechanisms.randomized_response import RandomizedResponse
from inbounds.sampling.entropy import SYSTEM
from inbounds.sampling.grid import Grid

Codes = NDArray[np.int64]
Missing = NDArray[np.bool_]
_IN_WORDS = {"text": "texts", "integer": "integers", "boolean": "booleans"}


@dataclass(eq=False)
class CategoryColumn:
    """A column of categories to replace, its mechanism, and what to do about its nulls.

    Parameters
    ----------
    name
        Its name in the frame, which errors show. They never show a value.
    mechanism
        Randomised response over the levels that the column may hold.
    nulls
        ``"error"``, ``"keep"`` or ``"uniform"``, as for `privatize`.

    Examples
    --------
    >>> m = RandomizedResponse(["no", "yes"], epsilon=2.0)
    >>> column = CategoryColumn("smoker", m, "error")
    >>> set(column.draw(np.array([0, 1, 1]), np.zeros(3, bool)).tolist()) <= {0, 1}
    True
    """

    name: Hashable
    mechanism: RandomizedResponse
    nulls: Nulls

    def draw(self, codes: Codes, missing: Missing) -> Codes:
        """Return private codes; with ``nulls="keep"`` those of nulls mean nothing.

        Parameters
        ----------
        codes
            The place of each value among the levels, or -1 for any other value.
        missing
            Where the nulls are; the codes there are never read.
        """
        if (~missing & (codes < 0)).any():
            raise self.foreign()
        known = np.where(missing, 0, codes)
        if missing.any():
            if self.nulls == "error":
                raise self._null()
            if self.nulls == "uniform":
                last = len(self.mechanism.levels) - 1
                grid = Grid.fit(0.0, float(last), 1.0, scale=1.0)
                known[missing] = draw_uniform(grid, int(missing.sum())).astype(np.int64)
        return self.mechanism.sampler.draw(known, SYSTEM)

    def refusals(self) -> tuple[ArgumentError, ...]:
        """Return every error that `draw` raises because of the values."""
        return self._null(), self.foreign()

    def _null(self) -> ArgumentError:
        words = "{} treats them as random levels, {} publishes where they are."
        hint = Hint(words, 'nulls="uniform"', 'nulls="keep"')
        return ArgumentError.must(f"column {self.name!r}", "have no nulls", hint=hint)

    def foreign(self) -> ArgumentError:
        """Return the error that a value is none of the levels."""
        return foreign_value(f"column {self.name!r}")

    def fits(self, dtype: np.dtype[Any]) -> bool:
        """Whether a numpy type of integers or booleans holds the levels."""
        levels, family = self.mechanism.levels, self.mechanism.family
        if dtype.kind not in "iu":
            return dtype.kind == "b" and family == "boolean"
        limits = np.iinfo(dtype)
        return family == "integer" and all(limits.min <= int(x) <= limits.max for x in levels)

    def refused_type(self, given: object) -> ArgumentTypeError:
        """Return the error that a column has the type `given`, which cannot hold the levels."""
        words = _IN_WORDS[self.mechanism.family]
        return ArgumentTypeError.must(
            f"column {self.name!r}",
            f"hold {words}, as the levels of its mechanism are, in a type that has room for them",
            got=type_name(given),
            hint="give levels of the column's type, such as [False, True] for booleans.",
        )


LocalColumn = PrivateColumn | CategoryColumn
"""A column of numbers or of categories, as every engine takes them."""


def arrow_type(column: CategoryColumn, given: Any) -> Any:
    """Return the Arrow type of the outputs for a column of type `given`, which is the same type.

    A dictionary stays one, and its values become the levels.

    Examples
    --------
    >>> import pyarrow as pa
    >>> column = CategoryColumn("x", RandomizedResponse([0, 1, 2], epsilon=1.0), "error")
    >>> arrow_type(column, pa.int8())
    DataType(int8)
    """
    with optional():
        import pyarrow as pa  # noqa: PLC0415 - pandas frames may have no Arrow columns

    plain = given.value_type if pa.types.is_dictionary(given) else given
    if pa.types.is_string(plain) or pa.types.is_large_string(plain):
        fits = column.mechanism.family == "text"
    else:
        is_known = pa.types.is_integer(plain) or pa.types.is_boolean(plain)
        fits = is_known and column.fits(np.dtype(plain.to_pandas_dtype()))
    if fits and plain != given:
        last = np.iinfo(given.index_type.to_pandas_dtype()).max
        fits = len(column.mechanism.levels) - 1 <= last
    if not fits:
        raise column.refused_type(given)
    return given


def arrow_release(column: CategoryColumn, values: Any) -> Any:
    """Return private levels for an Arrow array, in an array of the same type.

    Arrow compares texts by their bytes. A dictionary of the result lists the levels and nothing
    else, in their order.

    Examples
    --------
    >>> import pyarrow as pa
    >>> column = CategoryColumn("x", RandomizedResponse(["no", "yes"], epsilon=1.0), "keep")
    >>> arrow_release(column, pa.array(["yes", None])).null_count
    1
    """
    with optional():
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.compute as pc  # noqa: PLC0415

    given = arrow_type(column, values.type)
    is_coded = pa.types.is_dictionary(given)
    plain = given.value_type if is_coded else given
    array = values.cast(plain) if is_coded else values
    levels = pa.array(column.mechanism.levels, plain)
    missing = array.is_null().to_numpy(zero_copy_only=False)
    codes = pc.index_in(array, value_set=levels).fill_null(-1).to_numpy(zero_copy_only=False)
    drawn = column.draw(codes.astype(np.int64), missing)
    mask = missing if column.nulls == "keep" and missing.any() else None
    places = pa.array(drawn, given.index_type if is_coded else pa.int64(), mask=mask)
    if is_coded:
        return pa.DictionaryArray.from_arrays(places, levels, ordered=given.ordered)
    return levels.take(places)
