"""What the page shows for a question: outputs, errors, guarantees, risk, and all mechanisms."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.analysis.compare import compare
from inbounds.analysis.error import CLEARLY, ErrorSummary
from inbounds.analysis.overview import comparison_table
from inbounds.cli.calibrate import describe
from inbounds.cli.explore import privacy, snippet
from inbounds.cli.explore.density import density_and_stems, visible_range
from inbounds.cli.explore.field import named_as_on_the_page
from inbounds.cli.explore.people import many
from inbounds.cli.explore.regime_map import regime_map, regime_rows
from inbounds.cli.explore.risk import DELTA, risk
from inbounds.cli.mechanism import option_name
from inbounds.cli.output import jsonable
from inbounds.cli.rounded import MOST_STEPS, Rounded, is_rounded_after, seen_interval
from inbounds.errors import InBoundsError
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
    rounded: Rounded | None  # outputs that people see, if they differ from the mechanism's numbers


def view(question: Question) -> dict[str, Any]:
    """Return all that the page shows for a value, ready for JSON.

    Errors and intervals are those of the outputs that people see, rounded to the step. A note says
    where they are those before rounding.

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


@lru_cache(maxsize=8)
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


@lru_cache(maxsize=16)  # a mechanism may take megabytes
def _facts(setting: Question) -> _Facts:
    mechanism, guarantee = setting.mechanism(), setting.promised
    stated = describe(mechanism, guarantee, None, people=setting.people)
    error, rounded = ErrorSummary(**stated["error"]), Rounded.of(mechanism)
    curve = privacy.curve(mechanism)
    beats_the_middle = _beats_the_middle(error, setting)
    noise = mechanism.noise.scale_name if isinstance(mechanism, NoiseMechanism) else None
    shown = {
        "mechanism": {
            "option": option_name(mechanism),
            "name": _name(mechanism),
            "shown": repr(mechanism),
            "scale_name": noise,
            "scale": scale_of(mechanism),
        },
        "error": {key: number for key, number in asdict(error).items() if key != "mean_rmse"},
        "middle_rmse": stated["middle_of_the_box_rmse"],
        "beats_the_middle": beats_the_middle,
        "best_beats_the_middle": _best_beats_the_middle(setting, beats_the_middle),
        "guarantees": {
            "epsilon": stated["pure_epsilon"],
            "delta": guarantee.delta or (0.0 if guarantee.rho is None else DELTA),
            "epsilon_at_delta": _epsilon_at_delta(mechanism, setting, stated),
            "rho": mechanism.rho,
            "gdp": mechanism.gdp,
            "curve": curve,
        },
        "risk": risk(mechanism, guarantee, curve),
        "people": many(error, setting.people),
        "notes": _notes(mechanism, setting, rounded),
    }
    marginals = tuple(marginal(mechanism, index) for index in range(len(setting.bounds)))
    errors = _errors(mechanism, rounded)
    return _Facts(mechanism, marginals, error, shown, errors, rounded)


def _name(mechanism: Mechanism) -> str:
    """Return the name of a mechanism, as the table of all mechanisms has it."""
    name, objective = type(mechanism).__name__, mechanism.parameters.get("objective", "average")
    return name if objective == "average" else f"{name} ({objective})"


def _epsilon_at_delta(
    mechanism: Mechanism, setting: Question, stated: dict[str, Any]
) -> float | None:
    """Return the epsilon at the delta that was asked for, or at a usual one for a rho."""
    if setting.guarantee.rho is not None:
        return mechanism.epsilon_at(DELTA)
    found: float | None = stated.get("epsilon_at_delta")
    return found


def _beats_the_middle(error: ErrorSummary, setting: Question) -> bool:
    """Return whether the error is smaller by a percent, as for a comparison."""
    return error.rmse < CLEARLY * ErrorSummary.of_middle(setting.box, setting.people).rmse


def _best_beats_the_middle(setting: Question, is_known: bool) -> bool | None:
    """Return whether the best mechanism has less error than the middle; None if it is unknown."""
    if is_known or setting.option == "best":
        return is_known
    for option in ("clamped-laplace", "best"):  # the first takes no time, and is often enough
        found = None
        with suppress(InBoundsError):
            other = replace(setting, option=option).mechanism()
            found = _beats_the_middle(ErrorSummary.of(other, setting.people), setting)
        if found:
            return True
    return found


def _errors(mechanism: Mechanism, rounded: Rounded | None) -> tuple[dict[str, list[float]], ...]:
    """Return the errors of values all over the box, or of its steps, for each coordinate."""
    box = mechanism.domain
    fractions = np.linspace(0, 1, _VALUES)[:, None]
    values = np.clip(box.lower + box.widths * fractions, box.lower, box.upper)
    for index, step in enumerate(box.steps):
        if step is not None:
            values[:, index] = _steps(values[:, index], float(np.ravel(box.lower)[index]), step)
    points = values[:, 0] if box.is_interval else values
    moments = _moments(mechanism, points) if rounded is None else rounded.moments(points)
    rmse, bias = (np.reshape(moments[name], values.shape) for name in ("rmse", "bias"))
    shown = []
    for x, errors, biases in zip(values.T, rmse.T, bias.T, strict=True):
        _, first = np.unique(x, return_index=True)
        columns = {"x": x, "rmse": errors, "bias": biases}
        shown.append({name: column[first].tolist() for name, column in columns.items()})
    return tuple(shown)


def _moments(mechanism: Mechanism, points: Any) -> dict[str, Any]:
    return {
        "rmse": np.sqrt(mechanism.mse(points)),
        "bias": mechanism.bias(points),
        "variance": mechanism.variance(points),
    }


def _steps(values: Floats, lower: float, step: float) -> Floats:
    """Return the nearest steps, of which none is above the largest value."""
    last = np.floor((values[-1] - lower) / step * (1 + 1e-9))
    steps = np.minimum(np.rint((values - lower) / step), last)
    return np.asarray(np.minimum(lower + step * steps, values[-1]))


def _coordinates(facts: _Facts, value: tuple[float, ...]) -> list[dict[str, Any]]:
    mechanism = facts.mechanism
    point: Any = value[0] if mechanism.domain.is_interval else np.array(value)
    if facts.rounded is None:
        moments = _moments(mechanism, point)
    else:
        moments = facts.rounded.moments(np.array(value))
    low, high = seen_interval(mechanism, point, LEVEL)
    columns = {
        "lower": mechanism.domain.lower,
        "upper": mechanism.domain.upper,
        "value": point,
        "low": low,
        "high": high,
        **moments,
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


def _notes(mechanism: Mechanism, setting: Question, rounded: Rounded | None) -> list[str]:
    notes = privacy.weaknesses(setting.promised)
    if setting.promised != setting.guarantee:
        notes.append("This mechanism needs no δ: it gives ε without one, which promises more.")
    if setting.is_joint:
        notes.append(
            "Each coordinate is shown by itself. The guarantee is that of all of them together."
        )
    if setting.step is not None and rounded is None and is_rounded_after(mechanism):
        where = "several coordinates" if setting.is_joint else f"more than {MOST_STEPS:,} steps"
        notes.append(
            f"With {where}, errors are those before outputs are rounded to the step, which moves "
            "an output by at most half a step."
        )
    return notes
