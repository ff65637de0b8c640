import asyncio
import contextlib
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from inbounds.cli.explore.worker import EndedError, Workers

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


def test_a_function_computes_in_a_thread_and_its_time_is_told() -> None:
    async def ask() -> Any:
        return await Workers().compute(lambda x: (threading.current_thread(), sum(range(x))), 10**6)

    (thread, result), seconds = asyncio.run(ask())
    assert thread is not threading.main_thread()
    assert thread.daemon
    assert result == sum(range(10**6))
    assert 0 < seconds < 5


def test_an_error_in_a_thread_is_raised_where_it_is_waited_for() -> None:
    async def ask() -> None:
        await Workers().compute(int, "x")

    with pytest.raises(ValueError, match="invalid literal"):
        asyncio.run(ask())


def test_a_thread_that_nobody_waits_for_hurts_nobody() -> None:
    workers, go = Workers(), threading.Event()

    async def ask() -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.05):
                await workers.compute(go.wait)

    asyncio.run(ask())
    assert not workers.close()
    go.set()
    for _ in range(100):
        if workers.close():
            return
        time.sleep(0.02)
    raise AssertionError


def test_what_a_process_prints_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INBOUNDS_LEDGER", "other.db")
    script = "import os, sys; print(os.getcwd(), os.environ.get('INBOUNDS_LEDGER'), end='ε')\n"
    script += "sys.stderr.write('said'); sys.exit(3)"
    workers = Workers()
    for variables, place in ({}, None), ({"INBOUNDS_LEDGER": "own.db"}, "own.db"):
        done = asyncio.run(workers.run([sys.executable, "-c", script], tmp_path, variables))
        assert (done.code, done.printed, done.said) == (3, f"{tmp_path} {place}ε", "said")


def test_a_process_that_nobody_waits_for_is_killed(tmp_path: Path) -> None:
    workers = Workers()
    seen: list[subprocess.Popen[bytes]] = []

    async def ask() -> None:
        task = asyncio.create_task(workers.run(SLEEP, tmp_path))
        await asyncio.sleep(0.1)
        seen.extend(workers._processes)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    asyncio.run(ask())
    (process,) = seen
    assert process.returncode == -9
    assert not workers._processes


def test_nothing_is_started_after_the_end(tmp_path: Path) -> None:
    workers = Workers()
    process = workers.start(SLEEP, tmp_path)
    workers.kill()
    assert process.wait(5) == -9
    assert workers.close()
    with pytest.raises(EndedError):
        workers.start(SLEEP, tmp_path)
    with pytest.raises(EndedError), workers.folder():
        pass
    for pipe in (process.stdout, process.stderr):
        assert pipe is not None
        pipe.close()


def test_a_folder_is_for_this_user_and_is_removed_in_any_case() -> None:
    workers = Workers()
    with workers.folder() as folder:
        (folder / "people.csv").write_text("age\n41\n")
        assert folder.stat().st_mode & 0o777 == folder.parent.stat().st_mode & 0o777 == 0o700
    assert not folder.exists()
    with pytest.raises(ZeroDivisionError):
        fail_in(workers, seen := [])
    (folder,) = seen
    assert not folder.exists()
    with workers.folder() as folder:
        assert workers.close()  # as at the end of the server
        assert not folder.parent.exists()


def fail_in(workers: Workers, seen: list[Path]) -> None:
    with workers.folder() as folder:
        seen.append(folder)
        raise ZeroDivisionError


def test_a_thread_is_used_again_so_that_memory_does_not_grow() -> None:
    """A new thread for each question let the server grow by 0.7 MB each."""
    workers = Workers()

    async def ask() -> list[Any]:
        one_by_one = [(await workers.compute(threading.get_ident))[0] for _ in range(20)]
        barrier = threading.Barrier(5)
        await asyncio.gather(*(workers.compute(barrier.wait, 10) for _ in range(5)))
        with pytest.raises(ZeroDivisionError):
            await workers.compute(lambda: 1 / 0)
        return [*one_by_one, (await workers.compute(threading.get_ident))[0]]

    before = threading.active_count()
    used = asyncio.run(ask())
    assert len(set(used[:-1])) == 1
    assert workers.close()
    for _ in range(100):
        if threading.active_count() <= before + 2:
            return
        time.sleep(0.02)
    raise AssertionError


def test_a_folder_that_was_tidied_away_is_made_again() -> None:
    workers = Workers()
    with workers.folder() as folder:
        root = folder.parent
    root.rmdir()
    with workers.folder() as folder:
        assert folder.parent != root
        assert folder.parent.stat().st_mode & 0o777 == 0o700
    assert workers.close()
    assert not folder.parent.exists()


def test_a_folder_that_others_can_look_into_is_not_used() -> None:
    workers = Workers()
    with workers.folder() as folder:
        root = folder.parent
    root.chmod(0o755)  # as if somebody else had made it again
    with workers.folder() as folder:
        assert folder.parent != root
    workers.close()
    root.rmdir()
