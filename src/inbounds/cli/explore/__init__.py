"""``inbounds explore``: a local web page that shows what people would see."""

from __future__ import annotations

from typing import Annotated

import typer

EXAMPLES = r"""
[bold]Examples[/bold]

Serve the page on a free port, and open it in the browser:

$ inbounds explore

On a machine without a browser; the address is printed:

$ inbounds explore --port 8765 --no-browser

With the budgets of a ledger, which drawing from a file can be charged to:

$ inbounds explore --ledger budget.db
"""


def explore(
    *,
    port: Annotated[
        int,
        typer.Option(
            metavar="PORT", min=0, max=65535, help="The port to listen on; 0 takes a free one."
        ),
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Whether to open the page in a browser.")
    ] = True,
    ledger: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|URL",
            help="The ledger whose budgets are shown, and the only one that can be charged. Put a "
            "password into a file .pgpass, not into the URL.",
        ),
    ] = None,
) -> None:
    """Show in a local web page what a mechanism does, what it costs, and what people would see.

    The page is for this machine and this user alone: the server listens on
    127.0.0.1 and serves only those who have the address, which it prints on
    standard output. A file that you open there never leaves the machine. Stop
    the server with Ctrl-C; then nothing of it is left.
    """
    from inbounds.cli.explore.serve import serve  # noqa: PLC0415 - help must be quick

    serve(port, browser=browser, ledger=ledger)
