"""How far answers are from values, over the whole box: the facts a comparison is made of."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from inbounds._check import Floats
from inbounds.mechanisms.mechanism import Mechanism

_NODES, _WEIGHTS = (side / 2 for side in np.polynomial.legendre.leggauss(32))
_NODES = _NODES + 0.5  # on [0, 1]
_EDGE = 12.0  # scales from a bound, beyond which noise hardly feels it


@dataclass(frozen=True, slots=True)
class Error:
    """Error of the answers of one mechanism, over values anywhere in the box.

    With several coordinates the squared error is averaged over them; bias and bound mass are those
    of the coordinate where they are largest.
    """

    worst_rmse: float
    average_rmse: float
    worst_bias: float
    bound_mass: float

    @classmethod
    def of(cls, mechanism: Mechanism) -> Self:
        """Integrate over values: by symmetry the lower half of the box, its edge by itself.

        Examples
        --------
        >>> import inbounds as ib
        >>> error = Error.of(ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=1e6))
        >>> round(error.average_rmse, 6), round(error.worst_rmse, 6)  # √(1/6) and √(1/3): uniform
        (0.408248, 0.57735)
        """
        scales, widths = mechanism._scales, mechanism.domain.widths
        edge = np.minimum(_EDGE * scales / widths, 0.5)
        places = [(np.zeros_like(edge), 0.0), (np.full_like(edge, 0.5), 0.0)]
        for start, length in ((0.0, edge), (edge, 0.5 - edge)):
            places += [
                (start + length * node, 2 * length * weight)
                for node, weight in zip(_NODES, _WEIGHTS, strict=True)
            ]
        average, worst = np.zeros_like(edge), np.zeros_like(edge)
        worst_bias, bound_mass = 0.0, 0.0
        for share, weight in places:
            values = _values(mechanism, share)
            mse = np.atleast_1d(mechanism.mse(values))
            average, worst = average + weight * mse, np.maximum(worst, mse)
            worst_bias = max(worst_bias, float(np.abs(mechanism.bias(values)).max()))
            bound_mass = max(bound_mass, float(np.max(sum(mechanism.mass_at_bounds(values)))))
        return cls(
            float(np.sqrt(worst.mean())), float(np.sqrt(average.mean())), worst_bias, bound_mass
        )


def _values(mechanism: Mechanism, share: Floats) -> Floats:
    box = mechanism.domain
    values: Floats = np.asarray(box.lower + (np.asarray(box.upper) - box.lower) * share)
    return values.reshape(()) if box.is_interval else values
