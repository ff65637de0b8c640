"""What ``--column`` says of a table's columns, and what a row of them costs."""

from __future__ import annotations

import json
import math
from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import typer

from inbounds import __version__, _json
from inbounds.cli import arguments
from inbounds.cli.calibrate import prove
from inbounds.cli.failure import UsageError
from inbounds.errors import ArgumentError, ArgumentTypeError

if TYPE_CHECKING:
    from inbounds.guarantee import Guarantee
    from inbounds.mechanisms.mechanism import Mechanism

_TOLERANCE = 1e-12  # relative: 0.1 and 0.2 are not too much for 0.3
_ROUNDING = 1 - 2.0**-40  # so that equal shares never add up to more than the whole
_DELIMITERS = ";\t|"  # that a header of a single name may hold by mistake
_FORM = "NAME=LOW:HIGH[:STEP][@EPSILON], as in age=0:120:1@0.5"


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for a column; its epsilon is None if it takes an equal share."""

    name: str
    lower: float
    upper: float
    step: float | None
    epsilon: float | None


@dataclass(frozen=True, slots=True)
class Column:
    """A column, what was asked for it, and the mechanism that gives this."""

    name: str
    guarantee: Guarantee
    mechanism: Mechanism


def read_column(text: str) -> Request:
    """Return what one ``--column`` speaks of.

    Examples
    --------
    >>> read_column("age=0:120:1@0.5")
    Request(name='age', lower=0.0, upper=120.0, step=1.0, epsilon=0.5)
    >>> read_column("a=b=-5:5").name
    'a=b'
    """
    name, equals, rest = text.rpartition("=")
    bounds, at, own = rest.partition("@")
    try:
        numbers = [_json.typed(part) for part in bounds.split(":")]
        lower, upper = numbers[:2]
        (step,) = numbers[2:] or (None,)
        epsilon = _json.typed(own) if at else None
    except ValueError:
        raise UsageError(f"--column must be {_FORM}, got {text!r}.") from None
    if not equals:
        raise UsageError(f"--column must be {_FORM}, got {text!r}.")
    return Request(name, lower, upper, step, epsilon)


def shares(own: list[float | None], epsilon: float | None) -> list[float]:
    """Return the epsilon of each column: its own, or an equal share of what these leave of a row's.

    Examples
    --------
    >>> [round(share, 9) for share in shares([0.25, None, None], 1.0)]
    [0.25, 0.375, 0.375]
    """
    stated = math.fsum(one for one in own if one is not None)
    sharing = own.count(None)
    if epsilon is None:
        if sharing:
            raise UsageError("--epsilon must be given, or each --column have its own, as in @0.5.")
        rest = 0.0
    else:
        if stated > epsilon * (1 + _TOLERANCE) or (sharing and stated >= epsilon):
            raise UsageError(
                f"--epsilon is for all columns of a row together: it must be "
                f"{'more than' if sharing else 'at least'} what columns have of their own, "
                f"{stated:g}, got {epsilon:g}."
            )
        rest = epsilon - stated
    share = rest if sharing <= 1 else rest / sharing
    return [share * _rounding(own) if one is None else one for one in own]


def _rounding(parts: list[Any]) -> float:
    return 1.0 if len(parts) == 1 else _ROUNDING


def calibrated(
    texts: list[str], epsilon: float | None, delta: float | None, mechanism: str
) -> list[Column]:
    """Return the columns, each with a mechanism that hides any change of its value.

    Examples
    --------
    >>> calibrated(["age=0:120"], 1.0, None, "clamped-laplace")[0].mechanism
    ClampedLaplace(Box(0, 120), L2(120), scale=...)
    """
    from inbounds.domain import Box  # noqa: PLC0415 - help must be quick
    from inbounds.guarantee import check_delta, check_epsilon  # noqa: PLC0415 - as above
    from inbounds.sensitivity import L2  # noqa: PLC0415 - as above

    epsilon = None if epsilon is None else check_epsilon(epsilon)
    delta = None if delta is None else check_delta(delta)
    asked = [read_column(text) for text in texts]
    each = None if delta is None else delta / len(asked) * _rounding(asked)
    found: dict[str, Column] = {}
    for one, share in zip(asked, shares([one.epsilon for one in asked], epsilon), strict=True):
        if one.name in found:
            raise UsageError(f"--column {one.name!r} must be given once.")
        try:
            guarantee = arguments.read_guarantee(share, each)
            box = Box(one.lower, one.upper, step=one.step)
            change = L2(float(box.widths[0]))
            built = arguments.build(box, change, guarantee, mechanism=mechanism)
        except (ArgumentError, ArgumentTypeError) as error:
            reason = error.sentence  # hints speak of Python
            raise UsageError(f"--column {one.name!r}: {reason}") from None
        found[one.name] = Column(one.name, guarantee, built)
    return list(found.values())


def describe(columns: list[Column], nulls: str) -> dict[str, Any]:
    """Return the guarantee of every row, as the file beside the output tells it.

    Examples
    --------
    >>> columns = calibrated(["age=0:120@0.5", "rent=0:5000"], 0.75, None, "bounded-laplace")
    >>> facts = describe(columns, "error")
    >>> round(facts["row"]["pure_epsilon"], 9), facts["columns"][0]["bounds"]
    (0.75, [0.0, 120.0])
    """
    from inbounds.frames.local.privatize import row_guarantee  # noqa: PLC0415 - help must be quick

    row = row_guarantee({one.name: one.mechanism for one in columns})
    requested = {
        name: math.fsum(one.guarantee.stated()[name] for one in columns)
        for name in columns[0].guarantee.stated()
    }
    allowed = "factor exp(epsilon)"
    if requested.get("delta"):
        allowed += " and a further delta, both as requested for the row"
    return {
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
        "columns": [_facts(one) for one in columns],
        "nulls": nulls,
    }


def check_name(name: str, names: list[str]) -> None:
    """Refuse a column that INPUT does not have exactly once.

    Examples
    --------
    >>> check_name("age", ["age", "town"])
    """
    count = names.count(name)
    if count == 1:
        return
    found = f"{count} of them" if count else "none of that name"
    text = f"--column {name!r} must be a column of INPUT, exactly once, got {found}."
    for delimiter in _DELIMITERS if len(names) == 1 else ():
        if delimiter in names[0]:
            text += f" Hint: the header seems to be separated by {delimiter!r}, so --delimiter."
            break
    raise UsageError(text)


def warn_of_order(columns: list[Column], sorted_by: Collection[str]) -> None:
    """Say on standard error which private columns the file says its rows are sorted by.

    Examples
    --------
    >>> warn_of_order([], ["age"])
    """
    for one in columns:
        if one.name in sorted_by:
            typer.echo(
                f"Warning: rows are sorted by the private column {one.name!r}, says the file: the "
                "place of a row tells its value. Hint: --shuffle.",
                err=True,
            )


def _facts(column: Column) -> dict[str, Any]:
    mechanism = column.mechanism
    proof = prove(mechanism)
    return {
        "name": column.name,
        "mechanism": type(mechanism).__name__,
        "bounds": [float(mechanism.domain.lower), float(mechanism.domain.upper)],
        "step": mechanism.domain.steps[0],
        "sensitivity": float(mechanism.domain.widths[0]),
        "scale": float(mechanism.scale),
        "requested": column.guarantee.stated(),
        "pure_epsilon": mechanism.epsilon,
        "certificate": proof and json.loads(proof.to_json()),
    }
