"""What a run was measured on: the machine, the packages, the commit, and how fast it was then."""

import os
import platform
import subprocess
from importlib.metadata import distributions
from pathlib import Path
from timeit import repeat
from typing import Any

_ROOT = Path(__file__).parents[1]
_LOOP = 10_000


def facts() -> dict[str, Any]:
    """Return what does not change during a run."""
    return {
        "machine": {
            "cpu": _cpu(),
            "cores": os.cpu_count(),
            "memory_bytes": _memory(),
            "system": platform.platform(),
        },
        "python": platform.python_version(),
        "packages": dict(sorted((each.name, each.version) for each in distributions())),
        "commit": _git("rev-parse", "HEAD"),
        "changed_files": len(_git("status", "--porcelain").splitlines()),
    }


def state() -> dict[str, float | None]:
    """Return what does: the load, and the least seconds of a fixed loop in plain Python."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {"load": load, "loop_seconds": min(repeat(fixed_loop, number=1, repeat=50))}


def cpu_seconds() -> float:
    """Return what this process and those that it has waited for have used of the processor."""
    return sum(os.times()[:4])


def fixed_loop() -> float:
    """A loop in plain Python, by which readers can scale the times of another machine."""
    total = 0.0
    for k in range(1, _LOOP):
        total += 1.0 / k
    return total


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError):
        return None


def _git(*words: str) -> str:
    """Return what git says, and nothing in a folder that it does not know."""
    try:
        done = subprocess.run(
            ["git", *words], cwd=_ROOT, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
