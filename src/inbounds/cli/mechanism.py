"""The mechanism that ``--mechanism`` names, and the options that it heeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inbounds.errors import ArgumentError, Hint

if TYPE_CHECKING:
    from inbounds.domain import Box
    from inbounds.guarantee import Guarantee
    from inbounds.mechanisms.mechanism import Mechanism
    from inbounds.sensitivity import Sensitivity

_CLASSES = {
    "bounded-gaussian": ("BoundedGaussian", {"delta", "rho", "method", "scaling"}),
    "bounded-laplace": ("BoundedLaplace", set[str]()),
    "clamped-gaussian": ("ClampedGaussian", {"delta", "method"}),
    "clamped-laplace": ("ClampedLaplace", set[str]()),
    "clamped-staircase": ("ClampedStaircase", set[str]()),
    "window": ("Window", set[str]()),
    "optimal": ("Optimal", {"objective"}),
}


def option_name(mechanism: Mechanism) -> str:
    """Return the name of a mechanism, as ``--mechanism`` spells it.

    Examples
    --------
    >>> from inbounds import Box, ClampedLaplace
    >>> option_name(ClampedLaplace(Box(0, 1), 1, scale=1.0))
    'clamped-laplace'
    """
    return next(key for key, (name, _) in _CLASSES.items() if name == type(mechanism).__name__)


def heeds(option: str, name: str) -> bool:
    """Return whether the mechanism that is spelt so, or the best one, takes an argument.

    Examples
    --------
    >>> heeds("window", "delta"), heeds("best", "delta"), heeds("clamped-gaussian", "rho")
    (False, True, False)
    """
    return option not in _CLASSES or name in _CLASSES[option][1]


def build(
    box: Box,
    sensitivity: Sensitivity,
    guarantee: Guarantee,
    *,
    mechanism: str | None = None,
    method: str | None = None,
    scaling: str | None = None,
    objective: str | None = None,
    criterion: str | None = None,
    inside: bool = False,
    people: int | None = None,
) -> Mechanism:
    """Calibrate the named mechanism, or the best one, and refuse an option that it would ignore.

    Examples
    --------
    >>> from inbounds import Box, L2
    >>> from inbounds.cli.arguments import read_guarantee
    >>> build(Box(0, 120), L2(2.5), read_guarantee(1.0), mechanism="bounded-laplace")
    BoundedLaplace(Box(0, 120), L2(2.5), scale=4.03...)
    """
    import inbounds  # noqa: PLC0415 - help must be quick
    from inbounds.analysis.criterion import check_people  # noqa: PLC0415 - as above

    implied = "bounded-gaussian" if method or scaling else "optimal" if objective else "best"
    mechanism = mechanism or implied
    name, used = _CLASSES.get(mechanism, ("", {"delta", "rho", "criterion", "inside", "people"}))
    others: dict[str, Any] = {"method": method, "scaling": scaling, "objective": objective}
    others |= {"criterion": criterion, "inside": inside or None, "people": people}
    options = guarantee.stated() | {
        key: value for key, value in others.items() if value is not None
    }
    for key in (key for key in options if key not in used | {"epsilon", "people"}):
        raise ArgumentError.must(key, f"not be given with the mechanism {mechanism}")
    people = check_people(options.pop("people", None), box)
    if mechanism == "clamped-gaussian":
        if guarantee.is_pure and method != "exact":
            hint = Hint("{} needs no delta.", "method='exact'") if box.is_interval else None
            raise ArgumentError.must_be("delta", f"given with the mechanism {mechanism}", hint=hint)
        options.setdefault("delta", 0.0)
    if not name:
        options["people"] = people
    calibrate = getattr(inbounds, name).calibrated if name else inbounds.calibrate
    result: Mechanism = calibrate(box, sensitivity, **options)
    return result
