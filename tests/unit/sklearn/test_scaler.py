import math
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import inbounds as ib
from inbounds.errors import ArgumentError, BudgetExceededError
from inbounds.sklearn import PrivateStandardScaler

X = np.random.default_rng(5).normal([40, 1000], [10, 300], (500, 2))
PLAIN: dict[str, Any] = {"lower": [0, 0], "upper": [120, 5000]}


def test_little_noise_gives_what_the_plain_scaler_gives() -> None:
    scaler = PrivateStandardScaler(**PLAIN, epsilon=1e6).fit(X)
    assert scaler.mean_ == pytest.approx(X.mean(axis=0), rel=1e-3)
    assert scaler.var_ == pytest.approx(X.var(axis=0), rel=1e-2)
    assert scaler.scale_ == pytest.approx(np.sqrt(scaler.var_))
    assert scaler.transform(X) == pytest.approx((X - scaler.mean_) / scaler.scale_)
    assert scaler.inverse_transform(scaler.transform(X)) == pytest.approx(X)


def test_one_fit_is_one_charge_and_transform_none(tmp_path: Path) -> None:
    ledger = ib.Ledger(tmp_path / "budget.db")
    ledger.open("survey", epsilon=1.0, delta=1e-6, unit=ib.Unit("replace", "row"))
    options: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, "ledger": ledger}
    scaler = PrivateStandardScaler(**PLAIN, **options, dataset="survey").fit(X)
    model = make_pipeline(scaler, LogisticRegression())
    assert (scaler.transform(X) == scaler.transform(X)).all()
    (label,) = ledger.history("survey")["label"]
    assert label == "PrivateStandardScaler: means and variances of 2 features"
    with pytest.raises(BudgetExceededError):
        model.fit(X, X[:, 0] > 40)
    assert len(ledger.history("survey")) == 1


@pytest.mark.parametrize(
    ("options", "released"),
    [
        ({}, {"mean", "variance"}),
        ({"with_mean": False}, {"variance"}),
        ({"with_std": False}, {"mean"}),
    ],
)
def test_what_is_not_used_is_not_released(options: dict[str, Any], released: set[str]) -> None:
    scaler = PrivateStandardScaler(**PLAIN, epsilon=1e6, **options).fit(X)
    assert {*scaler.summary_["statistic"]} == released
    assert (scaler.mean_ is None) == ("mean" not in released)
    assert (scaler.scale_ is None) == (scaler.var_ is None) == ("variance" not in released)
    assert scaler.inverse_transform(scaler.transform(X)) == pytest.approx(X)


def test_a_feature_that_hardly_varies_has_a_public_scale() -> None:
    scaler = PrivateStandardScaler(lower=0, upper=120, epsilon=0.1, with_mean=False)
    evenly, replaced = 120 / math.sqrt(12), 0
    for _ in range(16):
        scaler.fit(np.full((50, 1), 60.0))
        is_low = scaler.var_ <= scaler.summary_["standard_error"].to_numpy()
        assert ((scaler.scale_ == evenly) == is_low).all()
        assert (scaler.scale_ > 0).all()
        replaced += int(is_low.sum())
    assert replaced > 0  # most of them are


def test_rows_that_may_be_added_need_a_public_size() -> None:
    scaler = PrivateStandardScaler(**PLAIN, epsilon=1e6, adjacency="add-remove")
    with pytest.raises(ArgumentError, match="size must be given"):
        scaler.fit(X)
    scaler.set_params(size=600).fit(X)
    assert scaler.mean_ == pytest.approx(X.mean(axis=0), rel=1e-2)


def test_the_release_is_that_of_summarize_in_its_intervals() -> None:
    """Each of 32 intervals misses with probability 0.05: more than 12 misses have 1e-8."""
    truth, misses = [X[:, 0].mean(), X[:, 1].mean(), X[:, 0].var(), X[:, 1].var()], 0
    for _ in range(8):
        summary = PrivateStandardScaler(**PLAIN, epsilon=1.0).fit(X).summary_
        misses += int(((summary["lower"] > truth) | (summary["upper"] < truth)).sum())
    assert misses <= 12


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_have_the_names_of_the_features(kind: str) -> None:
    package = pd if kind == "pandas" else pl
    frame = package.DataFrame({"age": X[:, 0], "pay": X[:, 1]})
    scaler = PrivateStandardScaler(**PLAIN, epsilon=1.0).set_output(transform=kind).fit(frame)
    assert list(scaler.transform(frame).columns) == ["age", "pay"]
    assert scaler.feature_names_in_.tolist() == ["age", "pay"]


def test_a_fitted_object_holds_nothing_but_what_was_released() -> None:
    scaler = PrivateStandardScaler(**PLAIN, epsilon=1.0).fit(X)
    stored = pickle.dumps(scaler)
    truths = [*X.ravel(), *X.mean(axis=0), *X.var(axis=0), *X.std(axis=0)]
    assert not any(struct.pack("<d", value) in stored for value in truths)
    again = pickle.loads(stored)
    assert (again.transform(X) == scaler.transform(X)).all()
    assert not hasattr(clone(scaler), "mean_")
    attributes = {name for name in vars(scaler) if name not in scaler.get_params()}
    assert attributes == {"mean_", "var_", "scale_", "summary_", "n_features_in_"}


def test_parameters_are_checked_when_it_is_fitted() -> None:
    for options, message in (
        ({"with_mean": False, "with_std": False}, "with_mean or with_std must be True"),
        ({"with_mean": "yes"}, "with_mean must be True or False"),
        ({"epsilon": -1.0}, "epsilon must be positive"),
        ({"adjacency": "other"}, "adjacency"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            PrivateStandardScaler(**(PLAIN | {"epsilon": 1.0} | options)).fit(X)


def test_a_fit_that_fails_leaves_nothing_of_an_earlier_one() -> None:
    scaler = PrivateStandardScaler(lower=0, upper=1, epsilon=1.0).fit(np.full((50, 1), 0.5))
    with pytest.raises(ArgumentError):
        scaler.set_params(lower=[0, 0]).fit(np.full((50, 3), 0.5))
    with pytest.raises(NotFittedError):
        scaler.transform(np.full((2, 3), 0.5))
