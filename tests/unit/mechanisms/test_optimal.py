import json
import math
import pickle
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

import inbounds as ib
from inbounds import Box, Optimal
from inbounds.analysis.error import ErrorSummary
from inbounds.calibration.objective import OBJECTIVES
from inbounds.calibration.table import TOTAL
from inbounds.errors import ArgumentError, ArgumentTypeError, CertificateError, InBoundsError

FALSE_ALARM = 1e-9  # of each test of counts
MECHANISMS = [
    Optimal(Box(0, 120), 30, 1.0),
    Optimal(Box(0, 1), 1, 1.0, "unbiased"),
    Optimal(Box(-3, 1), 0.9, 2.0, "worst"),
    Optimal(Box(0, 12, step=1), 12, 2.0),
    Optimal(Box(0, 7, step=1), 7, 1.0, "unbiased"),
    Optimal(Box(17.99, 41.565), 0.41, 0.5),
]
each = pytest.mark.parametrize("m", MECHANISMS, ids=repr)


@cache
def rows_of(m: Optimal) -> np.ndarray:
    """Return the probability of each distinct output, from the integers of the table."""
    chances = np.array([[entry / TOTAL for entry in row] for row in m.table.rows])
    total = np.zeros((len(chances), m.outputs.size))
    np.add.at(total.T, np.searchsorted(m.outputs, m.table.outputs), chances.T)
    return total


def chances_of(m: Optimal, value: float) -> np.ndarray:
    """Return the probability of each output for a value."""
    table, chances = m.table, rows_of(m)
    i = int(np.searchsorted(table.boundaries[1:-1], value, side="right"))
    row = chances[i]
    if table.kind == "knots":
        low, high = table.boundaries[i : i + 2]
        row = row + (value - low) / (high - low) * (chances[i + 1] - row)
    return row


def values_of(m: Optimal) -> np.ndarray:
    lower, upper = float(m.domain.lower), float(m.domain.upper)
    return np.unique([*np.linspace(lower, upper, 23), *m.breaks, *np.nextafter(m.breaks, lower)])


@each
def test_moments_and_distribution_are_those_of_the_table(m: Optimal) -> None:
    for value in values_of(m).tolist():
        chances = chances_of(m, value)
        mean = float(chances @ m.outputs)
        assert m.mean(value) == pytest.approx(mean, rel=1e-12)
        assert m.variance(value) == pytest.approx(
            float(chances @ (m.outputs - mean) ** 2), rel=1e-9
        )
        assert m.mse(value) == pytest.approx(float(chances @ (m.outputs - value) ** 2), rel=1e-9)
        np.testing.assert_allclose(m.cdf(m.outputs, value), np.cumsum(chances), atol=1e-12)
        for q in (0.01, 0.3, 0.999):
            x = m.quantile(q, value)
            assert m.cdf(x, value) >= q - 1e-12
            assert m.cdf(np.nextafter(x, -np.inf), value) < q + 1e-12
        low, high = m.mass_at_bounds(value)
        ends = float(m.domain.lower), float(m.domain.upper)
        assert low == pytest.approx(float(chances[m.outputs == ends[0]].sum()), abs=1e-12)
        assert high == pytest.approx(float(chances[m.outputs == ends[1]].sum()), abs=1e-12)


@each
def test_releases_have_these_probabilities_and_not_those_of_another_value(m: Optimal) -> None:
    lower, upper = float(m.domain.lower), float(m.domain.upper)
    value, other = (lower + part * (upper - lower) for part in (0.21, 0.79))
    outputs = m.release(np.full(200_000, value))
    counts = np.bincount(np.searchsorted(m.outputs, outputs), minlength=m.outputs.size)
    limit = float(chi2.isf(FALSE_ALARM, m.outputs.size))
    right, wrong = (chances_of(m, x) * outputs.size for x in (value, other))
    common = right > 5
    assert float(((counts - right)[common] ** 2 / right[common]).sum()) < limit
    assert float(((counts - wrong)[common] ** 2 / wrong[common]).sum()) > limit


@each
def test_intervals_hold_every_value_with_their_probability(m: Optimal) -> None:
    for level in (0.3, 0.8, 0.95, 0.999):
        low, high = m.confidence(m.outputs, level)
        for value in values_of(m).tolist():
            held = (low <= value) & (value <= high)
            assert float(chances_of(m, value) @ held) >= level - 1e-12


@each
def test_the_denoised_output_is_the_posterior_mean(m: Optimal) -> None:
    edges = np.unique([float(m.domain.lower), *m.breaks, float(m.domain.upper)])
    fine = np.concatenate([np.linspace(a, b, 101)[:-1] for a, b in zip(edges, edges[1:])])  # noqa: B905, RUF007
    widths = np.diff(np.append(fine, edges[-1]))
    middles = fine + widths / 2
    if m.domain.steps[0] is not None:  # values are on the steps, and all are equally likely
        middles = np.arange(edges[0], edges[-1] + 1)
        widths = np.ones(middles.size)
    table = np.array([chances_of(m, x) for x in middles.tolist()]) * widths[:, None]
    np.testing.assert_allclose(m.denoise(m.outputs), middles @ table / table.sum(axis=0), rtol=1e-4)


@pytest.mark.parametrize("m", [m for m in MECHANISMS if m.has_unbiased], ids=repr)
def test_unbiased_readings_have_the_value_as_their_mean(m: Optimal) -> None:
    width = float(m.domain.widths[0])
    for value in values_of(m).tolist():
        mean = float(chances_of(m, value) @ m.unbiased(m.outputs))
        assert abs(mean - value) <= m.reading_bias + 1e-12 * width
    assert m.reading_bias < 1e-9 * width


@pytest.mark.parametrize(
    "m",
    [
        Optimal(Box(1e9, 1e9 + 10, step=1), 10, 1.0, "unbiased"),
        Optimal(Box(1e15, 1e15 + 10, step=2.5), 7.5, 0.5, "unbiased"),
        Optimal(Box(1e15, 1e15 + 7), 3.5, 15.0, "unbiased"),
        Optimal(Box(2.0**53, 2.0**53 + 10, step=10 / 3), 3, 1.0, "unbiased"),
    ],
    ids=repr,
)
def test_readings_far_from_zero_state_the_bias_of_their_rounding(m: Optimal) -> None:
    readings = [Fraction(reading) for reading in m.unbiased(np.array(m.table.outputs)).tolist()]
    knots = m.table.boundaries if m.table.kind == "knots" else ()
    assert knots
    for knot, row in zip(knots, m.table.rows, strict=True):
        mean = sum(entry * reading for entry, reading in zip(row, readings, strict=True))
        assert abs(mean / TOTAL - Fraction(knot)) <= m.reading_bias


def test_cells_have_no_unbiased_reading() -> None:
    with pytest.raises(
        InBoundsError, match=r"^Optimal with the objective 'average' has no unbiased"
    ):
        MECHANISMS[0].unbiased(60.0)


@each
def test_errors_of_the_comparison_are_the_exact_ones(m: Optimal) -> None:
    error = ErrorSummary.of(m)
    if m.domain.step is not None:  # values and outputs are the steps
        steps = np.arange(float(m.domain.lower), float(m.domain.upper) + 1)
        errors = [chances_of(m, step) @ (m.outputs - step) ** 2 for step in steps.tolist()]
        assert error.average_rmse**2 == pytest.approx(np.mean(errors), rel=1e-9)
        return
    assert error.average_rmse**2 == pytest.approx(float(m._risk.average), rel=1e-9)
    if m.table.kind == "cells":
        assert error.worst_rmse**2 == pytest.approx(float(m._risk.worst), rel=1e-9)


@each
def test_a_copy_has_the_same_table_and_is_checked(m: Optimal) -> None:
    copy = pickle.loads(pickle.dumps(m))
    assert copy == m
    assert hash(copy) == hash(m)
    rows = [list(row) for row in m.table.rows]
    rows[0][0], rows[0][-1] = rows[0][0] + rows[0][-1] - 1, 1
    forged = replace(m.table, rows=tuple(map(tuple, rows)))
    with pytest.raises(CertificateError):
        Optimal(m.domain, m.sensitivity, m.epsilon, m.objective, forged)


def test_a_table_of_another_interval_or_none_at_all_is_refused() -> None:
    m = MECHANISMS[0]
    with pytest.raises(CertificateError, match="another interval"):
        Optimal(Box(0, 121), 30, 1.0, table=m.table)
    wrong: Any = "table"
    with pytest.raises(ArgumentTypeError, match=r"^table must be"):
        Optimal(Box(0, 120), 30, 1.0, table=wrong)


@each
def test_a_certificate_proves_its_epsilon_and_a_smaller_one_is_refused(m: Optimal) -> None:
    proof = m.certificate()
    assert type(proof).from_json(proof.to_json()).check() == proof
    assert (proof.epsilon, proof.rows) == (m.epsilon, m.table.rows)
    with pytest.raises(CertificateError):
        replace(proof, epsilon=m.epsilon * 0.99).check()
    with pytest.raises(CertificateError):
        replace(proof, sensitivity=proof.sensitivity * 1.01).check() if (
            m.table.reach < len(m.table.rows)
        ) else replace(proof, epsilon=m.epsilon / 2).check()


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"table": 3, "epsilon": 1, "sensitivity": 1}'])
def test_what_is_no_certificate_is_refused(text: str) -> None:
    with pytest.raises(ArgumentError, match=r"^text must be"):
        type(MECHANISMS[0].certificate()).from_json(text)


def test_total_variation_bounds_that_of_any_two_neighbours() -> None:
    for m in MECHANISMS:
        values, change = values_of(m), m.certificate().sensitivity
        top = 0.0
        for value in values.tolist():
            for near in values[np.abs(values - value) <= change].tolist():
                apart = np.abs(chances_of(m, value) - chances_of(m, near)).sum() / 2
                top = max(top, float(apart))
        assert top <= m.total_variation + 1e-12
        assert m.total_variation <= math.tanh(m.epsilon / 2) + 1e-12
        assert m.rho <= m.epsilon * math.tanh(m.epsilon / 2) * (1 + 1e-9)


def test_each_objective_is_best_by_its_own_measure() -> None:
    built = {name: Optimal(Box(0, 1), 1, 1.0, name) for name in OBJECTIVES}
    averages = {name: float(m._risk.average) for name, m in built.items()}
    worsts = {name: float(m._risk.worst) for name, m in built.items()}
    assert min(averages, key=lambda name: averages[name]) == "average"
    assert min(worsts, key=lambda name: worsts[name]) == "worst"
    window = ib.Window(Box(0, 1), 1, 1.0)
    values, slope = np.linspace(0, 1, 101), built["unbiased"].slope
    assert slope is not None
    mine = float(np.mean(built["unbiased"].variance(values))) / slope**2
    assert mine < 0.95 * float(np.mean(window.variance(values))) / math.tanh(0.25) ** 2


@pytest.mark.parametrize(
    ("call", "start"),
    [
        (lambda: Optimal(Box([0, 0], [1, 1]), 1, 1.0), "domain must be an interval for Optimal"),
        (lambda: Optimal(Box(0, 1), 1, -1.0), "epsilon must be"),
        (lambda: Optimal(Box(-1e300, 1e300), 1e300, 1.0), "domain must have bounds up to 1e100"),
        (lambda: Optimal(Box(0, 1e-200), 1e-200, 1.0), "domain must have bounds up to 1e100"),
        (lambda: Optimal(Box(0, 1), 1e-9, 1.0), "sensitivity must be at least"),
        (lambda: Optimal(Box(0, 1), 1, 1.0, "best"), "objective must be"),  # type: ignore[arg-type]
        (lambda: Optimal(Box(0, 10**6, step=1), 10**6, 1.0), "step must be large enough"),
        (
            lambda: Optimal.calibrated(Box(0, 1), 1, epsilon=1.0, delta=1e-6),
            "delta must be 0 for Optimal",
        ),
        (lambda: MECHANISMS[0].release([1.0, math.inf]), "values must be finite"),
    ],
)
def test_wrong_arguments_are_named(call: Any, start: str) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError)) as caught:
        call()
    assert str(caught.value).startswith(start)


def test_it_is_deconvolved_and_audited() -> None:
    m = MECHANISMS[1]
    values = np.random.default_rng(5).beta(2, 6, 20_000)
    result = ib.deconvolve(m.release(values), m, bootstrap=2)
    low, high = result.interval("mean", 0.999999)
    assert low < values.mean() < high
    assert ib.audit(m, releases=200_000).epsilon_lower > 0.9


@pytest.mark.parametrize("name", ["epsilon", "sensitivity"])
def test_numbers_of_a_certificate_are_not_texts(name: str) -> None:
    proof = MECHANISMS[0].certificate()
    fields = json.loads(proof.to_json())
    for text in ("1.99999999999999999999", "1.0"):
        forged = json.dumps(fields | {name: text})
        with pytest.raises(ArgumentError, match=r"^text must be"):
            type(proof).from_json(forged)


def test_a_table_of_another_kind_is_not_called_unbiased() -> None:
    with pytest.raises(CertificateError, match=r'not made for the objective "unbiased"'):
        replace(Optimal(Box(0, 120), 30, 1.0), objective="unbiased")


def test_a_table_equals_itself_and_nothing_that_is_no_table() -> None:
    table = Optimal.calibrated(Box(0, 1), 1, epsilon=1.0)
    assert table == Optimal.calibrated(Box(0, 1), 1, epsilon=1.0)
    assert table != Optimal.calibrated(Box(0, 1), 1, epsilon=2.0)
    assert table != None  # noqa: E711 - how others compare is not up to us
    assert table != "a table"
