"""Attacks through an engine's own order and equality of keys: one row moves what others add.

An order of categories that other people's rows decide says which rows of everybody are used; a
collation merges groups and calls them by whichever row came first. What is compared here are the
exact sums handed to the mechanism, for two tables that differ in one person's rows.
"""

import io
from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.frames.central import person
from inbounds.frames.central.statistic import count, histogram, mean
from inbounds.frames.central.summarize import summarize

PEOPLE = 1000
TOWNS = ["Rom", "Ulm"]
Table = dict[str, list[Any]]


class Text(str):
    """Equal to nothing but itself, like all of these."""

    __slots__ = ()
    __eq__, __hash__ = object.__eq__, object.__hash__


class Text2(str):
    """Equal to everything."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash("Rom")


class Bytes(bytes):
    __slots__ = ()
    __eq__, __hash__ = object.__eq__, object.__hash__


class Whole(int):
    __slots__ = ()
    __eq__, __hash__ = object.__eq__, object.__hash__


class Day(date):
    __slots__ = ()
    __eq__, __hash__ = object.__eq__, object.__hash__


class Number(Decimal):
    __slots__ = ()
    __eq__, __hash__ = object.__eq__, object.__hash__


class Spy:
    """Looks like a ledger, and keeps the exact values that it is given."""

    def release(self, mechanism: Any, value: Any, *, dataset: str, label: str, unit: Any) -> Any:
        self.value = np.array(value)
        return mechanism.release(value)


def sums(frame: Any, statistic: Any, by: str | None = None, **options: Any) -> Any:
    """What is handed to the mechanism, in rows."""
    spy = Spy()
    groups = None if by is None else TOWNS
    summarize(frame, statistic, by, groups, rho=1.0, ledger=spy, dataset="d", **options)
    if "size" in options:
        return spy.value * options["size"]
    return spy.value * len(nw.from_native(frame).lazy().collect())


@pytest.fixture(autouse=True)
def everybody_has_the_same_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of a person are then chosen alike in every call."""
    monkeypatch.setattr(person, "new_key", lambda: b"")


def travellers(first: str) -> Table:
    """Everybody was in both towns, but for the first person, who was in one."""
    others = ["Ulm", "Rom"] * (PEOPLE - 1)
    return {"town": [first, *others], "who": [0, *np.repeat(range(1, PEOPLE), 2).tolist()]}


def factorized(table: Table, *, ordered: bool = False) -> pd.DataFrame:
    codes, categories = pd.factorize(np.array(table["town"], object))
    town = pd.Categorical.from_codes(codes, categories, ordered=ordered)
    return pd.DataFrame({"town": town, "who": table["who"]})


def encoded(table: Table) -> pa.Table:
    """Dictionaries of Arrow are in order of appearance."""
    return pa.table({**table, "town": pa.array(table["town"]).dictionary_encode()})


def from_parquet(table: Table) -> pa.Table:
    file = io.BytesIO()
    pq.write_table(pa.table(table), file)
    return pq.read_table(file, read_dictionary=["town"])


def enumerated(table: Table) -> pl.DataFrame:
    kind = pl.Enum(list(dict.fromkeys(table["town"])))
    return pl.DataFrame(table, schema_overrides={"town": kind})


def duckdb_enum(table: Table) -> Any:
    connection = duckdb.connect()
    listed = ", ".join(f"'{town}'" for town in dict.fromkeys(table["town"]))
    connection.execute(f"CREATE TYPE town AS ENUM ({listed})")
    connection.from_arrow(pa.table(table)).create("visits")
    return connection.sql("SELECT town::town AS town, who FROM visits")


ORDERED: dict[str, Callable[[Table], Any]] = {
    "pandas factorize": factorized,
    "pandas ordered": lambda table: factorized(table, ordered=True),
    "pandas from arrow": lambda table: encoded(table).to_pandas(),
    "pandas arrow": lambda table: encoded(table).to_pandas(types_mapper=pd.ArrowDtype),
    "arrow": encoded,
    "parquet": from_parquet,
    "polars enum": enumerated,
    "polars enum lazy": lambda table: enumerated(table).lazy(),
    "polars from arrow": lambda table: pl.from_arrow(encoded(table)),
    "duckdb enum": duckdb_enum,
    "duckdb from arrow": lambda table: duckdb.connect().from_arrow(encoded(table)),
}


def test_the_control_is_broken_engines_merge_and_order_by_what_came_first() -> None:
    firsts = [factorized(travellers(town)).sort_values("town")["town"].iloc[0] for town in TOWNS]
    assert firsts == TOWNS
    for towns in (TOWNS, TOWNS[::-1]):
        spellings = collated([towns[0], towns[0].lower()], "COLLATE NOCASE")
        ((name, many),) = spellings.aggregate("first(town), count(*)", "town").fetchall()
        assert (name, many) == (towns[0], 2)


@pytest.mark.parametrize("kind", ORDERED)
def test_one_person_does_not_decide_which_rows_of_others_are_used(kind: str) -> None:
    make = ORDERED[kind]
    options = {"by": "town", "id": "who", "size": PEOPLE}
    rom, ulm = (sums(make(travellers(town)), count(), **options) for town in TOWNS)
    assert np.round(rom).tolist() == [PEOPLE, 0]
    assert np.round(ulm).tolist() == [PEOPLE - 1, 1]


@pytest.mark.parametrize("kind", ORDERED)
def test_an_order_of_ids_decides_nothing(kind: str) -> None:
    """The same with roles changed: ids are categories in order of appearance."""
    make = ORDERED[kind]
    people = [f"p{i}" for i in range(20)]
    found = []
    for first in (0, 19):
        town = [people[first], *people, *people]
        values = [first, *range(20), *range(100, 120)]
        frame = make({"town": town, "who": values})
        asked = histogram("who", [0, 50, 200])
        found.append(np.round(sums(frame, asked, id="town", size=100)).tolist())
    assert found == [[20, 0], [20, 0]]


def collated(town: Sequence[str], collation: str = "", pragma: str = "") -> Any:
    connection = duckdb.connect()
    connection.execute(pragma)
    connection.execute(f"CREATE TABLE visits (town VARCHAR {collation}, x INTEGER)")
    rows = pa.table({"town": list(town), "x": list(range(len(town)))})
    connection.register("given", rows)
    connection.execute("INSERT INTO visits SELECT * FROM given")
    return connection.sql("SELECT * FROM visits")


SETTINGS = [
    ({"collation": "COLLATE NOCASE"}, "rom"),
    ({"collation": "COLLATE NOACCENT"}, "Róm"),
    ({"collation": "COLLATE NOCASE.NOACCENT"}, "RÓM"),
    ({"pragma": "SET default_collation = 'NOCASE'"}, "rOM"),
    ({}, "Rom "),
    ({}, "Rom\0"),
    ({}, "Ro\u0301m"),
]


@pytest.mark.parametrize(("setting", "other"), SETTINGS, ids=str)
def test_a_collation_merges_no_groups(setting: dict[str, str], other: str) -> None:
    towns = ["Rom"] * PEOPLE
    before = sums(collated([*towns, "Ulm"], **setting), count(), "town")
    after = sums(collated([other, *towns[1:], "Ulm"], **setting), count(), "town")
    assert np.round(before).tolist() == [PEOPLE, 1]
    assert np.round(after).tolist() == [PEOPLE - 1, 1]


@pytest.mark.parametrize(("setting", "other"), SETTINGS, ids=str)
def test_a_collation_merges_no_people(setting: dict[str, str], other: str) -> None:
    """Added rows of one person do not take the place of another's."""
    asked = {"id": "town", "adjacency": "add-remove", "size": 100}
    bins = histogram("x", [0, 1, 100])
    alone = sums(collated(["Rom"], **setting), bins, **asked)
    both = sums(collated(["Rom", other, other, other], **setting), bins, **asked)
    assert np.round(alone).tolist() == [1, 0]
    assert np.round(both).tolist() == [1, 1]


def test_a_name_that_differs_in_case_only_is_not_taken_for_another() -> None:
    """DuckDB reads the first of `who` and `WHO`, whichever is asked for."""
    frame = duckdb.sql("SELECT 1 AS who, range AS WHO FROM range(5)")
    for name in ("who", "WHO"):
        with pytest.raises(ArgumentError, match="more than case"):
            sums(frame, count(), id=name, size=5)


FLOATS = [0.0, -0.0, 1.0]


@pytest.mark.parametrize(
    "make",
    [
        lambda: pd.DataFrame({"who": FLOATS}),
        lambda: pd.DataFrame({"who": pd.array(FLOATS, "Float32")}),
        lambda: pl.DataFrame({"who": FLOATS}),
        lambda: pl.LazyFrame({"who": FLOATS}),
        lambda: pa.table({"who": FLOATS}),
        lambda: duckdb.sql("SELECT unnest([0.0, '-0.0'::DOUBLE, 1.0]) AS who"),
    ],
)
def test_a_person_is_not_split_by_the_sign_of_zero(make: Callable[[], Any]) -> None:
    assert round(sums(make(), count(), id="who", size=10)[0]) == 2


@pytest.mark.parametrize(
    "make",
    [
        lambda: pl.DataFrame({"who": [float("nan"), float("nan")]}),
        lambda: pa.table({"who": [float("nan"), float("nan")]}),
        lambda: duckdb.sql("SELECT 'nan'::DOUBLE AS who"),
    ],
)
def test_nobody_is_no_number(make: Callable[[], Any]) -> None:
    with pytest.raises(ArgumentError, match="column 'who' must be finite"):
        sums(make(), count(), id="who", size=10)


@pytest.mark.parametrize(
    "make",
    [
        lambda: pd.DataFrame({"who": pd.to_datetime(["2026-01-01"])}),
        lambda: pd.DataFrame({"who": [(1, 2), (1, 2)]}),
        lambda: pd.DataFrame({"who": ["secret"] * 200 + [7]}, dtype=object),
        lambda: pd.DataFrame({"who": pd.Categorical([1, "secret"])}),
        lambda: pd.DataFrame({"who": pd.Categorical([0.5])}),
        lambda: pl.DataFrame({"who": [["secret"]]}),
        lambda: pa.table({"who": pa.array([0.5]).dictionary_encode()}),
        *(
            lambda kind=kind: pa.table(
                {"who": pa.array([1], pa.int64()).cast(kind).dictionary_encode()}
            )
            for kind in (pa.timestamp("s"), pa.timestamp("ns", "Europe/Berlin"), pa.duration("s"))
        ),
        lambda: pa.table(
            {"who": pa.array([1], pa.int32()).cast(pa.time32("s")).dictionary_encode()}
        ),
        lambda: pa.table({"who": pa.array([1]).view(pa.date64()).dictionary_encode()}),
        lambda: pa.table({"who": pa.array([0.5]).dictionary_encode()}).to_pandas(
            types_mapper=pd.ArrowDtype
        ),
        lambda: pd.DataFrame({"who": pd.Series([Day(2026, 1, 1)], dtype=object)}),
        lambda: pd.DataFrame({"who": pd.Series([Number("0.5")], dtype=object)}),
        lambda: pd.DataFrame({"who": pd.Categorical([Number("0.5")])}),
        lambda: pd.DataFrame({"who": pd.Series([True, 1], dtype=object)}),
        lambda: duckdb.sql("SELECT TIMESTAMPTZ '2026-10-25 02:30:00+01' AS who"),
    ],
)
def test_what_has_no_exact_equality_is_nobody(make: Callable[[], Any]) -> None:
    with pytest.raises(ArgumentTypeError, match="column 'who' must hold") as failure:
        sums(make(), count(), id="who", size=10)
    assert "secret" not in str(failure.value)


@pytest.mark.parametrize("kind", [Text, Text2, Bytes, Whole], ids=lambda kind: kind.__name__)
def test_an_equality_that_values_bring_along_is_not_trusted(kind: Any) -> None:
    """Ids of one person that differ if they are asked, or of two people that claim to be one."""
    one, other = (b"7", b"8") if kind is Bytes else ("7", "8")
    column = pd.Series([kind(one), kind(one), kind(one), kind(other)], dtype=object)
    assert round(sums(pd.DataFrame({"who": column}), count(), id="who", size=10)[0]) == 2
    if kind in (Text, Bytes):  # pandas takes the others for one category
        column = pd.Series(pd.Categorical(column))
    assert round(sums(pd.DataFrame({"who": column}), count(), id="who", size=10)[0]) == 2


def test_a_group_is_not_found_by_an_equality_of_its_own() -> None:
    for first in (0, 1):
        towns = [Text2("Bern"), *["Rom"] * 5][:: -1 if first else 1]
        frame = pd.DataFrame({"town": pd.Series(towns, dtype=object)})
        assert np.round(sums(frame, count(), "town")).tolist() == [5, 0]


def test_strings_of_pandas_are_told_apart_behind_a_zero_byte() -> None:
    who = pd.Series(["a\0b", "a\0c", "a"] * 2, dtype=object)
    frame = pd.DataFrame({"who": who, "town": ["Rom", "Rom\0", "Rom "] * 2})
    assert round(sums(frame, count(), id="who", size=10)[0]) == 3
    assert np.round(sums(frame, count(), "town", id="who", size=10)).tolist() == [1, 0]


@pytest.mark.parametrize("number", [2**53 + 1, -(2**53) - 1, 2**62])
@pytest.mark.parametrize(
    "hold",
    [
        lambda n: pa.table({"x": pa.array([n, 3])}),
        lambda n: pd.DataFrame({"x": pd.array([n, 3], dtype=pd.ArrowDtype(pa.int64()))}),
        lambda n: pd.DataFrame({"x": pd.array([n, 3], dtype="Int64")}),
        lambda n: pl.DataFrame({"x": [n, 3]}),
    ],
    ids=["Arrow", "Arrow in pandas", "pandas", "Polars"],
)
def test_a_large_integer_is_moved_into_the_bounds_in_every_engine(hold: Any, number: int) -> None:
    result = nw.from_native(summarize(hold(number), [mean("x", 0, 10)], epsilon=1.0))
    assert 0 <= result["value"].to_list()[0] <= 10
