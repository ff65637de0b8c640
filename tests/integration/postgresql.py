"""A real PostgreSQL server, started for the tests that need one and thrown away after them."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_MISSING = (
    "PostgreSQL's initdb and pg_ctl are not on PATH nor in /usr/lib/postgresql/*/bin. "
    "Install the server (Debian, Ubuntu: apt-get install postgresql; macOS: brew install "
    "postgresql), or run `make setup`."
)


def binaries() -> Path:
    """Return the folder that holds initdb and pg_ctl, the newest if there are several."""
    on_path = shutil.which("initdb")
    folders = [] if on_path is None else [Path(on_path).resolve().parent]
    installed = Path("/usr/lib/postgresql").glob("*/bin")
    folders += sorted(installed, key=lambda folder: float(folder.parent.name), reverse=True)
    for folder in folders:
        if all((folder / name).exists() for name in ("initdb", "pg_ctl")):
            return folder
    raise FileNotFoundError(_MISSING)


@dataclass(frozen=True)
class Server:
    """A running server, reached through a socket in its own folder only."""

    binaries: Path
    folder: Path

    @property
    def url(self) -> str:
        return f"postgresql+psycopg://tester@/postgres?host={self.folder}"

    def create(self) -> None:
        options = ("-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        _run(self.folder, self.binaries / "initdb", "-D", self._data, *options)

    def start(self) -> None:
        options = f"-k {self.folder} -c listen_addresses=''"
        self._control("-l", str(self.folder / "log"), "-o", options, "start")

    def crash(self) -> None:
        """Stop at once, without writing anything that is not on disk yet."""
        self._control("-m", "immediate", "stop")

    def _control(self, *options: str) -> None:
        _run(self.folder, self.binaries / "pg_ctl", "-D", self._data, "-w", *options)

    @property
    def _data(self) -> str:
        return str(self.folder / "data")


@contextmanager
def server() -> Iterator[Server]:
    """Start a server in a new folder, and throw both away in the end."""
    found = binaries()
    # Short, because the path of a socket may have no more than about 100 characters.
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))
    running = Server(found, folder)
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres")
        running.create()
        running.start()
        try:
            yield running
        finally:
            running.crash()
    finally:
        shutil.rmtree(folder)


def _run(folder: Path, *command: str | Path) -> None:
    """Run as somebody else if we are root, which the server refuses to be."""
    user = "postgres" if os.geteuid() == 0 else None
    # A file takes the output: a pipe would be held open by the server that stays.
    with (folder / "output").open("w+") as output:
        done = subprocess.run(
            command, stdout=output, stderr=output, user=user, group=user, cwd=folder, check=False
        )
        if done.returncode:
            output.seek(0)
            raise RuntimeError(f"{command[0]} failed: {output.read()}")
