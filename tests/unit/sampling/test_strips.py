"""The table of strips: tiles the line, symmetric, and never asks for a chance above one."""

import math
from itertools import pairwise

import numpy as np
import pytest
from flint import arb, ctx

from inbounds.numerics.ball import exact
from inbounds.numerics.laplace import LAPLACE
from inbounds.numerics.noise import Noise
from inbounds.numerics.noises import NOISES
from inbounds.numerics.normal import NORMAL
from inbounds.sampling.strips import REACH, STRIPS, strips


@pytest.mark.parametrize("noise", NOISES)
def test_strips_tile_the_reach_without_gap_or_overlap(noise: Noise) -> None:
    edges = strips(noise).edges
    assert edges[0] == -REACH
    assert edges[-1] == REACH
    assert np.all(edges[1:] > edges[:-1])
    assert strips(noise).count == edges.size - 1


@pytest.mark.parametrize("noise", NOISES)
def test_strips_are_symmetric_and_none_holds_zero_inside(noise: Noise) -> None:
    table = strips(noise)
    assert np.array_equal(table.edges, -table.edges[::-1])
    assert table.count % 2 == 0
    assert table.edges[table.count // 2] == 0.0


@pytest.mark.parametrize("noise", NOISES)
def test_no_chance_of_acceptance_exceeds_one_and_the_height_wastes_nothing(noise: Noise) -> None:
    table = strips(noise)
    half = [exact(edge) for edge in table.edges[table.count // 2 :].tolist()]
    with ctx.workprec(200):
        chances = [
            exact(table.height) * (outer - inner) * noise.log_density(arb(inner)).exp()
            for inner, outer in pairwise(half)
        ]
        assert all(chance <= 1 for chance in chances)
        assert any(chance > 1 - arb(2) ** -38 for chance in chances)


@pytest.mark.parametrize(("noise", "widest"), [(NORMAL, 32.0), (LAPLACE, 8192.0)])
def test_widths_of_plain_strips_are_exact_and_the_others_start_where_little_is_left(
    noise: Noise, widest: float
) -> None:
    """The proof of the kernel takes plain widths as exact, and plain strips as near zero."""
    table = strips(noise)
    half, widths = table.edges[table.count // 2 :], table.widths[table.count // 2 :]
    plain = widths <= widest
    true = [exact(b) - exact(a) for a, b in pairwise(half.tolist())]
    assert [exact(width) for width in widths[plain].tolist()] == [
        width for width, is_plain in zip(true, plain.tolist(), strict=True) if is_plain
    ]
    assert np.all(np.diff(plain.astype(int)) <= 0)  # plain ones first
    assert plain.sum() >= table.count // 2 - 2
    start = half[:-1][~plain][0]
    exponent = start * start / 2 if noise == NORMAL else start
    assert math.exp(-exponent) < 2.0**-40


@pytest.mark.parametrize("noise", NOISES)
def test_strips_hold_about_the_same_mass_so_that_few_trials_are_refused(noise: Noise) -> None:
    """Only a matter of speed: acceptance over the whole line is above 0.98."""
    table = strips(noise)
    assert 2 * noise.half_mass * table.height / table.count > 0.98
    assert table.count < 2.05 * STRIPS


def test_the_density_is_one_at_zero_and_falls_as_it_should() -> None:
    with ctx.workprec(100):
        assert NORMAL.log_density(arb(0)) == 0
        assert NORMAL.log_density(arb(-3)) == arb(-4.5)
        assert LAPLACE.log_density(arb(-3)) == -3
        assert LAPLACE.log_density(arb(3)) == -3
