"""Nulls filled with released means or medians."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from inbounds import _check
from inbounds._extra import optional
from inbounds._types import Floats
from inbounds.frames.central.level import proportion
from inbounds.frames.central.quantile import median
from inbounds.frames.central.statistic import mean
from inbounds.sklearn.bound import Bounds, check_bounds
from inbounds.sklearn.data import forget, read_features
from inbounds.sklearn.statistics import release_statistics
from inbounds.unit import Adjacency

with optional():
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils.validation import check_is_fitted


class PrivateSimpleImputer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Fill nulls of a feature with a released mean or median of its other values.

    Which values are null is as private as the values. Each row must be about one person.

    Parameters
    ----------
    strategy
        ``"mean"`` or ``"median"``.
    lower, upper
        Public bounds: numbers, or one number for each feature. For the statistics, values outside
        are moved to the nearest bound.
    epsilon
        The epsilon of everything that is released by one `fit`.
    delta
        The delta that goes with `epsilon`. If it is 0, the guarantee is pure epsilon.
    rho
        The rho of everything that is released by one `fit`, in place of `epsilon`.
    adjacency
        Which data are neighbours, as in `inbounds.summarize`.
    size
        A public upper bound on the number of rows, which means with ``adjacency="add-remove"``
        need.
    ledger
        A `Ledger` that each `fit` charges once, before anything is drawn. The unit of the charge is
        ``Unit(adjacency, "row")``.
    dataset
        The dataset of the ledger whose budget is charged.
    label
        A note for the history of the ledger.

    Attributes
    ----------
    statistics_ : numpy.ndarray
        What nulls of each feature are filled with, in its bounds.
    summary_ : pandas.DataFrame
        All that was released. Rows of the array have their nulls filled there, see the notes: with
        ``"mean"``, `summary_` has the mean of all rows, and the fraction of rows without a null.
    n_features_in_, feature_names_in_
        The number of features, and their names, if they have any.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        When it is fitted: if a parameter is not valid, or the data hold anything but finite numbers
        and nulls. No message shows a value of the data.
    BudgetExceededError
        If the ledger has no room for the charge. Nothing is charged or drawn then.

    See Also
    --------
    sklearn.impute.SimpleImputer : The same with the true means and medians.
    inbounds.summarize : What releases them.

    Guarantees
    ----------
    The attributes of a fitted imputer are one release at `epsilon` (and `delta`), or at `rho`, for
    any two arrays that are neighbours, where values may become nulls and nulls values; nothing else
    of the data is stored (docs/proofs/sklearn.md, theorems 4 and 5). Each `fit` is another release.
    **What** `transform` **returns is not private**: it is computed from the features that it was
    given, and draws nothing.

    Notes
    -----
    A null is NaN, None or NA. Leaving out every row that has a null in any feature would lose most
    rows where there are many features, and a release for each feature would be charged many times.
    Nulls are filled before the release instead, each by itself:

    - For means, with the middle m of the bounds, which adds nothing to the sum of x - m. A mean of
      the other values is m + (a - m)/f, where a is the released mean of all rows and f the released
      fraction of rows without a null. If f is no larger than its standard error, m is used.
    - For medians, with the lower or the upper bound, with equal probabilities. As many nulls are
      then below a median of the other values as above it, but for about √k/2 of k nulls.

    Examples
    --------
    >>> import numpy as np
    >>> from inbounds.sklearn import PrivateSimpleImputer
    >>> ages = np.array([[17.0], [np.nan], [41.0], [68.0]] * 200)
    >>> imputer = PrivateSimpleImputer(strategy="mean", lower=0, upper=120, epsilon=5.0)
    >>> filled = imputer.fit(ages).transform(ages)
    >>> bool(36 < filled[1, 0] < 48), bool(np.isnan(filled).any())
    (True, False)
    """

    def __init__(
        self,
        *,
        strategy: Literal["mean", "median"] = "mean",
        lower: Any = None,
        upper: Any = None,
        epsilon: float | None = None,
        delta: float = 0.0,
        rho: float | None = None,
        adjacency: Adjacency = "replace",
        size: int | None = None,
        ledger: Any = None,
        dataset: str | None = None,
        label: str | None = None,
    ) -> None:
        self.strategy = strategy
        self.lower = lower
        self.upper = upper
        self.epsilon = epsilon
        self.delta = delta
        self.rho = rho
        self.adjacency = adjacency
        self.size = size
        self.ledger = ledger
        self.dataset = dataset
        self.label = label

    def fit(self, X: Any, y: Any = None) -> PrivateSimpleImputer:
        """Release means or medians, at the cost of the guarantee."""
        forget(self)
        strategy = _check.one_of(("mean", "median"), strategy=self.strategy)
        numbers = read_features(self, X, reset=True, nulls=True)
        bounds = check_bounds(self.lower, self.upper, self.n_features_in_)
        fit = self._fit_means if strategy == "mean" else self._fit_medians
        self.statistics_ = np.clip(fit(numbers, bounds), bounds.lower, bounds.upper)
        return self

    def transform(self, X: Any) -> Any:
        """Return features with nulls filled: **they are not private**."""
        check_is_fitted(self, "statistics_")
        numbers = read_features(self, X, reset=False, nulls=True)
        return np.where(np.isnan(numbers), self.statistics_, numbers)

    def _fit_means(self, numbers: Floats, bounds: Bounds) -> Floats:
        count, table = len(bounds.lower), with_presence(numbers, bounds)
        statistics = [mean(i, *ends) for i, ends in enumerate(_ends(bounds))]
        statistics += [proportion(count + i) for i in range(count)]
        about = f"means of {count} features"
        self.summary_ = release_statistics(self, table, statistics, about)
        values, fractions = self.summary_["value"].to_numpy(np.float64).reshape(2, count)
        errors = self.summary_["standard_error"].to_numpy(np.float64)[count:]
        known = fractions > errors
        offsets = (values - bounds.middles) / np.where(known, fractions, 1.0)
        return bounds.middles + np.where(known, offsets, 0.0)

    def _fit_medians(self, numbers: Floats, bounds: Bounds) -> Floats:
        coins = np.random.default_rng().integers(0, 2, numbers.shape) > 0
        filled = fill_by_coins(numbers, bounds, coins)
        statistics = [median(i, *ends, interval=False) for i, ends in enumerate(_ends(bounds))]
        about = f"medians of {len(statistics)} features"
        self.summary_ = release_statistics(self, filled, statistics, about)
        return np.asarray(self.summary_["value"].to_numpy(np.float64))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.input_tags.allow_nan = True
        return tags


def _ends(bounds: Bounds) -> list[tuple[float, float]]:
    return list(zip(bounds.lower.tolist(), bounds.upper.tolist(), strict=True))


def with_presence(numbers: Floats, bounds: Bounds) -> Floats:
    """Fill nulls with the middle of the bounds, and add a column for each feature: 0 for a null.

    Why neighbours stay neighbours: docs/proofs/sklearn.md, theorem 4.

    Examples
    --------
    >>> with_presence(np.array([[17.0], [np.nan]]), check_bounds(0, 120, 1)).tolist()
    [[17.0, 1.0], [60.0, 0.0]]
    """
    missing = np.isnan(numbers)
    return np.hstack([np.where(missing, bounds.middles, numbers), ~missing])


def fill_by_coins(numbers: Floats, bounds: Bounds, coins: NDArray[np.bool_]) -> Floats:
    """Fill each null with the upper bound of its feature if its coin is true, or with the lower.

    Coins must not depend on other rows: if nulls were filled in turn, one row would change those
    after it. They need not be secret. Proof: docs/proofs/sklearn.md, theorem 5.

    Examples
    --------
    >>> nulls = np.full((2, 1), np.nan)
    >>> fill_by_coins(nulls, check_bounds(0, 120, 1), np.array([[True], [False]])).tolist()
    [[120.0], [0.0]]
    """
    sides = np.where(coins, bounds.upper, bounds.lower)
    return np.where(np.isnan(numbers), sides, numbers)
