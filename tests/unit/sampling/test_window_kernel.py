"""The compiled window: exact probabilities at every cut, and the bits of the plain code."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from inbounds.sampling import blocks, window_kernel
from inbounds.sampling.entropy import SYSTEM, SeededEntropy
from inbounds.sampling.offset import nudge
from inbounds.sampling.window import WindowSampler

WORD = 2**64
FEW = [
    WindowSampler.of(0.0, float(width), float(step), epsilon=epsilon)
    for (width, step), epsilon in product(
        [(1, 1), (2, 1), (10, 1), (10, 3), (120, 1)], [1e-9, 0.7, 3.0, 60.0]
    )
]
BOXES = [
    (0.0, 1.0, None),
    (-3.0, 5.0, None),
    (0.1, 0.7, None),
    (-1e308, 7e307, None),
    (2.0**60, 2.0**60 + 2.0**20, None),
    (0.0, 2.0**-900, None),
    (0.0, 10.0, 1.0),
    (0.0, 10.0, 3.0),
    (0.0, 1.0, 0.1),
    (0.0, 2.0**31, 1.0),
]


def indices(sampler: WindowSampler, values: NDArray[Any], words: list[int]) -> list[int]:
    last, found = sampler.places - sampler.length, np.empty(values.size, np.int64)
    ends = sampler.grid.lower, sampler.grid.upper
    scale = *ends, nudge(*ends), sampler._starts_per_unit
    sizes = (
        *(np.uint64(sampler.uniform - 1), float(last)),
        *(np.uint64(sampler.length), np.uint64(sampler.places)),
    )
    window_kernel.write_indices(np.array(words, np.uint64), values, scale, sizes, found)
    return [int(index) for index in found]


def cuts(size: int) -> list[int]:
    """The first and last word of 64 bits that must give each place among `size`."""
    edges = [-(-k * WORD // size) for k in range(size + 1)]
    return [word for edge in edges for word in (edge - 1, edge) if 0 <= word < WORD]


@pytest.mark.parametrize("sampler", FEW, ids=repr)
def test_every_cut_between_words_is_where_the_exact_probabilities_have_it(
    sampler: WindowSampler,
) -> None:
    """A place does not decrease as its word grows, so the cuts fix how many words each has."""
    for value in (0.0, sampler.grid.upper):
        start = (sampler.places - sampler.length) * int(value > 0)
        for choice in {0, sampler.uniform - 1, min(sampler.uniform, WORD - 1), WORD - 1}:
            inside = choice >= sampler.uniform
            size = sampler.length if inside else sampler.places
            words = cuts(size)
            found = indices(
                sampler,
                np.full(len(words), value),
                [choice] * len(words) + words + [0] * len(words),
            )
            assert found == [start * inside + (word * size >> 64) for word in words]


def test_the_start_is_rounded_upwards_with_its_fraction_as_the_chance_within_2_to_minus_49() -> (
    None
):
    """Privacy does not rest on it: it holds for any start."""
    sampler = WindowSampler.of(0.0, 10.0, 1.0, epsilon=3.0)
    start = 4.0 * sampler._starts_per_unit
    down = math.floor(start)
    cut = math.ceil((1 - (start - down)) * WORD)
    for part, first in ((cut - 2**15, down), (cut + 2**15, down + 1)):
        assert indices(sampler, np.array([4.0]), [WORD - 1, 0, part]) == [first]


def drawn_both_ways(
    sampler: WindowSampler, values: NDArray[Any], monkeypatch: pytest.MonkeyPatch
) -> tuple[NDArray[Any], NDArray[Any]]:
    found = []
    for least in (1, 10**9):
        monkeypatch.setattr(blocks, "MANY", least)
        monkeypatch.setattr(blocks, "_REPAYS", 0)
        found.append(sampler.draw(values, SeededEntropy(7)))
    return found[0], found[1]


@pytest.mark.parametrize("box", BOXES, ids=repr)
@pytest.mark.parametrize("epsilon", [1e-9, 0.5, 3.0, 60.0])
def test_compiled_and_plain_code_give_the_same_bits(
    box: tuple[float, float, float | None], epsilon: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    lower, upper, step = box
    sampler = WindowSampler.of(lower, upper, step, epsilon=epsilon)
    share = np.random.default_rng(1).random(5000)
    ends = [lower, upper, 0.0, -0.0, 5e-324, 1e-310, -1e308, 1.7e308, math.nextafter(upper, lower)]
    values = np.concatenate([lower + share * (upper - lower), ends])
    compiled, plain = drawn_both_ways(sampler, values, monkeypatch)
    assert compiled.dtype == plain.dtype
    assert compiled.tobytes() == plain.tobytes()
    assert lower <= compiled.min() <= compiled.max() <= upper


@pytest.mark.parametrize("kind", [np.int8, np.float32, np.int64, np.uint64, ">f8", object])
@pytest.mark.parametrize("lower", [0.0, 2.0**60])
def test_numbers_of_any_type_give_the_same_bits(
    kind: Any, lower: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    sampler = WindowSampler.of(lower, lower + 2.0**20, None, epsilon=1.0)
    values = np.arange(100).astype(kind)
    if lower and np.dtype(kind).itemsize == 8 and np.dtype(kind).kind != "f":
        values = values + np.dtype(kind).type(2**60) if kind is not object else values + 2**60
    values.flags.writeable = False
    compiled, plain = drawn_both_ways(sampler, values, monkeypatch)
    assert compiled.tobytes() == plain.tobytes()


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, -5.0, 1e300])
def test_any_value_has_a_possible_output(value: float) -> None:
    sampler = WindowSampler.of(0.0, 10.0, 1.0, epsilon=3.0)
    found = indices(sampler, np.full(1000, value), SYSTEM.words(3000).tolist())
    assert min(found) >= 0
    assert max(found) < sampler.places
