"""A table of integers that is the whole of a mechanism, and the check that it is private.

The value falls into a cell, or is rounded at random to one of the two knots around it. Each cell or
knot has a row of positive integers that sum to 2¹²⁸, the probabilities of the outputs. Privacy is a
finite comparison of integers and doubles, so how the table was found need not be trusted.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, Self

import numpy as np
from flint import arb, ctx

from inbounds import _json
from inbounds.calibration.entries import Entries
from inbounds.calibration.spacing import distance_bound
from inbounds.errors import ArgumentError, CertificateError

BITS = 128
TOTAL = 1 << BITS
_SCREENED = 61  # bits that remain of a probability where many are compared at once
_LARGEST_EXPONENT = 100.0  # e^100 exceeds the ratio of any two integers up to 2¹²⁸


def growth_below(epsilon: float) -> tuple[int, int]:
    """Return integers p and q with 1 <= p/q <= e^epsilon, q a power of two.

    That p is at least q is needed in docs/proofs/optimal.md, theorem 5.

    Examples
    --------
    >>> p, q = growth_below(1.0)
    >>> 0 <= math.e - p / q < 1e-15
    True
    >>> growth_below(1e-40)[0] == growth_below(1e-40)[1]
    True
    """
    with ctx.workprec(512):
        growth = arb(min(epsilon, _LARGEST_EXPONENT)).exp()
        numerator = (growth * arb(1 << BITS)).lower().floor().fmpz()
    return max(int(numerator), 1 << BITS), 1 << BITS


@dataclass(frozen=True, repr=False)
class LevelTable:
    """Probabilities of finitely many outputs, for values in cells or between knots.

    Parameters
    ----------
    kind
        ``"cells"`` if a value has the row of its cell, ``[boundary i, boundary i + 1)``;
        ``"knots"`` if it is first rounded at random to one of the knots around it, so that the
        expected knot is the value.
    lower, upper
        The bounds. Values outside are moved to the nearest one first.
    boundaries
        The ends of the cells, of which the first and the last are the bounds; or the knots, between
        the first and the last of which the box lies.
    reach
        Rows at most this far apart may be those of neighbours.
    rows
        One integer per output, which sum to 2¹²⁸: one row per cell, or per knot.
    outputs
        The outputs.
    numerator, denominator
        The largest ratio within a column between rows of neighbours.

    Notes
    -----
    `check` proves pure ε for a sensitivity. The fields are not checked before.

    Examples
    --------
    >>> half = 1 << 127
    >>> table = LevelTable(
    ...     "cells", 0.0, 1.0, (0.0, 0.5, 1.0), 1, ((half, half),) * 2, (0.25, 0.75), 1, 1
    ... )
    >>> table.check(0.5, 0.1)
    LevelTable('cells', rows=2, outputs=2, reach=1)
    """

    kind: Literal["cells", "knots"]
    lower: float
    upper: float
    boundaries: tuple[float, ...]
    reach: int
    rows: Entries | tuple[tuple[int, ...], ...]
    outputs: tuple[float, ...]
    numerator: int
    denominator: int

    def check(self, sensitivity: float, epsilon: float) -> Self:
        """Prove that the table satisfies `epsilon` for values at most `sensitivity` apart.

        Neighbours are values whose exact distance is at most a number that rounds to
        `sensitivity`, each of them exact or rounded to the nearest double. Proof that the check is
        complete: docs/proofs/optimal.md, theorem 4.

        Returns
        -------
        LevelTable
            The table itself.

        Raises
        ------
        CertificateError
            If anything is not as it must be; the message says what.
        """
        self._check_shape()
        self._check_spacing(distance_bound(self.lower, self.upper, _positive(sensitivity)))
        self._check_growth(_positive(epsilon))
        entries = self.entries
        if entries.distinct[:1] < (1,):  # they ascend
            raise _malformed("a row has an entry that is not positive")
        if any(total != TOTAL for total in entries.sums()):
            raise _malformed("a row does not sum to 2**128")
        if not entries.grows_at_most(self.numerator, self.denominator, within=self.reach):
            raise _unproved(
                "the probabilities of an output for two neighbours differ by more than the factor "
                "that the table states"
            )
        return self

    def _check_shape(self) -> None:
        """Refuse fields of wrong types or sizes, and boundaries that do not contain the box."""
        points = self.boundaries
        if self.kind not in ("cells", "knots") or not all(map(_is_double, self._doubles)):
            raise _malformed("it has fields that are not valid")
        if not self.lower < self.upper or not all(a < b for a, b in pairwise(points)):
            raise _malformed("the bounds or the boundaries are not sorted")
        ends = points[:1] + points[-1:]
        cells = self.kind == "cells"
        inside = ends == (self.lower, self.upper) if cells else _covers(points, self)
        if not inside:
            raise _malformed("the boundaries do not end at the bounds")
        if len(self.rows) != len(points) - cells:
            raise _malformed("the number of rows does not match the boundaries")
        whole = (self.reach, self.numerator, self.denominator)
        if not all(type(number) is int for number in whole) or min(whole) < 1:
            raise _malformed("it has numbers that are not whole or not positive")
        self._check_rows()
        if not all(self.lower <= output <= self.upper for output in self.outputs):
            raise _malformed("an output is out of bounds")

    def _check_rows(self) -> None:
        """Refuse rows of wrong types or lengths."""
        if isinstance(self.rows, Entries):
            are_whole = self.rows.is_sound
        else:
            are_plain = type(self.rows) is tuple and {*map(type, self.rows)} <= {tuple}
            are_whole = are_plain and all({*map(type, row)} <= {int} for row in self.rows)
        if not are_whole:
            raise _malformed("it has numbers that are not whole or not positive")
        widths = {self.rows.width} if isinstance(self.rows, Entries) else {*map(len, self.rows)}
        if widths != {len(self.outputs)}:
            raise _malformed("a row does not have one entry per output")

    def _check_spacing(self, distance: Fraction) -> None:
        """Refuse boundaries between which neighbours may be further than `reach` rows apart.

        Proof: docs/proofs/optimal.md, theorems 2 and 3.
        """
        points = self.boundaries[1:-1] if self.kind == "cells" else self.boundaries
        unit = math.lcm(distance.denominator, *(point.as_integer_ratio()[1] for point in points))
        whole = [int(Fraction(point) * unit) for point in points]
        least, pairs = int(distance * unit), zip(whole, whole[self.reach :], strict=False)
        if any(high - low < least for low, high in pairs):
            raise _unproved(
                "its boundaries are too close together: two neighbours can be further apart than "
                f"the {self.reach} rows that were compared"
            )

    def _check_growth(self, epsilon: float) -> None:
        with ctx.workprec(512):
            growth = arb(min(epsilon, _LARGEST_EXPONENT)).exp()
            if not arb(self.numerator) <= growth * self.denominator:
                raise _unproved(
                    "the factor by which its probabilities may differ is not proved to be at most "
                    f"exp(epsilon), for epsilon={epsilon!r}"
                )

    @property
    def _doubles(self) -> tuple[object, ...]:
        return (self.lower, self.upper, *self.boundaries, *self.outputs)

    @cached_property
    def entries(self) -> Entries:
        """The rows, as the places of their entries among the distinct ones."""
        return self.rows if isinstance(self.rows, Entries) else Entries.of(self.rows)

    @cached_property
    def total_variation(self) -> Fraction:
        """The total variation between the outputs of any two neighbours, at most.

        The exact maximum is below this by less than 2⁻⁶⁰ for each output. Proof:
        docs/proofs/optimal.md, theorem 10.
        """
        leading = self.entries.replaced(lambda entry: entry >> (BITS - _SCREENED))
        farthest = min(self.reach, len(self.rows) - 1)
        sums = [
            int(np.abs(leading[d:] - leading[:-d]).sum(axis=1).max())
            for d in range(1, farthest + 1)
        ]
        unseen = len(self.outputs)  # less than one unit in each difference
        return Fraction(max(sums) + unseen, 2 << _SCREENED) if sums else Fraction(0)

    def to_json(self) -> str:
        """Return the table as JSON, integers as hexadecimal text, so that anyone can check it."""
        fields: dict[str, object] = {
            "kind": self.kind,
            "lower": self.lower,
            "upper": self.upper,
            "boundaries": self.boundaries,
            "reach": self.reach,
            "rows": self.entries.replaced(lambda entry: f"{entry:x}").tolist(),
            "outputs": self.outputs,
            "numerator": f"{self.numerator:x}",
            "denominator": f"{self.denominator:x}",
        }
        return json.dumps(fields)

    @classmethod
    def from_json(cls, text: str) -> LevelTable:
        """Read a table that `to_json` wrote. It proves nothing until `check` is called.

        Raises
        ------
        ArgumentError
            If `text` is not a table.
        """
        try:
            fields: dict[str, Any] = _json.read(text)
            for name in ("lower", "upper"):
                fields[name] = real(fields[name])
            for name in ("boundaries", "outputs"):
                fields[name] = tuple(map(real, fields[name]))
            for name in ("numerator", "denominator"):
                fields[name] = _from_hexadecimal(fields[name])
            fields["rows"] = tuple(tuple(map(_from_hexadecimal, row)) for row in fields["rows"])
            return cls(**fields)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            hint = _json.reader_hint(text, own="LevelTable")
            raise ArgumentError.must_be("text", "a table written by to_json", hint=hint) from None

    def __repr__(self) -> str:
        size = f"rows={len(self.rows)}, outputs={len(self.outputs)}, reach={self.reach}"
        return f"LevelTable({self.kind!r}, {size})"


def _malformed(what: str) -> CertificateError:
    return CertificateError(
        f"the table proves no privacy: {what}.\n"
        "Hint: it was damaged or changed; make it again with Optimal.calibrated, and do not use it."
    )


def _unproved(what: str) -> CertificateError:
    return CertificateError(
        f"the table does not prove this privacy: {what}.\n"
        "Hint: it was made for a smaller sensitivity or a larger epsilon, or was changed; make "
        "another one with Optimal.calibrated."
    )


def _positive(number: object) -> float:
    if not isinstance(number, float) or not 0 < number < math.inf:
        raise CertificateError("the sensitivity and epsilon must be positive numbers.")
    return number


def _is_double(number: object) -> bool:
    return type(number) is float and math.isfinite(number)


def _covers(points: tuple[float, ...], table: LevelTable) -> bool:
    return len(points) > 1 and points[0] <= table.lower and table.upper <= points[-1]


def real(number: object) -> float:
    """Return a number of a JSON text as a double; a text is no number."""
    if type(number) not in (int, float):
        raise ValueError("a number must be written as one.")
    return float(number)  # type: ignore[arg-type]


def _from_hexadecimal(text: object) -> int:
    if not isinstance(text, str) or len(text) > 100 or text.strip("0123456789abcdef"):
        raise ValueError("an integer must be hexadecimal digits.")
    return int(text, 16)
