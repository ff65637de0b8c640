"""Which mechanism has the lowest error, by sensitivity and epsilon."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from inbounds import _check
from inbounds._entry import called, warn_caller
from inbounds._progress import tracked
from inbounds._table import Printed, Table
from inbounds._types import Floats
from inbounds.analysis.calibrate import calibrations
from inbounds.analysis.error import CLEARLY, average_rmse
from inbounds.analysis.known_error import EPSILONS, FRACTIONS, known_errors
from inbounds.analysis.overview import regimes_table
from inbounds.domain import Box
from inbounds.errors import ArgumentError
from inbounds.guarantee import Guarantee, check_delta
from inbounds.sensitivity import L2

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = ("BoundedGaussian", "BoundedLaplace", "ClampedGaussian", "ClampedLaplace")
ON_AN_INTERVAL = ("ClampedStaircase", "Window", "Optimal")

_MOST_COORDINATES = 10**5


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Regimes(Printed):
    """Average RMSE of every mechanism at the same guarantee, on a grid. `print` shows the table.

    Attributes
    ----------
    delta, dimension
        The guarantee's delta, and m of the box [0, 1]^m.
    fractions, epsilons
        The grid: l2 sensitivity as a fraction of the width of one coordinate, and epsilon.
    names
        The mechanisms; `ClampedStaircase`, `Window` and `Optimal` are for one coordinate only.
    rmse
        Average error as a fraction of the width, by mechanism, epsilon and sensitivity; infinite
        where a mechanism cannot give the guarantee.

    See Also
    --------
    regimes : Makes the map.

    Notes
    -----
    The entry of `rmse` for a mechanism with output Y(x) is the root of the mean of
    Σᵢ E[(Yᵢ(x) − xᵢ)²]/m over values x spread evenly over [0, 1]^m.

    Examples
    --------
    >>> import inbounds as ib
    >>> result = ib.regimes(delta=0.0, fractions=[0.01, 1.0], epsilons=[0.1])
    >>> result
    Regimes(delta=0, dimension=1, 1×2 cells)
    >>> result.rmse.shape, bool((result.margin > 0).all())
    ((7, 1, 2), True)
    """

    delta: float
    dimension: int
    fractions: Floats
    epsilons: Floats
    names: tuple[str, ...]
    rmse: Floats

    @property
    def shares(self) -> Floats:
        """The old name of `fractions`."""
        _warn_of_old_name("shares", "fractions")
        return self.fractions

    @property
    def best(self) -> NDArray[Any]:
        """The name of the mechanism with the lowest error, by epsilon and sensitivity."""
        return np.asarray(np.asarray(self.names)[self.rmse.argmin(axis=0)])

    @property
    def best_truncated(self) -> NDArray[Any]:
        """The name of the truncated mechanism with the lowest error, by epsilon and sensitivity."""
        truncated = [name.startswith("Bounded") for name in self.names]
        names = np.asarray(self.names)[truncated]
        return np.asarray(names[self.rmse[truncated].argmin(axis=0)])

    @property
    def margin(self) -> Floats:
        """Percent by which the lowest average RMSE is below the second lowest."""
        first, second = np.sort(self.rmse, axis=0)[:2]
        return np.asarray(100 * (1 - first / second))

    @property
    def over_the_middle(self) -> Floats:
        """The lowest error over 99 % of that of the middle of the box; above 1 it is of no use."""
        return np.asarray(self.rmse.min(axis=0) / (CLEARLY / np.sqrt(12)))

    def plot(self) -> Figure:
        """Draw the map; needs matplotlib.

        `inbounds.plots.regimes_figure` draws several together.
        """
        from inbounds.plots.regimes import regimes_figure  # noqa: PLC0415 - optional

        return regimes_figure([self])

    def _table(self) -> Table:
        return regimes_table(self)

    def __repr__(self) -> str:
        rows, columns = self.epsilons.size, self.fractions.size
        return f"Regimes(delta={self.delta:g}, dimension={self.dimension}, {rows}×{columns} cells)"


@called()
def regimes(
    *,
    delta: float,
    dimension: int = 1,
    fractions: Iterable[float] = FRACTIONS,
    epsilons: Iterable[float] = EPSILONS,
    progress: bool = False,
    shares: Iterable[float] | None = None,
) -> Regimes:
    """Compare the mechanisms on [0, 1]^m for every sensitivity and every epsilon.

    Parameters
    ----------
    delta
        The guarantee's delta. At zero, clamped Gaussian noise is compared only for one coordinate.
    dimension
        Number m of coordinates released together.
    fractions
        l2 sensitivities as fractions of the width of one coordinate, rising.
    epsilons
        The epsilons of the guarantees, rising.
    progress
        Whether to show a progress bar; needs rich.
    shares
        The old name of `fractions`; deprecated.

    Returns
    -------
    Regimes

    Raises
    ------
    ArgumentError
        If a number is out of its range, or a grid does not rise.

    Notes
    -----
    Errors at pure epsilons of the default grid are known. Any other cell takes about half a second,
    most of it for the table of `Optimal`. Every scale was evaluated and found to give the guarantee
    (docs/proofs/search.md, theorem 1), and errors are computed, not simulated
    (docs/proofs/moments.md, theorems 1, 3 and 4).

    See Also
    --------
    compare : The errors at one guarantee.

    Examples
    --------
    >>> import inbounds as ib
    >>> result = ib.regimes(delta=0.0, fractions=[0.01, 1.0], epsilons=[0.1])
    >>> result.best.tolist(), result.best_truncated.tolist()
    ([['Optimal', 'Optimal']], [['BoundedLaplace', 'BoundedLaplace']])
    """
    if shares is not None:
        _warn_of_old_name("shares", "fractions")
        fractions = shares
    delta = check_delta(delta)
    dimension = _check.whole(1, _MOST_COORDINATES, dimension=dimension)
    box = Box(0, 1) if dimension == 1 else Box(np.zeros(dimension), 1)
    x, y = _grid("fractions", fractions), _grid("epsilons", epsilons)
    names = NAMES + ON_AN_INTERVAL if dimension == 1 else NAMES
    rmse = np.full((len(names), y.size, x.size), np.inf)
    cells = list(np.ndindex(y.size, x.size))
    for row, column in tracked(cells, "Regimes", progress=progress):
        fraction, epsilon = float(x[column]), float(y[row])
        errors = known_errors(fraction, epsilon, delta) if box.is_interval else {}
        if len(errors) < len(names):
            guarantee = Guarantee(epsilon, delta)
            errors |= _computed(box, L2(fraction), guarantee, known=errors)
        for name, error in errors.items():
            rmse[names.index(name), row, column] = error
    return Regimes(delta, dimension, x, y, names, _check.frozen(rmse))


def computed_errors(fraction: float, epsilon: float) -> dict[str, float]:
    """Return the average RMSE on [0, 1] of every mechanism at a pure epsilon, by name.

    Examples
    --------
    >>> errors = computed_errors(1.0, 10.0)
    >>> min(errors, key=errors.get)
    'Optimal'
    """
    return _computed(Box(0, 1), L2(fraction), Guarantee(epsilon), known=())


def _computed(
    box: Box, sensitivity: L2, guarantee: Guarantee, known: Collection[str]
) -> dict[str, float]:
    """Return the average RMSE of the mechanisms for which it is not known, by name."""
    mechanisms = calibrations(box, sensitivity, guarantee, without=known)
    return {name: average_rmse(mechanism) for name, mechanism in mechanisms}


def __getattr__(name: str) -> Floats:
    """Return `FRACTIONS` under its old name."""
    if name != "SHARES":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    _warn_of_old_name("SHARES", "FRACTIONS")
    return FRACTIONS


def _warn_of_old_name(old: str, new: str) -> None:
    warn_caller(DeprecationWarning(f"{old} is now called {new}."))


def _grid(name: str, numbers: Iterable[float]) -> Floats:
    points = np.atleast_1d(_check.positive_vector(**{name: numbers}))
    if name == "fractions" and points.max() > 1:
        raise ArgumentError.must_be(name, "fractions of the range, at most 1")
    if (np.diff(points) <= 0).any():
        raise ArgumentError.must(name, "rise from each point to the next")
    return _check.frozen(points)
