import logging
import threading

import pytest
from pyspark.logger import PySparkLogger

from inbounds.errors import ArgumentError
from inbounds.frames.silence import each_in_our_words, in_our_words, quietly


def test_the_result_is_returned() -> None:
    assert quietly(lambda: 7) == 7


def test_only_the_type_of_an_error_is_shown() -> None:
    with pytest.raises(ArgumentError, match="its engine raised ValueError") as failure:
        quietly(lambda: int("secret"))
    assert "secret" not in str(failure.value)
    assert failure.value.__context__ is failure.value.__cause__ is None


def test_errors_of_some_kinds_become_ours_and_leave_nothing_behind() -> None:
    def ours(error: Exception) -> Exception:
        return ArgumentError(type(error).__name__)

    assert in_our_words(lambda: 7, ours, ValueError) == 7
    assert list(each_in_our_words(iter([7, None]), ours, ValueError)) == [7, None]
    for run in (
        lambda: in_our_words(lambda: int("secret"), ours, ValueError),
        lambda: list(each_in_our_words(map(int, ["7", "secret"]), ours, ValueError)),
    ):
        with pytest.raises(ArgumentError, match=r"^ValueError$") as failure:
            run()
        assert failure.value.__context__ is failure.value.__cause__ is None
    with pytest.raises(ValueError, match="secret"):
        in_our_words(lambda: int("secret"), ours, KeyError)


@pytest.mark.parametrize("name", ["SQLQueryContextLogger", "DataFrameQueryContextLogger"])
def test_loggers_are_silent_in_this_thread_and_for_this_time(name: str) -> None:
    logger, messages = PySparkLogger.getLogger(name), []
    assert isinstance(logger, PySparkLogger)

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            messages.append(record.getMessage())

    handler = Listener()
    logger.addHandler(handler)
    elsewhere = threading.Thread(target=lambda: logger.error("elsewhere"))

    def work() -> None:
        logger.error("secret")
        elsewhere.start()
        elsewhere.join()
        raise ValueError

    try:
        with pytest.raises(ArgumentError):
            quietly(work)
        logger.error("after")
    finally:
        logger.removeHandler(handler)
    assert messages == ["elsewhere", "after"]
