from typing import Any

import duckdb
import pytest

import inbounds as ib
from inbounds.errors import ArgumentError, ArgumentTypeError, RepeatedReleaseWarning
from inbounds.frames.local.column import PrivateColumn
from inbounds.frames.local.duckdb_frame import privatize_frame
from inbounds.frames.local.privatize import privatize

WHOLE = ib.BoundedGaussian.calibrated(ib.Box(0, 120, step=1), 120, epsilon=1.0)
FINE = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 120, epsilon=1.0)
INTEGERS = ["TINYINT", "SMALLINT", "INTEGER", "BIGINT"]
INTEGERS += [f"U{name}" for name in INTEGERS]
both = pytest.mark.parametrize("lazy", [False, True], ids=["kept", "lazy"])


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
    with pytest.raises(ArgumentError, match=r"^column 'age' must have no nulls") as caught:
        privatize(holes, {"age": WHOLE})
    assert "nulls=" in str(caught.value.hint)
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
    with pytest.raises(
        ArgumentError, match=r"^frame has no column 'Age'\.\nHint: did you mean age\?$"
    ):
        privatize(connection.sql("SELECT 17 AS age"), {"Age": WHOLE})


def test_relations_of_the_default_connection_are_released() -> None:
    after = privatize(duckdb.sql("SELECT 17 AS age"), {"age": WHOLE})
    assert 0 <= after.fetchall()[0][0] <= 120


def test_a_relation_that_hides_its_connection_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match=r"^frame must be a relation of DuckDB 2\.0"):
        privatize_frame(object(), [])


def test_a_lazy_result_is_computed_whenever_it_is_fetched_and_any_other_once(
    connection: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    release = PrivateColumn.release
    monkeypatch.setattr(
        PrivateColumn, "release", lambda self, *given: calls.append(1) or release(self, *given)
    )
    frame = connection.sql("SELECT 17 AS age")
    with pytest.warns(RepeatedReleaseWarning, match="another release"):
        relation = privatize(frame, {"age": WHOLE}, lazy=True).filter("age >= 0")
    assert relation.columns == ["age"]
    assert calls == []
    relation.fetchall()
    relation.fetchall()
    assert calls == [1, 1]
    kept = privatize(frame, {"age": WHOLE}).filter("age >= 0")
    kept.fetchall()
    kept.fetchall()
    assert calls == [1, 1, 1]


def registered(connection: Any) -> int:
    query = "SELECT count(*) FROM duckdb_functions() WHERE starts_with(function_name, 'inbounds_')"
    count: int = connection.sql(query).fetchall()[0][0]
    return count


@pytest.mark.parametrize("shuffle", [False, True])
def test_nothing_is_left_on_the_connection(connection: Any, shuffle: bool) -> None:
    tables = connection.sql("SELECT count(*) FROM duckdb_tables()").fetchall()
    kept = privatize(connection.sql("SELECT 17 AS age"), {"age": WHOLE}, shuffle=shuffle)
    with pytest.raises(ArgumentError, match="no nulls"):
        privatize(connection.sql("SELECT NULL::INT AS age"), {"age": WHOLE}, shuffle=shuffle)
    assert registered(connection) == 0
    assert connection.sql("SELECT count(*) FROM duckdb_tables()").fetchall() == tables
    assert kept.fetchall() == kept.fetchall()


def test_outputs_outlive_the_rows_the_transaction_and_the_given_names(connection: Any) -> None:
    connection.execute("CREATE TABLE t AS SELECT range AS i, 41.0::DOUBLE AS age FROM range(50)")
    connection.begin()
    connection.execute("INSERT INTO t VALUES (-1, 7.0)")
    kept = privatize(connection.table("t"), {"age": FINE})
    connection.rollback()
    first = kept.fetchall()
    assert len(first) == 51
    connection.execute("DROP TABLE t")
    assert kept.fetchall() == first
    older = kept.filter("i >= 10").order("i")
    del kept
    assert older.fetchall() == sorted(row for row in first if row[0] >= 10)


def test_a_read_only_database_is_read_once(tmp_path: Any) -> None:
    path = str(tmp_path / "people.db")
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE t AS SELECT 41.0::DOUBLE AS age FROM range(50)")
    with duckdb.connect(path, read_only=True) as connection:
        kept = privatize(connection.table("t"), {"age": FINE})
        assert kept.fetchall() == kept.fetchall()


def test_a_failure_inside_a_transaction_is_told_in_our_words(connection: Any) -> None:
    connection.begin()
    with pytest.raises(ArgumentError, match=r"^column 'age' must have no nulls"):
        privatize(connection.sql("SELECT NULL::INT AS age"), {"age": WHOLE})
    connection.rollback()
    assert len(privatize(connection.sql("SELECT 17 AS age"), {"age": WHOLE}).fetchall()) == 1


def test_columns_of_any_type_keep_their_type(connection: Any) -> None:
    others = """1::HUGEINT AS h, 'a'::ENUM('b', 'a') AS e, [1, NULL] AS l, {'a': 1} AS s,
        MAP {'k': 1} AS m, INTERVAL 3 DAYS AS iv, '101'::BIT AS b, 1.5::DECIMAL(20, 3) AS d,
        'x'::BLOB AS bl, [1, 2]::INT[2] AS arr, union_value(num := 1) AS un, TIME '10:00' AS t"""
    before = connection.sql(f"SELECT 41 AS age, {others}")
    after = privatize(before, {"age": WHOLE})
    assert after.columns == before.columns
    assert after.types == before.types
    assert after.fetchall()[0][1:] == before.fetchall()[0][1:]


ODD_CELLS = """i AS n,
    CASE i % 4 WHEN 0 THEN 'infinity'::DATE WHEN 1 THEN NULL ELSE DATE '0001-01-01' END AS day,
    CASE i % 3 WHEN 0 THEN '-infinity'::TIMESTAMP WHEN 1 THEN NULL
        ELSE TIMESTAMP '1500-01-01 00:00:00.123456' END AS time,
    CASE i % 4 WHEN 0 THEN 'nan'::DOUBLE WHEN 1 THEN -0.0::DOUBLE WHEN 2 THEN NULL
        ELSE '-inf'::DOUBLE END AS x, i::FLOAT / 3 AS single, i % 3 = 0 AS flag,
    CASE i % 4 WHEN 0 THEN '' WHEN 1 THEN chr(0) || 'é' WHEN 2 THEN NULL
        ELSE repeat('long', 9) END AS town"""


@pytest.mark.parametrize("setting", ["threads=2", "produce_arrow_string_view=true"])
@pytest.mark.parametrize("other", ["1::INTEGER", "1::HUGEINT"], ids=["arrow", "functions"])
def test_other_cells_and_the_order_of_rows_are_unchanged(
    connection: Any, setting: str, other: str
) -> None:
    """Plain types pass through Arrow, in more than one batch; others pass by our functions."""
    connection.execute(f"SET {setting}")
    rows = 600_000
    before = connection.sql(f"SELECT 41 AS age, {ODD_CELLS}, {other} AS o FROM range({rows}) r(i)")
    after = privatize(before, {"age": WHOLE})
    assert (after.columns, after.types) == (before.columns, before.types)
    hashed = "n, hash(n, day, time, x, single, flag, town, o) AS h"
    true, found = (relation.project(hashed).fetchnumpy() for relation in (before, after))
    assert (found["n"] == range(rows)).all()
    assert (found["h"] == true["h"]).all()
    ages = after.project("age").fetchnumpy()["age"]
    assert 60 < len(set(ages.tolist())) <= 121


@pytest.mark.parametrize("other", ["1::INTEGER", "1::HUGEINT"], ids=["arrow", "functions"])
def test_shuffled_rows_stay_whole(connection: Any, other: str) -> None:
    frame = connection.sql(f"SELECT i AS age, 2 * i AS n, {other} AS o FROM range(3000) r(i)")
    found = privatize(frame, {"age": WHOLE}, shuffle=True).project("n, o").fetchall()
    assert found != sorted(found)
    assert sorted(found) == [(2 * i, 1) for i in range(3000)]


@pytest.mark.filterwarnings("ignore::inbounds.RepeatedReleaseWarning")
@both
def test_a_filter_sees_private_values_only(connection: Any, lazy: bool) -> None:
    """All true values are 0: a filter that saw them would keep nothing."""
    frame = connection.sql("SELECT 0.0::DOUBLE AS age FROM range(5000)")
    relation = privatize(frame, {"age": FINE}, lazy=lazy)
    kept = [age for (age,) in relation.filter("age > 60").fetchall()]
    assert 500 < len(kept) < 4500
    assert min(kept) > 60


@pytest.mark.filterwarnings("ignore::inbounds.RepeatedReleaseWarning")
@both
def test_a_column_used_twice_is_released_once(connection: Any, lazy: bool) -> None:
    frame = connection.sql("SELECT 41 AS age FROM range(3000)")
    relation = privatize(frame, {"age": FINE}, lazy=lazy)
    rows = relation.project("age, age AS again").fetchall()
    assert all(age == again for age, again in rows)


@pytest.mark.filterwarnings("ignore::inbounds.RepeatedReleaseWarning")
def test_a_lazy_relation_that_is_materialized_is_one_release(connection: Any) -> None:
    """False alarm below 1e-6: two outputs are equal with a probability of about 2⁻²³."""
    frame = connection.sql("SELECT 41 AS age FROM range(5)")
    relation = privatize(frame, {"age": FINE}, lazy=True)
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
        with pytest.raises(ArgumentError, match="'age' must be finite") as caught:
            privatize(relation, {"age": FINE}, nulls=nulls)  # type: ignore[arg-type]
        assert "123456" not in str(caught.value)
        assert caught.value.__cause__ is caught.value.__context__ is None


@pytest.mark.filterwarnings("ignore::inbounds.RepeatedReleaseWarning")
def test_an_error_of_a_lazy_result_shows_no_value(connection: Any) -> None:
    relation = connection.sql("SELECT * FROM (VALUES (123456.789::DOUBLE), ('nan')) t(age)")
    refused = privatize(relation, {"age": FINE}, lazy=True)
    with pytest.raises(duckdb.InvalidInputException, match="'age' must be finite") as caught:
        refused.fetchall()
    assert "123456" not in str(caught.value)


def test_a_query_that_fails_is_named_without_its_message(connection: Any) -> None:
    relation = connection.sql("SELECT '12345x'::VARCHAR::INT AS age FROM range(3)")
    with pytest.raises(ArgumentError, match=r"its engine raised ConversionException\.") as caught:
        privatize(relation, {"age": WHOLE})
    assert "12345" not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None
