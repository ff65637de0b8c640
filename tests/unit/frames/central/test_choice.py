"""The noise that is chosen is as small as the best plain noise, and says what it gives."""

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

from inbounds.calibration.approximate import gaussian_mu
from inbounds.frames.central import choice
from inbounds.frames.central.change import Neighbours, box
from inbounds.frames.central.choice import KINDS, best_noise, error
from inbounds.frames.central.moment import moments
from inbounds.frames.central.noise import Noise
from inbounds.frames.central.split import importances
from inbounds.frames.central.statistic import Statistic, count, histogram, mean, total, variance
from inbounds.guarantee import Guarantee
from inbounds.mechanisms.clamped_gaussian import ClampedGaussian
from inbounds.mechanisms.clamped_laplace import ClampedLaplace

AGE = ("age", 0, 120)
SIZE = 6_000
ADD = {"adjacency": "add-remove", "sizes_public": False}
REPLACE = {"adjacency": "replace", "sizes_public": False}
ALL = [count(), mean(*AGE), variance("x", 0, 1), histogram("y", [0, 1, 2, 3]), total("z", 1, 2)]


def noise(
    asked: list[Statistic], guarantee: dict[str, float], kind: Any = None, **how: Any
) -> Noise:
    needed = moments(asked, sizes_public=how["sizes_public"])
    neighbours = Neighbours(**{"groups": 8, "rows": 1, "size": SIZE} | how)
    importance = importances(needed, asked, [1.0] * len(asked))
    return best_noise(needed, importance, neighbours, Guarantee(**guarantee), kind)


def errors(found: Noise) -> Any:
    """The standard errors of the sums of one group."""
    return found.errors(found.middle(1))[0]


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("statistic", [count(), total(*AGE), total("x", -3, 1)], ids=str)
@pytest.mark.parametrize(("how", "moves"), [(ADD, 1), (REPLACE, 2)])
def test_pure_counts_and_sums_have_the_error_of_plain_laplace_noise(
    epsilon: float, statistic: Statistic, how: dict[str, Any], moves: int
) -> None:
    (needed,) = moments([statistic], sizes_public=False)
    plain = math.sqrt(2) * moves * needed.limits.l1[0] / epsilon
    (found,) = errors(noise([statistic], {"epsilon": epsilon}, **how)) * SIZE
    assert plain * (1 - 1e-9) <= found <= plain * (1 + 1e-6)


@pytest.mark.parametrize("asked", [[count()], [count(), mean(*AGE)], ALL], ids=str)
@pytest.mark.parametrize("guarantee", [{"delta": 1e-6}, {"delta": 1e-12}, {"delta": 1e-3}, {}])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("how", [ADD, REPLACE, {**ADD, "groups": 1}, {**REPLACE, "groups": 1}])
def test_no_plain_noise_with_one_scale_has_a_lower_error(
    asked: list[Statistic], guarantee: dict[str, float], epsilon: float, how: dict[str, Any]
) -> None:
    """Laplace in l1, and with delta the analytic Gaussian in l2: the formulas of the textbook."""
    needed, delta = moments(asked, sizes_public=False), guarantee.get("delta", 0.0)
    moves = 1 if how["adjacency"] == "add-remove" else min(how.get("groups", 8), 2)
    limits = [moment.limits for moment in needed]
    l1, square = moves * sum(m.l1[0] for m in limits), moves * sum(m.squares[0] for m in limits)
    if how["adjacency"] == "replace":
        l1 = max(l1, sum(m.l1[1] for m in limits))
        square = max(square, sum(m.squares[1] for m in limits))
    plain = [2 * (l1 / epsilon) ** 2]
    if delta:
        plain.append(square / gaussian_mu(epsilon, delta) ** 2)
    importance = importances(needed, asked, [1.0] * len(asked))
    found = errors(noise(asked, {"epsilon": epsilon, **guarantee}, **how)) * SIZE
    firsts = np.cumsum([0, *(len(m.lowers) for m in limits)])[:-1]
    assert importance @ found[firsts] ** 2 <= min(plain) * importance.sum() * (1 + 1e-6)


GUARANTEES = [{"epsilon": 1.0}, {"epsilon": 0.3, "delta": 1e-8}, {"rho": 0.1}, {"rho": 50.0}]
KINDS_OF = [  # which kinds can give which guarantee
    (guarantee, kind)
    for guarantee in GUARANTEES
    for kind in (None, *KINDS)
    if kind is not ClampedGaussian or guarantee != GUARANTEES[0]
]


@pytest.mark.parametrize("asked", [[count()], ALL], ids=str)
@pytest.mark.parametrize(("guarantee", "kind"), KINDS_OF, ids=str)
@pytest.mark.parametrize("size", [2, SIZE])
def test_the_mechanism_itself_states_the_guarantee(
    asked: list[Statistic], guarantee: dict[str, float], kind: Any, size: int
) -> None:
    mechanism = noise(asked, guarantee, kind, **ADD, size=size).mechanism
    if "rho" in guarantee:
        assert mechanism.rho <= guarantee["rho"]
        return
    delta = guarantee.get("delta", 0.0)
    assert mechanism.delta(guarantee["epsilon"]) <= delta


def test_of_all_kinds_the_one_with_the_least_error_is_taken() -> None:
    cases: list[tuple[list[Statistic], dict[str, float], int]] = [
        ([count()], {"epsilon": 1.0, "delta": 1e-6}, SIZE),
        (ALL, {"epsilon": 1.0, "delta": 1e-6}, SIZE),
        (
            [histogram("y", [0, 1, 2, 3]), *(variance(c, 0, 1) for c in "abcdefghi")],
            {"epsilon": 1.0, "delta": 1e-3},
            SIZE,
        ),
        ([count()], {"rho": 0.1}, SIZE),
        ([count()], {"rho": 30.0}, SIZE),
        ([count()], {"epsilon": 0.05}, 1),
        (ALL, {"epsilon": 0.3}, 3),
    ]
    taken = []
    for asked, guarantee, size in cases:
        needed = moments(asked, sizes_public=False)
        importance = importances(needed, asked, [1.0] * len(asked))
        chosen = noise(asked, guarantee, **ADD, size=size)
        pure = "epsilon" in guarantee and "delta" not in guarantee
        rivals = [
            noise(asked, guarantee, kind, **ADD, size=size)
            for kind in KINDS
            if not (pure and kind is ClampedGaussian)
        ]
        least = min(error(needed, importance, rival) for rival in rivals)
        assert error(needed, importance, chosen) <= least * (1 + 1e-3)
        taken.append(type(chosen.mechanism).__name__)
    assert len(set(taken)) >= 3, taken


def test_the_error_is_that_of_outputs_moved_into_the_range() -> None:
    """Against a fine sum over the range of the error of a clamped mechanism on it."""
    found = noise([count()], {"epsilon": 1.0}, ClampedLaplace, **ADD, size=3)
    clamped = ClampedLaplace(box(moments([count()], sizes_public=False), 1), 1, 1 / 3)
    average = float(np.mean(clamped.mse(np.linspace(0, 1, 100_001)[:, None])))
    assert found.average_errors()[0] == pytest.approx(average, rel=1e-6)


def test_noise_is_practically_never_clamped_before_it_is_read() -> None:
    for size in (1, SIZE):
        found = noise([count(), mean(*AGE)], {"epsilon": 1.0}, ClampedLaplace, **ADD, size=size)
        left, right = found.mechanism.mass_at_bounds(np.tile(found.middle(1)[0], 8))
        assert float(np.max(left + right)) < 1e-17
        assert np.isclose(
            errors(found), math.sqrt(2) * found.mechanism.scales[0] / found.factors
        ).all()


def test_extreme_guarantees_have_noise_too() -> None:
    for guarantee in ({"epsilon": 1e-90}, {"epsilon": 1e90}, {"rho": 1e-90}, {"rho": 1e12}):
        found = noise([count(), mean(*AGE)], guarantee, **ADD)
        outputs = np.reshape(found.mechanism.release(found.middle(8).ravel()), (8, 2))
        low, high = found.confidence(outputs, 0.95)
        assert (low <= high).all()
        assert np.isfinite(found.errors(outputs)).all()


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=str)
def test_noise_that_does_not_give_the_guarantee_is_raised_until_it_does(
    guarantee: dict[str, float],
) -> None:
    found = noise(ALL, guarantee, **ADD)
    kind: Any = type(found.mechanism)
    domain, change = found.mechanism.domain, found.mechanism.sensitivity
    weak = dataclasses.replace(
        found, mechanism=kind(domain, change, found.mechanism.scales[0] * 0.999)
    )
    proved = choice._proved(weak, Guarantee(**guarantee)).mechanism
    assert not choice._gives(weak.mechanism, Guarantee(**guarantee))
    assert choice._gives(proved, Guarantee(**guarantee))
    assert proved.scales[0] <= found.mechanism.scales[0] * 1.002
