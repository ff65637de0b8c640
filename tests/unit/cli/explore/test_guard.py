import asyncio
import json
from typing import Any

import pytest

from inbounds.cli.explore import guard
from inbounds.cli.explore.guard import FILE, HEADERS, JSON, Guard, Refusal
from inbounds.cli.explore.keys import pass_of

PORT, TOKEN = 8765, "token"
HOST = (b"host", b"127.0.0.1:8765")
ORIGIN = (b"origin", b"http://127.0.0.1:8765")
HEAD = [
    HOST,
    ORIGIN,
    (b"x-inbounds-pass", pass_of("token").encode()),
    (b"content-type", b"application/json"),
]


async def page(scope: Any, receive: Any, send: Any) -> None:
    """Answer with the size of the body."""
    size, more = 0, True
    while more:
        message = await receive()
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"%d" % size})


def asked(
    headers: Any = HEAD, parts: Any = (b"{}",), path: str = "/api/view", app: Any = page
) -> tuple[int, dict[bytes, bytes], bytes]:
    """Return the status, the headers and the body that come back."""
    sent: list[Any] = []
    waiting = [{"type": "http.request", "body": p, "more_body": True} for p in parts]
    waiting = [*waiting[:-1], {**waiting[-1], "more_body": False}]

    async def receive() -> Any:
        if not waiting:
            await asyncio.sleep(60)
        return waiting.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": path, "headers": headers}
    files = frozenset({"/api/file/draw"})
    asyncio.run(Guard(app, PORT, TOKEN, files)(scope, receive, send))
    start, *bodies = sent
    return start["status"], dict(start["headers"]), b"".join(b["body"] for b in bodies)


def test_what_the_page_asks_is_passed_on_with_headers() -> None:
    status, headers, body = asked(parts=[b"ab", b"c"])
    assert (status, body) == (200, b"3")
    assert {name.encode(): value.encode() for name, value in HEADERS.items()} == headers


@pytest.mark.parametrize("left_out", range(4))
def test_every_header_of_a_call_is_needed(left_out: int) -> None:
    headers = [pair for place, pair in enumerate(HEAD) if place != left_out]
    status, _, body = asked(headers)
    assert status == [421, 403, 401, 415][left_out]
    assert set(json.loads(body)) == {"error"}


def test_the_first_reason_is_told_and_nothing_of_the_others() -> None:
    assert asked([])[0] == 421
    assert asked([HOST])[0] == 403
    assert asked([HOST, ORIGIN])[0] == 401


@pytest.mark.parametrize("path", ["/api/view", "/api/file/draw"])
def test_a_body_is_counted_while_it_comes(path: str) -> None:
    kind = FILE if path.endswith("draw") else JSON
    headers = [*HEAD[:3], (b"content-type", kind.encode())]
    most = 1 << (26 if kind == FILE else 16)
    assert asked(headers, [b"x" * most], path)[0] == 200
    assert asked(headers, [b"x" * most, b"x"], path)[0] == 413
    announced = [*headers, (b"content-length", b"%d" % (most + 1))]
    assert asked(announced, [b"x"], path)[0] == 413


def test_a_content_type_may_have_a_charset() -> None:
    headers = [*HEAD[:3], (b"content-type", b"application/json; charset=utf-8")]
    assert asked(headers)[0] == 200


def test_a_body_that_does_not_come_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "_SECONDS", {JSON: 0.05, FILE: 0.05})

    async def never(_: Any, receive: Any, __: Any) -> None:
        while (await receive()).get("more_body"):
            pass

    sent: list[Any] = []

    async def receive() -> Any:
        await asyncio.sleep(0.02)
        return {"type": "http.request", "body": b"x", "more_body": True}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/api/view", "headers": HEAD}
    asyncio.run(Guard(never, PORT, TOKEN, frozenset())(scope, receive, send))
    assert sent[0]["status"] == 408
    assert (b"connection", b"close") in sent[0]["headers"]


def test_what_is_refused_is_read_to_its_end_so_that_the_answer_arrives() -> None:
    _, headers, _ = asked([HOST], [b"x"] * 5)
    assert b"connection" not in headers
    _, headers, _ = asked([HOST, (b"expect", b"100-continue")], [b"x"])
    assert headers[b"connection"] == b"close"


def test_an_error_of_the_page_is_told_without_its_message() -> None:
    async def broken(*_: Any) -> None:
        raise ValueError("41 is private")

    status, headers, body = asked(app=broken)
    assert status == 500
    assert json.loads(body)["error"].startswith("unexpected ValueError in test_guard.py, line ")
    assert b"content-security-policy" in headers


def test_an_error_after_the_answer_has_begun_adds_nothing() -> None:
    async def broken(_: Any, __: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"half"})
        raise Refusal(400, "too late.")

    assert asked(app=broken)[2] == b"half"


def test_nothing_but_http_is_served() -> None:
    async def broken(*_: Any) -> None:
        raise AssertionError

    asyncio.run(Guard(broken, PORT, TOKEN, frozenset())({"type": "websocket"}, None, None))  # type: ignore[arg-type]


def test_the_port_that_browsers_do_not_name_can_be_served() -> None:
    for host in (b"127.0.0.1", b"127.0.0.1:80"):
        pairs = [(b"host", host), (b"origin", b"http://" + host), *HEAD[2:]]
        scope = {"type": "http", "method": "POST", "path": "/api/view", "headers": pairs}
        assert Guard(page, 80, TOKEN, frozenset()).refusal(scope) is None
        refusal = Guard(page, 8080, TOKEN, frozenset()).refusal(scope)
        assert refusal is not None
        assert refusal.status == 421
