"""Every error inbounds raises on purpose.

::

    InBoundsError
    ├── ArgumentError       (also ValueError)       an argument has an impossible value
    ├── ArgumentTypeError   (also TypeError)        an argument is not of a kind we can read
    └── CertificateError    (also ArithmeticError)  a claimed bound could not be proved

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
