"""What is read back from the outputs of many people: their distribution and their mean.

Every mechanism is read with the library's own `deconvolve`, the rivals too. The square wave is also
read as its authors do: by expectation maximisation with smoothing (Li et al., 2020).
"""

import math
import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

import inbounds as ib
from benchmarks import local_rivals
from benchmarks.read_error import Outcomes
from benchmarks.timing import judged, new_table
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.recovery.cells import Cells
from inbounds.recovery.reader import reader_of

Floats = NDArray[np.float64]
Population = Callable[[int], Floats]
Reading = Callable[[Floats, Mechanism], Floats]
AIM = 1.1  # times the best rival, or the limit
PEOPLE = 10**4
EPSILONS = (1.0, 3.0)
OURS = ("Window", "Optimal", "ClampedLaplace", "BoundedLaplace", "BoundedGaussian")

_REPEATS = int(os.environ.get("INBOUNDS_BENCH_REPEATS", "10"))
_MEANS = 10 * _REPEATS  # a mean is read in no time, and a squared error needs many of them
_RNG = np.random.default_rng(14)
_PLACES = (np.arange(4000) + 0.5) / 4000  # where distributions are compared
_BOX = ib.Box(0, 1)
_EMS_CELLS, _EMS_STOP = 64, 1e-3  # nats, times e^epsilon: as in the paper


def _two_humps(size: int) -> Floats:
    return np.clip(_RNG.normal(_RNG.choice([5 / 24, 19 / 24], size), 0.05), 0, 1)


POPULATIONS: dict[str, Population] = {
    "uniform": lambda size: _RNG.uniform(size=size),
    "beta(2, 6)": lambda size: _RNG.beta(2, 6, size),
    "two humps": _two_humps,
    "0 or 1 (20 %)": lambda size: (_RNG.uniform(size=size) < 0.2).astype(float),
}


def ours(epsilon: float) -> dict[str, Mechanism]:
    """The library's mechanisms of local privacy, on [0, 1]."""
    return {name: calibrated(name, 1.0, epsilon, "unbiased") for name in OURS}


def calibrated(name: str, sensitivity: float, epsilon: float, objective: str) -> Mechanism:
    """Calibrate a mechanism of the library on [0, 1], for the objective if it has one."""
    options: dict[str, dict[str, object]] = {
        "Optimal": {"objective": objective},
        "ClampedGaussian": {"delta": 0.0, "method": "exact"},
    }
    make = getattr(ib, name).calibrated
    mechanism: Mechanism = make(_BOX, sensitivity, epsilon=epsilon, **options.get(name, {}))
    return mechanism


def distributions() -> Table:
    """Wasserstein distances of recovered distributions to the true values."""
    table = new_table(
        f"Distribution recovered by deconvolve from {PEOPLE:,} people, sensitivity = width",
        f"1000 × the Wasserstein distance to the people's own values, mean of {_REPEATS} columns "
        f"and its standard error; the width is 1. ✓: at most {AIM} × the best rival, for the "
        "mechanisms of the library. Randomised response on bins tells nothing about the inside of "
        "a bin; deconvolve then fills it evenly, which is right for uniform values only. EMS: read "
        "by expectation maximisation with smoothing, as its authors do. Piecewise is Window.",
        *("ε", "mechanism", *POPULATIONS),
    )
    kinds = ("square_wave", "opm", "piecewise", "hybrid", "best_bins")
    columns = {name: [make(PEOPLE) for _ in range(_REPEATS)] for name, make in POPULATIONS.items()}
    for epsilon in EPSILONS:
        library, rivals = ours(epsilon), [getattr(local_rivals, kind)(epsilon) for kind in kinds]
        theirs = {rival.name: _distances(rival, columns) for rival in rivals}
        theirs["Square Wave, EMS"] = _distances(rivals[0], columns, _smoothed_maximisation)
        least = [min(row, key=lambda d: d.mean).mean for row in zip(*theirs.values(), strict=True)]
        for name, mechanism in library.items():
            pairs = zip(_distances(mechanism, columns), least, strict=True)
            cells = [judged(str(d), d.mean <= AIM * best) for d, best in pairs]
            table.add_row(f"{epsilon:g}", name, *cells)
        for name, row in theirs.items():
            table.add_row(f"{epsilon:g}", name, *map(str, row))
        table.add_section()
    return table


def _deconvolved(outputs: Floats, mechanism: Mechanism) -> Floats:
    """Return the recovered cdf at all places."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ib.FewOutputsWarning)  # of a rival
        return np.asarray(ib.deconvolve(outputs, mechanism, bootstrap=0).cdf(_PLACES))


def _smoothed_maximisation(outputs: Floats, mechanism: Mechanism) -> Floats:
    """Return the cdf by steps of expectation maximisation, each followed by a mean of three."""
    cells = Cells.of(mechanism, _EMS_CELLS)
    response, counts = cells.response(mechanism), cells.count(outputs)
    size, last = len(response), -math.inf
    smoothing = sum(w * np.eye(size, k=k) for k, w in ((-1, 0.25), (0, 0.5), (1, 0.25)))
    smoothing = smoothing / smoothing.sum(axis=0)
    weights = np.full(size, 1 / size)
    while (likelihood := float(counts @ np.log(weights @ response))) > last + _EMS_STOP * math.exp(
        mechanism.epsilon
    ):
        last = likelihood
        weights = smoothing @ (weights * (response @ (counts / (weights @ response))))
        weights = weights / weights.sum()
    return np.interp(_PLACES, cells.edges, np.append(0.0, np.cumsum(weights)))


def _distances(
    mechanism: Mechanism, columns: dict[str, list[Floats]], read: Reading = _deconvolved
) -> list["_Distances"]:
    return [_Distances.of(mechanism, values, read) for values in columns.values()]


@dataclass(frozen=True)
class _Distances:
    mean: float
    error: float

    @classmethod
    def of(
        cls, mechanism: Mechanism, columns: list[Floats], read: Reading = _deconvolved
    ) -> "_Distances":
        found = [_distance(mechanism, values, read) for values in columns]
        return cls(float(np.mean(found)), float(np.std(found) / math.sqrt(len(found))))

    def __str__(self) -> str:
        return f"{1000 * self.mean:.3g} ± {1000 * self.error:.2g}"


def _distance(mechanism: Mechanism, values: Floats, read: Reading) -> float:
    true = np.searchsorted(np.sort(values), _PLACES, side="right") / values.size
    return float(np.abs(read(np.asarray(mechanism.release(values)), mechanism) - true).mean())


def means(limits: dict[float, tuple[float, float]]) -> Table:
    """The error of the mean, against brackets on the least variance of an unbiased reading."""
    table = new_table(
        f"Mean of {PEOPLE:,} people, as deconvolve reads it, sensitivity = width",
        "n × the mean squared error, around the mean of the people's own values: exact, where the "
        f"reading is unbiased → simulated, {_MEANS} times (±{math.sqrt(2 / _MEANS):.0%}), or "
        f"{_REPEATS} times where it is not (±{math.sqrt(2 / _REPEATS):.0%}). The limit is the "
        "least variance of an unbiased reading, on average over uniform values. "
        f"✓: at most {AIM} × its lower end.",
        *("ε", "mechanism", *POPULATIONS),
    )
    for epsilon, (low, high) in limits.items():
        table.add_row(f"{epsilon:g}", "limit", f"{low:.4g} – {high:.4g}")
        rivals = [getattr(local_rivals, kind)(epsilon) for kind in ("piecewise", "hybrid", "duchi")]
        for name, mechanism in ours(epsilon).items():
            aims = [AIM * low, *(None for _ in range(len(POPULATIONS) - 1))]
            table.add_row(f"{epsilon:g}", name, *_mean_cells(mechanism, aims))
        for rival in rivals:
            table.add_row(
                f"{epsilon:g}", rival.name, *_mean_cells(rival, [None] * len(POPULATIONS))
            )
        table.add_section()
    return table


def _mean_cells(mechanism: Mechanism, aims: Sequence[float | None]) -> list[str]:
    pairs = zip(POPULATIONS.values(), aims, strict=True)
    return [_mean_cell(mechanism, population, aim) for population, aim in pairs]


def _mean_cell(mechanism: Mechanism, population: Population, aim: float | None) -> str:
    simulated = _mean_error(mechanism, population)
    if not mechanism.has_unbiased:
        return f"{simulated:.2g}" if aim is None else judged(f"{simulated:.2g}", simulated <= aim)
    exact = _exact_mean_error(mechanism, population)
    text = f"{exact:.3g} → {simulated:.2g}"
    return text if aim is None else judged(text, exact <= aim)


def _exact_mean_error(mechanism: Mechanism, population: Population) -> float:
    outcomes = Outcomes.of(mechanism)
    squares = outcomes.squares(np.asarray(mechanism.unbiased(outcomes.outputs)))
    order = np.argsort(outcomes.values)
    values = population(10**6)
    return float(np.interp(values, outcomes.values[order], squares[order]).mean())


def _mean_error(mechanism: Mechanism, population: Population) -> float:
    squares = []
    for _ in range(_MEANS if mechanism.has_unbiased else _REPEATS):
        values, reader = population(PEOPLE), reader_of(mechanism)
        reader.add(np.asarray(mechanism.release(values)), None)
        squares.append((reader.read().mean - values.mean()) ** 2)
    return PEOPLE * float(np.mean(squares))
