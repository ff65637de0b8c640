"""One number without arrays: the same words give the same output as an array of one number."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise, product
from random import Random
from typing import Any

import numpy as np
import pytest

from inbounds.calibration.levels import design
from inbounds.sampling import point, table
from inbounds.sampling.entropy import SYSTEM, Words
from inbounds.sampling.grid import clamp
from inbounds.sampling.lattice import Lattice, Part
from inbounds.sampling.response import TOTAL, ResponseSampler
from inbounds.sampling.staircase import StaircaseSampler
from inbounds.sampling.staircase_noise import StaircaseNoise
from inbounds.sampling.step_lattice import lattice_for
from inbounds.sampling.table import TableSampler
from inbounds.sampling.window import WindowSampler

WORD = 2**64
BOXES: list[tuple[float, float, float | None]] = [
    (0.0, 1.0, None),
    (-3.0, 5.0, None),
    (-0.3, -0.1, None),
    (-1e308, 7e307, None),
    (0.0, 2.0**-890, None),
    (1e-310, 1.0, None),
    (2.0**53 - 64, 2.0**53, None),
    (2.0**60, 2.0**60 + 2.0**20, None),
    (0.0, 120.0, 1.0),
    (-7.5, 2.5, 0.1),
    (0.0, 10.0, 3.0),
    (0.0, 1.0, 1 / 3),
    (2.0**60, 2.0**60 + 2.0**20, 2.0**12),
]


@dataclass
class Scripted:
    """A source of planned words, and of planned bits for what the words do not decide.

    One number asks for its words together, in the first call of `bits`.
    """

    planned: list[int]
    rest: list[int]
    together: bool
    asked: list[int] = field(default_factory=list)

    def bits(self, count: int) -> int:
        source = self.planned if self.together and not self.asked else self.rest
        self.asked.append(count)
        number = 0
        for _ in range(-(-count // 64)):
            number = number << 64 | source.pop(0)
        return number >> -count % 64

    def words(self, count: int) -> Words:
        words = [self.planned.pop(0) for _ in range(count)]
        return np.array(words, np.uint64)


def window(box: tuple[float, float, float | None], epsilon: float) -> WindowSampler:
    return WindowSampler.of(*box, epsilon=epsilon)


def staircase(box: tuple[float, float, float | None], epsilon: float) -> StaircaseSampler:
    lower, upper, step = box
    change = (upper - lower) / 7 if step is None else 2 * step
    return StaircaseSampler(lattice_for(lower, upper, step, change, epsilon), epsilon, step)


def cells(box: tuple[float, float, float | None], epsilon: float) -> StaircaseSampler:
    """Noise in cells that is rounded to steps."""
    lower, upper, step = box
    return StaircaseSampler(Lattice.fit(lower, upper, upper - lower, epsilon), epsilon, step)


def rows(count: int, columns: int) -> tuple[tuple[int, ...], ...]:
    """Integers that sum to 2¹²⁸ in each of some rows."""
    rng = np.random.default_rng(columns)
    cuts = [sorted(int(c) << 76 for c in rng.integers(1, 2**52, columns - 1)) for _ in range(count)]
    return tuple(tuple(b - a for a, b in pairwise([0, *c, 1 << 128])) for c in cuts)


def tables() -> Iterator[TableSampler]:
    for lower, upper, step in BOXES:
        if upper - lower < 1e300:
            ends = tuple(np.linspace(lower, upper, 6).tolist())
            outputs = tuple(map(float, range(7)))
            yield TableSampler(lower, upper, ends, False, rows(5, 7), outputs, step is None)
            yield TableSampler(lower, upper, ends, True, rows(6, 7), outputs)
    uneven = (0.0, 1e-9, 2e-9, 0.5, 1.0)
    yield TableSampler(0.0, 1.0, uneven, False, rows(4, 3), (0.0, 0.5, 1.0))
    yield TableSampler(0.0, 1.0, uneven, True, rows(5, 3), (0.0, 0.5, 1.0))
    yield TableSampler(0.0, 1.0, (0.0, 5e-324, 1.0), True, rows(3, 3), (0.0, 0.5, 1.0))
    made = design(17.99, 41.565, 3.41, 1.0, "worst").table
    yield TableSampler(made.lower, made.upper, made.boundaries, True, made.rows, made.outputs)


SAMPLERS: list[Any] = [
    *(window(box, epsilon) for box in BOXES for epsilon in (0.01, 60.0)),
    *(staircase(box, 0.01) for box in BOXES[::2]),
    *(cells(box, 1.0) for box in BOXES[1::2]),
    staircase(BOXES[-1], 1e-7),  # three digits
    *tables(),
]


def bounds(sampler: Any) -> tuple[float, float]:
    part = getattr(sampler, "lattice", getattr(sampler, "grid", sampler))
    return part.lower, part.upper


def aimed_words(sampler: Any) -> list[int]:
    """Words beside those where the outcome changes, or that do not decide it."""
    if isinstance(sampler, WindowSampler):
        return [min(sampler.uniform + i, WORD - 1) for i in (-1, 0, 1)]
    if isinstance(sampler, TableSampler):
        return [max(0, t + i) for t in sampler._alias.thresholds.tolist() for i in (-1, 0, 1)]
    limits = sampler.noise.tables[0].astype(object)
    return ((limits[0] - 1) + (limits[-1] << 32)).tolist() + (limits[0] << 32).tolist()


def hostile_numbers(lower: float, upper: float) -> list[Any]:
    ends = [lower, upper, 0.0, -0.0, 5e-324, 1e-310, -1e308, 1e308, (lower + upper) / 2]
    near = [math.nextafter(end, side) for end in ends for side in (-math.inf, math.inf)]
    whole = [0, 1, 41, 2**53 + 1, 2**60 + 5, 2**60 + 2**19 + 1, -(2**70), 2**2000, -(2**2000)]
    thirds = [Fraction(lower) + (Fraction(upper) - Fraction(lower)) * i / 3 for i in (-1, 1, 2, 4)]
    return [*ends, *near, *whole, *thirds]


def as_array(number: Any) -> Any:
    return np.array([number], float if isinstance(number, float) else object)


@pytest.fixture
def _arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let arrays of one number be drawn as arrays."""
    monkeypatch.setattr(point, "FEW", 0)


def drawn_both_ways(sampler: Any, number: Any, words: list[int], rest: list[int]) -> list[Any]:
    """Return the output of one number and that of an array; as many bits are used for both."""
    one, array = (Scripted(words.copy(), rest.copy(), together) for together in (True, False))
    outputs = [sampler.draw_one(number, one), sampler.draw(as_array(number), array).item()]
    assert (one.planned, one.rest) == (array.planned, array.rest)
    return outputs


def random_words(count: int, aimed: list[int], source: Random) -> list[int]:
    """Return words of which every second one is aimed."""
    return [
        source.choice(aimed) if source.random() < 0.5 else source.getrandbits(64)
        for _ in range(count)
    ]


@pytest.mark.usefixtures("_arrays")
@pytest.mark.parametrize("sampler", SAMPLERS, ids=lambda s: f"{type(s).__name__}{bounds(s)}")
def test_one_number_has_the_output_of_an_array_for_the_same_words(sampler: Any) -> None:
    """Hostile numbers, with words at random and words beside every change of the outcome."""
    source, aimed = Random(5), aimed_words(sampler)
    for number in hostile_numbers(*bounds(sampler)) * 3:
        words, rest = random_words(6, aimed, source), random_words(50, [0, WORD - 1], source)
        output, expected = drawn_both_ways(sampler, number, words, rest)
        assert type(output) is type(expected)
        assert output == expected


@pytest.mark.usefixtures("_arrays")
@pytest.mark.parametrize("sampler", [s for s in SAMPLERS if getattr(s, "rounds_between", False)])
def test_a_rounding_that_doubles_do_not_decide_is_that_of_an_array(
    sampler: TableSampler, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words aim at the exact fraction, or every word counts as too close to call."""
    source = Random(6)
    for margin, number in product((table._MARGIN, 1.0), hostile_numbers(*bounds(sampler))):
        monkeypatch.setattr(table, "_MARGIN", margin)
        inside = clamp(number, sampler.lower, sampler.upper)
        fraction = sampler._fraction(inside, int(sampler._places.of_exact(inside)))
        for move in (-(2**16), -1, 0, 1, 2**16):
            word = min(max(math.floor(fraction * WORD) + move, 0), WORD - 1)
            words, rest = [word, source.getrandbits(64)], random_words(50, [0, WORD - 1], source)
            output, expected = drawn_both_ways(sampler, number, words, rest)
            assert output == expected


@pytest.mark.parametrize("epsilon", [1e-6, 0.2, 1.0, 7.0])
@pytest.mark.parametrize("kept", [3, 32])
def test_one_draw_of_noise_is_that_of_an_array_even_if_most_draws_are_left_over(
    epsilon: float, kept: int
) -> None:
    lattice = Lattice(0.0, 1.0, 199.5, Part(3, 1), Part(5, 2))
    noise, source = StaircaseNoise(lattice, epsilon, kept), Random(7)
    for _ in range(200):
        words, rest = random_words(6, [0, WORD - 1], source), random_words(99, [0], source)
        one, array = (Scripted(words.copy(), rest.copy(), together) for together in (True, False))
        assert noise.draw_one(one) == noise.draw(1, array).item()
        assert (one.planned, one.rest) == (array.planned, array.rest)


def test_one_code_has_the_output_of_an_array_for_the_same_words() -> None:
    sampler, source = ResponseSampler(5, TOTAL // 11), Random(8)
    aimed = [t + i for t in sampler._alias.thresholds.tolist() for i in (0, 1)]
    for code in [*range(5)] * 50:
        words, rest = random_words(1, aimed, source), random_words(1, [0, WORD - 1], source)
        one, array = (Scripted(words.copy(), rest.copy(), together) for together in (True, False))
        assert sampler.draw_one(code, one) == sampler.draw(np.array([code]), array).item()


@pytest.mark.parametrize("sampler", [window(BOXES[0], 1.0), window(BOXES[8], 1.0), *tables()][:4])
def test_few_values_are_drawn_one_by_one_and_more_as_arrays(sampler: Any) -> None:
    """Outputs have the same shape and type on both sides."""
    for size in (1, point.FEW, point.FEW + 1):
        few, many = (sampler.draw(np.zeros((n, 1)), SYSTEM) for n in (size, 100))
        assert few.shape == (size, 1)
        assert few.dtype == many.dtype
