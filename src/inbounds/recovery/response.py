"""The most plausible distribution over cells, given the counts of the outputs."""

from dataclasses import dataclass

import numpy as np

from inbounds._types import Floats

_ENOUGH = 1e-3  # nats: data cannot show a likelihood ratio of 1.001
_ROUNDING = 1e-12  # of the log-likelihood: double precision does not settle less
_MOST_STEPS = 100  # about 20 are usual
_STAY_INSIDE = 0.995
_UNUSED = 1e-5  # of an even weight: the solver does not reach zero
_SINGULAR = 1e-9  # information below this, of the average, tells nothing
_NOTHING = 1e-14  # of all information: what rounding leaves of it when nothing is told
_TINY = 1e-300
# BLAS wakes threads for larger products and systems of equations. That gains little, and on a busy
# machine it takes up to 70 times as long.
_ONE_THREAD, _ONE_THREAD_SYSTEM = 1 << 18, 80
_FEW_COLUMNS = 2  # times as many rows: then a system of the size of the columns is quicker
_TILE = 64  # rows and columns of a product at once; _ONE_THREAD is its cube


@dataclass(frozen=True, slots=True)
class Fit:
    """Weights that sum to one, and the most by which the objective could be higher, in nats."""

    weights: Floats
    gap: float


def fit(
    response: Floats, counts: Floats, penalty: Floats | None, price: Floats | float = 0.0
) -> Fit:
    """Maximise F(w) = Σ counts·ln(w @ response) − ½ w @ penalty @ w − price @ w.

    The maximum is over distributions w. This is Newton's method on the conditions of optimality,
    with the bound w >= 0 tightened step by step (a primal-dual interior point method). F is
    concave, so the maximum is global. Expectation maximisation has the same maximum, but needs
    thousands of steps if the noise is high. Proof that the maximum is global and that the gap
    bounds the distance to it: docs/proofs/deconvolution.md, theorems 2 and 3.

    Parameters
    ----------
    response
        The probability of every cell of outputs, with one row per cell of true values.
    counts
        The number of outputs in each cell of outputs, at least one in all.
    penalty
        A positive semidefinite matrix; None for unpenalised maximum likelihood.
    price
        What a unit of each weight costs, in nats.

    Examples
    --------
    >>> response = np.array([[0.8, 0.2], [0.2, 0.8]])
    >>> result = fit(response, np.array([50.0, 50.0]), None)
    >>> result.weights.round(6).tolist(), result.gap < 1e-3
    ([0.5, 0.5], True)
    """
    seen = counts > 0
    total = float(counts.sum())
    response, fraction = response[:, seen], counts[seen] / total
    price = price / total
    penalty = None if penalty is None else penalty / total
    size = len(response)
    weights, slack, level = np.full(size, 1 / size), np.ones(size), 1.0
    best = Fit(weights, np.inf)
    for _ in range(_MOST_STEPS):
        ratio = response / (weights @ response)
        slope = ratio @ fraction - price
        if penalty is not None:
            slope -= penalty @ weights
        gap = total * max(0.0, float(slope.max() - slope @ weights))
        if gap < best.gap:
            best = Fit(weights, gap)
        if gap <= max(_ENOUGH, _ROUNDING * total):
            break
        curvature = _Curvature(ratio * np.sqrt(fraction), penalty)
        weights, slack, level = _step(slope, curvature, weights, slack, level)
    return best


@dataclass(frozen=True, slots=True)
class _Curvature:
    """The matrix root · rootᵀ + penalty."""

    root: Floats
    penalty: Floats | None

    def solved_with(self, diagonal: Floats, right: Floats) -> Floats:
        """Return the solution of a system of equations whose matrix is this, plus a diagonal.

        If there are many more rows than columns, Woodbury's identity leads to a small system. Only
        the number of steps depends on its rounding errors: the gap of a fit is computed without it.
        """
        rows, columns = self.root.shape
        if self.penalty is not None or rows < _FEW_COLUMNS * columns:
            curvature = _product(self.root, self.root.T) + np.diag(diagonal)
            return solved(curvature if self.penalty is None else curvature + self.penalty, right)
        shares, start = self.root / diagonal[:, None], right / diagonal[:, None]
        small = np.eye(columns) + _product(self.root.T, shares)
        return start - _product(shares, solved(small, _product(self.root.T, start)))


def freedom(response: Floats, counts: Floats, penalty: Floats, weights: Floats) -> float:
    """Return the effective number of free parameters of fitted weights.

    This is the trace of (H + penalty)⁻¹H over the changes of the positive weights that keep their
    sum, where H is the curvature of the log-likelihood. Without a penalty it is their number less
    one. Proof: docs/proofs/deconvolution.md, theorem 11.

    Examples
    --------
    >>> response, counts = np.array([[0.8, 0.2], [0.2, 0.8]]), np.array([50.0, 50.0])
    >>> round(freedom(response, counts, np.zeros((2, 2)), np.full(2, 0.5)), 6)
    1.0
    """
    used, seen = weights > _UNUSED / len(weights), counts > 0
    size = int(used.sum())
    chances = weights @ response[:, seen]
    if size < 2 or not (chances > 0).all():
        return 0.0
    information = weighted_square(response[np.ix_(used, seen)] / chances, counts[seen])
    changes = np.linalg.qr(np.ones((size, 1)), mode="complete")[0][:, 1:]
    rounding = _NOTHING * float(np.trace(information))
    information, stiffness = (
        changes.T @ matrix @ changes for matrix in (information, penalty[np.ix_(used, used)])
    )
    total = information + stiffness
    least = max(_SINGULAR * float(np.trace(total)) / size, rounding, _TINY)
    total += np.eye(size - 1) * least
    return float(np.trace(solved(total, information)))


def bending(widths: Floats) -> Floats:
    """Return Q such that ½ w @ Q @ w is the curvature ½∫(g″)² of the density g, in bells.

    The density is taken on the unit interval, so that the number of cells hardly matters. One
    bell is the curvature of a normal density with a tenth of the interval as standard deviation.
    Derivation: docs/proofs/deconvolution.md, theorem 5.

    Examples
    --------
    >>> x = (np.arange(200) + 0.5) / 200
    >>> bell = np.exp(-(((x - 0.5) / 0.1) ** 2) / 2)
    >>> bell /= bell.sum()
    >>> bool(0.98 < bell @ bending(np.ones(200)) @ bell / 2 < 1)
    True
    """
    widths = widths / widths.sum()
    size = len(widths)
    second = np.diff(np.eye(size), 2, axis=0) / widths
    bell = 3 / (16 * np.sqrt(np.pi) * 0.1**5)
    result: Floats = float(size) ** 3 / bell * (second.T @ second)
    return result


def _step(
    slope: Floats, curvature: _Curvature, weights: Floats, slack: Floats, level: float
) -> tuple[Floats, Floats, float]:
    """Take a Newton step towards slope = level − slack and a tenth of the present weights·slack.

    At the maximum, every cell with a positive weight has the same slope, the level; the slopes of
    the others are lower by their slack.
    """
    size = len(weights)
    barrier = 0.1 * (weights @ slack) / size
    pull = slope - level + barrier / weights
    right = np.column_stack([pull, np.ones(size)])
    by_pull, by_level = curvature.solved_with(slack / weights, right).T
    level_step = by_pull.sum() / by_level.sum()
    step = by_pull - level_step * by_level
    slack_step = barrier / weights - slack - slack / weights * step
    weights = weights + _reach(weights, step) * step
    reach = _reach(slack, slack_step)
    return weights / weights.sum(), slack + reach * slack_step, level + reach * level_step


def weighted_square(matrix: Floats, weights: Floats) -> Floats:
    """Return matrix · diag(weights) · matrixᵀ.

    Examples
    --------
    >>> weighted_square(np.array([[1.0, 2.0]]), np.array([10.0, 1.0])).tolist()
    [[14.0]]
    """
    return _product(matrix * weights, matrix.T)


def solved(system: Floats, right: Floats) -> Floats:
    """Return the solution of a system of equations that is symmetric and positive definite.

    Large ones are divided in two: the first unknowns are eliminated, which keeps it definite.

    Examples
    --------
    >>> solved(np.diag([2.0, 4.0]), np.array([[1.0], [1.0]])).tolist()
    [[0.5], [0.25]]
    """
    half = len(system) // 2
    if len(system) <= _ONE_THREAD_SYSTEM:
        return np.linalg.solve(system, right).astype(np.float64, copy=False)
    across = system[:half, half:]
    first = solved(system[:half, :half], np.hstack([across, right[:half]]))
    shares, start = first[:, : across.shape[1]], first[:, across.shape[1] :]
    rest = solved(
        system[half:, half:] - _product(across.T, shares), right[half:] - _product(across.T, start)
    )
    return np.vstack([start - _product(shares, rest), rest])


def _product(left: Floats, right: Floats) -> Floats:
    """Return left · right, in tiles small enough for one thread."""
    result = np.zeros((len(left), right.shape[1]))
    for row in range(0, len(left), _TILE):
        for column in range(0, right.shape[1], _TILE):
            tile = result[row : row + _TILE, column : column + _TILE]
            width = _ONE_THREAD // tile.size
            for start in range(0, len(right), width):
                beside, below = slice(start, start + width), slice(column, column + _TILE)
                tile += left[row : row + _TILE, beside] @ right[beside, below]
    return result


def _reach(point: Floats, step: Floats) -> float:
    """Return the largest part of the step, at most 1, that keeps every coordinate positive."""
    return min(1.0, _STAY_INSIDE / max(float((-step / point).max()), 1e-300))
