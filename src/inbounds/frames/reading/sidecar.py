"""The file that `inbounds privatize` writes beside a table: which columns are private, and how.

It may come from anybody, so nothing in it is trusted: mechanisms are read as `from_json` reads
them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from inbounds import _check, _json
from inbounds.errors import ArgumentError, ArgumentTypeError, InBoundsError
from inbounds.frames.local.column import Nulls
from inbounds.mechanisms.document import read_mechanism
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.mechanisms.randomized_response import RandomizedResponse

FORMAT, VERSION = "inbounds private columns", 1
_NULLS = ("error", "keep", "uniform")
_DIGEST = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class PrivateColumns:
    """The mechanism of each private column, and what was done about missing values.

    `sha256` is the digest of the file for which a sidecar was written, if it says it.
    """

    mechanisms: Mapping[str, Mechanism | RandomizedResponse]
    nulls: Nulls
    sha256: str | None = None

    @property
    def numbers(self) -> list[str]:
        """The columns of numbers, in order."""
        return [name for name, m in self.mechanisms.items() if isinstance(m, Mechanism)]

    @property
    def categories(self) -> list[str]:
        """The columns of categories, in order."""
        return [name for name, m in self.mechanisms.items() if not isinstance(m, Mechanism)]


def private_columns(columns: object, nulls: object = None) -> PrivateColumns:
    """Return what `columns` says: a mapping of names to mechanisms, or the name of a sidecar file.

    Examples
    --------
    >>> import inbounds as ib
    >>> ages = ib.Window(ib.Box(0, 120), 120, epsilon=1.0)
    >>> private_columns({"age": ages}).nulls
    'error'
    """
    if nulls is not None:
        _check.one_of(_NULLS, nulls=nulls)
    if isinstance(columns, str | os.PathLike):
        known = read_sidecar(Path(columns).read_text(encoding="utf-8", errors="replace"))
        if nulls not in (None, known.nulls):
            got, hint = f"nulls={nulls!r}", "leave it out: the file says it."
            raise ArgumentError.must_be("nulls", f"{known.nulls!r} here", got=got, hint=hint)
        return known
    if not isinstance(columns, Mapping):
        requirement = "a mapping of names to mechanisms, or the name of a .privacy.json file"
        raise ArgumentTypeError.must_be("columns", requirement, got=type(columns).__name__)
    _check_mechanisms(columns)
    return PrivateColumns(columns, cast("Nulls", nulls or "error"))


def read_sidecar(text: str) -> PrivateColumns:
    """Return the private columns that the text of a sidecar file describes.

    Raises
    ------
    ArgumentError
        If the text is not one that `inbounds privatize` wrote.
    CertificateError
        If a table in it does not give its epsilon.

    Examples
    --------
    >>> read_sidecar("{}")
    Traceback (most recent call last):
    inbounds.errors.ArgumentError: columns must be a file written by inbounds privatize.
    """
    try:
        facts = _json.read(text)
        if facts["format"] != FORMAT or repr(facts["version"]) != repr(VERSION):
            raise _refused(f"another version than {VERSION}")
        if facts["nulls"] not in _NULLS:
            raise _refused("an unknown policy for nulls")
        listed = [(_name(one["name"]), one["document"]) for one in facts["columns"]]
        mechanisms = {name: read_mechanism(json.dumps(document)) for name, document in listed}
        if len(mechanisms) != len(listed):
            raise _refused("a column that occurs twice")
        for one in facts["columns"]:  # people read the epsilon, estimates read the document
            if one.get("pure_epsilon") not in (None, mechanisms[one["name"]].epsilon):
                raise _refused("two different epsilons for one column")
        sha256 = facts.get("sha256")
        if sha256 is not None and not _DIGEST.fullmatch(sha256):
            raise _refused("a digest that is none")
    except InBoundsError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise _refused() from None
    _check_mechanisms(mechanisms)
    return PrivateColumns(mechanisms, cast("Nulls", facts["nulls"]), sha256)


def _check_mechanisms(mechanisms: Mapping[Any, Any]) -> None:
    if not mechanisms:
        raise ArgumentError.must("columns", "name at least one private column")
    for name, mechanism in mechanisms.items():
        if not isinstance(name, str):
            raise ArgumentTypeError.must("columns", "have names that are text")
        if isinstance(mechanism, RandomizedResponse):
            continue
        if not isinstance(mechanism, Mechanism):
            requirement = f"give column {name!r} an inbounds mechanism"
            raise ArgumentTypeError.must("columns", requirement, got=type(mechanism).__name__)
        if not mechanism.domain.is_interval:
            subject = f"mechanism of column {name!r}"
            raise ArgumentError.must_be(subject, "on an interval", got=repr(mechanism.domain))


def _name(value: Any) -> str:
    if not isinstance(value, str):
        raise _refused("a name that is no text")
    return value


def _refused(got: str = "") -> ArgumentError:
    return ArgumentError.must_be("columns", "a file written by inbounds privatize", got=got)
