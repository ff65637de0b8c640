"""One draw of every output, made inside an engine, with errors that show no values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from inbounds.errors import ArgumentError
from inbounds.frames.local.category import LocalColumn
from inbounds.frames.silence import quietly

Result = TypeVar("Result")

_ADVICE = "evaluate the frame by itself to see it."


def evaluated(work: Callable[[], Result]) -> Result:
    """Return ``work()``, which makes an engine evaluate a frame, and drop the engine's messages.

    Examples
    --------
    >>> evaluated(lambda: 41)
    41
    """
    return quietly(work, _ADVICE)


def drawn_once(work: Callable[[], Result], columns: Iterable[LocalColumn]) -> Result:
    """Return ``work()``, which makes an engine draw all outputs of `columns`.

    An engine wraps errors that our functions raise inside it, and adds what it knows about the
    rows. If one of the refusals of a column is the reason, that refusal is raised by itself.

    Examples
    --------
    >>> import inbounds as ib
    >>> from inbounds.frames.local.column import PrivateColumn
    >>> age = PrivateColumn("age", ib.ClampedLaplace(ib.Box(0, 1), 1, scale=1.0), "error")
    >>> def fail():
    ...     raise RuntimeError("in row 7: column 'age' must have no nulls.")
    >>> drawn_once(fail, [age])
    Traceback (most recent call last):
    inbounds.errors.ArgumentError: column 'age' must have no nulls.
    Hint: nulls="uniform" treats them as random numbers from the box, nulls="keep" publishes where
    they are.
    """

    def explained() -> Result:
        try:
            return work()
        except Exception as error:
            refusal = _reason(error, columns)
            if refusal is None:
                raise
        raise refusal

    return evaluated(explained)


def _reason(error: Exception, columns: Iterable[LocalColumn]) -> ArgumentError | None:
    text = str(error)
    refusals = (refusal for column in columns for refusal in column.refusals())
    return next((refusal for refusal in refusals if refusal.sentence in text), None)
