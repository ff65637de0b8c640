"""The least error that any private mechanism can have: a bracket with a certificate."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import cast

import numpy as np

from inbounds import _check
from inbounds._check import format_numbers
from inbounds._entry import entry
from inbounds._progress import bar
from inbounds._table import Printed, Table
from inbounds._types import Number
from inbounds.analysis.criterion import check_setting
from inbounds.analysis.limit_reached import reached_by_table, upper_end
from inbounds.calibration.limit_bound import evidence
from inbounds.calibration.limit_certificate import LimitCertificate, problem_of, value_count
from inbounds.calibration.limit_problem import FORMS, Problem
from inbounds.calibration.objective import Objective
from inbounds.domain import Box
from inbounds.errors import ArgumentError, CertificateError
from inbounds.guarantee import Guarantee
from inbounds.sampling.grid import Grid
from inbounds.sensitivity import Sensitivity, as_sensitivity

_UNKNOWN = "no certified limit is known for (epsilon, delta) or rho; give epsilon alone."
_SLACK = 1e-8  # of an error that was computed in doubles
_AVERAGED = {
    "average": "average over the values",
    "worst": "at the worst value",
    "unbiased": "average variance of an unbiased output",
}


@dataclass(frozen=True, slots=True, repr=False)
class Limit(Printed):
    """A bracket on the least mean squared error of any ε-private mechanism on an interval.

    Attributes
    ----------
    lower, upper
        No mechanism has a mean squared error below `lower`, and some mechanism has at most `upper`.
        They are squares: `rmse` has the roots.
    domain, sensitivity, epsilon, objective
        The arguments of `limit`.

    See Also
    --------
    limit : Computes it.

    Examples
    --------
    >>> import math
    >>> import inbounds as ib
    >>> result = ib.limit(ib.Box(0, 1), 1, epsilon=1.0, objective="worst")
    >>> result
    Limit(lower=0.196611..., upper=0.19661..., objective='worst')
    >>> e = math.exp(1)
    >>> math.isclose(result.lower, e / (1 + e) ** 2)
    True
    """

    lower: float
    upper: float
    domain: Box
    sensitivity: Sensitivity
    epsilon: float
    objective: Objective
    _certificate: LimitCertificate = field(compare=False)

    @property
    def rmse(self) -> tuple[float, float]:
        """The bracket on the least root mean squared error, in the unit of the values."""
        return math.sqrt(self.lower) * (1 - 2.0**-52), math.sqrt(self.upper) * (1 + 2.0**-52)

    @property
    def gap(self) -> float:
        """How far `upper` is above `lower`, as a fraction of it; infinite if that is zero."""
        return self.upper / self.lower - 1 if self.lower > 0 else math.inf

    def certificate(self) -> LimitCertificate:
        """Return the evidence for `lower`, which anyone can check.

        Examples
        --------
        >>> import inbounds as ib
        >>> ib.limit(ib.Box(0, 1), 0.25, epsilon=1.0).certificate().check()
        LimitCertificate(lower=0.042..., objective='average', form='average')
        """
        return self._certificate

    def _table(self) -> Table:
        low, high = self.rmse
        facts = {
            "mean squared error": f"{self.lower:.6g} to {self.upper:.6g}",
            "root mean squared error": f"{low:.6g} to {high:.6g}",
            "which error": _AVERAGED[self.objective],
            "setting": f"{self.domain}, {self.sensitivity}, epsilon={format_numbers(self.epsilon)}",
        }
        note = (
            "No private mechanism of one number has less error than the lower end, as is certified."
        )
        return Table.of_facts("The least possible error", facts.items(), note)

    def __repr__(self) -> str:
        bracket = f"lower={self.lower!r}, upper={self.upper!r}"
        return f"Limit({bracket}, objective={self.objective!r})"


@entry("limit", delta=_UNKNOWN, rho=_UNKNOWN)
def limit(
    domain: Box,
    sensitivity: Sensitivity | Number,
    *,
    epsilon: float,
    objective: Objective = "average",
    tolerance: float = 0.01,
    progress: bool = False,
) -> Limit:
    """Return a bracket on the least mean squared error that any ε-private mechanism can have.

    The lower end is a theorem about all mechanisms, including those nobody has thought of. So the
    difference between a mechanism's error and the limit is due to the mechanism, and the rest is
    the price of privacy.

    Parameters
    ----------
    domain
        The interval that values live in. If it has a step, so do the values: the limit is that for
        values on the grid, which are all equally likely in the average. Outputs may be any number,
        so a mechanism whose outputs are on the grid may not reach it. With a step, all numbers are
        read as they are written: a sensitivity of 0.3 is three steps of 0.1, as it is for all
        mechanisms of the library, although the double nearest to 0.3 is less than that.
    sensitivity
        The largest distance of two values that are neighbours.
    epsilon
        The pure differential privacy of the mechanisms.
    objective
        ``"average"``: the mean squared error E[(M(x) − x)²], averaged over values x spread evenly.
        ``"worst"``: its maximum over x. ``"unbiased"``: the average variance of mechanisms whose
        output has mean x for every x, and need not be in bounds, for means of many people.
    tolerance
        The relative width of the bracket to aim for. The bracket may be wider, and is always true.
    progress
        Whether to show a progress bar; needs rich.

    Returns
    -------
    Limit

    Raises
    ------
    ArgumentError
        If a number is out of its range, the step or a bound has too many digits, or `domain` has
        several coordinates: no certified limit is known for them.
    ArgumentTypeError
        If `domain` is not a `Box`, or `delta` or `rho` is given.

    See Also
    --------
    compare : The errors of the library's mechanisms.

    Notes
    -----
    Let C be the set of vectors f ≥ 0 with fᵢ ≤ exp(ε)fⱼ for neighbours i and j. The probabilities
    of an output, as a function of the value, are in C. *Theorem*: if numbers πᵢ ≥ 0, νᵢ and μ
    satisfy Σfᵢ(πᵢ(xᵢ − a)² − νᵢ) ≥ μΣfᵢπᵢ for every f in C and every output a, then every ε-private
    mechanism has ΣπᵢE[(M(xᵢ) − xᵢ)²] ≥ Σνᵢ + μΣπᵢ. Only level functions f = exp(εL) with whole
    numbers L have to be tried, and dynamic programming tries all of them. The numbers come from
    column generation; the certificate checks them. Proofs: docs/proofs/limit.md, theorems 1 to 8.
    The upper end is the error of a mechanism (docs/proofs/limit.md, theorem 10).

    Closed forms are used where they are better: for values that are all neighbours, the least worst
    error is w²exp(ε)/(1 + exp(ε))², for ε ≤ ln(3 + 2√2): docs/proofs/limit.md, theorem 9.

    For wide intervals and large ε the bracket is wider than `tolerance`; for ε above 25 the lower
    end comes from pairs of values alone. No certified limit is known for (ε, δ), for zCDP, or for
    several coordinates.

    References
    ----------
    Q. Geng and P. Viswanath, "The optimal mechanism in differential privacy", ISIT 2014: the least
    variance without bounds, which is the limit for small sensitivities.

    B. Ghazi, P. Kamath, R. Kumar, E. Leeman, P. Manurangsi, A. V. Varadarajan and C. Zhang,
    "Regression with label differential privacy", ICLR 2023: randomised response on bins is optimal
    if all values are neighbours.

    Examples
    --------
    >>> import inbounds as ib
    >>> result = ib.limit(ib.Box(0, 120), 30, epsilon=1.0)
    >>> result.lower < result.upper < 1.05 * result.lower
    True
    >>> best = ib.compare(ib.Box(0, 120), 30, epsilon=1.0).best()
    >>> best.name, round(best.error.average_rmse / result.rmse[0], 2)  # at the limit
    ('Optimal', 1.0)
    """
    number = cast(float, Guarantee(epsilon).epsilon)
    check_setting(domain)
    if domain.dimension != 1:
        raise ArgumentError.must(
            "domain",
            "be an interval: no certified limit is known for several coordinates",
            got=f"{domain.dimension} coordinates",
        )
    chosen = cast(Objective, _check.one_of(FORMS, objective=objective))
    width = _check.within(1e-5, 1.0, tolerance=tolerance)
    stated = as_sensitivity(sensitivity)
    problem, unit = _problem(domain, float(stated.limits(1).caps[0]))
    with bar(1, "Limit", progress=progress) as advance:
        proof = _certified(domain, problem, unit, epsilon=number, objective=chosen, tolerance=width)
        upper = upper_end(problem, number, chosen) * float(problem.width * unit) ** 2
        upper = min(upper, reached_by_table(domain, stated, number, chosen))
        advance(1)
    if upper * (1 + _SLACK) < proof.lower:
        raise CertificateError(
            f"a mechanism has an error of {upper!r}, below the limit of {proof.lower!r} that was "
            "proved. Please report this with the arguments."
        )
    upper = max(upper * (1 + 2.0**-50), proof.lower)
    return Limit(proof.lower, upper, domain, stated, number, chosen, proof)


def _problem(box: Box, sensitivity: float) -> tuple[Problem, Fraction]:
    """Return the problem in units of the sensitivity, and that unit, both exactly."""
    bounds, step = _bounds(box), box.steps[0]
    points = 0 if step is None else value_count(*bounds, step)
    if step is not None and points != Grid.fit(*bounds, step, scale=1.0).intervals + 1:
        requirement = "not be nearly a whole number of steps wide, and have bounds and a step of "
        requirement += "few digits, such as 1 or 0.1"
        hint = "state the values in other units, in which the step is 1."
        raise ArgumentError.must("domain", requirement, got=repr(box), hint=hint)
    exact = problem_of(bounds, step, points or 0, sensitivity)
    unit = exact.sensitivity
    apart = None if exact.step is None else exact.step / unit
    return Problem(exact.width / unit, Fraction(1), apart, exact.points), unit


def _bounds(box: Box) -> tuple[float, float]:
    return float(np.ravel(box.lower)[0]), float(np.ravel(box.upper)[0])


def _certified(
    box: Box,
    problem: Problem,
    unit: Fraction,
    *,
    epsilon: float,
    objective: Objective,
    tolerance: float,
) -> LimitCertificate:
    found = evidence(problem, epsilon, objective, tolerance)
    step = box.steps[0]
    proof = LimitCertificate(
        objective=objective,
        bounds=_bounds(box),
        step=step,
        points=problem.points,
        sensitivity=float(unit),
        epsilon=epsilon,
        lower=0.0,
        form=found.form,
        group=found.group,
        stride=found.stride,
        proofs=found.proofs,
    )
    return replace(proof, lower=_float_below(proof.proved()))


def _float_below(number: Fraction) -> float:
    nearest = float(number)
    return nearest if Fraction(nearest) <= number else math.nextafter(nearest, -math.inf)
