from typing import Any

import pyarrow as pa
import pytest

import inbounds as ib
from inbounds.errors import ArgumentError
from inbounds.frames.local.category import CategoryColumn
from inbounds.frames.local.text_level import blank_as_missing, level_schema, read_levels


def column(*levels: Any) -> CategoryColumn:
    return CategoryColumn("x", ib.RandomizedResponse(levels, epsilon=1.0), "keep")


@pytest.mark.parametrize(
    ("levels", "texts", "kind"),
    [
        (("no", "yes"), ("no", "yes"), pa.string()),
        ((0, 1), ("0", "1"), pa.int64()),
        ((True, False), ("TRUE", "false"), pa.bool_()),
    ],
)
def test_text_becomes_levels_and_a_blank_cell_a_null(levels: Any, texts: Any, kind: Any) -> None:
    category = column(*levels)
    batch = pa.record_batch({"town": ["Ulm"] * 4, "x": [texts[1], "", texts[0], texts[1]]})
    schema = level_schema(batch.schema, [category])
    assert schema.types == [pa.string(), kind]
    (typed,) = read_levels([batch], schema, {category: texts})
    assert typed["x"].to_pylist() == [levels[1], None, levels[0], levels[1]]
    assert typed["town"].to_pylist() == ["Ulm"] * 4


@pytest.mark.parametrize("cell", ["maybe", "No", " no", "ná", "NA"])
def test_a_cell_that_is_no_level_is_refused_and_not_shown(cell: str) -> None:
    category = column("no", "yes")
    batch = pa.record_batch({"x": ["no", cell]})
    with pytest.raises(ArgumentError, match="column 'x' must hold levels") as caught:
        list(read_levels([batch], batch.schema, {category: ("no", "yes")}))
    assert repr(cell) not in str(caught.value)
    assert caught.value.__context__ is None


def test_only_named_columns_have_blank_cells_that_are_missing() -> None:
    batch = pa.record_batch({"x": ["", "no"], "town": ["", "Ulm"]})
    result = blank_as_missing(batch, ["x"])
    assert result.to_pydict() == {"x": [None, "no"], "town": ["", "Ulm"]}
