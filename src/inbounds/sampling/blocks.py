"""Work on many values: in blocks, in several threads, and by compiled code once that repays."""

import os
from collections import Counter, deque
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from importlib import import_module
from itertools import pairwise
from types import ModuleType
from typing import Any

from numpy.typing import NDArray

from inbounds.sampling.entropy import Entropy, SystemEntropy

MANY = 6
"""Values of a call from which compiled code is quicker, if it is loaded."""

_BLOCK = 1 << 14  # values in a block, whose random words stay in a core's cache
_PER_THREAD = 1 << 18  # values that justify one more thread
_CALL = 1 << 12  # values that plain code serves in the time that any call takes at least
_REPAYS = 1 << 26  # values that plain code serves in about the time in which loops are compiled

_served: Counter[Hashable] = Counter()  # values, for each kernel and variant
_inside: list[None] = []  # an entry for each thread that is in compiled code
_forked_while_compiling = False


def kernel_for(
    name: str, values: NDArray[Any], entropy: Entropy, *variant: Hashable, few: int = 0
) -> ModuleType | None:
    """Return a module of compiled loops if it repays to use it for `values`, or else None.

    Plain code gives the same bits in two or three times the time. It serves until it has taken
    about as long as compiling takes, so a process takes at most about twice the least time. The
    call that compiles takes a second or two. Loops are compiled for each `variant` and each kind of
    array by itself, so values are counted by these. Without numba, which the extra "fast" installs,
    plain code always serves.

    Equal seeds give equal outputs, compiled or not. Up to `few` values take their words in an order
    of their own in plain code, so they are compiled only if no seed can repeat their words.

    Examples
    --------
    >>> import numpy as np
    >>> from inbounds.sampling.entropy import SYSTEM
    >>> kernel_for("window_kernel", np.zeros(1000), SYSTEM) is None
    True
    """
    if _forked_while_compiling:
        return None
    seeded = not isinstance(entropy, SystemEntropy)
    if values.size < MANY or (values.size <= few and seeded):
        return None
    flags = values.flags
    key = name, values.dtype.str, flags.writeable, flags.c_contiguous, *variant
    _served[key] += values.size + _CALL
    return _kernel(name) if _served[key] >= _REPAYS else None


def in_blocks(
    size: int, entropy: Entropy, fill: Callable[[slice], None], block: int | None = None
) -> None:
    """Call `fill` with slices that cover 0..size, each of one block.

    Only the operating system's bits may be drawn in several threads: the bits of other sources
    depend on the order of the calls.

    Examples
    --------
    >>> from inbounds.sampling.entropy import SYSTEM
    >>> in_blocks(20_000, SYSTEM, print)
    slice(0, 16384, None)
    slice(16384, 20000, None)
    """
    block = _BLOCK if block is None else block

    def fill_part(ends: tuple[int, int]) -> None:
        for start in range(ends[0], ends[1], block):
            fill(slice(start, min(ends[1], start + block)))

    workers = size // _PER_THREAD if isinstance(entropy, SystemEntropy) else 1
    if workers <= 1 or (workers := min(cores(), workers)) == 1:
        fill_part((0, size))
        return
    cuts = [size * i // workers for i in range(workers + 1)]
    parts = deque(pairwise(cuts))  # from which each is taken once, whoever takes it

    def fill_parts() -> None:
        while True:
            try:
                part = parts.popleft()
            except IndexError:  # all are taken
                return
            fill_part(part)

    with ThreadPoolExecutor(workers - 1) as pool:
        others = list[Future[None]]()
        with suppress(RuntimeError):  # no thread can be started, or the interpreter is ending
            others.extend(pool.submit(fill_parts) for _ in range(workers - 1))
        fill_parts()
        for other in others:
            other.result()


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _kernel(name: str) -> ModuleType | None:
    """Load compiled code; None if numba is missing or broken, whatever it raises then."""
    with in_compiled_code:
        try:
            if import_module("numba").config.DISABLE_JIT:  # loops would run in Python for ever
                return None
            return import_module(f"inbounds.sampling.{name}")
        except Exception:  # a missing library, for example: plain code serves
            return None


class _InCompiledCode:
    """While this context lasts, a thread may hold the locks of numba or of an import.

    A child that is forked meanwhile would wait for them for ever, so it gets plain code.
    """

    __slots__ = ()

    def __enter__(self) -> None:
        _inside.append(None)

    def __exit__(self, *_: object) -> None:
        _inside.pop()


in_compiled_code = _InCompiledCode()


def _after_fork() -> None:
    global _forked_while_compiling  # noqa: PLW0603 - a fact about this process
    _forked_while_compiling = _forked_while_compiling or bool(_inside)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
