import pickle
import struct
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import inbounds as ib
from inbounds.errors import ArgumentError, ArgumentTypeError, BudgetExceededError
from inbounds.guarantee import Guarantee
from inbounds.sklearn import Privatizer
from inbounds.sklearn.charge import ROW, RowRelease
from inbounds.sklearn.privatizer import part_mechanism, part_of

X = np.random.default_rng(7).uniform(0, 100, (60, 2))
PLAIN: dict[str, Any] = {"lower": [0, -50], "upper": [100, 150]}
GUARANTEES: list[dict[str, float]] = [
    {"epsilon": 1.0},
    {"epsilon": 0.7, "delta": 1e-6},
    {"rho": 0.3},
]


def opened(folder: Path, **budget: Any) -> ib.Ledger:
    ledger = ib.Ledger(folder / "budget.db")
    ledger.open("survey", **budget, unit=ROW)
    return ledger


@pytest.mark.parametrize("guarantee", GUARANTEES)
@pytest.mark.parametrize("count", [1, 2, 3, 7, 40])
def test_a_row_costs_no_more_than_was_asked(guarantee: dict[str, float], count: int) -> None:
    hidden = Privatizer(lower=0, upper=1, **guarantee).fit(np.zeros((1, count)))
    cost = hidden.row_guarantee_
    if "rho" in guarantee:
        assert Fraction(hidden.mechanism_.rho) * count <= Fraction(guarantee["rho"])
    elif "delta" in guarantee:
        assert cost.delta(epsilon=guarantee["epsilon"]) <= guarantee["delta"]
    else:
        assert Fraction(hidden.mechanism_.epsilon) * count <= Fraction(guarantee["epsilon"])
        assert cost.pure > 0.999 * guarantee["epsilon"]


def test_parts_never_add_up_to_more_than_the_whole() -> None:
    for amount in (1.0, 0.1, 1e-9, 3.3333333333333335):
        for count in range(1, 200):
            part = part_of(amount, count)
            assert Fraction(part) * count <= Fraction(amount)
            assert part * count > amount * (1 - 1e-15)


def test_many_features_gain_by_a_delta_and_few_do_not() -> None:
    for count, gains in ((2, False), (100, True)):
        pure = part_mechanism(count, Guarantee(epsilon=1.0))
        other = part_mechanism(count, Guarantee(epsilon=1.0, delta=1e-6))
        assert (other.epsilon > pure.epsilon) == gains
        assert other.domain.is_interval
    assert RowRelease(other, 100, Guarantee(epsilon=1.0, delta=1e-6)).delta(1.0) <= 1e-6


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_outputs_are_in_the_bounds_and_drawn_at_every_call(guarantee: dict[str, float]) -> None:
    hidden = Privatizer(**PLAIN, **guarantee)
    first, second = hidden.fit_transform(X), hidden.fit_transform(X)
    for outputs in (first, second):
        assert ((outputs >= [0, -50]) & (outputs <= [100, 150])).all()
    assert (first != second).any()
    assert not np.isclose(first, X).all(axis=1).any()


def test_transform_and_predict_draw_nothing_and_change_nothing(tmp_path: Path) -> None:
    ledger = opened(tmp_path, epsilon=1.0)
    charged: dict[str, Any] = {"ledger": ledger, "dataset": "survey"}
    model = make_pipeline(Privatizer(**PLAIN, **charged, epsilon=1.0), LinearRegression())
    model.fit(X, X[:, 0])
    predicted = model.predict(X)
    assert (model.predict(X) == predicted).all()
    assert (model[0].transform(X) == X).all()
    assert (model[-1].predict(X) == predicted).all()
    assert len(ledger.history("survey")) == 1


def test_every_fit_transform_is_charged_once_and_before_anything_is_drawn(tmp_path: Path) -> None:
    ledger = opened(tmp_path, epsilon=2.0)
    hidden = Privatizer(**PLAIN, epsilon=1.0, ledger=ledger, dataset="survey", label="features")
    hidden.fit(X)
    assert ledger.remaining("survey").epsilon == 2.0
    hidden.fit_transform(X)
    hidden.fit_transform(X)
    assert ledger.remaining("survey").epsilon == 0.0
    with pytest.raises(BudgetExceededError):
        hidden.fit_transform(X)
    assert ledger.history("survey")["label"].tolist() == ["features"] * 2


@pytest.mark.parametrize("guarantee", GUARANTEES)
@pytest.mark.parametrize("count", [1, 2, 40])
def test_any_charge_fits_in_a_budget_of_its_guarantee(
    guarantee: dict[str, float], count: int, tmp_path: Path
) -> None:
    ledger = opened(tmp_path, **guarantee)
    hidden = Privatizer(lower=0, upper=1, **guarantee, ledger=ledger, dataset="survey")
    hidden.fit_transform(np.zeros((5, count)))
    with pytest.raises(BudgetExceededError):
        hidden.fit_transform(np.zeros((5, count)))


def test_a_cross_validation_is_as_many_releases_as_folds(tmp_path: Path) -> None:
    ledger = opened(tmp_path, epsilon=9.0)
    hidden = Privatizer(**PLAIN, epsilon=1.0, ledger=ledger, dataset="survey")
    cross_val_score(make_pipeline(hidden, LinearRegression()), X, X[:, 0], cv=5)
    assert ledger.remaining("survey").epsilon == 4.0


def test_a_column_transformer_makes_some_columns_private() -> None:
    hidden = Privatizer(lower=0, upper=100, epsilon=1.0)
    mixed = ColumnTransformer([("hidden", hidden, [0])], remainder="passthrough")
    outputs = mixed.fit_transform(X)
    assert (outputs[:, 1] == X[:, 1]).all()
    assert (outputs[:, 0] != X[:, 0]).any()
    assert (mixed.transform(X) == X).all()


def test_it_is_cloned_changed_and_pickled_like_any_estimator(tmp_path: Path) -> None:
    hidden = Privatizer(
        **PLAIN, epsilon=1.0, ledger=opened(tmp_path, epsilon=2.0), dataset="survey"
    )
    copy = clone(hidden).set_params(epsilon=2.0)
    assert (hidden.epsilon, copy.epsilon, copy.get_params()["lower"]) == (1.0, 2.0, [0, -50])
    again = pickle.loads(pickle.dumps(copy.fit(X)))
    with pytest.warns(ib.NotPrivateWarning, match="they are not private"):
        assert (again.transform(X) == X).all()
    assert again.mechanism_ == copy.mechanism_


def test_whoever_fits_and_transforms_is_told_that_nothing_was_released() -> None:
    labels = TransformedTargetRegressor(
        LinearRegression(), transformer=Privatizer(lower=0, upper=1, epsilon=1.0)
    )
    with pytest.warns(ib.NotPrivateWarning, match="for labels there is PrivateLabels"):
        labels.set_params(check_inverse=False).fit(X, X[:, 0] / 200 + 0.5)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_have_the_names_of_the_features(kind: str) -> None:
    package = pd if kind == "pandas" else pl
    frame = package.DataFrame({"age": X[:, 0], "pay": X[:, 1]})
    hidden = Privatizer(**PLAIN, epsilon=1.0).set_output(transform=kind)
    for outputs in (hidden.fit_transform(frame), hidden.transform(frame)):
        assert isinstance(outputs, package.DataFrame)
        assert list(outputs.columns) == ["age", "pay"]


def test_a_fitted_object_holds_none_of_the_values() -> None:
    hidden = Privatizer(**PLAIN, epsilon=1.0)
    hidden.fit_transform(X)
    stored = pickle.dumps(hidden)
    for value in X.ravel():
        assert struct.pack("<d", value) not in stored
        assert struct.pack(">d", value) not in stored


def test_evenly_spread_features_keep_the_slope_of_a_linear_model() -> None:
    """The slope has a standard error of 0.026, so a false alarm is rarer than 1e-8.

    Outputs that are read without a prior have a slope of 0.1, which is refused.
    """
    values = np.random.default_rng(3).uniform(0, 100, (8000, 1))
    outputs = Privatizer(lower=0, upper=100, epsilon=1.0).fit_transform(values)
    slope = LinearRegression().fit(outputs, values[:, 0]).coef_[0]
    assert abs(slope - 1) < 0.15
    noisy = ib.ClampedLaplace.calibrated(ib.Box(0, 100), 100, epsilon=1.0).release(values)
    assert abs(LinearRegression().fit(noisy, values[:, 0]).coef_[0] - 1) > 0.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epsilon": None}, "epsilon or rho must be given"),
        ({"rho": 1.0}, "epsilon or rho must be given, but not both"),
        ({"delta": 1.0}, "delta must be below 1"),
        ({"lower": None}, "lower must be given"),
        ({"upper": [1, 2, 3]}, "upper must be one number"),
        ({"dataset": "survey"}, "ledger must be given together with dataset"),
        ({"ledger": "budget.db"}, "dataset must be given together with ledger"),
        ({"label": "x"}, "label must be given only together"),
        ({"ledger": "budget.db", "dataset": "survey"}, "ledger must be a Ledger"),
    ],
)
def test_parameters_are_checked_when_it_is_fitted(options: dict[str, Any], message: str) -> None:
    hidden = Privatizer(**(PLAIN | {"epsilon": 1.0} | options))
    with pytest.raises((ArgumentError, ArgumentTypeError), match=message):
        hidden.fit(X)
