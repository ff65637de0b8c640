import itertools
import math
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from flint import ctx, fmpq
from mpmath import mp, mpf
from scipy import stats

from inbounds.sampling.entropy import SYSTEM, Entropy, SeededEntropy
from inbounds.sampling.grid import Grid
from inbounds.sampling.reference import draw

PRECISION = 1200  # bits of the oracle, far beyond the 512 bits of any U compared with it


@dataclass
class Script:
    """The bits of a given U, then one bit for ever."""

    text: str
    forever: str = "0"
    drawn: int = 0

    def bits(self, count: int) -> int:
        word = self.text[self.drawn : self.drawn + count].ljust(count, self.forever)
        self.drawn += count
        return int(word, 2)


def cdf(value: float, sigma: float, grid: Grid) -> Callable[[fmpq], mpf]:
    """The textbook distribution function, by another library than the one under test."""
    with mp.workprec(PRECISION):
        scale = mp.sqrt(2) * mpf(sigma)
        low, high = (mp.erf((mpf(end) - mpf(value)) / scale) for end in (grid.lower, grid.upper))

    def evaluate(x: fmpq) -> mpf:
        with mp.workprec(PRECISION):
            z = (mpf(int(x.p)) / mpf(int(x.q)) - mpf(value)) / scale
            return (mp.erf(z) - low) / (high - low)

    return evaluate


def levels(value: float, sigma: float, grid: Grid) -> list[mpf]:
    distribution = cdf(value, sigma, grid)
    return [distribution(grid.cut(k)) for k in range(grid.intervals)]


def probabilities(value: float, sigma: float, grid: Grid) -> np.ndarray:
    with mp.workprec(PRECISION):
        bounds = [mpf(0), *levels(value, sigma, grid), mpf(1)]
        return np.array([float(high - low) for low, high in itertools.pairwise(bounds)])


def as_number(text: str) -> mpf:
    with mp.workprec(PRECISION):
        return mpf(int(text, 2)) / mpf(2) ** len(text)


def first_word(level: mpf) -> int:
    with mp.workprec(PRECISION):
        return int(mp.floor(level * 2**64))


def scripts(cuts: list[mpf], entropy: Entropy) -> list[str]:
    """Bits of U: the ends, the middle, ten anywhere, and as near each cut as 64 bits can be."""
    words = {0, 1, 2, 2**64 - 1, 2**64 - 2, 2**63, *(entropy.bits(64) for _ in range(10))}
    words |= {first_word(level) + shift for level in cuts for shift in (-1, 0, 1)}
    return [f"{word:064b}{entropy.bits(448):0448b}" for word in sorted(words) if 0 <= word < 2**64]


def extreme_settings() -> list[tuple[float, float, float, float]]:
    """Bounds, scale and value: every width, offset, width/sigma and position that doubles hold."""
    settings = []
    boxes = [(0.0, 1.0), (1e9, 1e9 + 3), (-1e9, 1e-9), (0.0, 5e-323), (-5e307, 5e307)]
    for (lower, upper), ratio in itertools.product(boxes, [1e-9, 1e-3, 1.0, 50.0, 1e6]):
        width = upper - lower
        sigma = width / ratio if ratio >= 1 or width < 1e290 else 1.7e308
        if sigma == 0:
            sigma = 5e-324
        settings += [(lower, upper, sigma, value) for value in (lower, lower + width / 2, upper)]
    return settings


@pytest.mark.parametrize(("lower", "upper", "sigma", "value"), extreme_settings())
@pytest.mark.parametrize("intervals", [1, 3, 12])
def test_the_index_is_that_of_a_naive_inverse(
    lower: float, upper: float, sigma: float, value: float, intervals: int
) -> None:
    grid = Grid(lower, upper, None, intervals)
    cuts = levels(value, sigma, grid)
    for text in scripts(cuts, SeededEntropy(intervals)):
        assert draw(value, sigma, grid, Script(text)) == bisect_right(cuts, as_number(text))


@pytest.mark.parametrize(("lower", "upper", "sigma", "value"), extreme_settings())
def test_on_the_default_grid_the_index_is_the_one_the_definition_asks_for(
    lower: float, upper: float, sigma: float, value: float
) -> None:
    grid = Grid.fit(lower, upper, None, sigma)
    distribution = cdf(value, sigma, grid)
    for text in scripts([], SeededEntropy(5)):
        k = draw(value, sigma, grid, Script(text))
        u = as_number(text)
        assert 0 <= k <= grid.intervals
        assert k == 0 or distribution(grid.cut(k - 1)) <= u
        assert k == grid.intervals or u < distribution(grid.cut(k))


@pytest.mark.parametrize("step", [3.0, 0.7, 0.1, 10.0, 3.4, 5.5])  # 3.4 leaves 3.2 to the last
def test_with_a_step_too_the_index_is_that_of_a_naive_inverse(step: float) -> None:
    grid = Grid.fit(0.0, 10.0, step, 4.0)
    cuts = levels(8.0, 4.0, grid)
    for text in scripts(cuts, SeededEntropy(1)):
        assert draw(8.0, 4.0, grid, Script(text)) == bisect_right(cuts, as_number(text))


@pytest.mark.parametrize(("lower", "upper", "sigma", "value"), extreme_settings())
def test_real_draws_stay_on_the_grid(
    lower: float, upper: float, sigma: float, value: float
) -> None:
    grid = Grid.fit(lower, upper, None, sigma)
    assert all(0 <= draw(value, sigma, grid, SYSTEM) <= grid.intervals for _ in range(20))


@pytest.mark.parametrize("value", [0.0, 2.0, 10.0])
@pytest.mark.parametrize("step", [1.0, 3.0, None])
def test_all_zeros_give_the_first_point_and_all_ones_the_last(
    value: float, step: float | None
) -> None:
    grid = Grid.fit(0.0, 10.0, step, 2.0)
    assert draw(value, 2.0, grid, Script("")) == 0
    assert draw(value, 2.0, grid, Script("", forever="1")) == grid.intervals


def test_no_bit_is_drawn_once_the_index_is_certain() -> None:
    """An end cell of probability 2**-a is certain with the chunk that holds bit a."""
    grid = Grid.fit(0.0, 60.0, 20.0, 1.0)
    (first, *_, last) = levels(30.0, 1.0, grid)
    for level, forever, index in ((first, "0", 0), (1 - last, "1", 3)):
        script = Script("", forever)
        assert draw(30.0, 1.0, grid, script) == index
        assert script.drawn == 64 * math.ceil(-mp.log(level, 2) / 64) > 64


@pytest.mark.parametrize("k", [0, 3, 6])
def test_u_that_starts_like_a_cut_is_settled_by_later_bits_and_no_more_than_needed(k: int) -> None:
    grid = Grid.fit(0.0, 7.0, 1.0, 2.0)
    level = levels(2.5, 2.0, grid)[k]
    with mp.workprec(PRECISION):
        digits = f"{int(mp.floor(level * 2**256)):0256b}"
    for chunks in (1, 2, 3):
        shared = digits[: 64 * chunks]
        below, above = Script(shared, forever="0"), Script(shared, forever="1")
        assert (draw(2.5, 2.0, grid, below), draw(2.5, 2.0, grid, above)) == (k, k + 1)
        assert below.drawn == above.drawn == 64 * (chunks + 1)
    for neighbour, index in ((-1, k), (1, k + 1)):  # 64 bits that differ are enough
        script = Script(f"{int(digits[:64], 2) + neighbour:064b}")
        assert draw(2.5, 2.0, grid, script) == index
        assert script.drawn == 64


def test_a_cut_at_exactly_one_half_is_settled_by_the_first_bit_that_differs() -> None:
    grid = Grid.fit(0.0, 1.0, 1.0, 0.3)
    assert draw(0.5, 0.3, grid, Script("1" + "0" * 150 + "1")) == 1
    assert draw(0.5, 0.3, grid, Script("0" + "1" * 150, forever="0")) == 0


def test_poor_precision_costs_bits_but_never_changes_the_index(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    grid = Grid.fit(0.0, 12.0, 1.0, 3.0)
    texts = scripts(levels(5.0, 3.0, grid), SeededEntropy(3))
    expected = [draw(5.0, 3.0, grid, Script(text)) for text in texts]
    drawn = []
    for guard in (64, 1000, -60):
        monkeypatch.setattr("inbounds.sampling.reference._GUARD", guard)
        sources = [Script(text) for text in texts]
        assert [draw(5.0, 3.0, grid, source) for source in sources] == expected
        drawn.append(sum(source.drawn for source in sources))
    assert drawn[0] == drawn[1] < drawn[2]


def test_the_working_precision_is_given_back() -> None:
    with ctx.workprec(77):
        draw(0.5, 1.0, Grid.fit(0.0, 1.0, None, 1.0), SYSTEM)
        assert ctx.prec == 77


DISTRIBUTIONS = [  # every cell expects ten draws or more, as Pearson's test wants
    (Grid.fit(0.0, 10.0, 1.0, 2.5), 2.5, 3.0),
    (Grid.fit(0.0, 10.0, 3.0, 4.0), 4.0, 10.0),
    (Grid.fit(1e9, 1e9 + 3, 0.25, 1.0), 1.0, 1e9),
    (Grid.fit(-1.0, 1.0, 0.4, 0.5), 0.5, 0.11),
]
DRAWS = 20_000


@pytest.mark.parametrize(("grid", "sigma", "value"), DISTRIBUTIONS)
def test_frequencies_follow_the_distribution_and_no_distribution_ten_percent_off(
    grid: Grid, sigma: float, value: float
) -> None:
    """False alarm 1e-6 per distribution; a sigma 10 % off is missed with probability below 1e-3.

    The second figure comes from the noncentral chi-square distribution, checked here.
    """
    entropy = SeededEntropy(20)
    indices = [draw(value, sigma, grid, entropy) for _ in range(DRAWS)]
    counts = np.bincount(indices, minlength=grid.intervals + 1)
    truth = DRAWS * probabilities(value, sigma, grid)
    assert truth.min() >= 10
    assert stats.chisquare(counts, truth).pvalue > 1e-6
    threshold = stats.chi2.isf(1e-6, df=grid.intervals)
    for wrong_sigma in (0.9 * sigma, 1.1 * sigma):
        wrong = DRAWS * probabilities(value, wrong_sigma, grid)
        shift = ((truth - wrong) ** 2 / wrong).sum()
        assert stats.ncx2.cdf(threshold, grid.intervals, shift) < 1e-3
        assert stats.chisquare(counts, wrong).pvalue < 1e-6
