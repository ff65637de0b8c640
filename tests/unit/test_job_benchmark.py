"""The benchmark of a statistics office's job: its table, its script with inbounds, its counting."""

import importlib
from pathlib import Path
from types import ModuleType

import numpy as np
import polars as pl
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def case(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("benchmarks.job_case")


@pytest.mark.parametrize("rows", [1, 3])
def test_our_script_gives_every_statistic_near_the_truth(case: ModuleType, rows: int) -> None:
    ours = importlib.import_module("benchmarks.inbounds_job")
    table = case.columns(5000)
    released = ours.read(ours.release(pl.DataFrame(table), case.Case(1e3, 0.0, rows)))
    exact = case.truth(table)
    assert released.keys() == exact.keys() == set(case.STATISTICS)
    for name, right in exact.items():
        assert np.shape(released[name]["lower"]) == right.shape
        assert np.allclose(released[name]["value"], right, atol=0.5), name


def test_the_table_holds_what_the_scripts_take_for_granted(case: ModuleType) -> None:
    table = case.columns()
    assert np.bincount(table["district"]).max() <= case.SIZE
    assert np.bincount(table["person"]).max() <= 3
    assert table["age"].min() >= 0
    assert table["age"].max() <= case.LARGEST
    assert case.truth(table)["histogram"].sum() == case.ROWS == case.truth(table)["count"].sum()


def test_lines_are_counted_without_docstrings_comments_and_blank_lines(case: ModuleType) -> None:
    def script() -> int:
        """Two lines

        of words.
        """
        # a comment

        return 1  # code

    assert case.code_lines(script) == 2
    assert case.code_lines(script, script) == 4
