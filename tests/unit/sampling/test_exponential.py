"""The exponential: good to 36 bits, and the same bits for a float, arrays and compiled code."""

import math

import mpmath
import numpy as np
import pytest

from inbounds.sampling import compiled
from inbounds.sampling.exponential import exp, exp_in_place

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
            abs(mpmath.mpf(exp(x)) / mpmath.exp(mpmath.mpf(x)) - 1) for x in EXPONENTS[where]
        )
    assert worst < 2.0**-36.5


@pytest.mark.parametrize("where", EXPONENTS)
def test_floats_arrays_and_compiled_code_give_the_same_bits(where: str) -> None:
    given = EXPONENTS[where]
    found = np.array(given)
    exp_in_place(found, np.empty((3, found.size)))
    assert found.tolist() == [exp(x) for x in given] == [compiled.exp(x) for x in given]
