"""What is made of the token that only the page and its server know, and is itself never sent.

After the server has ended, anybody may listen at its address. What they could be sent there, a pass
and sealed files, neither proves anything nor can be read.
"""

from __future__ import annotations

import base64
import hmac
from typing import Any

from inbounds.cli.explore.field import fields, needed
from inbounds.errors import ArgumentError

_NONCE, _COUNTER = 32, 12  # bytes


def pass_of(token: str) -> str:
    """Return what a page sends to show that it knows the token.

    Examples
    --------
    >>> len(pass_of("token")), pass_of("token") == pass_of("other")
    (64, False)
    """
    return hmac.new(token.encode(), b"pass", "sha256").hexdigest()


def proof(token: str, asked: Any) -> str:
    """Return what only a program that knows the token can answer to 32 random bytes.

    A page sends no file before it has seen it.

    Examples
    --------
    >>> proof("token", {"nonce": base64.b64encode(bytes(32)).decode()})
    'IV+6FRVe4oHzf405h+J8oaPEFELREiTnHQIs38TtVew='
    """
    given = fields("request", asked, ("nonce",))
    text = needed("request", given, "nonce")
    try:
        nonce = base64.b64decode(text, validate=True) if isinstance(text, str) else b""
    except ValueError:
        nonce = b""
    if len(nonce) != _NONCE:
        raise ArgumentError.must_be("nonce", f"{_NONCE} bytes in base64")
    key, message = token.encode(), b"inbounds explore" + nonce
    return base64.b64encode(hmac.digest(key, message, "sha256")).decode()


def opened(token: str, path: str, sealed: bytes) -> bytes:
    """Return what a page sealed for a path: AES-256-GCM, after 12 bytes that are used once.

    A browser may send a body again, to whoever listens by then. Nobody else can read it.

    Raises
    ------
    ArgumentError
        If it was sealed with another token or for another path, or was changed.

    Examples
    --------
    >>> import os
    >>> from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    >>> key, once = hmac.digest(b"token", b"file", "sha256"), os.urandom(12)
    >>> sealed = once + AESGCM(key).encrypt(once, b"age", b"/api/file/draw")
    >>> opened("token", "/api/file/draw", sealed)
    b'age'
    """
    from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - help must be quick
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - as above

    key = hmac.digest(token.encode(), b"file", "sha256")
    try:
        return AESGCM(key).decrypt(sealed[:_COUNTER], sealed[_COUNTER:], path.encode())
    except (InvalidTag, ValueError):
        raise ArgumentError.must_be("the body", "sealed with the token of this page") from None
