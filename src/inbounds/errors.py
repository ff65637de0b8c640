"""Every error inbounds raises on purpose.

::

    InBoundsError
    ├── ArgumentError       (also ValueError)       an argument has an impossible value
    ├── ArgumentTypeError   (also TypeError)        an argument is not of a kind we can read
    ├── CertificateError    (also ArithmeticError)  a claimed bound could not be proved
    ├── BudgetExceededError (also RuntimeError)     a dataset's privacy budget has no room left
    ├── LedgerError         (also RuntimeError)     a ledger is missing, unreadable or tampered with
    └── MissingPackageError (also ModuleNotFoundError)  a package of an extra is not installed

    UserWarning
    ├── WeakGuaranteeWarning                        a guarantee protects hardly anybody
    └── RowOrderWarning                             the order of rows tells private values

Messages name the argument and what it must be. They never hold a private value, and neither do
the attributes of the errors about arguments, which are the parts of the message (`_RefusalError`).
A `Hint` is the part that says what to do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self


class Hint(str):
    """What to do about an error, in words and in code, which the command line writes otherwise.

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
        """Put each piece of code where the words have ``{}``."""
        hint = super().__new__(cls, words.format(*code))
        hint._words, hint._code = words, code
        return hint

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._words, *self._code)

    def written(self, write: Callable[[str], str]) -> str:
        """Return the hint with every piece of code written in another way."""
        return self._words.format(*map(write, self._code))


def quoted(value: object) -> str:
    """Return a public argument as code, cut if long; its type if it cannot be written.

    Examples
    --------
    >>> quoted("a" * 100)[-10:], quoted(10**5000)
    ('aaaaaaa...', '<int>')
    """
    try:
        text = repr(value)
    except Exception:  # an int of more than 4300 digits, or a foreign object
        return f"<{type(value).__name__}>"
    text = " ".join(text.split()) if "\n" in text else text
    return text if len(text) <= 80 else text[:77] + "..."


class InBoundsError(Exception):
    """Base of every error inbounds raises on purpose."""


class _RefusalError(InBoundsError):
    """What the two errors about arguments share: the parts of the message, as data."""

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
        """Say what an argument must be, and what was given, unless that is private."""
        error = cls.must(argument, f"be {requirement}", got=got, hint=hint)
        error.requirement = requirement
        return error

    @classmethod
    def must(
        cls, argument: str, requirement: str, *, got: str = "", hint: str | None = None
    ) -> Self:
        """Say what an argument must do, where the verb is another one than "be"."""
        sentence = f"{argument} must {requirement}{', got ' if got else ''}{got}."
        return cls(sentence, argument=argument, requirement=requirement, hint=hint)

    def said_of(self, subject: str) -> str:
        """Return the sentence with another subject in place of the argument's name."""
        return subject + self.sentence.removeprefix(self.argument or "")


class ArgumentError(_RefusalError, ValueError):
    """An argument has a value it cannot have; the message names it.

    Attributes
    ----------
    argument
        Name of the argument the message begins with; None where it begins otherwise.
    requirement
        What the argument must be, as in "positive", or must do, as in "have no nulls".
    hint
        What to do about it.
    sentence
        The message without the hint.

    Examples
    --------
    >>> error = ArgumentError.must_be("sigma", "positive", got="sigma=-1.0")
    >>> str(error), error.said_of("--sigma")
    ('sigma must be positive, got sigma=-1.0.', '--sigma must be positive, got sigma=-1.0.')
    >>> error.argument, error.requirement, error.hint
    ('sigma', 'positive', None)
    """


class ArgumentTypeError(_RefusalError, TypeError):
    """An argument is not of a kind that can be read as what it should be.

    Its attributes are those of `ArgumentError`.
    """


class CertificateError(InBoundsError, ArithmeticError):
    """A certificate does not prove what it claims."""


class BudgetExceededError(InBoundsError, RuntimeError):
    """A dataset's privacy budget has no room for a charge: nothing was charged, nothing drawn.

    Attributes
    ----------
    dataset
        Whose budget it is.
    asked, remaining
        What the charge would cost and what is left, as an `Amount` of epsilon and delta, or rho.
    """

    def __init__(
        self, message: str, *, dataset: str = "", asked: object = None, remaining: object = None
    ) -> None:
        super().__init__(message)
        self.dataset = dataset
        self.asked = asked
        self.remaining = remaining


class WeakGuaranteeWarning(UserWarning):
    """A guarantee was asked for that protects hardly anybody; the message says what it means.

    Given for delta of 0.01 or more, and for epsilon above 20. Silence it, where such a guarantee is
    meant, with ``warnings.simplefilter("ignore", WeakGuaranteeWarning)``. `argument` is the name of
    what is too large, with which the message begins.
    """

    def __init__(self, message: str, *, argument: str | None = None) -> None:
        super().__init__(message)
        self.argument = argument


class RowOrderWarning(UserWarning):
    """Rows are published in the order of a private column, which tells its values.

    Given where a frame or a file says that it is sorted; the data themselves are not looked at, as
    whether they are sorted is private. ``shuffle=True`` avoids it.
    """


class LedgerError(InBoundsError, RuntimeError):
    """A ledger is missing, cannot be read or written, or was tampered with."""


class MissingPackageError(InBoundsError, ModuleNotFoundError):
    """An optional package is not installed; the message names it and the extra that brings it."""
