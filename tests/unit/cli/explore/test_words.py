import pytest

from inbounds.cli.explore.words import of_argument, of_command
from inbounds.errors import ArgumentError, ArgumentTypeError, Hint


@pytest.mark.parametrize(
    ("said", "ours"),
    [
        ("--column: the input has 2 columns named 'a'.", "the file has 2 columns named 'a'."),
        (
            "--levels 'flag' must be false and true, as the column holds.",
            "the categories of 'flag' must be false and true, as the column holds.",
        ),
        (
            "a.csv: column '--nulls skip' must have no nulls. Hint: --nulls uniform treats them as "
            "random numbers from the box, --nulls keep publishes where they are.",
            "a.csv: column '--nulls skip' must have no missing values. Hint: “replace it by a "
            "random value” treats them as random numbers from the box, “publish that it is "
            "missing” publishes where they are.",
        ),
        (
            "column 'a' must have no values outside its bounds. Hint: --outside clip moves values "
            "to the bounds, --outside skip leaves out rows.",
            "column 'a' must have no values outside its bounds.",
        ),
        (
            "--column: the input has no column 'a'. Hint: its cells seem to be separated by ';': "
            "use --delimiter.",
            "the file has no column 'a'. Hint: its cells seem to be separated by ';': choose what "
            "is between the cells.",
        ),
        ("--epsilon must be positive.", "epsilon must be positive."),
        ("Hint: inbounds explore --ledger FILE", "Hint: inbounds explore --ledger FILE"),
    ],
)
def test_no_option_is_left_but_in_what_a_person_named(said: str, ours: str) -> None:
    assert of_command(said) == ours


@pytest.mark.parametrize(
    ("error", "ours"),
    [
        (ArgumentError.must_be("step", "positive", got="step=0.0"), "step must be positive, got 0"),
        (
            ArgumentTypeError.must_be("at_most", "a number", got="nothing"),
            "the error that you can accept must be a number, got nothing",
        ),
        (
            ArgumentError.must_be("bounds", "apart", got="lower=5, upper=1"),
            "bounds must be apart, got lower=5, upper=1",
        ),
        (
            ArgumentError.must_be("norm", "other", hint=Hint("use {}.", "LInf(...)")),
            "norm must be other. Hint: use LInf(...)",
        ),
        (ArgumentError("nothing is named."), "nothing is named"),
    ],
)
def test_an_argument_is_named_as_on_the_page(
    error: ArgumentError | ArgumentTypeError, ours: str
) -> None:
    assert of_argument(error) == f"{ours}."
