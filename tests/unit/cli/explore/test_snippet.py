"""What is copied from the page gives exactly the numbers that the page shows."""

import json
import math
import os
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest

from inbounds.cli.explore.question import Question
from inbounds.cli.explore.snippet import (
    command,
    command_of_comparison,
    python,
    python_of_comparison,
)
from inbounds.cli.explore.view import compared, view

AGE = {"bounds": [[0, 120]], "sensitivity": [2.5], "guarantee": {"epsilon": 1}, "value": [41.3]}
PAIR = AGE | {"bounds": [[0, 10], [-1, 9]], "value": [1, 2.5]}
EIGHT = AGE | {"bounds": [[0, i + 1.5] for i in range(8)], "value": [0.5] * 8}
DELTA, RHO = {"epsilon": 0.7, "delta": 1e-6}, {"rho": 0.1}
QUESTIONS = {
    "best": AGE,
    "bounded-gaussian": AGE | {"mechanism": "bounded-gaussian"},
    "bounded-laplace": AGE | {"mechanism": "bounded-laplace", "bounds": [[-60, 1e6]]},
    "clamped-gaussian": AGE | {"mechanism": "clamped-gaussian"},
    "clamped-gaussian, delta": AGE | {"mechanism": "clamped-gaussian", "guarantee": DELTA},
    "clamped-laplace": AGE | {"mechanism": "clamped-laplace", "guarantee": {"epsilon": 1e-3}},
    "clamped-staircase, step": AGE | {"mechanism": "clamped-staircase", "step": 0.1},
    "window, people": AGE | {"mechanism": "window", "sensitivity": [120], "people": 10_000},
    "optimal": AGE | {"mechanism": "optimal"},
    "clamped-laplace, step": AGE | {"mechanism": "clamped-laplace", "step": 7, "value": [60]},
    "bounded-laplace, step": AGE
    | {"mechanism": "bounded-laplace", "bounds": [[-0.3, 0.4]], "step": 0.1, "value": [0.11]},
    "best, delta": AGE | {"guarantee": DELTA},
    "window, delta": AGE | {"mechanism": "window", "guarantee": DELTA},
    "best, rho": AGE | {"guarantee": RHO},
    "best, step": AGE | {"step": 1},
    "best, people": AGE | {"sensitivity": [120], "people": 1000},
    "optimal, people": AGE | {"mechanism": "optimal", "sensitivity": [120], "people": 1000},
    "a pair, delta, l1": PAIR | {"guarantee": DELTA, "norm": "l1"},
    "a pair, each, step": PAIR | {"norm": "each", "step": 0.5, "mechanism": "bounded-laplace"},
    "a pair, linf, rho": PAIR | {"norm": "linf", "guarantee": RHO, "mechanism": "bounded-gaussian"},
    "a pair, clamped-gaussian": PAIR | {"guarantee": DELTA, "mechanism": "clamped-gaussian"},
    "eight, one each": EIGHT | {"sensitivity": [0.1 * (i + 1) for i in range(8)]},
    "eight, tiny": EIGHT | {"sensitivity": [1e-7], "guarantee": DELTA},
}
SHOW = """
import json
print(json.dumps({
    "shown": repr(mechanism),
    "epsilon": mechanism.epsilon,
}))
"""


def run(words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def lines(text):
    """Return what each line prints, by the words before the colon; a vector may need several."""
    found = {"mechanism": text.partition("\n")[0]}
    for line in text.split("\n")[1:]:
        name, colon, rest = line.partition(": ")
        if colon:
            last = name
            found[last] = rest
        else:
            found[last] += line
    return found


def numbers(text):
    return [float(number) for number in re.findall(r"-?(?:\d[\d.]*(?:e[-+]?\d+)?|inf)", text)]


def check_printed(printed, shown, question):
    """All that the page shows for a value is printed, to the last digit where nothing is summed."""
    guarantees, coordinates = shown["guarantees"], shown["coordinates"]
    terms = [guarantees[key] for key in ("epsilon", "rho", "gdp")]
    terms = [math.inf if term is None else term for term in terms]
    assert numbers(printed["epsilon, rho, mu"]) == terms
    if guarantees["delta"]:
        (at,) = (key for key in printed if key.startswith("epsilon at delta"))
        assert float(at.rpartition(" ")[2]) == guarantees["delta"]
        assert float(printed[at]) == guarantees["epsilon_at_delta"]
    error = shown["error"]
    rmse = [error["average_rmse"], error["worst_rmse"]]
    assert numbers(printed["RMSE, average and worst"]) == rmse
    assert float(printed["bias, worst"]) == error["worst_bias"]
    assert numbers(printed["RMSE"]) == pytest.approx([c["rmse"] for c in coordinates], rel=1e-12)
    biases = [c["bias"] for c in coordinates]
    assert numbers(printed["bias"]) == pytest.approx(biases, rel=1e-9, abs=1e-12)
    lows, highs = zip(*(c["interval"] for c in coordinates), strict=True)
    ends = numbers(printed["95 % of outputs"].replace("array", ""))
    assert ends == pytest.approx([*lows, *highs], rel=1e-12, abs=1e-15)
    if not question.is_joint:
        said = printed["the true value, if this were the output (95 %)"]
        assert numbers(said) == shown["confidence"]
    if question.people:
        assert float(printed["error of the mean"]) == shown["people"]["mean_rmse"]


@pytest.mark.parametrize("name", QUESTIONS)
def test_python_and_the_command_give_the_numbers_of_the_view(name):
    question = Question.read(QUESTIONS[name])
    shown = view(question)
    assert (shown["python"], shown["command"]) == (python(question), command(question))
    exact = "import numpy\nnumpy.set_printoptions(floatmode='unique', precision=17)\n"
    text, _, last = (
        run([sys.executable, "-c", exact + shown["python"] + SHOW]).strip().rpartition("\n")
    )
    found, printed = json.loads(last), lines(text)
    assert printed["mechanism"] == found["shown"] == shown["mechanism"]["shown"]
    check_printed(printed, shown, question)

    words = shlex.split(shown["command"])
    assert words[0] == "inbounds"
    found = json.loads(run([sys.executable, "-m", *words, "--json"]))
    error = shown["error"] | (
        {"mean_rmse": shown["people"]["mean_rmse"]} if question.people else {}
    )
    assert found["mechanism"] == shown["mechanism"]["option"]
    assert found["error"] == error
    assert found["scale"] == shown["mechanism"]["scale"]
    assert found["pure_epsilon"] == shown["guarantees"]["epsilon"]
    if question.guarantee.rho is None:
        assert found.get("epsilon_at_delta") == shown["guarantees"]["epsilon_at_delta"]
    assert found["middle_of_the_box_rmse"] == shown["middle_rmse"]
    assert found["beats_the_middle"] == shown["beats_the_middle"]
    span, shown_spans = found["interval_95_at_value"], shown["coordinates"]
    assert np.ravel(span["value"]).tolist() == shown["value"]
    assert np.ravel(span["low"]).tolist() == [c["interval"][0] for c in shown_spans]
    assert np.ravel(span["high"]).tolist() == [c["interval"][1] for c in shown_spans]


@pytest.mark.parametrize("name", ["best", "best, step", "best, people", "a pair, delta, l1"])
def test_python_and_the_command_of_a_comparison_give_its_table(name):
    question = Question.read(QUESTIONS[name])
    shown = compared(question)
    assert shown["python"] == python_of_comparison(question)
    words = shlex.split(command_of_comparison(question))
    found = json.loads(run([sys.executable, "-m", *words, "--json"]))
    assert found["mechanisms"] == shown["rows"]
    assert found["advice"] == shown["advice"]
    text = run([sys.executable, "-c", shown["python"]])
    assert all(row["mechanism"].split()[0] in text for row in shown["rows"])  # lines are broken


def test_the_command_is_one_line_of_a_shell():
    question = Question.read(PAIR | {"bounds": [[-10, 10], [-1e-7, 9]], "guarantee": DELTA})
    text = command(question)
    assert "--bounds=-10:10 --bounds=-1e-07:9 " in text
    path = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
    done = subprocess.run(
        f"{text} --json",
        check=False,
        shell=True,
        capture_output=True,
        text=True,
        env=os.environ | {"PATH": path},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["bounds"] == [[-10, 10], [-1e-7, 9]]


def test_extreme_numbers_are_written_as_they_are_read():
    asked = AGE | {"bounds": [[-1e16, 123456789.123456789]], "sensitivity": [0.1 + 0.2]}
    question = Question.read(asked | {"guarantee": {"epsilon": 1e-12}, "mechanism": "window"})
    words = shlex.split(command(question))
    found = json.loads(run([sys.executable, "-m", *words, "--json"]))
    assert found["bounds"] == asked["bounds"]
    assert found["sensitivity"] == f"L2({0.1 + 0.2!r})"
    assert found["requested"] == {"epsilon": 1e-12}
