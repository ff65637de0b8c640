"""The options that several commands share, and what they mean."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from inbounds import _json
from inbounds.cli.failure import UsageError
from inbounds.errors import ArgumentError

if TYPE_CHECKING:
    from inbounds.domain import Box
    from inbounds.mechanisms.mechanism import Mechanism
    from inbounds.sensitivity import Sensitivity

MechanismName = Literal[
    "best", "bounded-gaussian", "bounded-laplace", "clamped-gaussian", "clamped-laplace"
]
MethodName = Literal["exact", "paper", "liu", "analytic", "classical"]
ScalingName = Literal["isotropic", "width"]
NormName = Literal["l2", "l1", "linf", "each"]

_SUFFIXES = (".pdf", ".png", ".svg")
_CLASSES = {
    "bounded-gaussian": ("BoundedGaussian", {"delta", "rho", "method", "scaling"}),
    "bounded-laplace": ("BoundedLaplace", set[str]()),
    "clamped-gaussian": ("ClampedGaussian", {"delta", "method"}),
    "clamped-laplace": ("ClampedLaplace", set[str]()),
}


def _drawable(path: Path | None) -> Path | None:
    """Refuse a kind of picture before the work is done, not after."""
    if path is not None and path.suffix.lower() not in _SUFFIXES:
        raise typer.BadParameter(f"must end in one of {', '.join(_SUFFIXES)}.")
    return path


def number(text: str) -> float:
    """Return the double that an option says, exactly or by its shortest decimal.

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
        message = f"must be a number that doubles hold, got {text!r}; the nearest is {nearest!r}."
        raise typer.BadParameter(message) from None


def number_option(*names: str, help: str) -> Any:
    """Describe an option that is one number, or several: read as it is written, or refused."""
    return typer.Option(*names, metavar="NUMBER", parser=number, help=help)


Bounds = Annotated[
    list[str],
    typer.Option(
        metavar="LOW:HIGH",
        help="Range of the answer, as in 0:120 or --bounds=-5:5. Repeat it for several coordinates "
        "that are released together.",
    ),
]
Sensitivities = Annotated[
    list[float],
    number_option(
        "--sensitivity",
        help="How much one neighbour may change the value. Repeat it, once per coordinate, for "
        "different bounds on each.",
    ),
]
Norm = Annotated[
    NormName | None,
    typer.Option(
        help="What a single --sensitivity bounds: the Euclidean norm of the change (l2, the "
        "default), its l1 norm, or each coordinate (linf, each)."
    ),
]
Epsilon = Annotated[
    float, number_option(help="Differential privacy to give: pure without --delta.")
]
EpsilonOrRho = Annotated[
    float | None, number_option(help="Differential privacy to give: pure without --delta.")
]
Delta = Annotated[
    float | None, number_option(help="Give (epsilon, delta) privacy, usually for less noise.")
]
Rho = Annotated[
    float | None, number_option(help="Give zero-concentrated privacy, in place of --epsilon.")
]
MechanismOption = Annotated[
    MechanismName,
    typer.Option(
        "--mechanism",
        help="Which noise. With best, the one with the least error at the guarantee.",
    ),
]
Method = Annotated[
    MethodName | None,
    typer.Option(
        help="How the scale is found. Bounded Gaussian: exact (the default, the least noise), "
        "paper or liu. Clamped Gaussian: analytic (the default, by Balle and Wang, which ignores "
        "the privacy that clamping adds), classical, or exact, which counts it: only for one "
        "interval, often far less noise, and also without --delta."
    ),
]
Scaling = Annotated[
    ScalingName | None,
    typer.Option(help="Give every coordinate the same scale, or one that follows its width."),
]
Steps = Annotated[
    list[float] | None,
    number_option(
        "--step",
        help="Round answers to multiples of this, counted from the lower bound. Repeat it for "
        "different steps on each coordinate.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
Plot = Annotated[
    Path | None,
    typer.Option(metavar="FILE", callback=_drawable, help="Draw to a .pdf, .png or .svg file."),
]


def read_box(bounds: list[str], steps: list[float] | None = None) -> Box:
    """Return the box that ``--bounds`` and ``--step`` speak of.

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
        message = f"--bounds must be two numbers LOW:HIGH, as in 0:120, got {text!r}."
        raise UsageError(message) from None
    return low, high


def read_sensitivity(bounds: list[float], norm: str | None = None) -> Sensitivity:
    """Return what ``--sensitivity`` and ``--norm`` say a neighbour may change.

    Examples
    --------
    >>> read_sensitivity([2.5]), read_sensitivity([2.5], "l1"), read_sensitivity([4.0, 2.0])
    (L2(2.5), L1(2.5), PerCoordinate([4, 2]))
    """
    from inbounds.sensitivity import L1, L2, LInf, PerCoordinate  # noqa: PLC0415 - as above

    if len(bounds) > 1:
        if norm not in (None, "each"):
            raise UsageError(f"--norm must be 'each' if --sensitivity is repeated, got {norm!r}.")
        return PerCoordinate(bounds)
    kinds = {"l2": L2, "l1": L1, "linf": LInf, "each": PerCoordinate}
    return kinds[norm or "l2"](bounds[0])


@dataclass(frozen=True, slots=True)
class Privacy:
    """The privacy that was asked for; what is None was not mentioned."""

    epsilon: float | None
    delta: float | None
    rho: float | None

    def __post_init__(self) -> None:
        if self.epsilon is None and self.rho is None:
            raise UsageError("one of --epsilon and --rho must be given.")
        if self.epsilon is not None and self.rho is not None:
            raise UsageError("give --epsilon or --rho, not both.")
        if self.rho is not None and self.delta is not None:
            raise UsageError("--delta must not be given with --rho.")

    def stated(self) -> dict[str, float]:
        """Return what was mentioned, by name."""
        named = {"epsilon": self.epsilon, "delta": self.delta, "rho": self.rho}
        return {name: value for name, value in named.items() if value is not None}

    def __str__(self) -> str:
        return ", ".join(f"{name}={value:g}" for name, value in self.stated().items())


def option_name(mechanism: Mechanism) -> str:
    """Return how ``--mechanism`` names a mechanism.

    Examples
    --------
    >>> from inbounds import Box, ClampedLaplace
    >>> option_name(ClampedLaplace(Box(0, 1), 1, scale=1.0))
    'clamped-laplace'
    """
    return next(key for key, (name, _) in _CLASSES.items() if name == type(mechanism).__name__)


def build(
    box: Box,
    sensitivity: Sensitivity,
    privacy: Privacy,
    *,
    mechanism: str = "bounded-gaussian",
    method: str | None = None,
    scaling: str | None = None,
) -> Mechanism:
    """Calibrate the named mechanism, and refuse an option that it would not heed.

    Examples
    --------
    >>> from inbounds import Box, L2
    >>> build(Box(0, 120), L2(2.5), Privacy(1.0, None, None), mechanism="bounded-laplace")
    BoundedLaplace(Box(0, 120), L2(2.5), scale=4.03...)
    """
    import inbounds  # noqa: PLC0415 - help must be quick

    name, heeded = _CLASSES.get(mechanism, ("", {"delta", "rho"}))
    given: dict[str, Any] = {
        "delta": privacy.delta,
        "rho": privacy.rho,
        "method": method,
        "scaling": scaling,
    }
    options = {key: value for key, value in given.items() if value is not None}
    for key in options:
        if key not in heeded:
            raise UsageError(f"--{key} must not be given with --mechanism {mechanism}.")
    if privacy.epsilon is not None:
        options["epsilon"] = privacy.epsilon
    if mechanism == "clamped-gaussian":
        if privacy.delta is None and method != "exact":
            hint = "\nHint: method='exact' needs none." if box.is_interval else ""
            raise ArgumentError(f"delta must be given with --mechanism {mechanism}.{hint}")
        options.setdefault("delta", 0.0)
    if mechanism == "best":
        return inbounds.calibrate(box, sensitivity, **options)
    result: Mechanism = getattr(inbounds, name).calibrated(box, sensitivity, **options)
    return result
