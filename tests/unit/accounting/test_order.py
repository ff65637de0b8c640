import math
from fractions import Fraction

import mpmath
import pytest

from inbounds.accounting.order import delta_curve, orders
from inbounds.calibration.approximate import rho_delta
from inbounds.loss import PrivacyLoss


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.1, 1e-9), (20.0, 1e-3), (1.0, 0.4)])
def test_one_order_has_room_for_the_largest_rho(epsilon: float, delta: float) -> None:
    (order,) = orders(epsilon, delta, several=False)
    largest = float(order.room / (1 + order.rest))
    assert rho_delta(largest * (1 - 1e-9), epsilon) <= delta
    assert rho_delta(largest * (1 + 1e-6), epsilon) > delta


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(5e-324, 5e-324), (1e300, 1e-300), (1e-300, 0.999), (1e8, 1e-10)]
)
def test_extreme_budgets_have_orders(epsilon: float, delta: float) -> None:
    for order in orders(epsilon, delta):
        assert order.rest > 0
        assert 0 <= order.room <= Fraction(epsilon) + 800


def test_a_divergence_is_the_smaller_of_epsilon_and_alpha_times_rho() -> None:
    order = orders(1.0, 1e-6)[0]
    assert order.divergence(0.1, math.inf) == order.divergence(0.1, 1.0) == Fraction(1, 10)
    assert order.divergence(9.0, 0.01) == (1 + order.rest) / 100
    assert order.divergence(math.inf, math.inf) == math.inf


@pytest.mark.parametrize("rho", [1e-5, 0.01, 0.3, 4.0])
def test_the_curve_of_rho_alone_is_that_of_zcdp(rho: float) -> None:
    """It is the smallest over many orders in 30 digits, up to rounding and never below."""
    curve = delta_curve([(PrivacyLoss.concentrated(rho), 1)])
    assert curve is not None
    for epsilon in (2 * rho, 0.5, 3.0, 20.0):
        with mpmath.workdps(30):

            def delta(power: float, epsilon: float = epsilon) -> mpmath.mpf:
                x = mpmath.mpf(10) ** power
                return (x / (1 + x)) ** x / (1 + x) * mpmath.exp(x * ((1 + x) * rho - epsilon))

            near = min(range(-60, 70), key=lambda k: delta(k / 10)) / 10
            least = min(delta(near + k / 1000) for k in range(-100, 101))
        assert curve(epsilon) <= rho_delta(rho, epsilon) * (1 + 1e-3)
        assert float(least) * (1 - 1e-2) <= curve(epsilon) <= float(least) * (1 + 1e-2) + 1e-290


def test_the_curve_of_pure_losses_is_zero_after_their_sum() -> None:
    curve = delta_curve([(PrivacyLoss(0.5, math.inf, math.inf, ()), 2)])
    assert curve is not None
    assert curve(1.0) < 1e-9
    assert curve(0.9) == pytest.approx(-math.expm1(-0.1))  # a constant loss of 1


def test_nothing_is_known_of_a_loss_without_epsilon_and_rho() -> None:
    unknown = PrivacyLoss(math.inf, 1.0, math.inf, ())
    assert delta_curve([(PrivacyLoss.pure(0.1), 1), (unknown, 1)]) is None
    assert delta_curve([]) is None
