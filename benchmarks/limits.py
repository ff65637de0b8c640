"""How far every mechanism is from the least error that privacy allows, on [0, 1] at pure epsilon.

Aims: `Optimal` within 1.5 % of the limit's certified lower end on average and 3 % in the worst
case; what is read back from many people within 1.1 × the limit and the best rival; half the speed
of a numpy normal.

Run: python -m benchmarks limits. In the environment, INBOUNDS_BENCH_REPEATS is the number of
columns whose distribution is recovered (10), and INBOUNDS_BENCH_AUDIT=1 adds audits of 10⁷
releases.
"""

import os
import sys
from collections.abc import Iterator
from functools import cache, partial
from tempfile import TemporaryDirectory

import numpy as np
from rich.table import Table

import inbounds as ib
from benchmarks import local_rivals, recovered
from benchmarks.read_error import Errors, read_error
from benchmarks.recovered import calibrated
from benchmarks.timing import duration, judged, new_table, one_core, race, run_json
from inbounds.calibration.objective import Objective
from inbounds.mechanisms.mechanism import Mechanism

AVERAGE_AIM, WORST_AIM, SPEED_AIM = 0.015, 0.03, 0.5
ONE_VALUE_SECONDS = 200e-6

_SENSITIVITIES = (1.0, 0.5, 0.25, 0.1, 0.02)
_EPSILONS = (0.1, 0.5, 1.0, 2.0, 3.0, 5.0)
_NAMES = (
    *("Optimal", "Window", "ClampedStaircase", "ClampedLaplace", "ClampedGaussian"),
    *("BoundedLaplace", "BoundedGaussian"),
)
_NEW = ("Window", "Optimal", "ClampedStaircase")
_MANY = 10**6
_RELEASES = 10**7
_RIVALS = (
    *(local_rivals.piecewise, local_rivals.hybrid, local_rivals.duchi),
    *(local_rivals.square_wave, local_rivals.opm),
)
_RNG = np.random.default_rng(0)


def run() -> Iterator[Table]:
    yield _single_outputs("average")
    yield _single_outputs("worst")
    yield _local_rivals()
    yield _unbiased_readings()
    yield recovered.distributions()
    yield recovered.means({epsilon: _limit(1.0, epsilon, "unbiased") for epsilon in (1.0, 3.0)})
    yield _speed()
    yield _first_calls()
    if os.environ.get("INBOUNDS_BENCH_AUDIT"):
        yield _audits()


@cache
def _limit(sensitivity: float, epsilon: float, objective: Objective) -> tuple[float, float]:
    bracket = ib.limit(ib.Box(0, 1), sensitivity, epsilon=epsilon, objective=objective)
    return bracket.lower, bracket.upper


def _bracket(ends: tuple[float, float]) -> str:
    return f"{ends[0]:.4g} – {ends[1]:.4g}"


# --- one output: tables 1 and 2 ---


def _single_outputs(objective: Objective) -> Table:
    aim = AVERAGE_AIM if objective == "average" else WORST_AIM
    which = "averaged over uniform values" if objective == "average" else "at the worst value"
    table = new_table(
        f"Squared error of one output on [0, 1], {which}: above the limit",
        "Percent above the certified lower end, or a multiple of it: of the limit's upper end; of "
        "the output → of its best reading on average, denoise. So no error is farther above the "
        "least possible one. Optimal is built for this objective. "
        f"✓: at most {100 * aim:g} % above.",
        *("Δ/w", "ε", "limit", *(name.replace("Clamped", "Clamped ") for name in _NAMES)),
    )
    for sensitivity in _SENSITIVITIES:
        for epsilon in _EPSILONS:
            _add_setting(table, sensitivity, epsilon, objective, aim)
        table.add_section()
    return table


def _add_setting(
    table: Table, sensitivity: float, epsilon: float, objective: Objective, aim: float
) -> None:
    errors = {
        name: _errors(name, sensitivity, epsilon, objective if name == "Optimal" else "")
        for name in _NAMES
    }
    raw = {name: getattr(output, objective) for name, (output, _) in errors.items()}
    read = {name: getattr(reading, objective) for name, (_, reading) in errors.items()}
    lower, upper = _limit(sensitivity, epsilon, objective)
    cells = []
    for name in _NAMES:
        text = f"{_percent(raw[name], lower)} → {_percent(read[name], lower)}"
        reached = min(raw[name], read[name]) <= (1 + aim) * lower
        cells.append(judged(text, reached) if name == "Optimal" else text)
    limit = f"{lower:.4g}, {_percent(upper, lower)}"
    table.add_row(f"{sensitivity:g}", f"{epsilon:g}", limit, *cells)


@cache
def _errors(name: str, sensitivity: float, epsilon: float, objective: str) -> tuple[Errors, Errors]:
    mechanism = calibrated(name, sensitivity, epsilon, objective)
    return Errors.of(mechanism), read_error(mechanism, mechanism.denoise)


def _percent(error: float, limit: float) -> str:
    times = error / limit
    if times >= 10:
        return f"×{times:.3g}" if times < 1000 else f"×{times:.0f}"
    return f"{100 * (times - 1):+.1f}" if times < 2 else f"{100 * (times - 1):+.0f}"


# --- local privacy: tables 3 and 4 ---


def _local_rivals() -> Table:
    table = new_table(
        "Squared error of one output, sensitivity = width: the library and its rivals",
        "1000 × the error, averaged over uniform values: of the output → of the posterior mean "
        "(of the output, at the worst value). All are affine images in the box. Optimal is built "
        "for the average.",
        *("mechanism", *(f"ε = {epsilon:g}" for epsilon in _EPSILONS)),
    )
    limits = (_limit(1.0, epsilon, "average")[0] for epsilon in _EPSILONS)
    table.add_row("limit, at least", *(f"{1000 * limit:.3g}" for limit in limits))
    for name in _NAMES:
        library = (calibrated(name, 1.0, epsilon, "average") for epsilon in _EPSILONS)
        table.add_row(name, *map(_three_errors, library))
    table.add_section()
    for make in _RIVALS:
        rivals = [make(epsilon) for epsilon in _EPSILONS]
        table.add_row(rivals[-1].name, *map(_three_errors, rivals))
    for count in (2, 5, 11):
        rivals = [local_rivals.equal_bins(epsilon, count) for epsilon in _EPSILONS]
        table.add_row(rivals[-1].name, *map(_three_errors, rivals))
    return table


def _three_errors(mechanism: Mechanism) -> str:
    raw, read = Errors.of(mechanism), read_error(mechanism)
    numbers = (1000 * error for error in (raw.average, read.average, raw.worst))
    return "{:.1f} → {:.1f} ({:.0f})".format(*numbers)


def _unbiased_readings() -> Table:
    table = new_table(
        "Variance of an unbiased reading of one output, sensitivity = width",
        "Averaged over uniform values / at the worst value. It is n × the squared error of the "
        "mean of n people. The limit is for the average. Piecewise is Window without its grid. "
        f"✓: at most {recovered.AIM} × the limit's lower end.",
        *("mechanism", *(f"ε = {epsilon:g}" for epsilon in _EPSILONS)),
    )
    limits = [_limit(1.0, epsilon, "unbiased") for epsilon in _EPSILONS]
    table.add_row("limit", *map(_bracket, limits))
    for name in ("Optimal", "Window", "ClampedLaplace"):
        library = [calibrated(name, 1.0, epsilon, "unbiased") for epsilon in _EPSILONS]
        cells = []
        for mechanism, (lower, _) in zip(library, limits, strict=True):
            variance = _variance(mechanism)
            cells.append(judged(_pair(variance), variance.average <= recovered.AIM * lower))
        table.add_row(name, *cells)
    table.add_section()
    for make in _RIVALS[:-1]:
        rivals = [make(epsilon) for epsilon in _EPSILONS]
        table.add_row(rivals[-1].name, *(_pair(_variance(rival)) for rival in rivals))
    return table


def _variance(mechanism: Mechanism) -> Errors:
    return read_error(mechanism, mechanism.unbiased)


def _pair(variance: Errors) -> str:
    return f"{variance.average:.4g} / {variance.worst:.4g}"


# --- speed ---


def _speed() -> Table:
    table = new_table(
        f"[0, 1], sensitivity = width: release of {_MANY:,} uniform values, and of one",
        "×: speed, as a multiple of numpy's Generator.standard_normal in the same run, which has "
        f"one thread. Aims: {SPEED_AIM}, and one value in {duration(ONE_VALUE_SECONDS)}.",
        *("mechanism", "ε", "numpy", "one core", "×", "all cores", "×", "one value"),
        labels=("mechanism", "ε"),
    )
    values = _RNG.uniform(size=_MANY)
    for name in (*_NEW, "BoundedGaussian"):
        for epsilon in (0.1, 1.0, 3.0):
            release = calibrated(name, 1.0, epsilon, "average").release
            runners = partial(_RNG.standard_normal, _MANY), partial(release, values)
            with one_core():
                plain, alone = race(*runners)
            beside, together = race(*runners)
            (single,) = race(partial(release, 0.3), seconds=0.3)
            table.add_row(
                *(name, f"{epsilon:g}", str(plain), str(alone), _times(plain.over(alone))),
                *(str(together), _times(beside.over(together))),
                judged(str(single), single.seconds <= ONE_VALUE_SECONDS),
            )
    return table


def _times(speed: float) -> str:
    return judged(f"{speed:.2f}", speed >= SPEED_AIM)


def _first_calls() -> Table:
    table = new_table(
        "A fresh process, ε = 1: the first release after the import",
        "Import: until a mechanism is made. Compiled: functions that numba compiled instead of "
        "reading its cache; aim: none for one value, nor with a warm cache.",
        *("mechanism", "values", "numba's cache", "import", "first release", "second", "compiled"),
    )
    with TemporaryDirectory() as folder:
        for name in _NEW:
            for count, state in ((_MANY, "empty"), (_MANY, "warm"), (1, "warm")):
                command = [sys.executable, "-m", "benchmarks.fresh", "first", str(count), name]
                measured = run_json(command, NUMBA_CACHE_DIR=os.path.join(folder, name))
                times = [duration(measured[key]) for key in ("imported", "first", "second")]
                compiled = measured["compiled"]
                text = judged(str(compiled), not compiled) if state == "warm" else str(compiled)
                table.add_row(name, f"{count:,}", state, *times, text)
    return table


# --- audits ---


def _audits() -> Table:
    table = new_table(
        f"Audits of {_RELEASES:,} releases, sensitivity = width",
        "A lower bound on epsilon from counts of outputs, which holds with a probability of "
        "99.9 %. ✓: not above the claim.",
        *("mechanism", "claimed ε", "measured at least", "of the claim"),
    )
    for name in _NEW:
        for epsilon in (0.1, 1.0, 3.0):
            audit = ib.audit(calibrated(name, 1.0, epsilon, "average"), releases=_RELEASES)
            measured = audit.epsilon_lower
            text = judged(f"{measured:.4f}", measured <= epsilon)
            table.add_row(name, f"{epsilon:g}", text, f"{measured / epsilon:.1%}")
    return table
