import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.frames.central.quantile import Quantile, as_fraction, median, quantile


@pytest.mark.parametrize(
    ("statistic", "shown"),
    [
        (quantile("age", 0.5, 0, 120), "quantile('age', 0.5, 0, 120)"),
        (quantile("age", [0.25, 0.75], 0, 120), "quantile('age', [0.25, 0.75], 0, 120)"),
        (quantile("x", 0.1, 0, 1, step=0.1), "quantile('x', 0.1, 0, 1, step=0.1)"),
        (
            quantile("x", [0.1, 0.2], 0, 1, interval=True),
            "quantile('x', [0.1, 0.2], 0, 1, interval=True)",
        ),
        (median("age", 0, 120), "median('age', 0, 120)"),
        (median("age", 0, 120, interval=False), "median('age', 0, 120, interval=False)"),
    ],
    ids=str,
)
def test_a_quantile_is_plain_data_and_shows_how_it_was_asked_for(
    statistic: Quantile, shown: str
) -> None:
    assert repr(statistic) == shown
    names = {"quantile": quantile, "median": median}
    assert eval(shown, names) == statistic
    copy = pickle.loads(pickle.dumps(statistic))
    assert copy == statistic
    assert hash(copy) == hash(statistic)


def test_a_median_is_its_own_statistic_and_needs_no_label() -> None:
    assert median("age", 0, 120) != quantile("age", 0.5, 0, 120)
    assert (median("age", 0, 9).kind, median("age", 0, 9).labels) == ("median", [{}])
    assert quantile("age", [0.5, 0.1], 0, 9).labels == [{"q": 0.5}, {"q": 0.1}]


@pytest.mark.parametrize("q", [np.float64(0.5), np.array([0.5]), (0.5,), [np.float32(0.5)]])
def test_quantiles_may_be_numbers_of_any_kind(q: Any) -> None:
    assert quantile("age", q, 0, 9).qs == (0.5,)  # type: ignore[attr-defined]


@pytest.mark.parametrize("q", [0, 1, -0.5, 1e-9, 1 - 1e-9, 50, [0.5, 1.0]])
def test_a_quantile_must_be_between_0_and_1(q: Any) -> None:
    with pytest.raises(ArgumentError, match=r"q must be between 0\.000001 and 0\.999999"):
        quantile("age", q, 0, 120)


@pytest.mark.parametrize("q", [[0.5, 0.5], [1 / 3, 0.3333333333333]])
def test_no_quantile_is_asked_for_twice(q: list[float]) -> None:
    with pytest.raises(ArgumentError, match="q must hold no quantile twice"):
        quantile("age", q, 0, 120)


@pytest.mark.parametrize("q", ["half", None, []])
def test_what_is_no_number_is_refused_by_name(q: Any) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError), match="q must"):
        quantile("age", q, 0, 120)


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"step": 7}, "step"),
        ({"step": 0}, "step"),
        ({"step": "1"}, "step"),
        ({"interval": 1}, "interval"),
    ],
    ids=str,
)
def test_an_error_names_the_argument(options: dict[str, Any], argument: str) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError), match=f"^{argument} must"):
        median("age", 0, 120, **options)


def test_fractions_are_those_that_were_written() -> None:
    assert as_fraction(0.29) == Fraction(29, 100)
    assert as_fraction(2 / 3) == Fraction(2, 3)
    assert as_fraction(0.333333) == Fraction(333333, 10**6)
    asked = quantile("x", [0.9, 0.29], 0, 1)
    assert isinstance(asked, Quantile)
    assert asked.fractions == [Fraction(29, 100), Fraction(9, 10)]


def test_a_quantile_needs_no_sums() -> None:
    assert median("age", 0, 120).moments(counted=False) == []
