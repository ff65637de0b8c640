from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.base import BaseEstimator
from sklearn.linear_model import LinearRegression

from inbounds.errors import InBoundsError
from inbounds.sklearn import PrivateLabels, PrivateSimpleImputer, PrivateStandardScaler, Privatizer
from inbounds.sklearn.data import as_array, as_doubles, read_features

PLAIN: dict[str, Any] = {"lower": 0, "upper": 120, "epsilon": 1.0}
TRANSFORMERS = [Privatizer, PrivateStandardScaler, PrivateSimpleImputer]


class _Secretive:
    def __float__(self) -> float:
        raise ValueError("secret")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise ValueError("secret")


BAD: dict[str, Any] = {
    "a text among objects": np.array([[17, "secret"]], object),
    "texts": [["secret", "17"]],
    "bytes": np.array([[b"secret"]]),
    "a frame with a text": pd.DataFrame({"x": [17.0, 41.0], "y": ["secret", "a"]}),
    "a frame of Polars": pl.DataFrame({"x": ["secret"]}),
    "a category": pd.DataFrame({"x": pd.Categorical(["secret"])}),
    "a time": pd.DataFrame({"x": pd.to_datetime(["2017-04-01"])}),
    "rows of other lengths": [[17], [41, 17]],
    "an object of its own": [[_Secretive()]],
    "a thing that is no array": _Secretive(),
    "a dict": np.array([[{"secret": 17}]], object),
    "complex": np.array([[17 + 41j]]),
    "masked": np.ma.masked_array([[17.0]], [[True]]),
    "infinite": [[17.0], [np.inf]],
    "sparse": scipy.sparse.csr_array(np.array([[17.0]])),
    "a vector": [17.0, 41.0],
    "no features": np.zeros((3, 0)),
    "no rows": np.zeros((0, 2)),
}


@pytest.mark.parametrize("kind", TRANSFORMERS)
@pytest.mark.parametrize("name", BAD)
def test_no_error_shows_a_value_not_even_as_its_context(name: str, kind: Any) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        kind(**PLAIN).fit_transform(BAD[name])
    error: BaseException | None = caught.value
    while error is not None:
        for value in ("secret", "17", "41"):
            assert value not in str(error)
        error = error.__cause__ or error.__context__


@pytest.mark.filterwarnings("ignore:A column-vector y")
@pytest.mark.parametrize("name", BAD)
def test_no_error_about_labels_shows_one(name: str) -> None:
    labels, options = BAD[name], {"epsilon": 1.0}
    for own in ({"levels": [0, 1]}, {"lower": 0, "upper": 9}):
        if name == "a vector" and "lower" in own:
            continue  # these are labels
        with pytest.raises((ValueError, TypeError)) as caught:
            PrivateLabels(LinearRegression(), **own, **options).fit(np.zeros((2, 1)), labels)
        for value in ("secret", "17", "41"):
            assert value not in str(caught.value)
        assert caught.value.__cause__ is caught.value.__context__ is None


@pytest.mark.parametrize(
    "given",
    [
        [[1, 2.5], [3, -1]],
        np.array([[1, 2.5], [3, -1]], ">f4", order="F"),
        np.array([[1, 2.5], [3, -1]], np.longdouble)[::1],
        np.array([[1, Decimal("2.5")], [Fraction(3), -1.0]], object),
        pd.DataFrame({"a": [1, 3], "b": [2.5, -1]}),
        pd.DataFrame({"a": [1, 3], "b": [2.5, -1]}).astype("Float64"),
        pl.DataFrame({"a": [1, 3], "b": [2.5, -1]}),
    ],
)
def test_numbers_of_any_kind_are_doubles(given: Any) -> None:
    numbers = as_doubles(given, "X")
    assert numbers.dtype == np.float64
    assert numbers.tolist() == [[1, 2.5], [3, -1]]


@pytest.mark.parametrize(
    "given",
    [
        np.array([[1.0], [np.nan]]),
        np.array([[1], [None]], object),
        pd.DataFrame({"x": [1, None]}, dtype="Int64"),
        pd.DataFrame({"x": [True, None]}, dtype="boolean"),
        pl.DataFrame({"x": [1, None]}),
    ],
)
def test_nulls_of_any_kind_are_nan_where_they_are_allowed(given: Any) -> None:
    numbers = read_features(BaseEstimator(), given, reset=True, nulls=True)
    assert np.isnan(numbers).tolist() == [[False], [True]]
    with pytest.raises(InBoundsError, match="X must be finite, without NaN, nulls"):
        read_features(BaseEstimator(), given, reset=True)


def test_numbers_beyond_all_doubles_are_the_largest() -> None:
    largest = np.finfo(np.float64).max
    huge = np.array([[10**400, -(10**400)]], object)
    assert as_doubles(huge, "X").tolist() == [[largest, -largest]]
    long = np.array([[np.longdouble("1e4000"), np.longdouble("-1e4000")]])
    assert as_doubles(long, "X").tolist() == [[largest, -largest]]


def test_what_is_read_is_a_copy() -> None:
    given = np.zeros((2, 1))
    read_features(BaseEstimator(), given, reset=True)[0] = 5.0
    assert given.tolist() == [[0.0], [0.0]]
    assert as_array(given, "X") is given


def test_names_of_features_are_noted_and_compared() -> None:
    scaler = Privatizer(**PLAIN)
    scaler.fit_transform(pd.DataFrame({"age": [17.0], "pay": [41.0]}))
    assert scaler.feature_names_in_.tolist() == ["age", "pay"]
    assert scaler.get_feature_names_out().tolist() == ["age", "pay"]
    with pytest.raises(ValueError, match="feature names should match"):
        scaler.transform(pd.DataFrame({"age": [17.0], "wage": [41.0]}))
    plain = Privatizer(**PLAIN)
    plain.fit_transform([[17.0, 41.0]])
    with pytest.raises(ValueError, match="X has 1 features, but Privatizer is expecting 2"):
        plain.transform([[17.0]])
