import copy
import pickle
from fractions import Fraction

import pytest

import inbounds as ib
from inbounds.guarantee import Amount, Guarantee
from inbounds.mechanisms.asked import noted
from inbounds.mechanisms.mechanism import Mechanism

BOX = ib.Box(0, 120)
BUILT: list[tuple[Mechanism, Amount]] = [
    (ib.BoundedGaussian.calibrated(BOX, 2.5, epsilon=1), Guarantee(epsilon=1.0)),
    (ib.BoundedGaussian.calibrated(BOX, 2.5, epsilon=0.9, delta=1e-7), Guarantee(0.9, 1e-7)),
    (ib.BoundedGaussian.calibrated(BOX, 2.5, rho=0.1), Guarantee(rho=0.1)),
    (ib.BoundedLaplace.calibrated(BOX, 2.5, epsilon=Fraction(1, 10)), Guarantee(0.1)),
    (ib.ClampedGaussian.calibrated(BOX, 2.5, epsilon=0.9, delta=1e-7), Guarantee(0.9, 1e-7)),
    (ib.ClampedLaplace.calibrated(BOX, 2.5, epsilon=0.7), Guarantee(0.7)),
    (ib.ClampedStaircase.calibrated(BOX, 2.5, epsilon=0.7), Guarantee(0.7)),
    (ib.Window.calibrated(BOX, 120, epsilon=0.7), Guarantee(0.7)),
    (ib.Optimal.calibrated(ib.Box(0, 8, step=1), 8, epsilon=0.7), Guarantee(0.7)),
    (ib.calibrate(BOX, 2.5, epsilon=0.7, delta=1e-6), Guarantee(0.7, 1e-6)),
    (ib.calibrate(ib.Box(0, 8, step=1), 8, rho=0.2), Guarantee(rho=0.2)),
    (ib.Window(BOX, 120, 0.7), Amount(0.7)),
]


@pytest.mark.parametrize(("mechanism", "asked"), BUILT, ids=lambda part: type(part).__name__)
def test_a_mechanism_remembers_what_was_asked(mechanism: Mechanism, asked: Amount) -> None:
    assert mechanism.asked == asked
    for same in (copy.copy(mechanism), pickle.loads(pickle.dumps(mechanism))):
        assert same == mechanism
        assert same.asked == asked


def test_what_was_asked_is_no_part_of_the_mechanism() -> None:
    built = ib.BoundedGaussian.calibrated(BOX, 2.5, epsilon=1.0)
    plain = ib.BoundedGaussian(BOX, 2.5, built.sigma)
    assert plain.asked is None
    assert plain == built
    assert hash(plain) == hash(built)
    assert plain.epsilon == noted(plain, Amount(epsilon=1e-9)).epsilon


def test_only_an_amount_is_noted() -> None:
    with pytest.raises(ib.ArgumentTypeError, match="asked must be an Amount, got str"):
        noted(ib.Window(BOX, 120, 0.7), "epsilon=0")  # type: ignore[arg-type]
