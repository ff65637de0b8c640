"""The columns that ``--column`` and ``--levels`` describe, and what a row of them costs."""

from __future__ import annotations

import json
import math
from collections.abc import Collection
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import typer

from inbounds import __version__, _json
from inbounds.cli import arguments
from inbounds.cli.calibrate import checked_certificate
from inbounds.cli.failure import UsageError
from inbounds.cli.level import LevelsOption, read_levels, response
from inbounds.cli.mechanism import build
from inbounds.errors import ArgumentError, ArgumentTypeError

if TYPE_CHECKING:
    from inbounds.guarantee import Amount, Guarantee
    from inbounds.mechanisms.mechanism import Mechanism
    from inbounds.mechanisms.randomized_response import RandomizedResponse

_TOLERANCE = 1e-12  # relative: 0.1 and 0.2 are not too much for 0.3
_ROUNDING = 1 - 2.0**-40  # so that equal parts never add up to more than the whole
_PEOPLE = 10_000  # for whose mean the best mechanism has the lowest error
SIDECAR, SIDECAR_VERSION = "inbounds private columns", 1  # of the file beside the output
_FORM = "NAME=LOW:HIGH[:STEP][@EPSILON], as in age=0:120:1@0.5"


@dataclass(frozen=True, slots=True)
class ColumnOption:
    """One ``--column``; its epsilon is None if it takes an equal part of the row's."""

    name: str
    lower: float
    upper: float
    step: float | None
    epsilon: float | None


@dataclass(frozen=True, slots=True)
class CalibratedColumn:
    """A column, the guarantee asked for it and for the row, and a mechanism that gives the former.

    The mechanism is calibrated for slightly less, so that rounding never adds up to more. For
    categories, `texts` are the levels as they were typed; for numbers there are none.
    """

    name: str
    guarantee: Amount
    row: Amount
    mechanism: Mechanism | RandomizedResponse
    texts: tuple[str, ...] = ()


def read_column(text: str) -> ColumnOption:
    """Return what one ``--column`` states.

    Examples
    --------
    >>> read_column("age=0:120:1@0.5")
    ColumnOption(name='age', lower=0.0, upper=120.0, step=1.0, epsilon=0.5)
    >>> read_column("a=b=-5:5").name
    'a=b'
    """
    name, equals, setting = text.rpartition("=")
    bounds, at, epsilon_text = setting.partition("@")
    try:
        numbers = [_json.typed(part) for part in bounds.split(":")]
        lower, upper = numbers[:2]
        (step,) = numbers[2:] or (None,)
        epsilon = _json.typed(epsilon_text) if at else None
    except ValueError:
        raise UsageError(f"--column must be {_FORM}, got {text!r}.") from None
    if not equals:
        raise UsageError(f"--column must be {_FORM}, got {text!r}.")
    return ColumnOption(name, lower, upper, step, epsilon)


def divided_epsilon(own: list[float | None], epsilon: float | None) -> list[float]:
    """Return the epsilon of each column: its own, or an equal part of what is left of the row's.

    Examples
    --------
    >>> [round(part, 9) for part in divided_epsilon([0.25, None, None], 1.0)]
    [0.25, 0.375, 0.375]
    """
    stated = math.fsum(part for part in own if part is not None)
    sharing = own.count(None)
    if epsilon is None:
        if sharing:
            raise UsageError(
                "--epsilon must be given, unless each --column has its own, as in @0.5."
            )
        remaining = 0.0
    else:
        if stated > epsilon * (1 + _TOLERANCE) or (sharing and stated >= epsilon):
            raise UsageError(
                f"--epsilon is for all columns of a row together: it must be "
                f"{'more than' if sharing else 'at least'} the sum of the columns' own epsilons, "
                f"{stated:g}, got {epsilon:g}."
            )
        remaining = epsilon - stated
    equal = remaining if sharing <= 1 else remaining / sharing
    return [equal * _rounding(own) if part is None else part for part in own]


def asked_epsilon(own: list[float | None], epsilon: float | None) -> tuple[list[float], float]:
    """Return what was asked for each column, and for all together, as decimals.

    Examples
    --------
    >>> asked_epsilon([None, None], 1.0), asked_epsilon([0.1, 0.2], None)
    (([0.5, 0.5], 1.0), ([0.1, 0.2], 0.3))
    """
    stated = [None if part is None else Fraction(repr(part)) for part in own]
    total = sum((part for part in stated if part is not None), Fraction(0))
    if epsilon is None or None not in own:
        return [part for part in own if part is not None], float(total)
    equal = float((Fraction(repr(epsilon)) - total) / own.count(None))
    return [equal if part is None else part for part in own], epsilon


def _rounding(parts: list[Any]) -> float:
    return 1.0 if len(parts) == 1 else _ROUNDING


def calibrated(
    texts: list[str],
    epsilon: float | None,
    delta: float | None,
    mechanism: str | None = None,
    objective: str | None = None,
    *,
    levels: list[str] | None = None,
) -> list[CalibratedColumn]:
    """Return the columns, each with a mechanism that hides any change of its value.

    The default is `Window`, even with a delta, which it does not need. Categories have randomised
    response, and no delta.

    Examples
    --------
    >>> calibrated(["age=0:120"], 1.0, None)[0].mechanism
    Window(Box(0, 120), L2(120), epsilon=1)
    """
    from inbounds.guarantee import Amount, check_delta, check_epsilon  # noqa: PLC0415 - as above

    epsilon = None if epsilon is None else check_epsilon(epsilon)
    delta = None if delta is None else check_delta(delta)
    options: list[ColumnOption | LevelsOption] = [*map(read_column, texts)]
    options += map(read_levels, levels or [])
    if not options:
        raise UsageError("--column or --levels must be given.")
    if not texts:
        _refuse_unused(delta=delta, mechanism=mechanism, objective=objective)
    own = [option.epsilon for option in options]
    asked, row_epsilon = asked_epsilon(own, epsilon)
    row = Amount(row_epsilon, delta or None)
    columns: dict[str, CalibratedColumn] = {}
    for option, part, exact in zip(options, divided_epsilon(own, epsilon), asked, strict=True):
        is_category = isinstance(option, LevelsOption)
        subject = f"--{'levels' if is_category else 'column'} {option.name!r}"
        if option.name in columns:
            raise UsageError(f"{subject} must be given once.")
        column_delta = delta / len(texts) if delta is not None and not is_category else None
        try:
            used_delta = None if column_delta is None else column_delta * _rounding(texts)
            guarantee = arguments.read_guarantee(part, used_delta)
            built = _built(option, guarantee, mechanism, objective)
        except (ArgumentError, ArgumentTypeError) as error:
            raise UsageError(f"{subject}: {error.sentence}") from None  # hints are about Python
        written = option.texts if isinstance(option, LevelsOption) else ()
        share = Amount(exact, column_delta or None)
        columns[option.name] = CalibratedColumn(option.name, share, row, built, written)
    return list(columns.values())


def _refuse_unused(**options: object) -> None:
    for name in (name for name, value in options.items() if value is not None):
        raise UsageError(f"--{name} is for columns of numbers, and --column names none.")


def _built(
    option: ColumnOption | LevelsOption,
    guarantee: Guarantee,
    mechanism: str | None,
    objective: str | None,
) -> Any:
    from inbounds.analysis.calibrate import calibrate  # noqa: PLC0415 - help must be quick
    from inbounds.domain import Box  # noqa: PLC0415 - as above
    from inbounds.mechanisms.window import Window  # noqa: PLC0415 - as above
    from inbounds.sensitivity import L2  # noqa: PLC0415 - as above

    epsilon = guarantee.stated()["epsilon"]
    if isinstance(option, LevelsOption):
        return response(option, epsilon)
    box = Box(option.lower, option.upper, step=option.step)
    change = L2(float(box.widths[0]))
    if mechanism == "best":  # of many outputs that are read together
        return calibrate(box, change, people=_PEOPLE, **guarantee.stated())
    if mechanism or objective:
        return build(box, change, guarantee, mechanism=mechanism, objective=objective)
    return Window.calibrated(box, change, epsilon=epsilon)


def describe(columns: list[CalibratedColumn], nulls: str) -> dict[str, Any]:
    """Return the guarantee of every row, as it is written to the file beside the output.

    Examples
    --------
    >>> columns = calibrated(["age=0:120@0.5", "rent=0:5000"], 0.75, None, "bounded-laplace")
    >>> facts = describe(columns, "error")
    >>> round(facts["row"]["pure_epsilon"], 9), facts["columns"][0]["bounds"]
    (0.75, [0.0, 120.0])
    """
    from inbounds.frames.local.privatize import row_guarantee  # noqa: PLC0415 - help must be quick

    row = row_guarantee({column.name: column.mechanism for column in columns})
    requested = columns[0].row.stated()
    allowed = "factor exp(epsilon)"
    if requested.get("delta"):
        allowed += " and a further delta, both as requested for the row"
    return {
        "format": SIDECAR,
        "version": SIDECAR_VERSION,
        "inbounds": __version__,
        "guarantee": "Local differential privacy of each row: no two values of its named columns "
        f"change the probability of any outcome by more than a {allowed}. Columns that "
        "are not named and the number of rows are published as they are"
        + (", and so is where values are missing." if nulls == "keep" else "."),
        "unit": row.unit and asdict(row.unit),
        "row": {
            "requested": requested,
            "pure_epsilon": row.pure,
            "rho": row.rho,
            "mu": row.gdp,
        },
        "columns": [_facts(column) for column in columns],
        "nulls": nulls,
    }


def warn_of_order(columns: list[CalibratedColumn], sorted_by: Collection[str]) -> None:
    """Warn about private columns that, according to the file, its rows are sorted by.

    Examples
    --------
    >>> warn_of_order([], ["age"])
    """
    for column in columns:
        if column.name in sorted_by:
            typer.echo(
                f"Warning: the file says that its rows are sorted by the private column "
                f"{column.name!r}, so that the place of a row reveals its value. "
                "Hint: use --shuffle.",
                err=True,
            )


def _facts(column: CalibratedColumn) -> dict[str, Any]:
    mechanism: Any = column.mechanism
    facts: dict[str, Any] = {"name": column.name, "mechanism": type(mechanism).__name__}
    facts |= _of_levels(mechanism) if column.texts else _of_numbers(mechanism)
    facts |= {"requested": column.guarantee.stated(), "pure_epsilon": mechanism.epsilon}
    proof = None if column.texts else checked_certificate(mechanism)
    facts["certificate"] = proof and json.loads(proof.to_json())
    return facts | {"document": json.loads(mechanism.to_json())}


def _of_numbers(mechanism: Any) -> dict[str, Any]:
    from inbounds.mechanisms.noise_mechanism import scale_of  # noqa: PLC0415 - help must be quick

    return {
        "bounds": [float(mechanism.domain.lower), float(mechanism.domain.upper)],
        "step": mechanism.domain.steps[0],
        "sensitivity": float(mechanism.domain.widths[0]),
        "scale": scale_of(mechanism),
        "parameters": mechanism.parameters,
    }


def _of_levels(mechanism: Any) -> dict[str, Any]:
    return {
        "levels": list(mechanism.levels),
        "flip_probability": mechanism.flip_probability,
        "parameters": {"epsilon": mechanism.epsilon},
    }
