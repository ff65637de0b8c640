"""The guarantee that a mechanism was calibrated for, as the caller wrote it.

It is a note beside the mechanism, which neither equality nor privacy depend on.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from inbounds.errors import ArgumentTypeError
from inbounds.guarantee import Amount, Guarantee

P = ParamSpec("P")
R = TypeVar("R")


def noted(mechanism: R, asked: Amount) -> R:
    """Write a guarantee beside a mechanism that nobody else has yet, and return the mechanism.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = noted(ib.ClampedLaplace(ib.Box(0, 1), 1, scale=2.0), Guarantee(epsilon=0.5))
    >>> m.asked
    Guarantee(epsilon=0.5)
    """
    if not isinstance(asked, Amount):
        raise ArgumentTypeError.must_be("asked", "an Amount", got=type(asked).__name__)
    object.__setattr__(mechanism, "_asked", asked)
    return mechanism


def noting(calibrated: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function that builds a mechanism for `epsilon`, `delta` or `rho`.

    Examples
    --------
    >>> import inbounds as ib
    >>> ib.Window.calibrated(ib.Box(0, 1), 1, epsilon=1).asked
    Guarantee(epsilon=1.0)
    """

    @wraps(calibrated)
    def build(*args: P.args, **kwargs: P.kwargs) -> R:
        mechanism = calibrated(*args, **kwargs)
        epsilon: Any = kwargs.get("epsilon")
        delta: Any = kwargs.get("delta") or None
        rho: Any = kwargs.get("rho")
        return noted(mechanism, Guarantee(epsilon, delta, rho))

    return build


def copied_by(kind: type, fields: tuple[Any, ...], asked: Amount | None) -> tuple[Any, ...]:
    """Return what `__reduce__` of a mechanism returns: how to build it again, with its note.

    Examples
    --------
    >>> copied_by(complex, (1.0, 2.0), None)
    (<class 'complex'>, (1.0, 2.0))
    """
    return (kind, fields) if asked is None else (_rebuilt, (kind, fields, asked))


def _rebuilt(kind: Callable[..., R], fields: tuple[Any, ...], asked: Amount) -> R:
    return noted(kind(*fields), asked)
