"""The commands. A new one needs a module and one line here."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from inbounds import __version__
from inbounds.cli import (
    audit,
    calibrate,
    compare,
    compose,
    estimate,
    ledger,
    limit,
    privatize,
    regimes,
    release,
    reproduce,
    summarize,
)
from inbounds.cli.failure import exit_code_of


class _Commands(TyperGroup):
    """Commands that report a failure in one line on standard error, never as a traceback."""

    def main(self, *args: Any, **options: Any) -> Any:
        options["standalone_mode"] = False
        raise SystemExit(exit_code_of(lambda: super(_Commands, self).main(*args, **options)))


app = typer.Typer(
    name="inbounds",
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["--help", "-h"]},
    epilog="Each command shows worked examples: [bold]inbounds calibrate --help[/bold]",
)
app.command(epilog=calibrate.EXAMPLES)(calibrate.calibrate)
app.command(epilog=compare.EXAMPLES)(compare.compare)
app.command(epilog=limit.EXAMPLES)(limit.limit)
app.command(epilog=compose.EXAMPLES)(compose.compose)
app.command(epilog=release.EXAMPLES, context_settings={"ignore_unknown_options": True})(
    release.release
)
app.command(epilog=summarize.EXAMPLES)(summarize.summarize)
app.command(epilog=privatize.EXAMPLES)(privatize.privatize)
app.command(epilog=estimate.EXAMPLES)(estimate.estimate)
app.command(epilog=audit.EXAMPLES)(audit.audit)
app.add_typer(reproduce.app, name="reproduce")
app.add_typer(ledger.app, name="ledger")
app.command(epilog=regimes.EXAMPLES)(regimes.regimes)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"inbounds {__version__}")
        raise typer.Exit


@app.callback()
def inbounds(
    _version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Differentially private outputs that stay in bounds."""


def run(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Examples
    --------
    >>> run(["calibrate", "--bounds", "5:1", "--sensitivity", "1", "--epsilon", "1"])
    2
    """
    try:
        typer.main.get_command(app).main(
            args=None if args is None else list(args), prog_name="inbounds"
        )
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0
