from itertools import pairwise

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from inbounds.cli.app import app


def commands(command, words=()):
    own = [(words, command)]
    for name, below in getattr(command, "commands", {}).items():
        own += commands(below, (*words, name))
    return own


COMMANDS = commands(get_command(app))
IDS = [" ".join(words) or "inbounds" for words, _ in COMMANDS]


@pytest.fixture(params=[words for words, _ in COMMANDS], ids=IDS)
def screen(request, monkeypatch):
    """The help of a command on a screen of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    return CliRunner().invoke(app, [*request.param, "--help"]).stdout


@pytest.mark.parametrize(("words", "command"), COMMANDS, ids=IDS)
def test_examples_can_be_pasted_from_a_screen_of_80_columns(words, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = CliRunner().invoke(app, [*words, "--help"]).stdout
    lines = {line.strip() for line in shown.splitlines()}
    parts = (command.epilog or "").split("\n\n")
    examples = [line for part in parts if part.startswith("$") for line in part.splitlines()]
    assert examples or not command.epilog or not words
    assert [line for line in examples if line.strip() not in lines] == []


def test_no_word_of_the_help_is_cut_off(screen):
    assert "…" not in screen


def test_flags_are_shown_without_a_value(screen):
    assert "<bool>" not in screen


def test_paragraphs_fill_the_screen(screen):
    """A line that ends early is the last of its paragraph: what follows would have fitted."""
    prose = screen.split("╭")[0].splitlines()
    for line, following in pairwise(prose):
        if line.strip() and following.strip():
            assert len(line.rstrip()) + 1 + len(following.split()[0]) > 79
