import copy
import inspect
import pickle

import pytest

import inbounds as ib
from inbounds import errors
from inbounds.errors import ArgumentError, ArgumentTypeError, Hint

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


both_kinds = pytest.mark.parametrize("kind", [ArgumentError, ArgumentTypeError])


@both_kinds
def test_a_message_is_built_from_its_parts(kind: type[ArgumentError | ArgumentTypeError]) -> None:
    error = kind.must_be("sigma", "positive", got="sigma=-1.0", hint="use calibrated(...).")
    assert str(error) == "sigma must be positive, got sigma=-1.0.\nHint: use calibrated(...)."
    assert (error.argument, error.requirement) == ("sigma", "positive")
    assert error.hint == "use calibrated(...)."
    assert error.sentence == "sigma must be positive, got sigma=-1.0."
    assert error.said_of("--sigma") == "--sigma must be positive, got sigma=-1.0."
    assert type(error) is kind


@both_kinds
def test_another_verb_is_a_part_of_the_requirement(
    kind: type[ArgumentError | ArgumentTypeError],
) -> None:
    error = kind.must("values", "have no nulls")
    assert (str(error), error.requirement) == ("values must have no nulls.", "have no nulls")


@both_kinds
def test_a_plain_message_has_no_parts(kind: type[ArgumentError | ArgumentTypeError]) -> None:
    error = kind("something else.")
    assert (error.argument, error.requirement, error.hint) == (None, None, None)
    assert error.said_of("") == error.sentence == str(error) == "something else."


@both_kinds
def test_copies_and_pickles_keep_every_part(kind: type[ArgumentError | ArgumentTypeError]) -> None:
    error = kind.must_be("a", "b", got="a=c", hint=Hint("use {}.", "d()"))
    for again in (copy.copy(error), copy.deepcopy(error), pickle.loads(pickle.dumps(error))):
        assert type(again) is kind
        assert (str(again), vars(again)) == (str(error), vars(error))
        assert isinstance(again.hint, Hint)
        assert again.hint.written(str.upper) == "use D()."


def test_the_errors_of_a_budget_and_of_a_weak_guarantee_keep_their_parts_too() -> None:
    error = errors.BudgetExceededError("no.", dataset="d", asked=1, remaining=2)
    warning = errors.WeakGuaranteeWarning("delta=0.5 is large.", argument="delta")
    for given in (error, warning):
        again = pickle.loads(pickle.dumps(given))
        assert (type(again), str(again), vars(again)) == (type(given), str(given), vars(given))


def test_private_values_are_in_no_part_of_an_error() -> None:
    mechanism = ib.BoundedLaplace(ib.Box(0, 1), 1, scale=1.0)
    for secret in ([0.123456, float("nan")], ["0.123456"], 0.123456j, [[0.123456], [1, 2]]):
        with pytest.raises((ArgumentError, ArgumentTypeError)) as caught:
            mechanism.release(secret)
        assert caught.value.argument == "values"
        assert "123456" not in repr(vars(caught.value)) + str(caught.value)
