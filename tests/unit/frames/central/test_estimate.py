import numpy as np
import pytest

from inbounds.frames.central.change import box
from inbounds.frames.central.estimate import Estimate, Released, mean_of, variance_of
from inbounds.frames.central.moment import Moment, moments
from inbounds.frames.central.noise import Noise
from inbounds.frames.central.statistic import Statistic, count, histogram, mean, total, variance
from inbounds.mechanisms.bounded_gaussian import BoundedGaussian


def around(value: float, error: float = 0.0, half: float = 0.0) -> Estimate:
    return Estimate(*(np.array([a]) for a in (value, error, value - half, value + half)))


def release(asked: list[Statistic], outputs: list[float], size: int, *, public: bool) -> Released:
    """A summary with hardly any noise."""
    needed = moments(asked, sizes_public=public)
    return Released(little(needed, 1e-9), np.array([outputs]), needed, size)


def little(needed: list[Moment], sigma: float) -> Noise:
    ranges = box(needed, 1)
    return Noise(BoundedGaussian(ranges, sigma, sigma), ranges, np.ones(ranges.dimension))


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
    released = release(asked, [s / 8 for s in sums], 8, public=False)
    expected = [[4.0], [50.0], [200.0], [values.var()], [1.0, 3.0]]
    for statistic, truths in zip(asked, expected, strict=True):
        estimates = statistic.estimate(released)
        assert [estimate.value[0] for estimate in estimates] == pytest.approx(truths)
        for estimate, truth in zip(estimates, truths, strict=True):
            assert estimate.lower[0] <= truth + 1e-9
            assert truth - 1e-9 <= estimate.upper[0]


@pytest.mark.parametrize("bounds", [(10, 30), (-30, -10), (-10, 30)])
def test_a_total_is_the_same_from_its_own_sum_and_from_place_and_count(
    bounds: tuple[int, int],
) -> None:
    low, high = bounds
    values = np.array([low, high, (low + high) / 2, high])
    width = max(0, high) - min(0, low)
    alone = release([total("x", low, high)], [values.sum() / width / 5], 5, public=False)
    places = ((values - low) / (high - low) - 0.5).sum()
    both = release([total("x", low, high), count()], [4 / 5, places / 5], 5, public=False)
    public = release([total("x", low, high)], [places / 4], 4, public=True)
    for released in (alone, both, public):
        (estimate,) = total("x", low, high).estimate(released)
        assert estimate.value[0] == pytest.approx(values.sum())
        assert estimate.lower[0] - 1e-6 <= values.sum() <= estimate.upper[0] + 1e-6


def test_a_public_count_has_no_error() -> None:
    released = Released(None, np.empty((1, 0)), [], 7)
    (estimate,) = count().estimate(released)
    assert list(estimate.numbers(0).values()) == [7, 0, 7, 7]


def test_sums_that_were_neither_released_nor_public_are_not_invented() -> None:
    with pytest.raises(AssertionError):
        mean("x", 0, 1).estimate(release([count()], [0.5], 7, public=False))


def test_intervals_of_sums_that_hold_jointly_are_wider() -> None:
    edges = histogram("x", [0, 1, 2])
    needed = moments([edges], sizes_public=False)
    released = Released(little(needed, 0.1), np.full((1, 2), 0.5), needed, 7)
    alone, both = (released.sums(*needed, jointly=jointly)[0] for jointly in (False, True))
    assert both.lower[0] < alone.lower[0] < alone.value[0] < alone.upper[0] < both.upper[0]
    assert edges.estimate(released)[0].lower[0] == np.floor(7 * alone.lower[0])


def test_a_negative_factor_turns_the_interval_around() -> None:
    turned = around(1.0, 0.5, 0.25).scaled(-2.0, 1.0)
    assert list(turned.numbers(0).values()) == [-1.0, 1.0, -1.5, -0.5]


def test_a_mean_of_nobody_is_somewhere_in_its_range_with_the_whole_range_for_an_interval() -> None:
    estimate = mean_of(around(0.0, 0.1, 0.2), around(0.0, 0.1, 0.0))
    assert np.isfinite([estimate.value, estimate.error]).all()
    assert (estimate.lower[0], estimate.upper[0]) == (-0.5, 0.5)


def test_a_ratio_covers_all_corners() -> None:
    estimate = mean_of(around(-0.1, 0.0, 0.05), around(0.5, 0.0, 0.25))
    assert estimate.value[0] == pytest.approx(-0.2)
    assert estimate.lower[0] == pytest.approx(-0.5)
    assert estimate.upper[0] == pytest.approx(-0.05 / 0.75)
    wider = mean_of(around(-0.1, 0.0, 0.05), around(0.5, 0.0, 0.4))
    assert wider.lower[0] == -0.5


def test_the_square_of_an_interval_around_zero_starts_at_zero() -> None:
    estimate = variance_of(around(0.1, 0.0, 0.2), around(0.2), around(1.0))
    assert estimate.upper[0] == pytest.approx(0.7 / 4)
    assert estimate.lower[0] == pytest.approx(0.7 / 4 - 0.09)


def test_whole_numbers_have_whole_intervals() -> None:
    estimate = Released(None, np.empty((1, 0)), [], 7).rounded(around(2.6, 1.0, 0.7))
    assert (estimate.value[0], estimate.lower[0], estimate.upper[0]) == (3, 1, 4)
