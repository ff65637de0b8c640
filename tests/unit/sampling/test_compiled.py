"""Arithmetic that is compiled into the loops, and the key under which these are kept."""

import math
import shutil
from pathlib import Path

import mpmath
import numba
import numpy as np
import pytest
from flint import fmpq

from inbounds.numerics.ball import exact
from inbounds.numerics.normal import NORMAL
from inbounds.sampling import (
    atoms,
    compiled,
    kernel,
    proposal,
    staircase_kernel,
    table_kernel,
    window_kernel,
)
from inbounds.sampling.plan import Plan
from inbounds.sampling.sampler import Sampler

FOLDER = Path(compiled.__file__).parent


EXPONENTS = {
    "evenly": np.linspace(-700.0, 0.0, 3001).tolist(),
    "near zero": [-(2.0**-k) for k in range(60)],
    "where the remainder is largest": [
        math.log(2) * (k + 0.5 + e) for k in range(-1009, -1) for e in (-1e-9, 1e-9)
    ],
}


@pytest.mark.parametrize("where", EXPONENTS)
def test_the_exponential_is_good_to_36_bits(where: str) -> None:
    with mpmath.workprec(120):
        worst = max(
            abs(mpmath.mpf(compiled.exp(x)) / mpmath.exp(mpmath.mpf(x)) - 1)
            for x in EXPONENTS[where]
        )
    assert worst < 2.0**-36.5


def plan_of(lower: float, upper: float) -> Plan:
    sides = (np.array([side]) for side in (lower, upper, (upper - lower) / 3))
    plan = Sampler(NORMAL, *sides, (None,))._plan
    assert plan.usable.all()
    return plan


@pytest.mark.parametrize("lower", [0.0, -0.0, 1e-310, -3e-300, 1.0, -1e200])
@pytest.mark.parametrize("width", [2.0**-880, 1.0, 1e200])
def test_a_place_is_never_computed_with_subnormal_numbers(lower: float, width: float) -> None:
    """It is 0 or at least 2**-65, the difference before it 0 or normal: told by its bits.

    The place is off by less than 2**-63 of the width, which every margin covers.
    """
    upper = lower + width
    if not upper > lower:
        return
    plan = plan_of(lower, upper)
    origin, per_width, least = (float(side[0]) for side in plan.parameters[:3])
    assert origin == 0 or abs(origin) >= 2.0**-960
    fraction = numba.njit(compiled.fraction.py_func, error_model="numpy")
    near = [0.0, -0.0, 5e-324, 1e-310, 2.0**-1022, 2.0**-961, 2.0**-959, 1e-280, upper, 1e308]
    for value in (
        near + [lower + step for step in near] + [lower + width * 2.0**-k for k in range(99)]
    ):
        for number in (value, math.nextafter(value, math.inf), -value):
            computed = fraction(number, origin, per_width, least)
            assert computed == 0 or 2.0**-65 <= computed <= 1
            inside = exact(min(max(number, lower), upper))
            true = (inside - exact(lower)) / (exact(upper) - exact(lower))
            assert abs(exact(computed) - true) <= fmpq(1, 2**63) + 5 * true / 2**53
            flushed = fraction(number, 0.0, 1.0, 0.0)
            assert flushed == 0 or flushed >= 2.0**-960


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
    used = {"compiled.py", "grid.py"}  # `even_number`, which is plain Python elsewhere
    assert compiling | used == set(compiled.SOURCES)


def test_the_digest_is_in_the_key_of_every_cached_loop() -> None:
    """The cache knows a function by its own file and by the variables that it closes over."""
    functions = [proposal.propose, proposal.least_acceptance, kernel.write_even]
    functions += [
        *kernel.compiled_loops(NORMAL, narrow=False, joint=False),
        atoms.bounds_loop(NORMAL, joint=False),
    ]
    functions += [window_kernel.write_numbers, window_kernel.write_indices]
    functions += [table_kernel.find_cells, table_kernel.find_knots, table_kernel.draw_outputs]
    functions += [staircase_kernel.find_cells, staircase_kernel.draw_noise]
    functions += [staircase_kernel.add_noise, staircase_kernel.write_numbers]
    for function in functions:
        cells = [cell.cell_contents for cell in function.py_func.__closure__]
        assert compiled.DIGEST in cells
