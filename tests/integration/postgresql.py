"""A real PostgreSQL server, started for the tests that need one and thrown away after them."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
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


@contextmanager
def server() -> Iterator[str]:
    """Start a server that only listens on a socket in a new folder, and give its URL."""
    bin_ = binaries()
    # Short, because the path of a socket may have no more than about 100 characters.
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres")
        data = str(folder / "data")
        _run(folder, bin_ / "initdb", "-D", data, "-U", "tester", "-A", "trust", "-E", "UTF8")
        options = f"-k {folder} -c listen_addresses=''"
        log = str(folder / "log")
        _run(folder, bin_ / "pg_ctl", "-D", data, "-w", "-l", log, "-o", options, "start")
        try:
            yield f"postgresql+psycopg://tester@/postgres?host={folder}"
        finally:
            _run(folder, bin_ / "pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
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
