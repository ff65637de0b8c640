"""Privacy losses drawn at real pairs of values, against what `compose` says.

For neighbours s and s', L = ln p_s(x)/p_s'(x) at x drawn from p_s; the losses of several releases
add up, and δ(ε) = E[(1 - e^(ε - L))₊]. Estimates may exceed the bound by 6 standard errors: each of
the 16 comparisons below raises a false alarm with probability at most about 1e-9, so all of them
together with less than 1e-6.
"""

import math
from collections.abc import Sequence

import numpy as np
import pytest

import inbounds as ib
from inbounds._types import Floats
from inbounds.accounting.composition import Composition, compose
from inbounds.loss import PrivacyLoss
from inbounds.mechanisms.mechanism import Mechanism

DRAWS = 100_000
ERRORS = 6
Pair = tuple[Mechanism, int, float, float]  # how often, and the values of two neighbours

WHOLE = ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=1.5)  # one pair and its mirror image: all tight
WIDER = ib.BoundedGaussian(ib.Box(0, 3), 3, sigma=4.0)
PARTLY = ib.BoundedGaussian(ib.Box(0, 10), 1, sigma=4.0)
LAPLACE = ib.BoundedLaplace(ib.Box(0, 1), 0.25, scale=0.5)
TIGHT: list[Pair] = [(WHOLE, 12, 0.0, 1.0), (WIDER, 6, 3.0, 0.0)]
MIXED: list[Pair] = [
    (WHOLE, 4, 1.0, 0.0),
    (PARTLY, 6, 4.5, 5.5),
    (PARTLY, 3, 9.0, 10.0),
    (LAPLACE, 4, 0.0, 0.25),
]


def losses(pairs: Sequence[Pair], seed: int) -> Floats:
    """Draw the loss of all releases together."""
    random = np.random.default_rng(seed)
    total = np.zeros(DRAWS)
    for mechanism, times, here, there in pairs:
        for _ in range(times):
            answers = mechanism.quantile(random.random(DRAWS), here)
            total += np.log(mechanism.pdf(answers, here) / mechanism.pdf(answers, there))
    return total


def estimate(loss: Floats, epsilon: float) -> tuple[float, float]:
    """Return delta at `epsilon` and its standard error."""
    terms = -np.expm1(np.minimum(epsilon - loss, 0.0))
    return float(terms.mean()), float(terms.std() / math.sqrt(DRAWS))


def composition(pairs: Sequence[Pair]) -> Composition:
    return compose([(mechanism, times) for mechanism, times, *_ in pairs])


def is_exceeded(together: Composition, loss: Floats, epsilon: float) -> bool:
    delta, error = estimate(loss, epsilon)
    return delta - ERRORS * error > together.delta(epsilon)


@pytest.mark.parametrize("pairs", [TIGHT, MIXED], ids=["tight", "mixed"])
def test_no_pair_loses_more_than_compose_says(pairs: Sequence[Pair]) -> None:
    together = composition(pairs)
    for turned in (False, True):
        seen = [(m, n, t, s) if turned else (m, n, s, t) for m, n, s, t in pairs]
        loss = losses(seen, seed=1 + turned)
        assert loss.max() <= together.pure
        for epsilon in (0.0, 0.5, 1.0):
            assert not is_exceeded(together, loss, epsilon)


def test_the_worst_pairs_lose_nearly_what_compose_says() -> None:
    together, loss = composition(TIGHT), losses(TIGHT, seed=3)
    for epsilon in (0.0, 0.4, 0.8, 1.2):
        delta, error = estimate(loss, epsilon)
        assert delta > 1e-3  # or there would be nothing to see
        assert delta - ERRORS * error <= together.delta(epsilon) <= 1.15 * delta + ERRORS * error


def test_a_profile_of_half_the_deltas_is_caught() -> None:
    halved = [
        (PrivacyLoss(math.inf, math.inf, math.inf, tuple((x, y / 2) for x, y in loss.profile)), n)
        for loss, n in composition(TIGHT).losses
    ]
    assert is_exceeded(compose(halved), losses(TIGHT, seed=4), 0.4)


def test_a_release_that_is_not_counted_is_caught() -> None:
    fewer = [(mechanism, times // 2) for mechanism, times, *_ in TIGHT]
    assert is_exceeded(compose(fewer), losses(TIGHT, seed=5), 0.4)
