"""Gauss–Legendre quadrature."""

import numpy as np

from inbounds._types import Floats


def unit_rule(points: int) -> tuple[Floats, Floats]:
    """Return the nodes and weights of the rule on [0, 1] with a number of points.

    Examples
    --------
    >>> nodes, weights = unit_rule(3)
    >>> round(float(weights @ nodes**5), 15)  # 1/6: exact up to the power 2 * points - 1
    0.166666666666667
    """
    nodes, weights = np.polynomial.legendre.leggauss(points)
    return (nodes + 1) / 2, weights / 2
