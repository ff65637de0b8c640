import pickle

import pyarrow as pa
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from inbounds.errors import ArgumentTypeError
from inbounds.frames.local.layout import rebuilt_column
from inbounds.frames.local.metadata import bare_schema, bare_type

NOTE = {"note": "77"}
PLAIN = st.sampled_from([pa.int8(), pa.string(), pa.timestamp("us", "UTC"), pa.decimal128(5, 2)])


class Sealed(pa.ExtensionType):
    """An extension type of any storage, with a parameter."""

    def __init__(self, storage, parameter=b"p"):
        self.parameter = parameter
        super().__init__(storage, "inbounds.sealed")

    def __arrow_ext_serialize__(self):
        return self.parameter

    @classmethod
    def __arrow_ext_deserialize__(cls, storage, serialized):
        return cls(storage, serialized)


class Keeping(Sealed):
    """An extension type that always adds metadata to its storage."""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage, serialized):
        return cls(pa.struct([field_of(storage.field(0).type)]), serialized)


@pytest.fixture(autouse=True)
def registered():
    pa.register_extension_type(Sealed(pa.struct([])))
    yield
    pa.unregister_extension_type("inbounds.sealed")


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
        inner.map(lambda kind: pa.sparse_union([field_of(kind)], [3])),
        inner.map(lambda kind: pa.dense_union([field_of(kind), pa.field("y", kind)])),
        inner.map(lambda kind: pa.run_end_encoded(pa.int32(), pa.struct([field_of(kind)]))),
        inner.map(lambda kind: Sealed(pa.struct([field_of(kind)]))),
        inner.map(lambda kind: pa.dictionary(pa.int8(), pa.struct([field_of(kind)]))),
    )


TYPES = st.recursive(PLAIN, nested, max_leaves=4)


@settings(max_examples=150)
@given(TYPES)
def test_any_nested_type_keeps_everything_except_metadata(kind):
    bare = bare_schema(pa.schema([field_of(kind)], metadata=NOTE))
    assert bare.field(0).type == kind
    assert not bare.field(0).nullable
    assert b"77" not in bare.serialize().to_pybytes()
    assert bare_type(bare.field(0).type).equals(bare.field(0).type, check_metadata=True)


@settings(max_examples=100)
@given(TYPES)
def test_any_nested_column_keeps_its_values_and_not_its_notes(kind):
    try:
        column = pa.nulls(2, kind)
        column.validate()  # Arrow makes invalid arrays of null runs
        bare = rebuilt_column(column, "x")
    except (pa.ArrowException, ArgumentTypeError):  # types with several layouts
        reject()
    bare.validate(full=True)
    assert bare.to_pylist() == column.to_pylist()
    assert b"77" not in pickle.dumps(bare)


def test_an_extension_that_is_not_registered_is_part_of_the_type():
    notes = {"ARROW:extension:name": "geo.point", "ARROW:extension:metadata": "", "note": "77"}
    (field,) = bare_schema(pa.schema([pa.field("a", pa.int8(), metadata=notes)]))
    assert set(field.metadata) == {b"ARROW:extension:name", b"ARROW:extension:metadata"}


def test_dictionaries_of_nested_values_are_bare():
    kind = pa.dictionary(pa.int8(), pa.struct([field_of(pa.int8())]), ordered=True)
    assert bare_type(kind).value_type.field(0).metadata is None
    assert bare_type(kind).ordered


def test_every_kind_of_array_keeps_its_values():
    inner = pa.struct([field_of(pa.int8())])
    rows = [{"x": 1}, {"x": 2}]
    plain = pa.array(rows, inner)
    codes = pa.array([0, 0], pa.int8())
    kinds = [
        pa.RunEndEncodedArray.from_arrays(pa.array([1, 2], pa.int32()), plain),
        pa.ExtensionArray.from_storage(Sealed(inner), plain),
        pa.DictionaryArray.from_arrays(codes, plain),
        pa.array([rows, None], pa.list_(field_of(inner))),
    ]
    for column in kinds:
        for values in (column, pa.chunked_array([column[1:], column])):
            assert b"77" in pickle.dumps(values)
            bare = rebuilt_column(values, "x")
            assert bare.to_pylist() == values.to_pylist()
            assert b"77" not in pickle.dumps(bare)


@pytest.mark.parametrize("kind", [Keeping, lambda storage: pa.opaque(storage, "a", "b")])
def test_an_extension_that_cannot_lose_its_notes_is_refused_by_name(kind):
    schema = pa.schema([pa.field("geo", kind(pa.struct([field_of(pa.int8())])))])
    with pytest.raises(ArgumentTypeError, match=r"^column 'geo' must be of a type") as caught:
        bare_schema(schema)
    assert "77" not in str(caught.value)
    assert caught.value.argument == "column 'geo'"
    assert caught.value.__context__ is None


def test_an_extension_without_fields_is_passed_on():
    for kind in (pa.uuid(), pa.json_(), pa.bool8(), pa.opaque(pa.int8(), "a", "b")):
        assert bare_type(kind) is kind
