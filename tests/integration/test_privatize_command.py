"""`inbounds privatize` as a process: full disks, interrupts, memory."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

COMMAND = [sys.executable, "-m", "inbounds", "privatize"]
COLUMNS = ["--column", "pay=0:200000", "--column", "age=0:120:1", "--epsilon", "1"]
# the most that Arrow and the whole process ever held, in MiB; getrusage would count the parent's
_SCRIPT = """
import re, sys
from pathlib import Path
from inbounds.cli import main
code = main(sys.argv[1:])
import pyarrow
peak = int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
print(pyarrow.default_memory_pool().max_memory() >> 20, peak >> 10)
sys.exit(code)
"""


def write_people(path, rows):
    rng = np.random.default_rng(0)
    schema = pa.schema({"pay": pa.float64(), "age": pa.int64()})
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, 1 << 20):
            size = min(1 << 20, rows - start)
            arrays = [rng.uniform(0, 2e5, size), rng.integers(0, 121, size)]
            writer.write_batch(pa.record_batch(arrays, schema=schema))


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    path = tmp_path_factory.mktemp("private") / "people.parquet"
    write_people(path, 1 << 19)
    return path


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow"])
def test_a_disk_that_fills_up_is_told_and_leaves_nothing(people, tmp_path, kind):
    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

    done = subprocess.run(
        [*COMMAND, str(people), str(tmp_path / f"out.{kind}"), *COLUMNS],
        capture_output=True,
        preexec_fn=small_files,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith(b"Error: ")
    assert b"File too large" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_leaves_nothing(people, tmp_path):
    args = [*COMMAND, str(people), str(tmp_path / "out.csv"), *COLUMNS]
    with subprocess.Popen(args, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            parts = list(tmp_path.iterdir())
            if parts and parts[0].stat().st_size > 0:
                break
            time.sleep(0.005)
        assert [path.suffix for path in parts] == [".part"]
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in errors
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="needs Linux's account of memory"
)
def test_memory_does_not_grow_with_rows_and_every_row_is_answered(people, tmp_path):
    large, target = tmp_path / "large.parquet", tmp_path / "out.parquet"
    write_people(large, 4 << 20)
    held = []
    for source in (people, large):
        command = [sys.executable, "-c", _SCRIPT, "privatize", str(source), str(target), "--force"]
        done = subprocess.run([*command, *COLUMNS], capture_output=True, check=True)
        arrow, process = map(int, done.stdout.split())
        held.append(arrow)
        assert process < 700
    assert held[1] < held[0] + 32  # MiB: one more batch, and not the 50 that the file would add
    answers = pq.read_table(target)
    assert answers.num_rows == 4 << 20
    pay, age = answers["pay"].to_numpy(), answers["age"].to_numpy()
    assert 0 <= pay.min() <= pay.max() <= 2e5
    assert 0 <= age.min() <= age.max() <= 120
    facts = json.loads((tmp_path / "out.parquet.privacy.json").read_text())
    assert facts["rows"] == 4 << 20


def test_a_pipeline_passes_csv_on(tmp_path):
    lines = "".join(f"{i},{i % 120}\n" for i in range(50_000))
    done = subprocess.run(
        [*COMMAND, "-", "-", "--column", "age=0:120:1@1"],
        input=f"id,age\n{lines}".encode(),
        capture_output=True,
        check=True,
    )
    rows = [line.split(b",") for line in done.stdout.splitlines()]
    assert rows[0] == [b"id", b"age"]
    assert [int(row[0]) for row in rows[1:]] == list(range(50_000))
    assert done.stderr.startswith(b"Privacy: 50000 rows at epsilon=1 each")


def test_a_reader_that_leaves_ends_the_command_quietly(tmp_path):
    source = tmp_path / "in.csv"
    source.write_text("age\n" + "41\n" * 100_000)
    with subprocess.Popen(
        [*COMMAND, str(source), "-", "--column", "age=0:120:1@1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdout.read(4)
        process.stdout.close()
        errors = process.stderr.read()
        process.wait(60)
    assert process.returncode != 0
    assert b"Traceback" not in errors
    assert b"Exception ignored" not in errors
    assert b"Stopped early. Privacy: 100000 rows" in errors


def test_help_is_quick_and_names_what_epsilon_is_for():
    done = subprocess.run(
        [*COMMAND, "--help"], capture_output=True, check=True, env=os.environ | {"COLUMNS": "200"}
    )
    assert b"--epsilon is for a whole row" in done.stdout
