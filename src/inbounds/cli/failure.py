"""Failures, each reported as one line on standard error that never shows a private value."""

import errno
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import typer
from typer.exceptions import TyperException

from inbounds._extra import missing_package
from inbounds.errors import (
    ArgumentError,
    ArgumentTypeError,
    Hint,
    InBoundsError,
    WeakGuaranteeWarning,
)

_OPTIONS = (
    *("adjacency", "bounds", "by", "confidence", "criterion", "delta", "dimension", "epsilon"),
    *("format", "groups", "id", "inside", "label", "mechanism", "method", "norm", "nulls"),
    *("objective", "outside", "people", "releases", "rho", "rows", "scaling", "sensitivity"),
    *("size", "step", "unit", "user", "weights"),
)
_SUBJECTS = {
    **{name: f"--{name}" for name in _OPTIONS},
    **{name: f"--bounds: {name}" for name in ("lower", "upper", "domain")},
    "epsilon or rho": "--epsilon or --rho",
    "expected_head": "--expected-head",
}
_CODE = {
    "PerCoordinate([...])": "--sensitivity once per coordinate",
    "LInf(...)": "--norm linf",
    "BoundedGaussian": "--mechanism bounded-gaussian",
    "BoundedLaplace": "--mechanism bounded-laplace",
    "epsilon=1.0": "--epsilon 1",
    "method='exact'": "--method exact",
    "rho or loss": "--rho",
    'nulls="uniform"': "--nulls uniform",
    'nulls="keep"': "--nulls keep",
    'nulls="skip"': "--nulls skip",
    'outside="clip"': "--outside clip",
    'outside="skip"': "--outside skip",
    "mechanism": "--mechanism",
    "id=": "--id",
    "rows=": "--rows",
    "size=": "--size",
    "lazy=True": "lazy=True",  # of frames, which commands do not have
}


class UsageError(TyperException):
    """The options make no sense, alone or together."""

    exit_code = 2


class InputError(Exception):
    """Data cannot be read. The message says where, but never shows the data."""


def exit_code_of(command: Callable[[], Any]) -> int:
    """Run a command and return its exit code; if it fails, print why in one line.

    Examples
    --------
    >>> exit_code_of(lambda: None)
    0
    """
    try:
        with _warnings_as_lines():
            result = command()
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            _drop_output()
        message, code = _explained(error)
        line = " ".join(message.split())
        if line:  # it is empty if help was shown instead
            typer.echo(f"Error: {line}", err=True)
        return code
    return result if isinstance(result, int) else 0


@contextmanager
def _warnings_as_lines() -> Iterator[None]:
    """Print each of our warnings once, in one line on standard error."""
    printed = set[str]()
    with warnings.catch_warnings():
        show = warnings.showwarning

        def warn(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if not isinstance(message, WeakGuaranteeWarning):
                show(message, category, *where, **more)
            elif str(message) not in printed:
                printed.add(str(message))
                option = "--" if message.argument else ""
                typer.echo(f"Warning: {option}{message}", err=True)

        warnings.simplefilter("always", WeakGuaranteeWarning)
        warnings.showwarning = warn
        yield


def _explained(error: Exception) -> tuple[str, int]:
    """Return the message and the exit code for an error."""
    match error:
        case TyperException():
            return error.format_message(), error.exit_code
        case ArgumentError() | ArgumentTypeError():
            return in_options(error), 2
        case InBoundsError() | InputError():
            return str(error), 1
        case OSError():
            return _of_system(error), 1
        case ModuleNotFoundError():
            return str(
                missing_package(error) or f"the package {error.name!r} cannot be imported."
            ), 1
    return unexpected(error), 1


def _drop_output() -> None:
    """Send what is left in the buffer nowhere: Python would try again to write it, and complain."""
    with suppress(OSError, ValueError):  # of a standard output that is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _of_system(error: OSError) -> str:
    full = "standard output" if error.errno == errno.ENOSPC else None  # files have names
    where = f"{error.filename or full}: " if error.filename or full else ""
    return f"{where}{error.strerror or type(error).__name__}."


def unexpected(error: Exception) -> str:
    """Name only the type and the place of an error: its message may hold a private value.

    Examples
    --------
    >>> try:
    ...     float("41 is private")
    ... except ValueError as error:
    ...     print(unexpected(error))
    unexpected ValueError in ..., line 2. Please report this.
    """
    *_, last = traceback.extract_tb(error.__traceback__)
    place = f"{Path(last.filename).name}, line {last.lineno}"
    return f"unexpected {type(error).__name__} in {place}. Please report this."


def in_options(error: ArgumentError | ArgumentTypeError) -> str:
    """Return an error's message with options in place of the library's arguments.

    Examples
    --------
    >>> in_options(ArgumentError.must_be("epsilon", "positive", got="epsilon=-1.0"))
    '--epsilon must be positive, got epsilon=-1.0.'
    >>> in_options(ArgumentError.must_be("upper", "above lower", got="lower=5, upper=1"))
    '--bounds: upper must be above lower, got lower=5, upper=1.'
    """
    argument, hint = error.argument or "", error.hint
    sentence = error.said_of(_SUBJECTS.get(argument, argument))
    if isinstance(hint, Hint):
        hint = hint.written(lambda code: _CODE.get(code, code))
    return f"{sentence} Hint: {hint}" if hint else sentence
