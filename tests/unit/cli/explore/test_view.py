import json
import random
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import inbounds as ib
from inbounds.analysis.error import ErrorSummary
from inbounds.cli.explore.question import MECHANISMS, Question
from inbounds.cli.explore.view import compared, regime_map, regime_rows, view
from inbounds.cli.rounded import Rounded, is_rounded_after, seen_interval
from inbounds.errors import WeakGuaranteeWarning

AGE = {"bounds": [[0, 120]], "sensitivity": [2.5], "guarantee": {"epsilon": 1}, "value": [41.3]}
PAIR = AGE | {"bounds": [[0, 10], [1, 9]], "value": [1, 2.5]}
DELTA = {"epsilon": 1, "delta": 1e-6}


def cases():
    yield AGE
    for name in MECHANISMS:
        yield AGE | {"mechanism": name}
        yield AGE | {"mechanism": name, "value": [0], "sensitivity": [120]}
        yield AGE | {"mechanism": name, "step": 1, "value": [7]}
    yield AGE | {"mechanism": "clamped-laplace", "step": 0.01}
    yield AGE | {"guarantee": DELTA}
    yield AGE | {"guarantee": {"rho": 0.1}}
    yield PAIR
    yield PAIR | {"guarantee": DELTA, "norm": "l1"}
    yield PAIR | {"step": 0.5, "mechanism": "clamped-laplace"}


@pytest.mark.parametrize("document", list(cases()), ids=str)
def test_numbers_are_those_of_the_mechanism(document):
    question = Question.read(document)
    shown, m = view(question), question.mechanism()
    assert shown["mechanism"]["name"].partition(" (")[0] == type(m).__name__
    assert shown["mechanism"]["shown"] == repr(m)
    assert shown["value"] == list(question.value)
    point = np.array(question.value) if question.is_joint else question.value[0]
    low, high = seen_interval(m, point, 0.95)
    coordinates = shown["coordinates"]
    rounded = Rounded.of(m)
    expectations = {
        "rmse": np.sqrt(m.mse(point)),
        "bias": m.bias(point),
        "variance": m.variance(point),
    }
    if rounded is not None:
        expectations = rounded.moments(np.array(question.value))
    for key, expected in expectations.items():
        assert [coordinate[key] for coordinate in coordinates] == np.ravel(expected).tolist()
    ends = list(zip(np.ravel(low).tolist(), np.ravel(high).tolist(), strict=True))
    assert [tuple(coordinate["interval"]) for coordinate in coordinates] == ends
    error = ErrorSummary.of(m)
    assert shown["error"] == {
        key: getattr(error, key)
        for key in ("worst_rmse", "average_rmse", "worst_bias", "bound_mass")
    }
    guarantees = shown["guarantees"]
    assert (guarantees["epsilon"], guarantees["rho"]) == (m.epsilon, m.rho)
    assert guarantees["gdp"] == m.gdp
    check_pair(guarantees, m, question.guarantee)
    if not question.is_joint:
        assert shown["confidence"] == list(m.confidence(point, 0.95))


def check_pair(shown, m, asked):
    """The pair of epsilon and delta is one that the mechanism has, and close to what was asked."""
    if asked.rho is None and not asked.delta:
        assert (shown["delta"], shown["epsilon_at_delta"]) == (0, None)
        return
    epsilon, delta = shown["epsilon_at_delta"], shown["delta"]
    assert delta == (asked.delta or 1e-6)
    assert m.delta(epsilon) <= delta
    if asked.epsilon is not None:
        assert epsilon == pytest.approx(min(asked.epsilon, m.epsilon), rel=1e-5)


def test_the_pair_that_was_asked_for_is_not_the_pure_epsilon_and_delta():
    document = AGE | {"guarantee": DELTA, "mechanism": "bounded-gaussian"}
    guarantees = view(Question.read(document))["guarantees"]
    assert (guarantees["epsilon_at_delta"], guarantees["delta"]) == (1, 1e-6)
    assert guarantees["epsilon"] == pytest.approx(2.49, abs=0.01)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, (True, True)),
        ({"guarantee": {"epsilon": 0.01}}, (False, False)),  # less error, but not by a percent
        ({"mechanism": "window"}, (False, True)),  # the budget is fine, the mechanism is not
        ({"guarantee": {"epsilon": 1e-5}, "mechanism": "window"}, (False, False)),
        ({"sensitivity": [120], "people": 10_000}, (True, True)),
    ],
)
def test_the_middle_is_beaten_by_a_percent_or_not_at_all(changes, expected):
    question = Question.read(AGE | changes)
    shown = view(question)
    assert (shown["beats_the_middle"], shown["best_beats_the_middle"]) == expected
    assert compared(question)["beats_the_middle"] == expected[1]


@pytest.mark.parametrize("document", list(cases()), ids=str)
def test_errors_against_the_value_are_those_of_the_mechanism(document):
    question = Question.read(document)
    m = question.mechanism()
    columns = [coordinate["errors"] for coordinate in view(question)["coordinates"]]
    assert all(len(column["x"]) == 61 or question.step for column in columns)
    for index, column in enumerate(columns):
        x = np.array(column["x"])
        assert (np.diff(x) > 0).all()
        assert x[0] == question.bounds[index][0]
        assert x[-1] == question.bounds[index][1]
        rows = np.array([question.value] * x.size)
        rows[:, index] = x
        points = rows if question.is_joint else x
        pick = (slice(None), index) if question.is_joint else slice(None)
        rmse, bias = np.sqrt(m.mse(points)), m.bias(points)
        if (rounded := Rounded.of(m)) is not None:
            rmse, bias = (rounded.moments(points)[key] for key in ("rmse", "bias"))
        np.testing.assert_allclose(column["rmse"], rmse[pick], rtol=1e-12)
        np.testing.assert_allclose(column["bias"], bias[pick], rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("document", list(cases()), ids=str)
def test_the_interval_holds_95_percent_of_outputs(document):
    question = Question.read(document)
    m, width = question.mechanism(), question.box.widths
    point = np.array(question.value) if question.is_joint else question.value[0]
    low, high = np.array([c["interval"] for c in view(question)["coordinates"]]).T
    outputs = m.release(np.tile(point, (4000, 1)) if question.is_joint else np.full(4000, point))
    half = 1e-6 * width + (question.step or 0) / 2 * (1 + 1e-9)
    inside = (outputs.reshape(4000, -1) >= low - half) & (outputs.reshape(4000, -1) <= high + half)
    # fails once in 10⁷ runs
    assert inside.mean(axis=0).min() > 0.95 - 6 * np.sqrt(0.05 * 0.95 / 4000)
    below = low - 1e-5 * width  # a possible output at the end belongs to the interval
    if question.step is not None and is_rounded_after(
        m
    ):  # outputs up to half a step away are rounded to the ends
        low, high = low - question.step / 2, high + question.step / 2
        below = low
    ends = (high, below) if question.is_joint else (high[0], below[0])
    upto, before = (m.cdf(end, point) for end in ends)
    assert np.min(upto - before) >= 0.95 - 1e-6


def test_densities_and_stems_of_every_coordinate_add_up():
    for document in cases():
        for coordinate in view(Question.read(document))["coordinates"]:
            density = coordinate["density"]
            area = 0 if density is None else np.trapezoid(density["y"], density["x"])
            total = area + sum(stem["probability"] for stem in coordinate["stems"])
            assert total == pytest.approx(1, abs=0.012)
            low, high = coordinate["range"]
            assert coordinate["lower"] <= low < high <= coordinate["upper"]


def test_a_dragged_value_changes_nothing_but_what_depends_on_it():
    first, second = (view(Question.read(AGE | {"value": [x]})) for x in (20, 90))
    fixed = ("mechanism", "error", "middle_rmse", "guarantees", "risk", "notes")
    assert all(first[key] == second[key] for key in fixed)
    assert first["coordinates"][0]["interval"] != second["coordinates"][0]["interval"]


def test_people_have_the_error_of_their_mean():
    question = Question.read(AGE | {"sensitivity": [120], "people": 1000})
    best = ib.compare(ib.Box(0, 120), 120, epsilon=1.0, people=1000).best()
    shown = view(question)
    assert shown["people"] == {
        "count": 1000,
        "mean_rmse": best.error.mean_rmse,
        "plain_bias": best.error.worst_bias,
    }
    assert view(Question.read(AGE))["people"] is None


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, []),
        ({"step": 1, "mechanism": "bounded-laplace"}, []),
        ({"step": 0.1, "mechanism": "clamped-laplace"}, ["before outputs are rounded"]),
        (PAIR | {"step": 1}, ["Each coordinate", "before outputs are rounded"]),
        ({"step": 1, "mechanism": "clamped-staircase"}, []),
        ({"step": 1, "mechanism": "clamped-staircase", "sensitivity": [1]}, []),  # whole steps
        ({"step": 1, "mechanism": "optimal"}, []),
        ({"guarantee": {"epsilon": 25}, "mechanism": "window"}, ["protects hardly anything"]),
        (PAIR, ["Each coordinate is shown by itself"]),
    ],
)
def test_notes_say_what_the_numbers_do_not(changes, words):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakGuaranteeWarning)
        notes = view(Question.read(AGE | changes))["notes"]
    assert len(notes) == len(words)
    assert all(word in note for word, note in zip(words, notes, strict=True))


@pytest.mark.parametrize(
    "changes",
    [{}, {"step": 1}, {"guarantee": DELTA}, {"people": 100}, PAIR, {"guarantee": {"rho": 1}}],
)
def test_the_comparison_is_that_of_the_library(changes):
    question = Question.read(AGE | changes)
    shown = compared(question)
    assert json.loads(json.dumps(shown, allow_nan=False)) == shown
    stated = question.guarantee.stated()
    expected = ib.compare(question.box, question.sensitivity, **stated, people=question.people)
    assert [row["mechanism"] for row in shown["rows"]] == [r["mechanism"] for r in expected.rows()]
    assert shown["rows"][0]["average_rmse"] == expected.rows()[0]["average_rmse"]
    assert (shown["advice"], shown["best"]) == (expected.advice(), expected.best().name)
    assert shown["why_no_limit"] == expected.why_no_limit
    assert shown["limit_rmse"] == (expected.limit and expected.limit.rmse[0])
    assert shown["beats_the_middle"] == expected.beats_the_middle
    headings = str(expected).replace("\n", " ")
    for key, heading in shown["columns"]:
        assert heading.split()[0] in headings
        assert any(key in row for row in shown["rows"])


def test_the_map_is_part_of_the_view():
    assert regime_map(0, 1)["epsilons"] == [row["epsilon"] for row in regime_rows(0)]


def test_a_mechanism_that_cannot_give_the_guarantee_is_refused():
    question = Question.read(PAIR | {"mechanism": "window"})
    with pytest.raises(ib.ArgumentError, match=r"^bounds must be an interval for Window"):
        view(question)


def hostile(seed):
    """Return a question at the edge of what is possible."""
    rng = random.Random(seed)
    width = 10 ** rng.choice([rng.uniform(-3, 7), rng.uniform(-99, 99)])
    low = rng.choice([0.0, -width / 2, width * 1e6, 1.0])
    epsilon = rng.choice([10 ** rng.uniform(-12, 2), 10 ** rng.uniform(-2, 1), 1e-12, 100, 20])
    delta = rng.choice([1e-6, 1e-300, 5e-324, 0.5, 0.999999, 10 ** rng.uniform(-20, -1)])
    step = rng.choice([width / 10, width / 511, width / 1e6, width / 2**51, width / 3.3])
    kinds = [{"epsilon": epsilon}, {"epsilon": epsilon, "delta": delta}, {"rho": epsilon}]
    return {
        "bounds": [[low, low + width]] * rng.choice([1, 1, 1, 2, 8]),
        "step": rng.choice([None, None, step]),
        "sensitivity": [rng.choice([width * 10 ** rng.uniform(-12, 1), width, 1e-300, 1e308])],
        "norm": rng.choice(["l2", "l1", "linf", "each"]),
        "guarantee": rng.choice(kinds),
        "mechanism": rng.choice(MECHANISMS),
        "people": rng.choice([None, None, 1, 10**6, 10**12]),
    }


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 10**9))
def test_an_extreme_question_has_a_view_of_finite_numbers_or_an_argument_error(seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakGuaranteeWarning)
        try:
            shown = view(Question.read(hostile(seed)))
        except (ib.ArgumentError, ib.ArgumentTypeError):
            return
    assert json.loads(json.dumps(shown, allow_nan=False)) == shown
    for coordinate in shown["coordinates"]:
        assert coordinate["lower"] <= coordinate["interval"][0] <= coordinate["interval"][1]
        assert coordinate["interval"][1] <= coordinate["upper"]
        assert coordinate["rmse"] >= 0
        assert "null" not in json.dumps([coordinate["errors"], coordinate["stems"]])


def test_the_name_is_that_of_the_comparison():
    """What is best for a mean is another table than the best for one value."""
    asked = {"bounds": [[0, 120]], "sensitivity": [120], "guarantee": {"epsilon": 1}}
    question = Question.read(asked | {"people": 1000})
    assert view(question)["mechanism"]["name"] == compared(question)["best"] == "Optimal (unbiased)"
    other = Question.read(asked | {"people": 1000, "mechanism": "optimal"})
    assert view(other)["mechanism"]["name"] == "Optimal"


def test_a_mechanism_without_a_delta_promises_epsilon_alone():
    shown = view(Question.read(AGE | {"mechanism": "window", "guarantee": DELTA}))
    assert shown["guarantees"]["delta"] == 0
    assert shown["guarantees"]["epsilon_at_delta"] is None
    assert any("needs no δ" in note for note in shown["notes"])
    assert shown["risk"] == view(Question.read(AGE | {"mechanism": "window"}))["risk"]
