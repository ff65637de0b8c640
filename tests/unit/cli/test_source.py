import pytest
import typer

from inbounds.cli.failure import UsageError
from inbounds.cli.source import PIPE, check_columns, opened, read_delimiter


@pytest.mark.parametrize(
    "delimiter", ["", ";;", "1", "e", ".", "-", "+", '"', "\n", "\r", "ä", "\0"]
)
def test_a_delimiter_cannot_be_what_numbers_and_quotes_are_made_of(delimiter):
    with pytest.raises(typer.BadParameter, match=r"^must be one ASCII character"):
        read_delimiter(delimiter)


@pytest.mark.parametrize("name", ["height", "secret 41"])
def test_a_missing_column_is_named_and_the_header_is_not_shown(name):
    with pytest.raises(UsageError) as caught:
        check_columns(["age"], [name])
    assert caught.value.message == "--column: the input has no column 'age'."


def test_a_column_that_is_there_twice_is_refused():
    with pytest.raises(UsageError, match="the input has 2 columns named 'age'"):
        check_columns(["age"], ["age", "age"])


def test_a_header_with_another_delimiter_is_recognized():
    with pytest.raises(UsageError, match="separated by ';': use --delimiter"):
        check_columns(["age"], ["name;age"])


def test_closed_standard_input_is_a_usage_error(monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(UsageError, match="through a pipe"), opened(PIPE):
        pass


def test_a_terminal_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    with pytest.raises(UsageError, match="through a pipe"), opened(PIPE):
        pass
