"""Every error inbounds raises on purpose.

::

    InBoundsError
    ├── ArgumentError       (also ValueError)       an argument has an impossible value
    ├── ArgumentTypeError   (also TypeError)        an argument is of a type that cannot be read
    ├── CertificateError    (also ArithmeticError)  a claimed bound could not be proved
    ├── BudgetExceededError (also RuntimeError)     a dataset's privacy budget has no room left
    ├── LedgerError         (also RuntimeError)     a ledger is missing, unreadable or tampered with
    └── MissingPackageError (also ModuleNotFoundError)  an optional package is not installed

    UserWarning
    ├── WeakGuaranteeWarning                        a guarantee protects hardly anybody
    ├── RowOrderWarning                             the order of rows reveals private values
    ├── NotPrivateWarning                           what is returned are true values
    ├── RepeatedReleaseWarning                      every look at a result is another release
    └── FewOutputsWarning                           outputs hardly tell the values apart

Messages name the argument and say what it must be. They never hold a private value. Errors about
arguments also have the parts of the message as attributes (`_RefusalError`). A `Hint` is the part
that says what to do.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from numbers import Number
from types import NoneType
from typing import Any, Self


class Hint(str):
    """What to do about an error: words with pieces of code, which the command line rewrites.

    Examples
    --------
    >>> hint = Hint("use {} or {}.", "LInf(...)", "PerCoordinate([...])")
    >>> hint
    'use LInf(...) or PerCoordinate([...]).'
    >>> hint.written(lambda code: f"`{code}`")
    'use `LInf(...)` or `PerCoordinate([...])`.'
    """

    __slots__ = ("_code", "_words")
    _words: str
    _code: tuple[str, ...]

    def __new__(cls, words: str, *code: str) -> Self:
        """Return the words with each ``{}`` replaced by a piece of code."""
        hint = super().__new__(cls, words.format(*code))
        hint._words, hint._code = words, code
        return hint

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._words, *self._code)

    def written(self, write: Callable[[str], str]) -> str:
        """Return the hint with each piece of code replaced by ``write(code)``."""
        return self._words.format(*map(write, self._code))


def quoted(value: object, *, vector: bool = False) -> str:
    """Return a public argument as code, cut if long; its type if it cannot be written.

    Only numbers, short texts and objects of ours are shown, and lists and arrays where a `vector`
    is expected: anything else is a mistake, and may be the private data.

    Examples
    --------
    >>> quoted("a" * 100)[-10:], quoted(10**5000), quoted([17, 41]), quoted([2.0], vector=True)
    ('aaaaaaa...', '<int>', '<list>', '[2.0]')
    """
    if not (vector or _is_shown(value)):
        return f"<{type(value).__name__}>"
    try:
        text = repr(value)
    except Exception:  # an int of more than 4300 digits, or a foreign object
        return f"<{type(value).__name__}>"
    text = " ".join(text.split()) if "\n" in text else text
    return text if len(text) <= 80 else text[:77] + "..."


def _is_shown(value: object) -> bool:
    if isinstance(value, str):
        return "\n" not in value
    numbers = (NoneType, bool, Number, Decimal)
    return isinstance(value, numbers) or type(value).__module__.startswith("inbounds.")


class InBoundsError(Exception):
    """Base of every error inbounds raises on purpose."""


class _RefusalError(InBoundsError):
    """Base of the two errors about arguments, with the parts of the message as attributes."""

    def __init__(
        self,
        sentence: str,
        *,
        argument: str | None = None,
        requirement: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(f"{sentence}\nHint: {hint}" if hint else sentence)
        self.sentence = sentence
        self.argument = argument
        self.requirement = requirement
        self.hint = hint or None

    @classmethod
    def must_be(
        cls, argument: str, requirement: str, *, got: str = "", hint: str | None = None
    ) -> Self:
        """Return the error that an argument must be something; `got` must not be private."""
        error = cls.must(argument, f"be {requirement}", got=got, hint=hint)
        error.requirement = requirement
        return error

    @classmethod
    def must(
        cls, argument: str, requirement: str, *, got: str = "", hint: str | None = None
    ) -> Self:
        """Return the error that an argument must do something, for verbs other than "be"."""
        sentence = f"{argument} must {requirement}{', got ' if got else ''}{got}."
        return cls(sentence, argument=argument, requirement=requirement, hint=hint)

    def said_of(self, subject: str) -> str:
        """Return the sentence with another subject in place of the argument's name."""
        return subject + self.sentence.removeprefix(self.argument or "")


class ArgumentError(_RefusalError, ValueError):
    """An argument has an impossible value; the message names the argument.

    Attributes
    ----------
    argument
        The name of the argument, with which the message begins, or None for any other message.
    requirement
        What the argument must be, such as "positive", or must do, such as "have no nulls".
    hint
        What to do about it, or None.
    sentence
        The message without the hint.

    Examples
    --------
    >>> import inbounds as ib
    >>> error = ib.ArgumentError.must_be("sigma", "positive", got="sigma=-1.0")
    >>> str(error), error.said_of("--sigma")
    ('sigma must be positive, got sigma=-1.0.', '--sigma must be positive, got sigma=-1.0.')
    >>> error.argument, error.requirement, error.hint
    ('sigma', 'positive', None)
    """


class ArgumentTypeError(_RefusalError, TypeError):
    """An argument is of a type that cannot be read.

    It has the attributes of `ArgumentError`.
    """


class CertificateError(InBoundsError, ArithmeticError):
    """A bound could not be proved: a certificate is wrong, or no sufficient scale was found."""


class BudgetExceededError(InBoundsError, RuntimeError):
    """A dataset's budget has no room for a charge, so nothing was charged and no noise was drawn.

    Attributes
    ----------
    dataset
        The name of the dataset.
    asked
        What was asked for one release, in the caller's numbers; if the caller stated none, `cost`.
    cost
        What the charge would cost in terms of the budget: like `asked`, an amount of epsilon and
        delta, or rho.
    remaining
        What is left of the budget, in the same terms.
    """

    def __init__(
        self,
        message: str,
        *,
        dataset: str = "",
        asked: object = None,
        cost: object = None,
        remaining: object = None,
    ) -> None:
        super().__init__(message)
        self.dataset = dataset
        self.asked = asked
        self.cost = cost
        self.remaining = remaining


class WeakGuaranteeWarning(UserWarning):
    """A requested guarantee protects hardly anybody; the message says what it means.

    This warns of a delta of 0.01 or more, and of an epsilon or a rho above 20. If the guarantee is
    intended, silence it with ``warnings.simplefilter("ignore", WeakGuaranteeWarning)``.

    Attributes
    ----------
    argument
        The name of the argument that is too large, with which the message begins.
    """

    def __init__(self, message: str, *, argument: str | None = None) -> None:
        super().__init__(message)
        self.argument = argument


class RowOrderWarning(UserWarning):
    """Rows are published in the order of a private column, which reveals its values.

    This warns if a frame or a file declares itself sorted. The data are not examined, because
    whether they are sorted is private. ``shuffle=True`` avoids the problem.
    """


class NotPrivateWarning(UserWarning):
    """Something that looks like a release returned the values that it was given.

    This warns of ``Privatizer.fit(X).transform(X)``: `fit` draws nothing, and `transform` never
    does. ``fit_transform(X)``, which pipelines call, releases.
    """


class RepeatedReleaseWarning(UserWarning):
    """A result draws new noise each time it is evaluated, and each evaluation costs privacy.

    This warns of ``privatize(..., lazy=True)``. If the result is evaluated once, for example to
    write it to a file, silence it with ``warnings.simplefilter("ignore", RepeatedReleaseWarning)``.
    """


class FewOutputsWarning(UserWarning):
    """A distribution was recovered from outputs that hardly tell the true values apart.

    A mechanism with few possible outputs can have the lowest error for one value, and yet say
    nothing about the shape of a column. `Window` and ``Optimal(..., objective="unbiased")`` do.
    """


class LedgerError(InBoundsError, RuntimeError):
    """A ledger is missing, cannot be read or written, or was tampered with."""


class MissingPackageError(InBoundsError, ModuleNotFoundError):
    """An optional package is not installed; the message names it and the extra to install."""
