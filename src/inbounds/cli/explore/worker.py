"""What runs beside the server, in threads and processes, and how all of it ends with the server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from inbounds.cli.explore.budget import PLACE
from inbounds.cli.explore.guard import Refusal
from inbounds.errors import InBoundsError

T = TypeVar("T")
# -P: a module in the working folder must not stand in for one of Python's or ours
_PYTHON = (sys.executable, "-P", "-m")
COMMAND = (*_PYTHON, "inbounds")
"""The command line, as a process."""
READER = (*_PYTHON, "inbounds.cli.explore.reader")
"""The process that reads the names and types of columns."""
_MAPPER = (*_PYTHON, "inbounds.cli.explore.worker")
_MOST_MAPS = 32


class EndedError(RuntimeError):
    """The server ends, so nothing new is started."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A process that has ended: its exit code and what it printed."""

    code: int
    printed: str
    said: str


class Workers:
    """Threads, processes and temporary folders, which end together with the server.

    Examples
    --------
    >>> workers = Workers()
    >>> with workers.folder() as folder:
    ...     folder.is_dir()
    True
    >>> workers.close()
    True
    >>> folder.exists() or folder.parent.exists()
    False
    """

    def __init__(self) -> None:
        self._threads = set[threading.Thread]()
        self._processes = set[subprocess.Popen[bytes]]()
        self._root: Path | None = None
        self._is_closed = False

    async def compute(self, work: Callable[..., T], *arguments: Any) -> tuple[T, float]:
        """Return what a function returns, and its seconds of processor time, from a thread.

        The thread does not keep the process alive.
        """
        loop = asyncio.get_running_loop()
        result: asyncio.Future[tuple[T, float]] = loop.create_future()

        def settle(value: Any, error: BaseException | None) -> None:
            if result.done():  # whoever asked is gone
                return
            if error is None:
                result.set_result(value)
            else:
                result.set_exception(error)

        def run() -> None:
            start = time.thread_time()
            value: Any = None
            failure: BaseException | None = None
            try:
                value = work(*arguments), time.thread_time() - start
            except Exception as error:
                failure = error
            finally:
                self._threads.discard(thread)
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(settle, value, failure)

        thread = threading.Thread(target=run, daemon=True)
        self._threads.add(thread)
        thread.start()
        return await result

    async def run(
        self, words: Sequence[str], folder: Path, variables: Mapping[str, str] | None = None
    ) -> Finished:
        """Run a process without a shell until it ends, or is killed because nobody waits for it."""
        process = self.start(words, folder, variables)
        try:
            (printed, said), _ = await self.compute(process.communicate)
        finally:
            self.stop(process)
        return Finished(process.returncode, *(_text(part) for part in (printed, said)))

    def start(
        self,
        words: Sequence[str],
        folder: Path | None = None,
        variables: Mapping[str, str] | None = None,
        *,
        talks: bool = False,
    ) -> subprocess.Popen[bytes]:
        """Start a process that a Ctrl-C of the terminal does not reach.

        It gets no ledger from the environment, only what `variables` say.
        """
        if self._is_closed:
            raise EndedError
        inherited = {name: text for name, text in os.environ.items() if name != PLACE}
        process = subprocess.Popen(
            words,
            cwd=folder,
            env=inherited | {"PYTHONUTF8": "1"} | dict(variables or {}),
            stdin=subprocess.PIPE if talks else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if talks else subprocess.PIPE,
            start_new_session=True,
        )
        self._processes.add(process)
        return process

    def stop(self, process: subprocess.Popen[bytes]) -> None:
        """Kill a process, unless it has ended, and wait for its end."""
        process.kill()
        process.wait()
        if process.stdin is not None:
            process.stdin.close()
        self._processes.discard(process)

    @contextlib.contextmanager
    def folder(self) -> Iterator[Path]:
        """Make a folder that only this user can look into, and remove it with all it holds."""
        if self._is_closed:
            raise EndedError
        if self._root is None:
            self._root = Path(tempfile.mkdtemp(prefix="inbounds-explore-"))
        folder = Path(tempfile.mkdtemp(dir=self._root))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def kill(self) -> None:
        """Kill all processes, and let none be started; may be called by a signal's handler."""
        self._is_closed = True
        for process in tuple(self._processes):
            process.kill()

    def close(self) -> bool:
        """End all processes and remove all folders; return whether no thread still computes."""
        self.kill()
        for process in tuple(self._processes):
            self.stop(process)
        if self._root is not None:
            shutil.rmtree(self._root, ignore_errors=True)
        return not any(thread.is_alive() for thread in tuple(self._threads))


def _text(printed: bytes) -> str:
    return printed.decode("utf-8", "replace")


class Maps:
    """The regime maps of any delta, computed one at a time in a process of their own.

    Examples
    --------
    >>> workers = Workers()
    >>> Maps(workers).ask(1e-6)
    {'state': 'computing', 'done': 0, 'of': 1}
    >>> workers.close()
    True
    """

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._process: subprocess.Popen[bytes] | None = None
        self._delta: float | None = None  # the one that is computed
        self._progress: dict[str, int] = {}
        self._maps: dict[float, Any] = {}

    def ask(self, delta: float) -> dict[str, Any]:
        """Return the map of a delta, or how far it is; the newest question replaces all others."""
        if delta in self._maps:
            found = self._maps[delta]
            if isinstance(found, Refusal):
                del self._maps[delta]
                raise found
            return {"state": "done", "map": found}
        if delta != self._delta:
            self._begin(delta)
        return {"state": "computing", **self._progress}

    def _begin(self, delta: float) -> None:
        process = self._process
        if process is not None and (self._delta is not None or process.poll() is not None):
            self._workers.stop(process)  # it is busy with what nobody asks for any more
            process = None
        self._delta, self._progress = delta, {"done": 0, "of": 1}
        if process is None:
            process = self._process = self._workers.start(_MAPPER, talks=True)
            threading.Thread(target=self._read, args=(process,), daemon=True).start()
        assert process.stdin is not None
        process.stdin.write(f"{delta!r}\n".encode())
        process.stdin.flush()

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        """Take what the process writes, until it ends."""
        assert process.stdout is not None
        with process.stdout as lines, contextlib.suppress(ValueError, KeyError):
            for line in lines:
                row = json.loads(line)
                if process is self._process and row["delta"] == self._delta:
                    self._take(row)
        if process is self._process and self._delta is not None:
            self._finish(Refusal(500, "the process that computes the map has ended."))

    def _take(self, row: dict[str, Any]) -> None:
        if "error" in row:
            self._finish(Refusal(400, row["error"]))
        elif row["map"] is not None:
            self._finish(row["map"])
        else:
            self._progress = {"done": row["done"], "of": row["of"]}

    def _finish(self, found: Any) -> None:
        assert self._delta is not None
        while len(self._maps) >= _MOST_MAPS:
            self._maps.pop(next(iter(self._maps)))
        self._maps[self._delta] = found
        self._delta = None


def main() -> None:
    """Write how far the regime map of each delta in standard input is, and then the map."""
    from inbounds.cli.explore import regime_map  # noqa: PLC0415 - only this process needs it

    for line in sys.stdin:
        delta = float(line)
        try:
            for row in regime_map.regime_rows(delta):
                _write({"delta": delta} | {key: row[key] for key in ("done", "of", "map")})
        except InBoundsError as error:
            _write({"delta": delta, "error": " ".join(str(error).split())})


def _write(row: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(row) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
