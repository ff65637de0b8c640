import math

from inbounds.profile import LARGEST, tabulated


def test_a_profile_ends_where_delta_is_negligible_and_stays_above_it() -> None:
    def delta(epsilon: float) -> float:
        return math.exp(-60 * epsilon)

    points = tabulated(delta, 1e6)
    top, last = points[-1]
    assert 0 < last <= 1e-24 < delta(top / 2)
    assert all(y == delta(x) for x, y in points)


def test_a_profile_of_an_infinite_epsilon_ends_at_the_largest() -> None:
    points = tabulated(lambda epsilon: 0.5 / (1 + epsilon), math.inf)
    assert points[-1] == (LARGEST, 0.5 / (1 + LARGEST))
