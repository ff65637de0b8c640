import copy
import math
import pickle
from dataclasses import FrozenInstanceError
from typing import Any

import mpmath
import numpy as np
import pytest

from inbounds import L1, L2, LInf, PerCoordinate
from inbounds.errors import ArgumentError, ArgumentTypeError, InBoundsError
from inbounds.reach import Reach
from inbounds.sensitivity import Sensitivity, as_sensitivity

WIDTHS = np.array([10.0, 8.0])
NUMBERS = [L1, L2, LInf]
SAMPLES = [
    L1(1),
    L2(1),
    LInf(1),
    PerCoordinate(1),
    PerCoordinate([1, 2]),
    L2(4) & PerCoordinate([4, 2]),
    L1(4) & LInf(2),
]
BAD_VALUES = [0, -1, -0.0, math.nan, math.inf, -math.inf, 10**400]
BAD_TYPES = ["1", b"1", None, True, 1j, object(), {"a": 1}]


@pytest.mark.parametrize("kind", [*NUMBERS, PerCoordinate, as_sensitivity])
@pytest.mark.parametrize("bad", BAD_VALUES, ids=lambda value: repr(value)[:9])
def test_a_bound_that_is_not_positive_and_finite_is_a_value_error(kind: Any, bad: float) -> None:
    with pytest.raises(ArgumentError, match=r"^sensitivity must"):
        kind(bad)


@pytest.mark.parametrize("kind", [*NUMBERS, PerCoordinate, as_sensitivity])
@pytest.mark.parametrize("bad", BAD_TYPES, ids=lambda value: type(value).__name__)
def test_a_bound_that_is_not_a_number_is_a_type_error(kind: Any, bad: object) -> None:
    with pytest.raises(ArgumentTypeError, match=r"^sensitivity must"):
        kind(bad)


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("bad", [[1.0], (1, 2), np.ones(2), []], ids=repr)
def test_a_norm_is_bounded_by_one_number(kind: Any, bad: object) -> None:
    with pytest.raises(ArgumentTypeError, match=r"^sensitivity must be a real number"):
        kind(bad)


@pytest.mark.parametrize(
    "bad", [[], [[1.0]], np.ones((2, 2)), [1, 0], [1, -1], [1, math.nan], [10**400]]
)
def test_bounds_per_coordinate_are_a_positive_vector(bad: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^sensitivity must "):
        PerCoordinate(bad)


@pytest.mark.parametrize("bad", [["a", "b"], [None, 1], [1j], [1, [2, 3]], [True]], ids=repr)
def test_bounds_per_coordinate_are_numbers(bad: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"^sensitivity must be"):
        PerCoordinate(bad)


@pytest.mark.parametrize("bad", [[4, 2], (4,), np.array([4.0]), [], [[1]], [1, [2, 3]]], ids=repr)
def test_a_bare_sequence_is_refused_with_the_remedy(bad: object) -> None:
    with pytest.raises(ArgumentTypeError, match=r"^sensitivity must(.|\n)*PerCoordinate\("):
        as_sensitivity(bad)


@pytest.mark.parametrize("number", [2.5, np.float32(2.5), np.array(2.5)])
def test_a_bare_number_means_l2(number: object) -> None:
    assert as_sensitivity(number) == L2(2.5)


@pytest.mark.parametrize("sensitivity", SAMPLES, ids=repr)
def test_named_kinds_pass_through(sensitivity: Sensitivity) -> None:
    assert as_sensitivity(sensitivity) is sensitivity


@pytest.mark.parametrize("sensitivity", SAMPLES, ids=repr)
def test_copies_and_pickles_are_equal(sensitivity: Sensitivity) -> None:
    for twin in (copy.copy(sensitivity), copy.deepcopy(sensitivity)):
        assert twin == sensitivity
    twin = pickle.loads(pickle.dumps(sensitivity))
    assert twin == sensitivity
    assert hash(twin) == hash(sensitivity)
    assert repr(twin) == repr(sensitivity)


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda sensitivity: pickle.loads(pickle.dumps(sensitivity))]
)
def test_the_bounds_of_a_copy_are_read_only_too(copied: Any) -> None:
    assert not copied(PerCoordinate([4, 2])).bound.flags.writeable


def test_equality_is_that_of_kind_and_bound() -> None:
    assert len(set(SAMPLES)) == len(SAMPLES)
    assert L2(1) == L2(1.0) == L2(np.float32(1))
    assert hash(L2(1)) == hash(L2(1.0))
    assert L2(1) != L2(2)
    assert L2(1) != L1(1)
    assert L2(1) != 1
    assert PerCoordinate([4, 2]) == PerCoordinate(np.array([4.0, 2.0]))
    assert hash(PerCoordinate([4, 2])) == hash(PerCoordinate((4.0, 2.0)))
    assert PerCoordinate([4, 2]) != PerCoordinate([2, 4])
    assert L2(4) & LInf(2) == L2(4) & LInf(2)
    assert hash(L2(4) & LInf(2)) == hash(L2(4) & LInf(2))
    assert L2(4) & LInf(2) != L1(4) & LInf(2)
    assert L2(4) & LInf(2) != L2(4)


@pytest.mark.parametrize(
    ("sensitivity", "text"),
    [
        (L2(2.5), "L2(2.5)"),
        (L1(1), "L1(1)"),
        (LInf(1e-3), "LInf(0.001)"),
        (PerCoordinate([4, 2]), "PerCoordinate([4, 2])"),
        (PerCoordinate(3), "PerCoordinate(3)"),
        (L2(4) & PerCoordinate([4, 2]), "L2(4) & PerCoordinate([4, 2])"),
        (LInf(1) & PerCoordinate([4, 2]) & L1(3), "LInf(1) & PerCoordinate([4, 2]) & L1(3)"),
    ],
)
def test_repr_is_what_a_person_would_write(sensitivity: Sensitivity, text: str) -> None:
    assert repr(sensitivity) == text
    names = {kind.__name__: kind for kind in (*NUMBERS, PerCoordinate)}
    assert eval(text, names) == sensitivity


def test_nothing_can_be_changed() -> None:
    for sensitivity in (*(kind(1) for kind in NUMBERS), PerCoordinate([1, 2])):
        with pytest.raises(FrozenInstanceError):
            sensitivity.bound = 5.0
    with pytest.raises(FrozenInstanceError):
        (L2(1) & LInf(1)).parts = ()  # type: ignore[attr-defined]
    with pytest.raises((AttributeError, TypeError)):
        L2(1).colour = "red"  # type: ignore[attr-defined]
    bound = PerCoordinate([1, 2]).bound
    assert isinstance(bound, np.ndarray)
    with pytest.raises(ValueError, match="read-only"):
        bound[0] = 5.0


def test_later_changes_of_the_callers_array_do_not_matter() -> None:
    given = np.array([4.0, 2.0])
    sensitivity = PerCoordinate(given)
    given[:] = 9.0
    assert sensitivity == PerCoordinate([4, 2])


@pytest.mark.parametrize(
    ("left", "right"),
    [(L2(1), L1(1)), (L1(1), L2(1)), (L2(1), L2(2)), (L1(1) & LInf(1), L2(3)), (L2(1), L2(1))],
)
def test_two_norms_cannot_be_combined(left: Sensitivity, right: Sensitivity) -> None:
    with pytest.raises(ArgumentError, match=r"^sensitivity must combine at most one of L1 and L2"):
        _ = left & right


@pytest.mark.parametrize("other", [3, "L2", None, [4, 2]])
def test_only_sensitivities_can_be_combined(other: Any) -> None:
    with pytest.raises(TypeError):
        _ = L2(1) & other
    with pytest.raises(TypeError):
        _ = other & L2(1)


def test_combining_is_associative() -> None:
    a, b, c = L2(4), LInf(3), PerCoordinate([5, 1])
    assert (a & b) & c == a & (b & c)


@pytest.mark.parametrize(
    ("sensitivity", "has_caps"),
    [(L1(1), False), (L2(1), False), (LInf(1), True), (PerCoordinate(1), True), (SAMPLES[5], True)],
)
def test_caps_are_bounds_on_coordinates_one_by_one(
    sensitivity: Sensitivity, has_caps: bool
) -> None:
    assert sensitivity.has_caps is has_caps


@pytest.mark.parametrize(
    ("sensitivity", "caps", "order", "radius"),
    [
        (L2(3), [math.inf, math.inf], 2, 3),
        (L1(3), [3, 3], 1, 3),
        (LInf(3), [3, 3], None, math.inf),
        (PerCoordinate(3), [3, 3], None, math.inf),
        (PerCoordinate([4, 20]), [4, 20], None, math.inf),
        (L2(3) & PerCoordinate([1, 20]), [1, 20], 2, 3),
        (LInf(3) & PerCoordinate([1, 20]), [1, 3], None, math.inf),
        (PerCoordinate([1, 20]) & L1(30) & LInf(7), [1, 7], 1, 30),
    ],
)
def test_limits_are_what_was_stated(
    sensitivity: Sensitivity, caps: list[float], order: int | None, radius: float
) -> None:
    stated = sensitivity.limits(2)
    assert stated.caps.tolist() == caps
    assert stated.order == order
    assert stated.radius == radius


@pytest.mark.parametrize(
    ("sensitivity", "caps", "order", "radius", "diameter"),
    [
        (L2(3), [10, 8], 2, 3, 3),
        (L2(9), [10, 8], 2, 9, 9),
        (L2(13), [10, 8], None, math.inf, math.hypot(10, 8)),  # no two points are that far apart
        (L1(9), [9, 8], 1, 9, 9),
        (L1(18), [10, 8], None, math.inf, math.hypot(10, 8)),
        (LInf(9), [9, 8], None, math.inf, math.hypot(9, 8)),
        (LInf(99), [10, 8], None, math.inf, math.hypot(10, 8)),
        (L2(4) & PerCoordinate([4, 2]), [4, 2], 2, 4, 4),
        (L2(5) & PerCoordinate([4, 2]), [4, 2], None, math.inf, math.hypot(4, 2)),
        (L1(6) & PerCoordinate([4, 2]), [4, 2], None, math.inf, math.hypot(4, 2)),
        (L1(5.5) & PerCoordinate([4, 2]), [4, 2], 1, 5.5, math.hypot(4, 2)),
    ],
)
def test_within_a_box_the_norm_counts_only_if_it_binds(
    sensitivity: Sensitivity, caps: list[float], order: int | None, radius: float, diameter: float
) -> None:
    reach = sensitivity.within(WIDTHS)
    assert reach.caps.tolist() == caps
    assert reach.order == order
    assert reach.radius == radius
    assert reach.diameter == pytest.approx(diameter, rel=1e-15, abs=0)


@pytest.mark.parametrize(
    "sensitivity", [L1(3), L2(3), LInf(3), PerCoordinate(3), PerCoordinate([3])]
)
def test_on_one_coordinate_every_kind_means_the_same(sensitivity: Sensitivity) -> None:
    for width, cap in ((10.0, 3.0), (2.0, 2.0)):
        reach = sensitivity.within(np.array([width]))
        assert reach.caps.tolist() == [cap]
        assert reach.order is None
        assert reach.diameter == cap


@pytest.mark.parametrize("length", [2, 4])
def test_bounds_per_coordinate_must_fit_the_box(length: int) -> None:
    message = f"^sensitivity must have one entry per coordinate .*got {length} entries for 3"
    for sensitivity in (PerCoordinate([1] * length), L2(1) & PerCoordinate([1] * length)):
        with pytest.raises(ArgumentError, match=message) as caught:
            sensitivity.limits(3)
        assert isinstance(caught.value, InBoundsError)


def test_changes_too_small_for_arithmetic_are_enlarged_never_lost() -> None:
    reach = LInf(5e-324).within(WIDTHS)
    assert (reach.caps > 0).all()
    assert (reach.caps >= 5e-324).all()
    assert (reach.caps / WIDTHS < 1e-70).all()
    ordinary = LInf(1e-60).within(WIDTHS)
    assert ordinary.caps.tolist() == [1e-60, 1e-60]


def test_the_widths_of_the_caller_are_left_alone() -> None:
    widths = WIDTHS.copy()
    L2(3).within(widths)
    LInf(99).within(widths)
    assert (widths == WIDTHS).all()


@pytest.mark.parametrize(
    ("sensitivity", "total"),
    [
        (L1(4), 4.0),
        (L1(99), 18.0),
        (LInf(3), 6.0),
        (PerCoordinate([4, 2]), 6.0),
        (L1(5) & PerCoordinate([4, 2]), 5.0),
        (L2(4), 4 * math.sqrt(2)),
        (L2(99), 18.0),
        (L2(5) & PerCoordinate([9, 3]), 3.0 + 4.0),
    ],
)
def test_the_total_is_the_largest_sum_of_changes(sensitivity: Sensitivity, total: float) -> None:
    computed = sensitivity.within(WIDTHS).total
    assert total <= computed <= total * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_no_change_in_a_ball_adds_up_to_more_than_the_total_and_one_does(seed: int) -> None:
    generator = np.random.default_rng(seed)
    size = int(generator.integers(2, 30))
    caps = 10 ** generator.uniform(-3, 1, size)
    radius = float(np.linalg.norm(caps) * generator.uniform(0.01, 1))
    total = Reach(caps, 2, radius).total
    for _ in range(50):
        change = caps * generator.random(size) ** generator.choice([0.1, 1, 5])
        change *= min(1.0, radius / float(np.linalg.norm(change)))
        assert change.sum() <= total
    low, high = 0.0, float(caps.max())
    for _ in range(100):  # the level at which equal changes, cut by the caps, fill the ball
        middle = (low + high) / 2
        inside = float(np.linalg.norm(np.minimum(caps, middle))) <= radius
        low, high = (middle, high) if inside else (low, middle)
    assert np.minimum(caps, low).sum() == pytest.approx(total, rel=1e-12)


def test_the_total_of_very_many_coordinates_errs_on_the_private_side() -> None:
    """A running sum of 10⁵ squares has lost some digits; the margin covers them."""
    caps = np.random.default_rng(0).uniform(0.5, 1, 100_000)
    radius = float(np.linalg.norm(caps)) * 0.999
    total = Reach(caps, 2, radius).total
    order = np.sort(caps)
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        inside = math.fsum((np.minimum(order, middle) ** 2).tolist()) <= radius * radius
        low, high = (middle, high) if inside else (low, middle)
    exact = math.fsum(np.minimum(order, low).tolist())
    assert exact <= total <= exact * (1 + 1e-9)


def test_a_ball_that_barely_binds_has_a_total_no_larger_than_all_caps() -> None:
    caps = np.array([1e-6, 1e-3, 1.0])
    radius = math.nextafter(float(np.linalg.norm(caps)), 0)
    assert Reach(caps, 2, radius).total <= math.fsum(caps.tolist())


def test_sums_and_norms_of_many_equal_caps_are_right_to_the_last_digit() -> None:
    reach = Reach(np.full(100_000, 0.1), None, math.inf)
    assert reach.total == pytest.approx(10_000, rel=3e-16)
    assert reach.diameter == pytest.approx(0.1 * math.sqrt(100_000), rel=3e-16)


def test_a_number_that_cannot_be_read_exactly_is_refused_not_rounded() -> None:
    """The nearest double of two thirds is below it, so a sensitivity of it would be too small."""
    with mpmath.workprec(200), pytest.raises(ArgumentTypeError, match=r"^sensitivity must be"):
        L2(mpmath.mpf(2) / 3)


def test_a_reach_in_other_units_allows_the_same_changes() -> None:
    reach = Reach(np.array([3.0, 0.5]), 1, 3.25) / 0.25
    assert (reach.caps.tolist(), reach.order, reach.radius) == ([12.0, 2.0], 1, 13.0)
