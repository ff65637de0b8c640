"""Calibration inverts privacy, errs on the private side only, and respects every symmetry."""

import math
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import erf

import inbounds as ib
from inbounds.numerics import ball
from inbounds.numerics.normal import NORMAL

# Guarantees of every strength are tried.
pytestmark = pytest.mark.filterwarnings("ignore::inbounds.errors.WeakGuaranteeWarning")

SLACK = 1e-13  # calibration stops within 3e-14 of the request
SCALINGS = ("isotropic", "width")
NOISY = (ib.BoundedGaussian, ib.BoundedLaplace, ib.ClampedGaussian, ib.ClampedLaplace)
KINDS = ("L2", "L1", "LInf", "PerCoordinate", "L2 & PerCoordinate", "L1 & PerCoordinate")


@dataclass(frozen=True)
class Problem:
    """A box, what a neighbour may change, and the request."""

    lower: tuple[float, ...]
    upper: tuple[float, ...]
    kind: str
    radius: float
    caps: tuple[float, ...]
    epsilon: float
    scaling: str = "isotropic"

    @property
    def box(self) -> ib.Box:
        if len(self.lower) == 1:
            return ib.Box(self.lower[0], self.upper[0])
        return ib.Box(self.lower, self.upper)

    @property
    def sensitivity(self) -> Any:
        makers = {
            "L2": lambda: ib.L2(self.radius),
            "L1": lambda: ib.L1(self.radius),
            "LInf": lambda: ib.LInf(self.radius),
            "PerCoordinate": lambda: ib.PerCoordinate(self.caps),
        }
        return reduce(lambda a, b: a & b, [makers[name]() for name in self.kind.split(" & ")])

    @property
    def stated_caps(self) -> list[float]:
        """What each coordinate may change by at most, whatever the box."""
        most = math.inf if self.kind == "PerCoordinate" else self.radius
        caps = self.caps if "PerCoordinate" in self.kind else [math.inf] * len(self.lower)
        return [min(most, cap) for cap in caps]

    def calibrated(self, **options: Any) -> ib.BoundedGaussian:
        options = {"epsilon": self.epsilon, "scaling": self.scaling, **options}
        return ib.BoundedGaussian.calibrated(self.box, self.sensitivity, **options)

    def at(self, sigma: Any) -> ib.BoundedGaussian:
        return ib.BoundedGaussian(self.box, self.sensitivity, sigma)

    def scaled(self, factor: float) -> "Problem":
        lower, upper, caps = (
            tuple(x * factor for x in side) for side in (self.lower, self.upper, self.caps)
        )
        return replace(self, lower=lower, upper=upper, caps=caps, radius=self.radius * factor)

    def permuted(self, order: list[int]) -> "Problem":
        lower, upper, caps = (
            tuple(side[i] for i in order) for side in (self.lower, self.upper, self.caps)
        )
        return replace(self, lower=lower, upper=upper, caps=caps)


def powers_of_ten(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high).map(lambda exponent: 10.0**exponent)


@st.composite
def problems(
    draw: st.DrawFn,
    kinds: tuple[str, ...] = KINDS,
    scalings: tuple[str, ...] = SCALINGS,
    scales: tuple[float, float] = (-6, 12),
    dimensions: tuple[int, int] = (1, 6),
) -> Problem:
    size = draw(st.integers(*dimensions))
    scale = draw(powers_of_ten(*scales))
    decades = draw(st.sampled_from([0.0, 1.0, 6.0]))
    relative = st.just(1.0) if decades == 0 else powers_of_ten(-decades, 0)
    widths = [scale * draw(relative) for _ in range(size)]
    offset = draw(st.sampled_from([0.0, -0.5, 1e9]))
    lower = [offset if offset == 1e9 else offset * width for width in widths]
    upper = [low + width for low, width in zip(lower, widths, strict=True)]
    assume(all(high > low for low, high in zip(lower, upper, strict=True)))
    smallest = -18.0 if scale > 1e-280 else -3.0  # so that sigma is not subnormal
    share = draw(powers_of_ten(smallest, 0.48) | st.floats(0.01, 3))
    caps = tuple(share * width * draw(st.floats(0.1, 1)) for width in widths)
    kind = draw(st.sampled_from(kinds))
    radius = share * max(widths)
    if "&" in kind:
        order, most = int(kind[1]), max(caps)
        norm = most * float(np.linalg.norm(np.array(caps) / most, order))
        radius = norm * draw(st.floats(0.2, 1.1))
    epsilon = draw(powers_of_ten(-9, 3))
    scaling = draw(st.sampled_from(scalings))
    return Problem(tuple(lower), tuple(upper), kind, radius, caps, epsilon, scaling)


def loss_slopes(width: np.ndarray, change: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    """How fast the loss of each coordinate grows with its change."""
    near, far = (f(change, width - change) / sigma for f in (np.minimum, np.maximum))
    edges = np.exp(-near * near / 2) * np.expm1(-width / sigma * (far - near) / 2)
    mass = erf(near / math.sqrt(2)) + erf(far / math.sqrt(2))
    signed = np.where(2 * change <= width, edges, -edges)
    return ((width - change) / sigma + math.sqrt(2 / math.pi) * signed / mass) / sigma


def worst_change(problem: Problem, sigma: np.ndarray) -> np.ndarray:
    """Where the loss is largest, to the precision of doubles, as shares of the largest width."""
    widths, unit = problem.box.widths, float(problem.box.widths.max())
    width, sigma, radius = widths / unit, sigma / unit, problem.radius / unit
    cap = np.minimum(np.array(problem.stated_caps) / unit, width)
    order = int(problem.kind[1]) if problem.kind[:2] in ("L1", "L2") else None
    if order is None or np.linalg.norm(cap, order) <= radius:
        return cap

    def response(price: float) -> np.ndarray:
        low, high = np.zeros_like(cap), cap.copy()
        for _ in range(54):
            middle = (low + high) / 2
            rises = loss_slopes(width, middle, sigma) > price * middle ** (order - 1)
            low, high = np.where(rises, middle, low), np.where(rises, high, middle)
        return np.where(low == 0, 0, high)

    def excess(price: float) -> float:
        return float(np.linalg.norm(response(price), order)) - radius

    most = 2 * float(loss_slopes(width, np.zeros_like(cap), sigma).max())
    most *= (math.sqrt(width.size) / radius) ** (order - 1)
    price = brentq(excess, most * 1e-40, most, xtol=most * 1e-50, rtol=1e-15, maxiter=500)
    below, above = (response(price * factor) for factor in (1 - 2e-15, 1 + 2e-15))
    over, under = (np.linalg.norm(c, order) - radius for c in (below, above))
    return above + (below - above) * (under / (under - over) if over >= 0 > under else 0.0)


def proved_epsilon_from_below(problem: Problem, sigma: Any) -> arb:
    """The loss of one allowed change at `sigma`, in ball arithmetic: no more than the true ε."""
    sigmas = np.broadcast_to(sigma, len(problem.lower)).astype(float)
    shares = worst_change(problem, sigmas).tolist()
    with ctx.workprec(600):
        bounds = zip(problem.lower, problem.upper, strict=True)
        widths = [arb(ball.exact(high) - ball.exact(low)) for low, high in bounds]
        unit = arb(float(problem.box.widths.max()))
        changes = [
            min_of(arb(share) * unit, width, cap)
            for share, width, cap in zip(shares, widths, problem.stated_caps, strict=True)
        ]
        if problem.kind[:2] in ("L1", "L2"):
            order = int(problem.kind[1])
            norm = sum((change**order for change in changes), arb(0)).root(order)
            if not norm <= arb(problem.radius):
                changes = [change * arb(problem.radius) / norm for change in changes]
        columns = zip(widths, changes, sigmas.tolist(), strict=True)
        return sum((NORMAL.loss_and_slope(w, c, arb(scale))[0] for w, c, scale in columns), arb(0))


def min_of(change: arb, width: arb, cap: float) -> arb:
    return change.min(width) if math.isinf(cap) else change.min(width).min(arb(cap))


# The widest coordinate can take almost the whole radius, the others the rest.
NEARLY_ALL_ON_ONE = Problem((0.0, 0.0), (1.0, 1e6), "L2", 4e5, (1.0, 1.0), 8.0, "width")
NEARLY_ALL_ON_ONE_CAPPED = Problem(
    (0.0, 0.0),
    (14011.359213951497, 0.1781967863315976),
    "L2 & PerCoordinate",
    608.7016352933862,
    (700.7773186815213, 0.004638985798561275),
    21.378070011807143,
    "width",
)
# A bound that is multiplied by the width rather than by the radius would be lost in rounding.
SMALL_SHARE_OF_EQUAL_WIDTHS = Problem(
    (0.0,) * 5, (1.0,) * 5, "L1", 0.0031622776601683794, (1.0,) * 5, 1.0
)


@settings(max_examples=100)
@given(problems())
@example(NEARLY_ALL_ON_ONE)
@example(NEARLY_ALL_ON_ONE_CAPPED)
@example(SMALL_SHARE_OF_EQUAL_WIDTHS)
def test_epsilon_never_exceeds_the_request_in_doubles_or_in_balls(problem: Problem) -> None:
    mechanism = problem.calibrated()
    fresh = problem.at(mechanism.sigma)
    assert mechanism.certificate().epsilon <= mechanism.epsilon <= problem.epsilon
    assert fresh.certificate().epsilon <= fresh.epsilon <= problem.epsilon


@settings(max_examples=100)
@given(problems())
@example(NEARLY_ALL_ON_ONE)
@example(NEARLY_ALL_ON_ONE_CAPPED)
@example(replace(NEARLY_ALL_ON_ONE, scaling="isotropic"))
@example(replace(NEARLY_ALL_ON_ONE_CAPPED, scaling="isotropic"))
def test_a_sigma_smaller_by_1e_12_would_break_the_promise(problem: Problem) -> None:
    mechanism = problem.calibrated()
    smaller = problem.at(np.multiply(mechanism.sigma, 1 - 1e-12))
    assert smaller.epsilon > problem.epsilon
    assert proved_epsilon_from_below(problem, smaller.sigma) > arb(problem.epsilon)


@settings(max_examples=60)
@given(problems(scales=(-300, 300), dimensions=(1, 1)))
@example(Problem((0.0,), (4.664015343985425e-162,), "L2", 1.5756983789019212e-162, (1.0,), 2.8e-9))
@example(Problem((0.0,), (1e-300,), "L2", 1e-301, (1.0,), 1.0))
@example(Problem((0.0,), (1e300,), "L2", 1e282, (1.0,), 1e3))
def test_intervals_of_any_width_calibrate_alike(problem: Problem) -> None:
    check_both_sides(problem)


@settings(max_examples=60)
@given(problems(scales=(-93, 99), dimensions=(2, 6)))
@example(Problem((0.0, 0.0), (1e98, 3e98), "L2", 1e97, (1.0, 1.0), 1.0))
@example(Problem((0.0, 0.0), (1e98, 3e98), "L2", 1e80, (1.0, 1.0), 1e-9, "width"))
@example(Problem((0.0, 0.0), (1e-98, 3e-98), "L2", 1e-116, (1.0, 1.0), 1e3))
@example(Problem((0.0, 0.0), (1e-98, 3e-98), "L1", 1e-99, (1.0, 1.0), 1.0, "width"))
@example(Problem((0.0, 0.0), (1e98, 3e98), "PerCoordinate", 1.0, (1e97, 2e97), 1.0))
def test_boxes_of_widths_from_1e_99_to_1e99_calibrate_alike(problem: Problem) -> None:
    check_both_sides(problem)


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-120, 1e120, 1e200, 1e300])
def test_boxes_beyond_that_are_refused_by_name(scale: float, kind: str, scaling: str) -> None:
    caps = (0.1 * scale, 0.2 * scale)
    problem = Problem((0.0, 0.0), (scale, 3 * scale), kind, 0.15 * scale, caps, 1.0, scaling)
    with pytest.raises(ib.ArgumentError, match="domain must have widths"):
        problem.calibrated()


def check_both_sides(problem: Problem) -> None:
    mechanism = problem.calibrated()
    assert mechanism.certificate().epsilon <= mechanism.epsilon <= problem.epsilon
    smaller = np.multiply(mechanism.sigma, 1 - 1e-12)
    assert problem.at(smaller).epsilon > problem.epsilon
    assert proved_epsilon_from_below(problem, smaller) > arb(problem.epsilon)


@settings(max_examples=100)
@given(problems(dimensions=(2, 6)), st.lists(st.floats(-3, 2), min_size=6, max_size=6))
@example(
    Problem((0.0, 0.0), (15902.562920375301, 3800036.69618997), "L2", 0.51, (1.0, 1.0), 1.0),
    [-2.2, -2.9, 0, 0, 0, 0],
)
@example(
    Problem(
        (0.0, 0.0, 0.0),
        (0.135, 349.04, 0.096),
        "L2 & PerCoordinate",
        5.02e-5,
        (3.5976e-9, 5.1334e-5, 5.1658e-9),
        1.0,
    ),
    [-2.46, -2.74, -4.74, 0, 0, 0],
)
def test_epsilon_is_exact_for_any_noise_not_only_a_calibrated_one(
    problem: Problem, exponents: list[float]
) -> None:
    sigma = max(problem.box.widths) * 10 ** np.array(exponents[: len(problem.lower)])
    mechanism = problem.at(sigma)
    least = proved_epsilon_from_below(problem, sigma)
    proved = mechanism.certificate().epsilon
    assert least <= arb(proved)
    assert proved <= mechanism.epsilon <= float(least) * (1 + 1e-12)


@settings(max_examples=60)
@given(problems())
def test_calibration_and_epsilon_are_inverse_both_ways(problem: Problem) -> None:
    mechanism = problem.calibrated()
    assert mechanism.epsilon == pytest.approx(problem.epsilon, rel=SLACK, abs=0)
    assert problem.at(mechanism.sigma).epsilon == pytest.approx(problem.epsilon, rel=SLACK, abs=0)
    again = problem.calibrated(epsilon=mechanism.epsilon)
    np.testing.assert_allclose(again.sigma, mechanism.sigma, rtol=1e-12)


@settings(max_examples=60)
@given(problems(), st.integers(-60, 60))
def test_scaling_by_a_power_of_two_scales_sigma_exactly(problem: Problem, exponent: int) -> None:
    sigma = problem.calibrated().sigma
    scaled = problem.scaled(2.0**exponent).calibrated().sigma
    assert np.array_equal(scaled, np.multiply(sigma, 2.0**exponent))


@settings(max_examples=60)
@given(problems(), powers_of_ten(-6, 6))
def test_scaling_box_and_sensitivity_scales_sigma(problem: Problem, factor: float) -> None:
    problem = replace(problem, lower=(0.0,) * len(problem.lower), upper=tuple(problem.box.widths))
    sigma = problem.calibrated().sigma
    scaled = problem.scaled(factor).calibrated().sigma
    np.testing.assert_allclose(scaled, np.multiply(sigma, factor), rtol=SLACK)


@settings(max_examples=60)
@given(problems())
def test_reflecting_the_box_changes_nothing(problem: Problem) -> None:
    lower, upper = (tuple(-x for x in side) for side in (problem.upper, problem.lower))
    mirrored = replace(problem, lower=lower, upper=upper)
    assert np.array_equal(mirrored.calibrated().sigma, problem.calibrated().sigma)


@settings(max_examples=60)
@given(problems(), st.lists(st.integers(1, 10**6), min_size=6, max_size=6), st.integers(-49, 49))
def test_translating_the_box_changes_nothing(
    problem: Problem, widths: list[int], power: int
) -> None:
    """With whole bounds below 2**51, so that no double is rounded on the way."""
    shift = math.copysign(2.0 ** abs(power), power)
    upper = tuple(map(float, widths[: len(problem.lower)]))
    here = replace(problem, lower=(0.0,) * len(upper), upper=upper)
    there = replace(here, lower=(shift,) * len(upper), upper=tuple(shift + w for w in upper))
    assert np.array_equal(here.calibrated().sigma, there.calibrated().sigma)


@settings(max_examples=60)
@given(problems(dimensions=(2, 6)), st.randoms(use_true_random=False))
def test_permuting_coordinates_permutes_sigma(problem: Problem, random: Any) -> None:
    order = list(range(len(problem.lower)))
    random.shuffle(order)
    sigma = np.broadcast_to(problem.calibrated().sigma, len(order))
    permuted = np.broadcast_to(problem.permuted(order).calibrated().sigma, len(order))
    np.testing.assert_allclose(permuted, sigma[order], rtol=SLACK)


@settings(max_examples=60)
@given(problems(scalings=("isotropic",)), st.floats(1, 10) | st.floats(1, 1 + 1e-9))
def test_more_sensitivity_never_lowers_sigma(problem: Problem, factor: float) -> None:
    more = replace(
        problem, radius=problem.radius * factor, caps=tuple(c * factor for c in problem.caps)
    )
    assert more.calibrated().sigma >= problem.calibrated().sigma * (1 - SLACK)


@settings(max_examples=40)
@given(problems(dimensions=(1, 2)), st.sampled_from(NOISY), powers_of_ten(-9, -1))
def test_epsilon_at_a_delta_is_the_smallest_that_holds(
    problem: Problem, kind: Any, delta: float
) -> None:
    mechanism = kind(problem.box, problem.sensitivity, max(problem.box.widths) / 3)
    epsilon = mechanism.epsilon_at(delta)
    assert mechanism.delta(epsilon) <= delta
    if epsilon > 0:
        assert mechanism.delta(epsilon * (1 - 1e-5)) > delta
    assert mechanism.epsilon_at(0) == mechanism.epsilon >= epsilon


@settings(max_examples=60)
@given(problems(), st.floats(0.01, 1) | st.floats(1 - 1e-9, 1))
def test_a_smaller_epsilon_never_lowers_sigma(problem: Problem, factor: float) -> None:
    sigma = problem.calibrated().sigma
    stricter = problem.calibrated(epsilon=problem.epsilon * factor).sigma
    assert (np.asarray(stricter) >= np.multiply(sigma, 1 - SLACK)).all()


@settings(max_examples=60)
@given(problems(scalings=("isotropic",)), powers_of_ten(-6, 1), st.floats(0.05, 2))
def test_one_more_dimension_never_lowers_sigma(
    problem: Problem, relative: float, share: float
) -> None:
    width = relative * float(max(problem.box.widths))
    wider = replace(
        problem,
        lower=(*problem.lower, 0.0),
        upper=(*problem.upper, width),
        caps=(*problem.caps, share * width),
    )
    assert wider.calibrated().sigma >= problem.calibrated().sigma * (1 - SLACK)


@settings(max_examples=60)
@given(
    problems(
        kinds=("L2 & PerCoordinate", "L1 & PerCoordinate"),
        scalings=("isotropic",),
        dimensions=(2, 6),
    )
)
def test_an_intersection_never_needs_more_than_either_part(problem: Problem) -> None:
    both = problem.calibrated().sigma
    for kind in problem.kind.split(" & "):
        assert both <= replace(problem, kind=kind).calibrated().sigma * (1 + SLACK)


@settings(max_examples=60)
@given(problems(scalings=("isotropic",)), st.sampled_from(["paper", "liu"]))
def test_the_other_methods_are_private_and_never_need_less(problem: Problem, method: str) -> None:
    bounded_one_by_one = "PerCoordinate" in problem.kind or problem.kind == "LInf"
    assume(method == "paper" or bounded_one_by_one or len(problem.lower) == 1)
    mechanism = problem.calibrated(method=method)
    assert mechanism.sigma >= problem.calibrated().sigma * (1 - SLACK)
    assert mechanism.certificate().epsilon <= mechanism.epsilon <= problem.epsilon


@settings(max_examples=60)
@given(
    problems(scales=(-300, 300), dimensions=(1, 1), scalings=("isotropic",)),
    st.sampled_from(["paper", "liu"]),
)
@example(Problem((0.0,), (1e200,), "L2", 1e199, (1.0,), 1.0), "paper")
@example(Problem((0.0,), (1e-154,), "L2", 1e-155, (1.0,), 1.0), "paper")
@example(Problem((0.0,), (1e-200,), "L2", 1e-201, (1.0,), 1.0), "liu")
def test_the_other_methods_serve_intervals_of_any_width(problem: Problem, method: str) -> None:
    exponent = math.frexp(float(problem.box.widths[0]))[1]
    sigma = problem.calibrated(method=method).sigma
    from_zero = replace(problem, lower=(0.0,), upper=(float(problem.box.widths[0]),))
    around_one = from_zero.scaled(2.0**-exponent)
    expected = around_one.calibrated(method=method).sigma
    assert math.ldexp(sigma, -exponent) == pytest.approx(expected, rel=1e-12, abs=0)


@settings(max_examples=60)
@given(problems(kinds=("L2", "L1"), scalings=("isotropic",)), st.floats(1, 3))
def test_a_change_of_everything_has_a_closed_form(problem: Problem, factor: float) -> None:
    """A radius beyond the norm of the widths: σ² = Σw²/2ε."""
    widths = problem.box.widths
    norm = float(np.linalg.norm(widths, int(problem.kind[1])))
    sigma = replace(problem, radius=norm * factor * (1 + 1e-15)).calibrated().sigma
    expected = float(np.linalg.norm(widths)) / math.sqrt(2 * problem.epsilon)
    assert sigma == pytest.approx(expected, rel=SLACK, abs=0)


@settings(max_examples=60)
@given(problems(kinds=("L2", "L1")))
def test_equal_widths_share_the_change_and_epsilon_equally(problem: Problem) -> None:
    size = len(problem.lower)
    box = ib.Box([0.0] * size, [problem.upper[0] - problem.lower[0]] * size)
    joint = ib.BoundedGaussian.calibrated(
        box, problem.sensitivity, epsilon=problem.epsilon, scaling=problem.scaling
    )
    alone = ib.BoundedGaussian.calibrated(
        ib.Box(0.0, box.widths[0]),
        problem.radius / size ** (1 / int(problem.kind[1])),
        epsilon=problem.epsilon / size,
    )
    np.testing.assert_allclose(joint.sigma, np.full(np.shape(joint.sigma), alone.sigma), rtol=SLACK)
