"""Which rows of a person are used: by chance, but by nothing that other people decide."""

import math
from collections import Counter
from datetime import date

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from inbounds.frames.central.aggregate import keep_rows, used_rows
from inbounds.frames.central.person import CHANCES, chance, new_key, with_chances

KEY = b"a key that tests may know"
ENGINES = {
    "pandas": pd.DataFrame,
    "pandas, Arrow types": lambda data: pl.DataFrame(data).to_pandas(
        use_pyarrow_extension_array=True
    ),
    "Polars": pl.DataFrame,
    "Polars, lazy": lambda data: pl.DataFrame(data).lazy(),
    "PyArrow": pa.table,
    "DuckDB": lambda data: duckdb.connect().from_arrow(pa.table(data)),
}
IDS = {
    "integers": [7, 8, 9],
    "doubles": [0.5, -1.5, 1e300],
    "strings": ["a", "b", "ä"],
    "bytes": [b"\x00", b"\x00\x00", b"\xff"],
    "booleans": [True, False, True],
    "dates": [date(2026, 11, 16), date(1970, 1, 1), date(1, 1, 1)],
}


def kept(engine, people, values, rows=1, key=KEY):
    """Return the values that are used of each person."""
    table = nw.from_native(ENGINES[engine]({"who": people, "x": values}))
    used = used_rows(table, ["x"], person="who", rows=rows, secret=key).table
    found = used.lazy().collect().rows(named=True)
    return sorted(row["x0"] for row in found)


@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("engine", ENGINES)
def test_neither_other_people_nor_the_order_of_rows_changes_what_is_used_of_a_person(engine, ids):
    her, him, _ = IDS[ids]
    hers = list(map(float, range(8)))
    alone = kept(engine, [her] * 8, hers, rows=3)
    assert len(alone) == 3
    together = kept(engine, [him] * 5 + [her] * 8 + [him], [9.0] * 5 + hers[::-1] + [9.0], rows=3)
    assert together == [*alone, 9.0, 9.0, 9.0]


@pytest.mark.parametrize("engine", [name for name in ENGINES if name != "pandas"])
def test_ids_of_64_bits_are_ids_like_others(engine):
    ids = pl.Series([2**64 - 1, 2**63, 2**64 - 1, 5], dtype=pl.UInt64)
    people = ids.to_arrow() if engine in ("PyArrow", "DuckDB") else ids
    assert kept(engine, people, [1.0, 2.0, 1.0, 3.0]) == [1.0, 2.0, 3.0]


def test_a_table_without_rows_has_no_people():
    empty = pa.schema({"who": pa.string(), "x": pa.float64()}).empty_table()
    for frame in (empty, pl.from_arrow(empty), pl.from_arrow(empty).lazy(), empty.to_pandas()):
        used = used_rows(nw.from_native(frame), ["x"], person="who").table
        assert len(used.lazy().collect()) == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_every_row_is_equally_likely_to_be_used(engine):
    """The largest deviation of 5 counts, each beyond 6 standard deviations once in 10⁸ runs."""
    people, draws = 500, 8
    found = Counter[float]()
    for i in range(draws):
        who = np.repeat(np.arange(people), 5).tolist()
        found.update(kept(engine, who, [0.0, 1.0, 2.0, 3.0, 4.0] * people, 2, bytes([i + 1])))
    expected = people * draws * 2 / 5
    deviation = math.sqrt(people * draws * 2 / 5 * 3 / 5)
    assert sum(found.values()) == people * draws * 2
    assert max(abs(found[float(x)] - expected) for x in range(5)) < 6 * deviation
    middle = Counter(kept(engine, who, [0.0, 1.0, 2.0, 3.0, 4.0] * people, 2, b""))
    assert abs(middle[0.0] * draws - expected) > 6 * deviation  # the same rows of everybody


@pytest.mark.parametrize("rows", [1, 2, 3, 7, 2**35])
@pytest.mark.parametrize("own", [1, 2, 3, 5, 10])
def test_a_person_has_as_many_rows_as_allowed_whatever_the_chance(own, rows):
    for part in (0, 1, CHANCES // 3, CHANCES - 1):
        frame = {"person": [1] * own, "x0": np.arange(own, dtype=float), "chance": part / CHANCES}
        assert len(keep_rows(nw.from_native(pd.DataFrame(frame)), ["x0"], rows)) == min(own, rows)


def test_a_new_key_gives_new_chances():
    assert len({chance("Doe", new_key()) for _ in range(50)}) > 40
    table = nw.from_native(pl.DataFrame({"who": range(1000)}))
    first, second = (with_chances(table, "who", new_key())["chance"] for _ in range(2))
    assert (first == second).sum() < 20
    assert first.n_unique() > 950
    assert 0 <= first.min() < first.max() < 1
