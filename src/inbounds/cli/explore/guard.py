"""What stands between the network and the page: only our own page may ask, and not for too much.

A page of somebody else in the same browser, and another user of the same machine, can both connect
to the port. The first can neither read the token nor forge where it comes from; the second has no
token.
"""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from inbounds.cli.explore.keys import pass_of
from inbounds.cli.failure import unexpected

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

PASS = b"x-inbounds-pass"
KNOWN = "inbounds.known"
"""Where a request's scope holds that it showed to know the token."""
PROVE = "/api/prove"
"""Where a page asks the server to prove that it knows the token, before it sends a file."""
JSON, FILE = "application/json", "application/octet-stream"
_MOST = {JSON: 1 << 16, FILE: 1 << 26}  # bytes of a body
_SECONDS = {JSON: 5.0, FILE: 300.0}  # in which a body must have come
_USUAL_PORT = 80
_PATIENCE = 2.0  # seconds in which what is refused may still come, so that the answer is read
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""The headers of every answer."""
_RAW_HEADERS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]


class Refusal(Exception):  # noqa: N818 - it is an answer
    """A request that is not served: a status, and why.

    Examples
    --------
    >>> Refusal(404, "there is no such page.").status
    404
    """

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Guard:
    """Refuse what did not come from our own page, or is too large or too slow.

    Parameters
    ----------
    app
        The application behind it.
    port
        The port that requests must name, in Host and in Origin.
    token
        What only those know who were given the address.
    files
        The paths to which a file is sent. All other paths below ``/api/`` get JSON.

    Examples
    --------
    >>> async def page(scope, receive, send): ...
    >>> request = {"type": "http", "method": "GET", "path": "/", "headers": [(b"host", b"evil:80")]}
    >>> Guard(page, 80, "token", frozenset()).refusal(request).status
    421
    """

    def __init__(self, app: Application, port: int, token: str, files: frozenset[str]) -> None:
        self._app = app
        self._hosts = [f"127.0.0.1:{port}".encode()]
        if port == _USUAL_PORT:  # which browsers do not name
            self._hosts.append(b"127.0.0.1")
        self._pass = pass_of(token).encode()
        self._files = files

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve a request, or refuse it."""
        if scope["type"] != "http":
            return
        is_begun = False

        async def send_with_headers(message: Message) -> None:
            nonlocal is_begun
            if message["type"] == "http.response.start":
                is_begun = True
                message["headers"] = [*message.get("headers", ()), *_RAW_HEADERS]
            await send(message)

        kind = self._kind(scope["path"])
        body = _Body(receive, _MOST[kind], _SECONDS[kind])
        refusal = self.refusal(scope)
        if refusal is None:
            try:
                await self._app(scope, body.receive, send_with_headers)
            except Refusal as error:
                refusal = error
            except Exception as error:
                refusal = Refusal(500, unexpected(error))
        if refusal is not None and not is_begun:
            waits = any(name == b"expect" for name, _ in scope["headers"])
            is_read = not waits and refusal.status != 408 and await body.thrown_away()
            await _answer(send_with_headers, refusal, goes_on=is_read)

    def _kind(self, path: str) -> str:
        return FILE if path in self._files else JSON

    def refusal(self, scope: Message) -> Refusal | None:
        """Return why a request is refused before its body is read, or None."""
        headers = _Headers(scope["headers"])
        if headers.only(b"host") not in self._hosts:
            return Refusal(421, f"the address must begin with http://{self._hosts[0].decode()}/.")
        is_call = scope["path"].startswith("/api/")
        if scope["method"] not in (("POST",) if is_call else ("GET", "HEAD")):
            return Refusal(405, f"the method must be {'POST' if is_call else 'GET'} here.")
        if not self._is_ours(headers, is_call=is_call):
            return Refusal(403, "only the page itself may ask for this.")
        return self._refused_call(scope, headers) if is_call else None

    def _refused_call(self, scope: Message, headers: _Headers) -> Refusal | None:
        scope[KNOWN] = is_known = hmac.compare_digest(headers.only(PASS) or b"", self._pass)
        if not is_known and scope["path"] != PROVE:
            return Refusal(401, "the address must be the one that inbounds explore printed last.")
        kind = self._kind(scope["path"])
        if (headers.only(b"content-type") or b"").partition(b";")[0].strip() != kind.encode():
            return Refusal(415, f"the content type must be {kind}.")
        if int(headers.only(b"content-length") or 0) > _MOST[kind]:
            return _too_large(_MOST[kind])
        return None

    def _is_ours(self, headers: _Headers, *, is_call: bool) -> bool:
        """Tell whether a browser says that the page itself asks, or a person who opens it."""
        origin, site = headers.all(b"origin"), headers.all(b"sec-fetch-site")
        own = [[b"http://" + host] for host in self._hosts]
        if is_call:
            return origin in own and site in ([], [b"same-origin"])
        is_opened = headers.all(b"sec-fetch-dest") == [b"document"]  # by a link or by typing
        return origin in ([], *own) and (is_opened or site in ([], [b"same-origin"], [b"none"]))


class _Headers:
    def __init__(self, pairs: list[tuple[bytes, bytes]]) -> None:
        self._pairs = pairs

    def all(self, name: bytes) -> list[bytes]:
        return [value for key, value in self._pairs if key == name]

    def only(self, name: bytes) -> bytes | None:
        """Return the value of a header that occurs once."""
        values = self.all(name)
        return values[0] if len(values) == 1 else None


class _Body:
    """The body of a request, which is counted while it comes."""

    def __init__(self, receive: Receive, most: int, seconds: float) -> None:
        self._receive, self._most = receive, most
        self._seconds, self._until = seconds, 0.0
        self._size, self._is_complete = 0, False

    async def receive(self) -> Message:
        """Return the next part; once there is no more, wait until the client goes away."""
        if self._is_complete:
            return await self._receive()
        self._until = self._until or asyncio.get_running_loop().time() + self._seconds
        try:
            async with asyncio.timeout_at(self._until):
                message = await self._receive()
        except TimeoutError:
            raise Refusal(408, f"a body must come within {self._seconds:g} seconds.") from None
        self._size += len(message.get("body", b""))
        self._is_complete = not message.get("more_body", False)
        if self._size > self._most:
            raise _too_large(self._most)
        return message

    async def thrown_away(self) -> bool:
        """Read the rest without keeping it, if it comes soon; return whether that was all."""
        try:
            async with asyncio.timeout(_PATIENCE):
                while not self._is_complete and self._size <= 2 * self._most:
                    message = await self._receive()
                    self._size += len(message.get("body", b""))
                    self._is_complete = not message.get("more_body", False)
        except TimeoutError:
            pass
        return self._is_complete


def _too_large(most: int) -> Refusal:
    size = f"{most >> 20} MiB" if most >> 20 else f"{most >> 10} KiB"
    return Refusal(413, f"a body must have at most {size}.")


async def _answer(send: Send, refusal: Refusal, *, goes_on: bool) -> None:
    """Send why a request is refused; unless `goes_on`, the connection ends."""
    body = json.dumps({"error": str(refusal)}).encode()
    headers = [(b"content-type", JSON.encode()), (b"content-length", b"%d" % len(body))]
    headers += [] if goes_on else [(b"connection", b"close")]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
