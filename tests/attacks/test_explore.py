"""Attacks on the page of `inbounds explore`, from other pages, other users, and files.

A page that somebody else made runs in the same browser, and other users of the machine can connect
to the port. Every request of theirs is sent to a real server, and to a control: the same page
without its guard, which answers all of them. Everything here is exact, so there are no false
alarms.
"""

import base64
import hashlib
import hmac
import json
import math
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from inbounds.cli.explore import page
from inbounds.cli.explore.guard import HEADERS
from inbounds.cli.explore.keys import pass_of

from ..integration.explore_server import Answer, Server, framed, started, until

NAKED = """
import socket, sys, uvicorn
from inbounds.cli.explore.page import application
from inbounds.cli.explore.worker import Workers
listener = socket.create_server(("127.0.0.1", 0))
port = listener.getsockname()[1]
app = application(port, "token", None, Workers())._app
print(f"http://127.0.0.1:{port}/#token=token", flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="critical")).run(sockets=[listener])
"""
PATH = "/api/file/simulate"
COLUMN = {"name": "age", "bounds": [0, 120], "step": 1, "epsilon": 0.5}
ASKED: Any = {"columns": [COLUMN], "rows": 10}
BODY = json.dumps(ASKED).encode()
SECRET = 41.98765432101
WORD = "Zyxwvut-private"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with started(tmp_path_factory.mktemp("guarded")) as server:
        yield server


@pytest.fixture(scope="module")
def control(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The page without its guard."""
    command = (sys.executable, "-c", NAKED)
    with started(tmp_path_factory.mktemp("naked"), command=command) as server:
        yield server


def test_the_page_itself_is_served(server: Server) -> None:
    assert server.ask(PATH, ASKED).status == 200
    assert server.ask("/", method="GET", origin=None, x_inbounds_pass=None).status == 200


Change = Callable[[Server], dict[str, str | None]]
HEADER_ATTACKS: dict[str, tuple[int, Change]] = {
    "rebound name": (421, lambda s: {"host": f"evil.example:{s.port}"}),
    "rebound name, as its own origin": (
        421,
        lambda s: {"host": f"evil.example:{s.port}", "origin": f"http://evil.example:{s.port}"},
    ),
    "another port": (421, lambda s: {"host": f"127.0.0.1:{s.port + 1}"}),
    "no port": (421, lambda s: {"host": "127.0.0.1"}),
    "localhost": (421, lambda s: {"host": f"localhost:{s.port}"}),
    "a longer name": (421, lambda s: {"host": f"127.0.0.1:{s.port}.evil.example"}),
    "a name before the address": (421, lambda s: {"host": f"evil@127.0.0.1:{s.port}"}),
    "foreign origin": (403, lambda s: {"origin": "http://evil.example"}),
    "origin of another port": (403, lambda s: {"origin": f"http://127.0.0.1:{s.port + 1}"}),
    "origin of a sandbox": (403, lambda s: {"origin": "null"}),
    "no origin": (403, lambda s: {"origin": None}),
    "cross-site": (403, lambda s: {"sec-fetch-site": "cross-site"}),
    "another port of the machine": (403, lambda s: {"sec-fetch-site": "same-site"}),
    "no token": (401, lambda s: {"x-inbounds-pass": None}),
    "empty token": (401, lambda s: {"x-inbounds-pass": ""}),
    "wrong token": (401, lambda s: {"x-inbounds-pass": "A" * 43}),
    "token itself": (401, lambda s: {"x-inbounds-pass": s.token}),
    "pass and more": (401, lambda s: {"x-inbounds-pass": pass_of(s.token) + "a"}),
    "beginning of the pass": (401, lambda s: {"x-inbounds-pass": pass_of(s.token)[:-1]}),
    "token of other letters": (401, lambda s: {"x-inbounds-pass": "é" * 43}),
    "token in a cookie": (401, lambda s: {"x-inbounds-pass": None, "cookie": f"token={s.token}"}),
    "form": (415, lambda s: {"content-type": "application/x-www-form-urlencoded"}),
    "form of parts": (415, lambda s: {"content-type": "multipart/form-data; boundary=x"}),
    "plain text": (415, lambda s: {"content-type": "text/plain"}),
    "no type": (415, lambda s: {"content-type": None}),
    "another type first": (415, lambda s: {"content-type": "text/plain, application/json"}),
}


@pytest.mark.parametrize("attack", HEADER_ATTACKS)
def test_a_request_from_elsewhere_is_refused(attack: str, server: Server, control: Server) -> None:
    status, change = HEADER_ATTACKS[attack]
    assert control.ask(PATH, ASKED, **change(control)).status == 200
    answer = server.ask(PATH, ASKED, **change(server))
    assert answer.status == status
    assert set(answer.json) == {"error"}


REFUSED_PAGES: dict[str, tuple[int, Change]] = {
    "rebound name": (421, lambda s: {"host": f"evil.example:{s.port}"}),
    "foreign origin": (403, lambda s: {"origin": "http://evil.example"}),
    "script of another page": (
        403,
        lambda s: {"origin": None, "sec-fetch-site": "cross-site", "sec-fetch-dest": "script"},
    ),
    "frame of another page": (
        403,
        lambda s: {"origin": None, "sec-fetch-site": "cross-site", "sec-fetch-dest": "iframe"},
    ),
}


@pytest.mark.parametrize("attack", REFUSED_PAGES)
def test_files_of_the_page_are_not_for_other_pages(
    attack: str, server: Server, control: Server
) -> None:
    status, change = REFUSED_PAGES[attack]
    assert control.ask("/", method="GET", **change(control)).status == 200
    assert server.ask("/", method="GET", **change(server)).status == status


def test_a_person_may_open_the_page_by_a_link(server: Server) -> None:
    opened = {"origin": None, "sec-fetch-site": "cross-site", "sec-fetch-dest": "document"}
    assert server.ask("/", method="GET", **opened).status == 200


@pytest.mark.parametrize("name", ["host", "origin", "x-inbounds-pass", "content-type"])
def test_a_header_that_comes_twice_counts_as_none(
    name: str, server: Server, control: Server
) -> None:
    def twice(to: Server) -> bytes:
        headers = [*to.headers().items(), ("content-length", str(len(BODY)))]
        headers += [(key, value) for key, value in headers if key == name]
        lines = [f"POST {PATH} HTTP/1.1", *(f"{key}: {value}" for key, value in headers), "", ""]
        return "\r\n".join(lines).encode() + BODY

    refused = {"host": 400, "origin": 403, "x-inbounds-pass": 401, "content-type": 415}
    assert control.raw(twice(control)).status == (400 if name == "host" else 200)
    assert server.raw(twice(server)).status == refused[name]


@pytest.mark.parametrize(
    ("line", "status"), [("HTTP/1.1", 400), ("HTTP/1.0", 421)]
)  # the first by the parser, which the control has as well
def test_a_request_without_a_host_is_refused(server: Server, line: str, status: int) -> None:
    answer = server.raw(f"GET / {line}\r\n\r\n".encode())
    assert answer.status == status
    check_headers(answer)


def test_a_token_in_the_address_counts_for_nothing(server: Server, control: Server) -> None:
    path = f"{PATH}?token={server.token}&x-inbounds-pass={pass_of(server.token)}"
    assert control.ask(path, ASKED, x_inbounds_pass=None).status == 200
    assert server.ask(path, ASKED, x_inbounds_pass=None).status == 401


NONCE = base64.b64encode(bytes(range(32))).decode()
PROVING_ATTACKS = {
    name: attack
    for name, attack in HEADER_ATTACKS.items()
    if "token" not in name and "pass" not in name  # it is asked for without one
}


def proved(token: str, nonce: str) -> str:
    message = b"inbounds explore" + base64.b64decode(nonce)
    return base64.b64encode(hmac.new(token.encode(), message, hashlib.sha256).digest()).decode()


def test_the_page_is_told_from_a_program_that_took_its_port(server: Server) -> None:
    """After the server has ended, anybody may listen at its address, and wait for a file."""
    answer = server.ask("/api/prove", {"nonce": NONCE}, x_inbounds_pass=None)
    assert answer.status == 200
    assert answer.json == {"proof": proved(server.token, NONCE)}
    guesses = ["", "A" * 43, server.token[:-1], pass_of(server.token), answer.json["proof"]]
    assert proved(server.token, NONCE) not in {proved(guess, NONCE) for guess in guesses}
    other = base64.b64encode(bytes(range(1, 33))).decode()
    second = server.ask("/api/prove", {"nonce": other}, x_inbounds_pass=None).json
    assert second != answer.json  # so that an answer that was recorded is worth nothing
    check_headers(answer)


@pytest.mark.parametrize("attack", PROVING_ATTACKS)
def test_a_proof_is_for_the_page_alone(attack: str, server: Server) -> None:
    status, change = PROVING_ATTACKS[attack]
    changes = {"x_inbounds_pass": None} | change(server)
    assert server.ask("/api/prove", {"nonce": NONCE}, **changes).status == status


def test_a_proof_gives_nothing_of_the_token_and_opens_nothing_else(server: Server) -> None:
    """What is asked for is fixed in length and has a prefix, so no other message can be signed."""
    asked: list[Any] = [{"nonce": NONCE[:-4]}, {"nonce": NONCE + "AAAA"}, {"nonce": ""}, {},
                        {"nonce": NONCE, "prefix": ""}, {"nonce": [0] * 32}, NONCE]  # fmt: skip
    for body in asked:
        answer = server.ask("/api/prove", body, x_inbounds_pass=None)
        assert (answer.status, set(answer.json)) == (400, {"error"})
        assert server.token.encode() not in answer.body
    proof = server.ask("/api/prove", {"nonce": NONCE}, x_inbounds_pass=None).json["proof"]
    for path in ("/api/prove/", "/api/prove/../view", "/api//prove", "/api/view", PATH):
        assert server.ask(path, ASKED, x_inbounds_pass=None).status == 401
        assert server.ask(path, ASKED, x_inbounds_pass=proof).status == 401
    assert sized(server, (1 << 16) + 1, path="/api/prove").status == 413


METHODS = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "PATCH", "CONNECT", "post"]


@pytest.mark.parametrize("method", METHODS)
def test_calls_have_one_method(server: Server, method: str) -> None:
    """A page elsewhere could otherwise call by a link or an image, or ask what is allowed."""
    answer = server.ask(PATH, ASKED, method=method)
    assert answer.status == 405
    assert not any(name.startswith("access-control") for name, _ in answer.pairs)


@pytest.mark.parametrize("method", ["POST", "OPTIONS", "TRACE", "PUT"])
def test_files_of_the_page_have_two_methods(server: Server, method: str) -> None:
    assert server.ask("/", ASKED, method=method).status == 405


def sized(to: Server, size: int, kind: str = "application/json", path: str = PATH) -> Answer:
    return to.ask(path, b" " * size, content_type=kind)


def chunked(to: Server, size: int, kind: str = "application/json", path: str = PATH) -> Answer:
    headers = to.headers(content_type=kind, transfer_encoding="chunked")
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    part = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    data = part * math.ceil(size / 0x10000) + b"0\r\n\r\n"
    return to.raw("\r\n".join([*lines, "", ""]).encode() + data)


@pytest.mark.parametrize("send", [sized, chunked])
def test_a_body_that_is_too_large_is_refused(
    server: Server, control: Server, send: Callable[..., Answer]
) -> None:
    """The control reads all of it and then says that it is no JSON."""
    assert send(control, 1 << 20).status == 400
    assert send(server, 1 << 20).status == 413
    assert send(server, 1 << 16).status == 400


@pytest.mark.parametrize("send", [sized, chunked])
def test_a_file_that_is_too_large_is_refused(server: Server, send: Callable[..., Answer]) -> None:
    options = ("application/octet-stream", "/api/file/columns")
    assert send(server, (1 << 26) + 0x10000, *options).status == 413
    assert resident(server) < 300 << 20
    assert send(server, 1 << 20, *options).status == 400


def resident(server: Server) -> int:
    pages = Path(f"/proc/{server.process.pid}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def test_an_announced_body_is_not_waited_for(server: Server) -> None:
    start = time.monotonic()
    headers = server.headers(content_length=str(1 << 40))
    lines = [f"POST {PATH} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    assert server.raw("\r\n".join([*lines, "", ""]).encode()).status == 413
    assert time.monotonic() - start < 5


def test_a_body_that_never_ends_is_cut_off(server: Server) -> None:
    """Without a limit of time, a thousand of these would keep all connections busy."""
    headers = server.headers(content_length="1000")
    lines = [f"POST {PATH} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    with server.connected() as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        start = time.monotonic()
        connection.settimeout(0.2)
        data = b""
        while not data and time.monotonic() - start < 20:
            try:
                connection.sendall(b" ")
                data = connection.recv(100)
            except TimeoutError:
                continue
    assert data.startswith(b"HTTP/1.1 408")


MALFORMED = {
    "length below zero": b"content-length: -1",
    "length that is no number": b"content-length: 0x10",
    "two lengths": b"content-length: 1\r\ncontent-length: 2",
    "unknown coding": b"transfer-encoding: gzip",
    "name with a space": b"x y: 1",
    "NUL": b"x: \0",
}


@pytest.mark.parametrize("attack", MALFORMED)
def test_what_is_not_http_is_refused_with_the_same_headers(server: Server, attack: str) -> None:
    host = f"host: 127.0.0.1:{server.port}\r\n".encode()
    answer = server.raw(b"POST / HTTP/1.1\r\n" + host + MALFORMED[attack] + b"\r\n\r\n")
    assert answer.status in (400, 501)
    check_headers(answer)


def test_headers_without_end_are_refused(server: Server) -> None:
    answer = server.raw(b"GET / HTTP/1.1\r\nx: " + b"y" * 20_000)
    assert answer.status == 400
    check_headers(answer)


TRAVERSALS = [
    *("/../guard.py", "/..%2fguard.py", "/%2e%2e/guard.py", "/%2e%2e%2fguard.py", "//etc/passwd"),
    *("/./../guard.py", "/..\\guard.py", "/index.html%00.js", "/%00", "/static/../../guard.py"),
    *("/..;/guard.py", "/%252e%252e/guard.py", "/etc/passwd", "/index.html/", "/.", "/.."),
    *("http://127.0.0.1/../guard.py", "/api", "/api/../index.html", "*", "/INDEX.HTML"),
]


@pytest.mark.parametrize("path", TRAVERSALS)
def test_no_path_leads_to_another_file(server: Server, path: str) -> None:
    """A server that joins paths to a folder would show our own code, and every file there is."""
    assert (Path(page.__file__).parent / "static" / "../guard.py").read_bytes()  # the control
    answer = server.ask(path, method="GET")
    assert answer.status in (404, 405)
    assert set(answer.json) == {"error"}
    check_headers(answer)


def nested(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


BOMBS = {
    "depth": nested(30_000),
    "depth of objects": b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    "NaN": b'{"columns": [], "rows": NaN}',
    "infinity": b'{"columns": [], "rows": Infinity}',
    "a number beyond doubles": b'{"columns": [], "rows": 1e999}',
    "a number of many digits": b'{"columns": [], "rows": 1' + b"0" * 60_000 + b"}",
    "a number that would be rounded": b'{"columns": [], "rows": 9007199254740993}',
    "a name twice": b'{"columns": [], "columns": []}',
    "many names": json.dumps({str(k): 0 for k in range(5000)}).encode(),
    "a long name": json.dumps({"x" * 60_000: 0}).encode(),
    "many columns": json.dumps({"columns": [COLUMN] * 500}).encode(),
    "many rows": json.dumps(ASKED | {"rows": 1e9}).encode(),
    "bytes that are no text": b'{"columns": "\xff\xfe"}',
    "UTF-16": json.dumps(ASKED).encode("utf-16"),
    "half a character": b'{"columns": [{"name": "\\ud800", "bounds": [0, 1], "epsilon": 1}]}',
    "a text for a number": json.dumps({"columns": [COLUMN | {"epsilon": "1"}]}).encode(),
    "a truth for a number": json.dumps({"columns": [COLUMN | {"epsilon": True}]}).encode(),
    "nothing": b"",
    "null": b"null",
}


@pytest.mark.parametrize("attack", BOMBS)
def test_json_that_is_made_to_break_a_reader_is_refused(server: Server, attack: str) -> None:
    """Python's own reader takes NaN, the last of two names, and any number of digits as a float."""
    assert json.loads('{"a": NaN, "b": 1, "b": 2}')["b"] == 2  # the control
    start = time.monotonic()
    answer = server.ask(PATH, BOMBS[attack])
    assert answer.status == 400
    assert len(answer.body) < 1000
    assert time.monotonic() - start < 5


HEADS = {
    "no head": b"",
    "a length beyond the body": b"\xff\xff\xff\xffabc",
    "a length of nothing": b"\0\0\0\0",
    "depth": framed(nested(30_000), b""),
    "a list": framed([], b""),
    "half a character": framed(b'{"name": "\\ud800.csv"}', b"age\n41\n"),
}


@pytest.mark.parametrize("path", ["/api/file/columns", "/api/file/draw", "/api/file/summarize"])
@pytest.mark.parametrize("attack", HEADS)
def test_a_head_that_is_made_to_break_a_reader_is_refused(
    server: Server, attack: str, path: str
) -> None:
    answer = server.send_sealed(path, HEADS[attack])
    assert answer.status == 400


def test_a_body_that_is_not_sealed_for_this_call_is_refused(server: Server) -> None:
    """A file that was sent to one place is not taken at another, nor one that was changed."""
    path, body = "/api/file/columns", framed({"name": "a.csv"}, b"age\n41\n")
    assert server.send_sealed(path, body).status == 200
    sealed = server.sealed(path, body)
    for sent in (
        body,
        sealed[:-1],
        sealed[:-1] + bytes([sealed[-1] ^ 1]),
        server.sealed("/api/file/draw", body),
        b"",
        sealed[:12],
    ):
        answer = server.ask(path, sent, content_type="application/octet-stream")
        assert answer.status == 400
        assert "sealed with the token of this page" in answer.error


NAMES = [
    *("../people.csv", "/tmp/people.csv", "a\\b.csv", "a\r\nx-evil: 1.csv", "a\0.csv", ".csv/"),
    *("people.txt", "people", "x" * 200 + ".csv", "\u202egpj.csv", "", "-", "..", "/dev/stdin"),
]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_s_name_that_is_more_than_a_name_is_refused(server: Server, name: str) -> None:
    """A server that wrote to the name as given would write anywhere, or into a header."""
    head = {"name": name, "columns": [COLUMN]}
    answer = server.send_file("/api/file/draw", head, b"age\n41\n")
    assert answer.status == 400
    assert "x-evil" not in answer.headers
    check_headers(answer)


EVIL = '"><script>alert(1)</script>\r\nx-evil: 1\r\n\r\n<h1>'


def test_a_name_of_a_column_is_never_markup_nor_a_header(server: Server) -> None:
    """As JSON that no browser takes for a page; the page itself shows names as text only."""
    data = '"{}"\n41\n'.format(EVIL.replace('"', '""')).encode()
    for path, head in (
        ("/api/file/columns", {"name": "a.csv"}),
        ("/api/file/draw", {"name": "a.csv", "columns": [COLUMN | {"name": EVIL}]}),
    ):
        answer = server.send_file(path, head, data)
        assert answer.status == 200
        assert "x-evil" not in answer.headers
        assert not answer.headers["content-type"].startswith("text/html")
        check_headers(answer)
    missing = {"name": "a.csv", "columns": [COLUMN | {"name": EVIL}]}
    answer = server.send_file("/api/file/draw", missing, b"age\n41\n")
    assert (answer.status, answer.headers["content-type"]) == (400, "application/json")
    check_headers(answer)


@pytest.mark.parametrize(
    "option",
    ["--force", "--output=/tmp/x", "-h", "--help", "$(touch x)", "`touch x`", "; touch x", "@x"],
)
def test_no_name_is_taken_for_an_option_or_a_command(server: Server, option: str) -> None:
    before = set(Path(server.said.parent).iterdir())
    answer = server.send_file(
        "/api/file/draw", {"name": "a.csv", "columns": [COLUMN | {"name": option}]}, b"age\n41\n"
    )
    assert answer.error == f"the file has no column {option!r}."
    assert set(Path(server.said.parent).iterdir()) == before


def check_headers(answer: Answer) -> None:
    for name, value in HEADERS.items():
        assert [text for key, text in answer.pairs if key == name] == [value]
    assert not {"server", "date", "set-cookie", "location", "etag"} & set(answer.headers)


def test_every_answer_has_the_headers_that_keep_a_browser_on_the_page(server: Server) -> None:
    """Without them, a script that got into the page could send what it sees elsewhere."""
    answers = [
        server.ask("/", method="GET"),
        server.ask("/", method="HEAD"),
        server.ask("/nothing", method="GET"),
        server.ask(PATH, ASKED),
        server.ask(PATH, b"{"),
        server.ask("/api/nothing", ASKED),
        server.ask(PATH, ASKED, host="evil.example"),
        server.ask(PATH, ASKED, x_inbounds_pass=None),
        server.ask(PATH, ASKED, method="OPTIONS"),
        server.ask(PATH, ASKED, content_type="text/plain"),
        sized(server, 1 << 20),
        server.raw(b"nonsense\r\n\r\n"),
        server.ask("/", method="GET", connection="upgrade", upgrade="websocket"),
        server.send_file("/api/file/draw", {"name": "a.csv", "columns": [COLUMN]}, b"age\n41\n"),
    ]
    for answer in answers:
        check_headers(answer)
    assert {answer.status for answer in answers} == {200, 400, 401, 404, 405, 413, 415, 421}
    policy = HEADERS["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy


def test_nobody_else_on_the_network_can_connect(server: Server) -> None:
    inodes = set()
    for link in Path(f"/proc/{server.process.pid}/fd").iterdir():
        inodes.add(os.readlink(link).removeprefix("socket:[").removesuffix("]"))
    listening = []
    for table in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[9] in inodes and fields[3] in ("0A", "07"):
                listening.append((table, fields[1]))
    assert listening == [("tcp", f"0100007F:{server.port:04X}")]
    with socket.create_server(("0.0.0.0", 0)) as control:
        assert control.getsockname()[0] == "0.0.0.0"  # what a careless server listens on
    for address in {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None)}:
        if not str(address).startswith(("127.", "::1")):
            with pytest.raises(OSError, match=r"refused|unreachable|timed out"):
                socket.create_connection((address, server.port), timeout=2)


def test_many_silent_connections_do_not_lock_the_page_out(tmp_path: Path) -> None:
    """Hundreds of connections that say nothing are closed as soon as somebody else connects."""
    with started(tmp_path) as server:
        silent = [server.connected() for _ in range(450)]
        assert until(lambda: server.ask(PATH, ASKED).status == 200)
        for connection in silent:
            connection.close()


CSV = f"age,name,town\n{SECRET},{WORD},Ulm\n7,{WORD},Rom\n".encode()
SECRETS = [repr(SECRET).encode(), str(SECRET)[:9].encode(), WORD.encode()]
DRAWS: dict[str, tuple[str, Any, bytes]] = {
    "draw": ("draw", {"columns": [COLUMN], "levels": [
        {"name": "name", "levels": ["a", "b"], "epsilon": 1}]}, CSV.replace(WORD.encode(), b"a")),
    "text among numbers": ("draw", {"columns": [COLUMN | {"name": "name"}]}, CSV),
    "a level that is not listed": (
        "draw", {"levels": [{"name": "name", "levels": ["a", "b"], "epsilon": 1}]}, CSV),
    "a number of too many digits": (
        "draw", {"columns": [COLUMN]}, CSV.replace(b"7,", b"4198765432101.0.0,")),
    "a row that is too long": (
        "draw", {"columns": [COLUMN]}, CSV + f"7,{WORD},Ulm,{SECRET}\n".encode()),
    "a quote that does not end": ("draw", {"columns": [COLUMN]}, CSV + b'8,"' + WORD.encode()),
    "bytes that are no text": ("draw", {"columns": [COLUMN]}, CSV + WORD.encode() + b"\xff,a,b\n"),
    "not a number": ("draw", {"columns": [COLUMN]}, CSV + f"nan,{WORD},b\n".encode()),
    "a value that is missing": ("draw", {"columns": [COLUMN]}, CSV + f",{WORD},b\n".encode()),
    "a broken Parquet file": ("draw", {"name": "a.parquet", "columns": [COLUMN]}, b"PAR1" + CSV),
    "a broken Arrow file": ("draw", {"name": "a.arrow", "columns": [COLUMN]}, b"ARROW1\0\0" + CSV),
    "columns": ("columns", {}, CSV),
    "columns of a broken file": ("columns", {"name": "a.parquet"}, b"PAR1" + CSV + b"PAR1"),
    "a mean": ("summarize", {"epsilon": 1, "statistics": {
        "mean": [{"name": "age", "bounds": [0, 120]}]}}, CSV),
    "a mean of text": ("summarize", {"epsilon": 1, "statistics": {
        "mean": [{"name": "name", "bounds": [0, 120]}]}}, CSV),
    "groups that are not in the file": ("summarize", {"epsilon": 1, "by": ["name"],
        "groups": [["x"]], "statistics": {"count": True}}, CSV),
}  # fmt: skip


def test_no_value_of_a_file_is_in_any_answer_log_or_file_that_is_left(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=WORD):
        float(WORD)  # the control: Python's own message shows what it could not read
    answers = {}
    with started(tmp_path) as server:
        for attack, (path, head, data) in DRAWS.items():
            answers[attack] = server.send_file(f"/api/file/{path}", {"name": "a.csv"} | head, data)
        assert server.left() == [] or all(path.is_dir() for path in server.left())
        running = b"".join(
            (Path("/proc") / str(process) / name).read_bytes()
            for process in server.processes()
            for name in ("cmdline", "environ")
        )
        assert server.end()[0] == 0
        printed = server.printed()
        left = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert server.left() == []
    for attack, answer in answers.items():
        if path_of(attack) == "columns" or attack in PUBLISHED:
            continue
        for secret in SECRETS:
            assert secret not in answer.body, attack
    for attack in PUBLISHED:
        assert answers[attack].status == 200, answers[attack].body
        assert all(secret not in answers[attack].body for secret in SECRETS[:2])
    for secret in SECRETS:
        assert secret not in printed + running + b"".join(left)
    statuses = {attack: answer.status for attack, answer in answers.items()}
    sound = {*PUBLISHED, "columns", "a mean", "groups that are not in the file"}
    assert statuses == {attack: 200 if attack in sound else 400 for attack in DRAWS}
    assert answers["columns"].json["columns"][0] == {"name": "age", "type": "unknown"}
    assert all(secret not in answers["columns"].body for secret in SECRETS)


PUBLISHED = {"draw"}


def path_of(attack: str) -> str:
    return DRAWS[attack][0]


def test_an_unexpected_error_tells_its_type_and_place_only(tmp_path: Path) -> None:
    """A server in its usual state shows the message, or a page with the traceback."""
    script = (
        "import sys\nfrom inbounds.cli import main\nfrom inbounds.cli.explore import page\n"
        f"def fail(asked): raise RuntimeError({WORD!r} + str(asked))\n"
        "page._simulated = fail\nsys.exit(main(['explore', '--no-browser']))"
    )
    with started(tmp_path, command=(sys.executable, "-c", script)) as server:
        answer = server.ask(PATH, {"rows": SECRET})
        assert answer.status == 500
        assert answer.error.startswith("unexpected RuntimeError in ")
        check_headers(answer)
        assert server.end()[0] == 0
        seen = answer.body + server.printed()
        assert not any(secret in seen for secret in SECRETS)
