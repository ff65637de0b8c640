"""How the help of a command looks on a screen of 80 columns."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

_WIDEST = 24  # characters beside an option; what is wider takes room from its words


class _Flowing:
    """Help in which lines of a paragraph are joined, flags have no value, and choices are words."""

    help: str | None
    epilog: str | None

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.help, self.epilog = flowing(self.help or ""), flowing(self.epilog or "")

    def get_params(self, ctx: Any) -> list[Any]:
        """Return all options and arguments, among them ``--help``."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            shown = param.display_type_rich(ctx=ctx) or ""
            if getattr(param, "is_flag", False):
                param.metavar = ""
            elif "|" in shown and len(shown) > _WIDEST:
                *others, last = shown.strip("<>").split("|")
                param.metavar = "NAME"
                param.help = f"{param.help} One of {', '.join(others)} and {last}."
        return params


class Command(_Flowing, TyperCommand):
    r"""A command whose help flows into the screen: `app.command(cls=Command)`.

    Examples
    --------
    >>> Command("name", help="One.\n\nTwo\nlines.").help
    'One.\n\nTwo lines.'
    """


class Group(_Flowing, TyperGroup):
    """A group of commands, likewise: `typer.Typer(cls=Group)`."""


def flowing(text: str) -> str:
    r"""Return a text whose paragraphs are one line each, but for commands, which start with `$`.

    Examples
    --------
    >>> flowing("One\nline.\n\n$ a \\\n  b")
    'One line.\n\n$ a \\\n  b'
    """
    parts = (part.strip() for part in text.split("\n\n"))
    return "\n\n".join(p if p.startswith("$") else " ".join(p.split()) for p in parts)
