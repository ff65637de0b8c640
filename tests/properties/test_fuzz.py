"""The whole public surface against hostile values.

The result is right, or the error is ours, names the argument and holds no private value. Nothing
is warned of, logged or printed. `INBOUNDS_FUZZ_CASES=100000` tries that many cases in all.
"""

import json
import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from hypothesis import HealthCheck, settings
from hypothesis import given as for_all
from hypothesis import strategies as st

import inbounds as ib
from inbounds.frames.local.privatize import privatize
from inbounds.queries import Query, graph, stack
from inbounds.recovery.deconvolve import deconvolve

from .hostile import answer_of, anything, extremes, planted, private

TESTS = 16
CASES = int(os.environ.get("INBOUNDS_FUZZ_CASES", "1600")) // TESTS

GAUSSIAN = ib.BoundedGaussian(ib.Box(0, 120), 2.5, sigma=16.0)
MECHANISMS = (
    GAUSSIAN,
    ib.BoundedGaussian(ib.Box(-1e6, 2e6, step=0.5), 1, sigma=1e5),
    ib.BoundedGaussian(ib.Box([0, 0], [100, 2e6]), ib.PerCoordinate([1, 5]), sigma=[9.0, 1e5]),
    ib.BoundedLaplace(ib.Box(0, 120, step=1), 120, scale=40.0),
    ib.BoundedLaplace(ib.Box([0, 1, 0], [9, 2e6, 1e-3]), ib.L1(1), scale=10.0),
    ib.ClampedGaussian(ib.Box(-8e307, 8e307), 1e150, sigma=1e307),
    ib.BoundedGaussian(ib.Box(0, 1e100), 1e90, sigma=1e170),
    ib.ClampedGaussian(ib.Box([0, 0], [100, 1e7]), 3, sigma=4.0),
    ib.ClampedLaplace(ib.Box(1e-310, 1e-300), 1e-300, scale=1e-301),
    ib.ClampedGaussian(ib.Box(0, 1e-307), 1e-308, sigma=2.3e-308),
    ib.ClampedStaircase(ib.Box(0, 120, step=1), 120, epsilon=1.0),
    ib.ClampedStaircase(ib.Box(-8e307, 8e307), 1e150, epsilon=0.5),
)
KINDS = (ib.BoundedGaussian, ib.BoundedLaplace, ib.ClampedGaussian, ib.ClampedLaplace)
NORMS = (ib.L1, ib.L2, ib.LInf, ib.PerCoordinate)
BOXES = (
    ib.Box(0, 120),
    ib.Box(0, 1e-300),
    ib.Box(-8e307, 8e307),
    ib.Box(1e18, 2e18, step=1024),
    ib.Box([0, 1], [10, 9]),
    ib.Box([0, -1e99], [1e-99, 0]),
)


def fuzz(*, part: int = 1, **strategies: Any) -> Callable[[Any], Any]:
    """Try many cases, or a part of them; few unless asked for more."""
    quiet = [HealthCheck.too_slow, HealthCheck.data_too_large]
    limits = settings(
        max_examples=max(CASES // part, 1), deadline=None, suppress_health_check=quiet
    )
    return lambda test: limits(for_all(**strategies)(test))


boxes = st.sampled_from(BOXES)
mechanisms = st.sampled_from(MECHANISMS)
positive = st.sampled_from((1e-300, 1e-9, 0.1, 1.0, 2.5, 40.0, 1e18, 1e300)) | st.floats(1e-3, 1e3)
small = st.sampled_from((1e-12, 1e-6, 0.01, 0.1, 0.5, 1.0, 3.0, 20.0, 400.0)) | st.floats(
    0.01, 10.0
)


@st.composite
def mostly(draw: st.DrawFn, sane: st.SearchStrategy[Any]) -> Any:
    """Draw something sane seven times of eight, so that several arguments pass together."""
    return draw(anything if draw(st.integers(0, 7)) == 7 else sane)


@st.composite
def sensitivities(draw: st.DrawFn, size: st.SearchStrategy[Any] = positive) -> Any:
    """Draw a sensitivity, of one kind or two."""
    norm, caps = draw(st.sampled_from(NORMS))(draw(size)), ib.LInf(draw(size))
    pair = ib.PerCoordinate([draw(size), 1.0])
    return draw(st.sampled_from([norm, norm, draw(size), norm & caps, pair]))


def inside(answers: Any, box: ib.Box) -> bool:
    """Whether answers are finite and in the box."""
    found = np.asarray(answers, float)
    return bool((np.isfinite(found) & (found >= box.lower) & (found <= box.upper)).all())


@fuzz(
    lower=mostly(extremes | st.floats(-1e3, 0)),
    upper=mostly(extremes | st.floats(1, 1e3)),
    step=st.none() | mostly(st.floats(1e-3, 1.0)),
)
def test_a_box_has_finite_sides_or_is_refused(lower: Any, upper: Any, step: Any) -> None:
    box = answer_of(lambda: ib.Box(lower, upper, step=step), "lower", "upper", "step")
    if box is not None:
        assert (np.isfinite(box.widths) & (box.widths > 0)).all()
        assert all(one is None or one > 0 for one in box.steps)
        assert answer_of(lambda: (repr(box), hash(box))) is not None


@fuzz(one=anything, other=anything, kinds=st.tuples(*2 * [st.sampled_from(NORMS)]))
def test_a_sensitivity_is_positive_or_refused(one: Any, other: Any, kinds: Any) -> None:
    first = answer_of(lambda: kinds[0](one), "sensitivity")
    second = answer_of(lambda: kinds[1](other), "sensitivity")
    for part in (first, second):
        assert part is None or (np.isfinite(part.bound) & (np.asarray(part.bound) > 0)).all()
    if first is not None and second is not None:
        both = answer_of(lambda: first & second, "sensitivity")
        reach = both and answer_of(lambda: both.within(np.array([1e99, 1e-99])), "sensitivity")
        assert reach is None or (reach.caps <= [1e99, 1e-99]).all()


@fuzz(
    kind=st.sampled_from(KINDS),
    box=mostly(boxes),
    sensitivity=mostly(sensitivities()),
    share=mostly(st.sampled_from((1e-70, 1e-9, 1e-3, 1.0, 1e9, 1e70)) | st.floats(0.1, 10)),
    value=extremes,
)
def test_a_mechanism_works_or_is_refused(
    kind: Any, box: Any, sensitivity: Any, share: Any, value: float
) -> None:
    names = ("domain", "sensitivity", "sigma", "scale")
    scale = share
    if isinstance(share, float) and isinstance(box, ib.Box):
        scale = min(share * float(box.widths.max()), 1e308)
    mechanism = answer_of(lambda: kind(box, sensitivity, scale), *names)
    if mechanism is not None:
        assert answer_of(lambda: repr(mechanism))
        values = np.full(np.shape(box.lower), value)
        answer = answer_of(lambda: mechanism.release(values), "values")
        assert answer is None or inside(answer, box)
        assert (answer is None) == (not math.isfinite(value))


@fuzz(
    kind=st.sampled_from((*KINDS, ib.ClampedStaircase)),
    box=mostly(boxes),
    sensitivity=mostly(sensitivities()),
    epsilon=mostly(small),
    extra=st.dictionaries(
        st.sampled_from(("delta", "rho", "method", "scaling")),
        mostly(st.sampled_from((0.0, 1e-6, 0.1, "exact", "paper", "width", "classical"))),
        max_size=2,
    ),
)
def test_a_calibration_gives_the_guarantee_or_is_refused(
    kind: Any, box: Any, sensitivity: Any, epsilon: Any, extra: dict[str, Any]
) -> None:
    heeded = {"delta", "method"} if kind is ib.ClampedGaussian else set()
    heeded |= {"delta", "rho", "method", "scaling"} if kind is ib.BoundedGaussian else set()
    options = {name: given for name, given in extra.items() if name in heeded}
    if kind is ib.ClampedGaussian:
        options.setdefault("delta", 1e-6)
    names = ("domain", "sensitivity", "epsilon", *heeded, "sigma", "scale")
    made = answer_of(lambda: kind.calibrated(box, sensitivity, epsilon=epsilon, **options), *names)
    if made is not None:
        delta = answer_of(lambda: made.delta(epsilon))
        assert delta <= options.get("delta", 0.0)


@fuzz(mechanism=mechanisms, values=private(), equal_time=st.booleans())
def test_a_release_is_in_bounds_and_in_shape_or_refused(
    mechanism: Any, values: Any, equal_time: bool
) -> None:
    answers = answer_of(lambda: mechanism.release(values, equal_time=equal_time), "values")
    if answers is not None:
        assert inside(answers, mechanism.domain)
        assert np.shape(answers) == np.shape(values)
        assert mechanism.domain.step is None or not np.mod(np.asarray(answers, float) * 2, 1).any()


@fuzz(mechanism=mechanisms, values=private())
def test_moments_are_finite_or_refused(mechanism: Any, values: Any) -> None:
    box, widest = mechanism.domain, mechanism.domain.widths
    with np.errstate(over="ignore"):
        most = widest * widest * (1 + 1e-9)
    for name in ("mean", "bias", "variance", "mse", "mass_at_bounds"):
        found = answer_of(lambda name=name: getattr(mechanism, name)(values), "values")
        if found is None:
            continue
        if name == "mean":
            assert (
                (found >= box.lower - 1e-9 * widest) & (found <= box.upper + 1e-9 * widest)
            ).all()
        elif name == "bias":
            assert (np.abs(found) <= widest).all()
        elif name == "mass_at_bounds":
            assert all(((side >= 0) & (side <= 1)).all() for side in map(np.asarray, found))
        else:
            assert ((np.asarray(found) >= 0) & (found <= most)).all()


@fuzz(mechanism=mechanisms, values=private(), x=anything | private(), level=anything | private())
def test_laws_are_laws_or_refused(mechanism: Any, values: Any, x: Any, level: Any) -> None:
    density = answer_of(lambda: mechanism.pdf(x, values), "x", "values")
    assert density is None or (np.asarray(density) >= 0).all()
    share = answer_of(lambda: mechanism.cdf(x, values), "x", "values")
    assert share is None or ((np.asarray(share) >= 0) & (np.asarray(share) <= 1)).all()
    point = answer_of(lambda: mechanism.quantile(x, values), "q", "values")
    assert point is None or inside(point, mechanism.domain)
    ends = answer_of(lambda: mechanism.output_interval(values, level), "level", "values", "q")
    assert ends is None or (np.asarray(ends[0]) <= np.asarray(ends[1])).all()


@fuzz(mechanism=mechanisms.filter(lambda m: hasattr(m, "denoise")), output=anything | private())
def test_a_denoised_answer_is_in_bounds_or_refused(mechanism: Any, output: Any) -> None:
    found = answer_of(lambda: mechanism.denoise(output), "output")
    assert found is None or inside(found, mechanism.domain)


def least_delta(mechanism: Any, epsilon: float) -> float:
    """Return what answers below some point already show, of the lowest value and its neighbour."""
    box = mechanism.domain
    if box.dimension > 1 or epsilon > 700:
        return 0.0
    value, change = float(box.lower), float(mechanism.sensitivity.within(box.widths).caps[0])
    points = value + float(box.widths[0]) * np.linspace(0, 1, 65)
    near, far = (mechanism.cdf(points, v) for v in (value, value + change))
    return max(0.0, float((near - math.exp(epsilon) * far).max()))


@fuzz(
    kind=st.sampled_from(KINDS),
    box=boxes,
    sensitivity=sensitivities(),
    share=st.floats(1e-3, 1e6) | st.sampled_from((1e-3, 1e-2, 0.1)),
    epsilon=mostly(small),
    alpha=anything,
)
def test_guarantees_are_numbers_or_refused(  # noqa: PLR0917 - drawn by name
    kind: Any, box: Any, sensitivity: Any, share: float, epsilon: Any, alpha: Any
) -> None:
    names = ("domain", "sensitivity", "sigma", "scale")
    scale = min(float(box.widths.max()) * share, 1e308)
    made = answer_of(lambda: kind(box, sensitivity, scale), *names)
    if made is None:
        return
    for name in ("epsilon", "rho", "gdp"):
        assert answer_of(lambda name=name: getattr(made, name)) >= 0
    delta = answer_of(lambda: made.delta(epsilon), "epsilon")
    assert delta is None or least_delta(made, epsilon) * (1 - 1e-9) - 1e-12 <= delta <= 1
    if hasattr(made, "renyi"):
        bound = answer_of(lambda: made.renyi(alpha), "alpha")
        assert bound is None or 0 <= bound <= made.epsilon * (1 + 1e-12)
    if hasattr(made, "certificate") and box.dimension == 1:
        proof = answer_of(made.certificate, "epsilon")
        assert proof is None or proof.epsilon <= made.epsilon


CERTIFICATE = json.loads(GAUSSIAN.certificate().to_json())
LOSS = json.loads(ib.PrivacyLoss.approximate(0.5, 1e-6).to_json())
leaves = (
    st.none()
    | st.booleans()
    | st.floats()
    | st.floats(0, 9)
    | st.text(max_size=3)
    | st.just(10**400)
)
trees = st.recursive(leaves, lambda t: st.lists(t, max_size=3) | st.dictionaries(st.text(), t))


def spoilt(document: dict[str, Any]) -> st.SearchStrategy[str]:
    """Draw the document with an entry or two replaced, removed or added."""
    keys = st.sampled_from([*document, "else"])
    changed = st.dictionaries(keys, trees, max_size=2).map(lambda new: json.dumps(document | new))
    inner = st.builds(
        lambda key, new: json.dumps(document | {"rows": [document["rows"][0] | {key: new}]}),
        st.sampled_from([*CERTIFICATE["rows"][0], "else"]),
        leaves,
    )
    cut = st.integers(0, 400).map(lambda end: json.dumps(document)[:end])
    return st.one_of(changed, *([inner] if "rows" in document else []), cut, anything)


@fuzz(text=spoilt(CERTIFICATE))
def test_a_certificate_is_read_or_refused(text: Any) -> None:
    proof = answer_of(lambda: ib.Certificate.from_json(text), "text")
    if proof is not None:
        answer_of(proof.check, "evidence", "certificate", "epsilon")
        answer_of(lambda: repr(proof))


@fuzz(text=spoilt(LOSS))
def test_a_privacy_loss_is_read_or_refused(text: Any) -> None:
    loss = answer_of(lambda: ib.PrivacyLoss.from_json(text), "text")
    if loss is not None:
        assert ib.PrivacyLoss.from_json(loss.to_json()) == loss
        assert min(loss.epsilon, loss.mu, loss.rho) >= 0


@fuzz(
    releases=st.lists(mechanisms | anything | st.tuples(mechanisms, extremes), max_size=2),
    delta=mostly(small),
    epsilon=mostly(small),
)
def test_a_composition_costs_something_or_is_refused(
    releases: Any, delta: Any, epsilon: Any
) -> None:
    together = answer_of(lambda: ib.compose(releases), "releases")
    if together is not None:
        assert answer_of(lambda: repr(together))
        least = answer_of(lambda: together.epsilon(delta), "delta")
        assert least is None or 0 <= least <= together.pure
        most = answer_of(lambda: together.delta(epsilon), "epsilon")
        assert most is None or 0 <= most <= 1


@fuzz(
    part=8,  # a comparison may take seconds
    box=mostly(boxes),
    sensitivity=mostly(sensitivities()),
    epsilon=mostly(small),
    delta=mostly(st.sampled_from((0.0, 1e-6))),
)
def test_a_comparison_ranks_or_is_refused(
    box: Any, sensitivity: Any, epsilon: Any, delta: Any
) -> None:
    names = ("domain", "sensitivity", "epsilon", "delta", "sigma", "scale")
    found = answer_of(lambda: ib.compare(box, sensitivity, epsilon=epsilon, delta=delta), *names)
    if found is not None:
        errors = [contender.error.average_rmse for contender in found.contenders]
        assert errors == sorted(errors)
        assert all(math.isfinite(error) for error in errors)


matrices = st.sampled_from(
    (np.eye(3), np.ones((4, 4)), np.full((3, 3), math.nan), np.ones((2, 2), bool), np.ones((1, 1)))
)


@fuzz(matrix=mostly(matrices), node=mostly(st.just(0)), edges=mostly(st.just(1)), value=private())
def test_a_query_is_in_its_box_or_refused(matrix: Any, node: Any, edges: Any, value: Any) -> None:
    asked = [
        answer_of(lambda: graph.degree(matrix, node=node, edges=edges), "graph", "node", "edges"),
        answer_of(lambda: graph.average_degree(matrix, edges=edges), "graph", "edges"),
        answer_of(lambda: graph.algebraic_connectivity(matrix, edges=edges), "graph", "edges"),
    ]
    assert all(query is None or inside(query.value, query.box) for query in asked)
    asked.append(answer_of(lambda: Query("q", value, ib.Box([0, 0], [1, 1]), 1), "value"))
    answer_of(lambda: repr([*asked, stack([query for query in asked if query])]), "queries")
    answer_of(lambda: stack([GAUSSIAN, value]), "queries")


@fuzz(
    outputs=private() | mostly(st.lists(st.floats(0, 120), min_size=1, max_size=50)),
    bins=mostly(st.just(8)),
    bootstrap=mostly(st.just(2)),
)
def test_a_deconvolution_sums_to_one_or_is_refused(outputs: Any, bins: Any, bootstrap: Any) -> None:
    found = answer_of(
        lambda: deconvolve(outputs, GAUSSIAN, bins=bins, bootstrap=bootstrap),
        *("outputs", "bins", "bootstrap", "mechanism"),
    )
    assert found is None or math.isclose(found.weights.sum(), 1)


def frames(numbers: list[Any]) -> list[Any]:
    """Put numbers into a column of every type that takes them."""
    kinds = (None, object, "Float64", "float32", "double[pyarrow]", "string", "category")
    made: list[Any] = [pd.DataFrame({"x": pd.Series(numbers, dtype=kind)}) for kind in kinds]
    made += [pd.DataFrame({"x": [numbers, numbers]}), pd.DataFrame({"y": numbers})]
    arrays = [pa.array(numbers), pa.array(map(str, numbers)), pa.array([numbers])]
    arrays += [arrays[0].dictionary_encode(), pa.array([*numbers, None])]
    return made + [pa.table({"x": array}) for array in arrays]


@fuzz(
    numbers=st.lists(extremes, max_size=2).map(planted),
    which=st.integers(0, 13),
    nulls=mostly(st.sampled_from(("error", "keep", "uniform"))),
    mechanism=mostly(st.just(MECHANISMS[3])),
)
def test_a_frame_is_in_bounds_or_refused(
    numbers: list[float], which: int, nulls: Any, mechanism: Any
) -> None:
    with np.errstate(over="ignore"):  # of making narrow columns
        frame = frames(numbers)[which]
    found = answer_of(
        lambda: privatize(frame, {"x": mechanism}, nulls=nulls), "column", "mechanisms", "nulls"
    )
    if found is not None:
        answers = found["x"].to_pandas() if isinstance(found, pa.Table) else found["x"]
        assert len(answers) == len(frame)
        assert inside(answers.dropna(), mechanism.domain)
