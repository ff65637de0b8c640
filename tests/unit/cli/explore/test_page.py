import base64
import hashlib
import hmac
import secrets
from pathlib import Path
from typing import Any

import pytest

from inbounds.cli.explore import keys, page
from inbounds.errors import ArgumentError, ArgumentTypeError


def test_every_file_of_the_page_is_served_under_its_name(tmp_path: Path) -> None:
    for name in ("index.html", "app.js", "page.css", "icon.svg", "notes.txt", ".hidden"):
        (tmp_path / name).write_text(name)
    (tmp_path / "folder").mkdir()
    files = page.static_files(tmp_path)
    assert {path: data for path, (data, _) in files.items()} == {
        "/": b"index.html",
        "/app.js": b"app.js",
        "/page.css": b"page.css",
        "/icon.svg": b"icon.svg",
    }
    assert files["/app.js"][1] == "text/javascript; charset=utf-8"


def test_all_files_that_the_page_has_are_of_a_known_type() -> None:
    folder = Path(page.__file__).with_name("static")
    assert len(page.static_files()) == len([p for p in folder.rglob("*") if p.is_file()])


@pytest.mark.parametrize("name", sorted(page.static_files()))
def test_a_file_of_the_page_names_no_other_machine(name: str) -> None:
    data = page.static_files()[name][0].decode()
    for address in ("http://", "https://", "//cdn"):
        rest = data.replace("http://www.w3.org/", "").replace("http://127.0.0.1", "")
        assert address not in rest


def test_a_file_is_sent_to_the_paths_that_say_so() -> None:
    assert "/api/file/simulate" not in page.FILES
    assert all(path.startswith("/api/file/") for path in page.FILES)


def asked_for(nonce: bytes) -> dict[str, str]:
    return {"nonce": base64.b64encode(nonce).decode()}


def test_only_who_knows_the_token_can_prove_it() -> None:
    nonce = secrets.token_bytes(32)
    expected = hmac.new(b"token", b"inbounds explore" + nonce, hashlib.sha256).digest()
    assert base64.b64decode(keys.proof("token", asked_for(nonce))) == expected
    assert keys.proof("token", asked_for(nonce)) != keys.proof("other", asked_for(nonce))
    assert keys.proof("token", asked_for(nonce)) != keys.proof("token", asked_for(bytes(32)))


@pytest.mark.parametrize(
    "asked",
    [{}, [], {"nonce": None}, {"nonce": ""}, {"nonce": "é" * 44}, {"nonce": "A" * 44},
     asked_for(bytes(31)), asked_for(bytes(33)), asked_for(bytes(32)) | {"token": ""},
     {"nonce": " " + asked_for(bytes(32))["nonce"]}],
)  # fmt: skip
def test_what_is_to_be_proved_is_32_bytes(asked: Any) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError)):
        keys.proof("token", asked)
