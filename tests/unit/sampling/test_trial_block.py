"""Every certain decision of a trial is right, even where words aim at its weakest points.

The oracle below follows the definition of a trial in exact rational and ball arithmetic, and
shares no code with the trials but the table of strips. Plain floats, arrays and compiled code must
decide alike, every time.
"""

import math
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from numpy.typing import NDArray

from inbounds.numerics.ball import exact
from inbounds.numerics.noise import Noise
from inbounds.numerics.noises import NOISES
from inbounds.numerics.normal import NORMAL
from inbounds.sampling import trial_block, trial_kernel
from inbounds.sampling.grid import REFUSED, Grid
from inbounds.sampling.plan import Parameters, Plan
from inbounds.sampling.proposal_block import scratch_for
from inbounds.sampling.sampler import Sampler
from inbounds.sampling.strips import strips
from inbounds.sampling.trial import PLAIN, UNSURE, trial_of
from inbounds.sampling.trial_block import Again, BlockTrials

Words = list[tuple[int, int]]
TWO_32, TWO_64 = 1 << 32, 1 << 64
OPEN = None  # the words leave more than one outcome possible


def outcomes(indices: NDArray[np.float64], again: Again) -> list[float]:
    indices[again.refused], indices[again.unsure] = REFUSED, UNSURE
    found: list[float] = indices.tolist()
    return found


@dataclass(frozen=True)
class Setting:
    """One coordinate, seen exactly and as trials see it."""

    noise: Noise
    lower: float
    upper: float
    scale: float
    step: float | None = None

    @cached_property
    def sampler(self) -> Sampler:
        sides = (np.array([side]) for side in (self.lower, self.upper, self.scale))
        return Sampler(self.noise, *sides, (self.step,))

    @cached_property
    def plan(self) -> Plan:
        plan = self.sampler._plan
        assert plan.usable.all()
        return plan

    @cached_property
    def grid(self) -> Grid:
        return self.sampler.grid(0)

    @cached_property
    def spacing(self) -> fmpq:
        return self.grid.spacing

    @cached_property
    def unit(self) -> float:
        """2**-53 of the width, in grid steps: what rounding errors are counted in."""
        return self.parameters.span * 2.0**-53

    @cached_property
    def parameters(self) -> Parameters:
        return Parameters(*(float(side[0]) for side in self.plan.parameters))

    def decisions(self, value: float, words: Words, caution: float = 0.0) -> list[float]:
        """Return the decisions of arrays, and check that the other paths decide alike."""
        alone = self.sampler._alone.given
        trials = BlockTrials.of(self.noise, bool(self.plan.narrow[0]), alone, caution)
        size, values = len(words), np.full(len(words), value)
        flat = np.array([a for a, _ in words] + [b for _, b in words], np.uint64)
        indices, scratch = np.empty((2, size)), scratch_for(size)
        plain = trials.attempt(values, flat, indices[0], scratch)
        compiled = trial_kernel.attempt(trials, values, flat, indices[1], scratch)
        found = [outcomes(*pair) for pair in zip(indices, (plain, compiled), strict=True)]
        assert plain.proposals == compiled.proposals
        one = trial_of(self.noise, self.parameters, caution)
        proposal = one.propose(value - self.parameters.lower)
        assert found[0] == found[1]
        if caution >= 0:  # without a margin, the nearest integer depends on how it is found
            assert found[0] == [one.decide(proposal, a, b) for a, b in words]
        return found[0]

    def proposal(self, value: float) -> tuple[float, int, int, float]:
        trial = trial_of(self.noise, self.parameters)
        place, first, many, thin = trial.propose(value - self.parameters.lower)
        return place, int(first), int(many), thin

    def clamp(self, value: float) -> float:
        return min(max(value, self.lower), self.upper)

    def strip(self, value: float, a: int) -> tuple[fmpq, fmpq, fmpq] | None:
        """Return the ends and the factor of f of the strip that a word chooses, if it does."""
        _, first, many, thin = self.proposal(value)
        choice, low = divmod((a >> 32) * max(many, 1), TWO_32)
        if low < TWO_32 % max(many, 1):
            return None
        return self.ends(value, first + choice, thin)

    def ends(self, value: float, strip: int, thin: float) -> tuple[fmpq, fmpq, fmpq]:
        if self.plan.narrow[0]:
            at, scale = exact(self.clamp(value)), exact(self.scale)
            left, right = ((exact(end) - at) / scale for end in (self.lower, self.upper))
            return left, right, exact(thin)
        table = strips(self.noise)
        left, right = (exact(edge) for edge in table.edges[strip : strip + 2].tolist())
        return left, right, exact(table.height) * (right - left) * exact(thin)

    def verdict(self, value: float, a: int, b: int) -> float | None:
        """Return what every pair of reals that starts with these bits leads to."""
        chosen = self.strip(value, a)
        if chosen is None:
            return REFUSED
        left, right, weight = chosen
        zs = [left + (right - left) * fmpq(b + more, TWO_64) for more in (0, 1)]
        at = exact(self.clamp(value))
        xs = [at + exact(self.scale) * z for z in zs]
        lower, upper = exact(self.lower), exact(self.upper)
        v = a % TWO_32
        with ctx.workprec(160):
            ends = [weight * density(self.noise, z) for z in zs]
            top = arb(weight) if zs[0] <= 0 <= zs[1] else ends[0].max(ends[1])
            never = fmpq(v, TWO_32) >= top
            always = fmpq(v + 1, TWO_32) <= ends[0].min(ends[1])
        if never or xs[1] <= lower or xs[0] >= upper:
            return REFUSED
        if not always or xs[0] < lower or xs[1] > upper:
            return OPEN
        first, last = (
            min(int(((x - lower) / self.spacing + fmpq(1, 2)).floor()), self.grid.intervals)
            for x in xs
        )
        return float(first) if first == last else OPEN

    def mistakes(self, value: float, words: Words, caution: float = 0.0) -> tuple[int, int, int]:
        """Return how many decisions are wrong, certain, and certain refusals."""
        wrong = certain = refusals = 0
        for (a, b), decision in zip(words, self.decisions(value, words, caution), strict=True):
            if decision == UNSURE:
                continue
            certain += 1
            refusals += decision == REFUSED
            wrong += self.verdict(value, a, b) != min(decision, self.grid.intervals)
        return wrong, certain, refusals

    def word_for(self, value: float, strip: int, v: int) -> int:
        """Return a word that chooses a strip, far from where its choice would be in doubt."""
        _, first, many, _ = self.proposal(value)
        if many == 0:
            return (TWO_32 >> 1) << 32 | v
        return ((2 * (strip - first) + 1) * TWO_32 // (2 * many)) << 32 | v

    def aim_at(self, value: float, x: fmpq, rng: np.random.Generator, around: int = 60) -> Words:
        """Return words whose points fall within a few rounding errors of the number x."""
        z = (x - exact(self.clamp(value))) / exact(self.scale)
        _, first, many, thin = self.proposal(value)
        strip = int(np.searchsorted(strips(self.noise).edges, as_float(z), "right")) - 1
        if many:
            strip = min(max(strip, first), first + many - 1)
        left, right, _ = self.ends(value, strip, thin)
        words = []
        for _ in range(12):
            off = exact(self.unit * rng.uniform(-around, around)) * self.spacing / exact(self.scale)
            place = int(((z + off - left) / (right - left) * TWO_64).floor())
            if 0 <= place < TWO_64:
                words.append((self.word_for(value, strip, int(rng.integers(1 << 20))), place))
        return words

    def aim_at_chance(
        self, value: float, strip: int, rng: np.random.Generator, around: float = 0.3
    ) -> Words:
        """Return words whose chance of acceptance is within a fraction of 2**-32 of V."""
        left, right, weight = self.ends(value, strip, self.proposal(value)[3])
        words = []
        with ctx.workprec(160):
            chances = [weight * density(self.noise, z) * TWO_32 for z in (left, right)]
            low, high = (float(f(*chances)) for f in (arb.min, arb.max))
            if left < 0 < right:
                low, high = float(max(chances, key=float)), float(arb(weight) * TWO_32)
            for _ in range(8):
                v = int(rng.uniform(low, high))
                goal = (v + int(rng.integers(2)) + arb(rng.uniform(-around, around))) / TWO_32
                log = (goal / weight).log()
                if not log < 0:
                    continue
                distance = (-2 * log).sqrt() if self.noise == NORMAL else -log
                z = distance if left + right > 0 else -distance
                place = int(((z - left) / (right - left) * TWO_64).floor().unique_fmpz() or -1)
                if 0 <= place < TWO_64 and 0 <= v < TWO_32:
                    words.append((self.word_for(value, strip, v), place))
        return words


def as_float(number: fmpq) -> float:
    return int(number.p) / int(number.q)


def density(noise: Noise, z: fmpq) -> arb:
    return (-arb(z * z) / 2 if noise == NORMAL else -abs(arb(z))).exp()


BOUNDS = [
    (0.0, 1.0),
    (0.0, 3.0),
    (1e9, 1e9 + 1),
    (-1.1, 2.3),
    (-7e5, -6.9e5),
    (1e15, 1e15 + 1e3),
    (0.0, 1e-264),
    (-3e290, 7e290),
    (math.nextafter(1.0, 0.0), 1.5),
    (-1e-3, 0.1),
]
US = [1e-6, 0.04, 0.05, 0.42, 0.4201, 1.0, 3.7, 9.0, 20.0, 123.4, 1e4, 1e6, 1e9]


def settings(noise: Noise) -> list[Setting]:
    cases = []
    for i, (lower, upper) in enumerate(BOUNDS):
        cases += [Setting(noise, lower, upper, (upper - lower) / u) for u in US[i % 2 :: 2]]
    stepped = [(0.0, 10.0, 3.0), (-1.0, 1.0, 0.1), (1e9, 1e9 + 1, 0.3), (0.0, 120.0, 1.0)]
    stepped += [(0.0, 1.0, 1.0), (0.1, 7.3, 7.3 * 2.0**-41.98), (-5.0, 2.0, 7e-11), (0.0, 7.0, 2.7)]
    for lower, upper, step in stepped:
        for u in (0.03, 0.7, 6.0, 1e3, 2e8):
            cases.append(Setting(noise, lower, upper, (upper - lower) / u, step))
    return cases


def values_of(setting: Setting, rng: np.random.Generator) -> list[float]:
    lower, upper = setting.lower, setting.upper
    near = setting.clamp(lower + setting.scale * rng.exponential())
    candidates = [
        lower,
        upper,
        lower + (upper - lower) / 2,
        math.nextafter(lower, upper),
        math.nextafter(upper, lower),
        near,
        setting.clamp(upper - setting.scale * rng.exponential()),
        lower + (upper - lower) * rng.random(),
        upper + (upper - lower),  # outside: counts as the bound
    ]
    return [candidates[i] for i in rng.choice(len(candidates), 3, replace=False)]


def random_words(rng: np.random.Generator, count: int) -> Words:
    pairs: NDArray[np.uint64] = rng.integers(0, TWO_64, (count, 2), np.uint64, endpoint=False)
    return [(a, b) for a, b in pairs.tolist()]


@pytest.mark.parametrize("noise", NOISES)
def test_every_certain_decision_on_random_words_is_right(noise: Noise) -> None:
    rng = np.random.default_rng(1)
    certain = refusals = trials = 0
    for setting in settings(noise):
        for value in values_of(setting, rng):
            words = random_words(rng, 35)
            trials += len(words)
            wrong, sure, refused = setting.mistakes(value, words)
            assert wrong == 0, (setting, value)
            certain += sure
            refusals += refused
    assert trials > 10_000
    assert certain > 0.98 * trials
    assert refusals > 0.01 * trials


def cuts_near(setting: Setting, value: float, rng: np.random.Generator) -> list[fmpq]:
    """Return grid cuts where noise is likely to fall, among them the first and the last."""
    grid, at = setting.grid, setting.clamp(value)
    cuts = {0, grid.intervals - 1}
    for _ in range(4):
        wanted = setting.clamp(at + setting.scale * rng.normal() * 1.5)
        k = int(((exact(wanted) - exact(setting.lower)) / setting.spacing).floor())
        cuts.add(min(max(k, 0), grid.intervals - 1))
    return [grid.cut(k) for k in sorted(cuts)]


@pytest.mark.parametrize("noise", NOISES)
def test_points_within_rounding_errors_of_a_cut_or_a_bound_are_unsure_or_right(
    noise: Noise,
) -> None:
    rng = np.random.default_rng(2)
    certain = trials = 0
    for setting in settings(noise):
        for value in values_of(setting, rng):
            goals = cuts_near(setting, value, rng)
            if not setting.plan.narrow[0]:
                goals += [exact(setting.lower), exact(setting.upper)]
            words = [pair for goal in goals for pair in setting.aim_at(value, goal, rng)]
            if not words:
                continue
            wrong, sure, _ = setting.mistakes(value, words)
            assert wrong == 0, (setting, value)
            trials += len(words)
            certain += sure
    assert trials > 15_000
    assert 0.1 * trials < certain < 0.9 * trials  # the words straddle the margin


def strips_for(setting: Setting, value: float, rng: np.random.Generator) -> list[int]:
    _, first, many, _ = setting.proposal(value)
    if many == 0:
        return [0]
    ends = {first, first + many - 1, *(first + rng.integers(many, size=3)).tolist()}
    plain = strips(setting.noise).widths <= PLAIN[setting.noise.name]
    plains = np.flatnonzero(plain[first : first + many]) + first
    return sorted({*ends, int(plains[0]), int(plains[-1])})


@pytest.mark.parametrize("noise", NOISES)
def test_points_whose_chance_is_next_to_v_are_unsure_or_right(noise: Noise) -> None:
    rng = np.random.default_rng(3)
    certain = trials = 0
    for setting in settings(noise)[::2]:
        for value in values_of(setting, rng)[:2]:
            words = []
            for strip in strips_for(setting, value, rng):
                words += setting.aim_at_chance(value, strip, rng)
            if not words:
                continue
            wrong, sure, _ = setting.mistakes(value, words)
            assert wrong == 0, (setting, value)
            trials += len(words)
            certain += sure
    assert trials > 3_000
    assert certain > 100


@pytest.mark.parametrize("noise", NOISES)
def test_without_the_margin_of_position_the_same_words_do_find_mistakes(noise: Noise) -> None:
    rng = np.random.default_rng(4)
    mistakes = {True: 0, False: 0}
    for setting in settings(noise):
        narrow = bool(setting.plan.narrow[0])
        *_, u, _, stretch, span = setting.parameters
        for value in values_of(setting, rng):
            for goal in cuts_near(setting, value, rng):
                words = setting.aim_at(value, goal, rng, around=4)
                if words:
                    strip = setting.strip(value, words[0][0])
                    assert strip is not None
                    width = u if narrow else as_float(strip[1] - strip[0])
                    margin = span * 2.0**-48 + stretch * width * 2.0**-50
                    mistakes[narrow] += setting.mistakes(value, words, -margin)[0]
    assert mistakes[True] > 10
    assert mistakes[False] > 10


@pytest.mark.parametrize("noise", NOISES)
def test_without_the_margin_of_v_the_same_words_do_find_mistakes(
    noise: Noise, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(5)
    setting, value = Setting(noise, -1.1, 2.3, 1.7), 0.7
    assert not setting.plan.narrow[0]
    _, first, many, _ = setting.proposal(value)
    words = []
    for strip in range(first, first + many, 7):
        words += setting.aim_at_chance(value, strip, rng, around=0.04)
    truth = [setting.verdict(value, a, b) for a, b in words]
    flat = np.array([a for a, _ in words] + [b for _, b in words], np.uint64)

    def wrong() -> int:
        values, indices = np.full(len(words), value), np.empty(len(words))
        again = setting.sampler._alone.attempt(values, flat, indices, scratch_for(len(words)))
        found = zip(outcomes(indices, again), truth, strict=True)
        return sum(decision not in {UNSURE, right} for decision, right in found)

    assert len(words) > 300
    assert wrong() == 0
    monkeypatch.setattr(trial_block, "V_MARGIN", 0.0)
    monkeypatch.setattr(trial_block, "_ACCEPTED", np.array(1.0))
    assert wrong() > 5


def test_a_word_whose_choice_of_strip_would_be_biased_is_left_to_refine() -> None:
    setting = Setting(NORMAL, 0.0, 1.0, 0.3)
    many = setting.proposal(0.5)[2]
    assert TWO_32 % many > 0
    words = []
    for choice in range(many):
        start = -(-choice * TWO_32 // many)  # the first high half that chooses it
        words += [(start + off << 32, TWO_64 // 2) for off in (0, 1) if start + off < TWO_32]
    low = [(a >> 32) * many % TWO_32 for a, _ in words]
    decisions = setting.decisions(0.5, words)
    doubtful = [f for f, rest in zip(decisions, low, strict=True) if rest < many]
    assert doubtful
    assert all(f in {UNSURE, REFUSED} for f in doubtful)
    assert UNSURE in doubtful
    assert setting.mistakes(0.5, words)[0] == 0


def test_extreme_words_are_unsure_or_right() -> None:
    ends = (0, 1, (1 << 12) - 1, 1 << 12, TWO_64 - (1 << 12), TWO_64 - 1, TWO_64 // 2)
    words = [(a, b) for a in (*ends, TWO_32 - 1, TWO_32) for b in ends]
    for noise in NOISES:
        for setting in settings(noise)[::3]:
            for value in (setting.lower, setting.upper):
                assert setting.mistakes(value, words)[0] == 0, (setting, value)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("narrow", [False, True])
def test_values_with_parameters_of_their_own_are_decided_as_by_themselves(
    noise: Noise, narrow: bool
) -> None:
    rng = np.random.default_rng(8)
    size, caution = 1500, 0.1
    lower = rng.normal(size=size) * 10 ** rng.uniform(-3, 6, size)
    upper = lower + 10 ** rng.uniform(-3, 3, size)
    u = 10 ** rng.uniform(-6, -1.4, size) if narrow else 10 ** rng.uniform(-0.3, 3, size)
    plan = Plan.of(
        noise, lower, upper, (upper - lower) / u, (upper - lower) / 2.0**34, equal_time=True
    )
    assert (plan.narrow == narrow).all()
    trials = BlockTrials.of(noise, narrow, plan.parameters, caution)
    values = lower + (upper - lower) * np.clip(rng.normal(0.5, 0.4, size), 0.0, 1.0)
    words = rng.integers(0, TWO_64, 2 * size, np.uint64, endpoint=False)
    found = []
    for attempt in (trials.attempt, partial(trial_kernel.attempt, trials)):
        indices = np.empty(size)
        again = attempt(values, words, indices, scratch_for(size))
        found.append((outcomes(indices, again), again.proposals))
    assert found[0] == found[1]
    expected = []
    for i in range(size):
        one = trial_of(noise, Parameters(*(float(side[i]) for side in plan.parameters)), caution)
        proposal = one.propose(float(values[i]) - float(plan.parameters.lower[i]))
        expected.append(one.decide(proposal, int(words[i]), int(words[size + i])))
        if expected[-1] == UNSURE:
            assert proposal[1:] in found[0][1]
    assert found[0][0] == expected
    assert expected.count(UNSURE) > 20
    assert expected.count(REFUSED) > 0 or narrow
