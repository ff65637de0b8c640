"""The options of ``inbounds summarize`` that ask for statistics, and what they mean."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from inbounds import _json
from inbounds.cli.failure import UsageError
from inbounds.errors import ArgumentError, ArgumentTypeError

if TYPE_CHECKING:
    from inbounds.frames.central.statistic import Statistic

_MOST_BINS = 10_000
_FORMS = {  # of options that have one, each with an example
    "proportion": ("NAME", "smoker"),
    **dict.fromkeys(("mean", "total", "variance"), ("NAME=LOW:HIGH", "age=0:120")),
    "median": ("NAME=LOW:HIGH[:STEP]", "age=0:120"),
    "quantile": ("NAME=LOW:HIGH[:STEP]:Q[,Q...]", "age=0:120:0.25,0.75"),
    "histogram": ("NAME=LOW:HIGH:BINS or NAME=EDGE,EDGE,...", "age=0:120:12 or age=0,18,65,120"),
    "categories": ("NAME=LEVEL,LEVEL,...", "education=none,school,university"),
}


def _option(kind: str, help: str, metavar: str | None = None) -> Any:
    return typer.Option(metavar=metavar or _FORMS[kind][0], help=f"{help} Repeat it.")


Texts = list[str] | None
Count = Annotated[bool, typer.Option("--count", help="Ask for the number of rows.")]
Proportion = Annotated[
    Texts, _option("proportion", "The fraction of rows in which a column is true.")
]
Mean = Annotated[
    Texts, _option("mean", "The mean of a column whose values are in a public range, as age=0:120.")
]
Total = Annotated[Texts, _option("total", "The sum of a column.")]
Variance = Annotated[Texts, _option("variance", "The variance of a column.")]
Median = Annotated[
    Texts,
    _option(
        "median",
        "The median of a column. STEP is the distance of the points it is rounded to: by default 1 "
        "for integers; give it for whole numbers in CSV.",
    ),
]
Quantiles = Annotated[
    Texts,
    _option(
        "quantile",
        "Quantiles of a column, as age=0:120:0.5, or with a STEP, as age=0:120:1:0.5. Commas "
        "separate several.",
        "NAME=LOW:HIGH:Q",
    ),
]
Histogram = Annotated[
    Texts,
    _option(
        "histogram",
        "The number of rows in bins of a column: 12 equal ones, as age=0:120:12, or between edges, "
        "as age=0,18,65,120.",
        "NAME=LOW:HIGH:BINS",
    ),
]
Categories = Annotated[
    Texts,
    _option(
        "categories",
        "The number of rows with each public value of a column. A value with a comma is put in "
        "double quotes.",
        "NAME=LEVEL,LEVEL",
    ),
]
Incomplete = Annotated[
    Texts,
    typer.Option(
        metavar="NAME",
        help="A column of --categories that may have other values than those listed. Repeat it.",
    ),
]
Weights = Annotated[
    Texts,
    typer.Option(
        metavar="STATISTIC[:NAME]=NUMBER",
        help="How much the squared relative error of a statistic counts when the privacy is "
        "divided, as count=2 or mean:age=3; 1 by default. Repeat it.",
    ),
]


Outside = Annotated[
    Texts,
    typer.Option(
        metavar="[NAME=]POLICY",
        help="Numbers beyond their bounds: clip moves them to the bound (the default), skip leaves "
        "out their rows (999 for missing), error stops; as age=skip for one column. Repeat it.",
    ),
]


def read_outside(texts: Texts) -> str | dict[str, str]:
    """Return what becomes of numbers outside their bounds, in all columns or in those named.

    Examples
    --------
    >>> read_outside(None), read_outside(["skip"]), read_outside(["age=skip", "pay=clip"])
    ('clip', 'skip', {'age': 'skip', 'pay': 'clip'})
    """
    given = texts or ["clip"]
    if len(given) == 1 and "=" not in given[0]:
        return given[0]
    pairs = [text.rpartition("=") for text in given]
    if not all(name for name, _, _ in pairs) or len({name for name, _, _ in pairs}) < len(pairs):
        raise UsageError("--outside must be one policy, or NAME=POLICY once for each column.")
    return {name: policy for name, _, policy in pairs}


def read_statistics(
    texts: Mapping[str, Sequence[str] | None], *, count: bool = False, incomplete: Texts = None
) -> list[Statistic]:
    """Return the statistics that options ask for; levels of categories are still text.

    Parameters
    ----------
    texts
        For each kind of statistic, what the options of that name say.
    count
        Whether the number of rows is asked for.
    incomplete
        The columns whose listed levels are not all of their values.

    Examples
    --------
    >>> read_statistics({"mean": ["age=0:120"], "histogram": ["age=0:1:4"]}, count=True)
    [count(), mean('age', 0, 120), histogram('age', [0, 0.25, 0.5, 0.75, 1])]
    """
    from inbounds import frames  # noqa: PLC0415 - help must be quick

    asked = [frames.count()] if count else []
    asked += [_statistic(kind, text) for kind, given in texts.items() for text in given or []]
    if not asked:
        kinds = ", ".join(f"--{kind}" for kind in ("count", *_FORMS))
        raise UsageError(f"at least one statistic must be asked for: {kinds}.")
    if len(set(asked)) < len(asked):
        raise UsageError("no statistic must be asked for twice.")
    for name in incomplete or []:
        if not any(one.levels and one.column == name for one in asked):
            raise UsageError(f"--incomplete must name a column of --categories, got {name!r}.")
    return [
        frames.categories(one.column, one.levels, complete=False)
        if one.levels and one.column in (incomplete or [])
        else one
        for one in asked
    ]


def _statistic(kind: str, text: str) -> Statistic:
    """Return the statistic that one option asks for."""
    from inbounds import frames  # noqa: PLC0415 - help must be quick

    form, example = _FORMS[kind]
    if kind == "proportion":
        name, equals, setting = text, "=", ""
    elif kind == "categories":  # a level may contain an equals sign, and bounds may not
        name, equals, setting = text.partition("=")
    else:
        name, equals, setting = text.rpartition("=")
    try:
        arguments, options = _arguments(kind, setting)
        if not (name and equals):
            raise ValueError
    except (ValueError, csv.Error):
        message = f"--{kind} must be {form}, as in {example}, got {text!r}."
        raise UsageError(message) from None
    try:
        statistic: Statistic = getattr(frames, kind)(name, *arguments, **options)
    except (ArgumentError, ArgumentTypeError) as error:
        raise UsageError(f"--{kind} {name!r}: {error.sentence}") from None
    return statistic


def _arguments(kind: str, setting: str) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments of the function that makes a statistic, after the column's name."""
    if kind == "proportion":
        return [], {}
    if kind == "categories":
        return [split_values(setting)], {}
    if kind == "histogram" and ":" not in setting:
        return [[_json.typed(edge) for edge in setting.split(",")]], {}
    parts = setting.split(":")
    several: list[Any] = []  # quantiles
    if kind == "quantile":
        qs = [_json.typed(q) for q in parts.pop().split(",")]
        several = [qs[0] if len(qs) == 1 else qs]
    low, high, *more = map(_json.typed, parts)
    if kind == "histogram":
        (bins,) = more
        return [equal_edges(low, high, bins)], {}
    if len(more) > (kind in ("median", "quantile")):
        raise ValueError
    return [*several, low, high], {"step": more[0]} if more else {}


def split_values(text: str) -> list[str]:
    """Return the values in a list with commas; quotes protect a comma.

    Examples
    --------
    >>> split_values('Ulm, "Rom, New"')
    ['Ulm', 'Rom, New']
    """
    (values,) = csv.reader([text], skipinitialspace=True, strict=True) if text else ([],)
    if not values or not all(values):
        raise ValueError
    return values


def equal_edges(low: float, high: float, bins: float) -> list[float]:
    """Return the edges of bins of equal width, as the doubles nearest to their decimals.

    Examples
    --------
    >>> equal_edges(0.0, 1.0, 10.0)[3]
    0.3
    """
    if not (bins.is_integer() and 1 <= bins <= _MOST_BINS and abs(low) + abs(high) < float("inf")):
        raise ValueError
    start, end = Fraction(repr(low)), Fraction(repr(high))
    return [float(start + (end - start) * i / int(bins)) for i in range(int(bins) + 1)]


def read_weights(texts: Texts, statistics: Sequence[Statistic]) -> list[float] | None:
    """Return the weight of each statistic, or None if all are 1.

    Examples
    --------
    >>> read_weights(["count=2"], read_statistics({"mean": ["age=0:120"]}, count=True))
    [2.0, 1.0]
    """
    if not texts:
        return None
    names = [f"{one.kind}:{one.column}" if one.column else one.kind for one in statistics]
    weights = dict.fromkeys(names, 1.0)
    for text in texts:
        name, _, number = text.rpartition("=")
        if name not in weights:
            raise UsageError(f"--weights must name one of {', '.join(weights)}, got {text!r}.")
        try:
            weights[name] = _json.typed(number)
        except ValueError:
            form = "STATISTIC[:NAME]=NUMBER, as in mean:age=3"
            raise UsageError(f"--weights must be {form}, got {text!r}.") from None
    return [weights[name] for name in names]
