import pickle

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inbounds.errors import ArgumentTypeError
from inbounds.frames.metadata import bare_column, bare_schema, bare_type

NOTE = {"note": "77"}
PLAIN = st.sampled_from([pa.int8(), pa.string(), pa.timestamp("us", "UTC"), pa.decimal128(5, 2)])


def field_of(kind):
    return pa.field("x", kind, nullable=False, metadata=NOTE)


def nested(inner):
    return st.one_of(
        inner.map(lambda kind: pa.struct([field_of(kind), pa.field("y", kind)])),
        inner.map(lambda kind: pa.list_(field_of(kind))),
        inner.map(lambda kind: pa.large_list(field_of(kind))),
        inner.map(lambda kind: pa.list_view(field_of(kind))),
        inner.map(lambda kind: pa.large_list_view(field_of(kind))),
        inner.map(lambda kind: pa.list_(pa.field("z", kind, metadata=NOTE), 3)),
        inner.map(lambda kind: pa.map_(pa.string(), field_of(kind), keys_sorted=True)),
    )


TYPES = st.recursive(PLAIN, nested, max_leaves=4)


@settings(max_examples=150)
@given(TYPES)
def test_any_nested_type_keeps_all_but_its_notes(kind):
    bare = bare_schema(pa.schema([field_of(kind)], metadata=NOTE))
    assert bare.field(0).type == kind
    assert not bare.field(0).nullable
    assert b"77" not in bare.serialize().to_pybytes()
    assert bare_type(bare.field(0).type).equals(bare.field(0).type, check_metadata=True)


@settings(max_examples=100)
@given(TYPES)
def test_any_nested_column_keeps_its_values_and_not_its_notes(kind):
    column = pa.array([None, None], kind)
    bare = bare_column(column, pa.field("x", bare_type(kind)))
    assert bare.equals(column)
    assert b"77" not in pickle.dumps(bare)


def test_an_extension_that_is_not_registered_is_part_of_the_type_of_a_public_column_only():
    notes = {"ARROW:extension:name": "geo.point", "ARROW:extension:metadata": "", "note": "77"}
    schema = pa.schema([pa.field(name, pa.int8(), metadata=notes) for name in "ab"])
    public, private = bare_schema(schema, [1])
    assert set(public.metadata) == {b"ARROW:extension:name", b"ARROW:extension:metadata"}
    assert private.metadata is None


def test_dictionaries_of_nested_values_are_bare():
    kind = pa.dictionary(pa.int8(), pa.struct([field_of(pa.int8())]), ordered=True)
    assert bare_type(kind).value_type.field(0).metadata is None
    assert bare_type(kind).ordered


def test_a_column_that_cannot_be_cast_is_refused_by_name():
    with pytest.raises(ArgumentTypeError, match=r"^column 'x' must have no metadata") as caught:
        bare_column(pa.array(["77"]), pa.field("x", pa.struct([pa.field("a", pa.int8())])))
    assert "77" not in str(caught.value)
    assert caught.value.__suppress_context__
