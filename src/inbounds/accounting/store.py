"""Storage of a ledger: durable transactions on a SQLite file or a PostgreSQL server.

A process keeps one connection to a file open between transactions, while the path names the same
file. Connections to a server are not kept. Every connection is closed by the process that opened
it, and by no other, at the latest when its store is deleted.
"""

from __future__ import annotations

import ctypes
import os
import sqlite3
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from inbounds._extra import optional
from inbounds.accounting import schema
from inbounds.accounting.chain import digest
from inbounds.errors import ArgumentError, ArgumentTypeError, LedgerError, MissingPackageError

with optional():
    from sqlalchemy import (
        URL,
        Connection,
        Engine,
        NullPool,
        QueuePool,
        create_engine,
        event,
        make_url,
    )
    from sqlalchemy.exc import ArgumentError as BadURLError
    from sqlalchemy.exc import DisconnectionError, SQLAlchemyError

_PATIENCE = 60.0  # seconds to wait for another process
_Key = tuple[bool, int]  # whether a file may be created, and the process that opens it


class Store:
    """A place for a ledger, named by a path or by the URL of a PostgreSQL database.

    Guarantees
    ----------
    When a `writing` transaction ends without an error its entries are on disk: SQLite with
    synchronous=EXTRA, PostgreSQL with synchronous_commit=on. Only one transaction at a time writes
    to a dataset, across all processes and machines.

    Examples
    --------
    >>> import tempfile
    >>> store = Store(Path(tempfile.mkdtemp()) / "budget.db")
    >>> with store.writing("survey", create=True) as connection:
    ...     schema.names(connection)
    []
    """

    def __init__(self, place: str | os.PathLike[str]) -> None:
        self.url = _read(place)
        self.path = Path(self.url.database or "") if self.url.drivername == "sqlite" else None
        self._engines: dict[_Key, Engine] = {}
        self._seen = False  # whether a ledger was found in this place
        weakref.finalize(self, _close, self._engines)

    @property
    def shown(self) -> str:
        """The place, without a password."""
        if self.path is not None:
            return str(self.path)
        public = {key: value for key, value in self.url.query.items() if "password" not in key}
        return self.url.set(query=public).render_as_string()

    @property
    def place(self) -> str:
        """The place in full, from which `Store` can be built again."""
        return self.url.render_as_string(hide_password=False) if self.path is None else self.shown

    def exists(self) -> bool:
        """Tell whether the place holds something that could be a ledger."""
        return self.path is None or self.path.exists()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a transaction that only reads and does not block others."""
        with self._transaction(writes=False, create=False) as connection:
            schema.remember(connection, self._check_version(connection, create=False))
            yield connection

    @contextmanager
    def writing(
        self, dataset: str, *, create: bool = False, newest: bool | None = False
    ) -> Iterator[Connection]:
        """Open a transaction with exclusive access to a dataset; it is on disk when this ends.

        With `newest`, an old ledger is migrated first (if it is None, where that is allowed), while
        no table is locked: whoever waits for the schema must not hold what a migration waits for.
        """
        with self._transaction(writes=True, create=create) as connection:
            if self.path is None:
                _lock(connection, "schema" if create else f"dataset {dataset}")
            version = self._check_version(connection, create=create)
            if version < schema.VERSION and newest is not False:
                version = self._migrated(connection, version, required=newest is True)
            schema.remember(connection, version)
            yield connection

    @contextmanager
    def _transaction(self, *, writes: bool, create: bool) -> Iterator[Connection]:
        if not (create or self.exists()):
            self.close()  # the open file is one that the path no longer names
            raise LedgerError(f"there is no ledger at {self.shown}, so every dataset is unknown.")
        try:
            with self._connection(create=create) as connection:
                connection.info["inbounds_writes"] = writes
                try:
                    with connection.begin():
                        yield connection
                except BaseException:
                    connection.invalidate()  # after any error the connection is not reused
                    raise
        except (SQLAlchemyError, sqlite3.Error, OSError) as error:
            reason = str(getattr(error, "orig", None) or error).strip()
            raise LedgerError(f"the ledger at {self.shown} failed: {reason}.") from error
        except MissingPackageError:
            raise
        except ModuleNotFoundError as error:
            raise LedgerError(
                f"the ledger at {self.shown} needs the driver {error.name!r}.\n"
                "Hint: write postgresql+psycopg:// for the driver of 'inbounds[ledger]'."
            ) from error

    @contextmanager
    def _connection(self, *, create: bool) -> Iterator[Connection]:
        key = create, os.getpid()
        with optional():  # creating an engine imports the driver
            engine = self._engine(create=create)
        try:
            with engine.connect() as connection:
                yield connection
        finally:
            if self._engines.get(key) is not engine:  # the store was closed in the meantime
                engine.pool.dispose()

    def close(self) -> None:
        """Close this process's connections; the next transaction opens a new one.

        A connection that another thread is using is closed when its transaction ends.
        """
        _close(self._engines)

    def _engine(self, *, create: bool) -> Engine:
        """Return this process's engine, the same for all threads even if they ask at once."""
        key = create, os.getpid()
        if (engine := self._engines.get(key)) is not None:
            return engine
        engine = (
            _server_engine(self.url)
            if self.path is None
            else _sqlite_engine(self.path, create=create)
        )
        return self._engines.setdefault(key, engine)

    def _check_version(self, connection: Connection, *, create: bool) -> int:
        version = schema.stored_version(connection, sure=self._seen and not create)
        self._seen = version is not None
        if version is None and create:
            schema.install(connection)
            return schema.VERSION
        if version is None:
            raise LedgerError(f"there is no ledger in {self.shown}, so every dataset is unknown.")
        if version > schema.VERSION:
            raise LedgerError(
                f"the ledger at {self.shown} has schema version {version}, but this version of "
                f"inbounds reads versions up to {schema.VERSION}.\nHint: use a newer inbounds."
            )
        return version

    def _migrated(self, connection: Connection, version: int, *, required: bool) -> int:
        """Migrate an old ledger, unless another process just did, and return its version."""
        if not (required or schema.may_migrate(connection)):
            return version
        if self.path is None:
            _lock(connection, "schema")
        version = self._check_version(connection, create=False)
        if version < schema.VERSION:
            schema.migrate(connection, version)
        return schema.VERSION


def _server_engine(url: URL) -> Engine:
    # READ COMMITTED, so that what another transaction wrote while we waited for a lock is seen.
    return create_engine(
        url, poolclass=NullPool, isolation_level="READ COMMITTED", hide_parameters=True
    )


class _File(sqlite3.Connection):
    """A connection that knows which file it opened; None if that is not certain."""

    identity: tuple[int, int] | None = None


def _sqlite_engine(path: Path, *, create: bool) -> Engine:
    def connect() -> _File:
        before = _identity(path)
        mode = "rwc" if create else "rw"  # a lost file must not be created again, empty
        connection = sqlite3.connect(
            f"{path.as_uri()}?mode={mode}",
            uri=True,
            timeout=_PATIENCE,
            isolation_level=None,
            check_same_thread=False,  # threads use it one at a time
            factory=_File,
        )
        try:
            # FULL does not sync the directory: a journal that reappears would undo a commit.
            connection.execute("PRAGMA synchronous=EXTRA")
            connection.execute("PRAGMA fullfsync=ON")
            connection.execute("PRAGMA foreign_keys=ON")
            connection.identity = before if before == _identity(path) else None
        except BaseException:  # for example, the file is locked, or it is not a database
            connection.close()
            raise
        return connection

    def check(connection: _File, *_: object) -> None:
        now = _identity(path)
        if now is None or connection.identity != now:
            raise DisconnectionError  # the path names another file now, which is opened instead

    start = partial(create_engine, "sqlite://", creator=connect, hide_parameters=True)
    if create:
        engine = start(poolclass=NullPool)
    else:
        engine = start(poolclass=QueuePool, pool_size=1, max_overflow=-1)
        event.listen(engine, "checkout", check)
    event.listen(engine, "begin", _begin)
    return engine


def _identity(path: Path) -> tuple[int, int] | None:
    """Return numbers that tell files of one name apart; an open file keeps them when deleted."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def _close(engines: dict[_Key, Engine]) -> None:
    """Close the engines that this process opened.

    SQLite forbids a forked process to close a connection that it inherits, and freeing the
    connection would close it. It gets one more reference that is never released, so that it
    outlives even the interpreter.
    """
    for key in list(engines):
        engine = engines.pop(key, None)
        if engine is None:
            continue  # another thread is closing it
        if key[1] == os.getpid():
            engine.pool.dispose()
        else:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(engine))


def _lock(connection: Connection, subject: str) -> None:
    """Wait for an advisory lock, which needs no UPDATE privilege, unlike a lock on a row."""
    key = int(digest("lock", subject)[:15], 16)
    connection.exec_driver_sql(
        "SET LOCAL synchronous_commit TO on; "
        f"SET LOCAL lock_timeout TO {round(1000 * _PATIENCE)}; "
        f"SELECT pg_advisory_xact_lock({key})"
    )


def _begin(connection: Connection) -> None:
    writes = connection.info.get("inbounds_writes", False)
    connection.connection.cursor().execute("BEGIN IMMEDIATE" if writes else "BEGIN")


def _read(place: object) -> URL:
    """Return the URL of a place, which is a path or a URL."""
    if not isinstance(place, str | os.PathLike):
        raise ArgumentTypeError.must_be("place", "a path or a URL", got=type(place).__name__)
    text = os.fspath(place)
    if "://" in text:
        try:
            url = make_url(text)
        except BadURLError:
            raise ArgumentError.must_be("place", "a path or a URL that can be read") from None
        if url.get_backend_name() == "postgresql":
            return url
        if url.get_backend_name() != "sqlite":
            raise ArgumentError.must_be("place", "a path, or the URL of a PostgreSQL database")
        text = url.database or ""
    if text in ("", ":memory:"):
        raise ArgumentError.must_be("place", "on disk, because a budget in memory is forgotten")
    return URL.create("sqlite", database=str(Path(text).absolute()))
