import pyarrow as pa
import pytest

from inbounds.frames.local.nested import with_fields

FIELD = pa.field("x", pa.int8(), nullable=False, metadata={"note": "77"})


@pytest.mark.parametrize(
    "kind",
    [
        pa.struct([FIELD, pa.field("y", pa.string())]),
        pa.list_(FIELD),
        pa.large_list(FIELD),
        pa.list_view(FIELD),
        pa.large_list_view(FIELD),
        pa.list_(FIELD, 3),
        pa.map_(pa.string(), FIELD, keys_sorted=True),
        pa.sparse_union([FIELD], [5]),
        pa.dense_union([FIELD, FIELD.with_name("z")]),
    ],
    ids=str,
)
def test_a_type_is_rebuilt_with_every_field_changed(kind):
    seen = []
    assert with_fields(kind, lambda field: seen.append(field) or field) == kind
    assert len(seen) == (2 if pa.types.is_map(kind) else kind.num_fields)
    bare = with_fields(kind, lambda field: field.remove_metadata())
    assert b"77" not in pa.schema([pa.field("", bare)]).serialize().to_pybytes()


@pytest.mark.parametrize(
    "kind",
    [
        pa.int8(),
        pa.string_view(),
        pa.dictionary(pa.int8(), pa.struct([FIELD])),
        pa.run_end_encoded(pa.int32(), pa.int8()),
        pa.opaque(pa.struct([FIELD]), "a", "b"),
    ],
    ids=str,
)
def test_types_without_fields_give_none(kind):
    assert with_fields(kind, lambda field: field) is None
