import copy
import os
import pickle
from dataclasses import FrozenInstanceError

import pytest

from inbounds.sampling.entropy import SYSTEM, Entropy, SeededEntropy, SystemEntropy

SOURCES = [SYSTEM, SeededEntropy(1)]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("count", [1, 3, 7, 8, 9, 64, 65, 1000])
def test_every_bit_asked_for_and_no_other_comes_up_both_ways(source: Entropy, count: int) -> None:
    """False alarm: a given bit keeps one value in 60 draws with probability 2**-59."""
    draws = [source.bits(count) for _ in range(60)]
    ever_one, always_one = 0, (1 << count) - 1
    for bits in draws:
        ever_one |= bits
        always_one &= bits
    assert ever_one == (1 << count) - 1
    assert always_one == 0


@pytest.mark.parametrize("source", SOURCES)
def test_ones_are_half_of_all_bits(source: Entropy) -> None:
    """False alarm 2e-9: the count of ones in 2**20 bits has standard deviation 512, we allow 6."""
    assert abs(source.bits(2**20).bit_count() - 2**19) < 6 * 512


@pytest.mark.parametrize("source", SOURCES)
def test_calls_are_unrelated(source: Entropy) -> None:
    """False alarm 2e-9, as above: two calls agree in half of their bits."""
    agreement = ~(source.bits(2**20) ^ source.bits(2**20)) & ((1 << 2**20) - 1)
    assert abs(agreement.bit_count() - 2**19) < 6 * 512


@pytest.mark.parametrize("source", SOURCES)
def test_words_of_two_calls_are_unrelated(source: Entropy) -> None:
    """False alarm 2e-9, as above."""
    apart = int.from_bytes((source.words(2**14) ^ source.words(2**14)).tobytes())
    assert abs(apart.bit_count() - 2**19) < 6 * 512


def test_the_system_source_has_no_state_to_copy() -> None:
    twins = [copy.copy(SYSTEM), copy.deepcopy(SYSTEM), pickle.loads(pickle.dumps(SYSTEM))]
    assert twins == [SYSTEM] * 3
    assert len({source.bits(128) for source in [SYSTEM, *twins]}) == 4
    with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
        SystemEntropy().seed = 1  # type: ignore[attr-defined]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_draws_other_bits() -> None:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, SYSTEM.bits(128).to_bytes(16))
        os._exit(0)
    mine = SYSTEM.bits(128)
    os.waitpid(child, 0)
    assert int.from_bytes(os.read(reader, 16)) != mine
    os.close(reader)
    os.close(writer)


def test_a_seed_repeats_its_stream_on_every_machine() -> None:
    first, second = SeededEntropy(0), SeededEntropy(0)
    stream = [first.bits(count) for count in (64, 64, 1, 200)]
    assert stream == [second.bits(count) for count in (64, 64, 1, 200)]
    assert stream[0] == 0xE4950A140E5FEB36


def test_seeds_do_not_share_streams() -> None:
    words = [SeededEntropy(seed).bits(64) for seed in (-1, 0, 1, 10, 2**70)]
    assert len(set(words)) == 5
