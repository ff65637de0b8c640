"""Decorators of public functions: clear errors for wrong calls, warnings for weak guarantees.

>>> @entry()
... def noise(domain, *, epsilon): ...
>>> noise(1, 2.0)
Traceback (most recent call last):
inbounds.errors.ArgumentTypeError: epsilon must be given by name: noise(domain, epsilon=2.0).
"""

import difflib
import inspect
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterable
from decimal import Decimal
from functools import wraps
from numbers import Real
from typing import Any, ParamSpec, TypeVar

import numpy as np

from inbounds.errors import ArgumentTypeError, WeakGuaranteeWarning

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

LARGEST_EPSILON = 20.0
"""A guarantee with a larger epsilon is weak: odds may change by a factor of more than 5e8."""

LARGEST_DELTA = 0.01
"""A guarantee with this delta or more is weak: delta should be well below 1/n for n people."""

_OURS = os.path.dirname(__file__) + os.sep
_COMMANDS = os.path.join(_OURS, "cli") + os.sep
_SHORT = {"eps": "epsilon", "sens": "sensitivity", "box": "domain", "bounds": "domain"}


def entry(label: str = "", **hints: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator as `called` does, which also warns of weak guarantees."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        call = called(label, **hints)(function)

        @wraps(function)
        def warned(*args: P.args, **kwargs: P.kwargs) -> R:
            with np.errstate(under="ignore"):
                result = call(*args, **kwargs)
            if not _is_ours(sys._getframe(1).f_code.co_filename):
                stated = kwargs.get("epsilon"), kwargs.get("delta"), kwargs.get("rho")
                warn_if_weak(epsilon=stated[0], delta=stated[1], rho=stated[2])
            return result

        return warned

    return decorate


def called(label: str = "", **hints: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator for a public function, which keeps its signature.

    Parameters
    ----------
    label
        The name of the function in messages; its qualified name by default.
    hints
        For each argument, what to do if it is missing, or if it is given and unknown.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)
        name = label or function.__qualname__

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return function(*args, **kwargs)
            except TypeError:
                if _fits(signature, args, kwargs):
                    raise
            raise _Misfit(name, signature, args, kwargs).error(hints)

        return call

    return decorate


def unwarned(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function whose infinite and tiny results are correct.

    NumPy's warnings and errors about them, for which a caller may have asked by `numpy.seterr`,
    might be private. (NumPy's own decorator would put a file of NumPy between the library and its
    caller, and warnings of ours would be given there.)

    Examples
    --------
    >>> with np.errstate(over="raise"):
    ...     float(unwarned(np.exp)(1000.0))
    inf
    """

    @wraps(function)
    def quiet(*args: P.args, **kwargs: P.kwargs) -> R:
        with np.errstate(over="ignore", under="ignore"):
            return function(*args, **kwargs)

    return quiet


def _fits(signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def constructed(**hints: str) -> Callable[[type[T]], type[T]]:
    """Return a decorator for a class, whose constructor then raises our error for wrong calls."""

    def decorate(cls: type[T]) -> type[T]:
        constructor: Any = cls.__init__
        setattr(cls, "__init__", called(cls.__name__, **hints)(constructor))  # noqa: B010 - mypy
        return cls

    return decorate


def warn_if_weak(*, epsilon: object, delta: object, rho: object) -> None:
    """Warn of a guarantee that protects hardly anybody, at the line that called the library.

    Delta is the probability with which the guarantee may fail altogether. It should be well below
    1/n for n people: at 0.01, a release about 100 people may expose one of them. Epsilon bounds the
    factor by which the odds of any guess about a person may change: e²⁰ is 5e8.
    """
    texts = {}
    if LARGEST_DELTA <= (probability := _as_number(delta)) < 1:
        texts["delta"] = (
            f"delta={probability:g} would allow even a mechanism that publishes everything with "
            f"probability {probability:g}: choose a delta well below 1/n for n people."
        )
    if LARGEST_EPSILON < (exponent := _as_number(epsilon)) < math.inf:
        texts["epsilon"] = (
            f"epsilon={exponent:g} means that an output may change the odds of any guess about a "
            f"person by a factor of e^{exponent:g}: this protects hardly anything."
        )
    if LARGEST_EPSILON < (concentrated := _as_number(rho)) < math.inf:
        texts["rho"] = (
            f"rho={concentrated:g} allows an epsilon of {concentrated:g} or more: this protects "
            "hardly anything."
        )
    for argument, text in texts.items():
        warn_caller(WeakGuaranteeWarning(text, argument=argument))


def _as_number(value: object) -> float:
    """Return a checked argument as a double, or NaN if it was not given."""
    if value is None or type(value) is float:
        return math.nan if value is None else value
    if getattr(value, "ndim", 1) == 0:  # an array of one number
        value = value.item()  # type: ignore[attr-defined]
    return float(value) if isinstance(value, float | int | Real | Decimal) else math.nan


def warn_caller(warning: Warning) -> None:
    """Give a warning at the line that called the library, however deep inside it this is.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_caller(DeprecationWarning("answer is now called output."))
    >>> caught[0].filename == __file__
    False
    """
    frame, depth = sys._getframe(0), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OURS):
        frame, depth = frame.f_back, depth + 1
    warnings.warn(warning, stacklevel=depth)


def _is_ours(filename: str) -> bool:
    """Return whether a file is part of the library; the command line counts as a user."""
    return filename.startswith(_OURS) and not filename.startswith(_COMMANDS)


class _Misfit:
    """A call that does not fit a signature, and the errors which say why."""

    def __init__(
        self, label: str, signature: inspect.Signature, args: tuple[Any, ...], kwargs: Iterable[str]
    ) -> None:
        known = [p for p in signature.parameters.values() if p.name not in ("self", "cls")]
        args = args[len(signature.parameters) - len(known) :]
        self.label = label
        self.names = [p.name for p in known]
        self.places = [p.name for p in known if p.kind is not p.KEYWORD_ONLY]
        self.needed = [p.name for p in known if p.default is p.empty]
        self.args, self.extra = args, args[len(self.places) :]
        self.by_place, self.by_name = self.places[: len(args)], list(kwargs)

    def error(self, hints: dict[str, str]) -> ArgumentTypeError:
        """Return the error about the first thing that is wrong."""
        if unknown := [name for name in self.by_name if name not in self.names]:
            return self._unknown(unknown[0], hints)
        if self.extra:
            return self._too_many()
        if twice := [name for name in self.by_place if name in self.by_name]:
            return ArgumentTypeError.must_be(twice[0], "given once, not by position and by name")
        return self._missing(hints)

    @property
    def _takes(self) -> str:
        return ", ".join(self.names) or "no arguments"

    def _unknown(self, name: str, hints: dict[str, str]) -> ArgumentTypeError:
        return ArgumentTypeError(
            f"{name} is not an argument of {self.label}, which takes {self._takes}.",
            argument=name,
            requirement="left out",
            hint=hints.get(name) or guess(name, self.names),
        )

    def _too_many(self) -> ArgumentTypeError:
        """Say which arguments take names, if the call has enough of them left."""
        unfilled = [name for name in self.names if name not in (*self.places, *self.by_name)]
        if len(self.extra) > len(unfilled):
            count = len(self.args)
            return ArgumentTypeError(f"{self.label} takes {self._takes}, got {count} arguments.")
        given = dict.fromkeys((*self.by_name, *self.needed), "...")
        given |= dict(zip(unfilled, map(_shown, self.extra), strict=False))
        keywords = [name for name in self.names if name in given and name not in self.places]
        call = ", ".join([*self.places, *(f"{name}={given[name]}" for name in keywords)])
        named = _listed(unfilled[: len(self.extra)])
        numbers = all(type(value) in (int, float) for value in self.args) and len(self.args) > 2
        hint = "domain is one argument: Box(0, 120)." if numbers and "domain" in self.places else ""
        return ArgumentTypeError.must_be(named, f"given by name: {self.label}({call})", hint=hint)

    def _missing(self, hints: dict[str, str]) -> ArgumentTypeError:
        missing = [name for name in self.needed if name not in (*self.by_place, *self.by_name)]
        call = ", ".join(n if n in self.places else f"{n}=..." for n in self.needed)
        hint = next((hints[name] for name in missing if name in hints), "")
        return ArgumentTypeError.must_be(
            _listed(missing), f"given: {self.label}({call})", hint=hint
        )


def guess(name: str, names: Iterable[str]) -> str:
    """Return a hint about what was meant, if something is spelt nearly like it.

    Examples
    --------
    >>> guess("agee", ["age", "town"])
    'did you mean age?'
    """
    close = difflib.get_close_matches(_SHORT.get(name, name), names, 1)
    return f"did you mean {close[0]}?" if close else ""


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)


def _shown(value: object) -> str:
    """Return a number as code, and an ellipsis for anything else."""
    return repr(value) if type(value) in (int, float) else "..."
