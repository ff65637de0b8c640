"""Values that nobody should pass and somebody will, and a watch on everything but the answer."""

import contextlib
import io
import logging
import math
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st

from inbounds.errors import InBoundsError, WeakGuaranteeWarning

SECRETS = (77.123456789, 1234567.875)
# How either may show: as text, rounded, shifted, in thousands, in hexadecimal.
TRACES = re.compile(r"77[.,]?123|7\.7123|1[.,]?234[.,]?567|1\.347e6b|1\.2d687e", re.IGNORECASE)


class Explosive:
    """Raises whatever is asked of it, and tells what it holds."""

    def __init__(self, held: object) -> None:
        self.held = held

    def _raise(self, *_: object, **__: object) -> Any:
        raise RuntimeError(f"holds {self.held}")

    __array__ = __float__ = __len__ = __iter__ = _raise

    def __repr__(self) -> str:
        return f"Explosive({self.held})"


class Float:
    """A number to `float`, and to nothing else."""

    def __init__(self, held: float) -> None:
        self.held = held

    def __float__(self) -> float:
        return self.held

    def __repr__(self) -> str:
        return f"Float({self.held})"


EXTREMES = (
    *(0.0, -0.0, 5e-324, -5e-324, 1e-310, 2.0**-1022, 1e-300, 1e-9, 0.5, 1.0, 1.0 + 2**-52, 3.0),
    *(120.0, 2.0**53 + 2, 1e18, 1e100, 1e154, 1e200, 1e308, -1.0, -120.0, -1e308),
    *(math.nextafter(math.inf, 0), math.inf, -math.inf, math.nan),
)
ODDITIES = (
    *(None, True, False, np.True_, "", "1", "nan", b"1", 1j, Decimal(1), Fraction(1, 3)),
    *(10**30, 10**400, -(10**400), Decimal("1e999"), Decimal("nan")),
    *([], [[]], [[1, 2], [3]], [1, [2]], [[1, 2], [3, 4]], (1, 2), {1, 2}, {"a": 1}, range(3)),
    *(np.float16(1), np.longdouble("1e4000"), np.int8(-128), np.uint64(2**64 - 1)),
    *(np.array(1), np.array([1, None]), np.array(["1"]), np.array([1j]), np.array([], float)),
    *(np.ma.masked, np.ma.array([1.0, 2.0], mask=[0, 1]), np.zeros((2, 2)), np.array([True])),
    *(np.datetime64("NaT"), timedelta(1), pd.NA, pd.Series([1.0, 2.0]), pl.Series([1, 2])),
    *(
        pa.scalar(1.0),
        pa.array([1, None]),
        float,
        math.sin,
        Explosive(1),
        Float(1.0),
        memoryview(b"1"),
    ),
)
extremes = st.sampled_from(EXTREMES) | st.floats()
# Python refuses to write numbers of more than 4300 digits, so they are kept out of any tuple.
unwritable = st.sampled_from((5000, 9999)).map(lambda digits: 10**digits)
anything = (
    extremes | st.sampled_from(ODDITIES) | unwritable | st.lists(extremes, max_size=4) | st.text()
)


def planted(numbers: list[Any]) -> list[Any]:
    """Return the numbers with both secrets among them."""
    return [SECRETS[0], *numbers, SECRETS[1]]


def _columns(numbers: list[float]) -> list[Any]:
    """Write numbers as columns of every make, sound or not."""
    texts = [str(number) for number in numbers]
    return [
        pd.Series(numbers),
        pd.Series(numbers, dtype=object),
        pd.Series(numbers, dtype="Float64"),
        pd.Series(texts),
        pd.Series(numbers, dtype="category"),
        pd.Series([*numbers, None], dtype="double[pyarrow]"),
        pd.Series(numbers, dtype=complex),
        pd.Series(pd.to_timedelta([77_123_456_789, 1_234_567])),
        pl.Series(numbers),
        pl.Series(texts),
        pl.Series([Decimal("77.123"), Decimal("1234567.875")]),
        pl.Series([numbers, numbers]),
        pa.array(numbers),
        pa.array(texts),
        pa.array(texts).dictionary_encode(),
        pa.array([numbers]),
        pa.array([{"a": number} for number in numbers]),
        pa.array([Decimal("77.123"), Decimal("1234567.875")]),
        pa.chunked_array([numbers, numbers]),
        pa.array([*numbers, None]),
        pa.scalar(SECRETS[0]),
    ]


def _guises(numbers: list[float]) -> list[Any]:
    """Write numbers, the secrets among them, as whatever a caller may hold them in."""
    array = np.array(numbers)
    with np.errstate(over="ignore", invalid="ignore"):
        narrow = [array.astype(kind) for kind in ("f2", "f4", "g", "c16", "U40", "O", "i8")]
    return [
        *(numbers, tuple(numbers), [numbers, numbers], [numbers, numbers[:1]], {*numbers}),
        *(array, array[::-2], np.stack([array, array]), *narrow, array.reshape(-1, 1)),
        *([*numbers, None], [*numbers, "x"], [*numbers, True], [*numbers, 10**400]),
        *([*numbers, Decimal("77.123")], list(map(str, numbers)), dict.fromkeys(numbers)),
        *(np.ma.array(array, mask=array > 100), np.ma.array(array), np.asmatrix(array)),
        *(array.astype("m8[s]"), array.view("V8"), memoryview(array), iter(numbers)),
    ]


_ALONE = (
    *(*SECRETS, np.float32(77.123456789), np.longdouble(SECRETS[0]), np.array(SECRETS[0])),
    *(int(SECRETS[1]), Fraction(SECRETS[1]), Decimal("77.123456789"), "77.123456789", b"77.123"),
    *(complex(SECRETS[0]), 1234567 * 10**400, np.ma.array(SECRETS[0])),
    *(
        timedelta(seconds=1234567),
        Explosive(SECRETS),
        Float(SECRETS[0]),
        [[[SECRETS]]],
        [SECRETS[0], [1, [2]]],
    ),
)


@st.composite
def private(draw: st.DrawFn) -> Any:
    """Draw data, with a secret in it, of any kind that a release may be handed."""
    kind = draw(st.integers(0, 3))
    if kind == 0:
        return draw(st.sampled_from(_ALONE) | unwritable)
    numbers = planted(draw(st.lists(extremes, max_size=3)))
    with warnings.catch_warnings():  # of making them, not of ours
        warnings.simplefilter("ignore")
        choices = _guises(numbers) if kind < 3 else _columns(numbers)
    return choices[draw(st.integers(0, len(choices) - 1))]


@dataclass(frozen=True)
class Seen:
    """What a call gave, and all else that could be seen of it."""

    result: Any
    error: BaseException | None
    text: str


class _Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@contextlib.contextmanager
def _logs() -> Iterator[list[str]]:
    root, handler = logging.getLogger(), _Lines()
    root.addHandler(handler)
    try:
        yield handler.lines
    finally:
        root.removeHandler(handler)


def _told(error: BaseException | None) -> Iterator[str]:
    """Yield all that an error says, and those behind it, suppressed or not."""
    while error is not None:
        yield from (type(error).__name__, str(error), repr(error), repr(error.args))
        yield from (*getattr(error, "__notes__", ()), repr(vars(error)))
        error = error.__cause__ or error.__context__


def watch(call: Callable[[], Any]) -> Seen:
    """Run a call and gather its error, warnings, logs and what it printed."""
    result, error, printed = None, None, io.StringIO()
    with (
        warnings.catch_warnings(record=True) as caught,
        _logs() as logs,
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
    ):
        warnings.simplefilter("always")
        try:
            result = call()
        except Exception as raised:
            error = raised
    told = [w for w in caught if w.category is not WeakGuaranteeWarning]  # of public arguments only
    warned = [f"{w.category.__name__}: {w.message}" for w in told]
    return Seen(result, error, "\n".join([*_told(error), *warned, *logs, printed.getvalue()]))


def answer_of(call: Callable[[], Any], *names: str) -> Any:
    """Return what the call gives, or None if it refuses as it should.

    A refusal is one of our errors and names an argument; nothing else is seen, nor a secret.
    """
    seen = watch(call)
    assert not TRACES.search(seen.text), "a private value can be seen"
    if seen.error is None:
        assert not seen.text.strip(), f"only the answer may be seen, not {seen.text}"
        return seen.result
    if not isinstance(seen.error, InBoundsError):
        raise AssertionError("this error is not ours") from seen.error
    named = re.findall(r"\w+", str(seen.error))
    assert set(names) & set(named), f"{seen.error} names none of {names}"
    return None
