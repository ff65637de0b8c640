"""The options that several commands share, and what they mean."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from inbounds import _json
from inbounds.errors import ArgumentError

if TYPE_CHECKING:
    from inbounds.domain import Box
    from inbounds.guarantee import Guarantee
    from inbounds.sensitivity import Sensitivity
    from inbounds.unit import Unit

MechanismName = Literal[
    "best",
    "bounded-gaussian",
    "bounded-laplace",
    "clamped-gaussian",
    "clamped-laplace",
    "clamped-staircase",
    "window",
    "optimal",
]
ObjectiveName = Literal["average", "worst", "unbiased"]
CriterionName = Literal["average_rmse", "worst_rmse", "worst_bias", "bound_mass", "mean_rmse"]
MethodName = Literal["exact", "paper", "liu", "analytic", "classical"]
ScalingName = Literal["isotropic", "width"]
NormName = Literal["l2", "l1", "linf", "each"]

_SUFFIXES = (".pdf", ".png", ".svg")


def _drawable(path: Path | None) -> Path | None:
    """Refuse a format that cannot be drawn before any work is done."""
    if path is not None and path.suffix.lower() not in _SUFFIXES:
        raise typer.BadParameter(f"must end in one of {', '.join(_SUFFIXES)}.")
    return path


def number(text: str) -> float:
    """Return the double that an option states, exactly or by its shortest decimal.

    Examples
    --------
    >>> number("0.1"), number("1e-6")
    (0.1, 1e-06)
    """
    try:
        nearest = float(text)
    except ValueError:
        raise typer.BadParameter(f"must be a number, got {text!r}.") from None
    try:
        return _json.typed(text)
    except ValueError:
        message = f"must be a number that a double holds, got {text!r}; the nearest is {nearest!r}."
        raise typer.BadParameter(message) from None


def number_option(*names: str, help: str) -> Any:
    """Describe an option that takes numbers, which are read as they are written or refused."""
    return typer.Option(*names, metavar="NUMBER", parser=number, help=help)


Bounds = Annotated[
    list[str],
    typer.Option(
        metavar="LOW:HIGH",
        help="Range of the output, as in 0:120 or --bounds=-5:5. Repeat it, once per coordinate, "
        "for a joint release.",
    ),
]
Sensitivities = Annotated[
    list[float],
    number_option(
        "--sensitivity",
        help="The most that one neighbour can change the value. Repeat it, once per coordinate, "
        "for a bound on each.",
    ),
]
Norm = Annotated[
    NormName | None,
    typer.Option(
        help="What a single --sensitivity bounds: the Euclidean norm of the change (l2, the "
        "default), its l1 norm, or each coordinate (linf, each)."
    ),
]
Epsilon = Annotated[float, number_option(help="The guarantee's epsilon; pure without --delta.")]
EpsilonOrRho = Annotated[
    float | None, number_option(help="The guarantee's epsilon; pure without --delta.")
]
Delta = Annotated[
    float | None,
    number_option(help="The guarantee's delta, which allows less noise for many numbers."),
]
Rho = Annotated[
    float | None, number_option(help="Zero-concentrated privacy, in place of --epsilon.")
]
MechanismOption = Annotated[
    MechanismName | None,
    typer.Option(
        "--mechanism",
        help="The mechanism. By default it is best, the one with the lowest average error; "
        "with --method or --scaling it is bounded-gaussian, and with --objective it is optimal.",
    ),
]
ObjectiveOption = Annotated[
    ObjectiveName | None,
    typer.Option(
        "--objective",
        help="What --mechanism optimal makes small: the average squared error (the default), the "
        "worst, or the variance of an unbiased reading, for means of many people.",
    ),
]
CriterionOption = Annotated[
    CriterionName | None,
    typer.Option(
        "--criterion",
        help="Which error of the best mechanism is the lowest: the average (the default) or the "
        "worst, the bias, the probability of a bound, or, with --people, the error of their mean.",
    ),
]
Inside = Annotated[
    bool,
    typer.Option(
        "--inside", help="Choose among mechanisms that put no probability on the bounds themselves."
    ),
]
People = Annotated[
    int | None,
    typer.Option(
        help="Local privacy: this many people release one value each, and the error that counts is "
        "that of their mean, as estimated from the outputs."
    ),
]
MethodOption = Annotated[
    MethodName | None,
    typer.Option(
        help="How the scale is found. Bounded Gaussian: exact (the default, with the least noise), "
        "paper or liu. Clamped Gaussian: analytic (the default, by Balle and Wang, which ignores "
        "the privacy that clamping adds), classical, or exact, which counts that privacy: often "
        "far less noise, even without --delta, but for a single interval only."
    ),
]
Scaling = Annotated[
    ScalingName | None,
    typer.Option(help="Give every coordinate the same scale, or one in proportion to its width."),
]
Steps = Annotated[
    list[float] | None,
    number_option(
        "--step",
        help="Round outputs to multiples of this, counted from the lower bound. Repeat it, once "
        "per coordinate, for different steps.",
    ),
]
UnitOption = Annotated[
    str | None,
    typer.Option(
        "--unit",
        metavar="CHANGE:WHAT[:COUNT]",
        help="The change of the data that is hidden, as in replace:person or add-remove:row:3.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
Plot = Annotated[
    Path | None,
    typer.Option(metavar="FILE", callback=_drawable, help="Draw to a .pdf, .png or .svg file."),
]


def read_box(bounds: list[str], steps: list[float] | None = None) -> Box:
    """Return the box that ``--bounds`` and ``--step`` describe.

    Examples
    --------
    >>> read_box(["-5:5"]), read_box(["0:10", "1:9e0"], [1.0])
    (Box(-5, 5), Box([0, 1], [10, 9], step=1))
    """
    import numpy as np  # noqa: PLC0415 - help must be quick

    from inbounds.domain import Box  # noqa: PLC0415 - as above

    pairs = [_interval(text) for text in bounds]
    step: Any = None if not steps else steps[0] if len(steps) == 1 else tuple(steps)
    if len(pairs) == 1:
        return Box(*pairs[0], step=step)
    lower, upper = np.array(pairs).T
    return Box(lower, upper, step=step)


def _interval(text: str) -> tuple[float, float]:
    try:
        low, high = (_json.typed(end) for end in text.split(":"))
    except ValueError:
        requirement = "two numbers LOW:HIGH, as in 0:120"
        raise ArgumentError.must_be("bounds", requirement, got=repr(text)) from None
    return low, high


def read_sensitivity(bounds: list[float], norm: str | None = None) -> Sensitivity:
    """Return the sensitivity that ``--sensitivity`` and ``--norm`` describe.

    Examples
    --------
    >>> read_sensitivity([2.5]), read_sensitivity([2.5], "l1"), read_sensitivity([4.0, 2.0])
    (L2(2.5), L1(2.5), PerCoordinate([4, 2]))
    """
    from inbounds.sensitivity import L1, L2, LInf, PerCoordinate  # noqa: PLC0415 - as above

    if len(bounds) > 1:
        if norm not in (None, "each"):
            requirement = "'each' where there are several sensitivities"
            raise ArgumentError.must_be("norm", requirement, got=repr(norm))
        return PerCoordinate(bounds)
    norms = {"l2": L2, "l1": L1, "linf": LInf, "each": PerCoordinate}
    return norms[norm or "l2"](bounds[0])


def read_guarantee(
    epsilon: float | None, delta: float | None = None, rho: float | None = None
) -> Guarantee:
    """Return the guarantee that ``--epsilon``, ``--delta`` and ``--rho`` ask for.

    Examples
    --------
    >>> read_guarantee(1.0, 1e-6)
    Guarantee(epsilon=1.0, delta=1e-06)
    """
    from inbounds.guarantee import Guarantee  # noqa: PLC0415 - as above

    return Guarantee(epsilon, delta, rho)


def read_unit(text: str | None) -> Unit | None:
    """Return the unit that ``--unit`` states.

    Examples
    --------
    >>> read_unit("replace:person"), read_unit("add-remove:row:3")
    (Unit('replace', 'person'), Unit('add-remove', 'row', 3))
    """
    from inbounds.unit import Unit  # noqa: PLC0415 - as above

    if text is None:
        return None
    try:
        change, of, count = (*text.split(":"), *("row", "1")[text.count(":") :])
        if not (count.isascii() and count.isdigit()):
            raise ValueError
        return Unit(cast("Any", change), of, int(count))
    except ValueError:
        requirement = "CHANGE:WHAT[:COUNT], as in replace:person or add-remove:row:3"
        raise ArgumentError.must_be("unit", requirement, got=repr(text)) from None
