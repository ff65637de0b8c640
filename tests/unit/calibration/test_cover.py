import numpy as np
import pytest

from inbounds.calibration import cover
from inbounds.calibration.cover import TIGHT, attained_delta, interval_delta
from inbounds.numerics import divergence


def pairs(u: float, gamma: float, epsilon: float, count: int) -> np.ndarray:
    """The δ of many pairs, half of them near the upper end."""
    last = u - gamma
    s = np.concatenate([np.linspace(0, last, count), np.linspace(max(0, last - 9), last, count)])
    return divergence.delta_of_cells(u, gamma, epsilon, s, divergence.mean_slope(u, gamma, s))


def random_settings(count: int) -> list[tuple[float, float, float]]:
    """u, γ and ε: narrow and wide boxes, small and large changes, ε up to nearly the pure one."""
    rng = np.random.default_rng(16)
    settings = []
    for index in range(count):
        u = float(10 ** rng.uniform(-2, 2.5))
        gamma = u * float((rng.uniform(), 10 ** rng.uniform(-5, 0), 1.0)[index % 3])
        largest = float(divergence.mean_slope(u, gamma, np.array([u - gamma]))[0])
        fraction = (rng.uniform(), 10 ** rng.uniform(-4, 0), 1 - 10 ** rng.uniform(-3, 0))
        settings.append((u, gamma, largest * gamma * float(fraction[index // 3 % 3])))
    return settings


@pytest.mark.parametrize(("u", "gamma", "epsilon"), random_settings(60))
def test_the_bound_covers_every_pair_and_is_close_to_the_worst(
    u: float, gamma: float, epsilon: float
) -> None:
    bound, delta = interval_delta(u, gamma, 1.0, epsilon), pairs(u, gamma, epsilon, 2001)
    assert delta.max() <= bound * (1 + 1e-12)
    assert bound <= delta.max() * (1 + 2 * TIGHT) + 1e-299


@pytest.mark.parametrize(("u", "gamma", "epsilon"), random_settings(30))
def test_the_pairs_that_steer_the_search_come_close_to_the_bound(
    u: float, gamma: float, epsilon: float
) -> None:
    attained, bound = attained_delta(u, gamma, 1.0, epsilon), interval_delta(u, gamma, 1.0, epsilon)
    assert bound * 0.95 - 1e-299 <= attained <= bound * 1.05


def test_the_middle_of_a_wide_box_is_one_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []
    bounds = cover._cell_bounds

    def counted(*arguments, **options):  # type: ignore[no-untyped-def]
        sizes.append(arguments[3].place.size)
        return bounds(*arguments, **options)

    monkeypatch.setattr(cover, "_cell_bounds", counted)
    assert interval_delta(120.0, 0.12, 13.353, 0.03) < 1.01e-6  # by one bound alone, 11,700 cells
    assert sum(sizes) < 200


def test_a_bound_that_is_already_known_is_not_exceeded() -> None:
    assert interval_delta(6.0, 0.6, 1.0, 0.5, dominating=1e-9) == 1e-9


def test_a_search_cut_short_still_gives_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    full = interval_delta(6.0, 0.6, 1.0, 0.5)
    monkeypatch.setattr(cover, "_ROUNDS", 1)
    coarse = interval_delta(6.0, 0.6, 1.0, 0.5)
    monkeypatch.setattr(cover, "_ROUNDS", 16)
    monkeypatch.setattr(cover, "_MOST_CELLS", 2)
    capped = interval_delta(6.0, 0.6, 1.0, 0.5)
    assert full < coarse <= 1
    assert full < capped <= 1
