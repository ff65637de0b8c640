import contextlib
import json
import subprocess
import sys
import threading
import time
from typing import Any

import pytest

from inbounds.cli.explore import maps as module
from inbounds.cli.explore.guard import Refusal
from inbounds.cli.explore.maps import Maps
from inbounds.cli.explore.worker import Workers


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
    monkeypatch.setattr(module, "_MAPPER", child(script))
    workers = Workers()
    maps = Maps(workers)
    assert asked(maps, 1e-6) == {"delta": 1e-6}
    (first,) = workers._processes
    assert asked(maps, 1e-5) == {"delta": 1e-5}
    assert set(workers._processes) == {first}
    assert maps.ask(1e-6)["state"] == "done"
    for k in range(40):
        asked(maps, 0.01 + k / 100)
    assert len(maps._maps) == module._MOST_MAPS
    workers.close()


SLOW = "time.sleep(0.3); tell(done=1, of=2, map=None); time.sleep(0.3); tell(map=delta)"


def test_tabs_that_ask_for_different_maps_share_one_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each question about another delta used to end the process, so that no map came at all."""
    monkeypatch.setattr(module, "_MAPPER", child(SLOW))
    workers = Workers()
    maps = Maps(workers)
    got: dict[float, Any] = {}

    def tab(delta: float) -> None:
        try:
            got[delta] = asked(maps, delta)
        except BaseException as error:
            got[delta] = error

    tabs = [threading.Thread(target=tab, args=(delta,)) for delta in (0.1, 0.2, 0.3, 0.2)]
    for one in tabs:
        one.start()
    for one in tabs:
        one.join()
    assert got == {0.1: 0.1, 0.2: 0.2, 0.3: 0.3}
    assert len(workers._processes) == 1
    workers.close()


def test_a_map_that_nobody_asks_for_any_more_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        module, "_MAPPER", child("time.sleep(60 if delta < 0.1 else 0); tell(map=1)")
    )
    monkeypatch.setattr(module, "_PATIENCE", 0.2)
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
    monkeypatch.setattr(module, "_MAPPER", child(f"{script}; sys.stdout.flush(); sys.exit()"))
    workers = Workers()
    maps = Maps(workers)
    with pytest.raises(Refusal, match="has ended") as caught:
        asked(maps, 0.5)
    assert caught.value.status == 500
    monkeypatch.setattr(module, "_MAPPER", child("tell(map=1)"))
    for _ in range(100):
        with contextlib.suppress(Refusal):
            assert asked(maps, 0.5) == 1
            break
    workers.close()


def test_an_error_of_the_library_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAPPER", child("tell(error='delta is too small.')"))
    workers = Workers()
    with pytest.raises(Refusal, match="delta is too small"):
        asked(Maps(workers), 1e-300)
    workers.close()


def test_the_real_process_tells_its_progress() -> None:
    done = subprocess.run(
        module._MAPPER, input=b"1e-6\n", capture_output=True, check=True, timeout=120
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["done"], row["of"]) for row in rows] == [
        (done, len(rows)) for done in range(1, len(rows) + 1)
    ]
    assert rows[-1]["map"]["delta"] == 1e-6
