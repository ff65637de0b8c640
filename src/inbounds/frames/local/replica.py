"""Arrow arrays built anew, whose memory holds the requested cells in their order and nothing else.

A slice of an array shares the memory of the whole array, and anything may be stored at the places
of nulls and behind dictionaries, runs and views. A replica follows them to the values at any depth
and writes these one after the other. Arrays with the same cells have replicas with the same bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from inbounds._extra import optional

with optional():
    import pyarrow as pa

Places = NDArray[np.int64]
_LISTS = (pa.types.is_list, pa.types.is_large_list, pa.types.is_map)
_TEXTS = (
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_binary,
    pa.types.is_large_binary,
)
_NUMBERS = {1: "u1", 2: "u2", 4: "u4", 8: "u8"}  # by the bytes of a cell, which are only copied


def replica(array: Any, field: Any, places: Places) -> Any:
    """Return some cells of an array as a new array of a field's type.

    Parameters
    ----------
    array
        An array of the type of `field`, or one that holds the same values in dictionaries, runs,
        views or the storage of an extension type.
    field
        A field whose type contains no unions, views, runs or dictionaries. Inside a null, a field
        that allows no nulls gets zeros.
    places
        The places of the cells in `array`; -1 gives a null.

    Examples
    --------
    >>> towns = pa.array(["Ulm", "Rom"]).dictionary_encode()
    >>> replica(towns, pa.field("town", pa.string()), np.array([1, -1])).to_pylist()
    ['Rom', None]
    """
    kind = field.type
    if isinstance(kind, pa.BaseExtensionType):
        stored = replica(array, field.with_type(kind.storage_type), places)
        return pa.ExtensionArray.from_storage(kind, stored)
    if pa.types.is_null(kind):
        return pa.nulls(len(places))
    missing_above = places < 0
    array, places = _values(array, places)
    if array.null_count:
        valid = array.is_valid().to_numpy(zero_copy_only=False)
        places = np.where(_at(valid, places), places, -1)
    missing = places < 0
    bitmap = None
    if missing.any() and (field.nullable or (missing != missing_above).any()):
        bitmap = pa.py_buffer(np.packbits(~missing, bitorder="little"))
    buffers, children = _content(array, kind, places)
    return pa.Array.from_buffers(kind, len(places), [bitmap, *buffers], children=children)


def _values(array: Any, places: Places) -> tuple[Any, Places]:
    """Follow places through extension types, dictionaries and runs to the array of the values."""
    while True:
        kind = array.type
        if isinstance(kind, pa.BaseExtensionType):
            array = array.storage
        elif pa.types.is_dictionary(kind):
            codes = array.indices.fill_null(0).to_numpy().astype(np.int64)
            valid = array.indices.is_valid().to_numpy(zero_copy_only=False)
            places = _at(np.where(valid, codes, -1), places, -1)
            array = array.dictionary
        elif pa.types.is_run_end_encoded(kind):
            runs = np.searchsorted(array.run_ends.to_numpy(), places + array.offset, side="right")
            places = np.where(places < 0, -1, runs)
            array = array.values
        else:
            return array, places


def _content(array: Any, kind: Any, places: Places) -> tuple[list[Any], list[Any]]:
    """Return the buffers of the cells, except that of nulls, and the inner arrays."""
    if pa.types.is_struct(kind):
        return [], [replica(array.field(i), kind.field(i), places) for i in range(kind.num_fields)]
    if pa.types.is_fixed_size_list(kind):
        size = kind.list_size
        inner = array.values.slice(array.offset * size, len(array) * size)
        cells = np.where(places[:, None] < 0, -1, places[:, None] * size + np.arange(size))
        return [], [replica(inner, kind.field(0), cells.ravel())]
    if any(is_kind(kind) for is_kind in _LISTS):
        return _lists(array, kind, places)
    if any(is_kind(kind) for is_kind in _TEXTS):
        return _texts(array.cast(kind), kind, places), []
    if pa.types.is_boolean(kind):
        bits = _at(array.fill_null(False).to_numpy(zero_copy_only=False), places)
        return [pa.py_buffer(np.packbits(bits, bitorder="little"))], []
    width = kind.bit_width // 8
    return [pa.py_buffer(_at(_cells(array, width), places) if width else b"")], []


def _at(values: NDArray[Any], places: Places, otherwise: int = 0) -> NDArray[Any]:
    """Return the values at places, and `otherwise` for the places of nulls."""
    known = places >= 0
    if known.all():
        return values[places]
    chosen = np.zeros(len(places), values.dtype)
    if otherwise:
        chosen[:] = otherwise
    chosen[known] = values[places[known]]
    return chosen


def _cells(array: Any, width: int) -> NDArray[Any]:
    """Return the bytes of cells of one width, as numbers if numpy has integers of that width."""
    kind = _NUMBERS.get(width, f"V{width}")
    if not len(array):
        return np.empty(0, kind)
    return np.frombuffer(array.buffers()[1], kind, len(array), array.offset * width)


def _lists(array: Any, kind: Any, places: Places) -> tuple[list[Any], list[Any]]:
    ends = array.offsets.to_numpy().astype(np.int64)
    starts, lengths = _at(ends[:-1], places), _at(np.diff(ends), places)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    width = np.int64 if pa.types.is_large_list(kind) else np.int32
    if offsets[-1] > np.iinfo(width).max:
        raise OverflowError
    inner = np.arange(offsets[-1]) + np.repeat(starts - ends[0] - offsets[:-1], lengths)
    values = array.values.slice(ends[0], ends[-1] - ends[0])
    return [pa.py_buffer(offsets.astype(width))], [replica(values, kind.field(0), inner)]


def _texts(array: Any, kind: Any, places: Places) -> list[Any]:
    """Let Arrow copy the texts, which gives texts at the places of nulls the length zero."""
    taken = array.take(pa.array(places, mask=places < 0))
    wide = pa.types.is_large_string(kind) or pa.types.is_large_binary(kind)
    width = np.int64 if wide else np.int32
    if not len(taken):
        return [pa.py_buffer(np.zeros(1, width)), pa.py_buffer(b"")]
    offsets = np.frombuffer(taken.buffers()[1], width, len(taken) + 1, taken.offset)
    data = taken.buffers()[2]
    return [
        pa.py_buffer(offsets),
        pa.py_buffer(b"") if data is None else data.slice(0, offsets[-1]),
    ]
