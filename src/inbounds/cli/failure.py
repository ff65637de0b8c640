"""Failures as one line on standard error, which never shows a private value."""

import errno
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
    *("bounds", "confidence", "delta", "dimension", "epsilon", "format", "method", "norm"),
    *("people", "releases", "rho", "scaling", "sensitivity", "step", "unit"),
)
_SUBJECTS = {
    **{name: f"--{name}" for name in _OPTIONS},
    **{name: f"--bounds: {name}" for name in ("lower", "upper", "domain")},
    "epsilon or rho": "--epsilon or --rho",
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
}


class UsageError(TyperException):
    """Options were given that make no sense, alone or together."""

    exit_code = 2


class InputError(Exception):
    """Data cannot be read. The message says where, and never what is there."""


def exit_code_of(command: Callable[[], Any]) -> int:
    """Run a command and return its exit code, having said in one line why it failed.

    Examples
    --------
    >>> exit_code_of(lambda: None)
    0
    """
    try:
        with _warnings_as_lines():
            result = command()
    except Exception as error:
        message, code = _explained(error)
        line = " ".join(message.split())
        if line:  # there is none where help was shown instead
            typer.echo(f"Error: {line}", err=True)
        return code
    return result if isinstance(result, int) else 0


@contextmanager
def _warnings_as_lines() -> Iterator[None]:
    """Say each of our warnings in one line on standard error, and once."""
    said = set[str]()
    with warnings.catch_warnings():
        show = warnings.showwarning

        def say(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if not isinstance(message, WeakGuaranteeWarning):
                show(message, category, *where, **more)
            elif str(message) not in said:
                said.add(str(message))
                option = "--" if message.argument else ""
                typer.echo(f"Warning: {option}{message}", err=True)

        warnings.simplefilter("always", WeakGuaranteeWarning)
        warnings.showwarning = say
        yield


def _explained(error: Exception) -> tuple[str, int]:
    """Return the message and the exit code of whatever was raised."""
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
    return _unexpected(error), 1


def _of_system(error: OSError) -> str:
    full = "standard output" if error.errno == errno.ENOSPC else None  # files are named
    where = f"{error.filename or full}: " if error.filename or full else ""
    return f"{where}{error.strerror or type(error).__name__}."


def _unexpected(error: Exception) -> str:
    """Say where it happened and no more: the message may hold a value."""
    *_, last = traceback.extract_tb(error.__traceback__)
    place = f"{Path(last.filename).name}, line {last.lineno}"
    return f"unexpected {type(error).__name__} in {place}. Please report this."


def in_options(error: ArgumentError | ArgumentTypeError) -> str:
    """Say an error of the library in terms of the options, on one line.

    Examples
    --------
    >>> in_options(ArgumentError.must_be("epsilon", "positive", got="epsilon=-1.0"))
    '--epsilon must be positive, got epsilon=-1.0.'
    >>> in_options(ArgumentError.must_be("upper", "above lower", got="lower=5, upper=1"))
    '--bounds: upper must be above lower, got lower=5, upper=1.'
    """
    argument, hint = error.argument or "", error.hint
    said = error.said_of(_SUBJECTS.get(argument, argument))
    if isinstance(hint, Hint):
        hint = hint.written(lambda code: _CODE.get(code, code))
    return f"{said} Hint: {hint}" if hint else said
