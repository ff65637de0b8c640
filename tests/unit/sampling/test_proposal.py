"""The strips proposed cover every window, and thinning gives all values the same chance."""

import math

import mpmath
import numpy as np
import pytest

from inbounds.numerics.ball import exact
from inbounds.numerics.noise import Noise
from inbounds.numerics.noises import NOISES
from inbounds.sampling import proposal
from inbounds.sampling.plan import Plan
from inbounds.sampling.proposal import NARROW
from inbounds.sampling.strips import STRIPS, strips


def half_edges(noise: Noise) -> list[float]:
    table = strips(noise)
    edges: list[float] = table.edges[table.count // 2 :].tolist()
    return edges


@pytest.mark.parametrize("noise", NOISES)
def test_at_every_edge_the_strips_proposed_reach_past_it_with_room_for_rounding(
    noise: Noise,
) -> None:
    """The count grows with the distance x, so it is enough to look just beyond every edge.

    The room is what `docs/proofs/sampler.md` needs: a computed distance may be short by u/2**50,
    2**-16 for the largest u.
    """
    which = NOISES.index(noise)
    edges = half_edges(noise)
    least = math.inf
    for k, edge in enumerate(edges[:-1], start=1):
        for x in (max(edge - 2.0**-16, 0.0), edge, math.nextafter(edge, math.inf)):
            u = max(x, 1e3)  # a value at distance x from one bound
            first, many, _ = proposal.proposed(which, False, x / u, u, 1.0)
            down, up = edges.index(0.0) + len(edges) - 1 - first, first + many - (len(edges) - 1)
            assert down >= k
            assert up >= 1
        fraction = proposal._fractions(which, edge, 0.0)[0]
        with mpmath.workprec(100):
            true = mpmath.erf(edge / mpmath.sqrt(2)) if which == 0 else 1 - mpmath.exp(-edge)
            assert abs(fraction - true) < (4.7e-4, 2.0**-36)[which]
        far = edge * edge if which == 0 else edge
        bound = STRIPS * fraction + proposal._SPARE + proposal._EXCESS[which] * far
        least = min(least, bound - k)
    assert least > 0.0128  # times 1/409 of a scale is more than 2**-16


@pytest.mark.parametrize("noise", NOISES)
def test_all_points_of_the_window_lie_in_a_proposed_strip(noise: Noise) -> None:
    rng = np.random.default_rng(6)
    table = strips(noise)
    edges = half_edges(noise)
    u_least = math.nextafter(NARROW[noise], 1.0)
    for _ in range(4000):
        lower = float(rng.choice([0.0, 1e9, -1.1, -7e5]))
        upper = lower + float(rng.choice([1.0, 3.0, 0.7]))
        u = u_least * (1e6 / u_least) ** rng.random()
        setting = Plan.of(
            noise,
            np.array([lower]),
            np.array([upper]),
            np.array([(upper - lower) / u]),
            np.array([(upper - lower) / 2**22]),
            equal_time=True,
        )
        if setting.narrow[0]:
            continue
        scale = (upper - lower) / u
        edge = edges[int(rng.integers(len(edges) - 2))]
        near = [lower + edge * scale, upper - edge * scale]
        near += [math.nextafter(x, side) for x in near for side in (-math.inf, math.inf)]
        for value in [lower, upper, lower + (upper - lower) * rng.random(), *near]:
            inside = min(max(value, lower), upper)
            first, many, thin = setting.proposal(value, 0)
            left, right = table.edges[[first, first + many]].tolist()
            at, sigma = exact(inside), exact(scale)
            assert exact(left) <= (exact(lower) - at) / sigma, (lower, upper, u, value)
            assert exact(right) >= (exact(upper) - at) / sigma, (lower, upper, u, value)
            assert 0 < thin <= 1


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("u", [1e-6, 0.03, 0.05, 0.41, 0.43, 1.0, 2.0, 10.0, 1e3, 1e6])
def test_thinning_never_exceeds_one_and_gives_all_values_nearly_the_same_chance(
    noise: Noise, u: float
) -> None:
    """Within 0.3 %: the error of the approximate mass. Without it values differ by far more."""
    which, narrow = NOISES.index(noise), u <= NARROW[noise]
    target = 0.998 * float(proposal.least_acceptance(which, narrow, np.array([u]))[0])
    chances = []
    for fraction in np.linspace(0.0, 1.0, 41).tolist():
        _, many, thin = proposal.propose(which, narrow, fraction, 0.0, 1.0, 0.0, u, target)
        assert 0 < thin <= 1
        mass = sum(
            math.sqrt(math.pi / 2) * math.erf(x / math.sqrt(2)) if which == 0 else -math.expm1(-x)
            for x in (fraction * u, u - fraction * u)
        )
        chances.append(thin * mass / (u if narrow else many / strips(noise).height))
    assert max(chances) <= 1
    assert min(chances) > 0.9
    assert max(chances) - min(chances) < 0.003
    assert abs(np.mean(chances) - target) < 0.003
    assert noise.half_mass > 0
