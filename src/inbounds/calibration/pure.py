"""The sigma of a bounded Gaussian for a pure epsilon, by each method and scaling."""

from functools import lru_cache
from typing import Literal

import numpy as np

from inbounds import _check
from inbounds._types import Floats
from inbounds.calibration import liu, paper
from inbounds.calibration.exact import PureLoss, pure_loss, smallest_sigma, split_by_width
from inbounds.errors import ArgumentError, Hint
from inbounds.numerics.doubles import power_of_two_below
from inbounds.numerics.partition import ROUNDING
from inbounds.numerics.search import next_admissible
from inbounds.sensitivity import Sensitivity

PureMethod = Literal["exact", "paper", "liu"]
Scaling = Literal["isotropic", "width"]


def sigma_for_epsilon(
    widths: Floats,
    sensitivity: Sensitivity,
    epsilon: float,
    method: PureMethod = "exact",
    scaling: Scaling = "isotropic",
) -> tuple[Floats, PureLoss]:
    """Return one sigma per coordinate, and the loss that proves their epsilon."""
    if method != "exact" and scaling != "isotropic":
        raise _check.refusal(f"'isotropic' for method={method!r}", scaling=scaling)
    if method == "liu" and widths.size > 1 and not sensitivity.has_caps:
        raise ArgumentError.must(
            "sensitivity",
            "bound every coordinate for method='liu'",
            got=f"sensitivity={sensitivity!r}",
            hint=Hint("use {} or {}.", "PerCoordinate([...])", "LInf(...)"),
        )
    reach = sensitivity.within(widths)
    if scaling == "width" and widths.size > 1:
        if reach.order is not None:
            return smallest_sigma(widths, reach, widths, epsilon)
        sigma = split_by_width(widths, reach.caps, epsilon)
    elif method == "exact":
        return smallest_sigma(widths, reach, np.ones_like(widths), epsilon)
    else:
        power = power_of_two_below(float(widths.max()))  # squares stay in range
        if method == "paper":
            scale = paper.sigma(widths / power, (reach / power).diameter, epsilon)
        else:
            scale = liu.sigma(widths / power, reach / power, epsilon)
        sigma = np.full_like(widths, scale * power)

    @lru_cache(maxsize=1)
    def loss(factor: float) -> PureLoss:
        return pure_loss(widths, reach, factor * sigma)

    # Where a method is nearly tight, rounding is covered; epsilon is proportional to 1/sigma².
    factor = next_admissible(1.0, lambda factor: loss(factor).epsilon <= epsilon, step=ROUNDING / 2)
    return factor * sigma, loss(factor)
