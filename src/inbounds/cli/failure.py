"""Failures as one line on standard error, which never shows a private value."""

import errno
import re
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from typer.exceptions import TyperException

from inbounds._extra import named
from inbounds.errors import ArgumentError, ArgumentTypeError, InBoundsError, WeakGuaranteeWarning

_OPTIONS = "epsilon|delta|rho|people|sensitivity|method|scaling|step|dimension|releases|confidence"
_OF_BOUNDS = "lower|upper|domain"
_AS_OPTIONS = {
    "PerCoordinate([...])": "--sensitivity once per coordinate",
    "LInf(...)": "--norm linf",
    "BoundedGaussian": "--mechanism bounded-gaussian",
    "BoundedLaplace": "--mechanism bounded-laplace",
    "method='exact'": "--method exact",
    "charge rho or loss": "charge --rho",
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
            if not issubclass(category, WeakGuaranteeWarning):
                show(message, category, *where, **more)
            elif str(message) not in said:
                said.add(str(message))
                typer.echo(f"Warning: {in_options(str(message))}", err=True)

        warnings.simplefilter("always", WeakGuaranteeWarning)
        warnings.showwarning = say
        yield


def _explained(error: Exception) -> tuple[str, int]:
    message, code = "", 1
    if isinstance(error, TyperException):
        message, code = error.format_message(), error.exit_code
    elif isinstance(error, ArgumentError | ArgumentTypeError):
        message, code = in_options(str(error)), 2
    elif isinstance(error, InBoundsError | InputError):
        message = str(error)
    elif isinstance(error, OSError):
        full = "standard output" if error.errno == errno.ENOSPC else None  # files are named
        where = f"{error.filename or full}: " if error.filename or full else ""
        message = f"{where}{error.strerror or type(error).__name__}."
    elif isinstance(error, ModuleNotFoundError):
        message = str(named(error) or f"the package {error.name!r} cannot be imported.")
    else:  # its message may hold a value, so only its place is shown
        *_, last = traceback.extract_tb(error.__traceback__)
        place = f"{Path(last.filename).name}, line {last.lineno}"
        message = f"unexpected {type(error).__name__} in {place}. Please report this."
    return message, code


def in_options(message: str) -> str:
    """Say an error of the library in terms of the options, on one line.

    Examples
    --------
    >>> in_options("epsilon must be positive, got epsilon=-1.0.")
    '--epsilon must be positive, got epsilon=-1.0.'
    >>> in_options("upper must be above lower, got lower=5, upper=1.")
    '--bounds: upper must be above lower, got lower=5, upper=1.'
    """
    first, *hints = message.split("\n")
    first = re.sub(rf"^({_OPTIONS})\b", r"--\1", first)
    first = re.sub(rf"^({_OF_BOUNDS})\b", r"--bounds: \1", first)
    hint = " ".join(hints)
    for name, option in _AS_OPTIONS.items():
        hint = hint.replace(name, option)
    return f"{first} {hint}".strip()
