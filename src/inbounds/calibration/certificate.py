"""Evidence that epsilon(sigma) stays below a bound, evaluated in ball arithmetic.

The evidence is a point c and a multiplier ν. By concavity and weak duality, *any* point and any
multiplier give an upper bound on epsilon, so the search that found them need not be trusted:

    order 2:     ε <= Σ [g(cᵢ) - g'(cᵢ)cᵢ + max over 0 <= x <= κᵢ of (g'(cᵢ)x - νx²/2)] + νD²/2
    order 1:     ε <= Σ [g(cᵢ) - g'(cᵢ)cᵢ + κᵢ max(0, g'(cᵢ) - ν)] + νD
    caps alone:  ε  = Σ g(κᵢ)

`certify` evaluates this with the closed form of g. `Certificate.check` evaluates it again from the
definition of g, by integrals of the density, and reads only the certificate's own fields.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import inf, nextafter
from typing import Any, Literal, Self

import numpy as np
from flint import arb, ctx

from inbounds import _json
from inbounds._check import quoted
from inbounds._table import Printed, Table
from inbounds._types import Floats
from inbounds.errors import ArgumentError, CertificateError
from inbounds.numerics import ball
from inbounds.numerics.noise import Noise
from inbounds.numerics.noises import BY_NAME

Terms = Callable[[arb, arb, arb], tuple[arb, arb]]
_MOST_BITS = 1 << 12
_LARGEST = nextafter(inf, 0)
_ORDERS: tuple[object, ...] = (1, 2)


@dataclass(frozen=True, slots=True)
class Row:
    """Equal coordinates, their number, and the coordinate `change` of the point c."""

    count: int
    lower: float
    upper: float
    scale: float
    cap: float | None
    change: float


@dataclass(frozen=True, slots=True, repr=False)
class Certificate(Printed):
    """Numbers from which anyone can prove that a mechanism's pure epsilon is at most `epsilon`.

    A mechanism's ``certificate()`` method returns it; `from_json` reads it from another program.

    Attributes
    ----------
    law
        The name of the noise that is truncated: ``"normal"`` or ``"laplace"``.
    epsilon
        The proved upper bound, rounded up to a double.
    precision
        The working precision of the evaluation, in bits.
    order, radius
        The order of the norm that bounds a change, and the bound; both None if there is no norm.
    multiplier
        The dual variable ν.
    rows
        The box, the scales, the caps and the point c, all exact doubles.

    See Also
    --------
    BoundedGaussian, BoundedLaplace : the mechanisms that have certificates.

    Notes
    -----
    Let gᵢ(c) be the largest log-ratio of the output's densities for two values that differ by c in
    coordinate i. A change x is bounded by caps, 0 ≤ xᵢ ≤ κᵢ, and for an l2 norm by Σxᵢ² ≤ D². For
    every point c and every ν > 0,

        ε ≤ Σ [gᵢ(cᵢ) - gᵢ'(cᵢ)cᵢ + max over 0 ≤ x ≤ κᵢ of (gᵢ'(cᵢ)x - νx²/2)] + νD²/2.

    The formulas for an l1 norm and for caps alone are similar. Proofs: for normal noise
    docs/proofs/box.md, theorems 1, 3 and 4; for Laplace noise docs/proofs/laplace.md, theorem 4.

    Examples
    --------
    >>> import inbounds as ib
    >>> proof = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 2.5, epsilon=1.0).certificate()
    >>> proof.epsilon <= 1.0
    True
    >>> proof.check()
    Certificate(epsilon=..., precision=128, dimension=1)
    """

    law: str
    epsilon: float
    precision: int
    order: Literal[1, 2] | None
    radius: float | None
    multiplier: float
    rows: tuple[Row, ...]

    def check(self) -> Self:
        """Prove the bound again from the definition of the mechanism.

        It takes about 20 µs for each row.

        Returns
        -------
        Certificate
            The certificate itself.

        Raises
        ------
        CertificateError
            If the evidence does not prove `epsilon`.
        """
        self._check_fields()
        terms = BY_NAME[self.law].loss_by_integrals
        _, proved = _bound(self.rows, self.order, self.radius, self.multiplier, terms)
        if not proved <= self.epsilon:
            raise CertificateError(
                f"the evidence proves epsilon <= {proved!r}, not epsilon <= {self.epsilon!r}."
            )
        return self

    def _check_fields(self) -> None:
        """Refuse fields that are not valid, because a certificate may come from anybody."""
        sound = self.law in tuple(BY_NAME) and type(self.epsilon) in (int, float)
        sound = sound and type(self.rows) is tuple and bool(self.rows)  # an iterator has rows once
        sound = sound and _is_real(self.multiplier)
        if self.order is not None:
            sound = sound and self.order in _ORDERS and not isinstance(self.order, float)
            sound = sound and _is_positive(self.radius) and _is_positive(self.multiplier)
        if not sound or not all(_is_sound(row) for row in self.rows):
            raise CertificateError("the certificate has fields that are not valid.")

    def to_json(self) -> str:
        """Return the certificate as JSON, so that another program can check it."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """Read a certificate that `to_json` wrote. It proves nothing until `check` is called.

        Raises
        ------
        ArgumentError
            If `text` is not a certificate.
        """
        try:
            fields: dict[str, Any] = _json.read(text)
            rows = tuple(Row(**row) for row in fields.pop("rows"))
            return cls(rows=rows, **fields)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            hint = _json.reader_hint(text, own="Certificate")
            raise ArgumentError.must_be(
                "text", "a certificate written by to_json", hint=hint
            ) from None

    def _dimension(self) -> int:
        return sum(row.count for row in self.rows if _is_real(row.count))  # may be unchecked

    def _table(self) -> Table:
        norm = (
            "no bound" if self.order is None else f"l{quoted(self.order)} ≤ {quoted(self.radius)}"
        )
        facts = {
            "pure ε, at most": quoted(self.epsilon),
            "noise": f"{str(self.law)[:80]}, truncated",
            "coordinates": f"{self._dimension():,} ({len(self.rows):,} distinct)",
            "norm of a change": norm,
            "precision": f"{quoted(self.precision)} bits",
        }
        return Table.of_facts("Certificate", facts.items(), "check() proves the bound again.")

    def __repr__(self) -> str:
        bound = f"epsilon={self.epsilon!r}, precision={self.precision}"
        return f"Certificate({bound}, dimension={self._dimension()})"


def _is_real(number: object) -> bool:
    """Tell whether it is a finite double, or an integer that a double represents exactly."""
    if not isinstance(number, int | float) or isinstance(number, bool):
        return False
    return -_LARGEST <= number <= _LARGEST and float(number) == number  # false for NaN


def _is_positive(number: object) -> bool:
    return isinstance(number, int | float) and _is_real(number) and number > 0


def _is_sound(row: Row) -> bool:
    """Tell whether a row has a valid interval, scale and cap, and a change that fits in it."""
    if not all(map(_is_real, (row.lower, row.upper, row.change))):
        return False
    if not (type(row.count) is int and row.count > 0 and _is_positive(row.scale)):
        return False
    width = row.upper - row.lower
    fits = 0 < width < inf and 0 <= row.change <= width * (1 + 2.0**-50)
    return fits and (row.cap is None or _is_positive(row.cap))


def certify(
    *,
    noise: Noise,
    lower: Floats,
    upper: Floats,
    scale: Floats,
    caps: Floats,
    order: Literal[1, 2] | None,
    radius: float,
    change: Floats,
    multiplier: float,
) -> Certificate:
    """Bound epsilon in ball arithmetic at exactly the doubles that the mechanism uses.

    `caps` are the stated ones, infinite where none is stated. `change` is any point c.
    """
    rows = _rows(lower, upper, scale, caps, change)
    stated_radius = None if order is None else float(radius)
    precision, epsilon = _bound(rows, order, stated_radius, multiplier, noise.loss_and_slope)
    epsilon = nextafter(epsilon, inf)  # the integrals of `check` may have a wider ball
    return Certificate(noise.name, epsilon, precision, order, stated_radius, multiplier, rows)


def _rows(
    lower: Floats, upper: Floats, scale: Floats, caps: Floats, change: Floats
) -> tuple[Row, ...]:
    keys = np.stack([lower, upper, scale, caps, change])
    keys = keys[:, np.lexsort(keys[::-1])]
    first = np.flatnonzero(np.concatenate([[True], (keys[:, 1:] != keys[:, :-1]).any(axis=0)]))
    count = np.diff(np.append(first, lower.size)).tolist()
    return tuple(
        Row(repeats, a, b, scale, None if np.isinf(cap) else cap, c)
        for repeats, (a, b, scale, cap, c) in zip(count, keys[:, first].T.tolist(), strict=True)
    )


def _bound(
    rows: tuple[Row, ...],
    order: int | None,
    radius: float | None,
    multiplier: float,
    terms: Terms,
) -> tuple[int, float]:
    """Return the precision and the bound; precision doubles until the ball is narrow enough."""
    precision = 128
    while True:
        with ctx.workprec(precision):
            total, nu = arb(0), arb(multiplier)
            for row in rows:
                total += row.count * _row_bound(row, order, nu, terms)
            if order is not None:
                assert radius is not None
                total += nu * arb(radius) ** order / order
            if total.rel_accuracy_bits() > 60 or precision >= _MOST_BITS:
                if not total.is_finite():
                    raise CertificateError(
                        "epsilon could not be bounded, because the scale is too extreme."
                    )
                return precision, ball.float_above(total)
        precision *= 2


def _row_bound(row: Row, order: int | None, nu: arb, terms: Terms) -> arb:
    """Return the terms of one of several equal coordinates.

    Proofs: docs/proofs/box.md, theorems 3 and 4, and docs/proofs/laplace.md, theorem 4.
    """
    width = arb(row.upper) - arb(row.lower)
    scale = arb(row.scale)
    cap = width if row.cap is None else width.min(arb(row.cap))
    if order is None:
        return terms(width, cap, scale)[0]
    change = arb(row.change)
    loss, slope = terms(width, change, scale)
    if order == 1:
        excess = slope - nu
        best = cap * excess.max(arb(0))
    else:
        peak = slope / nu
        best = slope * peak / 2  # the maximum without a cap, always an upper bound
        if not peak <= cap:
            best = best.min(slope * cap - nu * cap * cap / 2) if peak >= cap else best
    return loss - slope * change + best
