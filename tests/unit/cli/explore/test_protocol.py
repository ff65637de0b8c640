import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from inbounds.cli.explore import protocol, serve
from inbounds.cli.explore.guard import HEADERS, KNOWN


async def page(scope: Any, receive: Any, send: Any) -> None:
    scope[KNOWN] = scope["path"] == "/known"
    await receive()
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@asynccontextmanager
async def connected(port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield reader, writer
    finally:
        writer.close()


def served(talk: Callable[[int], Awaitable[Any]]) -> Any:
    """Return what a coroutine returns that talks to a server on a port."""

    async def run() -> Any:
        server = serve._server(page)
        with serve.listening(0) as listener:
            running = asyncio.create_task(server.serve(sockets=[listener]))
            try:
                return await talk(listener.getsockname()[1])
            finally:
                server.should_exit = server.force_exit = True
                await running

    return asyncio.run(run())


def test_a_connection_that_asks_for_nothing_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "_SECONDS", 0.2)

    async def talk(port: int) -> list[bytes]:
        async with connected(port) as (silent, _), connected(port) as (slow, writer):
            writer.write(b"GET / HTTP/1.1\r\nhost")
            async with asyncio.timeout(5):
                return [await silent.read(), await slow.read()]

    assert served(talk) == [b"", b""]


def test_a_connection_that_asks_again_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "_SECONDS", 0.2)

    async def talk(port: int) -> list[bytes]:
        lines = []
        async with connected(port) as (reader, writer):
            for _ in range(6):
                writer.write(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
                lines.append(await reader.readuntil(b"\r\n\r\n"))
                await asyncio.sleep(0.1)
        return lines

    assert all(line.startswith(b"HTTP/1.1 204") for line in served(talk))


def test_idle_connections_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "MOST_CONNECTIONS", 3)

    async def talk(port: int) -> tuple[bytes, bytes]:
        async with AsyncExitStack() as stack:
            idle = [await stack.enter_async_context(connected(port)) for _ in range(3)]
            reader, writer = await stack.enter_async_context(connected(port))
            writer.write(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
            return await reader.readuntil(b"\r\n"), await idle[0][0].read()

    assert served(talk) == (b"HTTP/1.1 204 No Content\r\n", b"")


def test_a_connection_that_was_just_opened_is_not_the_first_to_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All idle ones were closed, with a request that was on its way."""
    monkeypatch.setattr(protocol, "MOST_CONNECTIONS", 4)

    async def talk(port: int) -> list[bytes]:
        lines = []
        async with AsyncExitStack() as stack:
            kept = await stack.enter_async_context(connected(port))
            kept[1].write(b"GET /known HTTP/1.1\r\nhost: x\r\n\r\n")
            await kept[0].readuntil(b"\r\n\r\n")
            for _ in range(4):
                await stack.enter_async_context(connected(port))
            fresh = await stack.enter_async_context(connected(port))
            for _ in range(2):
                await stack.enter_async_context(connected(port))
            await asyncio.sleep(0.1)
            for reader, writer in (fresh, kept):
                writer.write(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
                lines.append(await reader.readuntil(b"\r\n\r\n"))
        return lines

    assert all(line.startswith(b"HTTP/1.1 204") for line in served(talk))


def test_requests_without_the_token_that_do_not_end_make_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They counted as served, so that all others had to go, even one that was just opened."""
    monkeypatch.setattr(protocol, "MOST_CONNECTIONS", 3)
    begun = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n"

    async def talk(port: int) -> tuple[bytes, bytes]:
        async with AsyncExitStack() as stack:
            open_ = [await stack.enter_async_context(connected(port)) for _ in range(4)]
            for _, writer in open_[:3]:
                writer.write(begun)
            await asyncio.sleep(0.1)
            last = await stack.enter_async_context(connected(port))
            reader, writer = open_[3]
            writer.write(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
            async with asyncio.timeout(5):
                gone = await open_[0][0].read()
                last[1].close()
                return await reader.readuntil(b"\r\n"), gone

    assert served(talk) == (b"HTTP/1.1 204 No Content\r\n", b"")


def test_what_is_not_http_gets_all_headers() -> None:
    async def talk(port: int) -> bytes:
        async with connected(port) as (reader, writer):
            writer.write(b"nonsense\r\n\r\n")
            return await reader.read()

    answer = served(talk).decode()
    assert answer.startswith("HTTP/1.1 400 Bad Request\r\n")
    for name, value in HEADERS.items():
        assert f"\r\n{name}: {value}\r\n" in answer


def test_nagle_is_off() -> None:
    """Else a request waits up to 44 ms for the acknowledgement of the one before."""
    seen: list[int] = []

    class Seen(protocol.Protocol):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            own = transport.get_extra_info("socket")
            seen.append(own.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))

    async def run() -> None:
        server = serve._server(page)
        server.config.http = Seen
        with serve.listening(0) as listener:
            running = asyncio.create_task(server.serve(sockets=[listener]))
            async with connected(listener.getsockname()[1]):
                await asyncio.sleep(0.2)
            server.should_exit = server.force_exit = True
            await running

    asyncio.run(run())
    assert seen == [1]
