"""Running an engine without its error messages and logs, which may hold private values."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TypeVar

from inbounds.errors import ArgumentError, InBoundsError

Result = TypeVar("Result")

_ALONE = "evaluate the frame by itself."
_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")  # PySpark logs failures there


def quietly(
    work: Callable[[], Result],
    advice: str = "evaluate the frame by itself, and check that the groups fit their columns.",
) -> Result:
    """Return ``work()``, which calls an engine, and drop the engine's message if it fails.

    The error that takes its place ends with `advice`.

    Our error is raised outside the handler of the engine's error, because ``from None`` would keep
    that error as the context of ours.

    Examples
    --------
    >>> quietly(lambda: 1 / 0)
    Traceback (most recent call last):
    inbounds.errors.ArgumentError: frame could not be evaluated: its engine raised
    ZeroDivisionError.
    Hint: the engine's message is not shown, because it may hold private values; evaluate the frame
    by itself, and check that the groups fit their columns.
    """
    failure: InBoundsError
    try:
        with _unheard():
            return work()
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except InBoundsError as error:
        failure = error
    except BaseException as error:  # a panic of Polars is not an Exception
        failure = ArgumentError(
            f"frame could not be evaluated: its engine raised {type(error).__name__}.",
            argument="frame",
            hint=f"the engine's message is not shown, because it may hold private values; {advice}",
        )
    failure.__cause__ = failure.__context__ = None
    raise failure


def each_quietly(items: Callable[[], Iterable[Result]]) -> Iterator[Result]:
    """Yield what an engine yields, of which the first may come late, and drop its messages.

    Examples
    --------
    >>> list(each_quietly(lambda: map(int, ["7", "x"])))
    Traceback (most recent call last):
    inbounds.errors.ArgumentError: frame could not be evaluated: its engine raised ValueError.
    Hint: the engine's message is not shown, because it may hold private values; evaluate the frame
    by itself.
    """
    iterator = quietly(lambda: iter(items()), _ALONE)
    while next_item := quietly(lambda: list(islice(iterator, 1)), _ALONE):
        yield from next_item


def in_our_words(
    work: Callable[[], Result],
    explain: Callable[[Exception], Exception],
    *kinds: type[Exception],
) -> Result:
    """Return ``work()``, and replace errors of some kinds, whose messages may hold private values.

    The error that `explain` returns is raised outside the handler of the other error, which is thus
    not its context.

    Examples
    --------
    >>> def explain(error):
    ...     return ArgumentError.must_be("x", "a number")
    >>> in_our_words(lambda: int("x7"), explain, ValueError)
    Traceback (most recent call last):
    inbounds.errors.ArgumentError: x must be a number.
    """
    try:
        return work()
    except kinds as error:
        failure = explain(error)
    raise failure


def each_in_our_words(
    items: Iterable[Result], explain: Callable[[Exception], Exception], *kinds: type[Exception]
) -> Iterator[Result]:
    """Yield items, and replace errors of some kinds that the iteration raises.

    Examples
    --------
    >>> def explain(error):
    ...     return ArgumentError.must_be("x", "a number")
    >>> list(each_in_our_words(map(int, ["7", "x"]), explain, ValueError))
    Traceback (most recent call last):
    inbounds.errors.ArgumentError: x must be a number.
    """
    iterator = iter(items)
    while next_item := in_our_words(lambda: list(islice(iterator, 1)), explain, *kinds):
        yield from next_item


@contextmanager
def _unheard() -> Iterator[None]:
    """Drop this thread's messages to the loggers of PySpark, which print messages of errors."""
    here = threading.get_ident()

    def is_elsewhere(record: logging.LogRecord) -> bool:
        return record.thread != here

    loggers = _loggers()
    for logger in loggers:
        logger.addFilter(is_elsewhere)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(is_elsewhere)


def _loggers() -> list[logging.Logger]:
    """Return PySpark's loggers, made by its own class: PySpark cannot use others of that name."""
    module = sys.modules.get("pyspark.logger")  # it is loaded if a Spark frame exists
    return [] if module is None else [module.PySparkLogger.getLogger(name) for name in _LOGGERS]
