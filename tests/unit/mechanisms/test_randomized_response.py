import copy
import math
import pickle
from typing import Any

import mpmath
import numpy as np
import pytest

import inbounds as ib
from inbounds.errors import ArgumentError, ArgumentTypeError, CertificateError
from inbounds.mechanisms.randomized_response import RandomizedResponse
from inbounds.mechanisms.response_integer import check_response
from inbounds.sampling.response import TOTAL, ResponseSampler

EPSILONS = [1e-19, 1e-6, 0.1, 0.5, 1.0, 2.0, 5.0, 40.0, 87.0, 89.0, 300.0]
counts = pytest.mark.parametrize("count", [2, 3, 10, 65_536])
epsilons = pytest.mark.parametrize("epsilon", EPSILONS)


@counts
@epsilons
def test_the_integers_are_the_best_that_give_epsilon(count: int, epsilon: float) -> None:
    """Compared with 100 digits of mpmath; with one outcome fewer, epsilon would be exceeded."""
    sampler = RandomizedResponse(range(count), epsilon=epsilon).sampler
    with mpmath.workdps(100):
        largest = mpmath.exp(mpmath.mpf(epsilon))
        assert mpmath.mpf(sampler.own) <= largest * sampler.other
        fewer = ResponseSampler(count, sampler.other - 1)
        if fewer.other:
            assert mpmath.mpf(fewer.own) > largest * fewer.other
            with pytest.raises(CertificateError):
                check_response(fewer, epsilon)
    assert 1 <= sampler.other <= sampler.own


def test_a_yes_or_no_at_epsilon_2_flips_as_rarely_as_possible() -> None:
    """False alarm below 1e-6: the standard deviation of 200,000 flips is 0.0007."""
    response = RandomizedResponse([0, 1], epsilon=2.0)
    assert response.flip_probability == pytest.approx(1 / (1 + math.exp(2)), abs=1e-15)
    table = ib.Optimal.calibrated(ib.Box(0, 1, step=1), 1, epsilon=2.0)
    for mechanism in (response, table):
        flips = np.mean(mechanism.release(np.zeros(200_000, np.int64)) != 0)  # type: ignore[attr-defined]
        assert abs(flips - 0.119203) < 0.0036


@counts
@epsilons
def test_total_variation_is_that_of_the_integers_rounded_up(count: int, epsilon: float) -> None:
    m = RandomizedResponse(range(count), epsilon=epsilon)
    with mpmath.workdps(60):
        exact = mpmath.mpf(m.sampler.own - m.sampler.other) / TOTAL
        assert exact <= mpmath.mpf(m.total_variation) <= exact * (1 + mpmath.mpf(2) ** -50)


@pytest.mark.parametrize("smaller", [0.0, 0.3, 0.999])
def test_delta_is_that_of_the_two_distributions(smaller: float) -> None:
    m = RandomizedResponse(["a", "b", "c", "d"], epsilon=1.5)
    own, other = m.sampler.own / TOTAL, m.sampler.other / TOTAL
    exact = max(0.0, own - math.exp(smaller) * other)
    assert exact <= m.delta(smaller) <= exact * (1 + 1e-9) + 1e-300
    assert m.delta(1.5) == 0


def test_accounting_reads_its_loss(tmp_path: Any) -> None:
    m = RandomizedResponse(["no", "yes"], epsilon=0.5)
    assert m.loss().epsilon == 0.5
    assert ib.compose([(m, 3)]).pure == pytest.approx(1.5)
    ledger = ib.Ledger(tmp_path / "budget.db")
    ledger.open("survey", epsilon=1.2)
    ledger.spend("survey", loss=m.loss(), label="smoker")
    ledger.spend("survey", loss=m.loss(), label="smoker")
    with pytest.raises(ib.BudgetExceededError):
        ledger.spend("survey", loss=m.loss(), label="smoker")
    ledger.close()


@pytest.mark.parametrize(
    ("levels", "values"),
    [
        (["no", "yes"], ["no", "yes", "no"]),
        ([1, 2, 3], np.array([[1, 2], [3, 3]])),
        ([False, True], [True]),
        (["a", "b"], np.array(["a", "b"], object)),
    ],
)
def test_outputs_are_levels_in_the_shape_of_the_values(levels: Any, values: Any) -> None:
    outputs = RandomizedResponse(levels, epsilon=1.0).release(values)
    assert outputs.shape == np.shape(values)
    assert set(outputs.reshape(-1).tolist()) <= set(levels)


@pytest.mark.parametrize("levels", [["no", "yes"], [1, 2], [False, True]])
def test_one_value_gives_one_level_of_its_type(levels: Any) -> None:
    output = RandomizedResponse(levels, epsilon=1.0).release(levels[0])
    assert output in levels
    assert type(output) is type(levels[0])


def test_what_is_no_level_is_refused_and_columns_are_sent_to_privatize() -> None:
    m = RandomizedResponse(["no", "yes"], epsilon=1.0)
    for values in ("secret", ["no", "secret"], np.array(["secret"]), 7, True, ["no", None]):
        with pytest.raises(ArgumentError, match=r"^values must hold levels") as caught:
            m.release(values)
        assert "secret" not in str(caught.value)
    for column in (iter(["no"]), {"no"}, None, 1.5):
        with pytest.raises(ArgumentTypeError, match="privatize releases columns"):
            m.release(column)


@pytest.mark.parametrize("count", [2, 65_536])
def test_extreme_epsilons_leave_every_output_possible(count: int) -> None:
    assert RandomizedResponse(range(count), epsilon=9e99).sampler.other == 1
    even = RandomizedResponse(range(count), epsilon=1e-19)
    assert even.sampler.other <= even.sampler.own < even.sampler.other * (1 + 2.0**-50)
    assert np.isfinite(even.estimate_counts([1] * count).unbiased).all()


@pytest.mark.parametrize("epsilon", [0, -1, 1e-20, math.inf, math.nan, "1", None, True])
def test_epsilon_is_checked(epsilon: Any) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError), match="epsilon"):
        RandomizedResponse(["no", "yes"], epsilon=epsilon)


def test_wrong_calls_are_told_what_is_missing() -> None:
    with pytest.raises(ArgumentTypeError, match=r"epsilon must be given"):
        RandomizedResponse(["no", "yes"])  # type: ignore[call-arg]
    with pytest.raises(ArgumentTypeError, match=r"pure epsilon, which holds for every delta"):
        RandomizedResponse(["no", "yes"], epsilon=1.0, delta=0.1)  # type: ignore[call-arg]


def test_copies_are_equal_and_draw_their_own_bits() -> None:
    """False alarm below 1e-6: 200 outputs at epsilon 0.01 agree with a probability of 2⁻²⁰⁰."""
    m = RandomizedResponse(["no", "yes"], epsilon=0.01)
    for other in (copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
        assert other == m
        assert hash(other) == hash(m)
        values = ["no"] * 200
        assert other.release(values).tolist() != m.release(values).tolist()
    assert m != RandomizedResponse(["yes", "no"], epsilon=0.01)
    assert m != RandomizedResponse(["no", "yes"], epsilon=0.02)


def test_it_is_shown_with_few_levels() -> None:
    assert repr(RandomizedResponse(["no", "yes"], epsilon=2)) == (
        "RandomizedResponse(['no', 'yes'], epsilon=2)"
    )
    many = RandomizedResponse(range(100), epsilon=2)
    assert repr(many) == "RandomizedResponse([0, 1, 2, 3, 4, 5, 6, 7, ...], epsilon=2)"
    assert "flip probability" in many._repr_html_()


def test_an_estimate_reads_lists_arrays_and_columns() -> None:
    import polars as pl  # noqa: PLC0415 - only this test needs them
    import pyarrow as pa  # noqa: PLC0415

    m = RandomizedResponse(["no", "yes"], epsilon=2.0)
    outputs = ["no", "yes", "no", "no"]
    expected = m.estimate_counts([3, 1]).unbiased
    for given in (outputs, np.array(outputs), pl.Series(outputs), pa.array(outputs)):
        assert np.array_equal(m.estimate(given).unbiased, expected)
    with pytest.raises(ArgumentError, match=r"^outputs must hold at least one"):
        m.estimate([])
    with pytest.raises(ArgumentError, match=r"^outputs must hold levels"):
        m.estimate(["maybe"])
    for counts_given in ([1], [1, -1], [0.5, 0.5], [[1, 2]]):
        with pytest.raises(ArgumentError, match=r"^counts must be"):
            m.estimate_counts(counts_given)


def test_lists_of_lists_are_released_as_arrays_are() -> None:
    m = RandomizedResponse(["no", "yes"], epsilon=50.0)
    rows = [["no", "yes"], ["no", "no"]]
    assert m.release(rows).tolist() == m.release(np.array(rows)).tolist() == rows
    with pytest.raises(ArgumentError, match=r"^values must hold levels"):
        m.release([["no", "yes"], ["no"]])
