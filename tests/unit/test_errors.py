import inspect

import pytest

from inbounds import errors

EVERY_ERROR = [
    cls
    for _, cls in inspect.getmembers(errors, inspect.isclass)
    if cls.__module__ == errors.__name__
]


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (errors.ArgumentError, ValueError),
        (errors.ArgumentTypeError, TypeError),
        (errors.CertificateError, ArithmeticError),
        (errors.LedgerError, RuntimeError),
        (errors.MissingPackageError, ModuleNotFoundError),
    ],
)
def test_each_error_is_ours_and_the_fitting_builtin(
    error: type[Exception], builtin: type[Exception]
) -> None:
    assert issubclass(error, errors.InBoundsError)
    assert issubclass(error, builtin)
    with pytest.raises(builtin, match=r"^why$"):
        raise error("why")


def test_no_error_is_missing_from_the_tree_in_the_docstring() -> None:
    assert len(EVERY_ERROR) >= 4
    for error in EVERY_ERROR:
        assert error.__name__ in (errors.__doc__ or "")


def test_every_error_says_what_it_means() -> None:
    assert all(error.__doc__ for error in EVERY_ERROR)


def test_errors_of_value_and_of_type_are_told_apart() -> None:
    assert not issubclass(errors.ArgumentError, TypeError)
    assert not issubclass(errors.ArgumentTypeError, ValueError)
