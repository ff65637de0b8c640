"""Progress bars on standard error, for work that takes minutes; they need rich."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from inbounds import _check
from inbounds._extra import optional

_Item = TypeVar("_Item")


def tracked(items: Sequence[_Item], description: str, *, progress: bool) -> Iterable[_Item]:
    """Return the items; if `progress`, a bar shows how many were taken.

    Examples
    --------
    >>> list(tracked([1, 2], "Numbers", progress=False))
    [1, 2]
    """
    if not _check.yes_or_no(progress=progress):
        return items
    with optional():
        from rich.console import Console  # noqa: PLC0415 - optional
        from rich.progress import track  # noqa: PLC0415 - optional

    return track(items, description, console=Console(stderr=True))


@contextmanager
def bar(total: int, description: str, *, progress: bool) -> Iterator[Callable[[int], None]]:
    """Yield a function to call with the amount of work done; if `progress`, a bar shows it.

    Examples
    --------
    >>> with bar(100, "Audit", progress=False) as advance:
    ...     advance(100)
    """
    if not _check.yes_or_no(progress=progress):
        yield lambda _: None
        return
    with optional():
        from rich.console import Console  # noqa: PLC0415 - optional
        from rich.progress import Progress  # noqa: PLC0415 - optional

    with Progress(console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(description, total=total)
        yield lambda size: shown.advance(task, size)
