"""By how much this process grows during a call, at most; on Linux only."""

import gc
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def growth_of(call: Callable[[], object]) -> int | None:
    """Return the bytes by which the process grew at most, without what the call returned."""
    if not _STATUS.exists():
        return None
    gc.collect()
    try:
        _RESET.write_text("5")  # the peak starts anew at what is held now
    except OSError:
        return None
    before = _kilobytes("VmRSS")
    result = call()
    return max(0, (_kilobytes("VmHWM") - before) * 1024 - _size(result))


def _kilobytes(name: str) -> int:
    found = re.search(rf"{name}:\s+(\d+) kB", _STATUS.read_text())
    assert found is not None
    return int(found[1])


def _size(result: Any) -> int:
    """Return the bytes of an array or of a frame of Polars."""
    if hasattr(result, "estimated_size"):
        return int(result.estimated_size())
    return int(getattr(result, "nbytes", 0))
