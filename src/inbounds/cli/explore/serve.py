"""The server: a socket on this machine alone, an address that only its reader knows, and an end."""

from __future__ import annotations

import contextlib
import errno
import html
import logging
import os
import secrets
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from inbounds._extra import optional
from inbounds.cli.explore import page
from inbounds.cli.explore.budget import Budget
from inbounds.cli.explore.worker import Workers
from inbounds.cli.failure import UsageError

if TYPE_CHECKING:
    from uvicorn import Server

_BACKLOG = 128
_SILENT = logging.CRITICAL + 1  # of messages of the server, which may hold what was sent
_LOGGERS = ("uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi", "asyncio")
_ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_SCREENS = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")


def serve(port: int, *, browser: bool, ledger: str | None) -> None:
    """Serve the page until a signal ends it, and leave nothing behind.

    Parameters
    ----------
    port
        The port to listen on; 0 takes a free one.
    browser
        Whether to open the page in a browser.
    ledger
        The place of the only ledger that can be read and charged.
    """
    with optional():
        import starlette  # noqa: F401, PLC0415 - a missing package is reported before anything else
        import uvicorn  # noqa: F401, PLC0415 - as above
    budget = _checked(ledger)
    workers = Workers()
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(listening(port))
        port, token = listener.getsockname()[1], secrets.token_urlsafe(32)
        server = _server(page.application(port, token, budget, workers))
        stack.enter_context(_ended_by_signals(server, workers))
        warming = threading.Thread(target=_warm_up, daemon=True)
        stack.callback(_end, workers, warming)
        address = f"http://127.0.0.1:{port}/#token={token}"  # browsers do not send what follows #
        typer.echo(address)
        sys.stdout.flush()
        typer.echo("The page is at this address, for you alone. Ctrl-C stops it.", err=True)
        if browser and _has_screen():
            folder = stack.enter_context(workers.folder())
            threading.Thread(target=_open, args=(address, folder), daemon=True).start()
        warming.start()
        server.run(sockets=[listener])


def _checked(ledger: str | None) -> Budget | None:
    if ledger is None:
        return None
    budget = Budget(ledger)
    budget.datasets()  # fails where there is none
    return budget


@contextlib.contextmanager
def listening(port: int) -> Iterator[socket.socket]:
    """Open a socket that listens on this machine alone.

    The protocol is named, because asyncio turns Nagle's algorithm off only then: it costs 44 ms a
    request.

    Examples
    --------
    >>> with listening(0) as listener:
    ...     listener.getsockname()[0], listener.proto == socket.IPPROTO_TCP
    ('127.0.0.1', True)
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # after an earlier end
        try:
            listener.bind(("127.0.0.1", port))
            listener.listen(_BACKLOG)
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
            reason = str(error.strerror).lower()
            hint = "Hint: --port 0 takes a free one."
            raise UsageError(f"--port must be a free port, got {port}: {reason}. {hint}") from None
        yield listener


def _server(app: Any) -> Server:
    """Return a server that logs nothing, tells nothing of itself, and leaves signals to us."""
    import uvicorn  # noqa: PLC0415 - optional

    from inbounds.cli.explore.protocol import Protocol  # noqa: PLC0415 - needs uvicorn

    class Quiet(uvicorn.Server):
        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield  # uvicorn would raise them again when it is done, before we are

    for name in _LOGGERS:
        logging.getLogger(name).setLevel(_SILENT)
    return Quiet(
        uvicorn.Config(
            app,
            http=Protocol,
            ws="none",
            lifespan="off",
            log_config=None,
            log_level=_SILENT,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=60,
            timeout_graceful_shutdown=1,
        )
    )


@contextlib.contextmanager
def _ended_by_signals(server: Server, workers: Workers) -> Iterator[None]:
    """Let each signal that ends a program end the server, and what runs beside it at once."""

    def end(*_: object) -> None:
        server.should_exit = server.force_exit = True
        workers.kill()

    # What is ignored, as SIGHUP below nohup, stays ignored.
    earlier = {kind: signal.getsignal(kind) for kind in _ENDS}
    heard = [kind for kind in _ENDS if earlier[kind] is not signal.SIG_IGN]
    for kind in heard:
        signal.signal(kind, end)
    try:
        yield
    finally:
        for kind in heard:
            signal.signal(kind, earlier[kind])


def _end(workers: Workers, warming: threading.Thread) -> None:
    """Leave no process and no file behind; a thread that still computes cannot be waited for.

    One that loads a library would crash in it, once Python takes itself apart.
    """
    is_idle = workers.close() and not warming.is_alive()
    if is_idle or sys.exc_info()[0] is not None:
        return
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _has_screen() -> bool:
    """Tell whether a browser would be a window of its own, and not take over the terminal."""
    return sys.platform == "darwin" or any(os.environ.get(name) for name in _SCREENS)


def _open(address: str, folder: Path) -> None:
    """Open the address by way of a file, as everybody can see what programs are started with."""
    import webbrowser  # noqa: PLC0415 - rarely needed

    target = html.escape(address)
    path = folder / "inbounds.html"
    path.touch(mode=0o600)
    path.write_text(
        '<!doctype html><meta charset="utf-8"><title>inbounds explore</title>'
        f'<meta http-equiv="refresh" content="0;url={target}"><a href="{target}">Open the page</a>',
        encoding="utf-8",
    )
    with contextlib.suppress(Exception):  # the address has been printed
        webbrowser.open(path.as_uri())


def _warm_up() -> None:
    """Load the numerical libraries while the page is opened."""
    with contextlib.suppress(Exception):  # the first request reports it
        from inbounds.cli.explore import view  # noqa: F401, PLC0415 - the point of this
