"""A file that a person opens in the page: how it travels, and the fields that come with it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from inbounds import _json
from inbounds.cli.explore.budget import Charge
from inbounds.cli.explore.field import fields, needed
from inbounds.errors import ArgumentError, ArgumentTypeError

_MOST_HEAD = 1 << 16  # bytes
_LONGEST_NAME = 150
_LONGEST_TEXT = 1000
_SUFFIXES = (".csv", ".parquet", ".arrow", ".feather")


def document(body: bytes) -> Any:
    """Return what a JSON text says, in which every number is a double.

    Examples
    --------
    >>> document(b'{"epsilon": 1}')
    {'epsilon': 1}
    >>> document(b'{"epsilon": NaN}')
    Traceback (most recent call last):
    inbounds.errors.ArgumentError: the request must be JSON in UTF-8, with doubles for numbers and
    no name twice in an object.
    """
    try:
        return _json.read(body.decode("utf-8"))
    except (ValueError, RecursionError):
        requirement = "JSON in UTF-8, with doubles for numbers and no name twice in an object"
        raise ArgumentError.must_be("the request", requirement) from None


def unframed(body: bytes) -> tuple[Any, bytes]:
    """Return the JSON head of a body, and the file behind it.

    Examples
    --------
    >>> unframed(framed({"name": "a.csv"}, [b"age"]))
    ({'name': 'a.csv'}, b'age')
    """
    size = int.from_bytes(body[:4], "big")
    if len(body) < 4 or not size <= min(len(body) - 4, _MOST_HEAD):
        requirement = "a length in four bytes, a JSON head of at most 64 KiB, and a file"
        raise ArgumentError.must_be("the request", requirement)
    return document(body[4 : 4 + size]), body[4 + size :]


def framed(head: dict[str, Any], parts: Sequence[bytes]) -> bytes:
    r"""Return a JSON head and files in one body.

    Examples
    --------
    >>> framed({}, [b"age", b"pay"])
    b'\x00\x00\x00\x02{}agepay'
    """
    text = json.dumps(head, allow_nan=False).encode()
    return b"".join([len(text).to_bytes(4, "big"), text, *parts])


def text(name: str, value: object) -> str:
    """Return a text that a command can be given.

    Examples
    --------
    >>> text("dataset", "survey")
    'survey'
    >>> text("dataset", "")
    Traceback (most recent call last):
    inbounds.errors.ArgumentError: dataset must be a text of 1 to 1000 characters.
    """
    if not isinstance(value, str):
        raise ArgumentTypeError.must_be(name, "a text", got=type(value).__name__)
    if not 1 <= len(value) <= _LONGEST_TEXT:
        raise ArgumentError.must_be(name, f"a text of 1 to {_LONGEST_TEXT} characters")
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise ArgumentError.must_be(name, "a text of Unicode characters other than NUL")
    return value


def is_text(value: str) -> bool:
    """Return whether `text` takes a name.

    Examples
    --------
    >>> is_text("age"), is_text("")
    (True, False)
    """
    try:
        text("name", value)
    except ArgumentError:
        return False
    return True


def file_name(value: object) -> str:
    """Return the name of a file that can be written to a folder, and only there.

    Examples
    --------
    >>> file_name("people.csv")
    'people.csv'
    >>> file_name("../people.csv")
    Traceback (most recent call last):
    inbounds.errors.ArgumentError: name must be a file's name without folders or control
    characters.
    """
    name = text("name", value)
    if any(character in "/\\" or not character.isprintable() for character in name):
        raise ArgumentError.must_be("name", "a file's name without folders or control characters")
    if len(name.encode()) > _LONGEST_NAME:
        raise ArgumentError.must_be("name", f"at most {_LONGEST_NAME} bytes long in UTF-8")
    if Path(name).suffix.lower() not in _SUFFIXES:
        raise ArgumentError.must("name", f"end in one of {', '.join(_SUFFIXES)}")
    return name


def asked_delimiter(head: dict[str, Any]) -> list[str]:
    """Return the option that says what is between cells of CSV, if the page says so.

    Examples
    --------
    >>> asked_delimiter({"delimiter": ";"}), asked_delimiter({})
    (['--delimiter=;'], [])
    """
    given = head.get("delimiter")
    return [] if given is None else [f"--delimiter={text('delimiter', given)}"]


def asked_charge(head: dict[str, Any]) -> Charge | None:
    """Return what is to be charged, if anything.

    Examples
    --------
    >>> asked_charge({"charge": {"dataset": "survey", "label": "ages"}})
    Charge(dataset='survey', label='ages')
    """
    if head.get("charge") is None:
        return None
    given = fields("charge", head["charge"], ("dataset", "label"))
    label = given.get("label") or ""
    dataset = text("dataset", needed("charge", given, "dataset"))
    return Charge(dataset, text("label", label) if label else "")
