"""Features that are made private once, when a model is fitted (docs/proofs/sklearn.md, item 1)."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from inbounds._entry import warn_if_weak
from inbounds._extra import optional
from inbounds._types import Floats
from inbounds.accounting.composition import Composition, compose
from inbounds.analysis.calibrate import calibrate
from inbounds.domain import Box
from inbounds.guarantee import Guarantee, check_delta
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.sensitivity import PerCoordinate
from inbounds.sklearn.bound import check_bounds
from inbounds.sklearn.charge import ROW, check_ledger, label_of, release_rows
from inbounds.sklearn.data import read_features

with optional():
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils.validation import check_is_fitted


_NODES = 128  # values, and levels of their outputs, at which mechanisms are compared


class Privatizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Replace features by private outputs when a model is fitted, and never again.

    This is local privacy: every row is released by itself, and each row must be about one person.
    In a `Pipeline`, fitting draws private features once, and predicting uses features as they are.

    Parameters
    ----------
    lower, upper
        Public bounds: numbers, or one number for each feature. Values outside are moved to the
        nearest bound.
    epsilon, delta, rho
        The guarantee of a whole row, all its features together: `epsilon`, `epsilon` and `delta`,
        or `rho`. For many features it leaves little for each of them.
    ledger, dataset, label
        A `Ledger` that is charged by each call of `fit_transform`, before anything is drawn; the
        dataset to charge there; and a label for the charge. The unit is ``Unit("replace", "row")``.

    Attributes
    ----------
    mechanism_ : Mechanism
        What releases the features, as numbers from 0 to 1: each number by itself if it is on an
        interval, and otherwise all numbers of a row together.
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
    (docs/proofs/sklearn.md, item 1). A model that is fitted to them, its parameters and its
    predictions have the same guarantee. The order of rows, the number of rows and the labels are
    not protected.

    **Each call of** `fit_transform` **is another release**, which costs as much again: five folds
    of a cross-validation release each row four times. A ledger counts them. To release once, call
    `fit_transform` before the cross-validation.

    **What** `transform` **returns is not private**: these are the values that it was given. It is
    meant for data of people who ask for a prediction themselves. `fit` draws nothing, so that
    ``fit(X).transform(X)`` is X itself, which differs from ``fit_transform(X)``.

    Nothing of the data is stored. ``Pipeline(memory=...)`` is not our code and writes parts of what
    it is given to disk.

    Notes
    -----
    Features become numbers from 0 to 1. Of the mechanisms that release each number at an equal part
    of the guarantee, and those that release a row jointly, the one with the lowest average error is
    used. What is returned are the expected true values given the outputs, as
    `Mechanism.denoise` reads them: they are in the bounds, and the less an output says, the closer
    they are to the middle. If a feature is spread evenly between its bounds, a linear model of it
    has about the right slope; if it varies less than that, the slope is too small. Bounds that fit
    the features well matter most: at a small epsilon, an output says little more than on which side
    of the middle a value is.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.pipeline import make_pipeline
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
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Return private features, which is one release of every row."""
        numbers = self._prepare(X)
        bounds = check_bounds(self.lower, self.upper, self.n_features_in_)
        outputs = self._release(bounds.to_unit(numbers))
        readings = np.asarray(self.mechanism_.denoise(outputs))
        return np.clip(bounds.from_unit(readings), bounds.lower, bounds.upper)

    def transform(self, X: Any) -> Any:
        """Return the features as they are, as an array of doubles: **they are not private**."""
        check_is_fitted(self)
        return read_features(self, X, reset=False)

    @property
    def row_guarantee_(self) -> Composition:
        """What one release costs the person that a row is about."""
        check_is_fitted(self)
        count = self.n_features_in_ if self.mechanism_.domain.is_interval else 1
        return compose([(self.mechanism_, count)], unit=ROW)

    def _prepare(self, X: Any) -> Floats:
        guarantee = Guarantee(self.epsilon, check_delta(self.delta), self.rho)
        warn_if_weak(epsilon=self.epsilon, delta=self.delta, rho=self.rho)
        check_ledger(self)
        numbers = read_features(self, X, reset=True)
        check_bounds(self.lower, self.upper, self.n_features_in_)
        self.mechanism_ = row_mechanism(self.n_features_in_, guarantee)
        return numbers

    def _release(self, places: Floats) -> Floats:
        """Release rows of numbers from 0 to 1, after the charge of one row."""
        count, mechanism = places.shape[1], self.mechanism_
        about = f"{count} features of each row"
        if self.ledger is None or count == 1 or not mechanism.domain.is_interval:
            return np.asarray(release_rows(self, mechanism, places, about))
        # Each number is a release of its own, and all of a row together have the guarantee.
        cost = {"epsilon": self.epsilon} if self.rho is None else {"rho": self.rho}
        label = label_of(self, about)
        self.ledger.spend(self.dataset, **cost, label=label, unit=ROW)
        return np.asarray(mechanism.release(places))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags


@lru_cache(maxsize=64)
def row_mechanism(count: int, guarantee: Guarantee) -> Mechanism:
    """Return the mechanism that releases rows of `count` numbers from 0 to 1 with the least error.

    Examples
    --------
    >>> row_mechanism(2, Guarantee(epsilon=1.0))
    Optimal(Box(0, 1), L2(1), epsilon=0.5, objective='average')
    >>> type(row_mechanism(50, Guarantee(epsilon=1.0, delta=1e-6))).__name__
    'BoundedGaussian'
    """
    if count == 1:
        return calibrate(Box(0, 1), 1, **guarantee.stated())
    name = "epsilon" if guarantee.rho is None else "rho"
    part: dict[str, Any] = {name: part_of(getattr(guarantee, name), count)}
    each = calibrate(Box(0, 1), 1, **part)
    if guarantee.is_pure:  # joint mechanisms would be products of others, with a larger error
        return each
    rows = Box([0.0] * count, [1.0] * count)
    joint = calibrate(rows, PerCoordinate([1.0] * count), **guarantee.stated())
    of_one = type(joint)(
        Box(0, 1), PerCoordinate([1.0]), **joint.parameters
    )  # the same noise in each coordinate
    return joint if explained(of_one) > explained(each) else each


def explained(mechanism: Mechanism) -> float:
    """Return how much of the variance of values is left in what is read from outputs, about.

    The values are spread evenly from 0 to 1. With x such a value and r what is read from its
    output, the squared error of r is Var(x) - Var(r), because r is the mean of x given the output.

    Examples
    --------
    >>> from inbounds.mechanisms.bounded_gaussian import BoundedGaussian
    >>> few, many = (explained(BoundedGaussian(Box(0, 1), 1, s)) for s in (3.0, 0.01))
    >>> 0 < few < 0.02, 0.99 < many < 1.01
    (True, True)
    """
    middles = (np.arange(_NODES) + 0.5) / _NODES
    outputs = [mechanism.quantile(level, middles) for level in middles.tolist()]
    return float(np.var(mechanism.denoise(np.array(outputs))) * 12)


def part_of(amount: float, count: int) -> float:
    """Return a part of an amount, of which `count` parts are no more than it, exactly.

    Examples
    --------
    >>> part_of(1.0, 3) * 3 <= 1.0
    True
    """
    part = amount / count
    while Fraction(part) * count > Fraction(amount):
        part = math.nextafter(part, 0.0)
    return part
