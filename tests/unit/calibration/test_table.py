"""The check is complete: whatever is changed in a table, it is refused or still private."""

import dataclasses
import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from inbounds.calibration.entries import Entries
from inbounds.calibration.levels import design
from inbounds.calibration.table import LevelTable, growth_below
from inbounds.errors import ArgumentError, CertificateError

SENSITIVITY, EPSILON = 0.3, 2.0


class Other(Entries):
    """It could answer anything, for example that all ratios are small."""

    def grows_at_most(self, *_: int, **__: int) -> bool:
        return True


CELLS = design(0.0, 1.0, SENSITIVITY, EPSILON, "average").table
KNOTS = design(0.0, 1.0, SENSITIVITY, EPSILON, "worst").table
both = pytest.mark.parametrize("table", [CELLS, KNOTS], ids=["cells", "knots"])


def changed(table: LevelTable, **fields: Any) -> LevelTable:
    return dataclasses.replace(table, **fields)


def with_entry(table: LevelTable, i: int, j: int, entry: Any) -> LevelTable:
    rows = [list(row) for row in table.rows]
    rows[i][j] = entry
    return changed(table, rows=tuple(map(tuple, rows)))


def swapped(points: tuple[float, ...]) -> tuple[float, ...]:
    return (points[0], points[2], points[1], *points[3:])


@both
def test_a_refusal_says_that_nothing_is_proved_and_what_to_do(table: LevelTable) -> None:
    with pytest.raises(CertificateError, match=r"proves no privacy: .*not sorted") as damaged:
        changed(table, boundaries=swapped(table.boundaries)).check(SENSITIVITY, EPSILON)
    with pytest.raises(CertificateError, match=r"does not prove this privacy: .*exp\(eps") as weak:
        table.check(SENSITIVITY, EPSILON / 2)
    with pytest.raises(CertificateError, match=r"apart than the \d+ rows") as wide:
        table.check(2 * SENSITIVITY, EPSILON)
    for caught in (damaged, weak, wide):
        assert "\nHint: it was" in str(caught.value)
        assert "Optimal.calibrated" in str(caught.value)


@both
def test_a_built_table_is_accepted(table: LevelTable) -> None:
    assert table.check(SENSITIVITY, EPSILON) is table
    assert table.check(SENSITIVITY / 2, EPSILON * 2) is table


@both
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: changed(t, boundaries=swapped(t.boundaries)), "not sorted"),
        (lambda t: changed(t, boundaries=(*t.boundaries[:-1], math.nan)), "not valid"),
        (lambda t: changed(t, boundaries=(*t.boundaries[:-1], 0.999999)), "end at the bounds"),
        (lambda t: changed(t, lower=-0.1), "end at the bounds"),
        (lambda t: changed(t, upper=math.inf), "not valid"),
        (lambda t: changed(t, upper=-1.0), "not sorted"),
        (lambda t: changed(t, kind="rows"), "not valid"),
        (lambda t: changed(t, reach=t.reach - 1), "too close"),
        (lambda t: changed(t, reach=0), "not positive"),
        (lambda t: changed(t, reach=float(t.reach)), "not whole"),
        (lambda t: changed(t, reach=t.reach + 1), "differ by more"),
        (lambda t: changed(t, rows=t.rows[:-1]), "number of rows"),
        (lambda t: changed(t, rows=(*t.rows[:-1], t.rows[-1][:-1])), "one entry per output"),
        (lambda t: with_entry(t, 0, 0, t.rows[0][0] + 1), "sum to"),
        (lambda t: with_entry(t, 0, 0, 0), "not positive"),
        (lambda t: with_entry(t, 0, 0, -t.rows[0][0]), "not positive"),
        (lambda t: with_entry(t, 0, 0, float(t.rows[0][0])), "not whole"),
        (lambda t: with_entry(t, 0, 0, True), "not whole"),
        (lambda t: changed(t, numerator=t.numerator + (1 << 40)), "not proved"),
        (lambda t: changed(t, numerator=t.denominator), "differ by more"),
        (lambda t: changed(t, outputs=(2.0, *t.outputs[1:])), "out of bounds"),
        (lambda t: changed(t, outputs=(math.nan, *t.outputs[1:])), "not valid"),
    ],
)
def test_every_kind_of_tampering_is_refused(table: LevelTable, change: Any, message: str) -> None:
    with pytest.raises(CertificateError, match=message):
        change(table).check(SENSITIVITY, EPSILON)


@both
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda e: Entries(e.distinct, e.places + 1), "not whole"),
        (lambda e: Entries(e.distinct, e.places - e.places.max() - 1), "not whole"),
        (lambda e: Entries(e.distinct[::-1], e.places), "not whole"),
        (lambda e: Entries((0, *e.distinct[1:]), e.places), "not positive"),
        (lambda e: Entries((*e.distinct[:-1], e.distinct[-1] + 1), e.places), "sum to"),
        (lambda e: Entries(e.distinct, e.places[:, 1:]), "one entry per output"),
        (lambda e: Entries(e.distinct, e.places[1:]), "number of rows"),
        (lambda e: Other(e.distinct, e.places), "not whole"),
        (lambda e: [*e], "not whole"),
    ],
)
def test_tampering_with_the_places_of_entries_is_refused(
    table: LevelTable, change: Any, message: str
) -> None:
    assert changed(table, rows=Entries.of(table.rows[:])) == table
    with pytest.raises(CertificateError, match=message):
        changed(table, rows=change(table.entries)).check(SENSITIVITY, EPSILON)


@both
def test_moving_mass_between_two_outputs_of_one_row_is_refused(table: LevelTable) -> None:
    i = len(table.rows) // 2
    for j in range(len(table.outputs)):
        moved = table.rows[i][j] * 9 // 10
        other = (j + 1) % len(table.outputs)
        forged = with_entry(table, i, j, table.rows[i][j] - moved)
        forged = with_entry(forged, i, other, table.rows[i][other] + moved)
        with pytest.raises(CertificateError, match="differ by more"):
            forged.check(SENSITIVITY, EPSILON)


@both
@pytest.mark.parametrize(
    ("sensitivity", "epsilon"),
    [
        (math.nextafter(math.nextafter(SENSITIVITY, 1), 1), EPSILON),
        (0.31, EPSILON),
        (SENSITIVITY, math.nextafter(EPSILON, 0)),
        (math.nan, EPSILON),
        (SENSITIVITY, math.inf),
        (-SENSITIVITY, EPSILON),
    ],
)
def test_a_table_proves_nothing_beyond_what_it_was_built_for(
    table: LevelTable, sensitivity: float, epsilon: float
) -> None:
    if sensitivity == math.nextafter(math.nextafter(SENSITIVITY, 1), 1):
        sensitivity += 2 * math.ulp(1.0)
    with pytest.raises(CertificateError):
        table.check(sensitivity, epsilon)


def test_one_unit_in_the_last_place_beyond_the_sensitivity_counts() -> None:
    """The smallest geometry in which 0.1 and 0.4 are two cells apart, although 0.3 apart."""
    half = 1 << 127
    points = (0.0, math.nextafter(0.1, 1), 0.4, 1.0)
    assert Fraction(points[2]) - Fraction(points[1]) >= Fraction(0.3) - Fraction(math.ulp(0.3))
    table = LevelTable("cells", 0.0, 1.0, points, 1, ((half, half),) * 3, (0.0, 1.0), 1, 1)
    with pytest.raises(CertificateError, match="too close"):
        table.check(0.3, 1.0)


def test_cell_boundaries_do_not_serve_as_knots() -> None:
    points = (0.0, 0.05, 0.3, 0.55, 0.8, 1.0)
    rows = ((1 << 127, 1 << 127),) * 5
    cells = LevelTable("cells", 0.0, 1.0, points, 1, rows, (0.0, 1.0), 1, 1)
    cells.check(0.2499, 1.0)
    with pytest.raises(CertificateError, match="too close"):
        changed(cells, kind="knots", rows=(*rows, rows[0])).check(0.2499, 1.0)


@both
def test_a_table_is_the_same_after_a_journey_through_json(table: LevelTable) -> None:
    assert LevelTable.from_json(table.to_json()) == table


@pytest.mark.parametrize(
    "change",
    [
        lambda fields: fields.pop("reach"),
        lambda fields: fields.update(extra=1),
        lambda fields: fields.update(numerator="-1"),
        lambda fields: fields.update(numerator=3),
        lambda fields: fields.update(rows=[["1z"]]),
        lambda fields: fields.update(rows=[["f" * 200]]),
        lambda fields: fields.update(lower="NaN?"),
    ],
)
def test_what_is_not_a_table_is_refused(change: Any) -> None:
    fields = json.loads(CELLS.to_json())
    change(fields)
    with pytest.raises(ArgumentError, match="written by to_json"):
        LevelTable.from_json(json.dumps(fields))


@both
def test_total_variation_is_that_of_the_integers_and_not_below(table: LevelTable) -> None:
    n = len(table.rows)
    exact = max(
        sum(abs(a - b) for a, b in zip(table.rows[i], table.rows[k], strict=True))
        for i in range(n)
        for k in range(i, min(n, i + table.reach + 1))
    )
    excess = table.total_variation - Fraction(exact, 2 << 128)
    assert 0 <= excess < Fraction(len(table.outputs), 1 << 60)
    assert table.total_variation <= Fraction(math.tanh(EPSILON / 2)) + Fraction(1, 1 << 40)


@pytest.mark.parametrize("epsilon", [1e-30, 1e-17, 0.1, 1.0, 30.0, 99.0, 1e5])
def test_the_ratio_is_below_the_exponential_and_close(epsilon: float) -> None:
    p, q = growth_below(epsilon)
    capped = np.longdouble(min(epsilon, 100.0))
    assert abs(np.longdouble(p) / np.longdouble(q) / np.exp(capped) - 1) < 1e-17 * (1 + capped)
