"""The lazily refined uniform: which bits it holds, and when more of them are drawn."""

import pytest
from flint import ctx, fmpq

from inbounds.sampling.entropy import SeededEntropy
from inbounds.sampling.uniform import Uniform, refine_until_decided


class Recorder:
    """A source that remembers who asked for bits."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def source(self, name: str, bit: str) -> SeededEntropy:
        asked = self.asked

        class Constant(SeededEntropy):
            def bits(self, count: int) -> int:
                asked.append(name)
                return int(bit * count, 2)

        return Constant(0)


def test_without_first_bits_64_are_drawn_and_every_refinement_draws_64_more() -> None:
    u, same = Uniform(SeededEntropy(1)), SeededEntropy(1)
    first = same.bits(64)
    assert (u.bits, u.count) == (first, 64)
    u.refine()
    assert (u.bits, u.count) == (first << 64 | same.bits(64), 128)


def test_first_bits_that_are_given_stay_and_cost_no_entropy() -> None:
    entropy = SeededEntropy(2)
    u = Uniform(entropy, 0b1011, 4)
    assert entropy._calls == 0
    u.refine()
    assert entropy._calls == 1
    assert (u.bits >> 64, u.count) == (0b1011, 68)


@pytest.mark.parametrize("count", [1, 32, 64, 96, 500])
def test_the_ball_reaches_from_end_to_end_and_no_further(count: int) -> None:
    for bits in {0, 1, (1 << count) - 1, SeededEntropy(3).bits(count)}:
        u = Uniform(SeededEntropy(4), bits, count)
        with ctx.workprec(count + 2):
            assert u.low == fmpq(bits, 1 << count)
            assert u.high == fmpq(bits + 1, 1 << count)
            assert u.ball.lower() == u.low
            assert u.ball.upper() == u.high


def test_the_ends_are_exact_in_any_working_precision() -> None:
    u = Uniform(SeededEntropy(5), (1 << 200) - 1, 200)
    with ctx.workprec(10):
        low = u.low
    with ctx.workprec(300):
        assert low == 1 - fmpq(1, 1 << 200)


def test_nothing_is_drawn_once_it_is_decided() -> None:
    recorder = Recorder()
    u = Uniform(recorder.source("u", "0"), 1, 1)
    assert (
        refine_until_decided(lambda: False, u, guard=3) is False
    )  # an outcome, though not a true one
    assert recorder.asked == []


def test_undecided_uniforms_are_all_refined_in_the_order_given() -> None:
    recorder = Recorder()
    v, u = (Uniform(recorder.source(name, "1"), 0, 1) for name in "vu")
    rounds: list[tuple[int, int, int]] = []

    def decide() -> int | None:
        rounds.append((v.count, u.count, ctx.prec))
        return 7 if len(rounds) == 3 else None

    before = ctx.prec
    assert refine_until_decided(decide, v, u, guard=20) == 7
    assert recorder.asked == ["v", "u", "v", "u"]
    assert rounds == [(1, 1, 21), (65, 65, 85), (129, 129, 149)]
    assert ctx.prec == before


def test_the_longest_uniform_sets_the_working_precision() -> None:
    short, long = (Uniform(SeededEntropy(6), 0, count) for count in (32, 64))
    assert refine_until_decided(lambda: ctx.prec, short, long, guard=128) == 64 + 128
