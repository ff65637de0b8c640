"""From an error that is acceptable to the epsilon, the delta or the people that it takes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from inbounds._check import format_numbers
from inbounds._entry import LARGEST_EPSILON
from inbounds.analysis.error import ErrorSummary
from inbounds.analysis.limit import limit
from inbounds.cli.explore.distance import distance
from inbounds.cli.explore.field import fields, named_as_on_the_page, needed, number, one_of
from inbounds.cli.explore.ladder import Found, Ladder, first_enough, scanned
from inbounds.cli.explore.question import Question
from inbounds.cli.mechanism import heeds
from inbounds.errors import ArgumentError
from inbounds.guarantee import Guarantee

if TYPE_CHECKING:
    from inbounds.calibration.objective import Objective

FINDS = ("epsilon", "delta", "people")
ERRORS = ("average_rmse", "worst_rmse", "mean_rmse", "interval")

_LADDERS = {
    "epsilon": Ladder(1e-4, LARGEST_EPSILON),
    "delta": Ladder(1e-15, 1e-4),
    "people": Ladder(1, 1e10, whole=True),
}
_LEVEL = 0.95
_WORDS = {
    "average_rmse": "the average error is{} {}",
    "worst_rmse": "the error at the worst value is{} {}",
    "mean_rmse": "the error of the mean is{} {}",
    "interval": "95 % of outputs are{} within {} of the value{}, wherever it is",
}
_OBJECTIVES: dict[str, Objective] = {"average_rmse": "average", "worst_rmse": "worst"}


@dataclass(frozen=True, slots=True)
class Goal:
    """What to find, so that which error is at most what.

    Examples
    --------
    >>> Goal.read({"find": "epsilon", "error": "worst_rmse", "at_most": 1})
    Goal(find='epsilon', error='worst_rmse', at_most=1.0)
    """

    find: str
    error: str
    at_most: float

    @classmethod
    def read(cls, document: object) -> Goal:
        """Return the goal that a JSON object states.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            If a field is missing or unknown, or has an impossible value.
        """
        given = fields("goal", document, ("find", "error", "at_most"))
        at_most = number("at_most", needed("goal", given, "at_most"))
        if at_most <= 0:
            raise ArgumentError.must_be("at_most", "positive", got=f"at_most={at_most!r}")
        find = one_of("find", needed("goal", given, "find"), FINDS)
        return cls(find, one_of("error", needed("goal", given, "error"), ERRORS), at_most)


def solved(question: Question, goal: object) -> dict[str, Any]:
    """Return the smallest epsilon, delta or number of people with so low an error, if there is one.

    What is found has three significant digits, and was checked: its error is low enough, and that
    of the next smaller number with three digits is not. The error ``"interval"`` does not fall
    steadily, so that much smaller numbers may be enough for it; the sentence says so.

    Parameters
    ----------
    question
        The question, of which the guarantee or the number of people is replaced.
    goal
        A JSON object with ``"find"``, ``"error"`` and ``"at_most"``. The error ``"interval"`` is
        the distance from the value that 95 % of outputs keep, at the worst value.

    Examples
    --------
    >>> asked = {"bounds": [[0, 120]], "sensitivity": [0.6], "guarantee": {"epsilon": 1}}
    >>> goal = {"find": "epsilon", "error": "worst_rmse", "at_most": 1.0}
    >>> found = solved(Question.read(asked | {"mechanism": "clamped-laplace"}), goal)
    >>> found["found"], found["reached"] <= 1, found["question"]["guarantee"]["epsilon"]
    (0.849, True, 0.849)
    >>> found["sentence"]
    'Epsilon 0.849 is enough: the error at the worst value is then 0.9994.'
    """
    wanted = Goal.read(goal)
    _check_fit(question, wanted)
    with named_as_on_the_page():
        return _solved(question, wanted)


def _solved(question: Question, goal: Goal) -> dict[str, Any]:
    def error(found: float) -> float:
        return _error(_with(question, goal.find, found).setting, goal.error)

    if goal.find == "delta" and (reached := error(0.0)) <= goal.at_most:
        text = f"No delta is needed: without one, {_said(question, goal, reached)}."
        return _possible(question, goal, Found(0.0, reached, is_lowest=True), text)
    if goal.find == "delta" and not heeds(question.option, "delta"):
        requirement = "epsilon, because this mechanism takes no δ"
        raise ArgumentError.must_be("find", requirement, got=repr(goal.find))
    ladder = _LADDERS[goal.find]
    if goal.error == "interval":
        result = scanned(ladder, error, goal.at_most, _least(question, goal))
    else:
        result = first_enough(ladder, error, goal.at_most, _start(question, goal.find))
    if isinstance(result, float):
        text, is_proved = _refusal(question, goal, ladder.high, result)
        return {"possible": False, "sentence": text, "is_proved": is_proved}
    return _possible(question, goal, result, _answer(question, goal, result))


def _check_fit(question: Question, goal: Goal) -> None:
    """Refuse goals that do not fit the question."""
    if goal.find == "people" and goal.error != "mean_rmse":
        hint = "the number of people changes the error of their mean, and no other."
        raise ArgumentError.must_be("error", "mean_rmse if people are to be found", hint=hint)
    if goal.error == "mean_rmse" and question.is_joint:
        raise ArgumentError.must_be("error", "another than mean_rmse for several coordinates")
    if goal.error == "mean_rmse" and goal.find != "people" and question.people is None:
        requirement = "another than mean_rmse unless people is given"
        raise ArgumentError.must_be("error", requirement)
    if goal.find != "people" and question.guarantee.rho is not None:
        raise ArgumentError.must_be("find", "people for a guarantee of rho", got=repr(goal.find))


def _with(question: Question, find: str, found: float) -> Question:
    """Return the question with what was found."""
    if find == "people":
        return replace(question, people=int(found))
    epsilon, delta = question.guarantee.pair
    stated = (found, delta) if find == "epsilon" else (epsilon, found)
    return replace(question, guarantee=Guarantee(*stated))


def _start(question: Question, find: str) -> float:
    if find == "people":
        return float(question.people or 1000)
    epsilon, delta = question.guarantee.pair
    return epsilon if find == "epsilon" else delta or 1e-6


def _least(question: Question, goal: Goal) -> float:
    """Return a number below which no mechanism keeps 95 % of outputs so close to their value.

    Take two values that are more than twice the distance apart. The outputs close to the first have
    a probability of 0.95 or more for it, and of 0.05 or less for the other, which is at most so
    many changes away. So epsilon times their number is at least ln 19 if there is no delta.
    """
    width = float(question.box.widths.max())
    if goal.find != "epsilon" or question.is_joint or question.guarantee.delta or question.step:
        return 0.0
    if 2 * goal.at_most >= width:
        return 0.0
    change = question.sensitivity.within(question.box.widths).diameter
    steps = math.floor(2 * goal.at_most / change * (1 + 1e-9)) + 1
    return math.log(_LEVEL / (1 - _LEVEL)) / steps


@lru_cache(maxsize=512)
def _error(setting: Question, name: str) -> float:
    mechanism = setting.mechanism()
    if name == "interval":
        return distance(mechanism, _LEVEL)
    summary = ErrorSummary.of(mechanism, setting.people)
    chosen: float = getattr(summary, name)
    return chosen


def _possible(question: Question, goal: Goal, found: Found, sentence: str) -> dict[str, Any]:
    return {
        "possible": True,
        "found": int(found.number) if goal.find == "people" else found.number,
        "reached": found.error,
        "question": _with(question, goal.find, found.number).document,
        "sentence": sentence,
    }


def _answer(question: Question, goal: Goal, found: Found) -> str:
    named = _named(goal, found)
    if found.is_lowest:
        named = f"Even {named[0].lower()}{named[1:]}"
    text = f"{named} enough: {_said(question, goal, found.error, ' then')}."
    if goal.error == "interval" and not found.is_lowest:
        text += " A smaller one may be enough as well, as this distance does not fall steadily."
    if goal.find == "delta":
        text += (
            f" A delta must be far below 1/n for n people, so this one is for far fewer "
            f"than {1 / found.number:,.0f} people."
        )
    middle = _middle(question, goal.error)
    if goal.at_most >= middle:
        text += (
            " But the middle of the bounds, which uses no data at all, is good enough too: then "
            f"{_said(question, goal, middle)}."
        )
    return text


def _named(goal: Goal, found: Found) -> str:
    if goal.find == "people":
        return "1 person is" if found.number == 1 else f"{found.number:,.0f} people are"
    return f"{goal.find.capitalize()} {format_numbers(found.number)} is"


def _refusal(question: Question, goal: Goal, most: float, error: float) -> tuple[str, bool]:
    """Return why nothing is found, and whether that is proved for all mechanisms."""
    beyond = {
        "epsilon": f"Even epsilon {most:g}, which protects hardly anybody, is not enough",
        "delta": f"No delta up to {most:g} is enough",
        "people": f"Even {most:,.0f} people are not enough",
    }[goal.find]
    text = f"{beyond}: {_said(question, goal, error, ' then')}."
    lowest = _certified(question, goal, most)
    is_proved = False
    if lowest is not None and lowest > goal.at_most:
        is_proved = True
        text += (
            f" It is proved that no mechanism, here or elsewhere, has less than {_shown(lowest)} "
            f"at epsilon {most:g}."
        )
    elif lowest is not None:
        text += f" It is proved that no mechanism has less than {_shown(lowest)} there."
    elif goal.find == "delta":
        text += " Solve for epsilon, or allow a larger error."
    return text, is_proved


def _certified(question: Question, goal: Goal, epsilon: float) -> float | None:
    """Return the least error that any mechanism can have, if it is known."""
    unknown = goal.find != "epsilon" or question.is_joint or question.guarantee.delta
    if unknown or goal.error not in _OBJECTIVES:
        return None
    change = question.sensitivity
    try:
        found = limit(question.box, change, epsilon=epsilon, objective=_OBJECTIVES[goal.error])
    except ArgumentError:  # the step has too many digits
        return None
    return found.rmse[0] if found.rmse[0] > 0 else None


def _middle(question: Question, error: str) -> float:
    """Return the error of always publishing the middle of the box."""
    summary = ErrorSummary.of_middle(question.box, question.people)
    if error == "interval":
        return float(question.box.widths.max()) / 2
    middle: float = summary.average_rmse if error == "mean_rmse" else getattr(summary, error)
    return middle


def _said(question: Question, goal: Goal, error: float, then: str = "") -> str:
    where = " in each coordinate by itself" if question.is_joint else ""
    return _WORDS[goal.error].format(then, _shown(error), where)


def _shown(error: float) -> str:
    return f"{error:.4g}"
