"""`inbounds explore` as a user starts it, and requests to it down to their last byte."""

import contextlib
import hmac
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from inbounds.cli.explore.keys import pass_of

COMMAND = (sys.executable, "-m", "inbounds", "explore", "--no-browser")
MARK = "INBOUNDS_TEST_MARK"  # in the environment of all that the server starts


class Server:
    """A server, what it prints, and what it leaves behind."""

    def __init__(self, folder: Path, *words: str, command: tuple[str, ...] = COMMAND) -> None:
        self.temporary = folder / "tmp"
        self.temporary.mkdir(exist_ok=True)
        self._mark = secrets.token_hex(16)
        self.said = folder / "said"
        environment = os.environ | {MARK: self._mark, "TMPDIR": str(self.temporary)}
        with self.said.open("wb") as said:
            self.process = subprocess.Popen(
                [*command, *words], stdout=subprocess.PIPE, stderr=said, env=environment, cwd=folder
            )
        assert self.process.stdout is not None
        self.line = self.process.stdout.readline().decode()
        self.address = self.line.strip()
        self.origin, _, self.token = self.address.partition("/#token=")
        self.port = int(self.origin.rpartition(":")[2] or 0)

    def processes(self) -> list[int]:
        """Return the processes that belong to the server, itself included."""
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if self._mark.encode() in path.read_bytes():
                    found.append(int(path.parent.name))
        return found

    def left(self) -> list[Path]:
        """Return what is in the folder for temporary files."""
        return list(self.temporary.rglob("*"))

    def end(self, kind: int = signal.SIGTERM) -> tuple[int, float]:
        """Send a signal, and return the exit code and the seconds that the end took."""
        start = time.monotonic()
        self.process.send_signal(kind)
        code = self.process.wait(20)
        return code, time.monotonic() - start

    def printed(self) -> bytes:
        """Return everything that the server, which has ended, printed."""
        assert self.process.stdout is not None
        with self.process.stdout as rest:
            return self.line.encode() + rest.read() + self.said.read_bytes()

    def headers(self, **changed: str | None) -> dict[str, str]:
        """Return the headers that the page sends, of which None leaves one out."""
        own: dict[str, str | None] = {
            "host": f"127.0.0.1:{self.port}",
            "origin": self.origin,
            "x-inbounds-pass": pass_of(self.token),
            "content-type": "application/json",
        }
        own |= {name.replace("_", "-"): value for name, value in changed.items()}
        return {name: value for name, value in own.items() if value is not None}

    def connected(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def raw(self, data: bytes, *, has_body: bool = True) -> "Answer":
        """Send bytes, and return the answer to them."""
        with self.connected() as connection:
            with contextlib.suppress(ConnectionError):  # the answer may come before all is sent
                connection.sendall(data)
            return Answer.read(connection, has_body=has_body)

    def ask(
        self, path: str, body: Any = b"", *, method: str = "POST", **changed: str | None
    ) -> "Answer":
        """Send a request of the page, or one that differs from it in some headers."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = self.headers(**{"content_length": str(len(data))} | changed)
        lines = [f"{method} {path} HTTP/1.1", *(f"{n}: {v}" for n, v in headers.items()), "", ""]
        sent = "\r\n".join(lines).encode("latin-1") + data
        return self.raw(sent, has_body=method != "HEAD")

    def send_file(self, path: str, head: Any, data: bytes) -> "Answer":
        """Send a file with its head, as the page does."""
        return self.send_sealed(path, framed(head, data))

    def send_sealed(self, path: str, body: bytes) -> "Answer":
        """Send what only the server can read."""
        return self.ask(path, self.sealed(path, body), content_type="application/octet-stream")

    def sealed(self, path: str, body: bytes) -> bytes:
        key, once = hmac.digest(self.token.encode(), b"file", "sha256"), os.urandom(12)
        return once + AESGCM(key).encrypt(once, body, path.encode())


class Answer:
    """An answer, read from a socket."""

    def __init__(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.status, self.body = status, body
        self.pairs, self.headers = headers, dict(headers)

    @classmethod
    def read(cls, connection: socket.socket, *, has_body: bool = True) -> "Answer":
        data = b""
        while b"\r\n\r\n" not in data and (part := _received(connection)):
            data += part
        head, _, body = data.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        pairs = [
            (n.strip().lower(), v.strip()) for n, _, v in (line.partition(":") for line in lines)
        ]
        size = int(dict(pairs).get("content-length", 0))
        while has_body and len(body) < size and (part := _received(connection)):
            body += part
        return cls(int(first.split()[1]) if first else 0, pairs, body)

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> str:
        error = self.json["error"]
        assert isinstance(error, str)
        return error

    def files(self) -> tuple[Any, dict[str, bytes]]:
        """Return the head of an answer, and the files in it."""
        size = int.from_bytes(self.body[:4], "big")
        head, place = json.loads(self.body[4 : 4 + size]), 4 + size
        files = {}
        for file in head["files"]:
            files[file["name"]] = self.body[place : place + file["size"]]
            place += file["size"]
        assert place == len(self.body)
        return head, files


def _received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(1 << 16)
    except ConnectionResetError:
        return b""


def framed(head: Any, data: bytes) -> bytes:
    text = head if isinstance(head, bytes) else json.dumps(head).encode()
    return len(text).to_bytes(4, "big") + text + data


@contextlib.contextmanager
def started(folder: Path, *words: str, **options: Any) -> Iterator[Server]:
    """Start a server, and end it if the test has not."""
    server = Server(folder, *words, **options)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.process.kill()
            server.process.wait()
        assert server.process.stdout is not None
        server.process.stdout.close()


def until(is_true: Any, seconds: float = 5.0) -> bool:
    """Wait until something is true, but not for ever."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if is_true():
            return True
        time.sleep(0.02)
    return bool(is_true())
