"""Errors in the words of the page, which has neither options nor arguments of Python."""

from __future__ import annotations

import re

from inbounds.errors import ArgumentError, ArgumentTypeError

_QUOTED = re.compile(r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")
_OPTION = re.compile(r"(?<![\w-])--(?!ledger)([a-z]+(?:-[a-z]+)*)\b")
_GOT = re.compile(r", got [a-z_]+=([^=,]*)\.$")
_FOREIGN = (
    "--outside",
    "--force",
    "--mechanism",
    "--objective",
    "--format",
    "lazy=",
)
_NAMES = {
    "at_most": "the error that you can accept",
    "question": "the question",
    "find": "what is to be found",
}
_WORDS = {
    "--column: the input has": "the file has",
    "--levels: the input has": "the file has",
    "use --delimiter": "choose what is between the cells",
    "--nulls uniform": "“replace it by a random value”",
    "--nulls keep": "“publish that it is missing”",
    "--nulls skip": "“leave out its row”",
    "--groups-from": "the groups",
    "--groups or": "the groups or",
    "--levels ": "the categories of ",
    "--column ": "the column ",
    "--id": "the column of people",
    "--rows": "the rows of one person",
    "--size": "the rows of a group",
    "--by": "the columns to group by",
    "have no nulls": "have no missing values",
    "rows with nulls": "rows with missing values",
}


def of_command(message: str) -> str:
    """Return an error of a command in the page's words; what is in quotes does not change.

    Examples
    --------
    >>> of_command("--column: the input has no column '--id'.")
    "the file has no column '--id'."
    >>> of_command("column 'a' must have no nulls. Hint: --nulls skip leaves out rows with nulls.")
    "column 'a' must have no missing values. Hint: “leave out its row” leaves out rows with missing
    values."
    """
    sentence, mark, hint = message.partition(" Hint: ")
    if any(word in hint for word in _FOREIGN):
        mark = hint = ""
    parts = _QUOTED.split(sentence + mark + hint)
    return "".join(part if k % 2 else _plain(part) for k, part in enumerate(parts))


def _plain(text: str) -> str:
    for words, ours in _WORDS.items():
        text = text.replace(words, ours)
    return _OPTION.sub(lambda match: match[1].replace("-", " "), text)


def of_argument(error: ArgumentError | ArgumentTypeError) -> str:
    """Return an error about a field in the page's words.

    Examples
    --------
    >>> of_argument(ArgumentError.must_be("step", "positive", got="step=0.0"))
    'step must be positive, got 0.'
    >>> of_argument(ArgumentError.must_be("at_most", "positive", got="at_most=-1.5"))
    'the error that you can accept must be positive, got -1.5.'
    """
    name = error.argument or ""
    sentence = error.said_of(_NAMES.get(name, name)) if name else error.sentence
    sentence = _GOT.sub(lambda match: f", got {match[1].removesuffix('.0')}.", sentence)
    hint = f" Hint: {error.hint}" if error.hint else ""
    return of_command(" ".join(f"{sentence}{hint}".split()))
