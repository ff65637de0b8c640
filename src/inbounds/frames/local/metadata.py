"""Arrow schemas without metadata, which may tell of private values: docs/threat-model.md.

Names, types and whether nulls are allowed are kept. Every note on the schema, on a field or on a
field inside a nested type is left out, but for the name and the parameters of an extension type
that is not registered: Arrow keeps these as notes on the field.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from inbounds._extra import optional
from inbounds.errors import ArgumentTypeError
from inbounds.frames.local.nested import with_fields

with optional():
    import pyarrow as pa

_UNKNOWN = (
    "must be of a type that can be rebuilt without metadata.\n"
    "Hint: cast it to plain types, or pass the storage of an extension type."
)
_EXTENSION = (b"ARROW:extension:name", b"ARROW:extension:metadata")


def bare_schema(schema: Any, private: Collection[int] = ()) -> Any:
    """Return names and types of a schema; of the `private` places not even an extension's name.

    Examples
    --------
    >>> field = pa.field("age", pa.int8(), metadata={"values": "[17, 41]"})
    >>> bare_schema(pa.schema([field], metadata={"mean": "29"})).to_string()
    'age: int8'
    """
    fields = []
    for i, field in enumerate(schema):
        try:
            fields.append(_bare_field(field, i in private))
        except ArgumentTypeError as error:
            raise ArgumentTypeError(f"column {field.name!r} {error}") from None
    return pa.schema(fields)


def bare_type(kind: Any) -> Any:
    """Return a type whose inner fields have no notes.

    Examples
    --------
    >>> noted = pa.struct([pa.field("x", pa.int8(), metadata={"max": "41"})])
    >>> print(bare_type(noted).field(0).metadata)
    None
    """
    nested = with_fields(kind, _bare_field)
    if nested is not None:
        return nested
    if pa.types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, bare_type(kind.value_type), kind.ordered)
    if pa.types.is_run_end_encoded(kind):
        return pa.run_end_encoded(kind.run_end_type, bare_type(kind.value_type))
    if isinstance(kind, pa.BaseExtensionType):
        return _bare_extension(kind)
    if kind.num_fields:
        raise ArgumentTypeError(_UNKNOWN)
    return kind


def _bare_extension(kind: Any) -> Any:
    """Return an extension type whose storage has no notes; one that keeps them is refused."""
    storage = bare_type(kind.storage_type)
    if not _may_have_notes(kind.storage_type):
        return kind
    try:
        built = type(kind).__arrow_ext_deserialize__(storage, kind.__arrow_ext_serialize__())
    except Exception:  # it is not ours, and its message may tell anything
        raise ArgumentTypeError(_UNKNOWN) from None
    if type(built) is not type(kind) or not _is_same(built.storage_type, storage):
        raise ArgumentTypeError(_UNKNOWN)
    return built


def _may_have_notes(kind: Any) -> bool:
    """Say whether a type has fields or storage; Arrow does not compare notes in all of them."""
    if pa.types.is_dictionary(kind):
        return _may_have_notes(kind.value_type)
    if isinstance(kind, pa.BaseExtensionType):
        return _may_have_notes(kind.storage_type)
    return bool(kind.num_fields)


def _is_same(one: Any, other: Any) -> bool:
    """Compare types with all their notes, even those of maps, which `equals` leaves out."""
    schemas = (pa.schema([pa.field("", kind)]).serialize() for kind in (one, other))
    return bool(next(schemas).equals(next(schemas)))


def bare_column(values: Any, field: Any) -> Any:
    """Return an array or chunked array as the type of its bare field.

    Examples
    --------
    >>> noted = pa.list_(pa.field("item", pa.int8(), metadata={"max": "41"}))
    >>> field = pa.field("marks", bare_type(noted))
    >>> print(bare_column(pa.array([[1]], noted), field).type.value_field.metadata)
    None
    """
    if not _may_have_notes(values.type) and values.type == field.type:
        return values
    try:
        if isinstance(values, pa.ChunkedArray):
            chunks = [_relabelled(chunk, field.type) for chunk in values.chunks]
            return pa.chunked_array(chunks, field.type)
        return _relabelled(values, field.type)
    except (pa.ArrowException, TypeError):
        raise ArgumentTypeError(
            f"column {field.name!r} must have no metadata inside its type.\n"
            "Hint: cast it to the same type without metadata first."
        ) from None


@dataclass(frozen=True, slots=True)
class _Relabelled:
    """An array under another type, for whoever takes arrays by Arrow's C interface."""

    array: Any
    kind: Any

    def __arrow_c_array__(self, _: object = None) -> tuple[object, object]:
        return self.kind.__arrow_c_schema__(), self.array.__arrow_c_array__()[1]


def _relabelled(array: Any, kind: Any) -> Any:
    """Return an array as the same type without notes. Its memory is shared, whatever the type."""
    if array.type != kind:
        raise TypeError
    if isinstance(kind, pa.BaseExtensionType):  # one that is not registered has no other way
        return pa.ExtensionArray.from_storage(kind, _relabelled(array.storage, kind.storage_type))
    result = pa.array(_Relabelled(array, kind))
    if result.type != kind or not _is_same(result.type, bare_type(result.type)):
        raise TypeError
    return result


def _bare_field(field: Any, private: bool = False) -> Any:
    notes = field.metadata or {}
    kept = {} if private else {key: notes[key] for key in _EXTENSION if key in notes}
    return pa.field(field.name, bare_type(field.type), field.nullable, kept or None)
