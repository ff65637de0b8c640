"""What runs beside the server, in threads and processes, and how all of it ends with the server."""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import shutil
import stat
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
from inbounds.cli.explore.child import FOLDER, PIPE

T = TypeVar("T")
# -P: a module in the working folder must not stand in for one of Python's or ours
PYTHON = (sys.executable, "-P", "-m", "inbounds.cli.explore.child")
"""What runs a module that ends with the server."""
COMMAND = (*PYTHON, "inbounds")
"""The command line, as a process."""
READER = (*PYTHON, "inbounds.cli.explore.reader")
"""The process that reads the names and types of columns."""
_MOST_IDLE = 2  # threads that are kept: each new one may take memory that is not given back


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
        self._busy = set[object]()
        self._idle = list[_Thread]()
        self._processes = set[subprocess.Popen[bytes]]()
        self._root: Path | None = None
        self._is_closed = False
        self._pipe = [*os.pipe()]  # its other end closes with this process, whatever ends that

    async def compute(self, work: Callable[..., T], *arguments: Any) -> tuple[T, float]:
        """Return what a function returns, and its seconds of processor time, from a thread.

        The thread does not keep the process alive, and is used again.
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
                self._busy.discard(run)
                self._kept(thread)
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(settle, value, failure)

        self._busy.add(run)
        thread = self._idle.pop() if self._idle else _Thread()
        thread.tasks.put(run)
        return await result

    def _kept(self, thread: _Thread) -> None:
        """Keep a thread for the next function, or let it end."""
        if len(self._idle) < _MOST_IDLE:
            self._idle.append(thread)
        else:
            thread.tasks.put(None)

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

        It gets no ledger from the environment, only what `variables` say, and what `child` needs to
        end with this process.
        """
        if self._is_closed:
            raise EndedError
        inherited = {name: text for name, text in os.environ.items() if name != PLACE}
        own = {"PYTHONUTF8": "1", PIPE: str(self._pipe[0]), FOLDER: str(folder or "")}
        process = subprocess.Popen(
            words,
            pass_fds=self._pipe[:1],
            cwd=folder,
            env=inherited | own | dict(variables or {}),
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
        if self._root is None or not _is_ours(self._root):  # something may tidy up
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
        if self._root is not None and _is_ours(self._root):
            shutil.rmtree(self._root, ignore_errors=True)
        while self._pipe:
            os.close(self._pipe.pop())
        return not self._busy


class _Thread:
    """A thread that runs one function after the other, and does not keep the process alive."""

    def __init__(self) -> None:
        self.tasks: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        threading.Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        while (task := self.tasks.get()) is not None:
            task()
            del task


def _is_ours(folder: Path) -> bool:
    """Tell whether a folder is still the one that was made: for this user, and nobody else."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    is_private = stat.S_IMODE(found.st_mode) & 0o077 == 0
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and is_private


def _text(printed: bytes) -> str:
    return printed.decode("utf-8", "replace")
