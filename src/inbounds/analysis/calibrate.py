"""Choose the mechanism with the lowest error at a guarantee."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from itertools import chain
from typing import Literal

from inbounds import _check
from inbounds._entry import entry
from inbounds._types import Number
from inbounds.analysis.criterion import (
    Criterion,
    check_criterion,
    check_people,
    check_setting,
    rank,
)
from inbounds.analysis.error import ErrorSummary
from inbounds.calibration.objective import Objective
from inbounds.domain import Box
from inbounds.errors import ArgumentError
from inbounds.guarantee import Guarantee, check_delta
from inbounds.mechanisms.asked import noted
from inbounds.mechanisms.bounded_gaussian import BoundedGaussian
from inbounds.mechanisms.bounded_laplace import BoundedLaplace
from inbounds.mechanisms.clamped_gaussian import ClampedGaussian
from inbounds.mechanisms.clamped_laplace import ClampedLaplace
from inbounds.mechanisms.clamped_staircase import ClampedStaircase
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.mechanisms.optimal import Optimal
from inbounds.mechanisms.window import Window
from inbounds.pure import pure_epsilon
from inbounds.sensitivity import Sensitivity, as_sensitivity

_ROOM = 1 - 2.0**-38  # covers rounding, and the margins that rho is reported with
_CLOSE = 1e-4  # of a rho, where the search for its epsilon ends
_STEPS, _TABLES = 12, 2  # of that search; a table takes far longer than a scale
_LITTLE = 1 / 512  # of the width: below that and from epsilon = 1 on, the staircase is better
_OBJECTIVES: dict[Criterion, tuple[Objective, ...]] = {  # that a table may be best with
    "average_rmse": ("average",),
    "worst_rmse": ("worst",),
    "worst_bias": ("average", "worst"),
    "bound_mass": ("average", "worst"),
    "mean_rmse": ("average", "unbiased"),
}


@entry(
    "calibrate",
    mechanism="to choose a mechanism yourself, call its own method: Window.calibrated(...).",
    objective="criterion says which error is to be low, as in criterion='worst_rmse'.",
)
def calibrate(
    domain: Box,
    sensitivity: Sensitivity | Number,
    *,
    epsilon: float | None = None,
    delta: float = 0.0,
    rho: float | None = None,
    criterion: Criterion | None = None,
    inside: bool = False,
    people: int | None = None,
) -> Mechanism:
    """Return the mechanism with the lowest error that gives a guarantee.

    Every mechanism of the library is calibrated to the guarantee, and the one with the lowest error
    by `criterion` is returned. `compare` shows them side by side.

    Parameters
    ----------
    domain
        The box that values and outputs live in.
    sensitivity
        What one neighbour may change: a number (an l2 norm) or `L2`, `L1`, `LInf`,
        `PerCoordinate` and their intersections.
    epsilon
        The epsilon to give. It is pure epsilon, unless a `delta` is given.
    delta
        The delta to allow beside `epsilon`, usually far below one over the number of people.
    rho
        The zero-concentrated differential privacy to give, in place of `epsilon`.
    criterion
        ``"average_rmse"``: the root mean squared error over values anywhere in the box, the
        default. ``"worst_rmse"``, ``"worst_bias"`` and ``"bound_mass"``: the largest error, the
        largest bias, and the probability of an output at a bound, at the worst value.
        ``"mean_rmse"``: the error of a mean over `people`, the default where that is given.
    inside
        Whether to choose only among mechanisms that put no probability on the bounds themselves.
    people
        In local privacy: the number of people, who release one value each. The error is then that
        of their mean, as estimated from the outputs.

    Returns
    -------
    Mechanism
        On an interval usually `Optimal`, whose few possible outputs are found by a linear program;
        for a large epsilon and a small sensitivity `ClampedStaircase`. With several coordinates
        `BoundedGaussian`, `BoundedLaplace`, `ClampedGaussian` or `ClampedLaplace`.

    Raises
    ------
    ArgumentError
        If a number is out of its range, or `people` is given for a box of several coordinates.
    ArgumentTypeError
        If `domain` is not a `Box`, or not exactly one of `epsilon` and `rho` is given.

    See Also
    --------
    compare : The errors of all these mechanisms.
    limit : How low the error of any mechanism can be.

    Notes
    -----
    The average RMSE is the square root of ∫E[(M(x) − x)²]dx / ∫dx over the box, averaged over its
    coordinates; the worst RMSE has the maximum over x in place of the average.

    The scale of the mechanism was evaluated and found to be sufficient, which does not rest on how
    it was searched for: docs/proofs/search.md, theorems 1 to 4. The class of each mechanism names
    the proof of its guarantee.

    Examples
    --------
    >>> import inbounds as ib
    >>> ib.calibrate(ib.Box(0, 120), 30, epsilon=1.0)
    Optimal(Box(0, 120), L2(30), epsilon=1, objective='average')
    >>> ib.calibrate(ib.Box(0, 120), 0.12, epsilon=2.0)
    ClampedStaircase(Box(0, 120), L2(0.12), epsilon=2)
    >>> rates = ib.Box([0.0] * 50, [1.0] * 50)
    >>> type(ib.calibrate(rates, 0.1, epsilon=1.0, delta=1e-6)).__name__
    'BoundedGaussian'
    """
    guarantee = Guarantee(epsilon, check_delta(delta), rho)
    check_setting(domain)
    people = check_people(people, domain)
    criterion = check_criterion(criterion, people)
    inside = _check.yes_or_no(inside=inside)
    change, objectives = as_sensitivity(sensitivity), _OBJECTIVES[criterion]
    if (
        criterion == "average_rmse"
        and not inside
        and _is_for_the_staircase(domain, change, guarantee)
    ):
        objectives = ()  # a large table takes a second to build
    named = calibrations(domain, change, guarantee, objectives)
    errors = [(ErrorSummary.of(mechanism, people), mechanism) for _, mechanism in named]
    if inside:
        errors = [(error, mechanism) for error, mechanism in errors if error.bound_mass == 0]
    return min(errors, key=lambda pair: rank(pair[0], criterion))[1]


def _is_for_the_staircase(box: Box, sensitivity: Sensitivity, guarantee: Guarantee) -> bool:
    """Tell whether `ClampedStaircase` is known to have a lower average error than any table."""
    if not box.is_interval or guarantee.epsilon is None or guarantee.epsilon < 1:
        return False
    return bool(sensitivity.within(box.widths).diameter < _LITTLE * box.widths[0])


def calibrations(
    box: Box,
    sensitivity: Sensitivity,
    guarantee: Guarantee,
    objectives: Iterable[Objective] = ("average",),
    *,
    without: Collection[str] = (),
) -> Iterator[tuple[str, Mechanism]]:
    """Yield every mechanism that can give the guarantee, calibrated, after its name.

    `Optimal` is one mechanism for each of the objectives. Names in `without` are left out.
    """
    builders = (
        _gaussian(box, sensitivity, guarantee),
        (
            (name, lambda calibrated=calibrated: _calibrated(calibrated, guarantee))
            for name, calibrated in _pure(box, sensitivity, objectives)
        ),
    )
    for name, build in chain(*builders):
        if name not in without:
            with suppress(_LeftOutError):
                yield name, noted(build(), guarantee)  # some were built for an epsilon that follows


def _gaussian(
    box: Box, sensitivity: Sensitivity, guarantee: Guarantee
) -> Iterator[tuple[str, Callable[[], Mechanism]]]:
    """Yield the names of mechanisms with Gaussian noise, and how each gets the guarantee."""

    def clamped() -> ClampedGaussian:
        if guarantee.rho is not None:
            sigma = sensitivity.within(box.widths).diameter / math.sqrt(2 * guarantee.rho) / _ROOM
            return ClampedGaussian(box, sensitivity, sigma)
        epsilon, delta = guarantee.pair
        method: Literal["exact", "analytic"] = "exact" if box.dimension == 1 else "analytic"
        return ClampedGaussian.calibrated(
            box, sensitivity, epsilon=epsilon, delta=delta, method=method
        )

    yield (
        "BoundedGaussian",
        lambda: BoundedGaussian.calibrated(box, sensitivity, **guarantee.stated()),
    )
    if guarantee.rho is not None or guarantee.delta or box.dimension == 1:
        yield "ClampedGaussian", clamped


class _LeftOutError(Exception):
    """A mechanism does not work on the box: a table would be too large, or a step too fine."""


def _pure(
    box: Box, sensitivity: Sensitivity, objectives: Iterable[Objective]
) -> Iterator[tuple[str, Callable[[float], Mechanism]]]:
    """Yield the names of mechanisms that give a pure epsilon, and how each is calibrated to it."""

    def of(kind: Callable[..., Mechanism], epsilon: float, *options: Objective) -> Mechanism:
        try:
            return kind(box, sensitivity, epsilon, *options)
        except ArgumentError:
            raise _LeftOutError from None

    def table(objective: Objective) -> Callable[[float], Mechanism]:
        return lambda e: of(Optimal, e, objective)

    yield "BoundedLaplace", lambda e: BoundedLaplace.calibrated(box, sensitivity, epsilon=e)
    yield "ClampedLaplace", lambda e: ClampedLaplace.calibrated(box, sensitivity, epsilon=e)
    if box.is_interval:
        yield "ClampedStaircase", lambda e: of(ClampedStaircase, e)
        yield "Window", lambda e: of(Window, e)
        for objective in objectives:
            name = "Optimal" if objective == "average" else f"Optimal ({objective})"
            yield name, table(objective)


def _calibrated(calibrated: Callable[[float], Mechanism], guarantee: Guarantee) -> Mechanism:
    """Return the mechanism, calibrated by its pure epsilon, that gives the guarantee."""
    if guarantee.rho is None:
        return calibrated(guarantee.pair[0])
    return _with_rho(calibrated, guarantee.rho)


def _with_rho(calibrated: Callable[[float], Mechanism], rho: float) -> Mechanism:
    """Return a mechanism whose rho is at most `rho`, and about that.

    Every mechanism with the first epsilon has that rho. A mechanism whose neighbours differ less
    than those of randomised response may have a larger epsilon.
    """
    epsilon, power = pure_epsilon(rho) * _ROOM, 2.0  # rho grows about like a power of epsilon
    mechanism = calibrated(epsilon)
    for _ in range(_TABLES if isinstance(mechanism, Optimal) else _STEPS):
        if not mechanism.rho > 0:  # so little privacy loss that doubles do not show it
            break
        room = math.log(rho / mechanism.rho)
        larger = epsilon * math.exp(room / power) * _ROOM
        if room < _CLOSE or not larger > epsilon:
            break
        candidate = calibrated(larger)
        if not 0 < candidate.rho <= rho:
            power *= 2
            continue
        gained = math.log(candidate.rho / mechanism.rho) / math.log(larger / epsilon)
        power = min(2.0, max(1.0, gained))
        mechanism, epsilon = candidate, larger
    return mechanism


def published(
    box: Box, sensitivity: Sensitivity, epsilon: float
) -> Iterable[tuple[str, Mechanism]]:
    """Yield the bounded Gaussian as the literature calibrates it, with at least our noise."""
    paper = BoundedGaussian.calibrated(box, sensitivity, epsilon=epsilon, method="paper")
    yield "BoundedGaussian (paper)", paper
    if box.dimension == 1 or sensitivity.has_caps:
        liu = BoundedGaussian.calibrated(box, sensitivity, epsilon=epsilon, method="liu")
        yield "BoundedGaussian (Liu)", liu
