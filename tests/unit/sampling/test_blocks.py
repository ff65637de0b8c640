"""Large jobs are divided into blocks, and compiled once that repays."""

import os
import resource
import shutil
import subprocess
import sys
import threading
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from inbounds.sampling import blocks
from inbounds.sampling.blocks import in_blocks, kernel_for
from inbounds.sampling.entropy import SYSTEM, SeededEntropy


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 100])
def test_blocks_cover_all_values_once(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(blocks, "_PER_THREAD", 4)
    monkeypatch.setattr(blocks, "_BLOCK", 3)
    monkeypatch.setattr(blocks, "cores", lambda: 3)
    filled: list[slice] = []
    in_blocks(size, SYSTEM, filled.append)
    assert sorted(i for part in filled for i in range(part.start, part.stop)) == [*range(size)]
    assert all(part.stop - part.start <= 3 for part in filled)


def test_a_source_whose_bits_depend_on_the_order_is_used_in_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blocks, "_PER_THREAD", 4)
    monkeypatch.setattr(blocks, "_BLOCK", 30)
    filled: list[slice] = []
    in_blocks(100, SeededEntropy(0), filled.append)
    assert [part.start for part in filled] == [0, 30, 60, 90]


def test_there_is_a_core() -> None:
    assert blocks.cores() >= 1


def test_compiled_code_serves_large_calls_once_plain_code_has_taken_as_long_as_compiling(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blocks, "_served", Counter())
    monkeypatch.setattr(blocks, "_REPAYS", 2 * (blocks.MANY + blocks._CALL))
    values = np.zeros(blocks.MANY)
    assert kernel_for("window_kernel", values, SYSTEM) is None
    assert kernel_for("table_kernel", values, SYSTEM) is None
    kernel = kernel_for("window_kernel", values, SYSTEM)
    assert kernel is sys.modules["inbounds.sampling.window_kernel"]
    assert kernel_for("window_kernel", values[1:], SYSTEM) is None


def test_what_is_compiled_by_itself_is_counted_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "_served", Counter())
    monkeypatch.setattr(blocks, "_REPAYS", 2 * (blocks.MANY + blocks._CALL))
    values = np.zeros(blocks.MANY)
    for kind in (values, np.zeros(2 * blocks.MANY)[::2], np.frombuffer(bytes(8 * blocks.MANY))):
        assert kernel_for("window_kernel", kind, SYSTEM, "step") is None
        assert kernel_for("window_kernel", kind, SYSTEM, "no step") is None
    assert kernel_for("window_kernel", values, SYSTEM, "step") is not None


def test_few_values_are_compiled_only_if_no_seed_can_repeat_their_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blocks, "_REPAYS", 0)
    values = np.zeros(blocks.MANY)
    for few, seeded in ((blocks.MANY, False), (blocks.MANY - 1, True)):
        assert kernel_for("window_kernel", values, SYSTEM, few=few) is not None
        assert (
            kernel_for("window_kernel", values, SeededEntropy(1), few=few) is not None
        ) is seeded


WITHOUT_NUMBA = """
import sys
import threading
sys.modules["numba"] = None  # what an import of it finds
import numpy as np
import inbounds as ib
from inbounds.sampling import blocks

blocks._REPAYS = 0  # compiled code would repay from the first large call on
values = np.linspace(-0.1, 1.1, 2**20)
for box in (ib.Box(0, 1), ib.Box(0, 1, step=0.125)):
    for mechanism in (
        ib.BoundedGaussian(box, 1, 0.3),
        ib.BoundedLaplace(box, 1, 0.3),
        ib.ClampedGaussian(box, 1, 0.3),
        ib.ClampedLaplace(box, 1, 0.3),
        ib.ClampedStaircase(box, 1, 1.0),
        ib.Window(box, 1, 1.0),
        ib.Optimal(box, 0.25, 1.0),
    ):
        outputs = mechanism.release(values)
        assert 0 <= outputs.min() < 0.25 < 0.75 < outputs.max() <= 1, mechanism
        assert abs(outputs.mean() - 0.5) < 0.01, mechanism  # twenty standard deviations
        assert np.corrcoef(values, outputs)[0, 1] > 0.05, mechanism
response = ib.RandomizedResponse([False, True], epsilon=1.0)
kept = (response.release(values > 0.5) == (values > 0.5)).mean()
assert abs(kept - 1 + response.flip_probability) < 0.01
assert not [name for name in sys.modules if name.startswith(("numba.", "llvmlite"))]
"""


def test_every_mechanism_releases_a_million_values_where_numba_cannot_be_imported() -> None:
    """False alarm below 1e-80 each."""
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_NUMBA], capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stderr) == (0, "")


BROKEN = [
    "ImportError('Numba needs another NumPy')",
    "OSError('libllvmlite.so: no such file')",
    "AttributeError",
    "KeyError(1)",
]


@pytest.mark.parametrize("loaded", ["missing", *BROKEN])
def test_without_a_working_numba_plain_code_serves_always(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, loaded: str
) -> None:
    monkeypatch.setattr(blocks, "_served", Counter())
    monkeypatch.setattr(blocks, "_kernel", cache(blocks._kernel.__wrapped__))
    for name in ("window_kernel", "compiled"):
        monkeypatch.delitem(sys.modules, f"inbounds.sampling.{name}", raising=False)
    if loaded == "missing":
        monkeypatch.setitem(sys.modules, "numba", None)
    else:
        (tmp_path / "numba.py").write_text(f"raise {loaded}")
        monkeypatch.delitem(sys.modules, "numba", raising=False)
        monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(blocks, "_REPAYS", 0)
    many = np.zeros(blocks.MANY)
    assert kernel_for("window_kernel", many, SYSTEM) is None
    assert kernel_for("window_kernel", many, SYSTEM) is None


COMPILED = """
import numpy as np
import inbounds as ib
from inbounds.sampling import blocks
blocks._REPAYS = 0
mechanism = ib.Window(ib.Box(0, 1), 1, 1.0)
outputs = mechanism.release(np.full(1000, 0.5))
assert 0 <= outputs.min() < 0.25 < 0.75 < outputs.max() <= 1
"""


def run_compiled(cache: Path, script: str = COMPILED) -> None:
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"NUMBA_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("damage", ["empty", "cut", "changed"])
def test_compiled_code_that_cannot_be_read_is_compiled_again(
    suffix: str, damage: str, numba_cache: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(numba_cache, tmp_path / "cache")
    files = [*folder.rglob(f"*{suffix}")]
    assert files
    for file in files:
        content = file.read_bytes()
        kept = {"empty": b"", "cut": content[: len(content) // 2], "changed": content[::-1]}
        file.write_bytes(kept[damage])
    run_compiled(folder)


@pytest.fixture(scope="module")
def numba_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with compiled code of one kind."""
    folder = tmp_path_factory.mktemp("numba")
    run_compiled(folder)
    return folder


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="needs a limit of file sizes")
def test_compiled_code_is_used_if_it_cannot_be_written_to_a_full_disk(tmp_path: Path) -> None:
    full = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))
"""
    run_compiled(tmp_path, full + COMPILED)


FORKED = """
import os, threading, time
import numpy as np
import inbounds as ib
from inbounds.sampling import blocks
mechanism = ib.BoundedGaussian(ib.Box(0, 1), 1, 0.3)
blocks._REPAYS = 0
values = np.full(1000, 0.5)
thread = threading.Thread(target=mechanism.release, args=(values,))
thread.start()
while not blocks._inside:
    time.sleep(0.01)
time.sleep(float({wait}))
assert blocks._inside, "the thread is compiling"
child = os.fork()
if not child:
    mechanism.release(values)
    os._exit(0)
thread.join()
for _ in range(100):
    ended, status = os.waitpid(child, os.WNOHANG)
    if ended:
        break
    time.sleep(0.1)
else:
    os.kill(child, 9)
    raise SystemExit("the child hangs")
assert status == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("wait", [0.0, 0.3, 0.8])
def test_a_child_that_is_forked_while_a_thread_compiles_does_not_hang(
    wait: float, tmp_path: Path
) -> None:
    run_compiled(tmp_path, FORKED.format(wait=wait))


@pytest.mark.parametrize("allowed", [0, 1])
def test_values_are_served_once_where_no_further_thread_can_start(
    monkeypatch: pytest.MonkeyPatch, allowed: int
) -> None:
    """As under a limit of processes, or in an exit handler, where a charge was made already."""
    monkeypatch.setattr(blocks, "_PER_THREAD", 4)
    monkeypatch.setattr(blocks, "_BLOCK", 3)
    monkeypatch.setattr(blocks, "cores", lambda: 5)
    start, started = threading.Thread.start, []

    def refused(thread: threading.Thread) -> None:
        if len(started) >= allowed:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refused)
    filled: list[slice] = []
    in_blocks(100, SYSTEM, filled.append)
    assert sorted(i for part in filled for i in range(part.start, part.stop)) == [*range(100)]
    assert len(started) == allowed


@pytest.mark.parametrize("place", ["this", "other"])
def test_an_error_in_any_thread_is_raised(monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    monkeypatch.setattr(blocks, "_PER_THREAD", 4)
    monkeypatch.setattr(blocks, "_BLOCK", 3)
    monkeypatch.setattr(blocks, "cores", lambda: 2)
    here, both_have_begun = threading.get_ident(), threading.Barrier(2, timeout=10)

    def fill(part: slice) -> None:
        if part.start in (0, 4):  # the first of each thread's
            both_have_begun.wait()
        if (threading.get_ident() == here) == (place == "this"):
            raise IndexError("from the work itself")

    with pytest.raises(IndexError, match="from the work itself"):
        in_blocks(8, SYSTEM, fill)


def test_loops_are_not_run_in_python() -> None:
    """NUMBA_DISABLE_JIT=1, as in coverage: such a loop takes 200 times as long as NumPy."""
    code = (
        "import numpy as np\n"
        "from inbounds.sampling import blocks\n"
        "from inbounds.sampling.entropy import SYSTEM\n"
        "blocks._REPAYS = 0\n"
        "print(blocks.kernel_for('window_kernel', np.zeros(100), SYSTEM))\n"
    )
    for disabled, kernel in (("1", "None"), ("0", "<module")):
        given = {**os.environ, "NUMBA_DISABLE_JIT": disabled}
        done = subprocess.run(
            [sys.executable, "-c", code], env=given, capture_output=True, text=True, check=True
        )
        assert done.stdout.startswith(kernel)
