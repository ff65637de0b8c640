import math

import pytest

from inbounds.accounting.request import Fit, read, refusal, written
from inbounds.guarantee import Amount


@pytest.mark.parametrize(
    "asked",
    [Amount(epsilon=1.0), Amount(epsilon=0.1, delta=1e-7), Amount(rho=5e-324), Amount(1e308), None],
)
def test_what_was_asked_survives_being_written(asked: Amount | None) -> None:
    assert read(written(asked)) == asked


@pytest.mark.parametrize(
    "text",
    *[
        [
            *("", "1", "[]", "null", '{"epsilon": "1"}', '{"epsilon": true}', '{"epsilon": -1}'),
            *('{"secret": 1}', '{"epsilon": NaN}', '{"epsilon": null}', '{"epsilon": 1e999}'),
            *('{"epsilon": 1, "epsilon": 2}', "[" * 10**5),
        ]
    ],
)
def test_anything_else_is_not_read(text: str) -> None:
    with pytest.raises((ValueError, RecursionError)):
        read(text)


def test_a_refusal_speaks_of_the_request_and_of_the_budget() -> None:
    budget = Amount(epsilon=1.0, delta=1e-6)
    text = refusal("d", budget, budget, "epsilon=0.9, delta=1e-07", Amount(1.25, 1e-6))
    assert text == (
        "dataset 'd' has epsilon=1.0, delta=1e-06 left of epsilon=1.0, delta=1e-06, too little "
        "for epsilon=0.9, delta=1e-07: the cost here is epsilon=1.25, delta=1e-06."
    )
    assert refusal("d", budget, budget, "epsilon=2.0", Amount(2.0, 1e-6)).endswith("epsilon=2.0.")
    assert "inf" not in refusal("d", budget, budget, "rho=1.0", Amount(math.inf, 1e-6))


def test_a_fit_is_true_or_false_and_shows_why() -> None:
    cost, left = Amount(epsilon=0.5), Amount(epsilon=0.25)
    assert Fit(True, cost, left)
    refused = Fit(False, cost, left, "too <little>")
    assert not refused
    assert "too <little>" in repr(refused)
    assert "too &lt;little&gt;" in refused._repr_html_()
    assert "reason" not in Fit(True, cost, left)._repr_html_()


def test_a_refusal_leaves_out_digits_that_are_rounding() -> None:
    budget, left = Amount(epsilon=1.0), Amount(epsilon=0.5000000000000019)
    said = refusal(
        "d", budget, left, "2 releases at epsilon=0.5", Amount(epsilon=0.9999999999999991)
    )
    assert "has epsilon=0.5 left" in said
    assert said.endswith("the cost here is epsilon=1.0.")
    close = refusal("d", budget, left, "this release", Amount(epsilon=0.500000000000002))
    assert "has epsilon=0.5000000000000019 left" in close
