import math
import pickle
import warnings
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import inbounds as ib
from inbounds import L1, L2, Box, ClampedLaplace, ClampedStaircase, LInf, PerCoordinate
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.sampling.entropy import SeededEntropy

STANDARD_ERRORS = 6.0  # a false alarm has a probability of 2e-9


@pytest.mark.parametrize(("epsilon", "less"), [(1, 0.04), (2, 0.15), (3, 0.31), (5, 0.63)])
def test_the_squared_error_is_less_than_that_of_the_clamped_laplace(
    epsilon: float, less: float
) -> None:
    box, change = Box(0, 1), 0.02
    values = np.linspace(0, 1, 401)
    staircase = ClampedStaircase(box, change, epsilon).mse(values).mean()
    laplace = ClampedLaplace.calibrated(box, change, epsilon=epsilon).mse(values).mean()
    assert 1 - staircase / laplace == pytest.approx(less, abs=0.006)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0, 20.0])
def test_the_variance_far_from_bounds_is_the_least_possible(epsilon: float) -> None:
    mechanism = ClampedStaircase(Box(-1e4, 1e4), 1, epsilon)
    a = math.exp(-epsilon)
    least = (math.cbrt(a * (1 + a) / 2) ** 2 + a) / (1 - a) ** 2
    assert least <= mechanism.mse(0.0) <= least * (1 + 1e-4)
    assert mechanism.variance(0.0) == mechanism.mse(0.0)
    assert mechanism.spread[0] == pytest.approx(math.sqrt(mechanism.mse(0.0)), rel=1e-9)


MECHANISMS = [
    ClampedStaircase(Box(0, 1), 0.1, 1.0),
    ClampedStaircase(Box(-3, 5), 8, 2.0),
    ClampedStaircase(Box(0, 1), 0.3, 0.2),
    ClampedStaircase(Box(1e9, 1e9 + 1e-3), 1e-4, 1.0),
    ClampedStaircase(Box(0, 1), 1e-3, 0.01),
]
each_mechanism = pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)


@each_mechanism
def test_moments_are_those_of_released_outputs(mechanism: ClampedStaircase) -> None:
    box, count = mechanism.domain, 40_000
    for fraction in (0.0, 0.3, 0.95):
        value = box.lower + fraction * box.widths[0]
        errors = mechanism.release(np.full(count, value), entropy=SeededEntropy(1)) - value
        unit = math.sqrt(mechanism.mse(value))
        scatter = STANDARD_ERRORS / math.sqrt(count)
        assert errors.mean() == pytest.approx(mechanism.bias(value), abs=scatter * unit)
        second = (errors / unit) ** 2
        assert second.mean() == pytest.approx(1.0, abs=scatter * second.std() + 1e-3)
        low, high = mechanism.mass_at_bounds(value)
        for bound, mass in ((box.lower, low), (box.upper, high)):
            assert (errors + value == bound).mean() == pytest.approx(mass, abs=scatter + 1e-3)


@each_mechanism
def test_the_distribution_is_that_of_released_outputs(mechanism: ClampedStaircase) -> None:
    box, count = mechanism.domain, 20_000
    value = box.lower + 0.4 * box.widths[0]
    drawn = mechanism.release(np.full(count, value), entropy=SeededEntropy(2))
    places = mechanism.quantile(np.linspace(0.02, 0.98, 25), value)
    upto = mechanism.cdf(places, value)
    observed = (drawn <= places[:, None] + mechanism._outputs.lattice.spacing).mean(axis=1)
    assert np.abs(observed - upto).max() < STANDARD_ERRORS / 2 / math.sqrt(count)


@each_mechanism
def test_density_atoms_and_distribution_agree(mechanism: ClampedStaircase) -> None:
    box = mechanism.domain
    x = np.linspace(box.lower, box.upper, 40_001)
    for fraction in (0.0, 0.37, 1.0):
        value = box.lower + fraction * box.widths[0]
        low, high = mechanism.mass_at_bounds(value)
        middle = (x[1:] + x[:-1]) / 2
        inside = (mechanism.pdf(middle, value) * np.diff(x)).sum()
        assert low + inside + high == pytest.approx(1.0, abs=2e-3)
        assert mechanism.cdf(box.lower, value) == pytest.approx(low)
        assert mechanism.cdf(box.upper, value) == 1.0
        assert mechanism.cdf(np.nextafter(box.upper, box.lower), value) <= 1 - high * 0.999
        assert mechanism.pdf([box.lower, box.upper], value).tolist() == [0.0, 0.0]


def test_the_density_of_neighbours_differs_by_the_factor_and_no_more() -> None:
    mechanism = ClampedStaircase(Box(0, 10), 1.5, 2.0)
    x, values = np.linspace(0.003, 9.997, 700), np.linspace(0, 10, 201)
    log = np.log(
        np.vstack([mechanism.pdf(x[:, None], values), np.array(mechanism.mass_at_bounds(values))])
    )
    worst = max(
        float((log[:, i] - log[:, j]).max())
        for i in range(201)
        for j in range(201)
        if abs(values[i] - values[j]) <= 1.5 + 1e-9
    )
    assert worst == pytest.approx(2.0, rel=1e-9)


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 7.0, 50.0])
@pytest.mark.parametrize("change", [1e-9, 0.02, 1.0, 3.0])
def test_moments_are_finite_and_consistent_for_all_sizes(epsilon: float, change: float) -> None:
    mechanism = ClampedStaircase(Box(0, 1), change, epsilon)
    values = np.linspace(0, 1, 21)
    mse, bias, variance = (getattr(mechanism, m)(values) for m in ("mse", "bias", "variance"))
    assert (mse > 0).all()
    assert mse == pytest.approx(variance + bias**2, rel=1e-9)
    assert bias == pytest.approx(-bias[::-1], abs=1e-9 * math.sqrt(mse.max()))
    assert mse == pytest.approx(mse[::-1], rel=1e-6)
    assert (mse <= mechanism.spread[0] ** 2 * (1 + 1e-9)).all()
    inverse = mechanism.quantile(mechanism.cdf(0.4, 0.5), 0.5)
    if mechanism.cdf(0.4, 0.5) > 1e-200:
        assert inverse == pytest.approx(0.4, abs=1e-6)


def test_a_sensitivity_above_the_width_counts_as_the_width() -> None:
    box = Box(0, 1)
    at_width, above = ClampedStaircase(box, 1, 1.0), ClampedStaircase(box, 50, 1.0)
    assert at_width.mse(0.3) == above.mse(0.3)


@pytest.mark.parametrize("sensitivity", [0.1, L1(0.1), L2(0.1), LInf(0.1), PerCoordinate(0.1)])
def test_any_kind_of_sensitivity_is_a_number_on_an_interval(sensitivity: Any) -> None:
    mechanism = ClampedStaircase(Box(0, 1), sensitivity, 1.0)
    assert mechanism.mse(0.3) == pytest.approx(ClampedStaircase(Box(0, 1), 0.1, 1.0).mse(0.3))


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 5.0])
def test_the_total_variation_is_that_of_two_neighbours_and_bounds_all_events(
    epsilon: float,
) -> None:
    mechanism = ClampedStaircase(Box(0, 100), 1, epsilon)
    x = np.linspace(0, 100, 100_001)
    difference = np.abs(mechanism.cdf(x, 50.0) - mechanism.cdf(x, 51.0))
    assert difference.max() <= mechanism.total_variation + 2.0**-50
    assert difference.max() == pytest.approx(mechanism.total_variation, rel=1e-3)
    assert mechanism.total_variation <= math.tanh(epsilon / 2) * (1 + 1e-12)


def test_calibrated_and_the_constructor_are_the_same() -> None:
    box = Box(0, 120, step=1)
    mechanism = ClampedStaircase.calibrated(box, 2, epsilon=1.5)
    assert mechanism == ClampedStaircase(box, 2, 1.5) == pickle.loads(pickle.dumps(mechanism))
    assert hash(mechanism) == hash(ClampedStaircase(box, L2(2), epsilon=1.5))
    assert mechanism != ClampedStaircase(box, 2, 1.6)
    assert repr(mechanism) == "ClampedStaircase(Box(0, 120, step=1), L2(2), epsilon=1.5)"
    assert "pure ε" in mechanism._repr_html_()
    assert mechanism.parameters == {"epsilon": 1.5}
    assert mechanism.epsilon == 1.5
    assert mechanism.loss().epsilon == 1.5


def test_the_epsilon_of_a_fraction_is_rounded_down() -> None:
    third = ClampedStaircase(Box(0, 1), 1, Fraction(1, 3))  # type: ignore[arg-type]
    assert Fraction(third.epsilon) <= Fraction(1, 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((Box([0, 0], [1, 1]), 1, 1.0), "domain must be an interval for ClampedStaircase, got Box"),
        ((Box([0], [1]), 1, 1.0), "domain must be an interval for ClampedStaircase, got Box"),
        ((Box(0, 1e-300), 1, 1.0), "domain must have a width of at least"),
        ((Box(0, 1), 1, 0.0), "epsilon must be positive, got epsilon=0"),
        ((Box(0, 1), 1, math.nan), "epsilon must be"),
        ((Box(0, 1), 1, 1e200), "epsilon must be"),
        ((Box(0, 1), 0, 1.0), "sensitivity must be|bound must be"),
        ((Box(0, 1), PerCoordinate([1, 2]), 1.0), "sensitivity must have"),
    ],
)
def test_wrong_arguments_are_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        ClampedStaircase(*arguments)


def test_wrong_calls_are_answered_in_our_words() -> None:
    with pytest.raises(ArgumentTypeError, match=r"epsilon must be given: ClampedStaircase\("):
        ClampedStaircase(Box(0, 1), 1)  # type: ignore[call-arg]
    with pytest.raises(ArgumentTypeError, match=r"scale is not an argument.*\n?.*has no scale"):
        ClampedStaircase(Box(0, 1), 1, scale=1.0)  # type: ignore[call-arg]
    with pytest.raises(ArgumentError, match="delta must be 0 for staircase noise"):
        ClampedStaircase.calibrated(Box(0, 1), 1, epsilon=1.0, delta=1e-6)
    with pytest.raises(ArgumentTypeError, match="domain must be a Box"):
        ClampedStaircase((0, 1), 1, 1.0)  # type: ignore[arg-type]
    with pytest.raises(AttributeError, match="ClampedStaircase has no attribute 'scale'"):
        _ = ClampedStaircase(Box(0, 1), 1, 1.0).scale  # type: ignore[attr-defined]


def test_values_that_are_not_finite_are_refused_without_showing_them() -> None:
    mechanism = ClampedStaircase(Box(0, 1), 1, 1.0)
    with pytest.raises(ArgumentError, match="values must") as caught:
        mechanism.release([0.123456, math.nan])
    assert "0.123456" not in str(caught.value)


def test_values_of_every_kind_are_released() -> None:
    mechanism = ClampedStaircase(Box(0, 10), 0.5, 3.0)
    for values in (3, 3.5, Decimal("3.5"), Fraction(7, 2), [1, 2.5], np.array([[1, 2]], np.int8)):
        outputs = np.asarray(mechanism.release(values))
        assert outputs.shape == np.shape(values)
        assert ((outputs >= 0) & (outputs <= 10)).all()
    assert mechanism.release([]).shape == (0,)


def test_an_interval_of_confidence_is_wider_by_the_cell_and_holds_the_value() -> None:
    mechanism = ClampedStaircase(Box(0, 1), 0.1, 2.0)
    low, high = mechanism.confidence(0.5, 0.9)
    near, far = mechanism.output_interval(0.5, 0.9)
    assert (low, high) == pytest.approx((near, far), abs=1e-6)
    cell = mechanism._outputs.lattice.spacing  # of the value, and half of one of the output
    assert near - low > 1.4 * cell
    assert high - far > 1.4 * cell


def test_a_coarse_lattice_widens_the_interval_of_confidence() -> None:
    """With doubles hardly finer than the sensitivity, cells are a part of the error."""
    mechanism = ClampedStaircase(Box(2.0**52, 2.0**52 + 1000), 1, 2.0)
    values = np.full(4000, 2.0**52 + 400)
    outputs = mechanism.release(values, entropy=SeededEntropy(3))
    low, high = mechanism.confidence(outputs, 0.9)
    covered = ((low <= values) & (values <= high)).mean()
    assert covered >= 0.9 - STANDARD_ERRORS / 2 / math.sqrt(values.size)


def test_distributions_and_means_are_read_back() -> None:
    mechanism = ClampedStaircase(Box(0, 1), 1, 3.0)
    values = np.random.default_rng(4).beta(2, 6, 20_000)
    outputs = mechanism.release(values, entropy=SeededEntropy(4))
    recovered = ib.deconvolve(outputs, mechanism)
    assert recovered.mean == pytest.approx(values.mean(), abs=0.02)


def test_it_is_audited_without_a_finding() -> None:
    mechanism = ClampedStaircase(Box(0, 1), 1, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        audit = ib.audit(mechanism, releases=20_000, entropy=SeededEntropy(5))
    assert 0.7 < audit.epsilon_lower <= 1.0
