"""The tables of a ledger, their rows, and triggers that refuse to change rows.

Version 2 has a column for the unit of a dataset, and version 3 has columns for what was asked with
a charge, and by whom. An older ledger is read as it is. The first charge, or the first opening that
states a unit, migrates it to the newest version in its own transaction. From then on, older
versions of inbounds, which know nothing of these columns, refuse the ledger. A migration leaves old
rows unchanged, because hashes cover them: a new column comes last and is NULL in old rows, and
entries that use it have a new kind of hash.

Only the owner of a table may migrate it. Others go on to charge an older ledger without a request.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from inbounds._extra import optional
from inbounds.accounting.chain import Charge, Opening, digest, tampered
from inbounds.errors import LedgerError

with optional():
    from sqlalchemy import (
        BigInteger,
        Column,
        Connection,
        Dialect,
        Executable,
        ForeignKey,
        Integer,
        MetaData,
        Select,
        Table,
        Text,
        bindparam,
        func,
        inspect,
        literal_column,
        select,
    )
    from sqlalchemy.exc import DBAPIError, ProgrammingError

VERSION = 3
UNITS, REQUESTS = 2, 3
"""The versions that first had a column for units, and columns for requests."""

_METADATA = MetaData()

VERSIONS = Table("ledger_schema_version", _METADATA, Column("version", Integer, primary_key=True))

DATASETS = Table(
    "ledger_datasets",
    _METADATA,
    Column("dataset", Text, primary_key=True),
    Column("epsilon", Text),
    Column("delta", Text),
    Column("rho", Text),
    Column("time", Text, nullable=False),
    Column("hash", Text, nullable=False),
    Column("unit", Text),
)

# Costs are long and repeat, so each is stored once, under its digest.
COSTS = Table(
    "ledger_costs",
    _METADATA,
    Column("digest", Text, primary_key=True),
    Column("text", Text, nullable=False),
)

CHARGES = Table(
    "ledger_charges",
    _METADATA,
    Column("dataset", Text, ForeignKey(DATASETS.c.dataset), primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("time", Text, nullable=False),
    Column("label", Text, nullable=False),
    Column("mechanism", Text, nullable=False),
    Column("cost", Text, ForeignKey(COSTS.c.digest), nullable=False),
    Column("count", BigInteger, nullable=False),
    Column("hash", Text, nullable=False),
    Column("asked", Text),
    Column("asked_by", Text),
)

# Statements are built once, because building one takes longer than running it. Those that every
# charge needs go straight to the driver, because SQLAlchemy takes ten times as long as SQLite does.
_OPENING: Select[Any] = (  # "*" works in every version; only the newest has all columns
    select(literal_column("*")).select_from(DATASETS).where(DATASETS.c.dataset == bindparam("name"))
)
_CHARGES: Select[Any] = (  # likewise; the columns are in the order of the table
    select(literal_column("*"))
    .select_from(CHARGES)
    .where(CHARGES.c.dataset == bindparam("name"), CHARGES.c.number >= bindparam("start"))
    .order_by(CHARGES.c.number)
)
_HASH = list(CHARGES.c.keys()).index("hash")  # its place in a row
_OPENING_HASH = list(DATASETS.c.keys()).index("hash")
_COST = select(COSTS.c.text).where(COSTS.c.digest == bindparam("key"))
_STORED = select(func.max(VERSIONS.c.version))
_NEW_CHARGE = CHARGES.insert()
_REFUSAL = "the ledger is append-only"


def stored_version(connection: Connection, *, sure: bool = False) -> int | None:
    """Return the version of the schema, or None if there is no ledger.

    With `sure`, the caller knows that there is a ledger, and this is not checked.
    """
    if not (sure or inspect(connection).has_table(VERSIONS.name)):
        return None
    ((version,),) = _run(connection, _STORED)
    return version  # type: ignore[no-any-return]


def install(connection: Connection) -> None:
    """Create tables and triggers, in the open transaction."""
    _METADATA.create_all(connection)
    sqlite = connection.dialect.name == "sqlite"
    for statement in _sqlite_triggers() if sqlite else _postgresql_triggers():
        connection.exec_driver_sql(statement)
    connection.execute(VERSIONS.insert().values(version=VERSION))


def remember(connection: Connection, version: int) -> None:
    """Keep the version of the schema with a connection, for `holds_requests`."""
    connection.info["inbounds_version"] = version


def holds_requests(connection: Connection) -> bool:
    """Tell whether the tables of a `Store` transaction have columns for requests."""
    version: int = connection.info["inbounds_version"]
    return version >= REQUESTS


def may_migrate(connection: Connection) -> bool:
    """Tell whether whoever is connected may add columns to the tables."""
    if connection.dialect.name == "sqlite":
        return True
    owners = "SELECT bool_and(pg_has_role(relowner, 'USAGE')) FROM pg_class WHERE oid IN "
    tables = ", ".join(f"'{table.name}'::regclass" for table in (DATASETS, CHARGES))
    return bool(connection.exec_driver_sql(f"{owners} ({tables})").scalar())


def migrate(connection: Connection, version: int) -> None:
    """Migrate an older version to the newest, in the open transaction, which locked the schema.

    Triggers stay with their tables.
    """
    columns = [(DATASETS, "unit")] if version < UNITS else []
    columns += [(CHARGES, name) for name in ("asked", "asked_by")]
    try:
        for table, column in columns:
            connection.exec_driver_sql(f"ALTER TABLE {table.name} ADD COLUMN {column} TEXT")
    except ProgrammingError as error:  # only the owner of a table may alter it
        raise LedgerError(
            "the ledger cannot be migrated to the schema that stores units and users: "
            f"{error.orig}.\n"
            "Hint: the owner of its tables must charge it, or open a dataset with a unit, once."
        ) from error
    connection.execute(VERSIONS.insert().values(version=VERSION))


def names(connection: Connection) -> list[str]:
    """Return the names of all datasets, sorted."""
    return sorted(connection.scalars(select(DATASETS.c.dataset)))


def opening(connection: Connection, dataset: str) -> tuple[Opening, str] | None:
    """Return the first entry of a dataset and its stored hash, or None if it is not open."""
    for row in _run(connection, _OPENING, name=dataset):
        return Opening(*row[:_OPENING_HASH], *row[_OPENING_HASH + 1 :]), row[_OPENING_HASH]
    return None


def add_opening(connection: Connection, entry: Opening) -> None:
    """Append the first entry of a dataset."""
    values = {name: getattr(entry, name) for name in Opening.__slots__}
    if entry.unit is None:
        del values["unit"]  # which version 1 has no column for
    connection.execute(DATASETS.insert(), values | {"hash": entry.hash})


def charges(connection: Connection, dataset: str, *, start: int) -> list[tuple[Charge, str]]:
    """Return the charges numbered `start` or more, in order, each with its stored hash."""
    rows = _run(connection, _CHARGES, name=dataset, start=start)
    return [(Charge(*row[:_HASH], *row[_HASH + 1 :]), row[_HASH]) for row in rows]


def add_charge(connection: Connection, entry: Charge, hash: str) -> None:
    """Append a charge whose cost is stored already, with its hash."""
    values = {name: getattr(entry, name) for name in Charge.__slots__} | {"hash": hash}
    if entry.asked_by is None:
        del values["asked"], values["asked_by"]  # which older versions have no columns for
        connection.execute(CHARGES.insert(), values)
    else:
        _run(connection, _NEW_CHARGE, **values)


def add_cost(connection: Connection, key: str, text: str) -> None:
    """Store the text of a cost if it is new."""
    if connection.scalar(_COST, {"key": key}) is not None:
        return
    if connection.dialect.name == "postgresql":  # another transaction may add the same cost
        from sqlalchemy.dialects.postgresql import insert  # noqa: PLC0415 - one dialect only

        connection.execute(insert(COSTS).values(digest=key, text=text).on_conflict_do_nothing())
    else:
        connection.execute(COSTS.insert(), {"digest": key, "text": text})


def costs(connection: Connection, dataset: str, wanted: Iterable[str]) -> dict[str, str]:
    """Return the texts of costs by digest, each checked against it."""
    texts: dict[str, str] = {}
    for key in wanted:
        text = connection.scalar(_COST, {"key": key})
        if text is None or digest(text) != key:
            raise tampered(dataset, "a cost was changed")
        texts[key] = text
    return texts


def _run(connection: Connection, statement: Executable, **parameters: Any) -> list[Any]:
    """Run a statement by the driver in the open transaction, and return its rows."""
    sql, order = _compiled(statement, connection.dialect)
    cursor, base = connection.connection.cursor(), connection.dialect.loaded_dbapi.Error
    try:
        cursor.execute(sql, parameters if order is None else [parameters[name] for name in order])
        return list(cursor.fetchall()) if cursor.description else []
    except base as error:
        # As SQLAlchemy does: an IntegrityError stays one, whatever the driver.
        raise DBAPIError.instance(None, None, error, base, dialect=connection.dialect) from error
    finally:
        cursor.close()


@lru_cache(maxsize=64)
def _compiled(statement: Executable, dialect: Dialect) -> tuple[str, list[str] | None]:
    """Return a statement as the driver reads it, and its parameters if they go by their places."""
    compiled: Any = statement.compile(dialect=dialect)  # type: ignore[attr-defined]
    return compiled.string, compiled.positiontup


def _sqlite_triggers() -> list[str]:
    refuse = f"BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END"
    statements = []
    for table in _METADATA.sorted_tables:
        for event in ("UPDATE", "DELETE"):
            name = f"{table.name}_{event.lower()}"
            statements.append(f"CREATE TRIGGER {name} BEFORE {event} ON {table.name} {refuse}")
        # REPLACE deletes rows without running triggers, so inserting over a row is refused too.
        same = " AND ".join(f"{key.name} = NEW.{key.name}" for key in table.primary_key)
        statements.append(
            f"CREATE TRIGGER {table.name}_insert BEFORE INSERT ON {table.name} "
            f"WHEN EXISTS (SELECT 1 FROM {table.name} WHERE {same}) {refuse}"
        )
    return statements


def _postgresql_triggers() -> list[str]:
    statements = [
        "CREATE FUNCTION ledger_refuse() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{_REFUSAL}'; END $$"
    ]
    for table in _METADATA.sorted_tables:
        statements += [
            f"CREATE TRIGGER {table.name}_rows BEFORE UPDATE OR DELETE ON {table.name} "
            "FOR EACH ROW EXECUTE FUNCTION ledger_refuse()",
            f"CREATE TRIGGER {table.name}_truncate BEFORE TRUNCATE ON {table.name} "
            "FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse()",
        ]
    return statements
