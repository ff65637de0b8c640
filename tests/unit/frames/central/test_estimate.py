import numpy as np
import pytest

from inbounds.domain import Box
from inbounds.frames.central.estimate import Estimate, Released, ratio, variance_of, whole
from inbounds.frames.central.moment import moments
from inbounds.frames.central.statistic import Statistic, count, histogram, mean, total, variance
from inbounds.mechanisms.bounded_gaussian import BoundedGaussian


def estimate(value: float, error: float = 0.0, half: float = 0.0) -> Estimate:
    return Estimate(*(np.array([a]) for a in (value, error, value - half, value + half)))


def one(asked: list[Statistic], answers: list[float], size: int, *, public: bool) -> Released:
    """A summary whose noise is next to nothing."""
    found = moments(asked, sizes_public=public)
    lower = np.array([low for m in found for low in m.lowers])
    m = BoundedGaussian(Box(lower, lower + 1), 1e-9, 1e-9)
    return Released(m, np.array([answers]), found, size)


def test_statistics_follow_from_their_sums() -> None:
    """Four rows with 20, 40, 40 and 100 out of at most 8."""
    asked = [
        count(),
        mean("x", 0, 100),
        total("x", 0, 100),
        variance("x", 0, 100),
        histogram("x", [0, 30, 100]),
    ]
    values = np.array([20.0, 40, 40, 100])
    t = values / 100 - 0.5
    sums = [4, t.sum(), (4 * t**2 - 0.5).sum(), 1, 3]
    released = one(asked, [s / 8 for s in sums], 8, public=False)
    expected = [[4.0], [50.0], [200.0], [values.var()], [1.0, 3.0]]
    for statistic, truths in zip(asked, expected, strict=True):
        found = released.estimate(statistic)
        assert [f.value[0] for f in found] == pytest.approx(truths)
        for f, truth in zip(found, truths, strict=True):
            assert f.lower[0] <= truth + 1e-9
            assert truth - 1e-9 <= f.upper[0]


@pytest.mark.parametrize("bounds", [(10, 30), (-30, -10), (-10, 30)])
def test_a_total_is_the_same_from_its_own_sum_and_from_place_and_count(
    bounds: tuple[int, int],
) -> None:
    low, high = bounds
    values = np.array([low, high, (low + high) / 2, high])
    width = max(0, high) - min(0, low)
    own = one([total("x", low, high)], [values.sum() / width / 5], 5, public=False)
    places = ((values - low) / (high - low) - 0.5).sum()
    both = one([total("x", low, high), count()], [4 / 5, places / 5], 5, public=False)
    public = one([total("x", low, high)], [places / 4], 4, public=True)
    for released in (own, both, public):
        (found,) = released.estimate(total("x", low, high))
        assert found.value[0] == pytest.approx(values.sum())
        assert found.lower[0] - 1e-6 <= values.sum() <= found.upper[0] + 1e-6


def test_a_public_count_has_no_error() -> None:
    released = Released(None, np.empty((1, 0)), [], 7)
    (found,) = released.estimate(count())
    assert [found.value[0], found.error[0], found.lower[0], found.upper[0]] == [7, 0, 7, 7]


def test_a_mean_of_nobody_is_somewhere_in_its_range_with_the_whole_range_for_an_interval() -> None:
    found = ratio(estimate(0.0, 0.1, 0.2), estimate(0.0, 0.1, 0.0))
    assert np.isfinite([found.value, found.error]).all()
    assert (found.lower[0], found.upper[0]) == (-0.5, 0.5)


def test_a_ratio_covers_all_corners() -> None:
    found = ratio(estimate(-0.1, 0.0, 0.05), estimate(0.5, 0.0, 0.25))
    assert found.value[0] == pytest.approx(-0.2)
    assert found.lower[0] == pytest.approx(-0.5)
    assert found.upper[0] == pytest.approx(-0.05 / 0.75)
    wider = ratio(estimate(-0.1, 0.0, 0.05), estimate(0.5, 0.0, 0.4))
    assert wider.lower[0] == -0.5


def test_the_square_of_an_interval_around_zero_starts_at_zero() -> None:
    found = variance_of(estimate(0.1, 0.0, 0.2), estimate(0.2), estimate(1.0))
    assert found.upper[0] == pytest.approx(0.7 / 4)
    assert found.lower[0] == pytest.approx(0.7 / 4 - 0.09)


def test_whole_numbers_have_whole_intervals() -> None:
    found = whole(estimate(2.6, 1.0, 0.7))
    assert (found.value[0], found.lower[0], found.upper[0]) == (3, 1, 4)
