"""The columns of categories that ``--levels`` describes, and the types of their levels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from inbounds import _json
from inbounds.cli.failure import UsageError
from inbounds.errors import ArgumentError, ArgumentTypeError

if TYPE_CHECKING:
    from inbounds.cli.column import CalibratedColumn
    from inbounds.frames.local.file import Format
    from inbounds.mechanisms.level import Family, Level

_FORM = "NAME=LEVEL,LEVEL,...[@EPSILON], as in smoker=no,yes@0.5"
_NAME = re.compile(r'(?:"((?:[^"]|"")*)"|([^="][^=]*))=')
_CELL = re.compile(r'\s*(?:"((?:[^"]|"")*)"|([^",@]*))\s*(?=[,@]|$)')
_INTEGER = re.compile("0|-?[1-9][0-9]{0,19}")
_TRUTHS = {"false": False, "true": True}


@dataclass(frozen=True, slots=True)
class LevelsOption:
    """One ``--levels``; its epsilon is None if it takes an equal part of the row's."""

    name: str
    texts: tuple[str, ...]
    epsilon: float | None


def read_levels(text: str) -> LevelsOption:
    """Return what one ``--levels`` states; a name with ``=`` or a level with ``,@"`` needs quotes.

    Examples
    --------
    >>> read_levels("smoker=no,yes@0.5")
    LevelsOption(name='smoker', texts=('no', 'yes'), epsilon=0.5)
    >>> read_levels('town=Ulm,"Rom, Georgia"').texts
    ('Ulm', 'Rom, Georgia')
    """
    name = _NAME.match(text)
    if name is None:
        raise _misread(text)
    texts: list[str] = []
    place = name.end()
    while (cell := _CELL.match(text, place)) is not None:
        texts.append(_unquoted(cell))
        place = cell.end() + 1
        if place > len(text) or text[place - 1] == "@":
            return LevelsOption(_unquoted(name), tuple(texts), _epsilon(text, place))
    raise _misread(text)


def _unquoted(match: re.Match[str]) -> str:
    quoted, plain = match.groups()
    return plain.strip() if quoted is None else quoted.replace('""', '"')


def _epsilon(text: str, place: int) -> float | None:
    try:
        return None if place > len(text) else _json.typed(text[place:])
    except ValueError:
        raise _misread(text) from None


def _misread(text: str) -> UsageError:
    hint = 'Hint: put a level that has a comma, a quote or @ in quotes, as in "a, b".'
    return UsageError(f"--levels must be {_FORM}, got {text!r}. {hint}")


def response(option: LevelsOption, epsilon: float) -> Any:
    """Return randomised response over levels as they are typed.

    Examples
    --------
    >>> response(read_levels("smoker=no,yes"), 2.0)
    RandomizedResponse(['no', 'yes'], epsilon=2)
    """
    from inbounds.mechanisms.randomized_response import (  # noqa: PLC0415 - help must be quick
        RandomizedResponse,
    )

    if "" in option.texts:
        requirement = "not be blank, because a blank cell of CSV is a missing value"
        raise ArgumentError.must("levels", requirement)
    mechanism = RandomizedResponse(option.texts, epsilon=epsilon)
    mechanism.to_json()  # what is published must be readable
    return mechanism


def typed_columns(
    columns: Sequence[CalibratedColumn], schema: Any, forms: tuple[Format, Format]
) -> list[CalibratedColumn]:
    """Give levels the types of their columns: those of INPUT, or for CSV what they look like.

    Text that goes from CSV to CSV stays text.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from inbounds.cli.column import calibrated
    >>> columns = calibrated([], 1.0, None, levels=["smoker=0,1"])
    >>> schema = pa.schema({"smoker": pa.int8()})
    >>> typed_columns(columns, schema, ("parquet", "csv"))[0].mechanism.levels
    (0, 1)
    """
    return [
        replace(column, mechanism=_retyped(column, schema.field(column.name).type, forms))
        if column.texts
        else column
        for column in columns
    ]


def _retyped(column: CalibratedColumn, kind: Any, forms: tuple[Format, Format]) -> Any:
    family = _family(column.texts, kind, forms)
    levels = _levels(column.texts, family)
    if levels is None:
        requirement = "integers" if family == "integer" else "false and true"
        raise UsageError(f"--levels {column.name!r} must be {requirement}, as the column holds.")
    try:
        mechanism: Any = column.mechanism
        mechanism = replace(mechanism, levels=levels)
        mechanism.to_json()
    except (ArgumentError, ArgumentTypeError) as error:
        raise UsageError(f"--levels {column.name!r}: {error.sentence}") from None
    return mechanism


def _family(texts: tuple[str, ...], kind: Any, forms: tuple[Format, Format]) -> Family:
    import pyarrow as pa  # noqa: PLC0415 - help must be quick

    if forms[0] == "csv":
        looks: tuple[Family, ...] = ("integer", "boolean")
        likely = (family for family in looks if _levels(texts, family) is not None)
        return "text" if forms[1] == "csv" else next(likely, "text")
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_boolean(plain):
        return "boolean"
    return "integer" if pa.types.is_integer(plain) else "text"


def _levels(texts: tuple[str, ...], family: Family) -> tuple[Level, ...] | None:
    """Return levels of a family, or None if they are written otherwise."""
    if family == "text":
        return texts
    if family == "integer":
        return tuple(map(int, texts)) if all(map(_INTEGER.fullmatch, texts)) else None
    lowered = [text.lower() for text in texts]
    return tuple(map(_TRUTHS.__getitem__, lowered)) if set(lowered) == set(_TRUTHS) else None
