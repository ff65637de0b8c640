"""Features scaled by released means and variances."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from inbounds import _check
from inbounds._extra import optional
from inbounds._types import Floats
from inbounds.errors import ArgumentError
from inbounds.frames.central.statistic import mean, variance
from inbounds.sklearn.bound import Bounds, check_bounds
from inbounds.sklearn.data import forget, read_features
from inbounds.sklearn.statistics import release_statistics
from inbounds.unit import Adjacency

with optional():
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils.validation import check_is_fitted


class PrivateStandardScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Subtract released means from features, and divide by the roots of released variances.

    Fitting releases one mean and one variance of each feature by `inbounds.summarize`. Each row
    must be about one person.

    Parameters
    ----------
    lower, upper
        Public bounds: numbers, or one number for each feature. For the statistics, values outside
        are moved to the nearest bound.
    epsilon
        The epsilon of everything that is released by one `fit`.
    delta
        The delta that goes with `epsilon`. If it is 0, the guarantee is pure epsilon.
    rho
        The rho of everything that is released by one `fit`, in place of `epsilon`.
    with_mean, with_std
        Whether to subtract means and to divide by standard deviations. What is not needed is not
        released.
    adjacency
        Which data are neighbours, as in `inbounds.summarize`.
    size
        A public upper bound on the number of rows, which ``adjacency="add-remove"`` needs.
    ledger
        A `Ledger` that each `fit` charges once, before anything is drawn. The unit of the charge is
        ``Unit(adjacency, "row")``.
    dataset
        The dataset of the ledger whose budget is charged.
    label
        A note for the history of the ledger.

    Attributes
    ----------
    mean_, var_ : numpy.ndarray or None
        The released means and variances; None if they are not used.
    scale_ : numpy.ndarray or None
        What features are divided by: the roots of `var_`. Where a released variance is no larger
        than its own standard error, it says nothing but that the feature varies little, and the
        scale is the standard deviation of values spread evenly between the bounds.
    summary_ : pandas.DataFrame
        All that was released, with standard errors and intervals.
    n_features_in_, feature_names_in_
        The number of features, and their names, if they have any.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        When it is fitted: if a parameter is not valid, or the data hold anything but finite
        numbers. No message shows a value of the data.
    BudgetExceededError
        If the ledger has no room for the charge. Nothing is charged or drawn then.

    See Also
    --------
    sklearn.preprocessing.StandardScaler : The same with the true means and variances.
    inbounds.summarize : What releases them.

    Guarantees
    ----------
    The attributes of a fitted scaler are one release at `epsilon` (and `delta`), or at `rho`, for
    any two arrays that are neighbours, and nothing else of the data is stored
    (docs/proofs/sklearn.md, theorem 3). Each `fit` is another release. **What** `transform`
    **returns is not private**: it is computed from the features that it was given, and draws
    nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from inbounds.sklearn import PrivateStandardScaler
    >>> ages = np.array([[17.0], [41.0], [68.0]] * 200)
    >>> scaler = PrivateStandardScaler(lower=0, upper=120, epsilon=5.0).fit(ages)
    >>> bool(38 < scaler.mean_[0] < 46), bool(10 < scaler.scale_[0] < 35)
    (True, True)
    >>> np.allclose(scaler.inverse_transform(scaler.transform(ages)), ages)
    True
    """

    def __init__(
        self,
        *,
        lower: Any = None,
        upper: Any = None,
        epsilon: float | None = None,
        delta: float = 0.0,
        rho: float | None = None,
        with_mean: bool = True,
        with_std: bool = True,
        adjacency: Adjacency = "replace",
        size: int | None = None,
        ledger: Any = None,
        dataset: str | None = None,
        label: str | None = None,
    ) -> None:
        self.lower = lower
        self.upper = upper
        self.epsilon = epsilon
        self.delta = delta
        self.rho = rho
        self.with_mean = with_mean
        self.with_std = with_std
        self.adjacency = adjacency
        self.size = size
        self.ledger = ledger
        self.dataset = dataset
        self.label = label

    def fit(self, X: Any, y: Any = None) -> PrivateStandardScaler:
        """Release means and variances, at the cost of the guarantee."""
        forget(self)
        makers = self._statistics()
        numbers = read_features(self, X, reset=True)
        count = self.n_features_in_
        bounds = check_bounds(self.lower, self.upper, count)
        ends = list(zip(range(count), *map(np.ndarray.tolist, bounds), strict=True))
        statistics = [make(i, low, high) for make in makers for i, low, high in ends]
        about = f"{' and '.join(f'{make.__name__}s' for make in makers)} of {count} features"
        self.summary_ = release_statistics(self, numbers, statistics, about)
        self._read(bounds)
        return self

    def transform(self, X: Any) -> Any:
        """Return scaled features: **they are not private**."""
        check_is_fitted(self, "mean_")
        numbers = read_features(self, X, reset=False)
        if self.mean_ is not None:
            numbers -= self.mean_
        return numbers if self.scale_ is None else numbers / self.scale_

    def inverse_transform(self, X: Any) -> Any:
        """Return features as they were before they were scaled."""
        check_is_fitted(self, "mean_")
        numbers = read_features(self, X, reset=False)
        if self.scale_ is not None:
            numbers *= self.scale_
        return numbers if self.mean_ is None else numbers + self.mean_

    def _statistics(self) -> list[Any]:
        """Return functions that make the statistics which are used."""
        makers = [
            make
            for make, used in (
                (mean, _check.yes_or_no(with_mean=self.with_mean)),
                (variance, _check.yes_or_no(with_std=self.with_std)),
            )
            if used
        ]
        if not makers:
            raise ArgumentError.must_be("with_mean or with_std", "True")
        return makers

    def _read(self, bounds: Bounds) -> None:
        """Set the attributes from the summary."""

        def column(statistic: str, name: str) -> Floats:
            rows = self.summary_[self.summary_["statistic"] == statistic]
            return np.asarray(rows[name].to_numpy(np.float64))

        self.mean_ = column("mean", "value") if self.with_mean else None
        self.var_ = self.scale_ = None
        if self.with_std:
            self.var_ = column("variance", "value")
            known = self.var_ > column("variance", "standard_error")
            evenly = bounds.widths / math.sqrt(12)
            self.scale_ = np.where(known, np.sqrt(self.var_), evenly)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags
