import math
from itertools import combinations

import pytest

from inbounds.accounting.bound import epsilon_at
from inbounds.accounting.composition import compose
from inbounds.accounting.split import gaussian_curve, shifted
from inbounds.calibration.gaussian import gaussian_delta
from inbounds.loss import PrivacyLoss


def gaussian(mu: float, epsilon: float = math.inf) -> PrivacyLoss:
    return PrivacyLoss(epsilon, mu, math.inf, ())


MIXES = [
    [gaussian(0.1), PrivacyLoss.pure(0.1)],
    [gaussian(0.3), gaussian(0.2, 0.5), gaussian(0.7, 0.4), gaussian(0.05, 2.0)],
    [gaussian(0.01), gaussian(0.01), *(gaussian(0.2 * k, 0.1 * k) for k in range(1, 6))],
    [gaussian(0.2), PrivacyLoss(0.3, math.inf, math.inf, ())],
]


@pytest.mark.parametrize("losses", MIXES)
@pytest.mark.parametrize("delta", [1e-3, 1e-8])
def test_the_choice_is_the_best_of_all(losses: list[PrivacyLoss], delta: float) -> None:
    """The oracle tries every set of releases that are added by their epsilon."""
    curve = gaussian_curve(tuple((loss, 1) for loss in losses))
    assert curve is not None
    possible = [loss for loss in losses if math.isfinite(loss.epsilon)]
    least = math.inf
    for size in range(len(possible) + 1):
        for added in combinations(possible, size):
            kept = [loss.mu for loss in losses if loss not in added]
            if math.inf in kept:
                continue
            mu = math.sqrt(math.fsum(m * m for m in kept))
            alone = epsilon_at(lambda e, mu=mu: gaussian_delta(mu, e), delta, 1.0) if mu else 0.0
            least = min(least, alone + math.fsum(loss.epsilon for loss in added))
    assert epsilon_at(curve, delta, 1.0) == pytest.approx(least, rel=1e-9)


def test_a_release_that_gdp_cannot_count_is_added_by_its_epsilon() -> None:
    noise, unknown = gaussian(0.5), PrivacyLoss(0.25, math.inf, math.inf, ())
    alone, both = (compose(losses).epsilon(1e-6) for losses in ([noise], [noise, unknown]))
    assert both == pytest.approx(alone + 0.25, rel=1e-9)
    assert gaussian_curve(((noise, 1), (gaussian(math.inf), 1))) is None


def test_a_release_without_a_profile_is_added_to_the_convolution_of_the_others() -> None:
    known, unknown = PrivacyLoss.approximate(0.5, 1e-9), PrivacyLoss(0.25, math.inf, math.inf, ())
    alone, both = (compose(losses).epsilon(1e-6) for losses in ([known], [known, unknown]))
    assert both == pytest.approx(alone + 0.25, rel=1e-9)


def test_a_shifted_curve_is_never_below_the_true_one() -> None:
    curve = shifted(lambda epsilon: math.exp(-epsilon), 0.1)
    assert curve(0.3) >= math.exp(-0.3 + 0.1)
    assert curve(0.0999) == 1.0


@pytest.mark.parametrize("mu", [1e-200, 1e-160, 1e160, 1e300])
def test_squares_that_a_double_cannot_hold_are_rounded_up(mu: float) -> None:
    curve = gaussian_curve(((gaussian(mu), 3),))
    if curve is None:
        assert mu > 1e150
    else:
        assert curve(1.0) >= gaussian_delta(min(mu, 1e150), 1.0)
