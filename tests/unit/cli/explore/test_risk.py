"""What the page says about the risk is compared with the exact tail of the privacy loss."""

import math

import numpy as np
import pytest
from scipy.stats import norm

import inbounds as ib
from inbounds.cli.arguments import read_guarantee
from inbounds.cli.explore.privacy import curve
from inbounds.cli.explore.risk import Risk, chance, exceeded, risk, up

BOX = ib.Box(0, 120)


def shown(mechanism, *guarantee):
    return risk(mechanism, read_guarantee(*guarantee), curve(mechanism))


def tail(mechanism, epsilon):
    """Return the largest probability of a privacy loss above epsilon, of a Gaussian mechanism.

    The loss of an output y is linear in y, apart from outputs at the bounds.
    """
    lower, upper = float(mechanism.domain.lower), float(mechanism.domain.upper)
    change, sigma = float(mechanism.sensitivity.bound), float(mechanism.sigma)
    is_bounded = isinstance(mechanism, ib.BoundedGaussian)
    worst = 0.0
    for x in np.linspace(lower, upper - change, 41):
        for a, b in ((x, x + change), (x + change, x)):
            low, high = norm.cdf((lower - a) / sigma), norm.cdf((upper - a) / sigma)
            total = high - low if is_bounded else 1.0
            other = norm.cdf((upper - b) / sigma) - norm.cdf((lower - b) / sigma)
            start = math.log((other if is_bounded else 1.0) / total)
            y = (2 * sigma**2 * (epsilon - start) - (b * b - a * a)) / (2 * (a - b))
            at = norm.cdf((min(max(y, lower), upper) - a) / sigma)
            chance = (high - at if a > b else at - low) / total
            if not is_bounded:
                masses = [norm.cdf((lower - c) / sigma) for c in (a, b)]
                chance += masses[0] * (masses[0] > math.exp(epsilon) * masses[1])
                masses = [norm.sf((upper - c) / sigma) for c in (a, b)]
                chance += masses[0] * (masses[0] > math.exp(epsilon) * masses[1])
            worst = max(worst, float(chance))
    return worst


@pytest.mark.parametrize("kind", [ib.BoundedGaussian, ib.ClampedGaussian])
@pytest.mark.parametrize("change", [0.3, 2.5, 30])
@pytest.mark.parametrize(
    "stated", [(1, 1e-6), (0.5, 1e-6), (0.1, 1e-3), (1, 0.1), (5, 1e-9), (1e-3, 0.3), (0.1,)]
)
def test_exceptions_are_no_more_likely_than_it_says(kind, change, stated):
    terms = dict(zip(("epsilon", "delta"), stated, strict=False))
    if len(stated) == 1:
        terms = {"rho": 0.1}
        kind = ib.BoundedGaussian
    m = kind.calibrated(BOX, change, **terms)
    epsilon = m.epsilon_at(1e-6) if "rho" in terms else stated[0]
    found = Risk.of(m, epsilon, curve(m))
    assert found.epsilon >= min(epsilon, m.epsilon)
    assert found.exception <= 1e-3
    assert tail(m, found.epsilon * (1 + 1e-9)) <= found.exception
    assert tail(m, found.pure * (1 + 1e-6)) < 1e-200  # what is smaller is rounded to nothing
    if found.exception > 0:
        assert found.exception < 10 * tail(m, found.epsilon)  # not a bound that says nothing


def test_a_delta_alone_is_not_the_probability_of_an_exception():
    m = ib.BoundedGaussian.calibrated(BOX, 2.5, epsilon=1.0, delta=1e-6)
    assert tail(m, 1.0) > 15e-6
    text = shown(m, 1.0, 1e-6)["sentence"]
    assert text == (
        "Whoever was 50 % sure of a guess about one person before can be at most 73.2 % sure after "
        "seeing the output (worst case), except with a probability of at most 1 in 18,000. Without "
        "exception, it is at most 92.4 %."
    )


def test_the_rows_have_the_same_exceptions():
    m = ib.BoundedGaussian.calibrated(BOX, 2.5, epsilon=1.0, delta=1e-6)
    result = shown(m, 1.0, 1e-6)
    assert result["odds"] == math.e
    assert result["note"] == (
        "This holds except with a probability of at most 1 in 18,000. Without exception, 1 in 100 "
        "can become at most 10.9 %, and 1 in 2 92.4 %."
    )


def test_odds_grow_by_the_factor_of_epsilon():
    m = ib.Window(BOX, 120, epsilon=0.7)
    result = shown(m, 0.7)
    assert result["odds"] == math.exp(0.7)
    for before, after in result["rows"]:
        assert after / (1 - after) == pytest.approx(math.exp(0.7) * before / (1 - before))
    assert "at most 66.9 % sure after" in result["sentence"]  # 66.82, which is not below 66.8
    assert "except" not in result["sentence"]
    assert result["note"] is None


def test_a_rho_is_explained_by_an_epsilon_that_is_never_too_small():
    m = ib.BoundedGaussian.calibrated(BOX, 2.5, rho=0.1)
    epsilon = m.epsilon_at(1e-6)
    text = shown(m, None, None, 0.1)["sentence"]
    assert text.endswith(f"Rho 0.1 gives at most epsilon {up(epsilon, 4)} at delta 1e-06 here.")
    assert float(up(epsilon, 4)) >= epsilon


def test_a_mechanism_that_is_pure_at_the_same_epsilon_needs_no_exception():
    m = ib.Window(BOX, 120, epsilon=1.0)
    assert "except" not in shown(m, 1.0, 1e-6)["sentence"]


def test_a_large_epsilon_has_a_sentence_and_perhaps_no_odds():
    m = ib.Window(BOX, 120, epsilon=800.0)
    assert shown(m, 800.0)["odds"] is None
    result = shown(ib.Window(BOX, 120, epsilon=90.0), 90.0)
    assert "can be all but certain after seeing" in result["sentence"]
    assert all(0 < after <= 1 for _, after in result["rows"])
    m = ib.BoundedGaussian.calibrated(BOX, 2.5, epsilon=5.0, delta=1e-6)
    assert "In that case hardly anything is promised." in shown(m, 5.0, 1e-6)["sentence"]


@pytest.mark.parametrize("number", [1e-12, 0.834118, 0.1, 1.0, 9.99999, 123456.7])
def test_numbers_are_rounded_upwards(number):
    assert number <= float(up(number, 3)) <= number * 1.011


@pytest.mark.parametrize(
    "probability", [5e-324, 1e-300, 1e-12, 2.9e-5, 9.99e-4, 1e-3, 0.0431, 0.999]
)
def test_a_probability_in_words_is_never_too_small(probability):
    text = chance(probability)
    if text.endswith("%"):
        assert float(text.removesuffix(" %")) / 100 >= probability
    else:
        times = text.removeprefix("1 in ").replace(",", "").replace("10^", "1e")
        assert probability <= 1 / float(times) <= max(11 * probability, 1.1e-300)


def test_nothing_is_known_without_a_smaller_epsilon():
    assert exceeded(1.0, [(1.0, 0.0), (2.0, 0.0)]) == 1.0
