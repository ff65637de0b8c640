#!/usr/bin/env python3
"""Compute the errors that `inbounds regimes` knows: src/inbounds/analysis/known_errors.json.

.venv/bin/python scripts/known_errors.py            writes the file; takes a minute
.venv/bin/python scripts/known_errors.py --check    compares it, and exits with 1 if it differs
"""
# ruff: noqa: T201 - its output is its purpose

from __future__ import annotations

import json
import sys
from pathlib import Path

from inbounds.analysis.known_error import EPSILONS, FRACTIONS
from inbounds.analysis.regimes import computed_errors

FILE = Path(__file__).resolve().parents[1] / "src/inbounds/analysis/known_errors.json"
_CLOSE = 1e-9  # relative: solvers of linear programs differ a little


def main() -> int:
    """Write the file, or compare it."""
    errors: dict[str, list[list[float]]] = {}
    for epsilon in EPSILONS.tolist():
        rows: dict[str, list[float]] = {}
        for fraction in FRACTIONS.tolist():
            for name, error in computed_errors(fraction, epsilon).items():
                rows.setdefault(name, []).append(error)
        for name, row in rows.items():
            errors.setdefault(name, []).append(row)
    if "--check" not in sys.argv:
        FILE.write_text(json.dumps(errors, indent=1) + "\n", encoding="utf-8")
        return 0
    known = json.loads(FILE.read_text(encoding="utf-8"))
    worst = max(
        abs(other / error - 1)
        for name, rows in errors.items()
        for row, known_row in zip(rows, known[name], strict=True)
        for error, other in zip(row, known_row, strict=True)
    )
    print(f"largest relative difference: {worst:.1e}")
    return int(known.keys() != errors.keys() or worst > _CLOSE)


if __name__ == "__main__":
    sys.exit(main())
