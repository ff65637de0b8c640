"""Labels that are made private once, when a model is fitted."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inbounds._entry import warn_if_weak
from inbounds._extra import optional
from inbounds._types import Floats
from inbounds.domain import Box
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.frames.central.charge import check_ledger
from inbounds.guarantee import check_epsilon
from inbounds.mechanisms.level import codes_of
from inbounds.mechanisms.optimal import Optimal
from inbounds.mechanisms.randomized_response import RandomizedResponse
from inbounds.sklearn.bound import check_bounds
from inbounds.sklearn.charge import release_rows
from inbounds.sklearn.data import as_array, as_doubles, forget

with optional():
    from sklearn import get_config
    from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
    from sklearn.exceptions import DataConversionWarning
    from sklearn.utils import get_tags
    from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.validation import check_consistent_length, check_is_fitted

_LARGEST = 20.0  # the error is below a hundredth of the width there, and tables grow
_METHODS = ("fit", "predict", "predict_proba", "predict_log_proba", "decision_function", "score")


def _has(name: str) -> Callable[[Any], bool]:
    """Return a check whether the model has a method, which is an AttributeError if it has not."""

    def check(labels: Any) -> bool:
        getattr(getattr(labels, "estimator_", labels.estimator), name)
        return True

    return check


class PrivateLabels(MetaEstimatorMixin, BaseEstimator):
    """Fit a model to private labels.

    This is local privacy for labels: each of them is released by itself, once for each `fit`, and
    the model never sees the true ones. Each row must be about one person.

    Parameters
    ----------
    estimator
        A classifier or a regressor. A clone of it is fitted.
    levels
        For classes: all possible labels, which are texts, integers or booleans. They are published.
        Labels are released by `RandomizedResponse`.
    lower, upper
        For numbers, instead of `levels`: public bounds. Labels outside are moved to the nearest
        bound.
    epsilon
        The guarantee of one label: pure epsilon.
    ledger
        A `Ledger` that each `fit` charges, before anything is drawn. The unit of the charge is
        ``Unit("replace", "row")``.
    dataset
        The dataset of the ledger whose budget is charged.
    label
        A note for the history of the ledger.

    Attributes
    ----------
    estimator_
        The model, fitted to private labels.
    labels_ : numpy.ndarray
        The private labels. They were paid for, so they are there even if the model could not be
        fitted to these features, and other models may be fitted to them at no cost.
    mechanism_ : RandomizedResponse or Optimal
        What released the labels; numbers are released as numbers from 0 to 1.
    classes_, n_features_in_, feature_names_in_
        Those of the model, if it has them.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        When it is fitted: if a parameter is not valid, or a label is none of the levels, or no
        finite number. No message shows a label.
    BudgetExceededError
        If the ledger has no room for the charge. Nothing is charged or drawn then.

    See Also
    --------
    Privatizer : private features instead.
    inbounds.RandomizedResponse, inbounds.Optimal : what releases the labels.

    Guarantees
    ----------
    A fitted model, its parameters and its predictions are computed from labels that were released
    at `epsilon` each: any change of one label changes the probability of any outcome by a factor of
    at most exp(`epsilon`) (docs/proofs/sklearn.md, theorem 2). **Features, weights of samples and
    the number of rows are not protected.** Nor is `score`, which compares predictions with the true
    labels that it is given: scores of a cross-validation are not private.

    **Each** `fit` **is another release**, which costs as much again, and which a ledger counts. A
    grid search over 10 settings with 5 folds fits 51 models and releases each label 41 times. To
    release once, make the labels private first, and search with the plain model:
    ``GridSearchCV(model, settings).fit(X, RandomizedResponse(levels, epsilon=1.0).release(y))``.

    Notes
    -----
    With k levels, a label stays as it is with the probability e^ε/(e^ε + k - 1), and all others are
    equally likely. The most frequent class stays the most frequent one on average, but classes are
    harder to tell apart, and ``predict_proba`` gives the probabilities of private labels.

    Numbers are released by ``Optimal(..., objective="unbiased")``, and the model is fitted to
    unbiased readings of the outputs. Their expectation is the true label, so that a regression
    estimates what it would estimate from the true labels, with a larger variance. Readings may be
    outside the bounds. An epsilon above 20 gives no more than 20 does.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from inbounds.sklearn import PrivateLabels
    >>> X, y = np.arange(200.0)[:, None] / 200, np.repeat(["no", "yes"], 100)
    >>> model = PrivateLabels(LogisticRegression(), levels=["no", "yes"], epsilon=3.0).fit(X, y)
    >>> model.predict([[0.0], [1.0]])
    array(['no', 'yes'], dtype='<U3')
    """

    def __init__(
        self,
        estimator: Any,
        *,
        levels: Any = None,
        lower: float | None = None,
        upper: float | None = None,
        epsilon: float | None = None,
        ledger: Any = None,
        dataset: str | None = None,
        label: str | None = None,
    ) -> None:
        self.estimator = estimator
        self.levels = levels
        self.lower = lower
        self.upper = upper
        self.epsilon = epsilon
        self.ledger = ledger
        self.dataset = dataset
        self.label = label

    def fit(self, X: Any, y: Any, **params: Any) -> PrivateLabels:
        """Release the labels, and fit the model to them; `params` are routed to its ``fit``."""
        if y is None:
            name = type(self).__name__
            raise ArgumentError(f"{name} requires y to be passed, but the target y is None.")
        if self.epsilon is None:
            raise ArgumentTypeError.must_be("epsilon", "given")
        epsilon = check_epsilon(self.epsilon)
        warn_if_weak(epsilon=epsilon, delta=None, rho=None)
        check_ledger(self.ledger, self.dataset, self.label, "release")
        routed = self._routed("fit", params)
        labels = one_dimension(y)
        check_consistent_length(X, labels)
        forget(self)
        self.labels_ = private = self._release(labels, epsilon)  # kept, even if the model fails
        self.estimator_ = clone(self.estimator).fit(X, private, **routed)
        for name in ("classes_", "n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    @available_if(_has("predict"))
    def predict(self, X: Any, **params: Any) -> Any:
        """Return the model's predictions; nothing is drawn."""
        return self._call("predict", X, params)

    @available_if(_has("predict_proba"))
    def predict_proba(self, X: Any, **params: Any) -> Any:
        """Return the model's probabilities of private labels; nothing is drawn."""
        return self._call("predict_proba", X, params)

    @available_if(_has("predict_log_proba"))
    def predict_log_proba(self, X: Any, **params: Any) -> Any:
        """Return logarithms of the model's probabilities of private labels."""
        return self._call("predict_log_proba", X, params)

    @available_if(_has("decision_function"))
    def decision_function(self, X: Any, **params: Any) -> Any:
        """Return what the model decides by; nothing is drawn."""
        return self._call("decision_function", X, params)

    @available_if(_has("score"))
    def score(self, X: Any, y: Any, **params: Any) -> Any:
        """Return the model's score for the labels `y` as they are: **it is not private**."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.score(X, y, **self._routed("score", params))

    def _call(self, method: str, X: Any, params: dict[str, Any]) -> Any:
        check_is_fitted(self, "estimator_")
        return getattr(self.estimator_, method)(X, **self._routed(method, params))

    def _routed(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Return the metadata for a method of the model."""
        if not get_config()["enable_metadata_routing"]:
            return params
        routed: dict[str, Any] = process_routing(self, method, **params).estimator[method]
        return routed

    def get_metadata_routing(self) -> Any:
        """Return where metadata such as ``sample_weight`` go: to the model, as it requests them."""
        mapping = MethodMapping()
        for method in _METHODS:
            mapping.add(caller=method, callee=method)
        return MetadataRouter(owner=self).add(estimator=self.estimator, method_mapping=mapping)

    def _release(self, labels: NDArray[Any], epsilon: float) -> NDArray[Any]:
        """Return private labels, after the charge."""
        has_bounds = self.lower is not None or self.upper is not None
        if (self.levels is not None) == has_bounds:
            requirement = "given for classes, or lower and upper for numbers, and not both"
            raise ArgumentTypeError.must_be("levels", requirement)
        if has_bounds:
            return self._release_numbers(as_doubles(labels, "y"), epsilon)
        response = RandomizedResponse(self.levels, epsilon=epsilon)
        values = _whole(labels) if response.family == "integer" else labels
        self.mechanism_: Any = response
        codes = codes_of(values, response.levels, "y")  # refuses others before anything is charged
        known = np.array(response.levels)[codes]
        return np.asarray(release_rows(self, response, known, "labels"))

    def _release_numbers(self, labels: Floats, epsilon: float) -> Floats:
        if not np.isfinite(labels).all():
            raise ArgumentError.must_be("y", "finite, without NaN, nulls and infinities (inf)")
        bounds = check_bounds(self.lower, self.upper, 1)
        mechanism = self.mechanism_ = _unbiased(min(epsilon, _LARGEST))
        outputs = release_rows(self, mechanism, bounds.to_unit(labels), "labels")
        return bounds.from_unit(np.asarray(mechanism.unbiased(outputs)))

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.input_tags = inner.input_tags
        tags.target_tags.required = True
        tags.target_tags.multi_output = False
        tags.non_deterministic = True
        return tags


@lru_cache(maxsize=16)
def _unbiased(epsilon: float) -> Optimal:
    return Optimal.calibrated(Box(0, 1), 1, epsilon=epsilon, objective="unbiased")


def one_dimension(y: Any) -> NDArray[Any]:
    """Return labels as an array of one dimension.

    Examples
    --------
    >>> one_dimension(("no", "yes")).shape
    (2,)
    """
    array = as_array(y, "y")
    if array.ndim == 2 and array.shape[1] == 1:
        message = "A column-vector y was passed when a 1d array was expected."
        warnings.warn(DataConversionWarning(message), stacklevel=3)
        array = array.ravel()
    if array.ndim != 1:
        raise ArgumentError.must("y", "have one dimension", got=f"{array.ndim} dimensions")
    return array


def _whole(labels: NDArray[Any]) -> NDArray[Any]:
    """Return floats that are whole numbers as integers, and anything else as it is."""
    if labels.dtype.kind != "f" or not np.isfinite(labels).all():
        return labels
    is_whole = bool((labels == np.floor(labels)).all() and (np.abs(labels) < 2.0**62).all())
    return labels.astype(np.int64) if is_whole else labels
