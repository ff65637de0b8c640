"""How long it takes to find sigma, and how right the alternatives are.

Aims: 5 times faster than Algorithm 1 in one dimension, 100 times faster than cvxpy in a thousand,
a million distinct widths in under 1 s, and the check of a certificate of 10⁵ rows in under 5 s.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial
from statistics import median

import numpy as np
from rich.table import Table

import inbounds as ib
from benchmarks import rivals
from benchmarks.rivals import ByQuadratics, ByTangents, Floats, WorstChange
from benchmarks.timing import Timing, duration, factor, judged, new_table, race
from inbounds.calibration import exact, paper

OVER_ALGORITHM_1, OVER_CVXPY, MILLION_SECONDS = 5, 100, 1.0
CHECK_SECONDS_PER_ROW = 5e-5
_LONGEST = 20.0  # seconds that one full solve may take before it is extrapolated


def run() -> Iterator[Table]:
    yield from _one_dimension()
    yield from _against_cvxpy()
    yield _many_dimensions()


# --- one dimension ---

Rival = Callable[[float, float, float], float]
_PLAIN, _BRENT = (rivals.algorithm_1, "paper"), (rivals.brent, "exact")
_INTERVALS = [  # (sensitivity / width, epsilon)
    (0.1, 1e-33),
    (0.001, 1e-15),
    (0.001, 1e-6),
    (0.02, 0.1),
    (0.02, 1.0),
    (0.1, 1.0),
    (0.5, 1.0),
    (1.0, 1.0),
    (0.1, 10.0),
]


def _one_dimension() -> Iterator[Table]:
    speed = new_table(
        "One dimension, [0, 1]: time to find sigma",
        "×: how many times longer it takes than interval_sigma, and than Box and calibrated. "
        f"Aim: {OVER_ALGORITHM_1}× for Algorithm 1. It solves the paper's inequality, brentq the "
        "exact one.",
        *("D/w", "ε", "interval_sigma", "Box + calibrated"),
        *("Algorithm 1", "× sigma", "× calibrated", "brentq", "× sigma", "× calibrated"),
        labels=("D/w", "ε"),
    )
    truth = new_table(
        "One dimension, [0, 1]: what they find",
        "Errors of σ are relative to ours for the same inequality, method='paper' and 'exact'. "
        "The textbook formula subtracts normal cdfs that agree in all digits when ε is small.",
        *("D/w", "ε", "σ², exact", "brentq σ²", "error of σ", "σ², paper", "Algorithm 1 σ²"),
        "error of σ",
    )
    for change, epsilon in _INTERVALS:
        row = (f"{change:g}", f"{epsilon:g}")
        speed.add_row(*row, *_interval_speed(change, epsilon))
        truth.add_row(*row, *_interval_truth(change, epsilon))
    yield speed
    yield truth


def _interval_speed(change: float, epsilon: float) -> list[str]:
    def calibrated() -> ib.BoundedGaussian:
        return ib.BoundedGaussian.calibrated(ib.Box(0, 1), change, epsilon=epsilon)

    core, whole, first, brent = race(
        lambda: exact.interval_sigma(1.0, change, epsilon),
        calibrated,
        lambda: _attempt(rivals.algorithm_1, change, epsilon),
        lambda: _attempt(rivals.brent, change, epsilon),
        seconds=0.5,
    )
    cells = [str(core), str(whole)]
    for timing, rival, method in ((first, *_PLAIN), (brent, *_BRENT)):
        right = abs(_square_error(rival, method, change, epsilon)[2]) < 1e-2
        ratios = [timing.over(core), timing.over(whole)]
        texts = [factor(ratio) for ratio in ratios]
        if rival is rivals.algorithm_1:
            texts = [judged(factor(ratio), ratio >= OVER_ALGORITHM_1) for ratio in ratios]
        cells += [str(timing), *(texts if right else ("wrong", "wrong"))]
    return cells


def _interval_truth(change: float, epsilon: float) -> list[str]:
    cells = []
    for rival, method in (_BRENT, _PLAIN):
        ours, found, error = _square_error(rival, method, change, epsilon)
        text = "fails" if math.isnan(found) else f"{error:.1e}"
        right = abs(error) < 1e-6
        cells += [f"{ours:.12g}", f"{found:.12g}", text if right else f"[red]{text}[/]"]
    return cells


def _square_error(
    rival: Rival, method: str, change: float, epsilon: float
) -> tuple[float, float, float]:
    """Return our σ², the rival's, and the relative error of its σ."""
    if method == "paper":
        ours = paper.sigma(np.ones(1), change, epsilon) ** 2
    else:
        ours = exact.interval_sigma(1.0, change, epsilon) ** 2
    found = _attempt(rival, change, epsilon)
    return ours, found, math.sqrt(found / ours) - 1


def _attempt(rival: Rival, change: float, epsilon: float) -> float:
    """Not a number where the textbook formula divides by zero or brackets no root."""
    try:
        with np.errstate(all="ignore"):
            return rival(1.0, change, epsilon)
    except (ValueError, ZeroDivisionError):
        return math.nan


# --- many dimensions, against cvxpy ---

_FORMULATIONS: tuple[tuple[str, type[WorstChange]], ...] = (
    (f"{ByTangents.tangents} tangents", ByTangents),
    ("quadratics", ByQuadratics),
)


def _against_cvxpy() -> Iterator[Table]:
    columns = ("m", "ours", "cvxpy with", "compile", "Clarabel", "each σ", "×", "× Clarabel alone")
    caption = (
        "Each σ: what every further sigma costs, compiling included only where cvxpy cannot keep "
        f"the compiled problem. Aim at m = 1000: {OVER_CVXPY}×. "
        "An error below 0 understates the loss. "
        "Widths uniform on [0.1, 10], ΔQ a fifth of ‖w‖, ε = m/10."
    )
    labels = ("m", "cvxpy with")
    title = "The paper's c*: ln ΔC at one sigma"
    stars = new_table(title, caption, *columns, "error of ln ΔC", labels=labels)
    worst = new_table("The exact ε at one sigma", caption, *columns, "error of ε", labels=labels)
    full = new_table(
        "From ε to sigma: the whole solve",
        f"≈: one c* problem times their number, when it would take over {_LONGEST:g} s. "
        f"Aim at m = 1000: {OVER_CVXPY}×. Algorithm 2 answers the same question as 'paper'.",
        *("m", "paper", "exact", "Algorithm 2, cvxpy with", "c* problems", "time", "× paper"),
        *("× exact", "error of σ", "σ² paper / exact"),
        labels=("m", "Algorithm 2, cvxpy with"),
    )
    for size in (2, 10, 100, 1000):
        widths = np.random.default_rng(size).uniform(0.1, 10, size)
        each = _add_one_sigma(stars, worst, widths)
        _add_whole_solve(full, widths, each)
    yield stars
    yield worst
    yield full


def _epsilon(widths: Floats) -> float:
    """A budget that makes the noise about as large as the widths, where nothing is linear."""
    return widths.size / 10


def _sensitivity(widths: Floats) -> float:
    return 0.2 * float(np.linalg.norm(widths))


def _add_one_sigma(stars: Table, worst: Table, widths: Floats) -> list[float]:
    """Fill both tables; return the seconds that each formulation takes for one c*."""
    change = _sensitivity(widths)
    reach = ib.L2(change).within(widths)
    sigma = paper.sigma(widths, change, _epsilon(widths))
    scales = np.full_like(widths, sigma)
    caps = np.minimum(widths / 2, change)  # the paper's own lemma: none gains past the middle
    kinds = [kind for _, kind in _FORMULATIONS]
    solvers = [kind(widths, reach.caps, change, rivals.loss_terms) for kind in kinds]
    _add_rows(worst, sigma, lambda: exact.pure_loss(widths, reach, scales).epsilon, solvers)
    solvers = [kind(widths, caps, change, rivals.log_ratio_terms) for kind in kinds]
    return _add_rows(stars, sigma, lambda: paper.log_delta_c(widths, change, sigma), solvers)


def _add_rows(
    table: Table, sigma: float, ours: Callable[[], float], solvers: list[WorstChange]
) -> list[float]:
    clarabel: dict[WorstChange, list[float]] = {solver: [] for solver in solvers}

    def afresh(solver: WorstChange) -> float:
        solver.forget()
        found = solver.maximum(sigma)
        clarabel[solver].append(solver.solver_seconds)
        return found

    mine, *theirs = race(ours, *(partial(afresh, solver) for solver in solvers))
    for (name, _), solver, timing in zip(_FORMULATIONS, solvers, theirs, strict=True):
        size, ratio, alone = solver.widths.size, timing.over(mine), median(clarabel[solver])
        error = afresh(solver) / ours() - 1
        table.add_row(
            *(str(size), str(mine), name, duration(solver.compile_seconds)),
            *(duration(alone), str(timing), _against_aim(ratio, size)),
            *(factor(alone / mine.seconds), f"{error:.1e}"),
        )
    return [timing.seconds for timing in theirs]


def _against_aim(ratio: float, size: int) -> str:
    return judged(factor(ratio), ratio >= OVER_CVXPY) if size == 1000 else factor(ratio)


def _add_whole_solve(table: Table, widths: Floats, each: list[float]) -> None:
    size, change = widths.size, _sensitivity(widths)
    box, caps = ib.Box(np.zeros(size), widths), np.minimum(widths / 2, change)
    problems = _count_problems(widths, change)

    def ours(method: str) -> ib.BoundedGaussian:
        return ib.BoundedGaussian.calibrated(box, change, epsilon=_epsilon(widths), method=method)  # type: ignore[arg-type]

    squares = [float(ours(method).sigma) ** 2 for method in ("paper", "exact")]
    for (name, kind), seconds in zip(_FORMULATIONS, each, strict=True):
        solver = kind(widths, caps, change, rivals.log_ratio_terms)
        runners: list[Callable[[], object]] = [partial(ours, "paper"), partial(ours, "exact")]
        if problems * seconds < _LONGEST:
            theirs = partial(rivals.algorithm_2, widths, change, _epsilon(widths), solver.maximum)
            as_paper, as_exact, timing = race(*runners, theirs)
            error, time = f"{math.sqrt(theirs() / squares[0]) - 1:.1e}", str(timing)
        else:
            as_paper, as_exact = race(*runners)
            timing = Timing((problems * seconds,) * len(as_paper.rounds))
            error, time = "-", f"≈ {timing}"
        table.add_row(
            *(str(size), str(as_paper), str(as_exact), name, str(problems), time),
            _against_aim(timing.over(as_paper), size),
            _against_aim(timing.over(as_exact), size),
            *(error, f"{squares[0] / squares[1]:.3f}"),
        )


def _count_problems(widths: Floats, change: float) -> int:
    """How many c* problems Algorithm 2 solves before its interval stops shrinking."""
    asked = 0

    def log_delta_c(sigma: float) -> float:
        nonlocal asked
        asked += 1
        return paper.log_delta_c(widths, change, sigma)

    rivals.algorithm_2(widths, change, _epsilon(widths), log_delta_c)
    return asked


# --- very many dimensions ---

_SIZES = (10**4, 10**5, 10**6)


def _many_dimensions() -> Table:
    table = new_table(
        "Distinct widths, uniform on [0.1, 10]: BoundedGaussian.calibrated, seconds",
        "σ ≈ w: ε = m/10, noise of about the widths; σ ≫ w: ε = 1. L2 and L1 are a fifth of the "
        f"norm of the widths. Aim at m = 10⁶: under {MILLION_SECONDS:g} s.",
        *("sensitivity", "scaling", "noise", *(f"m = {size:,}" for size in _SIZES)),
    )
    rng = np.random.default_rng(0)
    widths = {size: rng.uniform(0.1, 10, size) for size in _SIZES}
    caps = {size: rng.uniform(0.05, 1, size) * widths[size] for size in _SIZES}
    for name in ("L2", "L1", "L2 & PerCoordinate", "PerCoordinate"):
        for scaling in ("isotropic", "width"):
            for noise in ("σ ≫ w", "σ ≈ w"):
                cells = []
                for size in _SIZES:
                    epsilon = 1.0 if noise == "σ ≫ w" else size / 10
                    seconds = _solve_seconds(name, widths[size], caps[size], epsilon, scaling)
                    reached = seconds < MILLION_SECONDS
                    text = f"{seconds:.3f}"
                    cells.append(judged(text, reached) if size == 10**6 else text)
                table.add_row(name, scaling, noise, *cells)
    table.add_section()
    made, checked = _certificate_seconds(widths[10**4])
    reached = checked < CHECK_SECONDS_PER_ROW * 10**4
    table.add_row("L2, certificate()", "isotropic", "σ ≈ w", f"{made:.3f}")
    table.add_row("L2, its check()", "isotropic", "σ ≈ w", judged(f"{checked:.3f}", reached))
    return table


def _solve_seconds(name: str, widths: Floats, caps: Floats, epsilon: float, scaling: str) -> float:
    sensitivities = {
        "L2": ib.L2(_sensitivity(widths)),
        "L1": ib.L1(0.2 * float(widths.sum())),
        "L2 & PerCoordinate": ib.L2(_sensitivity(widths)) & ib.PerCoordinate(caps),
        "PerCoordinate": ib.PerCoordinate(caps),
    }
    box, sensitivity = ib.Box(np.zeros_like(widths), widths), sensitivities[name]

    def solve() -> ib.BoundedGaussian:
        return ib.BoundedGaussian.calibrated(box, sensitivity, epsilon=epsilon, scaling=scaling)  # type: ignore[arg-type]

    return race(solve, seconds=0.3)[0].seconds


def _certificate_seconds(widths: Floats) -> tuple[float, float]:
    """Seconds to make a certificate, and to check it."""
    box = ib.Box(np.zeros_like(widths), widths)
    mechanism = ib.BoundedGaussian.calibrated(box, _sensitivity(widths), epsilon=_epsilon(widths))
    made, checked = race(mechanism.certificate, mechanism.certificate().check, seconds=0.6)
    return made.seconds, checked.seconds
