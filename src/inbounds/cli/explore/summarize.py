"""The request for private statistics of a file, as the words of ``inbounds summarize``."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inbounds.cli.explore.budget import Charge
from inbounds.cli.explore.field import fields, needed, number, one_of
from inbounds.cli.explore.privatize import bounds_of, plain
from inbounds.cli.explore.upload import asked_charge, asked_delimiter, file_name, text
from inbounds.errors import ArgumentError, ArgumentTypeError

_KINDS = ("mean", "total", "variance", "median", "histogram")
_FIELDS = (
    *("name", "statistics", "by", "groups", "epsilon", "delta", "adjacency", "id", "rows", "size"),
    *("nulls", "charge", "delimiter"),
)
_MOST = 10_000  # groups
_PLAIN = re.compile(r"\w(?:[\w .-]*\w)?")  # groups that need no quotes and no file
_NUMBERS = ("q", "bin_lower", "bin_upper", "value", "standard_error", "lower", "upper")


@dataclass(frozen=True, slots=True)
class Summary:
    """Which statistics of which groups are asked for, as the options of the command.

    Examples
    --------
    >>> asked = Summary.read(
    ...     {
    ...         "name": "people.csv",
    ...         "statistics": {"count": True, "mean": [{"name": "age", "bounds": [0, 120]}]},
    ...         "by": ["town"],
    ...         "groups": [["Ulm"], ["Rom"]],
    ...         "epsilon": 1,
    ...     }
    ... )
    >>> print(*asked.words)
    --count --mean=age=0:120 --by=town --groups=Ulm,Rom --epsilon=1
    --output=people.summary.csv
    """

    name: str
    options: tuple[str, ...]
    listing: bytes | None
    charge: Charge | None

    @classmethod
    def read(cls, head: object) -> Summary:
        """Return what the head of a request asks for."""
        given = fields("head", head, _FIELDS)
        name = file_name(needed("head", given, "name"))
        by = [text("by", column) for column in _list("by", given.get("by"))]
        grouped, listing = _groups(name, by, given.get("groups"))
        charge = asked_charge(given)
        options = [*_statistics(needed("head", given, "statistics"))]
        options += [f"--by={column}" for column in by] + grouped
        options += _terms(given) + asked_delimiter(given)
        if charge is not None:
            options += [f"--dataset={charge.dataset}"]
            options += [f"--label={charge.label}"] if charge.label else []
        return cls(name, tuple(options), listing, charge)

    @property
    def target(self) -> str:
        """The name of the table that is made."""
        return f"{Path(self.name).stem}.summary.csv"

    @property
    def has_people(self) -> bool:
        """Whether a column says which rows are whose."""
        return any(option.startswith("--id=") for option in self.options)

    @property
    def listing_name(self) -> str:
        """The name of the file that lists groups, if they need one."""
        return _listing_name(self.name)

    @property
    def words(self) -> list[str]:
        """What the command is given, after the name of the file."""
        return [*self.options, f"--output={self.target}"]


def _listing_name(name: str) -> str:
    return f"{name}.groups"


def _list(name: str, value: object) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise ArgumentTypeError.must_be(name, "a list", got=type(value).__name__)
    if len(value) > _MOST:
        raise ArgumentError.must(name, f"have at most {_MOST:,} entries")
    return value


def _statistics(value: object) -> list[str]:
    given = fields("statistics", value, ("count", *_KINDS))
    count = given.get("count", False)
    if not isinstance(count, bool):
        raise ArgumentTypeError.must_be("count", "true or false")
    asked = [(kind, entry) for kind in _KINDS for entry in _list(kind, given.get(kind))]
    return ["--count"] * count + [_statistic(kind, entry) for kind, entry in asked]


def _statistic(kind: str, entry: object) -> str:
    more = {"median": ("step",), "histogram": ("bins",)}.get(kind, ())
    given = fields(kind, entry, ("name", "bounds", *more))
    setting = bounds_of(given)
    if kind == "histogram":
        setting += f":{whole('bins', needed(kind, given, 'bins'))}"
    elif given.get("step") is not None:
        setting += f":{plain(number('step', given['step']))}"
    return f"--{kind}={text('name', needed(kind, given, 'name'))}={setting}"


def _groups(name: str, by: list[str], value: object) -> tuple[list[str], bytes | None]:
    """Return the option that lists the groups, and the file that it reads if they need one."""
    groups = [[text("groups", cell) for cell in _list("groups", g)] for g in _list("groups", value)]
    if not groups:
        return [], None
    if any(len(group) != len(by) for group in groups):
        raise ArgumentError.must("groups", "have one value for each column of by")
    if all(_PLAIN.fullmatch(cell) for group in groups for cell in group):
        return ["--groups=" + ",".join(":".join(group) for group in groups)], None
    file = io.StringIO(newline="")
    writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerows([by, *groups])
    return [f"--groups-from=./{_listing_name(name)}"], file.getvalue().encode()


def _terms(given: dict[str, Any]) -> list[str]:
    """Return the options about privacy and people."""
    options = [f"--epsilon={plain(number('epsilon', needed('head', given, 'epsilon')))}"]
    if given.get("delta") is not None:
        options.append(f"--delta={plain(number('delta', given['delta']))}")
    if given.get("id") is not None:
        options.append(f"--id={text('id', given['id'])}")
    counts = {name: given[name] for name in ("rows", "size") if given.get(name) is not None}
    options += [f"--{name}={whole(name, count)}" for name, count in counts.items()]
    known = {"adjacency": ("replace", "add-remove"), "nulls": ("error", "skip")}
    chosen = {name: given[name] for name in known if given.get(name) is not None}
    return options + [
        f"--{name}={one_of(name, text, known[name])}" for name, text in chosen.items()
    ]


def whole(name: str, value: object) -> int:
    """Return a whole number from 1 to a billion.

    Examples
    --------
    >>> whole("rows", 3)
    3
    >>> whole("rows", 0.5)
    Traceback (most recent call last):
    inbounds.errors.ArgumentError: rows must be a whole number from 1 to 1,000,000,000, got
    rows=0.5.
    """
    checked = number(name, value)
    if not (checked.is_integer() and 1 <= checked <= 10**9):
        requirement = "a whole number from 1 to 1,000,000,000"
        raise ArgumentError.must_be(name, requirement, got=f"{name}={checked:g}")
    return int(checked)


def table(text: str) -> dict[str, Any]:
    r"""Return a table of private statistics with numbers as such, and null for a blank cell.

    Examples
    --------
    >>> table("town,statistic,value\n007,mean,41.5\n")
    {'columns': ['town', 'statistic', 'value'], 'rows': [['007', 'mean', 41.5]]}
    """
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    own = header.index("statistic")  # names before it are the person's own

    def read(place: int, cell: str) -> Any:
        if place > own and header[place] in _NUMBERS:
            return float(cell) if cell else None
        return cell

    return {"columns": header, "rows": [[read(*pair) for pair in enumerate(row)] for row in rows]}
