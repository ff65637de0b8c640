"""What holds for every mechanism; what is particular to one is tested beside it."""

import contextlib
import copy
import dataclasses
import math
import pickle
from typing import Any

import numpy as np
import pytest

import inbounds as ib
from inbounds import (
    L1,
    L2,
    BoundedGaussian,
    BoundedLaplace,
    Box,
    ClampedGaussian,
    ClampedLaplace,
    LInf,
    PerCoordinate,
)
from inbounds.errors import ArgumentError, ArgumentTypeError, InBoundsError
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.sampling.entropy import SeededEntropy

KINDS: list[Any] = [BoundedGaussian, BoundedLaplace, ClampedGaussian, ClampedLaplace]
CLAMPED = (ClampedGaussian, ClampedLaplace)
SCALE_NAMES = {kind: "sigma" if "Gaussian" in kind.__name__ else "scale" for kind in KINDS}
each_kind = pytest.mark.parametrize("kind", KINDS)

OF_VALUES = ["release", "mean", "bias", "variance", "mse", "mass_at_bounds"]
OF_X_AND_VALUES = ["pdf", "cdf", "quantile"]
METHODS = [*OF_VALUES, *OF_X_AND_VALUES, "interval"]
each_method = pytest.mark.parametrize("method", METHODS)


def interval(kind: Any) -> Any:
    return kind(Box(0, 10), 1.0, 2.0)


def plane(kind: Any) -> Any:
    return kind(Box([0, 1], [10, 9]), PerCoordinate([4, 2]), [5.0, 0.5])


def call(mechanism: Mechanism, method: str, values: Any) -> Any:
    if method in OF_X_AND_VALUES:
        return getattr(mechanism, method)(0.5, values)
    if method == "interval":
        return mechanism.output_interval(values, 0.9)
    return getattr(mechanism, method)(values)


def first(output: Any) -> Any:
    return output[0] if isinstance(output, tuple) else output


@each_kind
def test_the_noise_its_scale_and_its_sampler_are_public(kind: Any) -> None:
    one, several = interval(kind), plane(kind)
    assert SCALE_NAMES[kind] == one.noise.scale_name
    assert one.scale == getattr(one, SCALE_NAMES[kind]) == 2.0
    assert one.scales.tolist() == [2.0]
    assert several.scales.tolist() == np.asarray(several.scale).tolist() == [5.0, 0.5]
    drawn = several.sampler().draw(np.array([2.0, 3.0]), SeededEntropy(1))
    assert drawn.tolist() == several.release([2.0, 3.0], entropy=SeededEntropy(1)).tolist()


@each_kind
def test_epsilon_at_a_delta_is_the_inverse_of_delta(kind: Any) -> None:
    mechanism = interval(kind)
    epsilon = mechanism.epsilon_at(1e-5)
    assert mechanism.delta(epsilon) <= 1e-5 < mechanism.delta(epsilon * (1 - 1e-4))
    assert mechanism.epsilon_at(0.0) == mechanism.epsilon
    assert mechanism.epsilon_at(0.999) == 0
    with pytest.raises(ArgumentError, match=r"^delta must be"):
        mechanism.epsilon_at(-1e-9)


# Construction


def test_a_mechanism_without_a_law_cannot_be_made() -> None:
    with pytest.raises(TypeError):
        Mechanism(Box(0, 1), L2(1))  # type: ignore[abstract]


@each_kind
def test_a_mechanism_is_what_it_was_built_from(kind: Any) -> None:
    mechanism = interval(kind)
    scale = getattr(mechanism, SCALE_NAMES[kind])
    assert (mechanism.domain, mechanism.sensitivity, scale) == (Box(0, 10), L2(1), 2.0)
    assert type(scale) is float
    assert getattr(plane(kind), SCALE_NAMES[kind]).tolist() == [5.0, 0.5]


@each_kind
@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (0, ArgumentError),
        (-1, ArgumentError),
        (math.nan, ArgumentError),
        (math.inf, ArgumentError),
        ([], ArgumentError),
        ([1.0, 2.0, 3.0], ArgumentError),
        ([1.0, -1.0], ArgumentError),
        ("1", ArgumentTypeError),
        (None, ArgumentTypeError),
        (True, ArgumentTypeError),
        ([None, 1.0], ArgumentTypeError),
    ],
    ids=repr,
)
def test_a_bad_scale_is_refused_by_its_own_name(kind: Any, bad: Any, error: Any) -> None:
    with pytest.raises(error, match=rf"^{SCALE_NAMES[kind]} must"):
        kind(Box([0, 1], [10, 9]), 1.0, bad)


@each_kind
@pytest.mark.parametrize("fraction", [1e-80, 1e80])
def test_a_scale_out_of_all_proportion_is_refused(kind: Any, fraction: float) -> None:
    with pytest.raises(ArgumentError, match=rf"^{SCALE_NAMES[kind]} must be within a factor"):
        kind(Box(0, 10), 1.0, 10 * fraction)


@each_kind
def test_an_interval_has_one_scale_and_no_list(kind: Any) -> None:
    with pytest.raises(ArgumentError, match=rf"^{SCALE_NAMES[kind]} must be one number"):
        kind(Box(0, 10), 1.0, [2.0])


@each_kind
def test_box_and_sensitivity_are_refused_by_name(kind: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"^domain must be a Box"):
        kind((0, 1), 1.0, 2.0)
    with pytest.raises(ArgumentError, match=r"^domain must have widths"):
        kind(Box([0, 0], [1, 1e200]), 1.0, 2.0)
    with pytest.raises(ArgumentError, match=r"^sensitivity must"):
        kind(Box(0, 1), -1.0, 2.0)
    with pytest.raises(ArgumentError, match=r"^sensitivity must have one entry per coordinate"):
        kind(Box([0, 0], [1, 1]), PerCoordinate([1, 2, 3]), 2.0)


def calibrate(kind: Any, box: Any, sensitivity: Any, epsilon: Any, **more: Any) -> Any:
    if kind is ClampedGaussian:
        more = {"delta": 1e-6} | more
    return kind.calibrated(box, sensitivity, epsilon=epsilon, **more)


@each_kind
@pytest.mark.parametrize("bad", [0, -1.0, math.nan, math.inf, 1e-101, 1e101, "1", True])
def test_a_bad_epsilon_is_refused_by_name(kind: Any, bad: Any) -> None:
    with pytest.raises(InBoundsError, match=r"^epsilon must"):
        calibrate(kind, Box(0, 1), 1.0, bad)


@each_kind
def test_calibration_checks_box_and_sensitivity(kind: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"^domain must be a Box"):
        calibrate(kind, 3, 1.0, 1.0)
    with pytest.raises(ArgumentTypeError, match=r"^sensitivity must"):
        calibrate(kind, Box(0, 1), [1.0], 1.0)
    with pytest.raises(TypeError):
        kind.calibrated(Box(0, 1), 1.0, 1.0)
    with pytest.raises(TypeError):
        kind.calibrated(Box(0, 1), 1.0)


@each_kind
@pytest.mark.parametrize("sensitivity", [L1(2), L2(2), LInf(2), L2(3) & PerCoordinate([2.5, 2])])
def test_calibrated_mechanisms_of_every_sensitivity_keep_their_promise(
    kind: Any, sensitivity: Any
) -> None:
    for epsilon in (0.05, 1.0, 20.0):
        mechanism = calibrate(kind, Box([0, 1], [10, 9]), sensitivity, epsilon)
        if kind is ClampedGaussian:
            assert mechanism.delta(epsilon) <= 1e-6
        else:
            assert epsilon * (1 - 1e-12) <= mechanism.epsilon <= epsilon
            assert mechanism.delta(epsilon) == 0


# Privacy


@each_kind
def test_epsilon_is_derived_and_cannot_be_stated(kind: Any) -> None:
    mechanism = interval(kind)
    with pytest.raises((AttributeError, TypeError)):
        mechanism.epsilon = 0.1
    with pytest.raises(TypeError):
        kind(Box(0, 10), 1.0, 2.0, epsilon=0.1)
    more = dataclasses.replace(mechanism, **{SCALE_NAMES[kind]: 4.0})
    assert 0 < more.epsilon < mechanism.epsilon
    assert type(mechanism.epsilon) is float


@each_kind
@pytest.mark.parametrize("bad", [-1e-9, math.nan, math.inf, "1", None])
def test_delta_refuses_a_bad_epsilon_by_name(kind: Any, bad: Any) -> None:
    with pytest.raises(InBoundsError, match=r"^epsilon must"):
        interval(kind).delta(bad)


@each_kind
@pytest.mark.parametrize("make", [interval, plane])
def test_delta_falls_from_below_one_to_zero_at_epsilon(kind: Any, make: Any) -> None:
    mechanism = make(kind)
    deltas = [
        mechanism.delta(mechanism.epsilon * fraction) for fraction in (0, 0.3, 0.6, 0.9, 1, 2)
    ]
    assert 0 < deltas[0] <= 1
    assert (np.diff(deltas) <= 0).all()
    assert deltas[-2:] == [0, 0]


def probabilities(mechanism: Any, values: np.ndarray, cells: int = 4000) -> np.ndarray:
    """P(output in cell) for each value: cells of equal width, and an atom at either end."""
    edges = np.linspace(mechanism.domain.lower, mechanism.domain.upper, cells + 1)
    below = mechanism.cdf(edges[:, None], values)
    low, high = mechanism.mass_at_bounds(values)
    below[-1] = 1 - high
    inside = np.diff(below, axis=0)
    return np.vstack([low, inside, high])


@each_kind
@pytest.mark.parametrize(("scale", "change"), [(0.3, 1.0), (2.0, 2.5), (6.0, 10.0), (30.0, 4.0)])
def test_no_pair_of_values_exceeds_epsilon_or_delta(kind: Any, scale: float, change: float) -> None:
    """Exact probabilities of 4000 cells and the atoms, for all pairs of a grid of values."""
    mechanism = kind(Box(0, 10), change, scale)
    values = np.linspace(0, 10, 41)
    chances = probabilities(mechanism, values)
    for epsilon in (0.0, mechanism.epsilon / 3, mechanism.epsilon * 0.9, mechanism.epsilon):
        if epsilon > 10:  # the rounding errors of cells would be multiplied by too much
            continue
        bound, worst = mechanism.delta(epsilon), 0.0
        for i in range(41):
            near = np.abs(values - values[i]) <= change + 1e-12
            gain = chances[:, [i]] - math.exp(epsilon) * chances[:, near]
            worst = max(worst, float(np.maximum(gain, 0).sum(axis=0).max()))
        assert worst <= bound + 1e-9


# Identity


@each_kind
@pytest.mark.parametrize("make", [interval, plane])
def test_copies_and_pickles_are_equal_and_work(kind: Any, make: Any) -> None:
    mechanism = make(kind)
    assert mechanism.epsilon > 0  # what is derived must not get in the way
    for twin in (
        pickle.loads(pickle.dumps(mechanism)),
        copy.copy(mechanism),
        copy.deepcopy(mechanism),
    ):
        assert twin == mechanism
        assert hash(twin) == hash(mechanism)
        assert repr(twin) == repr(mechanism)
        assert twin.epsilon == mechanism.epsilon
        assert twin.release(5.0 if make is interval else [5.0, 5.0]) is not None


def test_equality_is_that_of_what_a_mechanism_is() -> None:
    everything = [make(kind) for make in (interval, plane) for kind in KINDS]
    assert len(set(everything)) == len(everything)
    for kind in KINDS:
        assert interval(kind) == interval(kind)
        assert interval(kind) != kind(Box(0, 10), 1.0, 2.5)
        assert interval(kind) != kind(Box(0, 11), 1.0, 2.0)
        assert interval(kind) != kind(Box(0, 10), 1.5, 2.0)
        assert interval(kind) != 3
    assert ClampedGaussian(Box(0, 1), 1, 1.0) != BoundedGaussian(Box(0, 1), 1, 1.0)


@each_kind
def test_repr_is_what_a_person_would_write(kind: Any) -> None:
    name, scale = kind.__name__, SCALE_NAMES[kind]
    assert repr(interval(kind)) == f"{name}(Box(0, 10), L2(1), {scale}=2)"
    expected = f"{name}(Box([0, 1], [10, 9]), PerCoordinate([4, 2]), {scale}=[5, 0.5])"
    assert repr(plane(kind)) == expected


@each_kind
def test_nothing_can_be_changed(kind: Any) -> None:
    mechanism = plane(kind)
    for name in ("domain", "sensitivity", SCALE_NAMES[kind]):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(mechanism, name, 1)
    with pytest.raises(ValueError, match="read-only"):
        getattr(mechanism, SCALE_NAMES[kind])[0] = 1
    given = np.array([5.0, 0.5])
    later = kind(Box([0, 1], [10, 9]), 1.0, given)
    given[0] = 99
    assert getattr(later, SCALE_NAMES[kind])[0] == 5


# Shapes and values


@each_kind
@each_method
def test_numbers_give_numbers_and_arrays_keep_their_shape(kind: Any, method: str) -> None:
    mechanism = interval(kind)
    assert type(first(call(mechanism, method, 5.0))) in (float, int)
    for shape in ((0,), (3,), (2, 3), (1, 1, 4)):
        assert np.shape(first(call(mechanism, method, np.full(shape, 5.0)))) == shape


@each_kind
@each_method
def test_on_a_box_the_last_axis_is_one_output(kind: Any, method: str) -> None:
    mechanism = plane(kind)
    for shape in ((2,), (3, 2), (0, 2)):
        assert np.shape(first(call(mechanism, method, np.full(shape, 5.0)))) == shape
    for wrong in (5.0, [5.0], [1.0, 2.0, 3.0], np.ones((2, 3))):
        with pytest.raises(ArgumentError, match=r"^values must have a last axis of length 2"):
            call(mechanism, method, wrong)


@each_kind
def test_each_coordinate_of_a_box_has_the_law_of_its_interval(kind: Any) -> None:
    values = np.array([[2.0, 3.0], [9.0, 1.0]])
    whole = plane(kind)
    for i, (low, high, scale) in enumerate(((0, 10, 5.0), (1, 9, 0.5))):
        alone = kind(Box(low, high), 1.0, scale)
        for method in ("mean", "bias", "variance", "mse", "mass_at_bounds"):
            np.testing.assert_allclose(
                first(call(whole, method, values))[:, i], first(call(alone, method, values[:, i]))
            )


@each_kind
@each_method
@pytest.mark.parametrize(
    "bad", [math.nan, math.inf, [1.0, math.nan], "1234.5", None, True, [None, 1234.5], 1234j]
)
def test_bad_values_are_refused_by_name_and_never_shown(kind: Any, method: str, bad: Any) -> None:
    with pytest.raises(InBoundsError, match=r"^values must") as caught:
        call(interval(kind), method, bad)
    assert "1234" not in str(caught.value)
    assert "got values=" not in str(caught.value)


@each_kind
@each_method
def test_values_outside_are_released_as_the_nearest_bound(kind: Any, method: str) -> None:
    mechanism = interval(kind)
    for outside, bound in ((-1e300, 0.0), (-1e-9, 0.0), (10.1, 10.0), (1e300, 10.0)):
        if method == "release":
            drawn = [mechanism.release(v, entropy=SeededEntropy(4)) for v in (outside, bound)]
            assert drawn[0] == drawn[1]
        else:
            assert call(mechanism, method, outside) == call(mechanism, method, bound)


@each_kind
def test_public_arguments_are_refused_by_name(kind: Any) -> None:
    mechanism = interval(kind)
    for method, name in (("pdf", "x"), ("cdf", "x"), ("quantile", "q")):
        with pytest.raises(ArgumentError, match=rf"^{name} must not contain NaN"):
            getattr(mechanism, method)(math.nan, 5.0)
        with pytest.raises(ArgumentError, match=rf"^{name} must have a shape that broadcasts"):
            getattr(mechanism, method)([0.1, 0.2], [1.0, 2.0, 3.0])
    with pytest.raises(ArgumentError, match=r"^q must be between 0 and 1"):
        mechanism.quantile(1.1, 5.0)
    for bad in (0, 1, math.nan, "0.9", [0.9]):
        with pytest.raises(InBoundsError, match=r"^level must"):
            mechanism.output_interval(5.0, bad)
    with pytest.raises(ArgumentTypeError, match=r"^entropy must"):
        mechanism.release(5.0, entropy=3)


# Releases and distributions


@each_kind
@pytest.mark.parametrize("size", [9, 3000])
def test_outputs_stay_in_the_box_and_on_the_grid(kind: Any, size: int) -> None:
    steps = kind(Box(0, 10, step=1), 1.0, 20.0)
    for value in (0.0, 5.0, 10.0):
        outputs = steps.release(np.full(size, value), entropy=SeededEntropy(1))
        assert outputs.dtype.kind == "i"
        assert ((outputs >= 0) & (outputs <= 10)).all()
        plain = interval(kind).release(np.full(size, value), entropy=SeededEntropy(1))
        assert ((plain >= 0) & (plain <= 10)).all()
        if size == 3000:  # half the outputs to a bound, 8 % at most of those to the middle
            at_bounds = float(((plain == 0) | (plain == 10)).mean())
            assert (at_bounds > 0.2) == (kind in CLAMPED and value != 5.0)


@each_kind
def test_the_same_seed_gives_the_same_outputs_and_another_seed_others(kind: Any) -> None:
    values = np.full(20, 5.0)
    drawn = [interval(kind).release(values, entropy=SeededEntropy(s)) for s in (7, 7, 8)]
    assert (drawn[0] == drawn[1]).all()
    assert (drawn[0] != drawn[2]).any()
    assert (interval(kind).release(values) != interval(kind).release(values)).any()


@pytest.mark.parametrize("kind", KINDS[1:])
@pytest.mark.parametrize("box", [Box(-1e300, 1e300), Box(0, 1e-300), Box(1e9, 1e9 + 1e-6)])
@pytest.mark.parametrize("epsilon", [1e-99, 1e-6, 1.0, 1e6, 1e99])
def test_what_doubles_cannot_express_is_released_or_refused_but_never_crashes(
    kind: Any, box: Box, epsilon: float
) -> None:
    with contextlib.suppress(InBoundsError):
        mechanism = calibrate(kind, box, float(box.widths[0]) / 3, epsilon)
        assert mechanism.epsilon > 0
        assert box.lower <= mechanism.release(box.lower) <= box.upper


def test_printing_a_mechanism_shows_what_repr_shows():
    mechanism = BoundedGaussian(Box(0, 1), 1, sigma=1.0)
    assert str(mechanism) == repr(mechanism)
    assert not hasattr(mechanism, "__dict__")


@pytest.mark.parametrize("method", ["release", "mean", "bias", "variance", "mse", "mass_at_bounds"])
def test_more_values_than_memory_holds_are_refused_at_once(method: str) -> None:
    mechanism = BoundedGaussian(Box(0, 1), 1, sigma=1.0)
    with pytest.raises(ArgumentError, match=r"^values must fit in memory: .* GiB"):
        getattr(mechanism, method)(np.broadcast_to(0.5, 10**12))


def test_points_beside_values_must_fit_in_memory_together() -> None:
    mechanism = BoundedGaussian(Box(0, 1), 1, sigma=1.0)
    column, row = np.broadcast_to(0.5, (10**6, 1)), np.broadcast_to(0.5, 10**6)
    for call in (mechanism.pdf, mechanism.cdf):
        with pytest.raises(ArgumentError, match=r"^x, broadcast with values, must fit in memory"):
            call(column, row)


def test_what_only_some_mechanisms_have_is_said_to_be_theirs() -> None:
    mechanism = ib.ClampedLaplace(Box(0, 1), 1, scale=1.0)
    for name, words in (
        ("certificate", "BoundedGaussian, BoundedLaplace and Optimal"),
        ("sigma", "scale"),
    ):
        assert not hasattr(mechanism, name)
        with pytest.raises(AttributeError, match=f"ClampedLaplace has no attribute.*{words}"):
            getattr(mechanism, name)


@each_kind
@pytest.mark.parametrize("name", ["domain", "epsilon", "foo"])
def test_nothing_of_a_mechanism_can_be_set_or_deleted(kind: Any, name: str) -> None:
    mechanism = interval(kind)
    with pytest.raises(dataclasses.FrozenInstanceError, match=f"^cannot change '{name}'"):
        setattr(mechanism, name, 1.0)
    with pytest.raises(dataclasses.FrozenInstanceError, match=f"^cannot change '{name}'"):
        delattr(mechanism, name)


@each_kind
@pytest.mark.parametrize("wrong", ["no", None, 0, 1.0])
def test_whether_time_may_tell_is_yes_or_no(kind: Any, wrong: Any) -> None:
    mechanism = interval(kind)
    mechanism.release(3.0, equal_time=False)
    with pytest.raises(ArgumentTypeError, match=r"^equal_time must be True or False"):
        mechanism.release(3.0, equal_time=wrong)


@each_kind
@pytest.mark.parametrize("equal_time", [True, False])
def test_a_sampler_is_made_once(kind: Any, equal_time: bool) -> None:
    mechanism = interval(kind)
    sampler = mechanism._kept_sampler(equal_time)
    assert sampler.equal_time is equal_time
    assert mechanism._kept_sampler(equal_time) is sampler


@each_kind
@pytest.mark.parametrize("char", "bhilqBHILQefd")
def test_numpys_numbers_give_what_pythons_numbers_give(kind: Any, char: str) -> None:
    mechanism, number = interval(kind), np.dtype(char).type(3)
    outputs = [mechanism.release(x, entropy=SeededEntropy(5)) for x in (number, number.item())]
    assert type(outputs[0]) is float
    assert outputs[0] == outputs[1]


def test_numpys_numbers_that_are_not_finite_are_refused() -> None:
    for number in (np.float16("nan"), np.float32("inf"), np.float64("-inf")):
        with pytest.raises(ArgumentError, match=r"^values must be finite"):
            interval(BoundedGaussian).release(number)
