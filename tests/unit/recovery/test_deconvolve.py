"""Reading private columns: the maximum is the maximum, every input says the same, errors are ours.

`inbounds.recovery.cells`, `inbounds.recovery.deconvolution`, `inbounds.recovery.statistic`,
`inbounds.recovery.response` and `inbounds.data` are tested here too.
"""

import dataclasses
import io
import warnings
from contextlib import redirect_stderr
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.optimize import minimize

import inbounds as ib
from inbounds._types import Floats
from inbounds.data import load_anes96
from inbounds.errors import ArgumentError, ArgumentTypeError, FewOutputsWarning
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.recovery.cells import Cells
from inbounds.recovery.deconvolve import Deconvolution, deconvolve
from inbounds.recovery.response import bending, fit
from inbounds.sampling.entropy import SeededEntropy

BOX = ib.Box(0, 120)
STEPPED = ib.Box(0, 120, step=1)
MECHANISMS = [
    ib.BoundedGaussian(BOX, 120, sigma=40.0),
    ib.BoundedLaplace(BOX, 120, scale=30.0),
    ib.ClampedGaussian(BOX, 120, sigma=40.0),
    ib.ClampedLaplace(BOX, 120, scale=30.0),
    ib.BoundedGaussian(STEPPED, 120, sigma=40.0),
    ib.ClampedLaplace(STEPPED, 120, scale=30.0),
    ib.ClampedGaussian(ib.Box(0, 10, step=3), 10, sigma=4.0),
    ib.BoundedLaplace(ib.Box(-1, 1, step=0.001), 1, scale=0.3),
    ib.ClampedStaircase(BOX, 120, epsilon=3.0),
    ib.ClampedStaircase(STEPPED, 120, epsilon=3.0),
]


def problem(seed: int, cells: int = 5, outputs: int = 9) -> tuple[Floats, Floats]:
    """A response that mixes, and counts some of which are zero."""
    rng = np.random.default_rng(seed)
    response = rng.dirichlet(np.ones(outputs), cells)
    return response, rng.poisson(rng.choice([0.0, 3.0, 400.0], outputs)).astype(float) + 1


def objective(weights: Floats, response: Floats, counts: Floats, penalty: Floats) -> float:
    return float(counts @ np.log(weights @ response) - weights @ penalty @ weights / 2)


def climbed(response: Floats, counts: Floats) -> Floats:
    """Plain expectation maximisation, long enough for a tiny problem."""
    weights = np.full(len(response), 1 / len(response))
    for _ in range(50_000):
        weights = weights * (response @ (counts / (weights @ response))) / counts.sum()
    return weights


def outputs_of(mechanism: Mechanism, size: int = 2000) -> Any:
    low, high = float(mechanism.domain.lower), float(mechanism.domain.upper)
    values = np.random.default_rng(5).uniform(low, low + (high - low) / 2, size)
    return mechanism.release(values, entropy=SeededEntropy(5))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("price", [0.0, 3.0])
def test_an_independent_solver_finds_the_same_maximum(seed: int, price: float) -> None:
    response, counts = problem(seed)
    penalty = price * bending(np.ones(5))
    found = fit(response, counts, penalty)
    other = minimize(
        lambda w: -objective(w, response, counts, penalty) / counts.sum(),
        np.full(5, 0.2),
        method="SLSQP",
        bounds=[(1e-12, 1)] * 5,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    best = objective(other.x / other.x.sum(), response, counts, penalty)
    mine = objective(found.weights, response, counts, penalty)
    assert mine == pytest.approx(best, abs=2e-3)
    assert mine + found.gap >= best - 1e-9
    assert found.gap <= 1e-3
    assert found.weights.min() >= 0
    assert found.weights.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_expectation_maximisation_climbs_to_the_same_likelihood(seed: int) -> None:
    response, counts = problem(seed)
    nothing = np.zeros((5, 5))
    found, other = fit(response, counts, nothing), climbed(response, counts)
    mine = objective(found.weights, response, counts, nothing)
    theirs = objective(other, response, counts, nothing)
    assert theirs - found.gap - 1e-9 <= mine <= theirs + 2e-3


def test_the_gap_bounds_what_is_missing_at_any_distribution() -> None:
    """The certificate is the Frank-Wolfe gap: checked where the optimum is far away."""
    response, counts = problem(1)
    penalty = bending(np.ones(5))
    top = objective(fit(response, counts, penalty).weights, response, counts, penalty)
    for weights in np.random.default_rng(0).dirichlet(np.ones(5), 50):
        slope = response @ (counts / (weights @ response)) - penalty @ weights
        missing = top - objective(weights, response, counts, penalty)
        assert 0 < missing <= slope.max() - slope @ weights


def test_counts_far_beyond_any_table_still_converge() -> None:
    response, counts = problem(2)
    assert fit(response, 1e9 * counts, np.zeros((5, 5))).gap <= 1e-11 * 1e9 * counts.sum()


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_responses_are_distributions_and_match_drawn_outputs(mechanism: Mechanism) -> None:
    """Uniform values in a cell, or its one step; chi-square at a false-alarm rate below 1e-6."""
    cells = Cells.of(mechanism, 8)
    response = cells.response(mechanism)
    assert response.sum(1) == pytest.approx(1, abs=1e-12)
    draws = 40_000
    for i in (0, len(response) - 1):
        ends = cells.edges[i : i + 2] if cells.points is None else cells.points[[i, i]]
        spread = np.linspace(*ends, draws)
        seen = cells.count(mechanism.release(spread, entropy=SeededEntropy(i)), None)
        expected = draws * response[i]
        kept = expected > 5
        assert seen[~kept].sum() < 60
        statistic = ((seen - expected)[kept] ** 2 / expected[kept]).sum()
        degrees = int(kept.sum())
        assert statistic < degrees + 7 * np.sqrt(2 * degrees) + 30
        wrong = draws * np.roll(response[i], 1)
        assert ((seen - wrong)[kept] ** 2 / np.maximum(wrong[kept], 5)).sum() > 500


def test_the_bounds_of_clamped_noise_have_cells_of_their_own() -> None:
    mechanism = ib.ClampedLaplace(BOX, 120, scale=30.0)
    cells = Cells.of(mechanism, 4)
    assert cells.count([0.0, 120.0, 120.0, 1e-9, np.nextafter(120, 0)], None).tolist() == [
        *[1.0, 1.0],
        *[0.0] * 6,
        *[1.0, 2.0],
    ]
    at_zero, at_top = mechanism.mass_at_bounds(np.array([0.0, 30.0]))
    assert at_zero[1] < cells.response(mechanism)[0, 0] < at_zero[0]
    assert at_top[0] < cells.response(mechanism)[0, -1] < at_top[1]


def test_a_step_box_has_whole_steps_in_a_cell() -> None:
    result = deconvolve(outputs_of(MECHANISMS[4]), MECHANISMS[4], bins=61, bootstrap=0)
    assert result.edges[[0, 1, 2, -1]].tolist() == [0, 1.5, 3.5, 120]
    each = deconvolve(outputs_of(MECHANISMS[4]), MECHANISMS[4], bins=200, bootstrap=0)
    assert each.values[1:-1] == pytest.approx(np.arange(1, 120))


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_recovered_weights_are_a_certified_distribution(mechanism: Mechanism) -> None:
    outputs = outputs_of(mechanism)
    result = deconvolve(outputs, mechanism, bootstrap=0)
    assert result.weights.min() >= 0
    assert result.weights.sum() == pytest.approx(1)
    assert result.private.sum() == pytest.approx(1)
    assert 0 <= result.gap <= 1e-3
    assert result.count == outputs.size
    low, high = float(mechanism.domain.lower), float(mechanism.domain.upper)
    truth = low + (high - low) / 4
    assert abs(result.mean - truth) < 0.1 * (high - low) < abs(np.mean(outputs) - truth) + high


def test_little_noise_gives_the_histogram_of_the_values() -> None:
    mechanism = ib.ClampedGaussian(BOX, 120, sigma=1e-3)
    ages = load_anes96()["age"] + 0.5
    result = deconvolve(mechanism.release(ages), mechanism, bins=60, smooth=0, bootstrap=0)
    truth = np.histogram(ages, result.edges)[0] / ages.size
    assert result.weights == pytest.approx(truth, abs=2e-3)


def test_outputs_at_the_bounds_under_almost_no_noise_have_an_explanation() -> None:
    mechanism = ib.ClampedGaussian(BOX, 120, sigma=1e-6)
    result = deconvolve([0.0] * 30 + [120.0] * 10, mechanism, smooth=0, bootstrap=0)
    assert result.weights[[0, -1]] == pytest.approx([0.75, 0.25], abs=1e-3)


@pytest.mark.parametrize("kind", [ib.BoundedGaussian, ib.ClampedLaplace])
@pytest.mark.parametrize("share", [1e-9, 1e-3, 1e6])
@pytest.mark.parametrize("bins", [2, 3, 40])
def test_extreme_noise_few_cells_and_huge_counts_converge(
    kind: type[Mechanism], share: float, bins: int
) -> None:
    mechanism = kind(ib.Box(-5, 1e6), 1, share * (1e6 + 5))  # type: ignore[call-arg]
    outputs = mechanism.release(np.linspace(-5, 3e5, 50), entropy=SeededEntropy(6))
    for smooth in (0.0, 1e6):
        counts = np.full(50, 10**9)
        result = deconvolve(
            outputs, mechanism, counts=counts, bins=bins, smooth=smooth, bootstrap=0
        )
        assert result.gap <= 1e-12 * result.count
        assert np.isfinite(result.weights).all()


def test_every_kind_of_column_gives_the_same_result() -> None:
    mechanism = MECHANISMS[4]
    outputs = outputs_of(mechanism)
    once = deconvolve(outputs, mechanism, bootstrap=0).weights
    distinct, counts = np.unique(outputs, return_counts=True)
    columns: list[tuple[Any, Any]] = [
        (outputs.tolist(), None),
        (outputs.reshape(4, -1), None),
        (pd.Series(outputs), None),
        (pl.Series(outputs), None),
        (pa.chunked_array(np.array_split(outputs, 2)), None),
        (iter(np.array_split(outputs, 7)), None),
        ((pl.Series(part) for part in np.array_split(outputs, 3)), None),
        (distinct, counts),
    ]
    for column, times in columns:
        again = deconvolve(column, mechanism, counts=times, bootstrap=0).weights
        assert np.array_equal(again, once)


def test_a_column_longer_than_a_block_is_counted_whole() -> None:
    outputs = np.full((1 << 20) + 5, 60.0)
    assert Cells.of(MECHANISMS[0], 8).count(outputs, None).sum() == outputs.size


def test_statistics_are_those_of_the_stairs() -> None:
    edges, weights = np.array([0.0, 1, 2, 4]), np.array([0.5, 0.25, 0.25])
    result = Deconvolution(MECHANISMS[0], edges, weights, weights, 4, 0.0, np.empty((0, 3)))
    fine = (np.arange(400_000) + 0.5) / 100_000
    density = np.repeat([0.5, 0.25, 0.125], [100_000, 100_000, 200_000]) / 100_000
    assert result.mean == pytest.approx(fine @ density)
    assert result.variance == pytest.approx((fine - result.mean) ** 2 @ density)
    assert result.quantile([0, 0.25, 0.5, 0.875, 1]).tolist() == [0, 0.5, 1, 3, 4]
    assert result.cdf(3) == 0.875
    assert result.cdf([-1, 9]).tolist() == [0, 1]
    assert result.histogram([0, 0.5, 4])[0].tolist() == [0.25, 0.75]
    assert result.histogram(4)[0].tolist() == [0.5, 0.25, 0.125, 0.125]


def test_the_bootstrap_repeats_with_its_seed_and_only_then() -> None:
    outputs = outputs_of(MECHANISMS[0])
    first, second, third = (
        deconvolve(outputs, MECHANISMS[0], bootstrap=30, rng=np.random.default_rng(seed))
        for seed in (1, 1, 2)
    )
    assert first.standard_error("variance") == second.standard_error("variance")
    assert first.standard_error("variance") != third.standard_error("variance")
    for statistic in ("mean", "variance", 0.1):  # they need none
        assert first.interval(statistic, 0.9) == third.interval(statistic, 0.9)  # type: ignore[arg-type]
    assert first.standard_error(0.5) == first.standard_error("median") > 0
    assert first.standard_error("variance") > 0
    wide, narrow = first.interval("mean", 0.95), first.interval("mean", 0.5)
    assert wide[0] < narrow[0] < first.mean < narrow[1] < wide[1]


def test_a_progress_bar_is_shown_only_when_asked_for() -> None:
    for progress in (False, True):
        with redirect_stderr(io.StringIO()) as text:
            deconvolve([60.0], MECHANISMS[0], bootstrap=3, progress=progress)
        assert ("bootstrap" in text.getvalue()) == progress


def test_more_smoothing_never_bends_more() -> None:
    outputs = outputs_of(MECHANISMS[0])
    penalty = bending(np.ones(64))
    bends = [
        float(w @ penalty @ w)
        for w in (
            deconvolve(outputs, MECHANISMS[0], smooth=s, bootstrap=0).weights
            for s in (0.0, 0.1, 1.0, 10.0)
        )
    ]
    assert bends == sorted(bends, reverse=True)
    assert bends[0] > 10 * bends[-1]


@pytest.mark.parametrize(
    ("outputs", "options", "message"),
    [
        ([130.0], {}, "outputs must lie in the mechanism's box, between 0 and 120"),
        ([float("nan")], {}, "outputs must not contain NaN"),
        ([], {}, "outputs must hold at least one output"),
        ([1.0], {"counts": [1, 2]}, "counts must be zero or more, and as many as outputs"),
        ([1.0], {"counts": [1e300]}, "counts must be at most"),
        ([1.0], {"bins": 10**12}, "bins must be a whole number from 2 to 4,096"),
        (np.broadcast_to(1.0, 10**12), {}, "outputs must fit in memory"),
        ([1.0], {"counts": [-1]}, "counts must be zero or more"),
        ([1.0], {"bins": 1}, "bins must be a whole number from 2 to"),
        ([1.0], {"bins": 2.5}, "bins must be a whole number"),
        ([1.0], {"bootstrap": -1}, "bootstrap must be a whole number from 0 to"),
        ([1.0], {"smooth": -1.0}, "smooth must be zero or more"),
    ],
)
def test_impossible_arguments_are_refused(
    outputs: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ArgumentError, match=message):
        deconvolve(outputs, MECHANISMS[0], **options)


def test_arguments_of_another_kind_are_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="outputs must be"):
        deconvolve(["a"], MECHANISMS[0])
    with pytest.raises(ArgumentTypeError, match="mechanism must be an inbounds mechanism"):
        deconvolve([1.0], "BoundedGaussian")  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="rng must be"):
        deconvolve([1.0], MECHANISMS[0], rng=1)  # type: ignore[arg-type]
    joint = ib.BoundedGaussian(ib.Box([0, 0], [1, 1]), 1, sigma=1.0)
    with pytest.raises(ArgumentError, match="mechanism must have an interval as its box"):
        deconvolve([1.0], joint)


def test_errors_need_a_bootstrap_and_a_known_statistic() -> None:
    result = deconvolve([60.0], MECHANISMS[0], bootstrap=0)
    for statistic in ("variance", "median", 0.1):
        with pytest.raises(ArgumentError, match="bootstrap=200"):
            result.standard_error(statistic)  # type: ignore[arg-type]
    some = deconvolve([60.0], MECHANISMS[0], bootstrap=2)
    with pytest.raises(ArgumentError, match="statistic must be one of"):
        some.standard_error("mode")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="q must be between 0 and 1"):
        some.standard_error(1.5)
    with pytest.raises(ArgumentError, match="level must be strictly between"):
        some.interval("mean", 1.0)


def test_a_wrong_call_of_interval_says_what_to_write() -> None:
    result: Any = deconvolve([60.0], MECHANISMS[0], bootstrap=0)
    with pytest.raises(ArgumentTypeError, match="the statistic comes first"):
        result.interval(0.95, "mean")
    with pytest.raises(
        ArgumentTypeError, match=r"level must be given: interval\(statistic, level\)"
    ):
        result.interval("mean")
    with pytest.raises(ArgumentTypeError, match="did you mean level"):
        result.interval("mean", lvel=0.95)
    with pytest.raises(ArgumentTypeError, match="proved must be given by name"):
        result.interval("mean", 0.95, True)
    with pytest.raises(ArgumentTypeError, match="proved must be True or False"):
        result.interval("mean", 0.95, proved="yes")
    with pytest.raises(ArgumentError, match="statistic must be one of 'mean'"):
        result.interval("Mean", 0.95)
    with pytest.raises(ArgumentTypeError, match="statistic must be given"):
        result.standard_error()


def test_an_interval_that_cannot_be_proved_is_refused() -> None:
    gaussian = deconvolve([60.0], MECHANISMS[0], bootstrap=0)
    with pytest.raises(ArgumentError, match="no bound on the bias of"):
        gaussian.interval("mean", 0.95, proved=True)
    window = ib.Window(ib.Box(0, 120), 120, epsilon=1.0)
    result = deconvolve([60.0], window, bootstrap=2)
    with pytest.raises(ArgumentError, match="False for statistics other than the mean"):
        result.interval("median", 0.95, proved=True)
    low, high = result.interval("mean", 0.95, proved=True)
    assert 0 <= low < high <= 120


def test_the_table_is_whole() -> None:
    table = load_anes96()
    assert list(table) == ["age", "education", "income", "tv_news"]
    assert {column.size for column in table.values()} == {944}
    assert table["age"].mean() == pytest.approx(47.043, abs=1e-3)
    assert set(table["education"].tolist()) == set(range(1, 8))
    assert len(pd.DataFrame(table)) == 944


def test_printing_does_not_look_for_compatible_distributions() -> None:
    """That takes a second; only intervals of other statistics than the mean need it."""
    m = ib.Window(ib.Box(0, 1), 1, epsilon=2.0)
    result = deconvolve(m.release([0.1, 0.7] * 100), m, bootstrap=0)
    asked = []

    def compatible() -> Any:
        asked.append(1)
        raise AssertionError

    watched = dataclasses.replace(result, _compatible=compatible)
    assert "95 % interval" in str(watched)
    assert "95 % interval" in watched._repr_html_()
    with pytest.raises(AssertionError):
        watched.interval("median", 0.95)
    assert asked == [1]


@pytest.mark.parametrize("bootstrap", [0, 20])
def test_the_table_shows_the_interval_of_the_mean_and_how_to_get_others(bootstrap: int) -> None:
    m = ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=0.2)
    result = deconvolve(m.release([0.1, 0.7] * 100), m, bootstrap=bootstrap)
    rows = dict(result._table().rows)
    assert rows["mean"].startswith(f"{result.mean:.6g} (95 % interval ")
    assert rows["median"] == f"{result.quantile(0.5):.6g}"
    assert rows["variance"] == f"{result.variance:.6g}"
    assert rows["other intervals"].startswith('interval("median", 0.95)')
    assert rows["outputs"] == "200"
    assert "<caption" in result._repr_html_()
    assert "median" in str(result)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_many_values_on_a_bound_are_found_there(mechanism: Mechanism) -> None:
    low, high = float(mechanism.domain.lower), float(mechanism.domain.upper)
    last = low + 9 if high == 10 else high
    values = np.random.default_rng(6).choice(
        [low, last, (low + last) / 2], 40_000, p=[0.6, 0.3, 0.1]
    )
    outputs = mechanism.release(values, entropy=SeededEntropy(6))
    result = deconvolve(outputs, mechanism, bootstrap=0)
    assert result.atoms == pytest.approx([0.6, 0.3], abs=0.12)
    assert (result.atoms <= result.weights[[0, -1]] + 1e-12).all()
    assert result.cdf(low) >= 0.45
    assert result.quantile(0.3) == low
    assert result.histogram(2)[0].sum() == pytest.approx(1)
    assert result.histogram([low, last, high + 1] if last < high else [low, high])[0][0] > 0.6


def test_a_step_of_few_is_a_point() -> None:
    mechanism = ib.BoundedLaplace(ib.Box(0, 4, step=1), 4, scale=1.0)
    values = np.repeat([0, 2, 4], [5000, 3000, 2000])
    result = deconvolve(mechanism.release(values), mechanism, smooth=0, bootstrap=20)
    assert result.values.tolist() == [0, 1, 2, 3, 4]
    assert result.weights == pytest.approx([0.5, 0, 0.3, 0, 0.2], abs=0.08)
    assert result.cdf([-0.5, 0, 0.5, 4]) == pytest.approx([0, 0.5, 0.5, 1], abs=0.08)
    assert set(np.asarray(result.quantile([0.1, 0.7, 0.99])).tolist()) <= {0, 1, 2, 3, 4}
    assert result.variance == pytest.approx(np.var(values), abs=0.4)


def test_the_interval_of_the_mean_allows_for_its_bias() -> None:
    mechanism = ib.BoundedLaplace(BOX, 120, scale=60.0)
    result = deconvolve([0.0, 60.0, 120.0], mechanism, counts=[10**9] * 3, bootstrap=0)
    low, high = result.interval("mean", 0.95)
    bias = result._readings.bias  # type: ignore[union-attr]
    assert bias > 4 * result.standard_error("mean")
    assert (high - low) / 2 >= bias + 1.9 * result.standard_error("mean")


@pytest.mark.parametrize(
    ("mechanism", "kinds"),
    [
        (ib.Optimal(BOX, 120, 1.0), 2),
        (ib.Optimal(STEPPED, 120, 1.0, "worst"), 2),
        (ib.Optimal(ib.Box(0, 4, step=1), 4, 0.5), 1),  # its only output is 2
        (ib.Optimal(BOX, 120, 1.0, "unbiased"), None),
        (ib.Optimal(ib.Box(0, 1, step=1), 1, 1.0), None),  # two outputs for two values
        (ib.Window(BOX, 120, 0.5), None),
        (ib.BoundedGaussian(BOX, 120, sigma=400.0), None),
    ],
    ids=repr,
)
def test_outputs_that_tell_few_values_apart_are_warned_of(
    mechanism: Mechanism, kinds: int | None
) -> None:
    outputs = mechanism.release(np.linspace(0, float(mechanism.domain.upper), 50))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = deconvolve(outputs, mechanism, bootstrap=0)
    assert result.kinds == kinds
    assert [warning.category for warning in caught] == [FewOutputsWarning] * (kinds is not None)
    assert all(warning.filename == __file__ for warning in caught)
    if kinds is not None:
        assert f"tell apart only {kinds} kinds of values" in str(caught[0].message)
        assert "use Window or Optimal" in str(caught[0].message)
    assert ("The shape is mostly a guess" in str(result)) == (kinds is not None)


def test_outputs_of_another_mechanism_are_refused():
    window = ib.Window(ib.Box(0, 1), 1, epsilon=1.0)
    other = ib.Optimal(ib.Box(0, 1), 1, 1.0, "unbiased")
    with pytest.raises(ib.ArgumentError, match=r"outputs must be possible.*\nHint: pass the mech"):
        deconvolve(window.release(np.linspace(0, 1, 500)), other)


@pytest.mark.parametrize("count", [238, 762])
def test_two_outputs_whose_counts_fit_exactly_are_read_back(count: int) -> None:
    """Only rounding errors are left of the information then, and its trace may be negative."""
    m = ib.calibrate(ib.Box(0, 120), 120, epsilon=1.0)
    outputs = np.repeat(m.outputs[[0, -1]], [count, 1000 - count])  # type: ignore[attr-defined]
    with pytest.warns(FewOutputsWarning):
        recovered = ib.deconvolve(outputs, m)
    assert 0 <= recovered.mean <= 120
