"""Undecided trials: more bits of the same U and V, until the definition leaves one outcome."""

import math

import mpmath
import numpy as np
import pytest
from flint import arb, ctx, fmpq
from numpy.typing import NDArray

from inbounds.numerics.ball import exact
from inbounds.numerics.noise import Noise
from inbounds.numerics.noises import NOISES
from inbounds.numerics.normal import NORMAL
from inbounds.sampling.entropy import SeededEntropy
from inbounds.sampling.grid import Grid
from inbounds.sampling.refine import is_beyond, refine
from inbounds.sampling.strips import strips

Proposal = tuple[int, int, float]
Setting = tuple[Grid, float, float, bool]  # with scale, value, and whether narrow


class ExhaustedError(Exception):
    """A script has no more bits."""


class Script:
    """Gives prescribed bits, then a constant for a while, then fails."""

    def __init__(self, text: str = "", forever: str = "", limit: int = 4096) -> None:
        self.text, self.forever, self.limit, self.drawn = text, forever, limit, 0

    def bits(self, count: int) -> int:
        text = (self.text + self.forever * self.limit)[self.drawn : self.drawn + count]
        if len(text) < count:
            raise ExhaustedError
        self.drawn += count
        return int(text, 2)

    def words(self, count: int) -> NDArray[np.uint64]:
        raise AssertionError(count)


def outcome(noise: Noise, setting: Setting, u: fmpq, v: fmpq, a: int) -> int | None:
    """Return the result of a trial for two exact numbers, from the definition."""
    grid, scale, value, narrow = setting
    first, many, thin = proposal_for(narrow, noise)
    choice, low = divmod((a >> 32) * max(many, 1), 1 << 32)
    if low < (1 << 32) % max(many, 1):
        return None
    at, lower, upper = exact(value), exact(grid.lower), exact(grid.upper)
    if many:
        table = strips(noise)
        left, right = (exact(e) for e in table.edges[first + choice :][:2].tolist())
        weight = exact(table.height) * (right - left) * exact(thin)
    else:
        left, right = (lower - at) / exact(scale), (upper - at) / exact(scale)
        weight = exact(thin)
    z = left + (right - left) * u
    x = at + exact(scale) * z
    if not lower <= x <= upper:
        return None
    with ctx.workprec(2000):
        chance = weight * (-arb(z * z) / 2 if noise == NORMAL else -abs(arb(z))).exp()
        if v >= chance:
            return None
        assert v < chance
    return min(int(((x - lower) / grid.spacing + fmpq(1, 2)).floor()), grid.intervals)


SETTINGS = [
    (Grid.fit(0.0, 10.0, 3.0, 2.0), 2.0, 4.0, False),
    (Grid.fit(0.0, 10.0, None, 1.9), 1.9, 10.0, False),
    (Grid.fit(1e9, 1e9 + 1, 0.25, 0.4), 0.4, 1e9 + 0.3, False),
    (Grid.fit(-1.1, 2.3, 0.3, 400.0), 400.0, 0.1, True),
    (Grid.fit(0.0, 7.0, 2.7, 400.0), 400.0, 7.0, True),
    (Grid.fit(0.0, 1e-310, None, 1e-311), 1e-311, 5e-311, False),
]


def proposal_for(narrow: bool, noise: Noise) -> Proposal:
    half = strips(noise).count // 2
    return (0, 0, 0.95) if narrow else (half - 500, 1001, 0.97)


def run(
    noise: Noise,
    setting: Setting,
    words: tuple[int, int],
    entropy: Script | SeededEntropy,
) -> int | None:
    grid, scale, value, narrow = setting
    return refine(
        value=value,
        noise=noise,
        scale=scale,
        grid=grid,
        proposal=proposal_for(narrow, noise),
        words=words,
        entropy=entropy,
    )


def truth(noise: Noise, setting: Setting, words: tuple[int, int], u: str, v: str) -> int | None:
    """Return the outcome when further bits of U and V are as given, then 1000..."""
    big_u = fmpq((words[1] << len(u) + 1) + int(u + "1", 2), 1 << 65 + len(u))
    big_v = fmpq(((words[0] % 2**32) << len(v) + 1) + int(v + "1", 2), 1 << 33 + len(v))
    return outcome(noise, setting, big_u, big_v, words[0])


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("setting", SETTINGS)
def test_random_trials_end_as_the_definition_says_and_need_no_more_bits(
    noise: Noise, setting: Setting
) -> None:
    entropy = SeededEntropy(3)
    outcomes = set()
    for _ in range(150):
        words = entropy.bits(64), entropy.bits(64)
        outcome = run(noise, setting, words, Script())  # any further bit would raise
        assert (
            outcome
            == truth(noise, setting, words, "0", "0")
            == truth(noise, setting, words, "1", "1")
        )
        outcomes.add(outcome)
    assert None in outcomes or setting[3]
    assert len(outcomes) >= 3


def choosing(noise: Noise, narrow: bool, strip: int, v: int) -> int:
    first, many, _ = proposal_for(narrow, noise)
    return (((2 * (strip - first) + 1) << 32) // (2 * max(many, 1))) << 32 | v


def place_of(noise: Noise, setting: Setting, x: fmpq, bits: int) -> tuple[int, int]:
    """Return the strip that holds x, and the first bits of the place of x in it."""
    grid, scale, value, narrow = setting
    z = (x - exact(value)) / exact(scale)
    if narrow:
        strip = 0
        left, right = ((exact(b) - exact(value)) / exact(scale) for b in (grid.lower, grid.upper))
    else:
        edges = strips(noise).edges
        strip = int(np.searchsorted(edges, int(z.p) / int(z.q), "right")) - 1
        left, right = (exact(e) for e in edges[strip : strip + 2].tolist())
    return strip, int(((z - left) / (right - left) * (1 << bits)).floor())


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("setting", SETTINGS[:5])
@pytest.mark.parametrize("chunks", [0, 1, 2])
def test_a_point_that_starts_like_a_cut_is_settled_by_the_bits_that_differ(
    noise: Noise, setting: Setting, chunks: int
) -> None:
    """V is small, so that all are accepted; one more chunk of each is drawn per round."""
    grid, scale, value, narrow = setting
    inside = min(max(value + 0.3 * scale, grid.lower), grid.upper)
    k = min(int(((exact(inside) - exact(grid.lower)) / grid.spacing).floor()), grid.intervals - 1)
    bits = 64 * (1 + chunks)
    strip, place = place_of(noise, setting, grid.cut(k), bits)
    start = place >> 64 * chunks
    words = choosing(noise, narrow, strip, 5), start
    more = f"{place - (start << 64 * chunks):0{64 * chunks}b}" if chunks else ""
    shared = "".join("0" * 64 + more[i : i + 64] for i in range(0, 64 * chunks, 64))
    for forever, index in (("0", k), ("1", k + 1)):
        script = Script(shared, forever)
        assert run(noise, setting, words, script) == min(index, grid.intervals)
        assert script.drawn >= 128 * (chunks + 1)
    for neighbour, index in ((-1, k), (1, k + 1)):  # 64 bits that differ are enough
        assert run(noise, setting, (words[0], start + neighbour), Script()) == index


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("setting", SETTINGS[1:4])
def test_a_v_that_starts_like_the_chance_is_settled_by_later_bits_of_both(
    noise: Noise, setting: Setting
) -> None:
    grid, scale, value, narrow = setting
    x = exact(value + (-0.37 if value == grid.upper else 0.21) * min(scale, 1.0))
    strip, place = place_of(noise, setting, x, 64)
    u = fmpq(2 * place + 1, 2 << 64)

    def accepted(v: int) -> bool:
        a = choosing(noise, narrow, strip, 0)
        return outcome(noise, setting, u, fmpq(v, 1 << 96), a) is not None

    low, high = 0, 1 << 96
    while high - low > 1:  # bisect for the chance, to 96 bits
        middle = (low + high) // 2
        low, high = (middle, high) if accepted(middle) else (low, middle)
    a, more = choosing(noise, narrow, strip, low >> 64), low % (1 << 64)
    half = "1" + "0" * 63
    below, above = (Script(f"{more + off:064b}" + half, "0") for off in (-(1 << 40), 1 << 40))
    assert run(noise, setting, (a, place), below) is not None
    assert run(noise, setting, (a, place), above) is None
    assert below.drawn == above.drawn == 128
    with pytest.raises(ExhaustedError):
        run(noise, setting, (a, place), Script(f"{more:064b}"))  # U is asked for, and missing
    assert run(noise, setting, (a - 1, place), Script()) is not None
    assert run(noise, setting, (a + 1, place), Script()) is None


def test_a_source_that_runs_dry_raises_and_gives_no_output() -> None:
    setting = SETTINGS[0]
    strip, place = place_of(NORMAL, setting, setting[0].cut(1), 64)
    words = choosing(NORMAL, False, strip, 5), place
    for length in (0, 1, 64, 127):
        with pytest.raises(ExhaustedError):
            run(NORMAL, setting, words, Script("0" * length))


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("a", [0, 2**64 - 1, 2**63])
@pytest.mark.parametrize("b", [0, 2**64 - 1])
def test_words_of_zeros_and_ones_end_as_the_definition_says(
    noise: Noise, setting: Setting, a: int, b: int
) -> None:
    outcome = run(noise, setting, (a, b), SeededEntropy(4))
    possible = {truth(noise, setting, (a, b), u, v) for u in ("0", "1") for v in ("0", "1")}
    assert outcome in possible


def test_a_narrow_window_ends_at_its_first_and_last_points() -> None:
    setting = SETTINGS[3]
    accepted = 1 << 63
    assert run(NORMAL, setting, (accepted, 0), Script("0" * 64 + "1" * 64)) == 0
    last = run(NORMAL, setting, (accepted, 2**64 - 1), Script("0" * 128))
    assert last == setting[0].intervals


@pytest.mark.parametrize("noise", NOISES)
def test_high_halves_that_would_favour_a_strip_are_refused(noise: Noise) -> None:
    """Each strip keeps exactly 2**32 // many of them."""
    setting = SETTINGS[0]
    _, many, _ = proposal_for(False, noise)
    spoilt = (1 << 32) % many
    assert spoilt
    refused = 0
    half = strips(noise).count // 2
    strip, _ = place_of(noise, setting, exact(setting[2]), 64)
    assert abs(strip - half) <= 1
    for choice in (strip - proposal_for(False, noise)[0],):
        start = -(-(choice << 32) // many)
        for high in range(start, start + 3):
            low = high * many % (1 << 32)
            outcome = run(noise, setting, (high << 32, 1 << 63), SeededEntropy(5))
            assert (outcome is None) == (low < spoilt)
            refused += outcome is None
    kept = 0
    for choice in range(many):  # count by arithmetic what the rule keeps of each strip
        start, stop = -(-(choice << 32) // many), -(-((choice + 1) << 32) // many)
        kept += stop - start - (start * many % (1 << 32) < spoilt) == (1 << 32) // many
    assert kept == many


def test_what_lies_above_the_last_point_goes_to_it() -> None:
    grid = Grid.fit(0.0, 10.0, 3.4, 2.0)  # points 0, 3.4, 6.8; 10 would round to 10.2
    assert grid.intervals == 2
    setting = (grid, 2.0, 9.9, False)
    strip, place = place_of(NORMAL, setting, exact(9.95), 64)
    assert run(NORMAL, setting, (choosing(NORMAL, False, strip, 5), place), Script()) == 2


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("distance", [0.0, 1e-9, 0.3, 2.0, 6.5])
def test_is_beyond_compares_u_with_the_tail_and_draws_only_what_it_needs(
    noise: Noise, distance: float
) -> None:
    with mpmath.workprec(400):
        x = mpmath.mpf(distance)
        tail = mpmath.erfc(x / mpmath.sqrt(2)) / 2 if noise == NORMAL else mpmath.exp(-x) / 2
        digits = f"{int(mpmath.floor(tail * 2**192)):0192b}"

    def beyond(word: int, entropy: Script) -> bool:
        return is_beyond(
            value=-distance, bound=0.0, scale=1.0, noise=noise, word=word, entropy=entropy
        )

    start = int(digits[:64], 2)
    assert beyond(start - 2, Script())
    assert not beyond(start + 1, Script())
    if distance == 0:  # a tail of one half: only a later bit can tell it from U
        assert not beyond(start, Script("0" * 63 + "1"))
        return
    for chunks in (1, 2):
        shared = digits[64 : 64 * chunks]
        for forever, expected in (("0", True), ("1", False)):
            script = Script(shared, forever)
            assert beyond(start, script) is expected
            assert script.drawn == 64 * chunks
    with pytest.raises(ExhaustedError):
        beyond(start, Script(digits[64:128]))


def test_is_beyond_knows_scales_and_sides() -> None:
    tail = math.erfc(1.5 / math.sqrt(2)) / 2
    for word, expected in ((int(tail * 2**64 * 0.999), True), (int(tail * 2**64 * 1.001), False)):
        for value, bound in ((3.0, 0.0), (0.0, 3.0), (1e9, 1e9 + 3)):
            assert expected is is_beyond(
                value=value, bound=bound, scale=2.0, noise=NORMAL, word=word, entropy=Script()
            )
