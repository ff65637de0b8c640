"""A table of integers with what it claims, as data that anyone can check."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Self

from inbounds import _json
from inbounds._check import format_numbers
from inbounds.calibration.table import BITS, LevelTable, real
from inbounds.errors import ArgumentError


@dataclass(frozen=True, slots=True, repr=False)
class TableCertificate:
    """A table and what it claims: `epsilon` for values at most `sensitivity` apart.

    Examples
    --------
    >>> import inbounds as ib
    >>> proof = ib.Optimal(ib.Box(0, 1), 1, epsilon=1.0).certificate()
    >>> ib.TableCertificate.from_json(proof.to_json()).check()
    TableCertificate(epsilon=1, sensitivity=1, rows=2)
    """

    table: LevelTable
    sensitivity: float
    epsilon: float

    @property
    def rows(self) -> tuple[tuple[int, ...], ...]:
        """The rows of the table."""
        return tuple(self.table.rows)

    @property
    def precision(self) -> int:
        """The number of bits of a probability."""
        return BITS

    def check(self) -> Self:
        """Prove the claim in integers, and return the certificate; see `LevelTable.check`.

        Proof that the check is complete: docs/proofs/optimal.md, theorem 4.
        """
        self.table.check(self.sensitivity, self.epsilon)
        return self

    def to_json(self) -> str:
        """Return the certificate as JSON, so that anyone can check it."""
        claim = {"epsilon": self.epsilon, "sensitivity": self.sensitivity}
        return json.dumps(claim | {"table": json.loads(self.table.to_json())})

    @classmethod
    def from_json(cls, text: str) -> TableCertificate:
        """Read a certificate that `to_json` wrote. It proves nothing until `check` is called.

        Raises
        ------
        ArgumentError
            If `text` is not a certificate.
        """
        try:
            fields: dict[str, Any] = _json.read(text)
            table = LevelTable.from_json(json.dumps(fields.pop("table")))
            return cls(table, **{name: real(number) for name, number in fields.items()})
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            hint = _json.reader_hint(text, own="TableCertificate")
            raise ArgumentError.must_be(
                "text", "a certificate written by to_json", hint=hint
            ) from None

    def __repr__(self) -> str:
        numbers = f"epsilon={format_numbers(self.epsilon)}"
        numbers += f", sensitivity={format_numbers(self.sensitivity)}"
        return f"TableCertificate({numbers}, rows={len(self.rows)})"
