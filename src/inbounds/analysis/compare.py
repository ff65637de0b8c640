"""Every bounded mechanism at the same guarantee, and which of them has the lowest error."""

from __future__ import annotations

import numpy as np

from inbounds._entry import entry
from inbounds._types import Number
from inbounds.analysis.calibrate import calibrations, published
from inbounds.analysis.comparison import Comparison, Contender
from inbounds.analysis.criterion import (
    CRITERIA,
    Criterion,
    check_criterion,
    check_people,
    check_setting,
    rank,
)
from inbounds.analysis.error import ErrorSummary
from inbounds.calibration.objective import Objective
from inbounds.domain import Box
from inbounds.guarantee import Guarantee, check_delta
from inbounds.mechanisms.bounded_gaussian import BoundedGaussian
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.sensitivity import Sensitivity, as_sensitivity

__all__ = ["CRITERIA", "Comparison", "Contender", "Criterion", "compare"]

_ONE_OUTPUT: tuple[Objective, ...] = ("average", "worst")
_MANY_PEOPLE: tuple[Objective, ...] = ("average", "unbiased")


@entry("compare", criterion="compare(...).best(criterion) picks the best by a criterion.")
def compare(
    domain: Box,
    sensitivity: Sensitivity | Number,
    *,
    epsilon: float | None = None,
    delta: float = 0.0,
    rho: float | None = None,
    people: int | None = None,
) -> Comparison:
    """Calibrate every mechanism to the same guarantee and compare the errors of their outputs.

    Parameters
    ----------
    domain
        The box that values and outputs live in.
    sensitivity
        What one neighbour may change.
    epsilon
        The epsilon of the guarantee. It is pure epsilon, unless a `delta` is given.
    delta
        The delta to allow beside `epsilon`. A mechanism that gives pure epsilon gives
        (epsilon, delta), too.
    rho
        The zero-concentrated guarantee, in place of `epsilon`.
    people
        In local privacy: the number of people, who release one value each. Mechanisms are then
        ranked by the error of their mean, estimated by the best function of an output. The error of
        the mean from `deconvolve`, whose interval covers even the bias, is within about a quarter,
        and the same for mechanisms with an unbiased reading.

    Returns
    -------
    Comparison

    Raises
    ------
    ArgumentError
        If a number is out of its range, or `people` is given for a box of several coordinates.
    ArgumentTypeError
        If `domain` is not a `Box`, or not exactly one of `epsilon` and `rho` is given.

    See Also
    --------
    calibrate : The best mechanism, ready to use.
    limit : How low the error of any mechanism can be.
    regimes : The best mechanism for many guarantees and sensitivities.

    Notes
    -----
    Every scale was evaluated and found to give the guarantee (docs/proofs/search.md, theorem 1).
    Errors are computed, not simulated: docs/proofs/moments.md, theorems 1, 3 and 4, and with
    `people` docs/proofs/deconvolution.md, theorem 7. No private mechanism of one number has a lower
    error than the limit (docs/proofs/limit.md, theorem 2).

    Examples
    --------
    >>> import inbounds as ib
    >>> result = ib.compare(ib.Box([0, 1], [10, 9]), ib.PerCoordinate([4, 2]), epsilon=1.0)
    >>> result.best().name
    'BoundedGaussian'
    >>> result["ClampedLaplace"].error.average_rmse > result.best().error.average_rmse
    True
    >>> ib.compare(ib.Box(0, 200_000), 200_000, epsilon=1.0, people=100_000).best().name
    'Optimal (unbiased)'
    """
    guarantee = Guarantee(epsilon, check_delta(delta), rho)
    check_setting(domain)
    sensitivity = as_sensitivity(sensitivity)
    people = check_people(people, domain)
    objectives = _ONE_OUTPUT if people is None else _MANY_PEOPLE
    named = dict(calibrations(domain, sensitivity, guarantee, objectives))
    if guarantee.epsilon is not None:
        named |= dict(published(domain, sensitivity, guarantee.epsilon))
    liu = named.get("BoundedGaussian (Liu)")
    contenders = [
        Contender(name, m, ErrorSummary.of(m, people), _true_epsilon(m, guarantee), _below(m, liu))
        for name, m in named.items()
    ]
    criterion = check_criterion(None, people)
    contenders.sort(key=lambda contender: rank(contender.error, criterion))
    return Comparison(
        domain,
        sensitivity,
        guarantee.epsilon,
        guarantee.delta or 0.0,
        tuple(contenders),
        ErrorSummary.of_middle(domain, people),
        guarantee.rho,
        people,
    )


def _true_epsilon(mechanism: Mechanism, guarantee: Guarantee) -> float:
    if guarantee.rho is not None:
        return mechanism.epsilon
    epsilon, delta = guarantee.pair
    return min(epsilon, mechanism.epsilon_at(delta))


def _below(mechanism: Mechanism, liu: Mechanism | None) -> float | None:
    if liu is None or not isinstance(mechanism, BoundedGaussian):
        return None
    mine, its = (float(np.mean(m.spread**2)) for m in (mechanism, liu))
    return 100 * (1 - mine / its)
