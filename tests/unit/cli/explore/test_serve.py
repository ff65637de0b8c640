import asyncio
import logging
import os
import signal
import socket
import sys
import threading
from pathlib import Path

import pytest

from inbounds.cli.explore import serve
from inbounds.cli.explore.worker import Workers
from inbounds.cli.failure import UsageError


def test_a_socket_turns_nagle_off_and_listens_here_alone() -> None:
    with serve.listening(0) as listener:
        assert listener.proto == socket.IPPROTO_TCP  # asyncio looks at this
        assert listener.getsockname()[0] == "127.0.0.1"
        with socket.create_connection(listener.getsockname(), timeout=5):
            pass  # it listens already


def test_a_port_that_is_taken_is_refused_with_a_hint() -> None:
    with serve.listening(0) as first:
        port = first.getsockname()[1]
        with pytest.raises(UsageError, match=f"free port, got {port}"), serve.listening(port):
            pass


def test_the_server_says_nothing_of_itself() -> None:
    server = serve._server(None)
    config = server.config
    assert not any((config.access_log, config.server_header, config.date_header))
    assert not config.proxy_headers
    assert config.ws == "none"
    assert logging.getLogger("uvicorn.error").getEffectiveLevel() > logging.CRITICAL


def test_signals_are_ours_while_it_runs_and_as_before_after_it() -> None:
    server, workers = serve._server(None), Workers()
    earlier = [signal.getsignal(kind) for kind in serve._ENDS]
    with serve._ended_by_signals(server, workers):
        os.kill(os.getpid(), signal.SIGTERM)
        assert server.should_exit
        assert workers._is_closed
    assert [signal.getsignal(kind) for kind in serve._ENDS] == earlier


def test_an_ignored_signal_stays_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        server = serve._server(None)
        with serve._ended_by_signals(server, Workers()):
            os.kill(os.getpid(), signal.SIGHUP)
            assert not server.should_exit
    finally:
        signal.signal(signal.SIGHUP, before)


def test_the_page_that_leads_to_the_page_is_private(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    serve._open("http://127.0.0.1:1/#token=abc", tmp_path)
    path = tmp_path / "inbounds.html"
    assert opened == [path.as_uri()]
    assert path.stat().st_mode & 0o777 == 0o600
    assert "url=http://127.0.0.1:1/#token=abc" in path.read_text()


def test_a_browser_that_fails_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: str) -> None:
        raise OSError

    monkeypatch.setattr("webbrowser.open", fail)
    serve._open("http://127.0.0.1:1/", tmp_path)


def test_without_a_screen_no_browser_takes_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    for name in serve._SCREENS:
        monkeypatch.delenv(name, raising=False)
    assert not serve._has_screen()
    monkeypatch.setenv("DISPLAY", ":0")
    assert serve._has_screen()


def test_a_thread_that_computes_on_does_not_keep_the_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    codes: list[int] = []
    monkeypatch.setattr(os, "_exit", codes.append)
    workers, go = Workers(), threading.Event()

    async def ask() -> None:
        assert (await workers.compute(int, "1"))[0] == 1  # its thread is idle from then on
        serve._end(workers, threading.Thread())
        assert codes == []
        task = asyncio.create_task(workers.compute(go.wait))
        await asyncio.sleep(0)
        serve._end(workers, threading.Thread())
        go.set()
        await task

    asyncio.run(ask())
    assert codes == [0]


def test_a_library_that_is_still_loaded_is_not_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    codes: list[int] = []
    monkeypatch.setattr(os, "_exit", codes.append)
    go = threading.Event()
    warming = threading.Thread(target=go.wait, daemon=True)
    warming.start()
    serve._end(Workers(), warming)
    assert codes == [0]
    go.set()
    warming.join()
    serve._end(Workers(), warming)
    assert codes == [0]
