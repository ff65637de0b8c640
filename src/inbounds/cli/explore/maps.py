"""The regime maps of any delta, which a process of its own computes one after the other."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
import time
from typing import Any

from inbounds.cli.explore.guard import Refusal
from inbounds.cli.explore.worker import PYTHON, EndedError, Workers
from inbounds.errors import InBoundsError

_MAPPER = (*PYTHON, "inbounds.cli.explore.maps")
_MOST_MAPS = 32
_PATIENCE = 2.0  # seconds after which nobody waits who has not asked again
_BEGINNING = {"done": 0, "of": 1}


class Maps:
    """The maps that were computed, the one that is, and those that somebody waits for.

    Several tabs may ask at once. A map is given up only if nobody asks for it any more while
    somebody waits for another one.

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
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._delta: float | None = None  # the one that the process computes
        self._progress = _BEGINNING
        self._asked: dict[float, float] = {}  # when somebody last asked, in the order of asking
        self._maps: dict[float, Any] = {}

    def ask(self, delta: float) -> dict[str, Any]:
        """Return the map of a delta, or how far it is."""
        with self._lock:
            if delta in self._maps:
                found = self._maps[delta]
                if isinstance(found, Refusal):
                    del self._maps[delta]
                    raise found
                return {"state": "done", "map": found}
            self._asked[delta] = time.monotonic()
            self._go_on()
            progress = self._progress if delta == self._delta else _BEGINNING
            return {"state": "computing", **progress}

    def _go_on(self) -> None:
        """Begin the map that somebody has waited for longest, unless another is still wanted."""
        recent = time.monotonic() - _PATIENCE
        wanted = {delta: when for delta, when in self._asked.items() if when > recent}
        if self._delta is not None:
            if self._delta in wanted or not wanted:
                return
            self._stop()
        self._asked = wanted
        if wanted:
            self._begin(next(iter(wanted)))

    def _begin(self, delta: float) -> None:
        if self._process is not None and self._process.poll() is not None:
            self._stop()
        process = self._process
        if process is None:
            process = self._process = self._workers.start(_MAPPER, talks=True)
            threading.Thread(target=self._read, args=(process,), daemon=True).start()
        self._delta, self._progress = delta, _BEGINNING
        assert process.stdin is not None
        with contextlib.suppress(OSError):  # it has just ended, which its reader tells
            process.stdin.write(f"{delta!r}\n".encode())
            process.stdin.flush()

    def _stop(self) -> None:
        process, self._process, self._delta = self._process, None, None
        if process is not None:
            self._workers.stop(process)

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        """Take what a process writes, until it ends; from then on, it is not ours any more."""
        assert process.stdout is not None
        with process.stdout as lines, contextlib.suppress(ValueError, KeyError, TypeError):
            for line in lines:
                row = json.loads(line)
                with self._lock:
                    if process is self._process and row["delta"] == self._delta:
                        self._take(row)
        with self._lock:
            if process is not self._process:
                return
            delta = self._delta
            self._stop()
            if delta is not None:
                self._finish(delta, Refusal(500, "the process that computes the map has ended."))

    def _take(self, row: dict[str, Any]) -> None:
        assert self._delta is not None
        if "error" in row:
            self._finish(self._delta, Refusal(400, row["error"]))
        elif row["map"] is not None:
            self._finish(self._delta, row["map"])
        else:
            self._progress = {"done": row["done"], "of": row["of"]}

    def _finish(self, delta: float, found: Any) -> None:
        """Keep a map, and begin the next one."""
        while len(self._maps) >= _MOST_MAPS:
            self._maps.pop(next(iter(self._maps)))
        self._maps[delta] = found
        self._asked.pop(delta, None)
        self._delta = None
        with contextlib.suppress(EndedError):
            self._go_on()


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
