"""What the page shows for a question: outputs, errors, guarantees, risk, and all mechanisms."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.analysis.compare import compare
from inbounds.analysis.error import ErrorSummary
from inbounds.analysis.overview import comparison_table
from inbounds.cli.calibrate import describe
from inbounds.cli.explore import privacy, snippet
from inbounds.cli.explore.density import density_and_stems, visible_range
from inbounds.cli.explore.field import named_as_on_the_page
from inbounds.cli.explore.people import many
from inbounds.cli.explore.regime_map import regime_map, regime_rows
from inbounds.cli.mechanism import option_name
from inbounds.cli.output import jsonable
from inbounds.mechanisms.clamped_staircase import ClampedStaircase
from inbounds.mechanisms.noise_mechanism import NoiseMechanism, scale_of
from inbounds.plots.release import marginal

if TYPE_CHECKING:
    from inbounds._types import Floats
    from inbounds.analysis.comparison import Comparison
    from inbounds.cli.explore.question import Question
    from inbounds.mechanisms.mechanism import Mechanism

__all__ = ["compared", "regime_map", "regime_rows", "view"]

LEVEL = 0.95
"""The probability of all intervals."""

_VALUES = 61  # at which errors are shown


@dataclass(frozen=True, slots=True)
class _Facts:
    """What does not depend on the value."""

    mechanism: Mechanism
    marginals: tuple[Mechanism, ...]
    error: ErrorSummary
    shown: dict[str, Any]  # without the value, as in the view
    errors: tuple[dict[str, list[float]], ...]


def view(question: Question) -> dict[str, Any]:
    """Return all that the page shows for a value, ready for JSON.

    Errors of a value and its interval are those before outputs are rounded to a step; a note says
    so where it matters.

    Raises
    ------
    ArgumentError
        If the mechanism cannot give the guarantee.

    Examples
    --------
    >>> from inbounds.cli.explore.question import Question
    >>> asked = {"bounds": [[0, 120]], "sensitivity": [2.5], "guarantee": {"epsilon": 1}}
    >>> found = view(Question.read(asked | {"mechanism": "bounded-gaussian", "value": [41.3]}))
    >>> found["mechanism"]["option"], [round(end) for end in found["coordinates"][0]["interval"]]
    ('bounded-gaussian', [11, 73])
    """
    with named_as_on_the_page():
        facts = _facts(question.setting)
        mechanism = facts.mechanism
        confidence = None
        if not question.is_joint:
            confidence = list(mechanism.confidence(question.value[0], LEVEL))
        shown: dict[str, Any] = jsonable(
            facts.shown
            | {
                "value": list(question.value),
                "coordinates": _coordinates(facts, question.value),
                "confidence": confidence,
                "python": snippet.python(question),
                "command": snippet.command(question),
            }
        )
    return shown


def compared(question: Question) -> dict[str, Any]:
    """Return the table of all mechanisms at the same guarantee, ready for JSON.

    Examples
    --------
    >>> from inbounds.cli.explore.question import Question
    >>> asked = {"bounds": [[0, 120]], "sensitivity": [30], "guarantee": {"epsilon": 1}}
    >>> found = compared(Question.read(asked))
    >>> found["best"], found["columns"][:3]
    ('Optimal', [['mechanism', 'mechanism'], ['scale', 'scale'], ['average_rmse', 'RMSE']])
    """
    with named_as_on_the_page():
        result = _comparison(question.setting)
        limit = result.limit
        shown: dict[str, Any] = jsonable(
            {
                "rows": result.rows(),
                "columns": _columns(result),
                "advice": result.advice(),
                "best": result.best().name,
                "beats_the_middle": result.beats_the_middle,
                "why_no_limit": result.why_no_limit,
                "limit_rmse": None if limit is None else limit.rmse[0],
                "python": snippet.python_of_comparison(question),
                "command": snippet.command_of_comparison(question),
            }
        )
    return shown


@lru_cache(maxsize=32)
def _comparison(setting: Question) -> Comparison:
    return compare(
        setting.box, setting.sensitivity, **setting.guarantee.stated(), people=setting.people
    )


def _columns(result: Comparison) -> list[list[str]]:
    """Return the keys of the rows in the order of the table, with its headings."""
    above = (
        ["mse_above_best_percent"]
        if result.limit is None
        else ["mse_above_limit_percent", "read_mse_above_limit_percent"]
    )
    keys = [
        *("mechanism", "scale"),
        *([] if result.people is None else ["mean_rmse"]),
        *("average_rmse", "worst_rmse", "worst_bias", "bound_mass", "true_epsilon"),
        *("variance_below_liu_percent", *above),
    ]
    return [list(pair) for pair in zip(keys, comparison_table(result).headings, strict=True)]


@lru_cache(maxsize=64)
def _facts(setting: Question) -> _Facts:
    mechanism, guarantee = setting.mechanism(), setting.guarantee
    stated = describe(mechanism, guarantee, None, people=setting.people)
    error = ErrorSummary(**stated["error"])
    noise = mechanism.noise.scale_name if isinstance(mechanism, NoiseMechanism) else None
    shown = {
        "mechanism": {
            "option": option_name(mechanism),
            "name": type(mechanism).__name__,
            "shown": repr(mechanism),
            "scale_name": noise,
            "scale": scale_of(mechanism),
        },
        "error": {key: number for key, number in asdict(error).items() if key != "mean_rmse"},
        "middle_rmse": stated["middle_of_the_box_rmse"],
        "beats_the_middle": stated["beats_the_middle"],
        "guarantees": {
            "epsilon": stated["pure_epsilon"],
            "delta": guarantee.delta or 0.0,
            "epsilon_at_delta": stated.get("epsilon_at_delta"),
            "rho": mechanism.rho,
            "gdp": mechanism.gdp,
            "curve": privacy.curve(mechanism),
        },
        "risk": privacy.risk(mechanism, guarantee),
        "people": many(error, setting.people),
        "notes": _notes(mechanism, setting),
    }
    marginals = tuple(marginal(mechanism, index) for index in range(len(setting.bounds)))
    return _Facts(mechanism, marginals, error, shown, _errors(mechanism))


def _errors(mechanism: Mechanism) -> tuple[dict[str, list[float]], ...]:
    """Return the errors of values all over the box, or of its steps, for each coordinate."""
    box = mechanism.domain
    fractions = np.linspace(0, 1, _VALUES)[:, None]
    values = np.clip(box.lower + box.widths * fractions, box.lower, box.upper)
    for index, step in enumerate(box.steps):
        if step is not None:
            values[:, index] = _steps(values[:, index], float(np.ravel(box.lower)[index]), step)
    points = values[:, 0] if box.is_interval else values
    rmse, bias = (
        np.reshape(numbers, values.shape)
        for numbers in (np.sqrt(mechanism.mse(points)), mechanism.bias(points))
    )
    shown = []
    for x, errors, biases in zip(values.T, rmse.T, bias.T, strict=True):
        _, first = np.unique(x, return_index=True)
        columns = {"x": x, "rmse": errors, "bias": biases}
        shown.append({name: column[first].tolist() for name, column in columns.items()})
    return tuple(shown)


def _steps(values: Floats, lower: float, step: float) -> Floats:
    """Return the nearest steps, of which none is above the largest value."""
    last = np.floor((values[-1] - lower) / step * (1 + 1e-9))
    steps = np.minimum(np.rint((values - lower) / step), last)
    return np.asarray(np.minimum(lower + step * steps, values[-1]))


def _coordinates(facts: _Facts, value: tuple[float, ...]) -> list[dict[str, Any]]:
    mechanism = facts.mechanism
    point: Any = value[0] if mechanism.domain.is_interval else np.array(value)
    low, high = mechanism.output_interval(point, LEVEL)
    columns = {
        "lower": mechanism.domain.lower,
        "upper": mechanism.domain.upper,
        "value": point,
        "low": low,
        "high": high,
        "rmse": np.sqrt(mechanism.mse(point)),
        "bias": mechanism.bias(point),
        "variance": mechanism.variance(point),
    }
    shown = []
    for index, one in enumerate(facts.marginals):
        numbers = {name: float(np.ravel(column)[index]) for name, column in columns.items()}
        density, stems = density_and_stems(one, value[index])
        shown.append(
            numbers
            | {
                "interval": [numbers.pop("low"), numbers.pop("high")],
                "range": visible_range(one, value[index]),
                "density": density,
                "stems": stems,
                "errors": facts.errors[index],
            }
        )
    return shown


def _notes(mechanism: Mechanism, setting: Question) -> list[str]:
    notes = privacy.weaknesses(setting.guarantee)
    if setting.is_joint:
        notes.append(
            "Each coordinate is shown by itself. The guarantee is that of all of them together."
        )
    if setting.step is not None and _is_rounded_after(mechanism):
        notes.append(
            "The error of a value and its interval are those before outputs are rounded to the "
            "step, which moves an output by at most half a step."
        )
    return notes


def _is_rounded_after(mechanism: Mechanism) -> bool:
    """Return whether moments are those before rounding to the step: of noise not in whole steps."""
    if isinstance(mechanism, ClampedStaircase):
        return mechanism.reading_bias == 0
    return isinstance(mechanism, NoiseMechanism)
