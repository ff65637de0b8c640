"""Mechanisms as JSON, for other programs, and what is refused when such a text comes back.

The text holds what the constructor takes: for `Optimal` its table of integers as well, and for
randomised response levels in place of a box. Nothing that is derived is written, so a text cannot
claim more privacy than its numbers give. The fields are described in docs/mechanism-json.md.
"""

from __future__ import annotations

import importlib
import json
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from inbounds import _json
from inbounds.calibration.table import LevelTable, real
from inbounds.domain import Box
from inbounds.errors import ArgumentError, ArgumentTypeError, InBoundsError
from inbounds.sampling.grid import Grid
from inbounds.sensitivity import L1, L2, LInf, PerCoordinate, Sensitivity

if TYPE_CHECKING:
    from inbounds.mechanisms.mechanism import Mechanism
    from inbounds.mechanisms.randomized_response import RandomizedResponse

FORMAT, VERSION = "inbounds mechanism", 1

_SCALES = ("BoundedGaussian", "BoundedLaplace", "ClampedGaussian", "ClampedLaplace")
_HOMES = {
    "BoundedGaussian": "bounded_gaussian",
    "BoundedLaplace": "bounded_laplace",
    "ClampedGaussian": "clamped_gaussian",
    "ClampedLaplace": "clamped_laplace",
    "ClampedStaircase": "clamped_staircase",
    "Optimal": "optimal",
    "Window": "window",
}
_NORMS = {"l1": L1, "l2": L2, "linf": LInf, "per_coordinate": PerCoordinate}
_FIELDS = {"format", "version", "mechanism", "domain", "sensitivity", "parameters"}
_RESPONSE = "RandomizedResponse"
_RESPONSE_FIELDS = {"format", "version", "mechanism", "levels", "parameters"}
_WHOLE_DOUBLES = 2**53  # beyond, other programs may round an integer

Read = TypeVar("Read")


class _MalformedError(ValueError):
    """A text that is no document; the message says in which way, without showing the text."""


def write_mechanism(mechanism: Mechanism) -> str:
    """Return a mechanism as JSON; every number is the shortest decimal of its double.

    Examples
    --------
    >>> import inbounds as ib
    >>> text = write_mechanism(ib.Window(ib.Box(0, 120), 120, epsilon=1.0))
    >>> json.loads(text)["parameters"]
    {'epsilon': 1.0}
    """
    box, name = mechanism.domain, type(mechanism).__name__
    if name not in _HOMES:
        raise ArgumentTypeError.must_be("mechanism", f"one of {', '.join(_HOMES)}", got=name)
    fields: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "mechanism": name,
        "domain": {"lower": _plain(box.lower), "upper": _plain(box.upper), "step": box.step},
        "sensitivity": [
            {"norm": _norm(part), "bound": _plain(part.bound)}
            for part in mechanism.sensitivity._parts()
        ],
        "parameters": {key: _plain(value) for key, value in mechanism.parameters.items()},
    }
    if name == "Optimal":
        fields["table"] = json.loads(mechanism.table.to_json())  # type: ignore[attr-defined]
    return json.dumps(fields, allow_nan=False)


def write_response(mechanism: RandomizedResponse) -> str:
    """Return randomised response as JSON: its levels and its epsilon.

    Examples
    --------
    >>> import inbounds as ib
    >>> text = write_response(ib.RandomizedResponse(["no", "yes"], epsilon=1.0))
    >>> json.loads(text)["levels"]
    ['no', 'yes']
    """
    levels = mechanism.levels
    if any(isinstance(level, int) and abs(level) > _WHOLE_DOUBLES for level in levels):
        requirement = "be integers from -2**53 to 2**53, or texts, to be written as JSON"
        raise ArgumentError.must("levels", requirement)
    fields: dict[str, Any] = {"format": FORMAT, "version": VERSION, "mechanism": _RESPONSE}
    fields |= {"levels": list(levels), "parameters": {"epsilon": mechanism.epsilon}}
    return json.dumps(fields, allow_nan=False)


def read_as(kind: type[Read], text: object) -> Read:
    """Return the mechanism of one kind that a text describes; of others say who reads them.

    Examples
    --------
    >>> import inbounds as ib
    >>> read_as(ib.Window, ib.RandomizedResponse([0, 1], epsilon=1.0).to_json())
    Traceback (most recent call last):
    inbounds.errors.ArgumentError: text must be the JSON of Window, got RandomizedResponse.
    Hint: RandomizedResponse.from_json reads it.
    """
    mechanism = read_mechanism(text)
    if not isinstance(mechanism, kind):
        got = type(mechanism).__name__
        hint = f"{got}.from_json reads it."
        raise ArgumentError.must_be("text", f"the JSON of {kind.__name__}", got=got, hint=hint)
    return mechanism


def read_mechanism(text: object) -> Mechanism | RandomizedResponse:
    """Return the mechanism that a text describes, checked as its constructor checks it.

    Raises
    ------
    ArgumentError
        If the text is no document of this version, or a number in it is not possible.
    CertificateError
        If the table of an `Optimal` does not give its epsilon.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.Optimal(ib.Box(0, 1), 0.5, epsilon=2.0)
    >>> read_mechanism(write_mechanism(m)) == m
    True
    """
    if not isinstance(text, str):
        got = type(text).__name__
        raise ArgumentTypeError.must_be("text", "a text written by to_json", got=got)
    try:
        return _built(_json.read(text))
    except InBoundsError:
        raise
    except _MalformedError as error:
        raise _refused(got=str(error), hint=_json.reader_hint(text, own="Mechanism")) from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, ArithmeticError):
        raise _refused(hint=_json.reader_hint(text, own="Mechanism")) from None


def _refused(got: str = "", hint: str | None = None) -> ArgumentError:
    return ArgumentError.must_be("text", "a mechanism written by to_json", got=got, hint=hint)


def _built(fields: Any) -> Mechanism | RandomizedResponse:
    name = _checked_name(fields)
    if name == _RESPONSE:
        return _response(fields)
    kind: Any = getattr(importlib.import_module(f"inbounds.mechanisms.{_HOMES[name]}"), name)
    arguments: list[Any] = [_box(fields["domain"]), _sensitivity(fields["sensitivity"])]
    if name == "Optimal":
        table = LevelTable.from_json(json.dumps(fields["table"]))
        _check_steps(arguments[0], table)
        arguments += [*_parameters(fields, "epsilon", "objective"), table]
    else:
        key = kind.noise.scale_name if name in _SCALES else "epsilon"
        arguments += _parameters(fields, key)
    mechanism: Mechanism = kind(*arguments)
    return mechanism


def _response(fields: Any) -> RandomizedResponse:
    from inbounds.mechanisms.randomized_response import (  # noqa: PLC0415 - knows this module
        RandomizedResponse,
    )

    levels = fields["levels"]
    if not isinstance(levels, list):
        raise _MalformedError("levels that are no list")
    (epsilon,) = _parameters(fields, "epsilon")
    return RandomizedResponse(tuple(levels), epsilon=epsilon)


def _parameters(fields: Any, *names: str) -> list[Any]:
    """Return the parameters in the order of the constructor: numbers, and names of objectives."""
    parameters = fields["parameters"]
    _check_keys(parameters, set(names), "parameters")
    return [
        _word(parameters[name]) if name == "objective" else _numbers(parameters[name])
        for name in names
    ]


def _checked_name(fields: Any) -> str:
    """Return the name of the mechanism; refuse other versions and unknown fields."""
    if not isinstance(fields, dict) or fields.get("format") != FORMAT:
        raise _MalformedError("a text of another format")
    version = fields.get("version")
    if type(version) is not int or version != VERSION:
        raise _MalformedError(f"another version than {VERSION}")
    name = _word(fields.get("mechanism"))
    if name == _RESPONSE:
        _check_keys(fields, _RESPONSE_FIELDS, "the text")
        return name
    if name not in _HOMES:
        raise _MalformedError("an unknown mechanism")
    _check_keys(fields, _FIELDS | ({"table"} if name == "Optimal" else set()), "the text")
    return name


def _check_keys(fields: Any, names: set[str], where: str) -> None:
    if not isinstance(fields, dict) or set(fields) != names:
        raise _MalformedError(f"missing or unknown fields in {where}")


def _box(fields: Any) -> Box:
    _check_keys(fields, {"lower", "upper", "step"}, "domain")
    step = fields["step"]
    if isinstance(step, list):
        step = [None if size is None else real(size) for size in step]
    elif step is not None:
        step = real(step)
    return Box(_numbers(fields["lower"]), _numbers(fields["upper"]), step=step)


def _sensitivity(parts: Any) -> Sensitivity:
    if not isinstance(parts, list) or not parts:
        raise _MalformedError("a sensitivity that is no list of bounds")
    for part in parts:
        _check_keys(part, {"norm", "bound"}, "sensitivity")
        if _word(part["norm"]) not in _NORMS:
            raise _MalformedError("an unknown norm in sensitivity")
    return reduce(and_, (_NORMS[part["norm"]](_numbers(part["bound"])) for part in parts))


def _check_steps(box: Box, table: LevelTable) -> None:
    """Refuse outputs that are no steps of the box: they would not be outputs of `Optimal`."""
    step = box.steps[0]
    if step is None:
        return
    grid = Grid.fit(table.lower, table.upper, step, float(box.widths[0]))
    index = np.rint((np.array(table.outputs, np.float64) - table.lower) / float(grid.spacing))
    inside = np.clip(index, 0, grid.intervals).astype(np.int64)
    if not np.array_equal(np.asarray(grid.points(inside), np.float64), table.outputs):
        raise _MalformedError("outputs that are not steps of the box")


def _norm(part: Any) -> str:
    return next(name for name, kind in _NORMS.items() if type(part) is kind)


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def _numbers(value: Any) -> Any:
    if isinstance(value, list):
        return np.array([real(number) for number in value], np.float64)
    return real(value)


def _word(value: Any) -> str:
    if not isinstance(value, str):
        raise _MalformedError("a name that is no text")
    return value
