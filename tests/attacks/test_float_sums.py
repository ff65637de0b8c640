"""Sums of doubles can change by more than one value's range; sums on our grid cannot.

Casacuberta, Shoemate, Vadhan and Wagaman, Widespread Underestimation of Sensitivity in
Differentially Private Libraries and How to Fix It (2022): a sum is rounded after each addition, so
one row changes the rounding of what is added to it. Here values are in [2⁵² + 511, 2⁵² + 513], and
after 1024 of them sums are multiples of 1024: values in the lower half of the range vanish to 2⁵²
and those in the upper half grow to 2⁵² + 1024.
"""

from collections.abc import Callable

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from inbounds.frames.central.aggregate import sums
from inbounds.frames.central.change import Neighbours, sensitivities
from inbounds.frames.central.moment import moments
from inbounds.frames.central.statistic import mean

Floats = NDArray[np.float64]
LOWER, UPPER = 2.0**52 + 511, 2.0**52 + 513
WIDTH = UPPER - LOWER
ROWS = 1500


def table() -> Floats:
    return np.full(ROWS, LOWER)


def with_last_row_replaced() -> Floats:
    values = table()
    values[-1] = UPPER
    return values


def added_up(values: Floats) -> float:
    return float(np.cumsum(values)[-1])


def added_up_by_duckdb(values: Floats) -> float:
    frame = pd.DataFrame({"x": values})  # noqa: F841 - the query reads it
    ((found,),) = duckdb.sql("SELECT sum(x) FROM frame").fetchall()
    return float(found)


def our_sum(values: Floats) -> float:
    """In widths, so that one row may change it by 1."""
    found = moments([mean("x", LOWER, UPPER)], sizes_public=True)
    ((exact,),) = sums(nw.from_native(pd.DataFrame({"x": values})), found)
    return float(exact)


@pytest.mark.parametrize("add", [added_up, added_up_by_duckdb])
def test_one_row_changes_a_sum_of_doubles_by_512_times_its_sensitivity(
    add: Callable[[Floats], float],
) -> None:
    assert abs(add(with_last_row_replaced()) - add(table())) >= 512 * WIDTH


def test_the_order_of_rows_changes_a_sum_of_doubles_by_more_than_its_sensitivity() -> None:
    half = np.where(np.arange(ROWS) < ROWS // 2, UPPER, LOWER)
    assert abs(added_up(half) - added_up(half[::-1])) > 512 * WIDTH


def test_one_row_changes_our_sum_by_its_sensitivity() -> None:
    found = moments([mean("x", LOWER, UPPER)], sizes_public=True)
    how = Neighbours(groups=1, adjacency="replace", sizes_public=True, rows=1, size=ROWS)
    bound, _ = sensitivities(found, how)
    change = our_sum(with_last_row_replaced()) - our_sum(table())
    assert change == 1
    assert change / ROWS <= bound.limits(1).caps[0]


def test_the_order_of_rows_does_not_change_our_sum() -> None:
    generator = np.random.default_rng(1)
    values = np.concatenate([generator.uniform(LOWER, UPPER, ROWS), [0.0, 1e300]])
    assert len({our_sum(generator.permutation(values)) for _ in range(10)}) == 1
