import asyncio
import contextlib
import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from inbounds.cli.explore import worker
from inbounds.cli.explore.guard import Refusal
from inbounds.cli.explore.worker import EndedError, Maps, Workers

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


def asked(maps: Maps, delta: float) -> Any:
    for _ in range(500):
        answer = maps.ask(delta)
        if answer["state"] == "done":
            return answer["map"]
        time.sleep(0.02)
    raise AssertionError(answer)


def child(script: str) -> tuple[str, ...]:
    return (sys.executable, "-c", "import sys, json, time\ndef tell(**row):\n"
            "    print(json.dumps({'delta': delta} | row), flush=True)\n"
            f"for line in sys.stdin:\n    delta = float(line)\n    {script}")  # fmt: skip


def test_maps_are_computed_by_one_process_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    script = "tell(done=1, of=2, map=None); tell(map={'delta': delta})"
    monkeypatch.setattr(worker, "_MAPPER", child(script))
    workers = Workers()
    maps = Maps(workers)
    assert asked(maps, 1e-6) == {"delta": 1e-6}
    (first,) = workers._processes
    assert asked(maps, 1e-5) == {"delta": 1e-5}
    assert set(workers._processes) == {first}
    assert maps.ask(1e-6)["state"] == "done"
    for k in range(40):
        asked(maps, 0.01 + k / 100)
    assert len(maps._maps) == worker._MOST_MAPS
    workers.close()


def test_the_newest_question_ends_an_older_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        worker, "_MAPPER", child("time.sleep(9 if delta < 0.1 else 0); tell(map=1)")
    )
    workers = Workers()
    maps = Maps(workers)
    assert maps.ask(0.01)["state"] == "computing"
    (first,) = workers._processes
    assert asked(maps, 0.5) == 1
    assert first.returncode == -9
    workers.close()


@pytest.mark.parametrize("script", ["sys.exit(1)", "print('no JSON', flush=True)", "print('{}')"])
def test_a_process_that_fails_is_told_and_tried_again(
    monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    monkeypatch.setattr(worker, "_MAPPER", child(f"{script}; sys.stdout.flush(); sys.exit()"))
    workers = Workers()
    maps = Maps(workers)
    with pytest.raises(Refusal, match="has ended") as caught:
        asked(maps, 0.5)
    assert caught.value.status == 500
    monkeypatch.setattr(worker, "_MAPPER", child("tell(map=1)"))
    for _ in range(100):
        with contextlib.suppress(Refusal):
            assert asked(maps, 0.5) == 1
            break
    workers.close()


def test_an_error_of_the_library_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_MAPPER", child("tell(error='delta is too small.')"))
    workers = Workers()
    with pytest.raises(Refusal, match="delta is too small"):
        asked(Maps(workers), 1e-300)
    workers.close()


def test_the_real_process_tells_its_progress() -> None:
    done = subprocess.run(
        worker._MAPPER, input=b"1e-6\n", capture_output=True, check=True, timeout=120
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["done"], row["of"]) for row in rows] == [
        (done, len(rows)) for done in range(1, len(rows) + 1)
    ]
    assert rows[-1]["map"]["delta"] == 1e-6
