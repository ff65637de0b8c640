"""The bounds of clamped noise: tails, and decisions that are certain, against ball arithmetic."""

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from inbounds.numerics.ball import exact
from inbounds.numerics.noise import Noise
from inbounds.numerics.noises import NOISES
from inbounds.numerics.normal import NORMAL
from inbounds.sampling import atoms, trial_kernel
from inbounds.sampling.plan import Parameters
from inbounds.sampling.sampler import Sampler
from inbounds.sampling.trial import trial_of

TWO_64 = 1 << 64


def tail(noise: Noise, distance: fmpq) -> arb:
    if noise == NORMAL:
        return (arb(distance) / arb(2).sqrt()).erfc() / 2
    return (-arb(distance)).exp() / 2


@pytest.mark.parametrize("noise", NOISES)
def test_tails_are_good_to_a_relative_2_to_the_minus_33(noise: Noise) -> None:
    with ctx.workprec(100):
        for distance in np.linspace(0.0, 12.0, 4001).tolist():
            computed = atoms.tail(noise, distance)
            truth = tail(noise, exact(distance))
            assert abs(exact(computed) / truth - 1) < 2.0**-33


@pytest.mark.parametrize("noise", NOISES)
def test_far_tails_are_too_small_for_any_word(noise: Noise) -> None:
    for distance in np.geomspace(50.0, 1e150, 300).tolist():
        assert 0 <= atoms.tail(noise, distance) < 2.0**-65


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("scale", [1e-9, 0.03, 1.0, 1e4])
def test_words_next_to_a_probability_are_unsure_or_decided_rightly(
    noise: Noise, scale: float
) -> None:
    """Words within a few margins of the masses beyond both bounds, on both sides of them."""
    rng = np.random.default_rng(1)
    sampler = Sampler(noise, np.zeros(1), np.ones(1), np.array([scale]), (None,), clamped=True)
    margin = 2.0**-30 + 2.0**-45 / scale
    values = np.clip(scale * rng.exponential(2.0, 400), 0, 1)
    values[::2] = 1 - values[::2]
    truths, words = [], []
    with ctx.workprec(200):
        for value in values.tolist():
            masses = [tail(noise, exact(gap) / exact(scale)) for gap in (value, 1.0)]
            masses[1] = tail(noise, (1 - exact(value)) / exact(scale))
            side = int(rng.integers(2))
            goal = float(masses[side]) * (1 + rng.uniform(-4, 4) * margin)
            word = min(max(int(goal * TWO_64), 0), TWO_64 - 1)
            words.append(word if side == 0 else word ^ (TWO_64 - 1))
            truths.append(masses)
    given, drawn, scratch = sampler._alone.given, np.array(words, np.uint64), np.empty((7, 400))
    found = atoms.verdicts(noise, given, values, drawn, scratch)
    assert np.array_equal(found, trial_kernel.verdicts(noise, given, values, drawn, scratch))
    plain = Parameters(*map(float, given))
    propose, one = trial_of(noise, plain).propose, atoms.verdict_of(noise, plain.u)
    assert found.tolist() == [
        one(propose(value)[0], word) for value, word in zip(values.tolist(), words, strict=True)
    ]
    doubtful = set(np.flatnonzero(found == atoms.UNSURE).tolist())
    count = len(doubtful)
    assert 20 < count < 380
    for i, (word, (below, above)) in enumerate(zip(words, truths, strict=True)):
        if i in doubtful:
            continue
        first, last = fmpq(word, TWO_64), fmpq(word + 1, TWO_64)
        low, high = bool(last <= below), bool(1 - first <= above)
        assert (low or high) == (found[i] == atoms.BEYOND)
        assert low or first >= below
        assert high or 1 - last >= above
