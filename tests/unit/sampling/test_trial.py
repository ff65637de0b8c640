"""The strips proposed cover every window, and thinning gives all values the same chance."""

import math

import mpmath
import numpy as np
import pytest
from flint import fmpq

from inbounds.numerics.ball import exact
from inbounds.numerics.noise import Noise
from inbounds.numerics.noises import NOISES
from inbounds.numerics.normal import NORMAL
from inbounds.sampling.exponential import exp
from inbounds.sampling.plan import EXCESS, NARROW, ROOT, SPARE, Parameters, parameters
from inbounds.sampling.strips import STRIPS, strips
from inbounds.sampling.trial import trial_of


def half_edges(noise: Noise) -> list[float]:
    table = strips(noise)
    edges: list[float] = table.edges[table.count // 2 :].tolist()
    return edges


@pytest.mark.parametrize("noise", NOISES)
def test_at_every_edge_the_strips_proposed_reach_past_it_with_room_for_rounding(
    noise: Noise,
) -> None:
    """The count grows with the distance x, so it is enough to look just beyond every edge.

    The room is what `docs/proofs/sampler.md`, theorem 6, needs: a computed distance may be short by
    u/2**50, 2**-16 for the largest u.
    """
    edges = half_edges(noise)
    least = math.inf
    for k, edge in enumerate(edges[:-1], start=1):
        for x in (max(edge - 2.0**-16, 0.0), edge, math.nextafter(edge, math.inf)):
            u = max(x, 1e3)  # a value at distance x from one bound
            given = Parameters(0.0, 0.0, 1 / u, u, 1.0, 1.0, u)
            _, first, many, _ = trial_of(noise, given).propose(x)
            down, up = edges.index(0.0) + len(edges) - 1 - first, first + many - (len(edges) - 1)
            assert down >= k
            assert up >= 1
        if noise is NORMAL:
            lost = sum(c * edge**i for i, c in enumerate(ROOT)) ** -16
        else:
            lost = exp(max(-edge, -700.0))
        with mpmath.workprec(100):
            true = mpmath.erfc(edge / mpmath.sqrt(2)) if noise is NORMAL else mpmath.exp(-edge)
            assert abs(lost - true) < (4.7e-4 if noise is NORMAL else 2.0**-36)
        far = edge * edge if noise is NORMAL else edge
        least = min(least, STRIPS * (1 - lost) + SPARE + EXCESS[noise] * far - k)
    assert least > 0.0499  # as the proof says; times 1/409 of a scale it is far above 2**-16


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
        step = (upper - lower) / 2**22
        given = parameters(noise, lower, upper, (upper - lower) / u, step, equal_time=True)
        trial = trial_of(noise, given)
        scale = (upper - lower) / u
        edge = edges[int(rng.integers(len(edges) - 2))]
        near = [lower + edge * scale, upper - edge * scale]
        near += [math.nextafter(x, side) for x in near for side in (-math.inf, math.inf)]
        for value in [lower, upper, lower + (upper - lower) * rng.random(), *near]:
            inside = min(max(value, lower), upper)
            _, first, many, thin = trial.propose(value - lower)
            if not many:
                break  # narrow after all
            left, right = table.edges[[int(first), int(first + many)]].tolist()
            at, sigma = exact(inside), exact(scale)
            assert exact(left) <= (exact(lower) - at) / sigma, (lower, upper, u, value)
            assert exact(right) >= (exact(upper) - at) / sigma, (lower, upper, u, value)
            assert 0 < thin <= 1


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("u", [1e-6, 0.03, 0.05, 0.41, 0.43, 1.0, 2.0, 10.0, 1e3, 1e6])
def test_thinning_never_exceeds_one_and_gives_all_values_nearly_the_same_chance(
    noise: Noise, u: float
) -> None:
    """Within 2e-5, without min(1, ·) ever acting. Without thinning values differ by far more."""
    narrow = u <= NARROW[noise]
    trial = trial_of(noise, parameters(noise, 0.0, 1.0, 1 / u, 2.0**-22, equal_time=True))
    chances = []
    for place in np.linspace(0.0, 1.0, 401).tolist():
        _, _, many, thin = trial.propose(place)
        assert 0 < thin < 1
        mass = sum(
            math.sqrt(math.pi / 2) * math.erf(x / math.sqrt(2))
            if noise is NORMAL
            else -math.expm1(-x)
            for x in (place * u, u - place * u)
        )
        chances.append(thin * mass / (u if narrow else many / strips(noise).height))
    assert max(chances) <= 1
    assert min(chances) > 0.9
    assert max(chances) - min(chances) < 2e-5


@pytest.mark.parametrize("noise", NOISES)
def test_without_equal_time_nothing_is_thinned(noise: Noise) -> None:
    for u in (0.01, 0.3, 1.0, 50.0):
        even, uneven = (
            trial_of(noise, parameters(noise, -1.1, 2.3, 3.4 / u, 1e-6, equal_time=equal))
            for equal in (True, False)
        )
        for place in (0.0, 0.3, 1.0):
            assert uneven.propose(3.4 * place)[3] == 1.0
            assert 0.9 < even.propose(3.4 * place)[3] < 1.0


@pytest.mark.parametrize("lower", [0.0, -0.0, 1e-310, -3e-300, 1.0, -1e200])
@pytest.mark.parametrize("width", [2.0**-880, 1.0, 1e200])
@pytest.mark.parametrize("u", [0.01, 3.0])
def test_a_place_is_never_subnormal_and_within_its_margin(
    lower: float, width: float, u: float
) -> None:
    """The place is off by less than 2**-63 of the width, which every margin covers."""
    upper = lower + width
    if not upper > lower:
        return
    given = parameters(NORMAL, lower, upper, (upper - lower) / u, width / 2**22, equal_time=True)
    assert given.lower == 0 or abs(given.lower) >= 2.0**-960
    propose = trial_of(NORMAL, given).propose
    near = [0.0, -0.0, 5e-324, 1e-310, 2.0**-1022, 2.0**-961, 2.0**-959, 1e-280, upper, 1e308]
    for value in (
        near + [lower + step for step in near] + [lower + width * 2.0**-k for k in range(99)]
    ):
        for number in (value, math.nextafter(value, math.inf), -value):
            place = propose(number - given.lower)[0]
            assert 2.0**-65 <= place <= 1
            inside = exact(min(max(number, lower), upper))
            true = (inside - exact(lower)) / (exact(upper) - exact(lower))
            assert abs(exact(place) - true) <= fmpq(1, 2**63) + 5 * true / 2**53
