"""The commands. A new one needs a module and one line here."""

import sys
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import typer

from inbounds import __version__
from inbounds.cli import (
    audit,
    calibrate,
    compare,
    compose,
    estimate,
    explore,
    ledger,
    limit,
    privatize,
    regimes,
    release,
    reproduce,
    summarize,
)
from inbounds.cli.failure import exit_code_of
from inbounds.cli.help import Command, Group


class _Commands(Group):
    """Commands that report a failure in one line on standard error, never as a traceback."""

    def main(self, *args: Any, **options: Any) -> Any:
        options["standalone_mode"] = False
        raise SystemExit(exit_code_of(lambda: super(_Commands, self).main(*args, **options)))


_COMMANDS: dict[str, Any] = {
    "calibrate": calibrate,
    "compare": compare,
    "limit": limit,
    "compose": compose,
    "release": release,
    "summarize": summarize,
    "privatize": privatize,
    "estimate": estimate,
    "audit": audit,
    "reproduce": reproduce,
    "ledger": ledger,
    "regimes": regimes,
    "explore": explore,
}
_UNKNOWN_OPTIONS = {"release": {"ignore_unknown_options": True}}  # values may be negative


def app_of(names: Iterable[str]) -> typer.Typer:
    """Return the command line with some of its commands, in the order of the help."""
    app = typer.Typer(
        name="inbounds",
        cls=_Commands,
        callback=inbounds,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["--help", "-h"]},
        epilog="Each command shows worked examples: [bold]inbounds calibrate --help[/bold]",
    )
    for name in names:
        module = _COMMANDS[name]
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name)
        else:
            settings = _UNKNOWN_OPTIONS.get(name)
            options: dict[str, Any] = {"epilog": module.EXAMPLES, "context_settings": settings}
            app.command(cls=Command, **options)(getattr(module, name))
    return app


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"inbounds {__version__}")
        raise typer.Exit


def inbounds(
    _version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Differentially private outputs that stay in bounds."""


app = app_of(_COMMANDS)


def run(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Examples
    --------
    >>> run(["calibrate", "--bounds", "5:1", "--sensitivity", "1", "--epsilon", "1"])
    2
    """
    words = sys.argv[1:] if args is None else list(args)
    known = words[:1] if words[:1] and words[0] in _COMMANDS else _COMMANDS  # one is sooner built
    try:
        typer.main.get_command(app_of(known)).main(args=words, prog_name="inbounds")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0
