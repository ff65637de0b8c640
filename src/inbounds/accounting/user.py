"""Who asks for a release: a name that is recorded with each charge.

It is what the caller says, or the account of the operating system. Nothing proves it.
"""

from __future__ import annotations

import getpass
import os
from functools import lru_cache

from inbounds.accounting.chain import text
from inbounds.errors import ArgumentError

LONGEST = 200
"""The most characters of a name."""


def check_user(user: object) -> str:
    """Return a name that can be recorded: printable, neither empty nor long.

    Examples
    --------
    >>> check_user("Ana Petrović")
    'Ana Petrović'
    """
    name = text(user=user)
    if not name.strip() or len(name) > LONGEST:
        requirement = f"have 1 to {LONGEST} characters that are not all blank"
        raise ArgumentError.must("user", requirement, got=f"{len(name)} characters")
    return name


def system_user() -> str:
    """Return the name of the account that runs this process.

    Examples
    --------
    >>> system_user() == check_user(system_user())
    True
    """
    return _account(os.geteuid() if hasattr(os, "geteuid") else None)


@lru_cache(maxsize=8)
def _account(number: int | None) -> str:
    try:
        return recordable(_named(number))
    except (OSError, KeyError, ImportError):  # a container may have no name for it
        return f"user {number}"


def _named(number: int | None) -> str:
    if number is None:
        return getpass.getuser()
    import pwd  # noqa: PLC0415 - not on Windows

    return pwd.getpwuid(number).pw_name


def recordable(name: str) -> str:
    """Return a name of the operating system, cut and with all but printable characters replaced.

    Examples
    --------
    >>> recordable("ana\N{ESCAPE}"), len(recordable("x" * 999)), recordable("")
    ('ana?', 200, 'unknown')
    """
    shown = "".join(character if character.isprintable() else "?" for character in name)
    return shown.strip()[:LONGEST].strip() or "unknown"
