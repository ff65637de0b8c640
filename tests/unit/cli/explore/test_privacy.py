import math

import pytest

import inbounds as ib
from inbounds.cli.arguments import read_guarantee
from inbounds.cli.explore.privacy import curve, risk, weaknesses

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


def test_odds_grow_by_the_factor_of_epsilon():
    m = ib.Window(BOX, 120, epsilon=0.7)
    result = risk(m, read_guarantee(0.7))
    assert result["odds"] == math.exp(0.7)
    for before, after in result["rows"]:
        assert after / (1 - after) == pytest.approx(math.exp(0.7) * before / (1 - before))
    assert "at most 66.9 % sure after" in result["sentence"]  # 66.82, which is not below 66.8
    assert "but for" not in result["sentence"]


def test_a_delta_and_a_rho_are_part_of_the_sentence():
    m = ib.BoundedGaussian.calibrated(BOX, 2.5, epsilon=1.0, delta=1e-6)
    text = risk(m, read_guarantee(1.0, 1e-6))["sentence"]
    assert text.endswith("(worst case). This holds but for a probability of about 1e-06.")
    m = ib.BoundedGaussian.calibrated(BOX, 2.5, rho=0.1)
    result = risk(m, read_guarantee(None, None, 0.1))
    assert result["odds"] == math.exp(m.epsilon_at(1e-6))
    assert "and delta 1e-06 that rho 0.1 gives here. This holds but for" in result["sentence"]


def test_a_mechanism_that_is_pure_at_the_same_epsilon_needs_no_exception():
    m = ib.Window(BOX, 120, epsilon=1.0)
    assert "but for" not in risk(m, read_guarantee(1.0, 1e-6))["sentence"]


def test_a_large_epsilon_has_a_sentence_and_perhaps_no_odds():
    m = ib.Window(BOX, 120, epsilon=1.0)
    assert risk(m, read_guarantee(800.0))["odds"] is None
    result = risk(m, read_guarantee(90.0))
    assert "can be all but certain after seeing" in result["sentence"]
    assert all(0 < after <= 1 for _, after in result["rows"])


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
