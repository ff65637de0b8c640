"""Running an engine without its error messages and logs, which may hold private values."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
