from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import inbounds as ib
from inbounds.errors import BudgetExceededError
from inbounds.guarantee import Guarantee
from inbounds.sklearn.charge import ROW, RowRelease, label_of, release_rows

MECHANISM = ib.RandomizedResponse([0, 1], epsilon=1.0)


def asked(**options: Any) -> SimpleNamespace:
    return SimpleNamespace(**({"ledger": None, "dataset": None, "label": None} | options))


def test_all_rows_cost_as_much_as_one(tmp_path: Any) -> None:
    ledger = ib.Ledger(tmp_path / "budget.db")
    ledger.open("survey", epsilon=1.0, unit=ROW)
    estimator = asked(ledger=ledger, dataset="survey")
    outputs = release_rows(estimator, MECHANISM, np.zeros(50, int), "labels")
    assert outputs.shape == (50,)
    (record,) = ledger.records("survey")
    assert record["label"] == "SimpleNamespace: labels"
    assert record["mechanism"].endswith("in parallel on 50 parts")
    with pytest.raises(BudgetExceededError):
        release_rows(estimator, MECHANISM, np.zeros(50, int), "labels")


@pytest.mark.parametrize("count", [1, 2, 5, 100])
def test_a_row_is_priced_as_its_numbers_together(count: int) -> None:
    """The oracle is `compose`, whose bounds are as low or lower."""
    mechanism = ib.Window(ib.Box(0, 1), 1, epsilon=0.3)
    row = RowRelease(mechanism, count, Guarantee(epsilon=0.3 * count))
    together = ib.compose([(mechanism, count)])
    assert Fraction(row.epsilon) >= count * Fraction(mechanism.epsilon)
    assert Fraction(row.rho) >= count * Fraction(mechanism.rho)
    assert row.epsilon == pytest.approx(together.pure)
    for epsilon in (0.1, 0.3, 1.0, 5.0):
        assert row.delta(epsilon) >= together.delta(epsilon=epsilon) * (1 - 1e-9)
    assert ib.compose([row]).pure == row.epsilon


def test_nothing_is_said_to_nobody() -> None:
    assert label_of(asked(), "labels") is None
    assert release_rows(asked(), MECHANISM, np.zeros(3, int), "labels").shape == (3,)
    assert label_of(asked(ledger="any", label="mine"), "labels") == "mine"
