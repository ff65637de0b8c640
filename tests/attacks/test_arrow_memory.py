"""What the memory of Arrow arrays may tell: of pieces, of other rows, of nulls and of an old order.

The same rows are laid out twice, at random: in other pieces, as parts of other arrays, with
anything below nulls, in other dictionaries, runs and views. Whatever is published of them, but for
the private column, must be the same bytes.
"""

import datetime
import decimal
import io
import itertools
import pickle
import random
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import inbounds as ib
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.frames.local import arrow_frame, csv_writer, file, layout, pandas_frame
from inbounds.frames.local.column import PrivateColumn
from inbounds.frames.local.privatize import privatize

AGE = ib.ClampedLaplace(ib.Box(0, 120), 120, scale=120.0)
SECRET = "another-row-of-the-table"
SEEDS = st.integers(0, 1 << 32)
ROUGH = settings(
    max_examples=60,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


class Sealed(pa.ExtensionType):
    """An extension type of any storage."""

    def __init__(self, storage):
        super().__init__(storage, "inbounds.attack")

    def __arrow_ext_serialize__(self):
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage, _):
        return cls(storage)


@pytest.fixture(autouse=True)
def small_and_silent(monkeypatch):
    """Small batches, and an output of zero for every value."""
    pa.register_extension_type(Sealed(pa.int8()))
    for name in ("_FEWEST", "_MOST", "_MOST_OF_TEXT"):
        monkeypatch.setattr(layout, name, 4)
    zeros = SimpleNamespace(draw=lambda numbers, _: np.zeros(numbers.size))
    monkeypatch.setattr(PrivateColumn, "_sampler", zeros)
    yield
    pa.unregister_extension_type("inbounds.attack")


# Random types, and random values of them

LEAVES = {
    pa.int64(): lambda rng: rng.randrange(-9, 9),
    pa.uint8(): lambda rng: rng.randrange(9),
    pa.float64(): lambda rng: rng.choice([0.5, -1.0, 1e300]),
    pa.bool_(): lambda rng: rng.random() < 0.5,
    pa.string(): lambda rng: rng.choice(["", "a", "bc", "a text of more than 12 bytes", "é"]),
    pa.large_string(): lambda rng: rng.choice(["", "a", "bc"]),
    pa.string_view(): lambda rng: rng.choice(["", "a", "a text of more than 12 bytes", "é"]),
    pa.binary_view(): lambda rng: rng.choice([b"", b"a", b"bytes that are more than 12"]),
    pa.binary(): lambda rng: rng.choice([b"", b"a", b"bc"]),
    pa.binary(3): lambda rng: rng.choice([b"abc", b"xyz"]),
    pa.decimal128(5, 1): lambda rng: decimal.Decimal(rng.randrange(99)) / 10,
    pa.decimal32(4, 0): lambda rng: decimal.Decimal(rng.randrange(99)),
    pa.date32(): lambda rng: datetime.date(2024, 1, rng.randrange(1, 9)),
    pa.timestamp("us", "UTC"): lambda rng: datetime.datetime(
        2024, 1, rng.randrange(1, 9), tzinfo=datetime.UTC
    ),
    pa.month_day_nano_interval(): lambda rng: pa.MonthDayNano([rng.randrange(3), 1, 2]),
    pa.null(): lambda _: None,
}


def random_type(rng, depth=3):
    def inner(nullable=True):
        kind = random_type(rng, depth - 1)
        return pa.field("x", kind, nullable or pa.types.is_null(kind) or rng.random() < 0.7)

    if depth == 0 or rng.random() < 0.2:
        return rng.choice(list(LEAVES))
    return rng.choice(
        [
            lambda: pa.struct([inner(nullable=False), inner().with_name("y")][: rng.randrange(3)]),
            lambda: pa.list_(inner(nullable=False)),
            lambda: pa.large_list(inner()),
            lambda: pa.list_(inner(), rng.randrange(3)),
            lambda: pa.map_(pa.string(), inner().type),
            lambda: pa.dictionary(pa.int8(), inner().type),
            lambda: pa.dictionary(pa.int64(), pa.string()),
            lambda: pa.run_end_encoded(pa.int32(), inner().type),
            lambda: sealed(inner().type),
        ]
    )()


def sealed(kind):
    """An extension type; Arrow ends the process when it validates one of another one."""
    return kind if isinstance(kind, pa.BaseExtensionType) else Sealed(kind)


def inner_type(kind):
    """The type of the values in a dictionary, in runs or in an extension type."""
    if isinstance(kind, pa.BaseExtensionType):
        return kind.storage_type
    is_coded = pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind)
    return kind.value_type if is_coded else None


def random_cell(rng, kind, nullable=True):
    """A cell as what `to_pylist` would give."""
    if nullable and rng.random() < 0.25:
        return None
    if (inner := inner_type(kind)) is not None:
        return random_cell(rng, inner, nullable)
    if pa.types.is_struct(kind):
        return {f.name: random_cell(rng, f.type, f.nullable) for f in kind}
    if pa.types.is_map(kind):
        return [(key, random_cell(rng, kind.item_type)) for key in "kl"[: rng.randrange(3)]]
    if kind.num_fields:
        fixed = pa.types.is_fixed_size_list(kind)
        count, field = kind.list_size if fixed else rng.randrange(3), kind.value_field
        return [random_cell(rng, field.type, field.nullable) for _ in range(count)]
    return LEAVES[kind](rng)


# Random ways to hold the same cells


def laid_out(rng, kind, cells, nullable=True):
    """An array of cells: a part of a longer one, with anything below its nulls."""
    before, after = (
        [random_cell(rng, kind, nullable) for _ in range(rng.randrange(3))] for _ in "ab"
    )
    whole = with_garbage(rng, kind, [*before, *cells, *after])
    assert whole.type == kind
    return whole.slice(len(before), len(cells))


def with_garbage(rng, kind, cells):
    if isinstance(kind, pa.BaseExtensionType):
        stored = laid_out(rng, kind.storage_type, cells)
        return pa.ExtensionArray.from_storage(kind, stored)
    if pa.types.is_null(kind):
        return pa.nulls(len(cells))
    if pa.types.is_run_end_encoded(kind):
        ends = [i + 1 for i in range(len(cells)) if same_run(rng, cells, i) is False]
        values = laid_out(rng, kind.value_type, [cells[end - 1] for end in ends])
        return pa.RunEndEncodedArray.from_arrays(pa.array(ends, pa.int32()), values)
    filled = [random_cell(rng, kind, nullable=False) if c is None else c for c in cells]
    if pa.types.is_dictionary(kind):
        return with_dictionary(rng, kind, cells, filled)
    bitmap = validity(rng, cells)
    buffers, children = content(rng, kind, filled)
    return pa.Array.from_buffers(kind, len(cells), [bitmap, *buffers], children=children)


def same_run(rng, cells, i):
    return i + 1 < len(cells) and cells[i] == cells[i + 1] and rng.random() < 0.7


def validity(rng, cells):
    bits = [cell is not None for cell in cells]
    if all(bits) and rng.random() < 0.5:
        return None
    bits += [rng.random() < 0.5 for _ in range(-len(bits) % 8)]
    return pa.py_buffer(np.packbits(np.array(bits, bool), bitorder="little"))


def with_dictionary(rng, kind, cells, filled):
    listed = [*filled, random_cell(rng, kind.value_type), None]
    order = rng.sample(range(len(listed)), len(listed))
    place = {old: new for new, old in enumerate(order)}
    codes = [place[i] for i in range(len(cells))]
    is_entry = [cell is None and rng.random() < 0.5 for cell in cells]
    codes = [place[len(listed) - 1] if e else c for c, e in zip(codes, is_entry, strict=True)]
    nulls = np.array([c is None and not e for c, e in zip(cells, is_entry, strict=True)], bool)
    indices = pa.Array.from_buffers(
        kind.index_type,
        len(cells),
        [
            pa.py_buffer(np.packbits(~nulls, bitorder="little")),
            pa.py_buffer(np.array(codes, kind.index_type.to_pandas_dtype())),
        ],
    )
    values = laid_out(rng, kind.value_type, [listed[old] for old in order])
    return pa.DictionaryArray.from_arrays(indices, values)


def content(rng, kind, cells):
    if pa.types.is_struct(kind):
        children = [
            laid_out(rng, f.type, [cell[f.name] for cell in cells], f.nullable) for f in kind
        ]
        return [], children
    if pa.types.is_fixed_size_list(kind):
        items = [item for cell in cells for item in cell]
        return [], [laid_out(rng, kind.value_type, items, kind.value_field.nullable)]
    if pa.types.is_map(kind):
        cells = [[{"key": key, "value": item} for key, item in cell] for cell in cells]
    elif not kind.num_fields:
        return pa.array(cells, kind).buffers()[1:], []
    field = kind.field(0)
    before = [random_cell(rng, field.type, field.nullable) for _ in range(rng.randrange(3))]
    items = before + [item for cell in cells for item in cell]
    ends = np.cumsum([len(before), *map(len, cells)])
    width = np.int64 if pa.types.is_large_list(kind) else np.int32
    values = laid_out(rng, field.type, items, field.nullable)
    return [pa.py_buffer(ends.astype(width))], [values]


def pieces(rng, kind, cells):
    cuts = sorted({0, len(cells), *(rng.randrange(len(cells) + 1) for _ in range(3))})
    parts = [cells[a:b] for a, b in itertools.pairwise(cuts)]
    return pa.chunked_array([laid_out(rng, kind, part) for part in parts], kind)


# The four kinds of frame


def as_table(rng, kind, cells):
    return pa.table(
        {"age": pieces(rng, pa.float64(), [1.0] * len(cells)), "x": pieces(rng, kind, cells)}
    )


def as_reader(rng, kind, cells):
    return as_table(rng, kind, cells).to_reader()


def as_batch(rng, kind, cells):
    return pa.record_batch({"age": np.ones(len(cells)), "x": laid_out(rng, kind, cells)})


def as_pandas(rng, kind, cells):
    values, labels = (
        pd.arrays.ArrowExtensionArray(pieces(rng, kind, cells)) for _ in ("column", "index")
    )
    return pd.DataFrame({"age": np.ones(len(cells)), "x": values}, index=pd.Index(labels))


FRAMES = [as_table, as_reader, as_batch, as_pandas]


def memory(frame):
    """Everything but the private column, as others would get it."""
    if isinstance(frame, pd.DataFrame):
        return pickle.dumps((frame["x"].array, frame.index.array))
    if isinstance(frame, pa.RecordBatchReader):
        frame = frame.read_all()
    if isinstance(frame, pa.RecordBatch):
        frame = pa.Table.from_batches([frame])
    frame = frame.drop_columns(["age"])
    frame.validate(full=True)
    out = io.BytesIO()
    with pa.ipc.new_stream(out, frame.schema) as stream:
        stream.write_table(frame)
    return out.getvalue() + pickle.dumps(frame)


def rows_of(frame):
    if isinstance(frame, pd.DataFrame):
        return frame["x"].array.__arrow_array__().to_pylist()
    return (frame.read_all() if isinstance(frame, pa.RecordBatchReader) else frame)["x"].to_pylist()


@pytest.mark.parametrize("make", FRAMES)
@ROUGH
@given(SEEDS)
def test_the_same_rows_are_published_as_the_same_bytes_however_they_lay_in_memory(make, seed):
    rng = random.Random(seed)
    kind = random_type(rng)
    cells = [random_cell(rng, kind) for _ in range(rng.randrange(make is as_pandas, 11))]
    one, other = (privatize(make(rng, kind, cells), {"age": AGE}) for _ in "ab")
    assert memory(one) == memory(other)
    again = privatize(make(rng, kind, cells), {"age": AGE})
    assert rows_of(again) == cells


@pytest.mark.parametrize("make", FRAMES)
@ROUGH
@given(SEEDS)
def test_shuffled_rows_are_published_as_the_same_bytes_whatever_their_old_order(
    monkeypatch, make, seed
):
    """Two orders of the rows, each with the permutation that leads to the same third one."""
    rng = random.Random(seed)
    kind = random_type(rng)
    cells = [random_cell(rng, kind) for _ in range(rng.randrange(make is as_pandas, 11))]
    new = np.array(rng.sample(range(len(cells)), len(cells)), np.int64)
    found = []
    for _ in "ab":
        old = np.array(rng.sample(range(len(cells)), len(cells)), np.int64)
        order = np.argsort(old)[new]
        for module in (arrow_frame, pandas_frame):
            monkeypatch.setattr(module, "permutation", lambda _, order=order: order)
        frame = make(rng, kind, [cells[i] for i in old])
        found.append(memory(privatize(frame, {"age": AGE}, shuffle=True)))
    assert found[0] == found[1]
    monkeypatch.setattr(arrow_frame, "permutation", lambda _: new)
    monkeypatch.setattr(pandas_frame, "permutation", lambda _: new)
    published = privatize(make(rng, kind, cells), {"age": AGE}, shuffle=True)
    assert rows_of(published) == [cells[i] for i in new]


# One attack for each of the ways that were found by hand


def table_of(values):
    return pa.table({"age": np.ones(len(values)), "x": values})


def held(frame):
    """What a pickle, and every buffer by itself, hold of a column."""
    frame = frame.read_all() if isinstance(frame, pa.RecordBatchReader) else frame
    if isinstance(frame, pd.DataFrame):
        arrays = [frame["x"].array, frame.index.array]
        columns = [a.__arrow_array__() for a in arrays if hasattr(a, "__arrow_array__")]
    else:
        columns = [frame["x"]]
    arrays = [
        array
        for column in columns
        for array in (column.chunks if isinstance(column, pa.ChunkedArray) else [column])
    ]
    arrays += [array.dictionary for array in arrays if pa.types.is_dictionary(array.type)]
    buffers = [bytes(b) for array in arrays for b in array.buffers() if b is not None]
    return pickle.dumps(frame) + b"".join(buffers)


def parts_of(values):
    """The first two rows of a frame of each kind; the others are not to be published."""
    table = table_of(values)
    array = pd.arrays.ArrowExtensionArray(pa.chunked_array([values]))
    text = {"x": array, "age": np.ones(len(values))}
    yield table.slice(0, 2)
    yield table.combine_chunks().to_batches()[0].slice(0, 2)
    yield table.slice(0, 2).to_reader()
    yield pd.DataFrame(text).iloc[:2]
    yield pd.DataFrame(text, index=pd.Index(array)).iloc[:2]


TEXTS = pa.array(["a", "b", SECRET])
COLUMNS = {
    "text": TEXTS,
    "struct": pa.StructArray.from_arrays([TEXTS], ["y"]),
    "list": pa.ListArray.from_arrays([0, 1, 2, 3], TEXTS),
    "fixed list": pa.FixedSizeListArray.from_arrays(TEXTS, 1),
    "map": pa.MapArray.from_arrays([0, 1, 2, 3], ["k"] * 3, TEXTS),
    "dictionary": TEXTS.dictionary_encode(),
    "view": pa.array(["a", "b", SECRET], pa.string_view()),
    "extension": pa.ExtensionArray.from_storage(pa.json_(), TEXTS),
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("shuffle", [False, True])
def test_the_rows_beside_a_slice_are_not_published(name, shuffle):
    for frame in parts_of(COLUMNS[name]):
        if not isinstance(frame, pa.RecordBatchReader):
            assert SECRET.encode() in held(frame)  # the control
        published = privatize(frame, {"age": AGE}, shuffle=shuffle)
        assert SECRET.encode() not in held(published)


@pytest.mark.parametrize("dtype", ["str", "string[pyarrow]"])
@pytest.mark.parametrize("shuffle", [False, True])
def test_the_rows_beside_a_slice_of_a_text_column_of_pandas_are_not_published(dtype, shuffle):
    texts = pd.Series(["a", "b", SECRET], dtype=dtype)
    whole = pd.DataFrame({"age": np.ones(3), "x": texts})
    labels = [pd.Index(texts), pd.MultiIndex.from_arrays([texts, [1, 2, 3]])]
    for frame in (whole, *(whole.drop(columns="x").set_index(index) for index in labels)):
        published = privatize(frame.iloc[:2], {"age": AGE}, shuffle=shuffle)
        assert SECRET.encode() not in pickle.dumps(published)


@pytest.mark.parametrize("shuffle", [False, True])
def test_what_lies_below_nulls_is_not_published(shuffle):
    valid = pa.py_buffer(b"\x03")
    whole = pa.array(["a", "b", SECRET])
    text = pa.Array.from_buffers(pa.string(), 3, [valid, *whole.buffers()[1:]])
    struct = pa.StructArray.from_arrays([whole], ["y"], mask=pa.array([False, False, True]))
    lists = pa.ListArray.from_arrays([0, 1, 2, 3], whole, mask=pa.array([False, False, True]))
    for values in (text, struct, lists):
        for frame in (
            table_of(values),
            table_of(values).to_reader(),
            table_of(values).to_pandas(types_mapper=pd.ArrowDtype),
        ):
            if not isinstance(frame, pa.RecordBatchReader):
                assert SECRET.encode() in held(frame)  # the control
            published = privatize(frame, {"age": AGE}, shuffle=shuffle)
            assert SECRET.encode() not in held(published)


@pytest.mark.parametrize(
    "kind", [pa.list_view(pa.int8()), pa.dense_union([pa.field("a", pa.int8())])]
)
@pytest.mark.parametrize("shuffle", [False, True])
def test_types_of_many_layouts_are_refused_in_memory_as_in_files(kind, shuffle):
    if pa.types.is_union(kind):
        codes, places = pa.array([0], pa.int8()), pa.array([0], pa.int32())
        values = pa.UnionArray.from_dense(codes, places, [pa.array([7], pa.int8())], ["a"])
    else:
        values = pa.array([[7]], kind)
    array = pd.arrays.ArrowExtensionArray(pa.chunked_array([values]))
    table = table_of(values)
    frames = [table, table.to_batches()[0], table.to_reader()]
    for frame in [*frames, pd.DataFrame({"age": [1.0], "x": pd.Series(array)})]:
        with pytest.raises(ArgumentTypeError, match=r"^column 'x' must be of a type with one lay"):
            privatize(frame, {"age": AGE}, shuffle=shuffle)


NUMBERS = [1, 2, 0x1122334455667788]


@pytest.mark.parametrize("shuffle", [False, True])
def test_polars_frames_hold_nothing_but_their_rows(shuffle):
    numbers, mask = pa.array(NUMBERS), pa.array([False, False, True])
    valid = pa.py_buffer(b"\x03")
    texts = pa.Array.from_buffers(pa.string(), 3, [valid, *TEXTS.buffers()[1:]])
    masked = {
        "x": pa.Array.from_buffers(pa.int64(), 3, [valid, numbers.buffers()[1]]),
        "list": pa.ListArray.from_arrays(pa.array([0, 1, 2, 3], pa.int32()), numbers, mask=mask),
        "struct": pa.StructArray.from_arrays([numbers], ["y"], mask=mask),
        "text": texts,
    }
    below = pl.from_arrow(pa.table({"age": np.ones(3), **masked}))
    rows = {"x": NUMBERS, "list": [[n] for n in NUMBERS], "struct": [{"y": n} for n in NUMBERS]}
    beside = pl.DataFrame({"age": np.ones(3), **rows, "text": TEXTS.to_pylist()}).head(2)
    secrets = (NUMBERS[2].to_bytes(8, "little"), SECRET.encode())
    for frame in (below, beside):
        given, ours = [
            everything(one) for one in (frame, privatize(frame, {"age": AGE}, shuffle=shuffle))
        ]
        assert any(secret in given for secret in secrets)  # the control
        assert not any(secret in ours for secret in secrets)


def everything(frame):
    chunks = [chunk for column in frame.to_arrow().columns for chunk in column.chunks]
    buffers = [bytes(b) for chunk in chunks for b in chunk.buffers() if b is not None]
    return pickle.dumps(frame) + b"".join(buffers)


def test_errors_of_arrow_are_not_behind_ours(tmp_path):
    """The message of a failed conversion shows the cell."""
    (tmp_path / "in.csv").write_text("age,x\n1,2\nsecret-77,3\n")
    with pytest.raises(ArgumentError) as caught, file.opened(tmp_path / "in.csv", "csv", ["age"]):
        pass
    assert caught.value.__context__ is None
    (tmp_path / "in.arrow").write_bytes(b"ARROW1 secret-77")
    with pytest.raises(ArgumentError) as caught, file.opened(tmp_path / "in.arrow", "arrow"):
        pass
    assert caught.value.__context__ is None
    batch = pa.record_batch({"x": pa.array([b"secret-77\xff"])})
    with pytest.raises(ArgumentError) as caught:
        csv_writer.writer(io.BytesIO(), batch.schema)(batch)
    assert caught.value.__context__ is None
