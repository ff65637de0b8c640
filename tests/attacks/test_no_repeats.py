"""No two releases share random bits: not across processes, threads, copies or pickles.

Two sequences of fine answers share an entry at the same place with a probability of 2⁻²² each,
and two of words with 2⁻⁶⁴; a shared stream would make all of them equal.
"""

import copy
import multiprocessing
import pickle
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from multiprocessing.context import BaseContext

import numpy as np
import pytest
from numpy.typing import NDArray

from inbounds import BoundedGaussian, Box
from inbounds.sampling.entropy import SYSTEM, Entropy, SeededEntropy, SystemEntropy

WORDS = 10_000
FEW, MANY = 100, 10_000  # releases by the short sampler, and by the kernel
MECHANISM = BoundedGaussian(Box(0, 1), 1, sigma=1000.0)  # 2²² about equally likely answers


def repeats(sequences: list[NDArray[np.generic]]) -> int:
    """Return the largest number of places at which two of the sequences agree."""
    return max(int((a == b).sum()) for a, b in combinations(sequences, 2))


def assert_nothing_repeats(sequences: list[NDArray[np.generic]]) -> None:
    """False alarm below 1e-12 for a hundred pairs of 10⁴ answers: seven or more agree by chance."""
    assert repeats(sequences) < 7


def in_processes(
    context: BaseContext, entropy: Entropy, mechanism: BoundedGaussian = MECHANISM
) -> dict[str, list[NDArray[np.generic]]]:
    """Draw words and release values in two child processes and in this one, from `entropy`."""
    few, many = np.full(FEW, 0.5), np.full(MANY, 0.5)
    drawn: dict[str, list[NDArray[np.generic]]] = {"words": [], "few": [], "many": []}
    pools = [context.Pool(1) for _ in range(2)]
    try:
        for pool in pools:
            drawn["words"].append(pool.apply(entropy.words, (WORDS,)))
            for name, values in (("few", few), ("many", many)):
                drawn[name].append(pool.apply(mechanism.release, (values,), {"entropy": entropy}))
    finally:
        for pool in pools:
            pool.terminate()
            pool.join()
    drawn["words"].append(entropy.words(WORDS))
    for name, values in (("few", few), ("many", many)):
        drawn[name].append(mechanism.release(values, entropy=entropy))
    return drawn


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_never_repeat_each_other(method: str) -> None:
    """False alarm below 1e-6. The parent has drawn before, so that there is state to inherit."""
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system cannot {method}")
    SYSTEM.words(WORDS)
    MECHANISM.release(np.full(MANY, 0.5))
    for sequences in in_processes(multiprocessing.get_context(method), SYSTEM).values():
        assert_nothing_repeats(sequences)


def test_a_seeded_source_repeats_across_processes() -> None:
    """Shows that the test above can fail. No false alarm: the stream is fixed by its seed."""
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("this system cannot fork")
    drawn = in_processes(multiprocessing.get_context("fork"), SeededEntropy(5))
    assert repeats(drawn["words"]) == WORDS
    assert repeats(drawn["few"]) == FEW
    assert repeats(drawn["many"]) == MANY


def test_a_generator_of_numpy_repeats_after_a_fork() -> None:
    """Shows the mistake itself: a child inherits the state of its parent's generator."""
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("this system cannot fork")
    generator = np.random.default_rng()
    with multiprocessing.get_context("fork").Pool(1) as pool:
        child = pool.apply(generator.random, (WORDS,))
    assert np.array_equal(child, generator.random(WORDS))


def test_threads_never_repeat_each_other() -> None:
    """False alarm below 1e-6."""
    with ThreadPoolExecutor(8) as pool:
        words = list(pool.map(SYSTEM.words, [WORDS] * 16))
        many = list(pool.map(MECHANISM.release, [np.full(MANY, 0.5)] * 16))
        few = list(pool.map(MECHANISM.release, [np.full(FEW, 0.5)] * 8))
    for sequences in (words, many, few):
        assert_nothing_repeats(sequences)


def test_threads_within_one_release_never_repeat_each_other() -> None:
    """False alarm below 1e-6: 64 pieces of 2¹⁴ answers, whichever thread gave them."""
    pieces = MECHANISM.release(np.full(1 << 20, 0.5)).reshape(64, -1)
    assert repeats(list(pieces)) < 9


def test_copies_and_pickles_never_repeat_the_original() -> None:
    """False alarm below 1e-6."""
    MECHANISM.release(np.full(MANY, 0.5))
    kin = [MECHANISM, copy.copy(MECHANISM), copy.deepcopy(MECHANISM)]
    kin += [pickle.loads(pickle.dumps(MECHANISM)) for _ in range(3)]
    for size in (FEW, MANY):
        assert_nothing_repeats([twin.release(np.full(size, 0.5)) for twin in kin])
    sources = [SYSTEM, SystemEntropy(), copy.deepcopy(SYSTEM), pickle.loads(pickle.dumps(SYSTEM))]
    assert_nothing_repeats([source.words(WORDS) for source in sources])
    assert len({source.bits(256) for source in sources}) == len(sources)


def test_copies_of_a_seeded_source_repeat_the_original() -> None:
    """Shows that the test above can fail. No false alarm: the stream is fixed by its seed."""
    seeded = SeededEntropy(5)
    sources = [copy.deepcopy(seeded), pickle.loads(pickle.dumps(seeded)), seeded]
    assert repeats([MECHANISM.release(np.full(MANY, 0.5), entropy=s) for s in sources]) == MANY


def test_no_word_of_a_long_stream_comes_twice() -> None:
    """False alarm below 1e-6: two of 2²⁰ words are equal with a probability of 3e-8."""
    words = np.concatenate([SYSTEM.words(1 << 16) for _ in range(16)])
    assert np.unique(words).size == words.size
