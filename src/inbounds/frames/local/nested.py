"""Arrow's nested types, rebuilt with changed fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from inbounds._extra import optional

with optional():
    import pyarrow as pa

Change = Callable[[Any], Any]


def _of_fields(kind: Any, change: Change) -> list[Any]:
    return [change(kind.field(i)) for i in range(kind.num_fields)]


# A test for each kind of nested type, and a function that rebuilds it with changed fields.
_KINDS: tuple[tuple[Callable[[Any], bool], Callable[[Any, Change], Any]], ...] = (
    (pa.types.is_struct, lambda kind, change: pa.struct(_of_fields(kind, change))),
    (
        pa.types.is_map,
        lambda kind, change: pa.map_(
            change(kind.key_field), change(kind.item_field), kind.keys_sorted
        ),
    ),
    (
        pa.types.is_fixed_size_list,
        lambda kind, change: pa.list_(change(kind.value_field), kind.list_size),
    ),
    (pa.types.is_list, lambda kind, change: pa.list_(change(kind.value_field))),
    (pa.types.is_large_list, lambda kind, change: pa.large_list(change(kind.value_field))),
    (pa.types.is_list_view, lambda kind, change: pa.list_view(change(kind.value_field))),
    (
        pa.types.is_large_list_view,
        lambda kind, change: pa.large_list_view(change(kind.value_field)),
    ),
    (
        pa.types.is_union,
        lambda kind, change: pa.union(_of_fields(kind, change), kind.mode, kind.type_codes),
    ),
)


def with_fields(kind: Any, change: Change) -> Any | None:
    """Return a nested type with every field changed, or None for a type without fields.

    Runs, dictionaries and extension types contain a type but no fields, so they give None.

    Examples
    --------
    >>> with_fields(pa.list_(pa.int8()), lambda field: field.with_type(pa.int64()))
    ListType(list<item: int64>)
    >>> with_fields(pa.int8(), lambda field: field)
    """
    for is_kind, build in _KINDS:
        if is_kind(kind):
            return build(kind, change)
    return None
