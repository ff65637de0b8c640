"""The question that the page asks: bounds, a sensitivity, a guarantee, and a made-up value.

All of it is public. It holds no data.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, get_args

from inbounds.cli import arguments
from inbounds.cli.explore.field import (
    fields,
    named_as_on_the_page,
    needed,
    number,
    numbers,
    one_of,
)
from inbounds.cli.mechanism import build, heeds
from inbounds.errors import ArgumentError, ArgumentTypeError, quoted
from inbounds.guarantee import Guarantee

if TYPE_CHECKING:
    from inbounds.domain import Box
    from inbounds.mechanisms.mechanism import Mechanism
    from inbounds.sensitivity import Sensitivity

MOST_COORDINATES = 8
MECHANISMS: tuple[str, ...] = get_args(arguments.MechanismName)
SMALLEST, LARGEST = 1e-12, 100.0
"""The range of epsilon and rho: beyond it, some numbers that are compared leave the doubles."""
NORMS: tuple[str, ...] = get_args(arguments.NormName)

_FIELDS = ("bounds", "step", "sensitivity", "norm", "guarantee", "mechanism", "value", "people")
_NARROWEST, _WIDEST = 1e-100, 1e100  # where errors can be compared


@dataclass(frozen=True, slots=True)
class Question:
    """What a page shows the outputs of. `read` makes one from JSON, and `document` JSON from one.

    Examples
    --------
    >>> question = Question.read(
    ...     {"bounds": [[0, 120]], "sensitivity": [2.5], "guarantee": {"epsilon": 1}}
    ... )
    >>> question.box, question.sensitivity, question.guarantee, question.value
    (Box(0, 120), L2(2.5), Guarantee(epsilon=1.0), (60.0,))
    >>> question.document["mechanism"], question.document["guarantee"]
    ('best', {'delta': 0.0, 'epsilon': 1.0})
    """

    bounds: tuple[tuple[float, float], ...]
    step: float | None
    sensitivities: tuple[float, ...]
    norm: str
    guarantee: Guarantee
    option: str
    """The name of the mechanism, as the command line spells it."""
    value: tuple[float, ...]
    people: int | None
    box: Box = field(compare=False, repr=False)
    sensitivity: Sensitivity = field(compare=False, repr=False)

    @classmethod
    def read(cls, document: object) -> Question:
        """Return the question that a JSON object states; every key is optional but three.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            If a field is missing, unknown, of another type, or has an impossible value. The message
            names the field, and never shows the value.
        """
        given = fields("question", document, _FIELDS)
        for key in ("bounds", "sensitivity", "guarantee"):
            needed("question", given, key)
        with named_as_on_the_page():
            return cls._checked(given)

    @classmethod
    def _checked(cls, given: dict[str, Any]) -> Question:
        bounds = _bounds(given["bounds"])
        step = None if given.get("step") is None else number("step", given["step"])
        sensitivities = numbers("sensitivity", given["sensitivity"], MOST_COORDINATES)
        norm = one_of("norm", given.get("norm", "l2" if len(sensitivities) == 1 else "each"), NORMS)
        box = _box(bounds, step)
        sensitivity = arguments.read_sensitivity(list(sensitivities), norm)
        sensitivity.check_dimension(box.dimension)
        return cls(
            bounds=bounds,
            step=step,
            sensitivities=sensitivities,
            norm=norm,
            guarantee=_guarantee(given["guarantee"]),
            option=one_of("mechanism", given.get("mechanism", "best"), MECHANISMS),
            value=_value(given.get("value"), bounds),
            people=_people(given.get("people"), box),
            box=box,
            sensitivity=sensitivity,
        )

    @property
    def document(self) -> dict[str, Any]:
        """The question as a JSON object, which `read` reads."""
        stated = self.guarantee.stated()
        return {
            "bounds": [list(pair) for pair in self.bounds],
            "step": self.step,
            "sensitivity": list(self.sensitivities),
            "norm": self.norm,
            "guarantee": {"delta": 0.0} | stated if "epsilon" in stated else stated,
            "mechanism": self.option,
            "value": list(self.value),
            "people": self.people,
        }

    @property
    def setting(self) -> Question:
        """The question without its value: two questions that differ in it have equal settings."""
        return replace(self, value=())

    @property
    def is_joint(self) -> bool:
        """Whether the question is about several coordinates."""
        return len(self.bounds) > 1

    @property
    def method(self) -> str | None:
        """How a clamped Gaussian is calibrated: as `compare` does, with the least noise."""
        return "exact" if self.option == "clamped-gaussian" and not self.is_joint else None

    @property
    def promised(self) -> Guarantee:
        """What the mechanism is calibrated to: epsilon alone, which is more, if it takes no δ."""
        if self.guarantee.delta and not heeds(self.option, "delta"):
            return Guarantee(self.guarantee.epsilon)
        return self.guarantee

    def mechanism(self) -> Mechanism:
        """Return the mechanism, as ``inbounds calibrate`` would; it does not depend on the value.

        Raises
        ------
        ArgumentError
            If the mechanism cannot give the guarantee.
        """
        with named_as_on_the_page():
            return _built(self.setting)


@lru_cache(maxsize=16)  # a mechanism may take megabytes
def _built(setting: Question) -> Mechanism:
    _check_fit(setting)
    return build(
        setting.box,
        setting.sensitivity,
        setting.promised,
        mechanism=setting.option,
        method=setting.method,
        people=setting.people,
    )


def _check_fit(setting: Question) -> None:
    """Refuse a mechanism that cannot have such a guarantee, and say which one can."""
    option, guarantee = setting.option, setting.guarantee
    if guarantee.rho is not None and not heeds(option, "rho"):
        requirement = "the best one or the bounded Gaussian for a guarantee of ρ"
        raise ArgumentError.must_be("mechanism", requirement, got=repr(option))
    if setting.is_joint and guarantee.is_pure and option == "clamped-gaussian":
        requirement = "another one for several coordinates without a δ"
        raise ArgumentError.must_be("mechanism", requirement, got=repr(option))


def _bounds(value: object) -> tuple[tuple[float, float], ...]:
    requirement = f"a list of 1 to {MOST_COORDINATES} pairs of numbers, as in [[0, 120]]"
    if not isinstance(value, list):
        raise ArgumentTypeError.must_be("bounds", requirement, got=quoted(value))
    if not 1 <= len(value) <= MOST_COORDINATES:
        raise ArgumentError.must_be("bounds", requirement, got=f"{len(value):,}")
    pairs: list[tuple[float, float]] = []
    for pair in value:
        if not isinstance(pair, list):
            raise ArgumentTypeError.must_be("bounds", requirement, got=quoted(pair))
        if len(pair) != 2:
            raise ArgumentError.must_be("bounds", requirement, got=f"{len(pair):,} numbers")
        pairs.append((number("bounds", pair[0]), number("bounds", pair[1])))
    return tuple(pairs)


def _box(bounds: tuple[tuple[float, float], ...], step: float | None) -> Box:
    import numpy as np  # noqa: PLC0415 - help must be quick

    from inbounds.domain import Box  # noqa: PLC0415 - as above

    if len(bounds) == 1:
        box = Box(*bounds[0], step=step)
    else:
        lower, upper = np.array(bounds).T
        box = Box(lower, upper, step=step)
    if not (box.widths.min() > _NARROWEST and box.widths.max() < _WIDEST):
        requirement = f"more than {_NARROWEST:g} and less than {_WIDEST:g} apart"
        raise ArgumentError.must_be("bounds", requirement, hint="use other units.")
    return box


def _guarantee(value: object) -> Guarantee:
    stated = fields("guarantee", value, ("epsilon", "delta", "rho"))
    given = {
        name: number(name, stated[name]) for name in ("epsilon", "delta", "rho") & stated.keys()
    }
    for name in ("epsilon", "rho") & given.keys():
        if given[name] > 0 and not SMALLEST <= given[name] <= LARGEST:
            requirement = f"from {SMALLEST:g} to {LARGEST:g} on this page"
            raise ArgumentError.must_be(name, requirement, got=f"{name}={given[name]!r}")
    return arguments.read_guarantee(given.get("epsilon"), given.get("delta"), given.get("rho"))


def _value(value: object, bounds: tuple[tuple[float, float], ...]) -> tuple[float, ...]:
    """Return the value, moved into the bounds as releases do; the middle by default."""
    if value is None:
        return tuple(low + (high - low) / 2 for low, high in bounds)
    given = numbers("value", value, MOST_COORDINATES, shown=False)
    if len(given) != len(bounds):
        raise ArgumentError.must(
            "value",
            "have one number for each pair of bounds",
            got=f"{len(given)} for {len(bounds)}",
        )
    return tuple(min(max(x, low), high) for x, (low, high) in zip(given, bounds, strict=True))


def _people(value: object, box: Box) -> int | None:
    from inbounds.analysis.criterion import check_people  # noqa: PLC0415 - as above

    return None if value is None else check_people(number("people", value), box)
