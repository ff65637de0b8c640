import math
from fractions import Fraction

import mpmath
import pytest

from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.loss import PrivacyLoss
from inbounds.profile import LARGEST, pure_mu, pure_rho, response_delta
from inbounds.unit import Unit

EPSILONS = [1e-300, 1e-20, 1e-9, 1e-3, 0.5, 0.999999, 1.0, 3.0, 40.0, 300.0, 699.0]
PERSON = Unit("replace", "person")
ADDED = Unit("add-remove", "row")


def test_a_pure_loss_holds_what_pure_epsilon_implies() -> None:
    loss = PrivacyLoss.pure(2.0)
    assert (loss.epsilon, loss.mu, loss.rho) == (2.0, pure_mu(2.0), pure_rho(2.0))
    assert loss.profile[0] == (0.0, response_delta(2.0, 0.0))
    assert loss.profile[-1] == (2.0, 0.0)
    assert PrivacyLoss.pure(1e300).profile[-1] == (LARGEST, 1.0)


def test_an_approximate_loss_reveals_everything_with_probability_delta() -> None:
    loss = PrivacyLoss.approximate(1.0, 0.1)
    assert loss.epsilon == loss.mu == loss.rho == math.inf
    for epsilon, delta in loss.profile:
        exact = 0.1 + 0.9 * (mpmath.e - mpmath.exp(epsilon)) / (1 + mpmath.e)
        assert exact <= delta <= exact * (1 + mpmath.mpf(1e-11))
    assert loss.profile[-1][1] >= 0.1
    assert PrivacyLoss.approximate(0.0, 0.1).profile == ((0.0, 0.1),)
    assert PrivacyLoss.approximate(1.0, 0.0) == PrivacyLoss.pure(1.0)


@pytest.mark.parametrize("delta", [1.0, 2.0, -0.1, math.nan])
def test_delta_must_be_a_probability_below_one(delta: float) -> None:
    with pytest.raises(ArgumentError, match=r"^delta must be"):
        PrivacyLoss.approximate(1.0, delta)


def test_a_concentrated_loss_knows_nothing_else() -> None:
    assert PrivacyLoss.concentrated(0.5) == PrivacyLoss(math.inf, math.inf, 0.5, ())


@pytest.mark.parametrize("epsilon", [5e-324, 1e-310, 1e-30])
def test_tiny_epsilons_have_a_profile(epsilon: float) -> None:
    assert len(PrivacyLoss.pure(epsilon).profile) >= 1


def test_a_unit_is_stated_once() -> None:
    loss = PrivacyLoss.pure(1.0).about(PERSON)
    assert loss.about(PERSON) == loss.about(None) == loss
    with pytest.raises(ArgumentError, match=r"^unit must be 'replace one person'") as caught:
        loss.about(ADDED)
    assert caught.value.hint == "loss.converted(unit) converts a loss to another unit."
    with pytest.raises(ArgumentTypeError, match=r"^unit must be a Unit"):
        loss.about("person")  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match=r"^unit must be a Unit"):
        PrivacyLoss(1.0, 1.0, 1.0, (), "person")  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [2, 3, 7, 10**9])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_group_under_pure_epsilon_is_at_least_the_truth_and_little_more(
    epsilon: float, count: int
) -> None:
    exact, loss = count * Fraction(epsilon), PrivacyLoss.pure(epsilon).for_group(count)
    assert exact <= loss.epsilon <= exact * (1 + Fraction(1, 2**50)) + Fraction(5e-324)
    assert pure_mu(loss.epsilon) >= loss.mu
    assert pure_rho(loss.epsilon) >= loss.rho
    assert loss.profile[0][0] == 0
    assert all(0 <= delta <= 1 for _, delta in loss.profile)
    assert loss.profile[-1][0] <= LARGEST


def test_a_group_keeps_the_profile_in_order_and_says_how_many_it_is_of() -> None:
    beside = math.nextafter(1.5, 2)  # three times either is the same double
    loss = PrivacyLoss(math.inf, 2.0, 0.1, ((0.0, 0.5), (1.5, 0.2), (beside, 0.1)), ADDED)
    group = loss.for_group(3)
    assert (group.epsilon, group.mu, group.unit) == (math.inf, 6.0, Unit("add-remove", "row", 3))
    assert group.rho >= 9 * 0.1
    assert len(group.profile) <= 3
    assert group.profile[0] == (0.0, 1.0)
    assert group.profile[1][0] >= 4.5
    assert loss.for_group(1) is loss
    for count in (0, 1.0, True):
        with pytest.raises(ArgumentError, match=r"^count must be a positive integer"):
            loss.for_group(count)  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [10**15, 10**400])
def test_a_group_of_any_size_has_a_loss(count: int) -> None:
    tiny = PrivacyLoss(1e-300, 1e-300, 1e-300, ((0.0, 1e-320), (1e-310, 0.0)))
    for loss in (tiny, PrivacyLoss.pure(1e300), PrivacyLoss.approximate(1.0, 1e-6)):
        group = loss.for_group(count)
        assert group.epsilon >= loss.epsilon
        assert group.profile[0][1] > loss.profile[0][1] or loss.profile[0][1] == 1


@pytest.mark.parametrize(
    ("known", "wanted", "factor"),
    [
        (ADDED, Unit("replace", "row"), 2),
        (ADDED, Unit("replace", "row", 3), 6),
        (Unit("add-remove", "row", 4), Unit("replace", "row", 3), 2),
        (PERSON, Unit("replace", "person", 3), 3),
        (Unit("replace", "row", 5), Unit("replace", "row"), 1),
    ],
)
def test_a_loss_is_converted_by_the_number_of_steps(known: Unit, wanted: Unit, factor: int) -> None:
    loss = PrivacyLoss.pure(0.5).about(known)
    assert loss.converted(wanted) == PrivacyLoss.pure(0.5).for_group(factor).about(wanted)
    assert loss.converted(wanted).epsilon == 0.5 * factor


def test_what_does_not_follow_is_not_converted() -> None:
    with pytest.raises(ArgumentError, match=r"^unit must be of 'add-remove'"):
        PrivacyLoss.pure(1.0).about(Unit("replace")).converted(ADDED)
    with pytest.raises(ArgumentError, match=r"^unit must be of one person"):
        PrivacyLoss.pure(1.0).about(ADDED).converted(PERSON)
    with pytest.raises(ArgumentError, match=r"^loss must state a unit"):
        PrivacyLoss.pure(1.0).converted(PERSON)
    with pytest.raises(ArgumentTypeError, match=r"^to must be a Unit"):
        PrivacyLoss.pure(1.0).about(ADDED).converted(None)  # type: ignore[arg-type]
