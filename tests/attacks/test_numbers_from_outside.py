"""Numbers that are not the doubles that would be checked: in texts, on options, in calls."""

import json
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import inbounds as ib
from inbounds.accounting.budget import Budget
from inbounds.calibration.certificate import Certificate
from inbounds.cli.app import app
from inbounds.errors import ArgumentError, CertificateError
from inbounds.loss import PrivacyLoss

LARGE = 2**54  # beyond it, doubles are multiples of 4


def honest() -> Certificate:
    box = ib.Box(LARGE, LARGE + 256)
    return ib.BoundedGaussian.calibrated(box, 256, epsilon=0.5).certificate()


def with_bounds(lower: int, upper: int) -> str:
    fields = json.loads(honest().to_json())
    fields["rows"][0] |= {"lower": lower, "upper": upper}
    return json.dumps(fields)


def test_a_wider_box_written_in_integers_is_not_proved() -> None:
    """2⁵⁴ + 1 and 2⁵⁴ + 257 are no doubles: rounded, the box looks narrower than it is."""
    Certificate.from_json(with_bounds(LARGE, LARGE + 256)).check()
    with pytest.raises(ArgumentError):
        Certificate.from_json(with_bounds(LARGE + 1, LARGE + 257))
    row = replace(honest().rows[0], lower=LARGE + 1, upper=LARGE + 257)
    with pytest.raises(CertificateError):
        replace(honest(), rows=(row,)).check()


@settings(max_examples=150, deadline=None)
@given(
    field=st.sampled_from(["lower", "upper", "scale", "cap", "change"]),
    move=st.fractions(-1000, 1000).filter(bool),
)
def test_what_passes_is_what_was_written(field: str, move: Fraction) -> None:
    """Any text is read as its number, exactly or as its shortest decimal, or refused."""
    fields = json.loads(honest().to_json())
    value = Fraction(fields["rows"][0][field] or 1) + move
    text = f"{value.numerator}" if value.denominator == 1 else f"{float(value)!r}{'1' * 12}"
    fields["rows"][0][field] = "HERE"
    written = json.dumps(fields).replace('"HERE"', text)
    try:
        proof = Certificate.from_json(written)
    except ArgumentError:
        return
    read = getattr(proof.rows[0], field)
    assert Fraction(text) in (Fraction(read), Fraction(repr(float(read))))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text.replace('"epsilon": ', '"epsilon": 0.1, "epsilon": ', 1),
        lambda text: text.replace('"epsilon": ', '"epsilon": 1e400, "x": ', 1),
        lambda text: text.replace('"epsilon": ', '"epsilon": true, "mu": 0, "x": ', 1),
        lambda text: text.replace('"epsilon": ', '"epsilon": "0.5", "x": ', 1),
        lambda text: text.replace('"epsilon": ', '"epsilon": 18014398509482001, "x": ', 1),
        lambda text: text.replace('"epsilon": ', '"epsilon": NaN, "x": ', 1),
        lambda text: "[" * 100_000 + text,
    ],
)
@pytest.mark.parametrize("kind", [PrivacyLoss, Certificate])
def test_text_that_can_be_read_in_two_ways_is_refused(
    spoil: Callable[[str], str], kind: Any
) -> None:
    text = PrivacyLoss.pure(0.5).to_json() if kind is PrivacyLoss else honest().to_json()
    with pytest.raises(ArgumentError):
        kind.from_json(spoil(text))


CALIBRATE = ["calibrate", "--bounds", "0:1e17", "--mechanism", "clamped-laplace", "--json"]
OPTIONS: dict[str, list[str]] = {
    "sensitivity": [*CALIBRATE, "--epsilon", "1", "--sensitivity"],
    "epsilon": [*CALIBRATE, "--sensitivity", "1", "--epsilon"],
    "step": [*CALIBRATE, "--sensitivity", "1", "--epsilon", "1", "--step"],
    "rho": ["calibrate", "--bounds", "0:1", "--sensitivity", "1", "--json", "--rho"],
    "delta": ["calibrate", "--bounds", "0:1", "--sensitivity", "1", "--epsilon", "1", "--delta"],
    "release": ["release", "--bounds", "0:1", "--sensitivity", "1", "--epsilon"],
    "compare": ["compare", "--bounds", "0:1", "--sensitivity", "1", "--epsilon"],
    "compose": ["compose", "--delta", "0", "--epsilon"],
    "compose rho": ["compose", "--delta", "0", "--rho"],
    "compose delta": ["compose", "--epsilon", "1", "--delta"],
    "regimes": ["regimes", "--delta"],
    "audit": ["audit", "--bounds", "0:1", "--sensitivity", "1", "--epsilon"],
    "privatize": ["privatize", "a.csv", "b.csv", "--column", "a=0:1", "--epsilon"],
    "privatize delta": ["privatize", "a.csv", "b.csv", "--column", "a=0:1", "--delta"],
    "open": ["ledger", "open", "s", "--ledger", "no/ledger.db", "--epsilon"],
    "open rho": ["ledger", "open", "s", "--ledger", "no/ledger.db", "--rho"],
    "spend": ["ledger", "spend", "s", "--ledger", "no/ledger.db", "--epsilon"],
    "spend delta": ["ledger", "spend", "s", "--ledger", "no/ledger.db", "--delta"],
}
NO_DOUBLES = ["9007199254740993", "1.00000000000000000001", "0.99999999999999999999999", "1e-400"]


@pytest.mark.parametrize("text", NO_DOUBLES)
@pytest.mark.parametrize("command", OPTIONS.values(), ids=OPTIONS)
def test_no_option_takes_a_number_for_another(command: list[str], text: str) -> None:
    done = CliRunner().invoke(app, [*command, text])
    assert done.exit_code == 2
    assert f"must be a number that a double holds, got {text!r}" in " ".join(
        done.stderr.replace("│", " ").split()
    )


@pytest.mark.parametrize(("text", "number"), [("0.1", 0.1), ("1e-3", 0.001), (" 2.50 ", 2.5)])
def test_an_option_takes_every_decimal_of_a_double(text: str, number: float) -> None:
    done = CliRunner().invoke(app, [*OPTIONS["epsilon"], text])
    assert done.exit_code == 0
    assert json.loads(done.stdout)["requested"]["epsilon"] == number


def numbers_near(double: float) -> st.SearchStrategy[Any]:
    """Numbers of many types next to a double, so that rounding to the nearest may lose some."""
    near = st.fractions(-1, 1).map(lambda part: Fraction(double) * (1 + part / 2**53))
    return st.one_of(
        near,
        near.map(lambda n: Decimal(n.numerator) / Decimal(n.denominator)),
        near.map(lambda n: np.longdouble(n.numerator) / np.longdouble(n.denominator)),
        near.map(lambda n: np.array(np.longdouble(n.numerator) / np.longdouble(n.denominator))),
        near.map(float),
    )


def exactly(number: Any) -> Fraction:
    number = number[()] if isinstance(number, np.ndarray) else number
    number = int(number) if isinstance(number, np.integer) else number
    return Fraction(*number.as_integer_ratio())


def as_read(double: float, number: Any) -> bool:
    """Whether a double is what a number is, or has it for its shortest decimal."""
    return exactly(number) in (Fraction(double), Fraction(repr(double)))


@settings(max_examples=150, deadline=None)
@given(number=st.floats(0.25, 4).flatmap(numbers_near))
def test_costs_are_never_read_as_less_nor_promises_as_more(number: Any) -> None:
    exact = exactly(number)
    charged = PrivacyLoss.pure(number).epsilon
    assert charged >= exact or as_read(charged, number)
    assert charged - exact <= Fraction(charged) / 2**51
    loss = PrivacyLoss(number, number, number, ((0, number / 8),))
    for bound in (loss.epsilon, loss.mu, loss.rho, PrivacyLoss.concentrated(number).rho):
        assert bound >= exact or as_read(bound, number)
    assert loss.profile[0][1] >= exactly(number / 8) or as_read(loss.profile[0][1], number / 8)
    for promised in (Budget(epsilon=number).epsilon, Budget(rho=number).rho):
        assert promised is not None
        assert promised <= exact or as_read(promised, number)
    asked = ib.ClampedLaplace.calibrated(ib.Box(0, 1), 1, epsilon=number)
    assert exactly(asked.epsilon) <= exact or as_read(asked.epsilon, number)


def test_charges_that_are_no_doubles_do_not_fit_twice(tmp_path: Path) -> None:
    ledger = ib.Ledger(tmp_path / "ledger.db")
    ledger.open("s", epsilon=1)
    ledger.open("p", epsilon=1, delta=Decimal("1e-6"))
    more = Fraction(1, 2) + Fraction(1, 2**60)
    for dataset, delta in (("s", None), ("p", 1e-7)):
        ledger.spend(dataset, epsilon=more, delta=delta)
        with pytest.raises(ib.BudgetExceededError):
            ledger.spend(dataset, epsilon=more, delta=delta)


def test_decimals_add_up_as_they_are_written(tmp_path: Path) -> None:
    ledger = ib.Ledger(tmp_path / "ledger.db")
    ledger.open("s", epsilon=Decimal("0.9"))
    for _ in range(3):
        ledger.spend("s", epsilon=Decimal("0.3"))
    assert ledger.remaining("s").epsilon == 0


@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        (2**53 + 1, 2**60 - 1),
        (Fraction(1, 3), Fraction(2, 3)),
        (-(2**60) - 1, -(2**53) - 1),
        ([2**53 + 1, 0.5], [2**60 + 1, 1]),
        ([np.array(2**53 + 1), np.array(0.5)], (2**54 + 3, 7.5)),
    ],
)
def test_a_box_whose_bounds_are_no_doubles_lies_within_them(lower: Any, upper: Any) -> None:
    box = ib.Box(lower, upper)
    for low, stated in zip(np.ravel(box.lower), np.ravel(np.array(lower, object)), strict=True):
        assert Fraction(low) >= exactly(stated)
    for high, stated in zip(np.ravel(box.upper), np.ravel(np.array(upper, object)), strict=True):
        assert Fraction(high) <= exactly(stated)
    assert np.all(box.widths > 0)


def test_a_bound_that_is_a_decimal_of_a_double_is_that_double() -> None:
    assert ib.Box(Decimal("0.1"), Decimal("0.3")) == ib.Box(0.1, 0.3)
