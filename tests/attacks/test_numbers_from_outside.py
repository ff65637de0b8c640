"""Certificates and losses whose numbers are not the doubles that would be checked."""

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import inbounds as ib
from inbounds.calibration.certificate import Certificate
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
