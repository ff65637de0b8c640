"""Private features and labels, read as arrays; errors show none of their values.

The checks of scikit-learn convert values, and their messages may show one of them ("could not
convert string to float"). Values are therefore converted here. What scikit-learn checks afterwards
are numbers of rows and columns, and names.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from inbounds._extra import optional
from inbounds._kind import is_real
from inbounds._number import as_double, refuse_masked
from inbounds._types import Floats
from inbounds.errors import ArgumentError, ArgumentTypeError

with optional():
    from sklearn.utils.validation import check_array, validate_data

_LARGEST = float(np.finfo(np.float64).max)


def forget(estimator: Any) -> None:
    """Remove what an earlier fit learned, so that a fit that fails leaves nothing half new.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> model = SimpleNamespace(epsilon=1.0, mean_=3.0)
    >>> forget(model)
    >>> vars(model)
    {'epsilon': 1.0}
    """
    for name in [name for name in vars(estimator) if name.endswith("_") and name[0] != "_"]:
        delattr(estimator, name)


def read_features(estimator: Any, X: Any, *, reset: bool, nulls: bool = False) -> Floats:
    """Return features as a new array of doubles, and note or compare their number and names.

    Parameters
    ----------
    estimator
        The estimator that they are for, whose ``n_features_in_`` and ``feature_names_in_`` are set
        if `reset`, and compared otherwise.
    X
        An array, a frame or a list of rows.
    nulls
        Whether nulls are allowed; they become NaN.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> read_features(BaseEstimator(), [["17"]], reset=True)
    Traceback (most recent call last):
    inbounds.errors.ArgumentTypeError: X must hold real numbers.
    """
    numbers = as_doubles(X, "X")
    if numbers.ndim != 2:  # the message of scikit-learn shows the values
        got, hint = (
            f"{numbers.ndim} dimensions",
            "Reshape your data: X.reshape(-1, 1) has one feature.",
        )
        raise ArgumentError.must("X", "have rows and columns", got=got, hint=hint)
    check_array(numbers, input_name="X", estimator=estimator, dtype=None, ensure_all_finite=False)
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    if nulls and np.isinf(numbers).any():
        raise ArgumentError.must_be("X", "without infinities (inf); NaN is a null")
    if not nulls and not np.isfinite(numbers).all():
        hint = "inbounds.sklearn.PrivateSimpleImputer fills in nulls."
        raise ArgumentError.must_be(
            "X", "finite, without NaN, nulls and infinities (inf)", hint=hint
        )
    return numbers


def as_doubles(values: Any, name: str) -> Floats:
    """Return numbers as a new array of doubles; None and other nulls become NaN.

    A number beyond all doubles becomes the largest one. `name` is the argument that errors name.

    Examples
    --------
    >>> as_doubles([[1, None], [True, 10**400]], "X").tolist()
    [[1.0, nan], [1.0, 1.7976931348623157e+308]]
    """
    array = as_array(values, name)
    kind = array.dtype.kind
    if kind == "O":
        return _of_objects(array.ravel().tolist(), name).reshape(array.shape)
    if kind not in "biuf":
        raise ArgumentTypeError.must(name, "hold real numbers")
    if array.dtype.itemsize > 8:
        array = np.where(np.isfinite(array), np.clip(array, -_LARGEST, _LARGEST), array)
    return array.astype(np.float64)


def as_array(values: Any, name: str) -> NDArray[Any]:
    """Return anything like an array as one, without a message of NumPy about its values.

    Examples
    --------
    >>> as_array([[1], [2, 3]], "X")
    Traceback (most recent call last):
    inbounds.errors.ArgumentError: X must be an array, a frame or a list of rows of one length.
    """
    if issparse(values):
        hint = f"{name}.toarray() makes it dense."
        raise ArgumentTypeError.must_be(name, "dense, not a sparse matrix", hint=hint)
    refuse_masked(name, values)
    try:
        array = np.asarray(values)
    except Exception:  # its message may hold values, so ours is raised outside this handler
        array = None
    if array is None:
        raise ArgumentError.must_be(name, "an array, a frame or a list of rows of one length")
    if array.dtype.kind == "c":
        message = f"Complex data not supported: {name} must hold real numbers."
        raise ArgumentError(message, argument=name)
    return array


def _of_objects(values: Iterable[Any], name: str) -> Floats:
    """Return objects as doubles; a number that is too large becomes the largest double."""
    doubles = [_double(value) for value in values]
    if None in doubles:
        raise ArgumentTypeError.must(name, "hold real numbers")
    return np.array(doubles, np.float64)


def _double(value: Any) -> float | None:
    """Return a number as a double, a null as NaN, and None for anything else."""
    if value is None or type(value).__name__ == "NAType":
        return np.nan
    if not (is_real(type(value)) or isinstance(value, bool | np.bool_)):
        return None
    try:
        return as_double(value)
    except OverflowError:
        return _LARGEST if value > 0 else -_LARGEST
    except Exception:  # a foreign object may raise anything
        return None
