"""How fast `inbounds privatize` takes a Parquet file to another, and in how much memory.

Aims: 0.6 of the speed of a pipeline that copies every batch, and a resident set below 1 GiB,
whatever the number of rows.

Run: python -m benchmarks privatize, with INBOUNDS_BENCH_ROWS=1e8 in the environment for the size
that the aim of memory speaks of; the default is 1e7.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rich.table import Table

import inbounds as ib
from benchmarks.timing import Timing, code, judged, new_table, race
from inbounds.frames.local import file
from inbounds.frames.local.arrow_frame import released_batch, released_schema
from inbounds.frames.local.column import PrivateColumn, locate

AIM = 0.6
MEMORY_AIM = 1 << 30

_ROWS = int(float(os.environ.get("INBOUNDS_BENCH_ROWS", "1e7")))
_RACED = min(_ROWS, 3 * 10**6)  # rows of the pipelines that are run several times
_SECONDS = 12.0
_SCHEMA = pa.schema({"pay": pa.float64(), "age": pa.int64()})
_BATCH = 1 << 20
_PAY = ib.BoundedGaussian.calibrated(ib.Box(0, 2e5), 2e5, epsilon=0.5)
_AGE = ib.BoundedGaussian.calibrated(ib.Box(0, 120, step=1), 120, epsilon=0.5)
_OPTIONS = [
    "--column",
    "pay=0:200000",
    "--column",
    "age=0:120:1",
    "--epsilon",
    "1",
    "--progress",
    "--force",
]

# In a process of its own. Linux counts what getrusage tells from what the parent holds on.
_COMMAND = """
import json, os, re, resource, sys
from inbounds.cli import main
code = main(sys.argv[1:])
if os.path.exists("/proc/self/status"):
    peak = int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) << 10
else:
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
print(json.dumps([code, peak]))
"""


def run() -> Iterator[Table]:
    with TemporaryDirectory(dir=os.environ.get("INBOUNDS_BENCH_FOLDER")) as folder:
        source, target = Path(folder, "in.parquet"), Path(folder, "out.parquet")
        _write_input(source, _RACED)
        with code(compiled=True):
            yield _pipelines(source, target)
        if _ROWS != _RACED:
            _write_input(source, _ROWS)
        yield _command(source, target)


def _write_input(path: Path, rows: int) -> None:
    """Write numbers like outputs, so that a copy of them takes as long to write as outputs do."""
    rng = np.random.default_rng(0)
    with pq.ParquetWriter(path, _SCHEMA) as writer:
        for start in range(0, rows, _BATCH):
            size = min(_BATCH, rows - start)
            pays, ages = rng.uniform(0, 2e5, size), rng.integers(0, 121, size)
            arrays = [_PAY.release(pays), _AGE.release(ages)]
            writer.write_batch(pa.record_batch(arrays, schema=_SCHEMA))


def _pipelines(source: Path, target: Path) -> Table:
    table = new_table(
        f"{_RACED:,} rows from Parquet to Parquet, a column of doubles and one of integers",
        "Million rows a second, and as a multiple of a pipeline that copies batches (aim "
        f"{AIM:g}): with pyarrow's default settings, and plain, without a dictionary of doubles, "
        "which is how privatize writes answers. Noise + clip is numpy's normal on both columns, "
        "clipped, in one thread: neither exact nor of pure epsilon.",
        *("pipeline", "speed", "× copy", "× plain copy"),
    )
    jobs = [PrivateColumn("pay", _PAY, "error"), PrivateColumn("age", _AGE, "error")]
    for job in jobs:
        job.release(np.zeros(1 << 12))  # loads the compiled code
    steps: dict[str, tuple[Callable[[Any], Any], bool]] = {
        "copy": (lambda batch: batch, False),
        "plain copy": (lambda batch: batch, True),
        "privatize pay": (_change(jobs[:1]), True),
        "privatize both": (_change(jobs), True),
        "noise + clip": (_noisy, True),
    }
    timings = dict(
        zip(
            steps,
            race(*(_runner(source, target, *step) for step in steps.values()), seconds=_SECONDS),
            strict=True,
        )
    )
    for name, timing in timings.items():
        _add(table, name, timing, timings)
    return table


def _change(jobs: list[PrivateColumn]) -> Callable[[Any], Any]:
    """Return what the command does with a batch, which was built anew when it was read."""
    places = locate(jobs, _SCHEMA.names)
    schema = released_schema(_SCHEMA, places)
    return lambda batch: released_batch(batch, places, schema)


def _runner(
    source: Path, target: Path, step: Callable[[Any], Any], plain: bool
) -> Callable[[], None]:
    def run_once() -> None:
        released = ["pay"] if plain else []
        with (
            file.opened(source, "parquet") as opened,
            target.open("wb") as out,
            file.writing(out, "parquet", _SCHEMA, released) as write,
        ):
            for _ in file.write_changed(opened.batches, step, write):
                pass

    return run_once


def _noisy(batch: Any) -> Any:
    rng = np.random.default_rng()
    pay = rng.normal(batch["pay"].to_numpy(), float(_PAY.sigma))
    age = np.rint(rng.normal(batch["age"].to_numpy(), float(_AGE.sigma)))
    arrays = [np.clip(pay, 0, 2e5), np.clip(age, 0, 120).astype(np.int64)]
    return pa.record_batch(arrays, schema=_SCHEMA)


def _add(table: Table, name: str, timing: Timing, timings: dict[str, Timing]) -> None:
    ratios = [timings[copy].over(timing) for copy in ("copy", "plain copy")]
    ours = name.startswith("privatize")
    cells = [judged(f"{x:.2f}", x >= AIM) if ours else f"{float(x):.2f}" for x in ratios]
    table.add_row(name, f"{_RACED / timing.seconds / 1e6:.3g} M/s", *cells)


def _command(source: Path, target: Path) -> Table:
    started = perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", _COMMAND, "privatize", str(source), str(target), *_OPTIONS],
        stdout=subprocess.PIPE,
        check=True,
    )
    seconds = perf_counter() - started
    code, memory = json.loads(done.stdout)
    found = pq.read_metadata(target).num_rows
    table = new_table(
        f"inbounds privatize, {_ROWS:,} rows, all of the command",
        f"Aim: less than {MEMORY_AIM >> 20} MiB, whatever the number of rows.",
        *("rows written", "seconds", "speed", "largest resident set"),
    )
    rows = judged(f"{found:,}", code == 0 and found == _ROWS)
    size = judged(f"{memory / 2**20:.0f} MiB", memory < MEMORY_AIM)
    table.add_row(rows, f"{seconds:.1f}", f"{_ROWS / seconds / 1e6:.3g} M/s", size)
    return table
