import json
import math
import warnings

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import inbounds as ib
from inbounds.cli.arguments import read_guarantee
from inbounds.cli.explore.question import LARGEST, MECHANISMS, NORMS, Question
from inbounds.errors import WeakGuaranteeWarning

AGE = {"bounds": [[0, 120]], "sensitivity": [2.5], "guarantee": {"epsilon": 1}}
PAIR = AGE | {"bounds": [[0, 10], [1, 9]]}


def test_a_question_needs_bounds_a_sensitivity_and_a_guarantee_only():
    question = Question.read(AGE)
    assert question.box == ib.Box(0, 120)
    assert question.sensitivity == ib.L2(2.5)
    assert question.guarantee == read_guarantee(1.0)
    assert (question.option, question.value, question.people) == ("best", (60.0,), None)
    for key in AGE:
        with pytest.raises(ib.ArgumentTypeError, match=f"^{key} must be given in the question"):
            Question.read({name: AGE[name] for name in AGE if name != key})


@pytest.mark.parametrize(
    ("given", "sensitivity"),
    [
        ({"sensitivity": [2], "norm": "l1"}, ib.L1(2)),
        ({"sensitivity": [2], "norm": "linf"}, ib.LInf(2)),
        ({"sensitivity": [2], "norm": "each"}, ib.PerCoordinate(2)),
        ({"sensitivity": [2, 3]}, ib.PerCoordinate([2, 3])),
        ({"sensitivity": [2, 3], "norm": "each"}, ib.PerCoordinate([2, 3])),
    ],
)
def test_sensitivities_are_those_of_the_command_line(given, sensitivity):
    assert Question.read(PAIR | given).sensitivity == sensitivity


def test_a_document_is_read_as_the_question_that_wrote_it():
    for changes in (
        {},
        {"step": 0.5, "value": [3], "mechanism": "window", "people": 10},
        {"guarantee": {"rho": 0.5}},
        {"guarantee": {"epsilon": 0.1, "delta": 1e-9}},
        PAIR | {"norm": "l1", "value": [1, 2]},
    ):
        question = Question.read(AGE | changes)
        assert Question.read(json.loads(json.dumps(question.document))) == question


REFUSED = [
    ({"bounds": []}, "bounds"),
    ({"bounds": [[0, 1]] * 9}, "bounds"),
    ({"bounds": [0, 120]}, "bounds"),
    ({"bounds": [[0, 1, 2]]}, "bounds"),
    ({"bounds": [[0, "120"]]}, "bounds"),
    ({"bounds": [[0, True]]}, "bounds"),
    ({"bounds": [[[0], 1]]}, "bounds"),
    ({"bounds": {"0": 1}}, "bounds"),
    ({"bounds": [[5, 1]]}, "bounds"),
    ({"bounds": [[1, 1]]}, "bounds"),
    ({"bounds": [[-1e308, 1e308]]}, "bounds"),
    ({"bounds": [[0, 1e-300]]}, "bounds"),
    ({"bounds": [[0, 1e200]]}, "bounds"),
    ({"bounds": [[0, math.nan]]}, "bounds"),
    ({"bounds": [[0, 10**400]]}, "bounds"),
    ({"step": 0}, "step"),
    ({"step": -1}, "step"),
    ({"step": 1e-300}, "step"),
    ({"step": 5e-324}, "step"),
    ({"step": 121}, "step"),
    ({"step": [1]}, "step"),
    ({"step": False}, "step"),
    ({"sensitivity": 2.5}, "sensitivity"),
    ({"sensitivity": []}, "sensitivity"),
    ({"sensitivity": [0]}, "sensitivity"),
    ({"sensitivity": [-1]}, "sensitivity"),
    ({"sensitivity": [1, 2]}, "sensitivity"),
    ({"norm": "l3"}, "norm"),
    ({"norm": None}, "norm"),
    ({"sensitivity": [1, 1], "bounds": [[0, 1], [0, 1]], "norm": "l2"}, "norm"),
    ({"guarantee": 1}, "guarantee"),
    ({"guarantee": {}}, "epsilon or rho"),
    ({"guarantee": {"epsilon": 1, "rho": 1}}, "epsilon or rho"),
    ({"guarantee": {"epsilon": 1, "gamma": 1}}, "guarantee"),
    ({"guarantee": {"epsilon": None}}, "epsilon"),
    ({"guarantee": {"epsilon": 0}}, "epsilon"),
    ({"guarantee": {"epsilon": -1}}, "epsilon"),
    ({"guarantee": {"epsilon": 1e-300}}, "epsilon"),
    ({"guarantee": {"epsilon": 700}}, "epsilon"),
    ({"guarantee": {"epsilon": "1"}}, "epsilon"),
    ({"guarantee": {"epsilon": True}}, "epsilon"),
    ({"guarantee": {"rho": 101}}, "rho"),
    ({"guarantee": {"delta": 1e-6}}, "epsilon or rho"),
    ({"guarantee": {"epsilon": 1, "delta": 1}}, "delta"),
    ({"guarantee": {"epsilon": 1, "delta": -1e-9}}, "delta"),
    ({"guarantee": {"rho": 1, "delta": 1e-9}}, "delta"),
    ({"mechanism": "laplace"}, "mechanism"),
    ({"mechanism": None}, "mechanism"),
    ({"value": 41.3}, "value"),
    ({"value": [41.3, 1]}, "value"),
    ({"value": []}, "value"),
    ({"value": [math.inf]}, "value"),
    ({"value": ["41.3"]}, "value"),
    ({"people": 0}, "people"),
    ({"people": 1.5}, "people"),
    ({"people": 10**13}, "people"),
    ({"people": True}, "people"),
    (PAIR | {"people": 10}, "people"),
    ({"answer": 1}, "question"),
]


@pytest.mark.parametrize(("changes", "field"), REFUSED)
def test_what_cannot_be_is_refused_by_the_name_of_its_field(changes, field):
    with pytest.raises((ib.ArgumentError, ib.ArgumentTypeError), match=f"^{field}:? "):
        Question.read(AGE | changes)


@pytest.mark.parametrize("document", [None, [], "{}", 1, True, [AGE]])
def test_a_question_is_an_object(document):
    with pytest.raises(ib.ArgumentTypeError, match=r"^question must be a JSON object"):
        Question.read(document)


def test_a_value_outside_the_bounds_is_moved_into_them_and_never_shown():
    assert Question.read(AGE | {"value": [1e300]}).value == (120.0,)
    assert Question.read(AGE | {"value": [-7]}).value == (0.0,)
    for value in ([41.25, "x"], [41.25, 41.25], "41.25"):
        with pytest.raises((ib.ArgumentError, ib.ArgumentTypeError)) as caught:
            Question.read(AGE | {"value": value})
        assert "41" not in str(caught.value)


def test_questions_that_differ_in_the_value_share_a_mechanism():
    first, second = (Question.read(AGE | {"value": [x]}) for x in (1, 2))
    assert first != second
    assert first.setting == second.setting
    assert first.mechanism() is second.mechanism()


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_mechanism_is_that_of_the_library(name):
    delta = {"delta": 1e-6} if name in {"clamped-gaussian", "bounded-gaussian"} else {}
    question = Question.read(AGE | {"mechanism": name, "guarantee": {"epsilon": 1, **delta}})
    if name == "best":
        expected = ib.calibrate(ib.Box(0, 120), 2.5, epsilon=1.0)
    else:
        calibrated = getattr(ib, "".join(map(str.capitalize, name.split("-")))).calibrated
        method = {"method": "exact"} if name == "clamped-gaussian" else {}
        expected = calibrated(ib.Box(0, 120), 2.5, epsilon=1.0, **delta, **method)
    assert question.mechanism() == expected


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (PAIR | {"mechanism": "window"}, "bounds must be an interval for Window"),
        (PAIR | {"mechanism": "clamped-gaussian"}, "mechanism must be another one for several"),
        ({"mechanism": "optimal", "guarantee": {"rho": 1}}, "mechanism must be the best one or"),
        ({"mechanism": "clamped-gaussian", "guarantee": {"rho": 1}}, "mechanism must be the best"),
        ({"mechanism": "optimal", "sensitivity": [1e-9]}, "sensitivity must be"),
        ({"mechanism": "optimal", "step": 1e-4}, "step must be large enough"),
    ],
)
def test_a_mechanism_that_cannot_give_the_guarantee_says_why(changes, said):
    with pytest.raises(ib.ArgumentError, match=f"^{said}"):
        Question.read(AGE | changes).mechanism()


@pytest.mark.parametrize("name", ["window", "optimal", "clamped-laplace", "clamped-staircase"])
def test_a_mechanism_that_takes_no_delta_gives_epsilon_without_one(name):
    asked = AGE | {"mechanism": name, "guarantee": {"epsilon": 1, "delta": 1e-6}}
    question = Question.read(asked)
    assert question.promised == ib.guarantee.Guarantee(1.0)
    assert question.mechanism() == Question.read(asked | {"guarantee": {"epsilon": 1}}).mechanism()
    best = Question.read(asked | {"mechanism": "best"})
    assert best.promised == best.guarantee


LEAVES = (
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers()
    | st.sampled_from([10**400, 1e308, 1e-300, 5e-324, 120, 1, 0.5, 2.5, -1, LARGEST])
    | st.text(max_size=5)
    | st.sampled_from([*MECHANISMS, *NORMS])
)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)
NUMBER = st.sampled_from([0, 1, 2.5, 120, -5, 1e6, 1e-3, 1e99, 1e-99, 1e16]) | LEAVES
HOSTILE = st.fixed_dictionaries(
    {
        "bounds": st.lists(st.lists(NUMBER, min_size=2, max_size=2), max_size=3) | JSON,
        "sensitivity": st.lists(NUMBER, max_size=3) | JSON,
        "guarantee": st.dictionaries(st.sampled_from(["epsilon", "delta", "rho"]), NUMBER) | JSON,
    },
    optional={
        "step": NUMBER | JSON,
        "norm": st.sampled_from(NORMS) | JSON,
        "mechanism": st.sampled_from(MECHANISMS) | JSON,
        "value": st.lists(NUMBER, max_size=3) | JSON,
        "people": NUMBER | JSON,
        "other": JSON,
    },
)


@settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(HOSTILE | JSON)
def test_any_json_is_a_question_or_an_argument_error(document):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakGuaranteeWarning)
        try:
            question = Question.read(document)
        except (ib.ArgumentError, ib.ArgumentTypeError):
            return
    assert Question.read(question.document) == question
    assert question.box.dimension == len(question.value)
