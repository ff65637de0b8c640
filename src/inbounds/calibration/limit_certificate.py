"""A lower bound on the error of every private mechanism, with its evidence."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, Self

from inbounds import _json
from inbounds._check import format_numbers, quoted
from inbounds._table import Printed, Table
from inbounds.calibration.limit_problem import FORMS, Problem, bound
from inbounds.calibration.limit_proof import LatticeProof
from inbounds.errors import ArgumentError, CertificateError
from inbounds.numerics.doubles import as_written

_CLOSED = ("two_ends", "pairs")  # forms without lattices
_LARGEST = 2**53
_NEARLY = Fraction(1, 500)  # of a step


@dataclass(frozen=True, slots=True, repr=False)
class LimitCertificate(Printed):
    """Numbers from which anyone can prove that no private mechanism has less error than `lower`.

    The ``certificate()`` method of a `Limit` returns it; `from_json` reads it from another program.

    Attributes
    ----------
    objective
        Which mean squared error is bounded: ``"average"``, ``"worst"`` or ``"unbiased"``.
    bounds, step, points
        The interval; if there is a step, the distance and the number of possible values.
    sensitivity, epsilon
        The largest distance of neighbours, and the ε of the mechanisms.
    lower
        The proved bound, a mean squared error.
    form
        The kind of evidence: ``"average"``, ``"prior"`` or ``"unbiased"`` for lattices,
        ``"two_ends"`` or ``"pairs"`` for closed forms.
    group, stride
        How many changes of the data join the neighbours on a lattice, and for values with a step,
        how many steps its places are apart.
    proofs
        The dual solutions, one for each lattice.

    Notes
    -----
    `check` proves an inequality for all level functions at a grid of outputs, by dynamic
    programming in doubles with a proved margin, and the rest exactly:
    docs/proofs/limit.md, theorems 2 to 5.

    Examples
    --------
    >>> import inbounds as ib
    >>> proof = ib.limit(ib.Box(0, 1), 0.5, epsilon=1.0).certificate()
    >>> proof.check()
    LimitCertificate(lower=0.06..., objective='average', form='average')
    >>> ib.LimitCertificate.from_json(proof.to_json()) == proof
    True
    """

    objective: str
    bounds: tuple[float, float]
    step: float | None
    points: int
    sensitivity: float
    epsilon: float
    lower: float
    form: str
    group: int
    stride: int
    proofs: tuple[LatticeProof, ...]

    def check(self, *, exact: bool = False) -> Self:
        """Prove the bound again.

        Parameters
        ----------
        exact
            Whether to compute in whole numbers instead of doubles with a margin, which takes about
            a hundred times as long.

        Returns
        -------
        LimitCertificate
            The certificate itself.

        Raises
        ------
        CertificateError
            If the evidence does not prove `lower`.
        """
        self._check_fields()
        try:
            for proof in self.proofs:
                proof.check(self.epsilon, self.group, exact=exact)
            is_proved = Fraction(self.lower) <= self.proved()
        except (ZeroDivisionError, OverflowError, IndexError):
            raise CertificateError("the evidence is for another problem.") from None
        if not is_proved:
            raise CertificateError(f"the evidence does not prove an error above {self.lower!r}.")
        return self

    def proved(self) -> Fraction:
        """Return the bound that the evidence proves if it is right, exactly."""
        problem = problem_of(self.bounds, self.step, self.points, self.sensitivity)
        return bound(
            problem,
            self.form,
            self.epsilon,
            group=self.group,
            stride=self.stride,
            proofs=self.proofs,
        )

    def _check_fields(self) -> None:
        """Refuse fields that are not valid, because a certificate may come from anybody."""
        counts = (self.group, self.stride)
        sound = all(type(count) is int and 1 <= count <= _LARGEST for count in counts)
        sound = sound and type(self.bounds) is tuple and len(self.bounds) == 2
        sound = sound and all(map(_is_real, (*self.bounds, self.lower, self.sensitivity)))
        sound = sound and self.bounds[0] < self.bounds[1] and self.sensitivity > 0
        sound = sound and _is_real(self.epsilon) and self.epsilon > 0
        if self.step is not None:
            sound = sound and _is_real(self.step) and self.step > 0
            sound = sound and type(self.points) is int and 2 <= self.points <= _LARGEST
            sound = sound and self.points == value_count(*self.bounds, self.step)
        else:
            sound = sound and self.points == 0 and type(self.points) is int
        sound = sound and self.form in FORMS.get(str(self.objective), ())
        sound = sound and all(isinstance(proof, LatticeProof) for proof in self.proofs)
        if not sound or bool(self.proofs) == (self.form in _CLOSED):
            raise CertificateError("the certificate has fields that are not valid.")

    def to_json(self) -> str:
        """Return the certificate as JSON, so that another program can check it."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> LimitCertificate:
        """Read a certificate that `to_json` wrote. It proves nothing until `check` is called.

        Raises
        ------
        ArgumentError
            If `text` is not a certificate.
        """
        try:
            fields: dict[str, Any] = _json.read(text)
            proofs = tuple(_proof(**proof) for proof in fields.pop("proofs"))
            return cls(bounds=tuple(fields.pop("bounds")), proofs=proofs, **fields)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            hint = _json.reader_hint(text, own="LimitCertificate")
            raise ArgumentError.must_be(
                "text", "a certificate written by to_json", hint=hint
            ) from None

    def _table(self) -> Table:
        facts = {
            "mean squared error, at least": quoted(self.lower),
            "objective": self.objective,
            "interval": " to ".join(map(format_numbers, self.bounds)),
            "step": "none" if self.step is None else f"{format_numbers(self.step)}",
            "sensitivity": quoted(self.sensitivity),
            "epsilon": quoted(self.epsilon),
            "evidence": f"{self.form}; lattices: {len(self.proofs)}",
        }
        return Table.of_facts("Limit certificate", facts.items(), "check() proves the bound again.")

    def __repr__(self) -> str:
        shown = f"lower={quoted(self.lower)}, objective={quoted(self.objective)}"
        return f"LimitCertificate({shown}, form={quoted(self.form)})"


def problem_of(
    bounds: tuple[float, float], step: float | None, points: int, sensitivity: float
) -> Problem:
    """Return the values and their neighbours, exactly.

    With a step, 0.1 stands for a tenth and not for the double nearest to it, so that 0.3 is three
    steps. Otherwise each number is that double. Proof: docs/proofs/limit.md, theorem 7.

    Examples
    --------
    >>> problem_of((0.0, 1.0), 0.1, 11, 0.3).jump
    3
    """
    exact = Fraction if step is None else as_written
    width = exact(bounds[1]) - exact(bounds[0])
    return Problem(width, exact(sensitivity), None if step is None else as_written(step), points)


def value_count(lower: float, upper: float, step: float) -> int | None:
    """Return the number of values of a box with a step, or None if they are not known exactly.

    Bounds and step are decimals or simple fractions with a common denominator that is not large. A
    width that is nearly a whole number of steps has an upper bound that is a value off the steps.
    Why these are refused: docs/proofs/limit.md, theorem 7.

    Examples
    --------
    >>> (
    ...     value_count(0.0, 10.0, 3.0),
    ...     value_count(0.0, 1.0, 0.1),
    ...     value_count(0.0, 1.0000000005, 0.25),
    ... )
    (4, 11, None)
    """
    ends = [as_written(number) for number in (lower, upper, step)]
    unit = math.lcm(*(number.denominator for number in ends))
    if max(map(abs, ends)) * unit > _LARGEST:
        return None
    steps = (ends[1] - ends[0]) / ends[2]
    whole = math.floor(steps)
    rest = steps - whole
    if 0 < rest < _NEARLY or rest > 1 - _NEARLY:
        return None
    return whole + 1


def _proof(
    *, weights: list[float], slopes: list[float] | None, values: list[float], **fields: Any
) -> LatticeProof:
    rows = tuple(weights), None if slopes is None else tuple(slopes), tuple(values)
    return LatticeProof(weights=rows[0], slopes=rows[1], values=rows[2], **fields)


def _is_real(number: object) -> bool:
    return type(number) in (int, float) and math.isfinite(number) and float(number) == number  # type: ignore[arg-type]
