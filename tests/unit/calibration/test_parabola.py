import numpy as np
import pytest

from inbounds.calibration.concave import LOSS, RATIO, Coordinates
from inbounds.calibration.parabola import fill_l2
from inbounds.calibration.waterfill import _fill_l2, worst_change
from inbounds.numerics import partition


def problem(seed: int) -> tuple[Coordinates, np.ndarray]:
    """A random box with caps and an l2 norm that binds, and sigmas."""
    generator = np.random.default_rng(seed)
    size = int(generator.integers(2, 60))
    width = 10 ** generator.uniform(-2, 2, size)
    cap = width / 2 * generator.uniform(0.01, 1, size) ** generator.choice([0, 1, 3])
    count = generator.integers(1, 5, size).astype(float)
    radius = float(np.sqrt(count @ cap**2)) * float(generator.uniform(0.02, 0.98))
    sigma = float(10 ** generator.uniform(-1, 2)) * generator.choice([width, np.ones(size)])
    return Coordinates(width, np.minimum(cap, radius), count, 2, radius), sigma


@pytest.mark.parametrize("seed", range(60))
def test_joint_steps_find_what_one_multiplier_after_another_finds(seed: int) -> None:
    at, sigma = problem(seed)
    joint = fill_l2(at, sigma, None)
    slow = _fill_l2(at, sigma, None, LOSS)
    found = slow if joint is None else joint
    assert np.sqrt(at.count @ found.change**2) == pytest.approx(at.radius, rel=1e-7)
    assert found.multiplier == pytest.approx(slow.multiplier, rel=1e-5)
    np.testing.assert_allclose(found.change, slow.change, rtol=2e-4, atol=1e-6 * at.radius)


def test_joint_steps_nearly_always_converge() -> None:
    failed = []
    for seed in range(200):
        at, sigma = problem(seed)
        if fill_l2(at, sigma, None) is None:
            failed.append(seed)
    assert len(failed) <= 10, failed


@pytest.mark.parametrize("seed", range(10))
def test_any_first_multiplier_leads_to_the_same_change(seed: int) -> None:
    at, sigma = problem(seed)
    plain = worst_change(at, sigma)
    for factor in (1e-3, 0.5, 1.5, 1e3):
        again = worst_change(at, sigma, factor * plain.multiplier)
        np.testing.assert_allclose(again.change, plain.change, rtol=2e-4, atol=1e-6 * at.radius)


@pytest.mark.parametrize("seed", range(40))
def test_log_ratios_are_maximised_to_the_last_digits_for_no_gap_covers_them(seed: int) -> None:
    """Joint steps stop up to 18 % below the maximum of flat log-ratios, as for seeds 3 and 12."""
    at, sigma = problem(seed)

    def value(change: np.ndarray) -> float:
        return float(at.count @ partition.log_ratios(at.width / sigma, change / sigma))

    found = value(worst_change(at, sigma, of=RATIO).change)
    assert found >= value(_fill_l2(at, sigma, None, RATIO).change) * (1 - 1e-12)
    for start in (at.cap, at.width, np.ones(at.width.size)):
        change = np.minimum(start, at.cap)
        change = change * min(1.0, at.radius / float(np.sqrt(at.count @ change**2)))
        assert value(change) <= found * (1 + 1e-12)
