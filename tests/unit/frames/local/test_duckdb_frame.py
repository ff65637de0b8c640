from typing import Any

import duckdb
import pytest

import inbounds as ib
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.frames.local.column import PrivateColumn
from inbounds.frames.local.duckdb_frame import privatize_frame
from inbounds.frames.local.privatize import privatize

WHOLE = ib.BoundedGaussian.calibrated(ib.Box(0, 120, step=1), 120, epsilon=1.0)
FINE = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 120, epsilon=1.0)
INTEGERS = ["TINYINT", "SMALLINT", "INTEGER", "BIGINT"]
INTEGERS += [f"U{name}" for name in INTEGERS]


@pytest.fixture
def connection() -> Any:
    with duckdb.connect() as opened:
        yield opened


@pytest.mark.parametrize("kind", [*INTEGERS, "DOUBLE"])
def test_whole_outputs_keep_the_type_of_the_column(connection: Any, kind: str) -> None:
    before = connection.sql(f"SELECT 'Ulm' AS town, 41::{kind} AS age, 7 AS rank FROM range(9)")
    after = privatize(before, {"age": WHOLE})
    assert type(after) is type(before)
    assert after.columns == before.columns
    assert after.types == before.types
    rows = after.fetchall()
    assert len(rows) == 9
    assert all(town == "Ulm" and 0 <= age <= 120 and rank == 7 for town, age, rank in rows)


@pytest.mark.parametrize("kind", ["TINYINT", "UBIGINT", "FLOAT", "DOUBLE"])
def test_fine_outputs_are_doubles(connection: Any, kind: str) -> None:
    after = privatize(connection.sql(f"SELECT 41::{kind} AS age"), {"age": FINE})
    assert [str(kind) for kind in after.types] == ["DOUBLE"]
    assert 0 <= after.fetchall()[0][0] <= 120


def test_nulls_are_refused_kept_or_replaced(connection: Any) -> None:
    holes = connection.sql("SELECT * FROM (VALUES (17), (NULL), (41)) t(age)")
    refused = privatize(holes, {"age": WHOLE})
    with pytest.raises(duckdb.InvalidInputException, match="column 'age' must have no nulls"):
        refused.fetchall()
    kept = privatize(holes, {"age": WHOLE}, nulls="keep").fetchall()
    assert [age is None for (age,) in kept] == [False, True, False]
    replaced = privatize(holes, {"age": WHOLE}, nulls="uniform").fetchall()
    assert all(0 <= age <= 120 for (age,) in replaced)


@pytest.mark.parametrize(
    "value",
    ["'17'", "true", "17.5::DECIMAL(5,2)", "17::HUGEINT", "17::UHUGEINT", "DATE '2017-01-01'"],
)
def test_other_types_than_numbers_are_refused_by_name(connection: Any, value: str) -> None:
    with pytest.raises(ArgumentTypeError, match=r"^column 'age' must hold integers"):
        privatize(connection.sql(f"SELECT {value} AS age"), {"age": WHOLE})


def test_a_relation_without_rows_stays_empty(connection: Any) -> None:
    empty = connection.sql("SELECT 41::TINYINT AS age WHERE false")
    assert privatize(empty, {"age": WHOLE}).fetchall() == []


@pytest.mark.parametrize("name", ['a"b', "a b", "select", "ä", "'; DROP TABLE t; --"])
def test_names_that_need_quotes_are_quoted(connection: Any, name: str) -> None:
    quoted = name.replace('"', '""')
    relation = connection.sql(f'SELECT 1 AS town, 41 AS "{quoted}"')
    after = privatize(relation, {name: WHOLE})
    assert after.columns == ["town", name]
    assert 0 <= after.fetchall()[0][1] <= 120


def test_names_that_differ_only_in_case_are_refused(connection: Any) -> None:
    relation = connection.sql('SELECT 17 AS age, 41 AS "AGE", 3 AS town')
    for name in ("age", "AGE"):
        with pytest.raises(ArgumentError, match=rf"by more than case, got '{name}'"):
            privatize(relation, {name: WHOLE})


def test_a_name_of_the_wrong_case_is_refused(connection: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^frame has no column 'Age'\.$"):
        privatize(connection.sql("SELECT 17 AS age"), {"Age": WHOLE})


def test_relations_of_the_default_connection_are_released() -> None:
    after = privatize(duckdb.sql("SELECT 17 AS age"), {"age": WHOLE})
    assert 0 <= after.fetchall()[0][0] <= 120


def test_a_relation_that_hides_its_connection_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match=r"^frame must be a relation of DuckDB 2\.0"):
        privatize_frame(object(), [])


def test_nothing_is_computed_before_it_is_fetched(
    connection: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    release = PrivateColumn.release
    monkeypatch.setattr(
        PrivateColumn, "release", lambda self, *given: calls.append(1) or release(self, *given)
    )
    relation = privatize(connection.sql("SELECT 17 AS age"), {"age": WHOLE}).filter("age >= 0")
    assert relation.columns == ["age"]
    assert calls == []
    relation.fetchall()
    assert calls == [1]


def test_a_filter_sees_private_values_only(connection: Any) -> None:
    """All true values are 0: a filter that saw them would keep nothing."""
    relation = privatize(
        connection.sql("SELECT 0.0::DOUBLE AS age FROM range(5000)"), {"age": FINE}
    )
    kept = [age for (age,) in relation.filter("age > 60").fetchall()]
    assert 500 < len(kept) < 4500
    assert min(kept) > 60


def test_a_column_used_twice_is_released_once(connection: Any) -> None:
    relation = privatize(connection.sql("SELECT 41 AS age FROM range(3000)"), {"age": FINE})
    rows = relation.project("age, age AS again").fetchall()
    assert all(age == again for age, again in rows)


def test_a_materialized_relation_is_one_release(connection: Any) -> None:
    """False alarm below 1e-6: two outputs are equal with a probability of about 2⁻²³."""
    relation = privatize(connection.sql("SELECT 41 AS age FROM range(5)"), {"age": FINE})
    assert relation.fetchall() != relation.fetchall()
    kept = relation.materialize()
    assert kept.fetchall() == kept.fetchall()


def test_a_constant_of_the_query_gets_noise_for_every_row(connection: Any) -> None:
    """DuckDB stores this column as one value, and would repeat the output for it."""
    constant = connection.sql("SELECT 50.0::DOUBLE AS age FROM range(20000)")
    assert len(set(privatize(constant, {"age": FINE}).fetchall())) > 19_000


def test_dictionaries_of_a_file_get_noise_for_every_row(connection: Any, tmp_path: Any) -> None:
    """Two distinct values in 20,000 rows are stored as a dictionary."""
    path = str(tmp_path / "ages.parquet")
    connection.sql("SELECT (i % 2)::DOUBLE AS age FROM range(20000) t(i)").write_parquet(path)
    rows = privatize(connection.read_parquet(path), {"age": FINE}).fetchall()
    assert len(set(rows)) > 19_000


def test_an_error_while_running_shows_no_value(connection: Any) -> None:
    relation = connection.sql("SELECT * FROM (VALUES (123456.789::DOUBLE), ('nan')) t(age)")
    for nulls in ("error", "keep", "uniform"):
        refused = privatize(relation, {"age": FINE}, nulls=nulls)  # type: ignore[arg-type]
        with pytest.raises(duckdb.InvalidInputException, match="'age' must be finite") as caught:
            refused.fetchall()
        assert "123456" not in str(caught.value)
