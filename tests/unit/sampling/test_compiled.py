"""The key under which compiled loops are kept."""

import shutil
from pathlib import Path
from typing import Any

import numba
import pytest

from inbounds.numerics.normal import NORMAL
from inbounds.sampling import (
    compiled,
    staircase_kernel,
    table_kernel,
    trial_kernel,
    window_kernel,
)

FOLDER = Path(compiled.__file__).parent


@pytest.mark.parametrize("source", compiled.SOURCES)
def test_a_change_of_any_compiled_source_changes_the_digest(source: str, tmp_path: Path) -> None:
    for name in compiled.SOURCES:
        shutil.copy(FOLDER / name, tmp_path)
    assert compiled.digest(tmp_path) == compiled.DIGEST
    with (tmp_path / source).open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    assert compiled.digest(tmp_path) != compiled.DIGEST


def test_every_module_that_compiles_is_a_source_of_the_digest() -> None:
    compiling = {
        path.name
        for path in FOLDER.glob("*.py")
        if any(mark in path.read_text(encoding="utf-8") for mark in ("@compiled", "@inlined"))
    }
    # Constants, and `even_number`, which is plain Python elsewhere.
    used = {"atoms.py", "compiled.py", "exponential.py", "grid.py", "plan.py", "trial.py"}
    assert compiling | used == set(compiled.SOURCES)


def test_the_digest_is_in_the_key_of_every_cached_loop() -> None:
    """The cache knows a function by its own file and by the variables that it closes over."""
    functions = [trial_kernel._trial_loop(NORMAL, narrow, joint=False) for narrow in (False, True)]
    functions += [trial_kernel._verdict_loop(NORMAL, joint=False)]
    functions += [window_kernel.write_numbers, window_kernel.write_indices]
    functions += [table_kernel.find_cells, table_kernel.find_knots, table_kernel.draw_outputs]
    functions += [staircase_kernel.find_cells, staircase_kernel.draw_noise]
    functions += [staircase_kernel.add_noise, staircase_kernel.write_numbers]
    for function in functions:
        cells = [cell.cell_contents for cell in function.__wrapped__.__closure__]
        assert compiled.DIGEST in cells


def test_a_loop_is_compiled_where_numba_can_keep_nothing() -> None:
    """As in a read-only folder: numba finds no place for functions that come from no file."""
    names: dict[str, Any] = {}
    exec("def twice(number): return 2 * number", names)
    with pytest.raises(RuntimeError, match="no locator"):
        numba.njit(cache=True)(names["twice"])
    assert compiled.compiled(names["twice"])(21) == 42
