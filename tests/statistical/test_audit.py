"""The audit is never above the truth, comes close to it, and catches broken mechanisms.

Every audit states 1 - 1e-6: that is the false-alarm rate of each comparison with the true epsilon.
Streams are seeded, so that power, which is a matter of luck too, is the same every time.
"""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from inbounds import (
    BoundedGaussian,
    BoundedLaplace,
    Box,
    ClampedGaussian,
    ClampedLaplace,
    PerCoordinate,
)
from inbounds.auditing.audit import Audit, audit
from inbounds.auditing.event import best_event, epsilon_lower_bound
from inbounds.sampling.entropy import SeededEntropy

CONFIDENCE = 1 - 1e-6
MANY, SOME = 10**7, 2 * 10**6
UNIT = Box(0, 1)


def audited(mechanism: Any, releases: int = SOME, **options: Any) -> Audit:
    return audit(
        mechanism,
        releases=releases,
        confidence=CONFIDENCE,
        entropy=SeededEntropy(2024),
        **options,
    )


class Truncated:
    """Normal noise of a stated standard deviation truncated to [0, width], by textbook means."""

    def __init__(self, width: float, sigma: float, claimed: float) -> None:
        self.domain, self.sensitivity, self.epsilon = Box(0, width), width, claimed
        self._sigma, self._rng = sigma, np.random.default_rng(11)

    def release(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        low, high = (ndtr((end - values) / self._sigma) for end in (0, self.domain.upper))
        share = low + (high - low) * self._rng.random(values.shape)
        answers = values + self._sigma * ndtri(share)
        return np.clip(answers, 0, self.domain.upper)


class Leaky:
    """A private answer, but once in a thousand times the value itself."""

    domain, sensitivity, epsilon = UNIT, 1.0, 1.0

    def __init__(self) -> None:
        self._private = BoundedGaussian.calibrated(UNIT, 1, epsilon=1.0)
        self._rng = np.random.default_rng(12)

    def release(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        answers = self._private.release(values, entropy=SeededEntropy(int(self._rng.integers(1e9))))
        return np.where(self._rng.random(values.shape) < 1e-3, values, answers)


@pytest.mark.parametrize(
    ("epsilon", "change", "share"),
    [(0.1, 1.0, 0.7), (1.0, 1.0, 0.92), (3.0, 1.0, 0.94), (1.0, 0.5, 0.9), (3.0, 0.5, 0.9)],
)
def test_ten_million_releases_of_the_bounded_gaussian_come_close_to_its_epsilon(
    epsilon: float, change: float, share: float
) -> None:
    """False alarm: 1e-6, that the bound is above the exact epsilon. Within 10 % for ε >= 1."""
    mechanism = BoundedGaussian.calibrated(UNIT, change, epsilon=epsilon)
    result = audited(mechanism, MANY)
    assert result.passed
    assert share * mechanism.epsilon < result.epsilon_lower <= mechanism.epsilon
    assert result.certificate_epsilon is not None
    assert result.epsilon_lower <= result.certificate_epsilon <= epsilon


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_the_calibration_of_the_paper_shows_its_slack(epsilon: float) -> None:
    """False alarm: 1e-6. Its sigma is valid; what it gives is below a third of the request."""
    mechanism = BoundedGaussian.calibrated(UNIT, 1, epsilon=epsilon, method="paper")
    result = audited(mechanism, MANY, claimed_epsilon=epsilon)
    assert result.passed
    assert result.epsilon_lower <= mechanism.epsilon < epsilon / 3
    assert result.epsilon_lower > (0.4 if epsilon < 1 else 0.85) * mechanism.epsilon


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_a_sigma_a_fifth_too_small_is_caught(epsilon: float) -> None:
    right = BoundedGaussian.calibrated(UNIT, 1, epsilon=epsilon)
    wrong = BoundedGaussian(UNIT, 1, 0.8 * right.sigma)
    result = audited(wrong, MANY, claimed_epsilon=epsilon)
    assert not result.passed
    assert result.epsilon_lower <= wrong.epsilon


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("width", [1.0, 10.0])
def test_a_variance_taken_for_a_standard_deviation_is_caught(width: float, epsilon: float) -> None:
    """The mistake of published research code; either way round, where it weakens privacy.

    The same class with the right sigma passes: false alarm 1e-6.
    """
    sigma = width / math.sqrt(2 * epsilon)  # exact where everything may change
    mistaken = min(sigma**2, math.sqrt(sigma))
    options = {"releases": SOME, "confidence": CONFIDENCE}
    right = audit(Truncated(width, sigma, epsilon), **options)
    assert right.passed
    assert right.epsilon_lower > 0.3 * epsilon
    assert not audit(Truncated(width, mistaken, epsilon), **options).passed


def test_a_mechanism_that_leaks_one_value_in_a_thousand_is_caught() -> None:
    result = audit(Leaky(), releases=SOME, confidence=CONFIDENCE)
    assert not result.passed
    leaked = min(abs(result.event.threshold - value) for value in result.pair)
    assert result.event.kind == "near" or leaked < 1e-3
    assert result.epsilon_lower > 2


@pytest.mark.parametrize(
    ("epsilon", "change", "share"),
    [(0.1, 1.0, 0.4), (1.0, 1.0, 0.85), (3.0, 1.0, 0.85), (1.0, 0.2, 0.85), (3.0, 0.2, 0.85)],
)
@pytest.mark.parametrize("kind", [BoundedLaplace, ClampedLaplace])
def test_laplace_noise_keeps_its_epsilon_and_too_little_of_it_is_caught(
    kind: Any, epsilon: float, change: float, share: float
) -> None:
    """False alarm: 1e-6. Half the scale must be noticed, from ε = 1 on two thirds of it."""
    mechanism = kind.calibrated(UNIT, change, epsilon=epsilon)
    result = audited(mechanism)
    assert share * mechanism.epsilon < result.epsilon_lower <= mechanism.epsilon
    wrong = kind(UNIT, change, mechanism.scale / (1.5 if epsilon >= 1 else 2))
    assert not audited(wrong, claimed_epsilon=epsilon).passed


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_clamped_gaussian_noise_keeps_epsilon_and_delta_and_too_little_of_it_is_caught(
    epsilon: float,
) -> None:
    """False alarm: 1e-6. A sigma a third too small must be noticed."""
    delta = 1e-3
    mechanism = ClampedGaussian.calibrated(UNIT, 0.1, epsilon=epsilon, delta=delta, method="exact")
    result = audited(mechanism, delta=delta)
    assert result.epsilon_lower <= result.claimed_epsilon <= epsilon * (1 + 1e-5)
    assert result.epsilon_lower > 0.6 * epsilon
    wrong = ClampedGaussian(UNIT, 0.1, mechanism.sigma / 1.5)
    assert not audited(wrong, delta=delta, claimed_epsilon=epsilon).passed


@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_a_joint_release_keeps_its_epsilon_and_comes_close(epsilon: float) -> None:
    """False alarm: 1e-6. The event is a half-space, the best there is for Gaussian noise."""
    box, change = Box([0, 1], [10, 9]), PerCoordinate([4, 2])
    mechanism = BoundedGaussian.calibrated(box, change, epsilon=epsilon)
    result = audited(mechanism)
    assert 0.65 * epsilon < result.epsilon_lower <= mechanism.epsilon
    wrong = BoundedGaussian(box, change, 0.75 * float(np.max(mechanism.sigma)))
    assert not audited(wrong, claimed_epsilon=epsilon).passed


def test_choosing_and_counting_by_the_same_answers_would_break_the_confidence() -> None:
    """Answers that tell nothing: epsilon is 0, so every bound above it is false.

    Of 400 audits at confidence 0.8 at most 80 are expected to be wrong; 140 or more has
    probability below 1e-10. Counting what was chosen by is wrong far more often.
    """
    rng = np.random.default_rng(6)
    wrong = {"fresh": 0, "same": 0}
    for _ in range(400):
        seen, fresh = rng.random((2, 2, 500))
        _, event = best_event(*seen, centre=0.5, confidence=0.8, delta=0.0)
        for name, answers in (("fresh", fresh), ("same", seen)):
            first, second = (int(event.holds(side).sum()) for side in answers)
            bound = epsilon_lower_bound(first, second, 500, confidence=0.8, delta=0.0)
            wrong[name] += bound > 0
    assert wrong["fresh"] < 140 < wrong["same"]
