"""Arrow schemas without metadata, which may tell of private values: docs/threat-model.md.

Names, types and whether nulls are allowed are kept. Every note on the schema, on a field or on a
field inside a nested type is left out, but for the name and the parameters of an extension type
that is not registered: Arrow keeps these as notes on the field.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from inbounds._extra import optional
from inbounds.errors import ArgumentTypeError

with optional():
    import pyarrow as pa

_EXTENSION = (b"ARROW:extension:name", b"ARROW:extension:metadata")


def bare_schema(schema: Any, private: Collection[int] = ()) -> Any:
    """Return names and types of a schema; of the `private` places not even an extension's name.

    Examples
    --------
    >>> field = pa.field("age", pa.int8(), metadata={"values": "[17, 41]"})
    >>> bare_schema(pa.schema([field], metadata={"mean": "29"})).to_string()
    'age: int8'
    """
    fields = [_bare_field(field, i in private) for i, field in enumerate(schema)]
    return pa.schema(fields)


def bare_type(kind: Any) -> Any:
    """Return a type whose inner fields have no notes.

    Examples
    --------
    >>> noted = pa.struct([pa.field("x", pa.int8(), metadata={"max": "41"})])
    >>> print(bare_type(noted).field(0).metadata)
    None
    """
    types = pa.types
    if types.is_struct(kind):
        return pa.struct([_bare_field(kind.field(i)) for i in range(kind.num_fields)])
    if types.is_map(kind):
        return pa.map_(_bare_field(kind.key_field), _bare_field(kind.item_field), kind.keys_sorted)
    if types.is_fixed_size_list(kind):
        return pa.list_(_bare_field(kind.value_field), kind.list_size)
    for is_kind, build in (
        (types.is_list, pa.list_),
        (types.is_large_list, pa.large_list),
        (types.is_list_view, pa.list_view),
        (types.is_large_list_view, pa.large_list_view),
    ):
        if is_kind(kind):
            return build(_bare_field(kind.value_field))
    if types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, bare_type(kind.value_type), kind.ordered)
    return kind


def bare_column(values: Any, field: Any) -> Any:
    """Return an array or chunked array as the type of its bare field.

    Examples
    --------
    >>> noted = pa.list_(pa.field("item", pa.int8(), metadata={"max": "41"}))
    >>> field = pa.field("marks", bare_type(noted))
    >>> print(bare_column(pa.array([[1]], noted), field).type.value_field.metadata)
    None
    """
    noted = not values.type.equals(field.type, check_metadata=True)
    if not noted and "map<" not in str(field.type):  # whose notes Arrow neither shows nor compares
        return values
    try:
        if isinstance(values, pa.ChunkedArray):
            chunks = [_relabelled(chunk, field.type) for chunk in values.chunks]
            return pa.chunked_array(chunks, field.type)
        return _relabelled(values, field.type)
    except pa.ArrowException:
        raise ArgumentTypeError(
            f"column {field.name!r} must have no metadata inside its type.\n"
            "Hint: cast it to the same type without metadata first."
        ) from None


def _relabelled(array: Any, kind: Any) -> Any:
    """Return an array as the same type without notes; a view checks no values, but knows fewer."""
    try:
        return array.view(kind)
    except pa.ArrowException:
        return array.cast(kind)


def _bare_field(field: Any, private: bool = False) -> Any:
    notes = field.metadata or {}
    kept = {} if private else {key: notes[key] for key in _EXTENSION if key in notes}
    return pa.field(field.name, bare_type(field.type), field.nullable, kept or None)
