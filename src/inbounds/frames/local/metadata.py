"""Arrow schemas without metadata, which may reveal private values: docs/threat-model.md.

Names, types and whether nulls are allowed are kept. All metadata of the schema, of fields and of
fields inside nested types are left out, except the name and the parameters of an extension type
that is not registered: Arrow keeps these as metadata of the field.
"""

from __future__ import annotations

from typing import Any

from inbounds._extra import optional
from inbounds.errors import ArgumentTypeError
from inbounds.frames.local.nested import with_fields
from inbounds.frames.silence import in_our_words

with optional():
    import pyarrow as pa

_EXTENSION = (b"ARROW:extension:name", b"ARROW:extension:metadata")


def bare_schema(schema: Any) -> Any:
    """Return a schema without metadata.

    Examples
    --------
    >>> field = pa.field("age", pa.int8(), metadata={"values": "[17, 41]"})
    >>> bare_schema(pa.schema([field], metadata={"mean": "29"})).to_string()
    'age: int8'
    """
    return pa.schema([_named_in_errors(field) for field in schema])


def _named_in_errors(field: Any) -> Any:
    return in_our_words(
        lambda: _bare_field(field),
        lambda _: _refusal(f"column {field.name!r}"),
        ArgumentTypeError,
    )


def _refusal(subject: str = "a column") -> ArgumentTypeError:
    requirement = "of a type that can be rebuilt without metadata"
    hint = "cast it to plain types, or pass the storage of an extension type."
    return ArgumentTypeError.must_be(subject, requirement, hint=hint)


def bare_type(kind: Any) -> Any:
    """Return a type whose inner fields have no metadata.

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
        raise _refusal()
    return kind


def _bare_extension(kind: Any) -> Any:
    """Return an extension type whose storage has no metadata, or refuse a type that keeps them."""
    storage = bare_type(kind.storage_type)
    if not _may_have_metadata(kind.storage_type):
        return kind
    built = in_our_words(
        lambda: type(kind).__arrow_ext_deserialize__(storage, kind.__arrow_ext_serialize__()),
        lambda _: _refusal(),
        Exception,  # the class is not ours, and its messages may reveal anything
    )
    if type(built) is not type(kind) or not _is_same(built.storage_type, storage):
        raise _refusal()
    return built


def _may_have_metadata(kind: Any) -> bool:
    """Say whether a type has fields, whose metadata Arrow does not compare in all types."""
    if pa.types.is_dictionary(kind):
        return _may_have_metadata(kind.value_type)
    if isinstance(kind, pa.BaseExtensionType):
        return _may_have_metadata(kind.storage_type)
    return bool(kind.num_fields)


def _is_same(first: Any, second: Any) -> bool:
    """Compare types with all their metadata, even in maps, where `equals` ignores them."""
    schemas = (pa.schema([pa.field("", kind)]).serialize() for kind in (first, second))
    return bool(next(schemas).equals(next(schemas)))


def _bare_field(field: Any) -> Any:
    metadata = field.metadata or {}
    kept = {key: metadata[key] for key in _EXTENSION if key in metadata}
    bare = field.remove_metadata().with_type(bare_type(field.type))
    return bare.with_metadata(kept) if kept else bare
