from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import inbounds as ib
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.frames.local.category import CategoryColumn, arrow_release, arrow_type

TEXT = ib.RandomizedResponse(["no", "yes", "d'oh"], epsilon=1.0)
WHOLE = ib.RandomizedResponse([1, 2, 300], epsilon=1.0)
TRUTH = ib.RandomizedResponse([False, True], epsilon=1.0)
SURE = ib.RandomizedResponse(["no", "yes", "ä", "a\u0308"], epsilon=80.0)  # never flips
NOBODY = np.zeros(3, bool)


def test_nulls_are_refused_kept_or_replaced() -> None:
    codes, missing = np.array([0, -1, 1]), np.array([False, True, False])
    with pytest.raises(ArgumentError, match=r"^column 'x' must have no nulls"):
        CategoryColumn("x", TEXT, "error").draw(codes, missing)
    for nulls in ("keep", "uniform"):
        drawn = CategoryColumn("x", TEXT, nulls).draw(codes, missing)  # type: ignore[arg-type]
        assert set(drawn.tolist()) <= {0, 1, 2}


def test_a_missing_level_becomes_any_level_with_the_same_probability() -> None:
    """False alarm below 1e-6: 30,000 levels deviate from a third by 0.0027; 0.36 is rejected."""
    nobody = np.ones(30_000, bool)
    drawn = CategoryColumn("x", SURE, "uniform").draw(np.full(nobody.size, -1), nobody)
    fractions = np.bincount(drawn, minlength=4) / drawn.size
    assert np.abs(fractions - 1 / 4).max() < 0.0125


def test_a_value_that_is_no_level_is_refused_and_every_refusal_is_listed() -> None:
    column = CategoryColumn("x", TEXT, "error")
    with pytest.raises(ArgumentError, match=r"^column 'x' must hold levels") as foreign:
        column.draw(np.array([0, -1, 1]), NOBODY)
    with pytest.raises(ArgumentError) as null:
        column.draw(np.array([0, -1, 1]), np.array([False, True, False]))
    assert [str(refusal) for refusal in column.refusals()] == [str(null.value), str(foreign.value)]


@pytest.mark.parametrize(
    ("mechanism", "kind"),
    [
        (TEXT, pa.string()),
        (TEXT, pa.large_string()),
        (TEXT, pa.dictionary(pa.int8(), pa.string())),
        (TEXT, pa.dictionary(pa.int32(), pa.string(), ordered=True)),
        (WHOLE, pa.int16()),
        (WHOLE, pa.uint64()),
        (WHOLE, pa.dictionary(pa.int8(), pa.int64())),
        (TRUTH, pa.bool_()),
    ],
    ids=str,
)
def test_the_type_is_kept_and_a_dictionary_lists_the_levels(mechanism: Any, kind: Any) -> None:
    column = CategoryColumn("x", mechanism, "keep")
    assert arrow_type(column, kind) == kind
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    values = pa.array([mechanism.levels[1], None, mechanism.levels[0]], plain)
    if plain != kind:
        values = pa.DictionaryArray.from_arrays(
            pa.array([1, None, 0], kind.index_type),
            pa.array(mechanism.levels[:2], plain),
            ordered=kind.ordered,
        )
    outputs = arrow_release(column, values)
    outputs.validate(full=True)
    assert outputs.type == kind
    assert outputs.is_null().to_pylist() == [False, True, False]
    assert set(outputs.drop_null().to_pylist()) <= set(mechanism.levels)
    if plain != kind:
        assert outputs.dictionary.to_pylist() == list(mechanism.levels)


@pytest.mark.parametrize(
    ("mechanism", "kind"),
    [
        (TEXT, pa.int64()),
        (TEXT, pa.binary()),
        (WHOLE, pa.int8()),
        (WHOLE, pa.float64()),
        (WHOLE, pa.bool_()),
        (WHOLE, pa.date32()),
        (TRUTH, pa.int64()),
        (TRUTH, pa.string()),
        (ib.RandomizedResponse(map(str, range(200)), epsilon=1.0), pa.dictionary("int8", "string")),
    ],
    ids=str,
)
def test_a_type_that_cannot_hold_the_levels_is_refused_by_name(mechanism: Any, kind: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"^column 'x' must hold (text|integer|boolean)s"):
        arrow_type(CategoryColumn("x", mechanism, "error"), kind)


def test_texts_are_compared_by_their_bytes() -> None:
    column = CategoryColumn("x", SURE, "error")
    values = ["ä", "a\u0308", "yes", "no"]
    assert arrow_release(column, pa.array(values)).to_pylist() == values
    for other in ("YES", "yes ", "yes\0", "A\u0308", ""):
        with pytest.raises(ArgumentError, match="must hold levels"):
            arrow_release(column, pa.array([other]))
