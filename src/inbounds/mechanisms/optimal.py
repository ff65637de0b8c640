"""The best mechanism on an interval: a table of integers, found by a linear program.

Its privacy is a finite check of integers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, cast

import numpy as np
from flint import arb

from inbounds import _check
from inbounds._entry import constructed
from inbounds._types import Floats, Number
from inbounds.calibration.levels import design, reading_of
from inbounds.calibration.objective import OBJECTIVES, Objective
from inbounds.calibration.risk import Risk
from inbounds.calibration.table import TOTAL, LevelTable
from inbounds.calibration.table_certificate import TableCertificate
from inbounds.domain import Box
from inbounds.errors import ArgumentError, ArgumentTypeError, CertificateError, InBoundsError
from inbounds.guarantee import check_epsilon
from inbounds.mechanisms.argument import (
    check_interval,
    check_pure,
    checked_calibration,
)
from inbounds.mechanisms.asked import copied_by
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.numerics.ball import exact, float_above
from inbounds.numerics.finite import FiniteOutputs
from inbounds.sampling.grid import Grid
from inbounds.sampling.table import TableSampler
from inbounds.sensitivity import Sensitivity, as_sensitivity

_ROUNDING = 2.0**-46  # of a reading, which may be far outside the box
_MOST_STEPS = 512  # possible outputs of a box with a step


_checked_constructor = constructed(
    scale="Optimal has no scale: epsilon determines the table.",
    sigma="Optimal has no scale: epsilon determines the table.",
    delta="Optimal gives pure epsilon, which holds for every delta.",
)


@_checked_constructor
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Optimal(Mechanism):
    """Release numbers of an interval with nearly the lowest error that any mechanism can have.

    Values are sorted into cells, and each cell has its own probabilities of finitely many outputs.
    A linear program finds these probabilities. They are rounded to integers, so that privacy is a
    comparison of integers that anyone can repeat. `limit` says how low any error can be.

    The table has a limited size. If the sensitivity is below a tenth of the box, `ClampedStaircase`
    has nearly the same error. If epsilon is large as well (a hundredth of the box and epsilon = 9,
    or for the worst case a fiftieth and epsilon = 6), it has a lower one: compare `mse`. On a box
    with a step, the outputs are steps, and `limit` allows others.

    Parameters
    ----------
    domain
        The interval that contains values and outputs, with at most 512 steps if it has a step.
    sensitivity
        What one neighbour may change: a number. If it is much smaller than the interval, the table
        would be too large, and `ClampedStaircase` is nearly as good.
    epsilon
        The pure epsilon of one release.
    objective
        ``"average"``: the lowest mean squared error for values anywhere in the box, the default.
        ``"worst"``: the lowest squared error at the worst value. ``"unbiased"``: the lowest
        variance of an unbiased reading, for means over many people.
    table
        The table of integers, if it was made before; it is checked again.

    Raises
    ------
    ArgumentError
        If `epsilon` is not positive or is extreme, `domain` has several coordinates, `sensitivity`
        is too small, or `objective` is not one of the three.
    ArgumentTypeError
        If an argument is missing or of a wrong type.
    CertificateError
        If `table` does not give `epsilon`.

    Guarantees
    ----------
    For any two values that differ by at most `sensitivity`, and any set of outputs, the
    probabilities differ by a factor of at most exp(`epsilon`). This was checked in integers for the
    probabilities that are drawn, and for values that were rounded to doubles before. Nothing rests
    on the solver. Proof: docs/proofs/optimal.md, theorem 4.

    See Also
    --------
    limit : How low the error of any mechanism can be.
    ClampedStaircase, Window, calibrate, compare

    Notes
    -----
    On cells i of a width such that neighbours are at most k cells apart, output j has the
    probability

        mⱼ e^(−epsilon·Lᵢⱼ),  with whole numbers Lᵢⱼ that differ by at most 1 within k cells.

    The extreme points among all epsilon-private mechanisms on cells have this form
    (docs/proofs/optimal.md, theorem 1), and a linear program chooses the weights m ≥ 0 with the
    lowest error. The moments of the outputs are exact (docs/proofs/optimal.md, theorem 7).

    References
    ----------
    .. [1] Geng and Viswanath (2014), "The Optimal Mechanism in Differential Privacy", ISIT.
    .. [2] Ghazi et al. (2023), "Regression with Label Differential Privacy", ICLR.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.Optimal.calibrated(ib.Box(0, 120), 30, epsilon=1.0)
    >>> m
    Optimal(Box(0, 120), L2(30), epsilon=1, objective='average')
    >>> m.release(41.3) in m.outputs
    True
    >>> m.certificate().check().epsilon
    1.0
    """

    epsilon: float = field()  # proved by the table; it overrides the property
    objective: Objective = field()
    table: LevelTable = field()
    _reading: tuple[float, float] | None = field(init=False)  # a slope and a bias
    _risk: Risk = field(init=False)
    _finite: FiniteOutputs = field(init=False)
    _sampler: TableSampler = field(init=False)

    def __init__(
        self,
        domain: Box,
        sensitivity: Sensitivity | Number,
        epsilon: float,
        objective: Objective = "average",
        table: LevelTable | None = None,
    ) -> None:
        if max(map(abs, check_interval(domain, "Optimal"))) > 1e100 or domain.widths[0] < 1e-100:
            requirement = "have bounds up to 1e100 and a width of at least 1e-100"
            raise ArgumentError.must("domain", requirement, hint="use other units.")
        checked = as_sensitivity(sensitivity)
        checked.limits(1)
        epsilon = check_epsilon(epsilon)
        objective = cast("Objective", _check.one_of(OBJECTIVES, objective=objective))
        if table is None:
            table = _designed(domain, _change(domain, checked), epsilon, objective)
        elif not isinstance(table, LevelTable):
            raise ArgumentTypeError.must_be("table", "a LevelTable", got=type(table).__name__)
        elif (table.lower, table.upper) != _bounds(domain):
            raise CertificateError(
                "the table is for another interval, so it proves nothing about this one.\n"
                "Hint: give the domain of the mechanism that the table was taken from."
            )
        else:
            table.check(_change(domain, checked), epsilon)
        grid = _grid(domain)
        fields = {
            "domain": domain,
            "sensitivity": checked,
            "epsilon": epsilon,
            "objective": objective,
            "table": table,
            "_reading": _reading(table) if objective == "unbiased" else None,
            "_risk": Risk(table),
            "_finite": _finite(table),
            "_sampler": _sampler(table, integral=grid is not None and grid.integral),
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @classmethod
    @checked_calibration
    def calibrated(
        cls,
        domain: Box,
        sensitivity: Sensitivity | Number,
        *,
        epsilon: float,
        delta: float = 0.0,
        objective: Objective = "average",
    ) -> Optimal:
        """Return the mechanism with the lowest error that gives `epsilon`.

        Parameters
        ----------
        domain, sensitivity
            As for `Optimal`.
        epsilon
            The pure epsilon of one release.
        delta
            Zero, which is the default.
        objective
            ``"average"``, ``"worst"`` or ``"unbiased"``, as for `Optimal`.

        Returns
        -------
        Optimal
            With the table that a linear program found:
            docs/proofs/optimal.md, theorems 5, 6 and 11.

        Raises
        ------
        ArgumentError
            If a number is out of range, or the table would be too large.
        ArgumentTypeError
            If an argument is missing or of a wrong type.

        Examples
        --------
        >>> import numpy as np
        >>> import inbounds as ib
        >>> m = ib.Optimal.calibrated(ib.Box(0, 1), 1, epsilon=1.0, objective="unbiased")
        >>> bool(0.97 < np.mean(m.variance(np.linspace(0, 1, 99))) / m.slope**2 < 1)
        True
        """
        return cls(
            domain,
            sensitivity,
            check_pure(epsilon=epsilon, delta=delta, noise="Optimal"),
            objective,
        )

    @property
    def parameters(self) -> dict[str, Any]:
        """The epsilon and the objective, by their names."""
        return {"epsilon": self.epsilon, "objective": self.objective}

    @property
    def outputs(self) -> Floats:
        """The possible outputs, in increasing order."""
        return self._finite.outputs.copy()

    @property
    def slope(self) -> float | None:
        """By how much the mean output grows with the value, if the objective is unbiased."""
        return None if self._reading is None else self._reading[0]

    @property
    def spread(self) -> Floats:
        """The root of the average squared error."""
        return np.array([float(self._risk.average) ** 0.5])

    @property
    def breaks(self) -> Floats:
        """The ends of the cells, or the knots, inside the box."""
        ends = self._finite.ends
        return ends[(ends > float(self.domain.lower)) & (ends < float(self.domain.upper))]

    @property
    def total_variation(self) -> float:
        """An upper bound on the total variation between the outputs of two neighbours.

        Proof: docs/proofs/optimal.md, theorem 10.
        """
        return min(1.0, float_above(arb(exact(self.table.total_variation))))

    def certificate(self) -> TableCertificate:
        """Return the table with its claim, which anyone can check in integers.

        Examples
        --------
        >>> import inbounds as ib
        >>> proof = ib.Optimal(ib.Box(0, 1), 0.5, epsilon=2.0).certificate()
        >>> type(proof).from_json(proof.to_json()).check().epsilon
        2.0
        """
        return TableCertificate(self.table, _change(self.domain, self.sensitivity), self.epsilon)

    def sampler(self, *, equal_time: bool = True) -> TableSampler:
        """Return the sampler, as `Mechanism.sampler` does; its time never depends on the values."""
        return self._sampler

    def __reduce__(self) -> tuple[object, ...]:
        """Copy the table, which the constructor checks, rather than look for it again."""
        fields = self.domain, self.sensitivity, self.epsilon, self.objective, self.table
        return copied_by(type(self), fields, getattr(self, "_asked", None))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Optimal):
            return NotImplemented
        return Mechanism.__eq__(self, other) is True and self.table == other.table

    __hash__ = Mechanism.__hash__

    # Moments, from exact rational ones of each row.

    def _bias(self, inside: Floats) -> Floats:
        return self._risk.means_and_variances(inside)[0] - inside

    def _variance(self, inside: Floats) -> Floats:
        return self._risk.means_and_variances(inside)[1]

    def _mse(self, inside: Floats) -> Floats:
        mean, variance = self._risk.means_and_variances(inside)
        return variance + (mean - inside) ** 2

    def _mass_at_bounds(self, inside: Floats) -> tuple[Floats, Floats]:
        lower, upper = float(self.domain.lower), float(self.domain.upper)
        at_lower = self._finite.below(np.asarray(lower), inside)
        at_upper = 1 - self._finite.below(np.asarray(np.nextafter(upper, lower)), inside)
        return at_lower, np.maximum(at_upper, 0.0)

    # The distribution. Outputs are finitely many, so there is no density.

    def _pdf(self, x: Floats, inside: Floats) -> Floats:
        return np.zeros(np.broadcast_shapes(x.shape, inside.shape))

    def _cdf(self, x: Floats, inside: Floats) -> Floats:
        return self._finite.below(x, inside)

    def _quantile(self, q: Floats, inside: Floats) -> Floats:
        return self._finite.quantile(q, inside)

    # Readings.

    @property
    def has_unbiased(self) -> bool:
        """Whether the table was made for unbiased readings."""
        return self._reading is not None

    @property
    def reading_bias(self) -> float:
        """How far the expectation of `unbiased` may be from the value, because of rounding.

        Proof: docs/proofs/optimal.md, theorem 6.
        """
        if self._reading is None:
            return 0.0
        slope, bias = self._reading
        reach = float(self.domain.widths[0]) / slope
        largest = max(map(abs, _bounds(self.domain))) + reach
        return bias + _ROUNDING * reach + math.ulp(largest) * (1 + 1 / slope)

    def _denoise(self, outputs: Floats) -> Floats:
        grid, bounds = _grid(self.domain), _bounds(self.domain)
        if grid is None:
            means = self._finite.posterior_means(*bounds)
        else:
            steps = np.asarray(grid.points(np.arange(grid.intervals + 1)), np.float64)
            means = self._finite.posterior_means_on(steps)
        return means[self._finite.column_of(outputs)]

    def _unbiased(self, outputs: Floats) -> Floats:
        if self._reading is None:
            raise InBoundsError(
                f"Optimal with the objective {self.objective!r} has no unbiased reading.\n"
                'Hint: Optimal.calibrated(..., objective="unbiased") has one.'
            )
        middle = sum(_bounds(self.domain)) / 2
        return np.asarray(middle + (outputs - middle) / self._reading[0])

    def _confidence(self, outputs: Floats, level: float) -> tuple[Floats, Floats]:
        first, last = self._finite.plausible(level)
        column = self._finite.column_of(outputs)
        ends = self._finite.ends
        return self._clip(ends[first[column]]), self._clip(ends[last[column] + 1])


def _reading(table: LevelTable) -> tuple[float, float]:
    if table.kind != "knots":
        raise CertificateError(
            'the table was not made for the objective "unbiased".\n'
            "Hint: Optimal without a table designs one."
        )
    return reading_of(table)


@lru_cache(maxsize=64)
def _designed(domain: Box, change: float, epsilon: float, objective: Objective) -> LevelTable:
    """Return the best table, which depends on public parameters alone."""
    grid = _grid(domain)
    points = None
    if grid is not None:
        if grid.intervals >= _MOST_STEPS:
            hint = "leave the step out and round the outputs, which costs no privacy."
            requirement = f"large enough for at most {_MOST_STEPS} steps in the box"
            raise ArgumentError.must_be("step", requirement, got=f"step={domain.step}", hint=hint)
        points = np.asarray(grid.points(np.arange(grid.intervals + 1)), np.float64)
    return design(*_bounds(domain), change, epsilon, objective, grid=points).table


def _grid(domain: Box) -> Grid | None:
    step = domain.steps[0]
    return None if step is None else Grid.fit(*_bounds(domain), step, float(domain.widths[0]))


def _sampler(table: LevelTable, *, integral: bool) -> TableSampler:
    return TableSampler(
        *(table.lower, table.upper, table.boundaries, table.kind == "knots"),
        *(table.rows, table.outputs, integral),
    )


def _finite(table: LevelTable) -> FiniteOutputs:
    chances = table.entries.replaced(lambda entry: entry / TOTAL)
    ends, outputs = np.array(table.boundaries), np.array(table.outputs)
    return FiniteOutputs.of(ends, outputs, chances, rounds_between=table.kind == "knots")


def _change(domain: Box, sensitivity: Sensitivity) -> float:
    """Return the largest change of a value."""
    reach = sensitivity.within(domain.widths)
    return min(float(reach.caps[0]), reach.radius)


def _bounds(domain: Box) -> tuple[float, float]:
    return float(domain.lower), float(domain.upper)
