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

Messages name the argument and what it must be. They never hold a private value.
"""


class InBoundsError(Exception):
    """Base of every error inbounds raises on purpose."""


class ArgumentError(InBoundsError, ValueError):
    """An argument has a value it cannot have; the message names it."""


class ArgumentTypeError(InBoundsError, TypeError):
    """An argument is not of a kind that can be read as what it should be."""


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
    meant, with ``warnings.simplefilter("ignore", WeakGuaranteeWarning)``.
    """


class RowOrderWarning(UserWarning):
    """Rows are published in the order of a private column, which tells its values.

    Given where a frame or a file says that it is sorted; the data themselves are not looked at, as
    whether they are sorted is private. ``shuffle=True`` avoids it.
    """


class LedgerError(InBoundsError, RuntimeError):
    """A ledger is missing, cannot be read or written, or was tampered with."""


class MissingPackageError(InBoundsError, ModuleNotFoundError):
    """An optional package is not installed; the message names it and the extra that brings it."""
