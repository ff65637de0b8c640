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

_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")  # PySpark's, of failed queries


def quietly(work: Callable[[], Result]) -> Result:
    """Run a function that calls an engine, and drop the engine's message if it fails.

    Our error is raised after the engine's is gone, because ``from None`` would keep its context.

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
            hint="the engine's message is not shown, because it may hold private values; "
            "evaluate the frame by itself, and check that the groups fit their columns.",
        )
    failure.__cause__ = failure.__context__ = None
    raise failure


def in_our_words(
    work: Callable[[], Result],
    explain: Callable[[Exception], Exception],
    *kinds: type[Exception],
) -> Result:
    """Do what may raise errors of some kinds, whose messages may hold values, and raise ours.

    Ours is raised when the other is gone, so that nothing can find it as the context.

    Examples
    --------
    >>> in_our_words(lambda: int("x7"), lambda _: ArgumentError("x must be less."), ValueError)
    Traceback (most recent call last):
    inbounds.errors.ArgumentError: x must be less.
    """
    try:
        return work()
    except kinds as error:
        failure = explain(error)
    raise failure


def each_in_our_words(
    items: Iterable[Result], explain: Callable[[Exception], Exception], *kinds: type[Exception]
) -> Iterator[Result]:
    """Yield items, and raise our own error where getting the next one raises one of some kinds.

    Examples
    --------
    >>> numbers = map(int, ["7", "x"])
    >>> list(each_in_our_words(numbers, lambda _: ArgumentError("x must be less."), ValueError))
    Traceback (most recent call last):
    inbounds.errors.ArgumentError: x must be less.
    """
    iterator = iter(items)
    while item := in_our_words(lambda: list(islice(iterator, 1)), explain, *kinds):
        yield from item  # a list of one, as the item itself may be false


@contextmanager
def _unheard() -> Iterator[None]:
    """Drop what this thread sends to the loggers of PySpark, which print messages of errors."""
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
    """Return PySpark's loggers, of its own class: PySpark could not use plain ones of that name."""
    module = sys.modules.get("pyspark.logger")  # anyone with a frame of Spark has loaded it
    return [] if module is None else [module.PySparkLogger.getLogger(name) for name in _LOGGERS]
