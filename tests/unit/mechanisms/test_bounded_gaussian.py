import contextlib
import copy
import dataclasses
import math
import pickle
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from scipy import stats

from inbounds import L1, L2, BoundedGaussian, Box, LInf, PerCoordinate
from inbounds.errors import ArgumentError, ArgumentTypeError, InBoundsError
from inbounds.sampling.entropy import SeededEntropy

INTERVAL = BoundedGaussian(Box(0, 10), 1.0, 2.0)
PLANE = BoundedGaussian(Box([0, 1], [10, 9]), L2(4), 5.0)
MIXED = BoundedGaussian(Box([0, 1], [10, 9]), PerCoordinate([4, 2]), [5.0, 0.5])
COUNTS = BoundedGaussian(Box(0, 120, step=1), 120, 40.0)
SAMPLES = {
    "interval": INTERVAL,
    "plane": PLANE,
    "mixed": MIXED,
    "counts": COUNTS,
    "intersection": BoundedGaussian(Box(0, [1, 2]), L1(1) & LInf(0.7), 0.4),
    "calibrated": BoundedGaussian.calibrated(Box(0, 1), 0.1, epsilon=1.0),
    "by width": BoundedGaussian.calibrated(Box(0, [1, 9]), L2(1), epsilon=1.0, scaling="width"),
}
each = pytest.mark.parametrize("mechanism", SAMPLES.values(), ids=SAMPLES.keys())

OF_VALUES = ["release", "mean", "bias", "variance", "mse"]
OF_X_AND_VALUES = ["pdf", "cdf", "quantile"]


def truth(mechanism: BoundedGaussian, value: float) -> Any:
    """The distribution of one output, by another library."""
    lower, upper, sigma = mechanism.domain.lower, mechanism.domain.upper, mechanism.sigma
    return stats.truncnorm((lower - value) / sigma, (upper - value) / sigma, value, sigma)


def call(mechanism: BoundedGaussian, method: str, values: Any) -> Any:
    if method in OF_X_AND_VALUES:
        return getattr(mechanism, method)(0.5, values)
    if method == "interval":
        return mechanism.output_interval(values, 0.9)
    return getattr(mechanism, method)(values)


# Construction


def test_a_mechanism_is_what_it_was_built_from() -> None:
    assert INTERVAL.domain == Box(0, 10)
    assert INTERVAL.sensitivity == L2(1)
    assert INTERVAL.sigma == 2.0
    assert type(INTERVAL.sigma) is float
    assert np.asarray(MIXED.sigma).tolist() == [5.0, 0.5]


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (0, ArgumentError),
        (-1, ArgumentError),
        (math.nan, ArgumentError),
        (math.inf, ArgumentError),
        (10**400, ArgumentError),
        ([], ArgumentError),
        ([[1.0, 2.0]], ArgumentError),
        ([1.0], ArgumentError),
        ([1.0, 2.0, 3.0], ArgumentError),
        ([1.0, 0.0], ArgumentError),
        ([1.0, -1.0], ArgumentError),
        ([1.0, math.nan], ArgumentError),
        ("1", ArgumentTypeError),
        (None, ArgumentTypeError),
        (True, ArgumentTypeError),
        (1j, ArgumentTypeError),
        ([None, 1.0], ArgumentTypeError),
        (np.array([1.0, "2"], dtype=object), ArgumentTypeError),
    ],
    ids=repr,
)
def test_a_bad_sigma_is_refused_by_name(bad: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"^sigma must") as caught:
        BoundedGaussian(Box([0, 0], [1, 1]), 0.5, bad)
    assert isinstance(caught.value, InBoundsError)


def test_an_interval_has_one_sigma_and_no_list() -> None:
    with pytest.raises(ArgumentError, match=r"^sigma must be one number"):
        BoundedGaussian(Box(0, 1), 0.5, [0.3])


def test_a_box_of_one_coordinate_may_have_a_list_of_one_sigma() -> None:
    listed = BoundedGaussian(Box([0], [1]), 0.5, [0.3])
    assert listed.epsilon == BoundedGaussian(Box(0, 1), 0.5, 0.3).epsilon


@pytest.mark.parametrize(
    ("width", "sigma"), [(1.0, 1e200), (1.0, 1e-200), (1e-300, 1e300), (1e300, 1e-300)]
)
def test_a_sigma_out_of_all_proportion_is_refused(width: float, sigma: float) -> None:
    with pytest.raises(ArgumentError, match=r"^sigma must be within a factor"):
        BoundedGaussian(Box(0, width), width / 2, sigma)


@pytest.mark.parametrize("bad", [None, (0, 1), [0, 1], 1.0, "Box", L2(1)])
def test_a_domain_must_be_a_box(bad: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"^domain must be a Box"):
        BoundedGaussian(bad, 1.0, 1.0)
    with pytest.raises(ArgumentTypeError, match=r"^domain must be a Box"):
        BoundedGaussian.calibrated(bad, 1.0, epsilon=1.0)


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (0, ArgumentError),
        (math.nan, ArgumentError),
        (PerCoordinate([1, 2, 3]), ArgumentError),
        ("1", ArgumentTypeError),
        (None, ArgumentTypeError),
        ([4, 2], ArgumentTypeError),
        (Box(0, 1), ArgumentTypeError),
    ],
    ids=repr,
)
def test_a_bad_sensitivity_is_refused_by_name(bad: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"^sensitivity must"):
        BoundedGaussian(PLANE.domain, bad, 1.0)
    with pytest.raises(error, match=r"^sensitivity must"):
        BoundedGaussian.calibrated(PLANE.domain, bad, epsilon=1.0)


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, 10**400])
def test_epsilon_must_be_positive(bad: float) -> None:
    with pytest.raises(ArgumentError, match=r"^epsilon must be"):
        BoundedGaussian.calibrated(Box(0, 1), 1.0, epsilon=bad)


@pytest.mark.parametrize("bad", ["1", True, 1j, [1.0], np.ones(2)])
def test_epsilon_must_be_a_number(bad: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"^epsilon must be a real number"):
        BoundedGaussian.calibrated(Box(0, 1), 1.0, epsilon=bad)


def test_epsilon_has_no_default_and_is_given_by_name() -> None:
    with pytest.raises(TypeError):
        BoundedGaussian.calibrated(Box(0, 1), 1.0)
    with pytest.raises(TypeError):
        BoundedGaussian.calibrated(Box(0, 1), 1.0, 1.0)  # type: ignore[misc]


@pytest.mark.parametrize("name", ["method", "scaling"])
@pytest.mark.parametrize("bad", ["nonsense", "", "Exact", None, 1, ["exact"]])
def test_an_unknown_choice_is_refused_with_the_choices(name: str, bad: Any) -> None:
    choices: dict[str, Any] = {name: bad}
    with pytest.raises(ArgumentError, match=rf"^{name} must be one of '"):
        BoundedGaussian.calibrated(Box(0, 1), 1.0, epsilon=1.0, **choices)


@pytest.mark.parametrize(
    ("box", "sensitivity", "epsilon"),
    [
        (Box(0, 1), L2(0.1), 5e-324),
        (Box(0, 1), L2(0.1), 1e300),
        (Box(0, [1, 2]), L2(0.1), 5e-324),
        (Box(0, [1, 2]), L2(0.1), 1e300),
        (Box(0, [1, 2]), L2(1e-320), 1.0),
        (Box(0, 1e200), L2(1e199), 1.0),
        (Box(0, [1e200, 2e200]), L2(1e199), 1.0),
        (Box(0, [1e-170, 2e-170]), L2(1e-171), 1.0),
    ],
)
def test_what_doubles_cannot_express_is_released_or_refused_but_never_crashes(
    box: Box, sensitivity: L2, epsilon: float
) -> None:
    mechanism = None
    with contextlib.suppress(InBoundsError):
        mechanism = BoundedGaussian.calibrated(box, sensitivity, epsilon=epsilon)
    assert mechanism is None or 0 < mechanism.epsilon <= epsilon


# Privacy is derived


@pytest.mark.parametrize("method", ["exact", "paper", "liu"])
@pytest.mark.parametrize("epsilon", [1e-6, 0.5, 1, 30.0])
def test_a_calibrated_mechanism_gives_what_was_asked(method: Any, epsilon: float) -> None:
    mechanism = BoundedGaussian.calibrated(
        MIXED.domain, MIXED.sensitivity, epsilon=epsilon, method=method
    )
    again = BoundedGaussian(mechanism.domain, mechanism.sensitivity, mechanism.sigma)
    assert mechanism.epsilon <= epsilon
    assert again.epsilon == pytest.approx(mechanism.epsilon, rel=1e-13, abs=0)
    assert mechanism.certificate().epsilon <= epsilon


def test_isotropic_noise_is_one_number_and_noise_by_width_one_per_coordinate() -> None:
    box = Box([0, 0], [120, 1e6])
    isotropic = BoundedGaussian.calibrated(box, 2.0, epsilon=1.0)
    by_width = BoundedGaussian.calibrated(box, 2.0, epsilon=1.0, scaling="width")
    assert type(isotropic.sigma) is float
    assert np.shape(by_width.sigma) == (2,)
    interval = BoundedGaussian.calibrated(Box(0, 1), 0.1, epsilon=1.0, scaling="width")
    assert interval == SAMPLES["calibrated"]


def test_epsilon_cannot_be_stated() -> None:
    with pytest.raises(TypeError):
        BoundedGaussian(Box(0, 1), 0.5, 1.0, 0.1)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        BoundedGaussian(Box(0, 1), 0.5, 1.0, epsilon=0.1)  # type: ignore[call-arg]


def test_replacing_sigma_derives_epsilon_anew() -> None:
    mechanism = BoundedGaussian.calibrated(Box(0, 1), 0.1, epsilon=1.0)
    louder = dataclasses.replace(mechanism, sigma=mechanism.sigma / 2)
    assert louder.epsilon > 2
    assert mechanism.epsilon <= 1.0


@each
def test_epsilon_is_a_plain_positive_float(mechanism: BoundedGaussian) -> None:
    assert type(mechanism.epsilon) is float
    assert 0 < mechanism.epsilon < math.inf


# Identity


@each
def test_copies_and_pickles_are_equal_and_work(mechanism: BoundedGaussian) -> None:
    for _ in range(2):  # before and after epsilon has been derived
        twins = (
            copy.copy(mechanism),
            copy.deepcopy(mechanism),
            pickle.loads(pickle.dumps(mechanism)),
        )
        for twin in twins:
            assert twin == mechanism
            assert hash(twin) == hash(mechanism)
            assert repr(twin) == repr(mechanism)
            assert twin.epsilon == mechanism.epsilon
        assert mechanism.epsilon > 0


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda mechanism: pickle.loads(pickle.dumps(mechanism))]
)
def test_the_sigma_of_a_copy_is_read_only_too(copied: Any) -> None:
    """Else a change of it would leave the epsilon already derived behind."""
    assert not copied(MIXED).sigma.flags.writeable


def test_equality_is_that_of_what_a_mechanism_is() -> None:
    assert len(set(SAMPLES.values())) == len(SAMPLES)
    assert BoundedGaussian(Box(0, 10), 1, 2) == INTERVAL
    assert hash(BoundedGaussian(Box(0, 10), L2(1), 2)) == hash(INTERVAL)
    assert BoundedGaussian(Box(0, 10), 1, 2.1) != INTERVAL
    assert BoundedGaussian(Box(0, 10), 1.1, 2) != INTERVAL
    assert BoundedGaussian(Box(0, 11), 1, 2) != INTERVAL
    assert INTERVAL != 2.0
    assert BoundedGaussian(Box([0, 1], [10, 9]), 4, [5, 5]) != PLANE  # sigma of another shape


def test_nothing_can_be_changed() -> None:
    for name in ("domain", "sensitivity", "sigma"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(MIXED, name, 1.0)
        with pytest.raises(dataclasses.FrozenInstanceError):
            delattr(MIXED, name)
    for name in ("epsilon", "colour"):
        with pytest.raises((AttributeError, TypeError)):
            setattr(MIXED, name, 0.1)
    assert isinstance(MIXED.sigma, np.ndarray)
    with pytest.raises(ValueError, match="read-only"):
        MIXED.sigma[0] = 100.0


def test_later_changes_of_the_callers_sigma_do_not_matter() -> None:
    sigma = np.array([5.0, 0.5])
    mechanism = BoundedGaussian(MIXED.domain, MIXED.sensitivity, sigma)
    sigma[:] = 99.0
    assert mechanism == MIXED


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("interval", "BoundedGaussian(Box(0, 10), L2(1), sigma=2)"),
        ("mixed", "BoundedGaussian(Box([0, 1], [10, 9]), PerCoordinate([4, 2]), sigma=[5, 0.5])"),
        ("counts", "BoundedGaussian(Box(0, 120, step=1), L2(120), sigma=40)"),
    ],
)
def test_repr_is_what_a_person_would_write(name: str, text: str) -> None:
    assert repr(SAMPLES[name]) == text
    names = {
        "BoundedGaussian": BoundedGaussian,
        "Box": Box,
        "L2": L2,
        "PerCoordinate": PerCoordinate,
    }
    assert eval(text, names) == SAMPLES[name]


# Shapes


@pytest.mark.parametrize("method", [*OF_VALUES, "denoise", *OF_X_AND_VALUES, "interval"])
@pytest.mark.parametrize("values", [4, 4.0, np.float32(4), np.int8(4), np.array(4.0), np.array(4)])
def test_a_number_gives_a_number(method: str, values: Any) -> None:
    result = call(INTERVAL, method, values)
    for part in result if method == "interval" else [result]:
        assert type(part) is float


@pytest.mark.parametrize("method", [*OF_VALUES, "denoise", *OF_X_AND_VALUES, "interval"])
@pytest.mark.parametrize("shape", [(1,), (5,), (2, 3), (1, 1), (2, 1, 2)])
def test_on_an_interval_an_array_gives_an_array_of_its_shape(
    method: str, shape: tuple[int, ...]
) -> None:
    result = call(INTERVAL, method, np.full(shape, 4.0))
    for part in result if method == "interval" else [result]:
        assert isinstance(part, np.ndarray)
        assert part.shape == shape
        assert part.dtype == np.float64


@pytest.mark.parametrize("method", [*OF_VALUES, "denoise", *OF_X_AND_VALUES])
@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
def test_on_an_interval_no_values_give_no_outputs(method: str, shape: tuple[int, ...]) -> None:
    assert call(INTERVAL, method, np.zeros(shape)).shape == shape
    assert call(INTERVAL, method, np.zeros(shape).tolist()).size == 0


@pytest.mark.parametrize("method", [*OF_VALUES, "denoise", *OF_X_AND_VALUES])
@pytest.mark.parametrize("shape", [(2,), (1, 2), (5, 2), (2, 3, 2)])
@pytest.mark.parametrize("mechanism", [PLANE, MIXED])
def test_on_a_box_the_last_axis_is_one_output(
    mechanism: BoundedGaussian, method: str, shape: tuple[int, ...]
) -> None:
    output = call(mechanism, method, np.full(shape, 4.0))
    assert isinstance(output, np.ndarray)
    assert output.shape == shape


@pytest.mark.parametrize("method", [*OF_VALUES, "denoise", *OF_X_AND_VALUES])
@pytest.mark.parametrize("shape", [(0, 2), (0, 3, 2), (3, 0, 2)])
def test_on_a_box_no_values_give_no_outputs(method: str, shape: tuple[int, ...]) -> None:
    assert call(PLANE, method, np.zeros(shape)).shape == shape


@pytest.mark.parametrize("method", [*OF_VALUES, "denoise", *OF_X_AND_VALUES, "interval"])
@pytest.mark.parametrize("values", [4.0, [4.0], [1.0, 2.0, 3.0], np.zeros((2, 3)), []])
def test_on_a_box_a_wrong_last_axis_is_refused_by_name(method: str, values: Any) -> None:
    name = "output" if method == "denoise" else "values"
    with pytest.raises(ArgumentError, match=rf"^{name} must have a last axis of length 2"):
        call(PLANE, method, values)


def test_a_list_is_as_good_as_an_array() -> None:
    outputs = INTERVAL.release([1, 2.5, 3])
    assert isinstance(outputs, np.ndarray)
    assert outputs.shape == (3,)
    assert INTERVAL.mean([[1, 2], [3, 4]]).shape == (2, 2)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "g", "i1", "i8", "u2", "u8", ">f8", ">i4"])
@pytest.mark.parametrize("repeats", [1, 700])  # a few values and many may go different ways
def test_every_kind_of_number_is_read(dtype: str, repeats: int) -> None:
    values = np.array([1, 4, 9] * repeats, dtype=dtype)
    plain = values.astype(float)
    assert (INTERVAL.mean(values) == INTERVAL.mean(plain)).all()
    first, second = (INTERVAL.release(v, entropy=SeededEntropy(1)) for v in (values, plain))
    assert (first == second).all()


@pytest.mark.parametrize("method", [*OF_VALUES, *OF_X_AND_VALUES])
def test_inputs_in_any_layout_are_read_and_left_alone(method: str) -> None:
    base = np.arange(24.0).reshape(4, 6) - 5
    views = [base.T, base[::-1, ::2], base[:, 3], np.broadcast_to(base[0], (3, 6))]
    for view in views:
        before = view.copy()
        view.flags.writeable = False
        output = call(INTERVAL, method, view)
        assert output.shape == view.shape
        assert (view == before).all()
        assert not np.shares_memory(output, base)
        if method != "release":
            assert (output == call(INTERVAL, method, before)).all()


# Private values


@pytest.mark.parametrize("method", [*OF_VALUES, *OF_X_AND_VALUES, "interval"])
@pytest.mark.parametrize(
    "values",
    [
        "123456.789",
        ["123456.789"],
        [123456.789, math.nan],
        [123456.789, math.inf],
        [123456.789, None],
        np.array([123456.789, None], dtype=object),
        complex(123456.789, 1),
        [123456.789, [1.0]],
        math.nan,
        math.inf,
        -math.inf,
        None,
        True,
    ],
    ids=lambda values: type(values).__name__,
)
def test_bad_values_are_refused_by_name_and_never_shown(method: str, values: Any) -> None:
    for mechanism in (INTERVAL, COUNTS):
        with pytest.raises(InBoundsError, match=r"^values must") as caught:
            call(mechanism, method, values)
        assert isinstance(caught.value, ValueError | TypeError)
        assert "1234" not in str(caught.value)
        assert "got values=" not in str(caught.value)


def test_a_wrong_shape_is_told_without_the_values() -> None:
    with pytest.raises(ArgumentError) as caught:
        PLANE.release([123456.789, 1.0, 2.0])
    assert "1234" not in str(caught.value)


@pytest.mark.parametrize("size", [(), (3,), (2000,)])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_one_value_that_is_not_finite_spoils_the_release(bad: float, size: tuple[int, ...]) -> None:
    values = np.full(size, 5.0)
    values[(-1,) * len(size)] = bad
    for given in (values, values.astype(np.float32)):
        with pytest.raises(ArgumentError, match=r"^values must be finite"):
            INTERVAL.release(given)


def test_a_value_beyond_doubles_is_released_as_the_bound() -> None:
    wide = np.finfo(np.longdouble).maxexp > 5000
    huge = np.longdouble(2) ** 5000 if wide else 2**5000
    assert INTERVAL.mean(huge) == INTERVAL.mean(10.0)
    assert INTERVAL.mean(-huge) == INTERVAL.mean(0.0)
    for values in (huge, [1.0, huge], np.full(2000, huge), 10**400, [Decimal("1e999"), 1]):
        assert (np.asarray(INTERVAL.release(values)) <= 10).all()


@pytest.mark.parametrize("outside", [-1e300, -1.0, -1e-300, 10.0 + 1e-12, 11.0, 1e300])
def test_a_value_outside_is_released_as_the_nearest_bound(outside: float) -> None:
    bound = 0.0 if outside < 5 else 10.0
    for seed in range(5):
        first, second = (
            INTERVAL.release(value, entropy=SeededEntropy(seed)) for value in (outside, bound)
        )
        assert first == second
    assert INTERVAL.mean(outside) == INTERVAL.mean(bound)
    assert INTERVAL.variance(outside) == INTERVAL.variance(bound)
    assert INTERVAL.mse(outside) == INTERVAL.mse(bound)
    assert INTERVAL.cdf(3.0, outside) == INTERVAL.cdf(3.0, bound)


def test_coordinates_outside_a_box_are_moved_one_by_one() -> None:
    outside, inside = [[-5.0, 4.0], [50.0, 0.0]], [[0.0, 4.0], [10.0, 1.0]]
    first, second = (PLANE.release(v, entropy=SeededEntropy(3)) for v in (outside, inside))
    assert (first == second).all()


# Releases


@each
def test_outputs_stay_in_the_box(mechanism: BoundedGaussian) -> None:
    box = mechanism.domain
    for place in (box.lower, box.upper, (np.asarray(box.lower) + box.upper) / 2):
        rows = np.tile(place, (20, 1)) if not box.is_interval else np.full(20, place)
        outputs = mechanism.release(rows)
        assert (outputs >= box.lower).all()
        assert (outputs <= box.upper).all()


def test_the_same_seed_gives_the_same_outputs_and_another_seed_others() -> None:
    values = np.linspace(0, 10, 20)
    first, again, other = (INTERVAL.release(values, entropy=SeededEntropy(s)) for s in (7, 7, 8))
    assert (first == again).all()
    assert (first != other).all()


def test_the_operating_system_gives_new_outputs_every_time() -> None:
    """An output has millions of possible values: 20 outputs all alike would be a wonder."""
    values = np.full(20, 5.0)
    assert (INTERVAL.release(values) != INTERVAL.release(values)).any()
    assert len(set(INTERVAL.release(values).tolist())) > 10


def test_a_copy_does_not_repeat_the_outputs_of_the_original() -> None:
    twin = pickle.loads(pickle.dumps(INTERVAL))
    assert (twin.release(np.full(9, 5.0)) != INTERVAL.release(np.full(9, 5.0))).any()


def test_every_element_gets_noise_of_its_own() -> None:
    assert len(set(INTERVAL.release(np.full(50, 5.0)).tolist())) > 40
    pairs = BoundedGaussian(Box([0, 0], [10, 10]), 1.0, 2.0).release(np.full((50, 2), 5.0))
    assert len({tuple(pair) for pair in pairs.tolist()}) > 40
    assert (pairs[:, 0] != pairs[:, 1]).any()


def test_a_whole_step_gives_integers() -> None:
    output = COUNTS.release(41.3)
    assert type(output) is int
    outputs = COUNTS.release([1.0, 41.3, 200.0])
    assert outputs.dtype == np.int64
    assert COUNTS.release([]).dtype == np.int64


def test_a_step_gives_multiples_counted_from_the_lower_bound() -> None:
    mechanism = BoundedGaussian(Box(-1, 1, step=0.25), 2, 1.0)
    outputs = mechanism.release(np.zeros(100))
    assert outputs.dtype == np.float64
    assert set(outputs.tolist()) <= {k / 4 for k in range(-4, 5)}
    assert len(set(outputs.tolist())) > 3


def test_coordinates_may_have_steps_of_their_own() -> None:
    mechanism = BoundedGaussian(Box([0, 0.5], [10, 9.5], step=[1, None]), 3, 4.0)
    outputs = mechanism.release(np.full((40, 2), 5.0))
    assert outputs.dtype == np.float64
    assert (outputs[:, 0] == np.round(outputs[:, 0])).all()
    assert (outputs[:, 1] != np.round(outputs[:, 1])).any()
    whole = BoundedGaussian(Box([0, 1], [10, 9], step=1), 3, 4.0)
    assert whole.release([5.0, 5.0]).dtype == np.int64


DRAWS = 20_000


@pytest.mark.parametrize(
    ("mechanism", "value"),
    [
        (INTERVAL, 4.0),
        (BoundedGaussian(Box(-5, -4), 0.5, 0.4), -5.0),
    ],
)
def test_outputs_have_the_mean_and_variance_promised_and_not_those_of_another_sigma(
    mechanism: BoundedGaussian, value: float
) -> None:
    """5.5 standard errors each way: a false alarm once in 2.6e7 for each of the two figures.

    Noise of another scale, 20 % less or more, must be told from the promised one.
    """
    outputs = mechanism.release(np.full(DRAWS, value), entropy=SeededEntropy(11))

    def looks_right(supposed: BoundedGaussian) -> bool:
        distribution = truth(supposed, value)
        mean, variance = supposed.mean(value), supposed.variance(value)
        fourth = distribution.expect(lambda x: (x - mean) ** 4)
        mean_error = math.sqrt(variance / DRAWS)
        variance_error = math.sqrt((fourth - variance**2) / DRAWS)
        squares = ((outputs - mean) ** 2).mean()
        return (
            abs(outputs.mean() - mean) < 5.5 * mean_error
            and abs(squares - variance) < 5.5 * variance_error
        )

    assert looks_right(mechanism)
    for factor in (0.8, 1.2):
        assert not looks_right(dataclasses.replace(mechanism, sigma=factor * mechanism.sigma))


# Moments and distribution


VALUES = [0.0, 0.01, 3.0, 5.0, 9.5, 10.0]


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("sigma", [0.3, 2.0, 40.0])
def test_moments_are_those_of_the_truncated_normal_law(value: float, sigma: float) -> None:
    mechanism = BoundedGaussian(Box(0, 10), 1.0, sigma)
    distribution = truth(mechanism, value)
    mean = distribution.expect(lambda x: x)
    square = distribution.expect(lambda x: (x - value) ** 2)
    assert mechanism.mean(value) == pytest.approx(mean, rel=1e-7, abs=0)
    assert mechanism.bias(value) == pytest.approx(mean - value, rel=1e-6, abs=1e-7)
    assert mechanism.mse(value) == pytest.approx(square, rel=1e-6, abs=0)
    assert mechanism.variance(value) == pytest.approx(square - (mean - value) ** 2, rel=1e-6, abs=0)


@each
def test_moments_fit_together(mechanism: BoundedGaussian) -> None:
    box = mechanism.domain
    values = np.linspace(box.lower, box.upper, 9)
    bias = mechanism.bias(values)
    np.testing.assert_allclose(mechanism.mean(values), values + bias, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(
        mechanism.mse(values), mechanism.variance(values) + bias**2, rtol=1e-13
    )
    assert (mechanism.variance(values) > 0).all()
    assert (mechanism.mean(values) >= box.lower).all()
    assert (mechanism.mean(values) <= box.upper).all()


def test_each_coordinate_of_a_box_has_the_law_of_its_interval() -> None:
    values = np.array([[2.0, 3.0], [9.0, 1.0]])
    lows, highs, sigmas = (0.0, 1.0), (10.0, 9.0), (5.0, 0.5)
    for method in ("mean", "bias", "variance", "mse", "denoise"):
        whole = getattr(MIXED, method)(values)
        for i, (low, high, sigma) in enumerate(zip(lows, highs, sigmas, strict=True)):
            alone = BoundedGaussian(Box(low, high), 1.0, sigma)
            np.testing.assert_allclose(
                whole[:, i], getattr(alone, method)(values[:, i]), rtol=1e-14
            )


@pytest.mark.parametrize("value", VALUES)
def test_pdf_cdf_and_quantile_are_those_of_the_truncated_normal_law(value: float) -> None:
    x = np.linspace(-1, 11, 25)
    distribution = truth(INTERVAL, value)
    np.testing.assert_allclose(INTERVAL.pdf(x, value), distribution.pdf(x), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(INTERVAL.cdf(x, value), distribution.cdf(x), rtol=1e-9, atol=1e-15)
    q = np.linspace(0.001, 0.999, 25)
    np.testing.assert_allclose(INTERVAL.quantile(q, value), distribution.ppf(q), rtol=1e-8)


@each
def test_cdf_and_quantile_invert_each_other(mechanism: BoundedGaussian) -> None:
    box = mechanism.domain
    values = (np.asarray(box.lower) * 2 + box.upper) / 3
    q = np.linspace(0, 1, 11).reshape(11, *[1] * np.ndim(values))
    x = mechanism.quantile(q, values)
    assert (x >= box.lower).all()
    assert (x <= box.upper).all()
    np.testing.assert_allclose(mechanism.cdf(x, values), np.broadcast_to(q, x.shape), atol=1e-14)


@pytest.mark.parametrize("value", [0.0, 5.0, 10.0])
@pytest.mark.parametrize("sigma", [0.2, 3.0, 30.0, 1e9])
def test_the_cdf_is_a_probability_that_the_quantile_accepts(value: float, sigma: float) -> None:
    mechanism = BoundedGaussian(Box(0, 10), 1.0, sigma)
    levels = mechanism.cdf(np.linspace(-1, 11, 200), value)
    assert levels.min() == 0
    assert levels.max() == 1
    assert mechanism.quantile(levels, value).shape == levels.shape


def test_x_and_values_broadcast() -> None:
    x, values = np.linspace(0, 10, 4)[:, None], np.array([1.0, 5.0, 9.0])
    for method in ("pdf", "cdf"):
        table = getattr(INTERVAL, method)(x, values)
        assert table.shape == (4, 3)
        assert table[2, 1] == getattr(INTERVAL, method)(float(x[2, 0]), 5.0)
    assert INTERVAL.quantile(x / 10, values).shape == (4, 3)
    assert INTERVAL.quantile([0.1, 0.9], 5.0).shape == (2,)
    assert PLANE.pdf([[1.0, 2.0], [3.0, 4.0]], [5.0, 5.0]).shape == (2, 2)
    assert PLANE.quantile(0.5, [[1.0, 2.0]] * 3).shape == (3, 2)
    assert PLANE.quantile(np.array([0.1, 0.5, 0.9])[:, None], [5.0, 5.0]).shape == (3, 2)


@pytest.mark.parametrize("sigma", [0.01, 2.0, 1e9])
def test_nothing_happens_outside_the_box(sigma: float) -> None:
    mechanism = BoundedGaussian(Box(0, 10), 1.0, sigma)
    below, above = [-1.0, -1e155, -1.7e308, -math.inf], [11.0, 1e155, 1.7e308, math.inf]
    assert mechanism.pdf(below + above, 5.0).tolist() == [0] * 8
    assert mechanism.cdf(below, 5.0).tolist() == [0] * 4
    assert mechanism.cdf(above, 5.0).tolist() == [1] * 4


def test_the_density_jumps_at_the_bounds() -> None:
    edges = [-1e-12, 0.0, 10.0, 10 + 1e-12]
    assert (INTERVAL.pdf(edges, 5.0) > 0).tolist() == [False, True, True, False]


@pytest.mark.parametrize(("name", "method"), [("x", "pdf"), ("x", "cdf"), ("q", "quantile")])
def test_nan_is_refused_by_name_in_public_arguments(name: str, method: str) -> None:
    with pytest.raises(ArgumentError, match=rf"^{name} must not contain NaN"):
        getattr(INTERVAL, method)([0.5, math.nan], 5.0)
    with pytest.raises(ArgumentTypeError, match=rf"^{name} must be a real number"):
        getattr(INTERVAL, method)("0.5", 5.0)


@pytest.mark.parametrize("bad", [-0.01, 1.01, math.inf, [0.5, 2.0]])
def test_a_level_outside_zero_to_one_is_refused(bad: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^q must be between 0 and 1"):
        INTERVAL.quantile(bad, 5.0)


@pytest.mark.parametrize("bad", [0, 1, -0.5, 1.5, math.nan, "0.9", None, [0.9]])
def test_the_level_of_an_interval_is_strictly_between_zero_and_one(bad: Any) -> None:
    with pytest.raises(InBoundsError, match=r"^level must"):
        INTERVAL.output_interval(5.0, bad)


@pytest.mark.parametrize("level", [0.1, 0.5, 0.95, 1 - 1e-9])
def test_an_interval_holds_its_probability_in_the_middle(level: float) -> None:
    values = np.array([0.0, 2.0, 10.0])
    low, high = INTERVAL.output_interval(values, level)
    assert ((low >= 0) & (low < high) & (high <= 10)).all()
    np.testing.assert_allclose(INTERVAL.cdf(low, values), (1 - level) / 2, rtol=1e-6)
    np.testing.assert_allclose(INTERVAL.cdf(high, values), (1 + level) / 2, rtol=1e-12)


# Denoising


def test_the_denoised_output_is_the_posterior_mean() -> None:
    """Against the definition: values on a fine grid, weighted by the density of the output."""
    grid = (np.arange(20_000) + 0.5) / 2000
    for x in (0.0, 0.7, 5.0, 9.99, 10.0):
        weights = INTERVAL.pdf(x, grid)
        expected = float((weights * grid).sum() / weights.sum())
        assert INTERVAL.denoise(x) == pytest.approx(expected, rel=1e-7, abs=0)


def test_denoising_lowers_the_mean_squared_error_at_high_noise() -> None:
    noisy = BoundedGaussian(Box(0, 1), 1.0, 1.0)
    values = np.linspace(0, 1, 2000)
    outputs = noisy.release(values, entropy=SeededEntropy(2))
    raw, better = ((guess - values) ** 2 for guess in (outputs, noisy.denoise(outputs)))
    assert better.mean() < 0.7 * raw.mean()


def test_an_output_from_outside_is_denoised_as_the_bound() -> None:
    assert INTERVAL.denoise(-3.0) == INTERVAL.denoise(0.0) == INTERVAL.denoise(-math.inf)
    assert INTERVAL.denoise(1e300) == INTERVAL.denoise(10.0)


@each
def test_denoised_outputs_stay_in_the_box(mechanism: BoundedGaussian) -> None:
    box = mechanism.domain
    outputs = mechanism.denoise(np.linspace(box.lower, box.upper, 5))
    assert ((outputs >= box.lower) & (outputs <= box.upper)).all()


@pytest.mark.parametrize("bad", [math.nan, [1.0, math.nan], "1", None])
def test_a_bad_output_is_refused_by_name(bad: Any) -> None:
    with pytest.raises(InBoundsError, match=r"^output must"):
        INTERVAL.denoise(bad)


@pytest.mark.parametrize("offset", [-1e9, 1e9])
def test_an_offset_box_behaves_as_the_box_at_zero(offset: float) -> None:
    moved = BoundedGaussian(Box(offset, offset + 8), 1.0, 2.0)
    plain = BoundedGaussian(Box(0, 8), 1.0, 2.0)
    values = np.array([0.0, 1.5, 8.0])
    assert moved.epsilon == plain.epsilon
    np.testing.assert_allclose(moved.mean(values + offset) - offset, plain.mean(values), atol=1e-6)
    np.testing.assert_allclose(moved.variance(values + offset), plain.variance(values), rtol=1e-9)
    outputs = moved.release(values + offset)
    assert ((outputs >= offset) & (outputs <= offset + 8)).all()


def test_reflecting_the_box_reflects_the_law() -> None:
    mirror = BoundedGaussian(Box(-10, 0), 1.0, 2.0)
    values = np.array([0.0, 2.0, 7.0, 10.0])
    assert mirror.epsilon == INTERVAL.epsilon
    assert (mirror.mean(-values) == -INTERVAL.mean(values)).all()
    assert (mirror.variance(-values) == INTERVAL.variance(values)).all()
    np.testing.assert_allclose(mirror.denoise(-values), -INTERVAL.denoise(values), rtol=1e-13)
