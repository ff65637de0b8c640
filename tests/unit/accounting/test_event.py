import math

import dp_accounting
import pytest
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant

import inbounds as ib
from inbounds.accounting.composition import compose
from inbounds.accounting.event import dp_event
from inbounds.errors import ArgumentError
from inbounds.loss import PrivacyLoss

MECHANISMS = [
    ib.BoundedGaussian(ib.Box(0, 10), 1, sigma=4.0),
    ib.BoundedGaussian(ib.Box([0, 0], [1, 2]), 1, sigma=2.0),
    ib.BoundedLaplace(ib.Box(0, 1), 0.1, scale=0.5),
    ib.ClampedGaussian(ib.Box(0, 10), 1, sigma=3.0),
    ib.ClampedLaplace(ib.Box(0, 1), 0.1, scale=1.0),
]


@pytest.mark.parametrize("accountant", [PLDAccountant, RdpAccountant])
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_accountants_of_dp_accounting_are_never_below_compose(
    mechanism: ib.BoundedGaussian, accountant: type[PLDAccountant | RdpAccountant]
) -> None:
    loss = mechanism.loss()
    for times in (1, 30):
        other = accountant()
        other.compose(dp_event(loss), times)
        assert compose([(loss, times)]).epsilon(1e-6) <= other.get_epsilon(1e-6) * (1 + 1e-9)


def test_events_of_different_mechanisms_compose() -> None:
    other = PLDAccountant()
    for mechanism in MECHANISMS:
        other.compose(dp_event(mechanism.loss()))
    assert compose(MECHANISMS).epsilon(1e-6) <= other.get_epsilon(1e-6)


def test_the_noise_is_rounded_down() -> None:
    loss = PrivacyLoss(math.inf, 0.3, 0.045, ())
    event = dp_event(loss)
    assert isinstance(event, dp_accounting.GaussianDpEvent)
    assert 0.3 <= 1 / event.noise_multiplier <= 0.3 * (1 + 1e-14)


def test_a_pure_epsilon_may_say_more_than_mu() -> None:
    loss = PrivacyLoss(0.1, math.inf, math.inf, ())
    assert dp_event(loss) == dp_event(PrivacyLoss.pure(0.1))


def test_where_only_rho_is_known_the_event_is_zcdp() -> None:
    accountant = RdpAccountant()
    accountant.compose(dp_event(PrivacyLoss.concentrated(0.1)))
    spent = compose([PrivacyLoss.concentrated(0.1)]).epsilon(1e-6)
    assert spent <= accountant.get_epsilon(1e-6)


def test_a_loss_with_no_such_bound_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"^loss must have"):
        dp_event(PrivacyLoss.approximate(1.0, 1e-6))


def test_dp_accounting_still_counts_repeated_randomised_response_once() -> None:
    """Why `dp_event` never returns one: if this fails, that may change."""
    once = dp_accounting.RandomizedResponseDpEvent(0.9, 2)
    spent = []
    for times in (1, 100):
        accountant = PLDAccountant(dp_accounting.NeighboringRelation.REPLACE_ONE)
        accountant.compose(once, times)
        spent.append(accountant.get_epsilon(1e-6))
    assert spent[0] == spent[1]
