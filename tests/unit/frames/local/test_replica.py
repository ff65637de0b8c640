import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from inbounds.frames.local.replica import replica

ROWS = [1, None, 3, 4]


def held(array):
    return b"".join(bytes(buffer) for buffer in array.buffers() if buffer is not None)


@pytest.mark.parametrize(
    ("array", "kind"),
    [
        (pa.array(ROWS, pa.int16()), pa.int16()),
        (pa.array(ROWS).dictionary_encode(), pa.int64()),
        (pc.run_end_encode(pa.array(ROWS)), pa.int64()),
        (pc.run_end_encode(pa.array([9, *ROWS, 9])).slice(1, 4), pa.int64()),
        (pa.array([b"", None, b"", b""], pa.binary(0)), pa.binary(0)),
        (pa.array([True, None, False, True]), pa.bool_()),
        (pa.array(["a", None, "ccc", ""], pa.string_view()), pa.string()),
        (pa.array([b"a", None, b"ccc", b""]), pa.binary()),
        (pa.array([None] * 4), pa.null()),
        (pa.array([{}, None, {}, {}], pa.struct([])), pa.struct([])),
        (pa.array([[1], None, [], [2, None]]), pa.list_(pa.int64())),
        (pa.array([[1, 2], None, [3, 4], [5, None]], pa.list_(pa.int8(), 2)), None),
        (pa.array([[("a", 1)], None, [], [("b", None)]], pa.map_(pa.string(), pa.int8())), None),
        (pa.array([b"0123456789abcdef", None] * 2, pa.uuid()), pa.uuid()),
        (pa.array([b"0123456789abcdef", None] * 2, pa.uuid()), pa.binary(16)),
    ],
    ids=lambda value: str(getattr(value, "type", value)),
)
def test_any_cells_are_copied_in_any_order(array, kind):
    field = pa.field("x", kind or array.type)
    places = np.array([3, 0, -1, 1, 0, 2])
    copy = replica(array, field, places)
    copy.validate(full=True)
    assert copy.type == field.type
    cells = (array.storage if field.type == pa.binary(16) else array).to_pylist()
    assert copy.to_pylist() == [None if place < 0 else cells[place] for place in places]
    assert replica(array, field, np.array([], np.int64)).to_pylist() == []


def test_a_field_that_allows_no_nulls_has_none_below_a_null():
    kind = pa.struct([pa.field("x", pa.int64(), nullable=False)])
    array = pa.StructArray.from_arrays(
        [pa.array([7, 8])], fields=list(kind), mask=pa.array([True, False])
    )
    copy = replica(array, pa.field("s", kind), np.arange(2))
    assert copy.to_pylist() == [None, {"x": 8}]
    assert copy.field(0).null_count == 0
    assert (7).to_bytes(8, "little") not in held(copy)


def test_nulls_in_a_field_that_allows_none_stay_nulls():
    copy = replica(pa.array([1, None]), pa.field("x", pa.int64(), nullable=False), np.arange(2))
    assert copy.to_pylist() == [1, None]


def test_lists_too_long_for_their_offsets_are_refused():
    offsets = pa.py_buffer(np.array([0, 2**30], np.int32))
    kind = pa.list_(pa.null())
    array = pa.Array.from_buffers(kind, 1, [None, offsets], children=[pa.nulls(2**30)])
    with pytest.raises(OverflowError):
        replica(array, pa.field("x", kind), np.zeros(2, np.int64))
