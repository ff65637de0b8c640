"""Estimators of scikit-learn that learn from private values.

`Privatizer` makes features private, `PrivateLabels` makes labels private, and
`PrivateStandardScaler` and `PrivateSimpleImputer` learn from released statistics.

>>> from inbounds.sklearn import PrivateStandardScaler
>>> PrivateStandardScaler(lower=0, upper=120, epsilon=1.0)
PrivateStandardScaler(epsilon=1.0, lower=0, upper=120)
"""

from typing import TYPE_CHECKING

from inbounds._lazy import loader

if TYPE_CHECKING:
    from inbounds.sklearn.imputer import PrivateSimpleImputer
    from inbounds.sklearn.label import PrivateLabels
    from inbounds.sklearn.privatizer import Privatizer
    from inbounds.sklearn.scaler import PrivateStandardScaler

__all__ = ["PrivateLabels", "PrivateSimpleImputer", "PrivateStandardScaler", "Privatizer"]

if not TYPE_CHECKING:  # they need scikit-learn
    __getattr__ = loader(
        __name__,
        {
            "inbounds.sklearn.imputer": ["PrivateSimpleImputer"],
            "inbounds.sklearn.label": ["PrivateLabels"],
            "inbounds.sklearn.privatizer": ["Privatizer"],
            "inbounds.sklearn.scaler": ["PrivateStandardScaler"],
        },
    )
