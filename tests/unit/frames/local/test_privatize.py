import subprocess
import sys
from typing import Any

import pandas as pd
import pytest

import inbounds as ib
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.frames.local.privatize import privatize, row_guarantee

AGE = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 120, epsilon=1.0)
PAY = ib.BoundedLaplace.calibrated(ib.Box(0, 1e5), 1e5, epsilon=0.5)
FRAME = pd.DataFrame({"age": [17, 41], "pay": [1e3, 2e4]})


@pytest.mark.parametrize("frame", [None, [1, 2], {"age": [1]}, pd.Series([1.0]), 7])
def test_only_frames_are_accepted(frame: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"^frame must be a pandas or Polars"):
        privatize(frame, {"age": AGE})


@pytest.mark.parametrize("nulls", ["drop", None, True, "Error"])
def test_nulls_is_one_of_three_choices(nulls: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^nulls must be one of 'error', 'keep', 'uniform'"):
        privatize(FRAME, {"age": AGE}, nulls=nulls)


def test_mechanisms_must_name_at_least_one_column() -> None:
    with pytest.raises(ArgumentError, match=r"^mechanisms must name at least one column"):
        privatize(FRAME, {})
    with pytest.raises(ArgumentTypeError, match=r"^mechanisms must map names"):
        privatize(FRAME, AGE)  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match=r"^mechanisms must map names"):
        row_guarantee([AGE])  # type: ignore[arg-type]


def test_each_column_has_its_own_mechanism() -> None:
    published = privatize(FRAME, {"pay": PAY, "age": AGE})
    assert list(published.columns) == ["age", "pay"]
    assert published["age"].between(0, 120).all()
    assert published["pay"].between(0, 1e5).all()
    assert (published["pay"] > 120).any() or (published["pay"] != FRAME["pay"]).all()


def test_a_row_costs_what_its_columns_cost_together() -> None:
    together = row_guarantee({"age": AGE, "pay": PAY})
    assert len(together) == 2
    assert together.pure == pytest.approx(1.5, rel=1e-9)
    assert row_guarantee({"age": AGE}).pure == AGE.epsilon


def test_a_row_guarantee_refuses_what_privatize_refuses() -> None:
    weak = ib.BoundedGaussian(ib.Box(0, 120), 1, sigma=20.0)
    for use in (row_guarantee, lambda mechanisms: privatize(FRAME, mechanisms)):
        with pytest.raises(ArgumentError, match=r"column 'age' must hide any change"):
            use({"age": weak})


def test_engines_that_are_not_used_are_not_loaded() -> None:
    program = (
        "import sys, pyarrow as pa, inbounds as ib\n"
        "from inbounds.frames.local.privatize import privatize\n"
        "m = ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=1.0)\n"
        "privatize(pa.table({'x': [0.5]}), {'x': m})\n"
        "print(sorted({'polars', 'duckdb', 'pyspark'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == "[]"
