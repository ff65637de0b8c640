"""The request for a private copy of a file's columns, as the words of ``inbounds privatize``."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from inbounds.cli import arguments
from inbounds.cli.column import asked_epsilon, calibrated
from inbounds.cli.explore.budget import Charge
from inbounds.cli.explore.field import fields, needed, number, numbers, one_of
from inbounds.cli.explore.upload import asked_charge, asked_delimiter, file_name, text
from inbounds.cli.source import beside, check_columns
from inbounds.errors import ArgumentError, ArgumentTypeError

_FIELDS = (*("name", "columns", "levels", "nulls", "shuffle", "mechanism", "charge", "delimiter"),)
_MOST_COLUMNS = 64
_MOST_ROWS = 100_000
_BINS = 40
_WHOLE = 2.0**53


@dataclass(frozen=True, slots=True)
class Privatization:
    """What a private copy is made of: the options of the command, and what it costs a row.

    Examples
    --------
    >>> asked = Privatization.read(
    ...     {
    ...         "name": "people.csv",
    ...         "columns": [{"name": "age", "bounds": [0, 120], "step": 1, "epsilon": 0.5}],
    ...     }
    ... )
    >>> asked.words
    ['people.private.csv', '--column=age=0:120:1@0.5', '--nulls=error']
    >>> asked.targets
    ['people.private.csv', 'people.private.csv.privacy.json']
    """

    name: str
    options: tuple[str, ...]
    numbers: tuple[str, ...]
    texts: tuple[str, ...]
    epsilon: float
    delimiter: list[str]
    charge: Charge | None

    @classmethod
    def read(cls, head: object) -> Privatization:
        """Return what the head of a request asks for."""
        given = fields("head", head, _FIELDS)
        columns = _objects("columns", given.get("columns"))
        levels = _objects("levels", given.get("levels"))
        if not columns and not levels:
            raise ArgumentError.must("columns", "name at least one column")
        options = [_column(column) for column in columns] + [_levels(level) for level in levels]
        asked = [number("epsilon", needed("column", part, "epsilon")) for part in columns + levels]
        options.append(f"--nulls={one_of('nulls', given.get('nulls', 'error'), _NULLS)}")
        options += [f"--mechanism={name}" for name in [_mechanism(given)] if name is not None]
        options += ["--shuffle"] if _truth("shuffle", given.get("shuffle", False)) else []
        delimiter = asked_delimiter(given)
        return cls(
            name=file_name(needed("head", given, "name")),
            options=(*options, *delimiter),
            numbers=tuple(column["name"] for column in columns),
            texts=tuple(level["name"] for level in levels),
            epsilon=asked_epsilon(list(asked), None)[1],
            delimiter=delimiter,
            charge=asked_charge(given),
        )

    @property
    def target(self) -> str:
        """The name of the private copy."""
        path = Path(self.name)
        return f"{path.stem}.private{path.suffix}"

    @property
    def targets(self) -> list[str]:
        """The files that are made."""
        return [self.target, beside(Path(self.target)).name]

    @property
    def words(self) -> list[str]:
        """What the command is given, after the name of the file."""
        target = f"./{self.target}" if self.target.startswith("-") else self.target
        return [target, *self.options]

    def check(self, header: list[str]) -> None:
        """Refuse columns that the file does not have, before anything is charged."""
        check_columns(self.numbers, header)
        check_columns(self.texts, header, "--levels")


_NULLS = ("error", "keep", "uniform")


def _objects(name: str, value: object) -> list[dict[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise ArgumentTypeError.must_be(name, "a list", got=type(value).__name__)
    if len(value) > _MOST_COLUMNS:
        raise ArgumentError.must(name, f"have at most {_MOST_COLUMNS} entries")
    known = ("name", "levels", "epsilon") if name == "levels" else _COLUMN
    return [fields("column", entry, known) for entry in value]


_COLUMN = ("name", "bounds", "step", "epsilon")


def _truth(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise ArgumentTypeError.must_be(name, "true or false")
    return value


def _mechanism(given: dict[str, Any]) -> str | None:
    value = given.get("mechanism")
    return None if value is None else one_of("mechanism", value, get_args(arguments.MechanismName))


def plain(number: float) -> str:
    """Return a double as options write it, whole numbers without a fraction.

    Examples
    --------
    >>> plain(120.0), plain(0.1), plain(1e300)
    ('120', '0.1', '1e+300')
    """
    return str(int(number)) if number.is_integer() and abs(number) < _WHOLE else repr(number)


def bounds_of(column: dict[str, Any]) -> str:
    """Return the bounds of a column as options write them.

    Examples
    --------
    >>> bounds_of({"bounds": [-5, 1e300]})
    '-5:1e+300'
    """
    pair = numbers("bounds", needed("column", column, "bounds"), 2)
    if len(pair) != 2:
        raise ArgumentError.must_be("bounds", "two numbers, as in [0, 120]")
    return f"{plain(pair[0])}:{plain(pair[1])}"


def _setting(column: dict[str, Any]) -> str:
    step = "" if column.get("step") is None else f":{plain(number('step', column['step']))}"
    epsilon = number("epsilon", needed("column", column, "epsilon"))
    return f"{bounds_of(column)}{step}@{plain(epsilon)}"


def _column(column: dict[str, Any]) -> str:
    """Return one option; the name may hold any character, as the last = ends it."""
    return f"--column={text('column', needed('column', column, 'name'))}={_setting(column)}"


def _levels(column: dict[str, Any]) -> str:
    """Return one option, with quotes around everything that a person named."""
    name = text("column", needed("column", column, "name"))
    levels = needed("column", column, "levels")
    if not isinstance(levels, list) or not levels:
        raise ArgumentTypeError.must_be("levels", "a list of texts")
    listed = ",".join(_quoted(text("levels", level)) for level in levels)
    epsilon = number("epsilon", needed("column", column, "epsilon"))
    return f"--levels={_quoted(name)}={listed}@{plain(epsilon)}"


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def simulated(document: object) -> dict[str, Any]:
    """Return what outputs of made-up values look like: no file is involved.

    Examples
    --------
    >>> asked = {"name": "age", "bounds": [0, 120], "step": None, "epsilon": 1}
    >>> (column,) = simulated({"columns": [asked], "rows": 1000})["columns"]
    >>> column["name"], len(column["outputs"]["fractions"]), 0 < column["error"] < 120
    ('age', 40, True)
    """
    given = fields("simulation", document, ("columns", "rows", "mechanism"))
    columns = _objects("columns", needed("simulation", given, "columns"))
    rows = number("rows", given.get("rows", 1000))
    if not (rows.is_integer() and 1 <= rows <= _MOST_ROWS):
        raise ArgumentError.must_be("rows", f"a whole number from 1 to {_MOST_ROWS:,}")
    mechanism = _mechanism(given)
    return {"columns": [_simulated(column, int(rows), mechanism) for column in columns]}


def _simulated(column: dict[str, Any], rows: int, option: str | None) -> dict[str, Any]:
    import numpy as np  # noqa: PLC0415 - help must be quick

    name = text("column", needed("column", column, "name"))
    (made,) = calibrated([f"{name}={_setting(column)}"], None, None, option)
    mechanism: Any = made.mechanism
    lower, upper = float(mechanism.domain.lower), float(mechanism.domain.upper)
    values = np.random.default_rng().uniform(lower, upper, rows)  # nothing about them is secret
    if (step := mechanism.domain.steps[0]) is not None:
        values = np.minimum(lower + step * np.floor((values - lower) / step), upper)
    outputs = np.asarray(mechanism.release(values), dtype=float)
    edges = np.linspace(lower, upper, _BINS + 1)

    def shown(numbers: Any) -> dict[str, Any]:
        counts, _ = np.histogram(numbers, edges)
        return {"edges": edges.tolist(), "fractions": (counts / rows).tolist()}

    return {
        "name": name,
        "values": shown(values),
        "outputs": shown(outputs),
        "error": _error(mechanism),
    }


def _error(mechanism: Any) -> float | None:
    """Return the error for values that are spread evenly, or None if no double can hold it."""
    import numpy as np  # noqa: PLC0415 - help must be quick

    from inbounds.analysis.error import average_rmse  # noqa: PLC0415 - as above

    with np.errstate(all="ignore"):
        error = average_rmse(mechanism)
    return error if math.isfinite(error) else None
