import numpy as np
import pytest
from mpmath import mp, mpf

from inbounds.numerics import divergence

DIGITS = 400  # tails cancel


def mass(u: mpf, s: mpf) -> mpf:
    return (mp.erf((u - s) / mp.sqrt(2)) + mp.erf(s / mp.sqrt(2))) / 2


def true_slope(u: mpf, gamma: mpf, s: mpf) -> mpf:
    return s + gamma / 2 + mp.log(mass(u, s + gamma) / mass(u, s)) / gamma


def true_delta(u: mpf, gamma: mpf, epsilon: mpf, s: mpf) -> mpf:
    """F_s(z) - e^ε F_{s+γ}(z) at the threshold z of the likelihood ratio."""
    z = min(true_slope(u, gamma, s) - epsilon / gamma, u)
    if z <= 0:
        return mpf(0)

    def below(centre: mpf) -> mpf:
        part = mp.erf((z - centre) / mp.sqrt(2)) + mp.erf(centre / mp.sqrt(2))
        return part / 2 / mass(u, centre)

    return below(s) - mp.exp(epsilon) * below(s + gamma)


def true_variance(u: mpf, t: mpf) -> mpf:
    """Centred moments of the truncated distribution in closed form."""
    low, high = -t, u - t
    at_low, at_high = (mp.npdf(edge) for edge in (low, high))
    whole = (mp.erf(high / mp.sqrt(2)) - mp.erf(low / mp.sqrt(2))) / 2
    return 1 + (low * at_low - high * at_high) / whole - ((at_low - at_high) / whole) ** 2


def problems(count: int) -> list[tuple[float, float, float]]:
    """u, γ and s over many magnitudes, with pairs at both ends of the interval."""
    rng = np.random.default_rng(20261115)
    pairs = []
    for index in range(count):
        u = float(10 ** rng.uniform(-5, 1.4))
        gamma = u * float(10 ** rng.uniform(-10, 0)) if index % 2 else u * float(rng.uniform(0, 1))
        fraction = (0.0, 1.0, float(rng.uniform()))[index % 3]
        pairs.append((u, gamma, fraction * (u - gamma)))
    return pairs


@pytest.mark.parametrize(("u", "gamma", "s"), problems(60))
def test_the_mean_slope_is_off_by_less_than_a_quarter_of_its_margin(
    u: float, gamma: float, s: float
) -> None:
    computed = float(divergence.mean_slope(u, gamma, np.array([s]))[0])
    with mp.workdps(DIGITS):
        error = abs(mpf(computed) - true_slope(mpf(u), mpf(gamma), mpf(s)))
    assert error <= divergence.POSITION_ERROR * u / 4


@pytest.mark.parametrize("fraction", [0.0, 0.3, 0.95])
@pytest.mark.parametrize(("u", "gamma", "s"), problems(60))
def test_the_delta_of_a_pair_is_the_true_one_rounded_up(
    u: float, gamma: float, s: float, fraction: float
) -> None:
    at = np.array([s])
    slope = divergence.mean_slope(u, gamma, at)
    epsilon = fraction * gamma * float(slope[0])
    computed = float(divergence.delta_of_cells(u, gamma, epsilon, at, slope)[0])
    with mp.workdps(DIGITS):
        truth = true_delta(mpf(u), mpf(gamma), mpf(epsilon), mpf(s))
        assert computed >= truth or truth < 1e-290
        if truth > 1e-12:
            assert computed <= truth * (1 + mpf(10) ** -4)


@pytest.mark.parametrize("u", [0.01, 1.0, 6.0, 30.0])
@pytest.mark.parametrize("fraction", [1e-6, 0.1, 0.7])
@pytest.mark.parametrize("part", [0.0, 0.3, 0.9])
def test_a_cell_bounds_every_pair_in_it(u: float, fraction: float, part: float) -> None:
    gamma = fraction * u
    edges = np.linspace(0, u - gamma, 8)
    slope = divergence.mean_slope(u, gamma, edges)
    epsilon = part * gamma * float(slope[-1])
    cells = divergence.delta_of_cells(u, gamma, epsilon, edges[:-1], slope[1:])
    for bound, low, high in zip(cells, edges[:-1], edges[1:], strict=True):
        inside = np.linspace(low, high, 30)
        at = divergence.mean_slope(u, gamma, inside)
        pairs = divergence.delta_of_cells(u, gamma, epsilon, inside, at)
        assert pairs.max() <= bound * (1 + 1e-9 * (1 + u))


def cells(count: int) -> list[tuple[float, float, float, float, float]]:
    """u, γ, ε and the ends of a cell: long and short ones, at both bounds and inside."""
    rng = np.random.default_rng(16)
    found = []
    for index in range(count):
        u = float(10 ** rng.uniform(-3, 1.6))
        gamma = u * float((rng.uniform(), 10 ** rng.uniform(-7, 0), 1.0)[index % 3])
        last = u - gamma
        largest = gamma * float(divergence.mean_slope(u, gamma, np.array([last]))[0])
        fraction = (rng.uniform(), 10 ** rng.uniform(-4, 0), 1 - 10 ** rng.uniform(-4, 0), 0.0)
        low, high = sorted(rng.uniform(0, last, 2))
        low = 0.0 if index % 5 == 0 else low
        high = (last, min(last, low + 10 ** rng.uniform(-6, -1)), high)[index % 3]
        found.append((u, gamma, largest * float(fraction[index % 4]), float(low), float(high)))
    return found


@pytest.mark.parametrize(("u", "gamma", "epsilon", "low", "high"), cells(80))
def test_a_cell_that_follows_the_position_bounds_every_pair_in_it(
    u: float, gamma: float, epsilon: float, low: float, high: float
) -> None:
    first, last = np.array([low]), np.array([high])
    slope = divergence.mean_slope(u, gamma, first)
    bound = divergence.delta_of_centred_cells(u, gamma, epsilon, first, last, slope=slope)[0]
    with mp.workdps(DIGITS):
        for s in (low, high, *np.linspace(low, high, 5)[1:-1]):
            truth = true_delta(mpf(u), mpf(gamma), mpf(epsilon), mpf(float(s)))
            assert truth <= mpf(float(bound)) + mpf(10) ** -290


@pytest.mark.parametrize("gamma", [1e-3, 0.2, 0.3, 4.0])
def test_a_cell_without_length_has_the_delta_of_its_pair(gamma: float) -> None:
    s = np.linspace(0, 20 - gamma, 30)
    slope = divergence.mean_slope(20.0, gamma, s)
    pair = divergence.delta_of_cells(20.0, gamma, gamma, s, slope)
    cell = divergence.delta_of_centred_cells(20.0, gamma, gamma, s, s, slope=slope)
    np.testing.assert_allclose(cell, pair, rtol=1e-7)


def test_the_two_formulas_agree_where_they_meet() -> None:
    below, above = 0.25, np.nextafter(0.25, 1)
    s = np.linspace(0, 4.7, 50)
    slopes = [divergence.mean_slope(5.0, gamma, s) for gamma in (below, above)]
    np.testing.assert_allclose(*slopes, rtol=1e-14)
    first, second = (
        divergence.delta_of_cells(5.0, gamma, 0.2, s, slope)
        for gamma, slope in zip((below, above), slopes, strict=True)
    )
    np.testing.assert_allclose(first, second, rtol=1e-8, atol=1e-15)


@pytest.mark.parametrize("u", [1e-6, 0.1, 1.0, 7.0, 25.0])
@pytest.mark.parametrize("t", [-30.0, -3.0, 0.0, 0.4, 9.6, 40.0])
def test_the_variance_holds_to_1e_12_at_any_tilt(u: float, t: float) -> None:
    with mp.workdps(900):
        truth = true_variance(mpf(u), mpf(t))
        assert abs(mpf(float(divergence.variance(u, np.array([t]))[0])) / truth - 1) < 1e-12


@pytest.mark.parametrize("u", [1e-3, 1.0, 50.0])
def test_the_variance_is_symmetric_and_falls_from_the_middle(u: float) -> None:
    away = np.linspace(0, 3 * u + 5, 200)
    right, left = divergence.variance(u, u / 2 + away), divergence.variance(u, u / 2 - away)
    np.testing.assert_allclose(right, left, rtol=1e-11)
    assert (np.diff(right) <= 1e-13 * right[1:]).all()


def test_far_outside_the_variance_is_that_of_an_exponential_distribution() -> None:
    t = -np.array([1e3, 1e6, 1e100])
    np.testing.assert_allclose(divergence.variance(1.0, t) * t * t, 1, rtol=1e-5)


@pytest.mark.parametrize("u", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("fraction", [2.0**-240, 1e-6, 0.5, 1.0])
@pytest.mark.parametrize("epsilon", [0.0, 1e-30, 1.0, 700.0, 1e5])
def test_extreme_arguments_give_probabilities(u: float, fraction: float, epsilon: float) -> None:
    gamma = fraction * u
    s = np.linspace(0, u - gamma, 9)
    slope = divergence.mean_slope(u, gamma, s)
    assert ((slope > 0) & (slope < u)).all()
    delta = divergence.delta_of_cells(u, gamma, epsilon, s, slope)
    assert ((delta >= 0) & (delta <= 1)).all()


def test_delta_stays_tight_where_exp_of_epsilon_overflows() -> None:
    """With γ = u the pair is (0, u), H is u/2 and δ = F_0(z) - ∫φ(v)exp(-u(z-v))dv/Φ₀(u)."""
    u, z = 60.0, 1e-3
    epsilon = u * (u / 2 - z)
    assert epsilon > 1700
    s = np.array([0.0])
    computed = float(divergence.delta_of_cells(u, u, epsilon, s, divergence.mean_slope(u, u, s))[0])
    with mp.workdps(40):
        edge = mpf(u) / 2 - mpf(epsilon) / u
        truth = 2 * mp.quad(lambda v: mp.npdf(v) * (1 - mp.exp(-u * (edge - v))), [0, edge])
        assert truth <= computed <= truth * (1 + mpf(10) ** -4)


@pytest.mark.parametrize("u", [0.01, 1.0, 8.0, 60.0])
def test_the_variance_changes_no_faster_than_self_concordance_allows(u: float) -> None:
    """|d ln Var/dt| <= 2 √Var: what makes the bracket of a Rényi divergence a bound."""
    t = np.linspace(-20 / min(u, 1), u / 2, 4001)
    var = divergence.variance(u, t)
    slope = np.diff(np.log(var)) / np.diff(t)
    assert (np.abs(slope) <= 2 * np.sqrt(var[1:]) + 1e-9).all()
    assert (np.abs(slope) / np.sqrt(var[1:])).max() > 1.5  # nearly reached far outside
