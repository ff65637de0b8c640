import numpy as np
import pytest

import inbounds as ib
from inbounds.auditing.coded import CodedResponse, as_numbers
from inbounds.sampling.response import TOTAL, ResponseSampler


@pytest.mark.parametrize("count", [2, 5])
def test_an_audit_finds_nearly_the_epsilon_and_never_more(count: int) -> None:
    """False alarm below 1e-6, which is the confidence."""
    m = ib.RandomizedResponse(range(count), epsilon=1.0)
    result = ib.audit(m, releases=400_000, confidence=1 - 1e-6)
    assert 0.9 < result.epsilon_lower <= 1.0
    assert result.claimed_epsilon == 1.0
    assert result.mechanism == repr(m)


def test_an_audit_refutes_a_response_that_flips_too_rarely() -> None:
    m = ib.RandomizedResponse(["no", "yes"], epsilon=1.0)
    object.__setattr__(m, "sampler", ResponseSampler(2, TOTAL // 5))  # epsilon is ln 4
    assert ib.audit(m, releases=400_000, confidence=1 - 1e-6).epsilon_lower > 1.2


def test_the_claim_at_a_delta_is_the_mechanism_s() -> None:
    m = ib.RandomizedResponse(["no", "yes"], epsilon=1.0)
    result = ib.audit(m, releases=20_000, delta=0.1)
    assert result.claimed_epsilon == m.epsilon_at(0.1) < 1.0


def test_numbers_between_codes_count_as_the_lower_one() -> None:
    coded = CodedResponse(ib.RandomizedResponse(["a", "b", "c"], epsilon=80.0))
    assert coded.release(np.array([0.0, 0.9, 1.0, 1.5, 2.0])).tolist() == [0, 0, 1, 1, 2]


def test_other_mechanisms_stay_what_they_are() -> None:
    m = ib.ClampedLaplace(ib.Box(0, 1), 1, scale=1.0)
    assert as_numbers(m) is m
    assert as_numbers(len) is len
