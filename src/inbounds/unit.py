"""The privacy unit: which change of the data a guarantee hides.

A guarantee bounds how much the outputs for two neighbouring data sets may differ. The unit defines
which data sets are neighbours. Losses of different units cannot be added; some can be converted.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self, cast, get_args

from inbounds import _check, _json
from inbounds._table import HasHtml, Table
from inbounds.errors import ArgumentError, ArgumentTypeError, Hint

Adjacency = Literal["replace", "add-remove"]

_LONGEST = 30  # characters of the noun
_MOST = 10**15  # members that change at once
_VERBS = {"replace": "replace", "add-remove": "add or remove"}
_NOUN = re.compile(r"[a-z]+([ -][a-z]+)*")


@dataclass(frozen=True, slots=True, repr=False)
class Unit(HasHtml):
    """The privacy unit: which change of the data a guarantee hides.

    Parameters
    ----------
    change
        ``"replace"``: neighbours have equal size, and some of their members have other values.
        ``"add-remove"``: each neighbour may have members that the other does not have.
    of
        What a member of the data is: a row, a person, an edge, or another noun in lower case.
    count
        The largest number of members that change at once. With ``"add-remove"``, this is the
        number of members that are in only one of the two data sets.

    Raises
    ------
    ArgumentError
        If `change` is neither option, `of` is not a noun of up to 30 letters, or `count` is not a
        whole number from 1 to 10¹⁵.
    ArgumentTypeError
        If `of` is not a string.

    See Also
    --------
    PrivacyLoss.about, PrivacyLoss.converted, compose, Ledger.open

    Notes
    -----
    Two data sets D and D' are neighbours if |D − D'| + |D' − D| ≤ `count` (``"add-remove"``), or
    if |D| = |D'| and they differ in at most `count` members (``"replace"``). To replace k members
    is to remove k and to add k, so a guarantee for adding and removing 2k members holds for it
    (docs/proofs/unit.md, theorem 3).

    Examples
    --------
    >>> import inbounds as ib
    >>> print(ib.Unit("replace", "person"))
    replace one person
    >>> print(ib.Unit("add-remove", "row", 3))
    add or remove up to 3 rows
    >>> ib.Unit.from_json(ib.Unit("replace").to_json())
    Unit('replace', 'row')
    """

    change: Adjacency
    of: str = "row"
    count: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "change", check_adjacency(change=self.change))
        object.__setattr__(self, "of", _check_noun(self.of))
        count = _check.positive_integer(count=self.count)
        if count > _MOST:
            raise _check.refusal("at most 10¹⁵", count=count)
        object.__setattr__(self, "count", count)

    def steps_to(self, other: Unit) -> int:
        """Return how many changes of this unit make up any change of the unit `other`.

        Proof: docs/proofs/unit.md, theorems 2 to 4.

        Examples
        --------
        >>> import inbounds as ib
        >>> ib.Unit("add-remove", "row").steps_to(ib.Unit("replace", "row"))
        2
        >>> ib.Unit("replace", "row", 2).steps_to(ib.Unit("replace", "row", 5))
        3
        """
        if self.of != other.of:
            raise ArgumentError.must(
                "unit",
                f"be of one {other.of} to be converted to {str(other)!r}",
                got=repr(str(self)),
                hint=_belonging(self.of, other.of),
            )
        changes = other.count
        if self.change != other.change:
            if self.change == "replace":
                raise ArgumentError.must(
                    "unit",
                    f"be of 'add-remove' to be converted to {str(other)!r}",
                    got=repr(str(self)),
                    hint="replacing keeps the size of the data, so it implies nothing for data "
                    "sets of different sizes; state the sensitivity for 'add-remove'.",
                )
            changes *= 2  # to replace a member is to remove it and to add another
        return -(-changes // self.count)

    def __reduce__(self) -> tuple[object, ...]:
        """Copy through the constructor, which checks what comes from a pickle."""
        return type(self), (self.change, self.of, self.count)

    def to_json(self) -> str:
        """Return the unit as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the unit that `to_json` wrote."""
        try:
            return cls.from_fields(_json.read(text))
        except (ValueError, TypeError, RecursionError):
            raise ArgumentError.must_be("text", "a unit written by to_json") from None

    @classmethod
    def from_fields(cls, fields: Any) -> Self:
        """Return the unit with the fields of a JSON object: all three, and no others.

        Examples
        --------
        >>> import inbounds as ib
        >>> ib.Unit.from_fields({"change": "replace", "of": "edge", "count": 2})
        Unit('replace', 'edge', 2)
        """
        if not isinstance(fields, dict) or set(fields) != {"change", "of", "count"}:
            raise ArgumentError.must("unit", "have the fields change, of and count")
        return cls(**fields)

    def _table(self) -> Table:
        facts = [("change", self.change), ("of", self.of), ("count", f"{self.count:,}")]
        return Table.of_facts("Privacy unit", facts, f"Hidden: {self}.")

    def __str__(self) -> str:
        if self.count == 1:
            return f"{_VERBS[self.change]} one {self.of}"
        return f"{_VERBS[self.change]} up to {self.count:,} {_plural(self.of)}"

    def __repr__(self) -> str:
        count = "" if self.count == 1 else f", {self.count}"
        return f"Unit({self.change!r}, {self.of!r}{count})"


def check_adjacency(**argument: object) -> Adjacency:
    """Return an argument that is one of the two adjacencies.

    Examples
    --------
    >>> check_adjacency(change="replace")
    'replace'
    """
    return cast("Adjacency", _check.one_of(get_args(Adjacency), **argument))


def check_unit(unit: object) -> Unit | None:
    """Return a checked unit, or None if no unit is stated.

    Examples
    --------
    >>> check_unit("person")
    Traceback (most recent call last):
    inbounds.errors.ArgumentTypeError: unit must be a Unit, got unit='person'.
    Hint: Unit('replace', 'person')
    """
    if unit is None:
        return None
    if not isinstance(unit, Unit):
        raise ArgumentTypeError.must_be(
            "unit", "a Unit", got=f"unit={_check.quoted(unit)}", hint="Unit('replace', 'person')"
        )
    return Unit(unit.change, unit.of, unit.count)  # not a subclass


def check_same(units: set[Unit | None], name: str, hint: str) -> Unit | None:
    """Return the only unit among some, or None if none is stated; refuse two different ones.

    A loss or query without a unit is assumed to have the unit that the others state.

    Examples
    --------
    >>> check_same({Unit("replace"), None}, "releases", "")
    Unit('replace', 'row')
    """
    stated = sorted(map(str, units - {None}))
    if len(stated) > 1:
        raise ArgumentError.must(
            name,
            "be about one unit to be combined",
            got=" and ".join(map(repr, stated)),
            hint=hint,
        )
    return next((unit for unit in units if unit is not None), None)


def _check_noun(of: object) -> str:
    if not isinstance(of, str):
        raise ArgumentTypeError.must_be("of", "a noun such as 'person'", got=type(of).__name__)
    noun = str.__str__(of)  # a subclass may override it
    if len(noun) > _LONGEST or not _NOUN.fullmatch(noun):
        requirement = f"a noun of up to {_LONGEST} letters a to z, such as 'person'"
        raise _check.refusal(requirement, of=noun)
    return noun


def _belonging(part: str, whole: str) -> Hint:
    """Return what to do where it is not known which parts belong together."""
    words = f"state the sensitivity, and so the loss, for one {whole}"
    if part != "row":
        return Hint(f"{words}.")
    return Hint(
        f"nothing here tells which rows belong to one {whole}. For summarize, name the column that "
        f"does with {{}}, and state {{}} and {{}}; elsewhere, {words}.",
        *("id=", "rows=", "size="),
    )


def _plural(noun: str) -> str:
    if noun.endswith("person"):
        return noun.removesuffix("person") + "people"
    if re.search(r"[^aeiou]y$", noun):
        return noun[:-1] + "ies"
    return noun + ("es" if re.search(r"(s|x|ch|sh)$", noun) else "s")
