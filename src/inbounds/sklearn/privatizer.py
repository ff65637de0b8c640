"""Features that are made private once, when a model is fitted."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from inbounds._entry import warn_caller, warn_if_weak
from inbounds._extra import optional
from inbounds._types import Floats
from inbounds.accounting.composition import Composition, compose
from inbounds.analysis.calibrate import calibrate
from inbounds.domain import Box
from inbounds.errors import NotPrivateWarning
from inbounds.frames.central.charge import check_ledger
from inbounds.frames.central.share import float_below, rho_within
from inbounds.guarantee import Guarantee, check_delta
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.sklearn.bound import check_bounds
from inbounds.sklearn.charge import ROW, RowRelease, release_rows
from inbounds.sklearn.data import forget, read_features

with optional():
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils.validation import check_is_fitted

_NOT_DRAWN = (
    "transform returns the values that it is given, and fit released nothing: they are not "
    "private.\nHint: fit_transform releases; for labels there is PrivateLabels."
)


class Privatizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Replace features by private outputs when a model is fitted, and never again.

    This is local privacy: every row is released by itself, and each row must be about one person.
    In a `Pipeline`, fitting draws private features once, and predicting uses features as they are.

    Parameters
    ----------
    lower, upper
        Public bounds: numbers, or one number for each feature. Values outside are moved to the
        nearest bound.
    epsilon
        The epsilon of a whole row, all its features together. For many features it leaves little
        for each of them.
    delta
        The delta that goes with `epsilon`. If it is 0, the guarantee is pure epsilon.
    rho
        The rho of a whole row, in place of `epsilon`.
    ledger
        A `Ledger` that is charged by each call of `fit_transform`, before anything is drawn. The
        unit of the charge is ``Unit("replace", "row")``.
    dataset
        The dataset of the ledger whose budget is charged.
    label
        A note for the history of the ledger.

    Attributes
    ----------
    mechanism_ : Mechanism
        What releases each feature, as a number from 0 to 1.
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
    PrivateLabels : private labels instead.
    inbounds.privatize : columns of data frames, including categories.

    Guarantees
    ----------
    The rows that `fit_transform` returns are private outputs at the guarantee for each row: any
    change of the features of one row changes the probability of any outcome by at most that
    (docs/proofs/sklearn.md, theorem 1). A model that is fitted to them, its parameters and its
    predictions have the same guarantee. The order of rows, the number of rows and the labels are
    not protected.

    **Each call of** `fit_transform` **is another release**, which costs as much again: five folds
    of a cross-validation release each row four times. A ledger counts them. To release once, call
    `fit_transform` before the cross-validation.

    **What** `transform` **returns is not private**: these are the values that it was given. It is
    meant for data of people who ask for a prediction themselves. `fit` draws nothing, so that
    ``fit(X).transform(X)`` is X itself, which differs from ``fit_transform(X)``. Pipelines and
    column transformers call the latter. ``TransformedTargetRegressor`` calls the former: for labels
    there is `PrivateLabels`.

    Nothing of the data is stored. ``Pipeline(memory=...)`` is not our code and writes parts of what
    it is given to disk.

    Notes
    -----
    Features become numbers from 0 to 1. Each is released with an equal part of the guarantee, by
    the mechanism that has the lowest error then. What is returned are the expected true values
    given the outputs, as `Mechanism.denoise` reads them: they are in the bounds, and the less an
    output says, the closer they are to the middle. If a feature is spread evenly between its
    bounds, a linear model of it has about the right slope; if it varies less than that, the slope
    is too small. Bounds that fit the features well matter most: at a small epsilon, an output says
    little more than on which side of the middle a value is.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from inbounds.sklearn import Privatizer
    >>> ages, pay = np.array([[17.0], [41.0], [68.0]] * 100), np.array([0.0, 3e4, 2e4] * 100)
    >>> model = make_pipeline(Privatizer(lower=0, upper=120, epsilon=2.0), LinearRegression())
    >>> predicted = model.fit(ages, pay).predict([[30.0]])
    >>> predicted == model.predict([[30.0]])
    array([ True])
    >>> outputs = Privatizer(lower=0, upper=120, epsilon=2.0).fit_transform(ages)
    >>> bool(((outputs >= 0) & (outputs <= 120)).all())
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
        ledger: Any = None,
        dataset: str | None = None,
        label: str | None = None,
    ) -> None:
        self.lower = lower
        self.upper = upper
        self.epsilon = epsilon
        self.delta = delta
        self.rho = rho
        self.ledger = ledger
        self.dataset = dataset
        self.label = label

    def fit(self, X: Any, y: Any = None) -> Privatizer:
        """Check the data and choose the mechanism; nothing is drawn, and nothing is charged."""
        self._prepare(X)
        self._drawn = False
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Return private features, which is one release of every row."""
        numbers = self._prepare(X)
        bounds = check_bounds(self.lower, self.upper, self.n_features_in_)
        outputs = self._release(bounds.to_unit(numbers))
        self._drawn = True
        readings = np.asarray(self.mechanism_.denoise(outputs))
        return np.clip(bounds.from_unit(readings), bounds.lower, bounds.upper)

    def transform(self, X: Any) -> Any:
        """Return the features as they are, as an array of doubles: **they are not private**."""
        check_is_fitted(self, "mechanism_")
        if not self._drawn:
            warn_caller(NotPrivateWarning(_NOT_DRAWN))
        return read_features(self, X, reset=False)

    @property
    def row_guarantee_(self) -> Composition:
        """What one release costs the person that a row is about."""
        check_is_fitted(self, "mechanism_")
        return compose([(self.mechanism_, self.n_features_in_)], unit=ROW)

    def _prepare(self, X: Any) -> Floats:
        forget(self)
        guarantee = self._guarantee()
        warn_if_weak(epsilon=self.epsilon, delta=self.delta, rho=self.rho)
        check_ledger(self.ledger, self.dataset, self.label, "release")
        numbers = read_features(self, X, reset=True)
        check_bounds(self.lower, self.upper, self.n_features_in_)
        self.mechanism_ = part_mechanism(self.n_features_in_, guarantee)
        return numbers

    def _release(self, places: Floats) -> Floats:
        """Release rows of numbers from 0 to 1, after the charge of one row."""
        count, asked = places.shape[1], self._guarantee()
        row = RowRelease(self.mechanism_, count, asked)
        return np.asarray(release_rows(self, row, places, f"{count} features of each row"))

    def _guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, check_delta(self.delta), self.rho)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags


@lru_cache(maxsize=64)
def part_mechanism(count: int, guarantee: Guarantee) -> Mechanism:
    """Return the mechanism for numbers from 0 to 1, of which `count` have the guarantee together.

    Noise for all numbers at once has at least twice the error, for all guarantees that were tried.
    Proof: docs/proofs/sklearn.md, theorem 1.

    Examples
    --------
    >>> part_mechanism(2, Guarantee(epsilon=1.0))
    Optimal(Box(0, 1), L2(1), epsilon=0.5, objective='average')
    >>> with_delta = part_mechanism(100, Guarantee(epsilon=1.0, delta=1e-6))
    >>> with_delta.epsilon > 2 * part_mechanism(100, Guarantee(epsilon=1.0)).epsilon
    True
    """
    if count == 1:
        return calibrate(Box(0, 1), 1, **guarantee.stated())
    wholes = [guarantee]
    if guarantee.rho is None and guarantee.delta is not None:
        epsilon, delta = guarantee.pair
        wholes = [Guarantee(epsilon), Guarantee(rho=rho_within(epsilon, delta))]
    candidates = [
        calibrate(
            Box(0, 1),
            1,
            epsilon=None if whole.epsilon is None else part_of(whole.epsilon, count),
            rho=None if whole.rho is None else part_of(whole.rho, count),
        )
        for whole in wholes
    ]
    return max(candidates, key=lambda mechanism: mechanism.epsilon)


def part_of(amount: float, count: int) -> float:
    """Return a part of an amount, of which `count` parts are no more than it, exactly.

    Examples
    --------
    >>> part_of(1.0, 3) * 3 <= 1.0
    True
    """
    return float_below(Fraction(amount) / count)
