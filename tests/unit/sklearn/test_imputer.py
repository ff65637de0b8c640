import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

import inbounds as ib
from inbounds.errors import BudgetExceededError
from inbounds.sklearn import PrivateSimpleImputer, PrivateStandardScaler
from inbounds.sklearn.bound import check_bounds
from inbounds.sklearn.imputer import fill_by_coins, with_presence

RNG = np.random.default_rng(11)
FULL = np.column_stack([RNG.exponential(20, 2000), RNG.normal(1000, 300, 2000)])
HOLES = np.where(RNG.uniform(size=FULL.shape) < [0.3, 0.6], np.nan, FULL)
PLAIN: dict[str, Any] = {"lower": [0, 0], "upper": [120, 5000]}
BOUNDS = check_bounds([0, -5], [10, 5], 2)
CELLS = npst.arrays(float, (4, 2), elements=st.floats(-20, 20) | st.just(np.nan))


@pytest.mark.parametrize("options", [{}, {"adjacency": "add-remove", "size": 2500}])
def test_little_noise_gives_the_means_of_what_is_not_null(options: dict[str, Any]) -> None:
    imputer = PrivateSimpleImputer(**PLAIN, epsilon=1e6, **options).fit(HOLES)
    assert imputer.statistics_ == pytest.approx(np.nanmean(HOLES, axis=0), rel=5e-3)
    filled = imputer.transform(HOLES)
    assert (filled[~np.isnan(HOLES)] == HOLES[~np.isnan(HOLES)]).all()
    places = np.argwhere(np.isnan(HOLES))
    assert (filled[tuple(places.T)] == imputer.statistics_[places[:, 1]]).all()


@pytest.mark.parametrize("options", [{}, {"adjacency": "add-remove"}])
def test_little_noise_gives_nearly_the_medians_of_what_is_not_null(options: dict[str, Any]) -> None:
    """Coins of 1200 nulls move the median by 17 of 800 ranks on average; 6 times that are allowed.

    A median of rows with nulls at one bound would be 300 ranks or more away.
    """
    imputer = PrivateSimpleImputer(**PLAIN, epsilon=1e4, strategy="median", **options).fit(HOLES)
    for column, median in zip(HOLES.T, imputer.statistics_, strict=True):
        known = np.sort(column[~np.isnan(column)])
        rank = np.searchsorted(known, median)
        assert abs(rank - known.size / 2) < 6 * np.sqrt(np.isnan(column).sum()) / 2 + 5


@given(CELLS, st.integers(0, 3), CELLS, npst.arrays(bool, (4, 2)))
def test_a_row_changes_nothing_but_itself(table: Any, row: int, other: Any, coins: Any) -> None:
    """So neighbours stay neighbours, for any coins, whichever values become nulls."""
    changed = table.copy()
    changed[row] = other[row]
    others = np.arange(4) != row
    for prepared in (
        lambda cells: with_presence(cells, BOUNDS),
        lambda cells: fill_by_coins(cells, BOUNDS, coins),
    ):
        first, second = prepared(table), prepared(changed)
        assert not np.isnan(first).any()
        assert (first[others] == second[others]).all()


def test_one_fit_is_one_charge_however_many_features_have_nulls(tmp_path: Path) -> None:
    ledger = ib.Ledger(tmp_path / "budget.db")
    ledger.open("survey", rho=0.2, unit=ib.Unit("replace", "row"))
    options: dict[str, Any] = {"rho": 0.1, "ledger": ledger, "dataset": "survey"}
    for strategy in ("mean", "median"):
        imputer = PrivateSimpleImputer(**PLAIN, **options, strategy=strategy)
        imputer.fit(HOLES).transform(HOLES)
    labels = ledger.history("survey")["label"].tolist()
    assert labels == [f"PrivateSimpleImputer: {s}s of 2 features" for s in ("mean", "median")]
    with pytest.raises(BudgetExceededError):
        imputer.fit(HOLES)


def test_a_feature_of_nulls_is_filled_from_its_bounds() -> None:
    nulls = np.full((200, 2), np.nan)
    for strategy in ("mean", "median"):
        for epsilon in (0.1, 10.0):
            imputer = PrivateSimpleImputer(**PLAIN, epsilon=epsilon, strategy=strategy).fit(nulls)
            assert ((imputer.statistics_ >= 0) & (imputer.statistics_ <= [120, 5000])).all()
    exact = PrivateSimpleImputer(**PLAIN, epsilon=1e9).fit(nulls).statistics_
    assert ((exact >= 0) & (exact <= [120, 5000])).all()


def test_objects_and_frames_have_nulls_of_their_own() -> None:
    frame = pd.DataFrame(
        {"age": [17, None, 41] * 50, "pay": [1000, 2000, None] * 50}, dtype="Int64"
    )
    imputer = PrivateSimpleImputer(**PLAIN, epsilon=1e6).set_output(transform="pandas").fit(frame)
    filled = imputer.transform(frame)
    assert filled["age"][1] == pytest.approx(29, rel=0.01)
    assert filled["pay"][2] == pytest.approx(1500, rel=0.01)


def test_a_pipeline_fills_scales_and_predicts() -> None:
    model = make_pipeline(
        PrivateSimpleImputer(**PLAIN, epsilon=10.0),
        PrivateStandardScaler(**PLAIN, epsilon=10.0),
        LinearRegression(),
    ).fit(HOLES, FULL[:, 1])
    assert (model.predict(HOLES) == model.predict(HOLES)).all()
    assert model.score(HOLES, FULL[:, 1]) > 0.2


def test_a_fitted_object_holds_nothing_but_what_was_released() -> None:
    for strategy in ("mean", "median"):
        imputer = PrivateSimpleImputer(**PLAIN, epsilon=1.0, strategy=strategy).fit(HOLES)
        stored = pickle.dumps(imputer)
        truths = [*HOLES[~np.isnan(HOLES)], *np.nanmean(HOLES, axis=0)]
        assert not any(struct.pack("<d", value) in stored for value in truths)
        attributes = {name for name in vars(imputer) if name not in imputer.get_params()}
        assert attributes == {"statistics_", "summary_", "n_features_in_"}


def test_a_strategy_is_one_of_two() -> None:
    with pytest.raises(ValueError, match="strategy must be one of 'mean', 'median'"):
        PrivateSimpleImputer(**PLAIN, epsilon=1.0, strategy="mode").fit(HOLES)
