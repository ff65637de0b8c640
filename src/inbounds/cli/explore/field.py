"""The fields of a request: numbers as doubles, and errors that name fields as the page does."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from inbounds.errors import ArgumentError, ArgumentTypeError, Hint, InBoundsError, quoted

_SUBJECTS = {
    "lower": "bounds: lower",
    "upper": "bounds: upper",
    "domain": "bounds",
    "values": "value",
    "claimed_epsilon": "epsilon",
}
_CODE = {
    "PerCoordinate([...])": "one sensitivity for each coordinate",
    "LInf(...)": "the norm linf",
    "epsilon=1.0": "epsilon 1",
}


def fields(name: str, document: object, known: Collection[str]) -> dict[str, Any]:
    """Return a JSON object whose keys are all known.

    Examples
    --------
    >>> fields("guarantee", {"epsilon": 1, "eps": 2}, ("epsilon", "delta"))
    Traceback (most recent call last):
    inbounds.errors.ArgumentError: guarantee must have no other fields than epsilon, delta, got
    'eps'.
    """
    if not isinstance(document, dict):
        raise ArgumentTypeError.must_be(name, "a JSON object", got=type(document).__name__)
    for key in document:
        if key not in known:
            requirement = f"have no other fields than {', '.join(known)}"
            raise ArgumentError.must(name, requirement, got=quoted(key))
    return document


def needed(name: str, document: dict[str, Any], key: str) -> Any:
    """Return a field that must be there.

    Examples
    --------
    >>> needed("goal", {}, "at_most")
    Traceback (most recent call last):
    inbounds.errors.ArgumentTypeError: at_most must be given in the goal.
    """
    if key not in document:
        raise ArgumentTypeError.must_be(key, f"given in the {name}")
    return document[key]


def number(name: str, value: object, *, shown: bool = True) -> float:
    """Return a JSON number as a double, which must not change it.

    Examples
    --------
    >>> number("epsilon", 1), number("epsilon", 0.5)
    (1.0, 0.5)
    >>> number("epsilon", True)
    Traceback (most recent call last):
    inbounds.errors.ArgumentTypeError: epsilon must be a number, got True.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        got = "nothing" if value is None else quoted(value)
        raise ArgumentTypeError.must_be(name, "a number", got=got if shown else "")
    got = f"{name}={quoted(value)}" if shown else ""
    try:
        double = float(value)
    except OverflowError:
        raise ArgumentError.must_be(name, "a number that fits in a double", got=got) from None
    if not math.isfinite(double):
        raise ArgumentError.must_be(name, "finite", got=got)
    if double != value:
        raise ArgumentError.must_be(name, "a number that a double holds", got=got)
    return double


def numbers(name: str, value: object, most: int, *, shown: bool = True) -> tuple[float, ...]:
    """Return a JSON array of at least one number, and at most so many, as doubles.

    Examples
    --------
    >>> numbers("sensitivity", [4, 2.5], 8)
    (4.0, 2.5)
    >>> numbers("sensitivity", 4, 8)
    Traceback (most recent call last):
    inbounds.errors.ArgumentTypeError: sensitivity must be a list of 1 to 8 numbers, got 4.
    """
    requirement = f"a list of 1 to {most} numbers" if most > 1 else "a list of one number"
    if not isinstance(value, list):
        raise ArgumentTypeError.must_be(name, requirement, got=quoted(value) if shown else "")
    if not 1 <= len(value) <= most:
        raise ArgumentError.must_be(name, requirement, got=f"{len(value):,}")
    return tuple(number(name, entry, shown=shown) for entry in value)


def one_of(name: str, value: object, options: Collection[str]) -> str:
    """Return a text that is one of the options.

    Examples
    --------
    >>> one_of("norm", "l3", ("l1", "l2"))
    Traceback (most recent call last):
    inbounds.errors.ArgumentError: norm must be one of l1, l2, got 'l3'.
    """
    requirement = f"one of {', '.join(options)}"
    if not isinstance(value, str):
        raise ArgumentTypeError.must_be(name, requirement, got=quoted(value))
    if value not in options:
        raise ArgumentError.must_be(name, requirement, got=quoted(value))
    return value


@contextmanager
def named_as_on_the_page() -> Iterator[None]:
    """Raise the errors of the library again, about fields in place of its arguments.

    Examples
    --------
    >>> from inbounds import Box
    >>> with named_as_on_the_page():
    ...     Box(5, 1)
    Traceback (most recent call last):
    inbounds.errors.ArgumentError: bounds: upper must be above lower, got lower=5, upper=1.
    """
    try:
        yield
    except (ArgumentError, ArgumentTypeError) as error:
        raise _renamed(error) from None
    except InBoundsError as error:
        raise ArgumentError.must_be(
            "guarantee", f"one that can be given: {error}", hint="try a less extreme number."
        ) from None


def _renamed(error: ArgumentError | ArgumentTypeError) -> ArgumentError | ArgumentTypeError:
    subject = _SUBJECTS.get(error.argument or "", error.argument or "")
    sentence = error.said_of(subject) if subject else error.sentence
    return type(error)(
        sentence, argument=subject or None, requirement=error.requirement, hint=_hint(error.hint)
    )


def _hint(hint: str | None) -> str | None:
    """Return a hint in the page's words, or None if it speaks of code that the page has not."""
    if not isinstance(hint, Hint):
        return hint
    unknown = False

    def write(code: str) -> str:
        nonlocal unknown
        unknown |= code not in _CODE
        return _CODE.get(code, code)

    text = hint.written(write)
    return None if unknown else text
