"""The numerical section of Chen and Hale's paper, recomputed, with the exact result beside it.

The query is two numbers of a graph on 10 nodes: its algebraic connectivity (in [0, 10]) and the
degree of one node (in [1, 9]). A neighbour may change 2 edges, and so move the first by 4 and the
second by 2. Liu's bound uses those two numbers, the paper uses the l2 ball that holds them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from inbounds import _check
from inbounds._types import Floats
from inbounds.analysis.error import ErrorSummary
from inbounds.domain import Box
from inbounds.mechanisms.bounded_gaussian import BoundedGaussian
from inbounds.sensitivity import L2, PerCoordinate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BOX = Box(np.array([0.0, 1.0]), np.array([10.0, 9.0]))
EACH = PerCoordinate(np.array([4.0, 2.0]))
BALL = L2(math.hypot(4, 2))
EPSILONS = (0.1, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0)


@dataclass(frozen=True, slots=True)
class Table1Row:
    """One row of the paper's Table 1: sigma² by each method, and the paper's true epsilon."""

    epsilon: float
    liu: float
    paper: float
    exact: float
    exact_per_coordinate: float
    """The same for the changes that Liu's bound uses, which lie within the ball."""
    paper_epsilon: float
    """The epsilon that the paper's sigma gives on the l2 ball."""

    @property
    def paper_below_liu(self) -> float:
        """Percent by which the paper's sigma² is below Liu's: the paper's own column."""
        return 100 * (1 - self.paper / self.liu)

    @property
    def exact_below_liu(self) -> float:
        """Percent by which the exact sigma² is below Liu's."""
        return 100 * (1 - self.exact / self.liu)


def table1() -> tuple[Table1Row, ...]:
    """Recompute the paper's Table 1.

    Examples
    --------
    >>> row = table1()[2]
    >>> row.epsilon, round(row.liu, 1), round(row.paper, 1), round(row.exact, 1)
    (1.0, 132.0, 84.4, 32.3)
    >>> round(row.paper_below_liu, 1), round(row.exact_below_liu, 1)
    (36.1, 75.5)
    """
    return tuple(_row(epsilon) for epsilon in EPSILONS)


def _row(epsilon: float) -> Table1Row:
    liu, paper, exact = _mechanisms(epsilon)
    per_coordinate = BoundedGaussian.calibrated(BOX, EACH, epsilon=epsilon)
    return Table1Row(
        epsilon=epsilon,
        liu=_square(liu),
        paper=_square(paper),
        exact=_square(exact),
        exact_per_coordinate=_square(per_coordinate),
        paper_epsilon=paper.epsilon,
    )


def _mechanisms(epsilon: float) -> tuple[BoundedGaussian, BoundedGaussian, BoundedGaussian]:
    return (
        BoundedGaussian.calibrated(BOX, EACH, epsilon=epsilon, method="liu"),
        BoundedGaussian.calibrated(BOX, BALL, epsilon=epsilon, method="paper"),
        BoundedGaussian.calibrated(BOX, BALL, epsilon=epsilon),
    )


def _square(mechanism: BoundedGaussian) -> float:
    return float(mechanism.sigma) ** 2


@dataclass(frozen=True, slots=True, eq=False)
class Figure1:
    """The paper's Figure 1, and the same for the error of the outputs.

    sigma² is the scale before truncation. At small epsilon, the outputs of all methods are nearly
    uniform, so that methods with very different sigma² have similar errors.

    Attributes
    ----------
    epsilons
        The grid.
    liu, paper, exact
        sigma² by each method.
    liu_rmse, paper_rmse, exact_rmse
        Root mean squared error of the outputs, over the box and both coordinates.
    """

    epsilons: Floats
    liu: Floats
    paper: Floats
    exact: Floats
    liu_rmse: Floats
    paper_rmse: Floats
    exact_rmse: Floats

    @property
    def paper_below_liu(self) -> Floats:
        """Percent by which the paper's sigma² is below Liu's: the paper's triangles."""
        return np.asarray(100 * (1 - self.paper / self.liu))

    @property
    def exact_below_liu(self) -> Floats:
        """Percent by which the exact sigma² is below Liu's."""
        return np.asarray(100 * (1 - self.exact / self.liu))

    @property
    def paper_rmse_below_liu(self) -> Floats:
        """Percent by which the RMSE with the paper's sigma is below that with Liu's."""
        return np.asarray(100 * (1 - self.paper_rmse / self.liu_rmse))

    @property
    def exact_rmse_below_liu(self) -> Floats:
        """Percent by which the RMSE with the exact sigma is below that with Liu's."""
        return np.asarray(100 * (1 - self.exact_rmse / self.liu_rmse))

    @property
    def middle_rmse(self) -> float:
        """The RMSE of always publishing the middle of the box, which needs no budget."""
        return math.sqrt(float(np.mean(BOX.widths**2)) / 12)

    def plot(self) -> Figure:
        """Draw both panels; needs matplotlib."""
        from inbounds.plots.reproduction import figure1_figure  # noqa: PLC0415 - optional

        return figure1_figure(self)


def figure1(epsilons: Iterable[float] | None = None) -> Figure1:
    """Recompute the paper's Figure 1, by default for epsilon from 0.1 to 3.

    Examples
    --------
    >>> figure = figure1([1.0])
    >>> figure.exact_below_liu.round(1).tolist(), figure.exact_rmse_below_liu.round(1).tolist()
    ([75.5], [9.5])
    """
    default = np.concatenate([np.arange(2, 10) / 20, np.arange(5, 31) / 10])  # finer where steep
    numbers = default if epsilons is None else np.asarray(epsilons, dtype=float)
    grid = np.atleast_1d(_check.positive_vector(epsilons=numbers))
    mechanisms = [_mechanisms(float(epsilon)) for epsilon in grid]
    squares = np.array([[_square(m) for m in row] for row in mechanisms]).T
    errors = np.array([[ErrorSummary.of(m).average_rmse for m in row] for row in mechanisms]).T
    return Figure1(grid, *squares, *errors)
