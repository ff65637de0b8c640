import pytest

import inbounds as ib
from inbounds.cli.arguments import read_guarantee
from inbounds.cli.explore.privacy import curve, weaknesses

BOX = ib.Box(0, 120)


@pytest.mark.parametrize(
    "mechanism",
    [
        ib.BoundedGaussian.calibrated(BOX, 2.5, epsilon=1.0),
        ib.BoundedGaussian.calibrated(BOX, 2.5, epsilon=1.0, delta=1e-6),
        ib.ClampedGaussian.calibrated(BOX, 2.5, epsilon=1.0, delta=1e-6),
        ib.Window(BOX, 120, epsilon=1.0),
        ib.Optimal(BOX, 120, epsilon=5.0),
    ],
)
def test_the_curve_is_the_librarys_delta_and_ends_where_nothing_is_left(mechanism):
    points = curve(mechanism)
    assert len(points["epsilon"]) == len(points["delta"]) == 25
    assert points["epsilon"][0] == 0
    assert points["delta"] == [mechanism.delta(epsilon) for epsilon in points["epsilon"]]
    assert sorted(points["delta"], reverse=True) == points["delta"]
    assert points["delta"][-1] <= 1e-9
    assert points["epsilon"][-1] <= mechanism.epsilon


@pytest.mark.parametrize(
    ("guarantee", "words"),
    [
        (read_guarantee(25.0), ["Epsilon 25"]),
        (read_guarantee(1.0, 0.05), ["Delta 0.05"]),
        (read_guarantee(25.0, 0.05), ["Delta 0.05", "Epsilon 25"]),
        (read_guarantee(None, None, 30.0), ["Rho 30"]),
        (read_guarantee(20.0, 0.001), []),
    ],
)
def test_weak_guarantees_are_noted_where_the_library_warns(guarantee, words):
    notes = weaknesses(guarantee)
    assert [note.split(" allow")[0].split(" would")[0] for note in notes] == words
