"""Certificates of limits: read, checked, and refused if anything was changed."""

import json
import math
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

import inbounds as ib
from inbounds.errors import ArgumentError, CertificateError


@cache
def certificate(objective: Any = "average") -> ib.LimitCertificate:
    box = ib.Box(-1, 2)
    return ib.limit(box, 1.1, epsilon=1.3, objective=objective, tolerance=0.05).certificate()


@pytest.mark.parametrize("objective", ["average", "worst", "unbiased"])
def test_a_certificate_survives_json_and_is_proved_there(objective: str) -> None:
    original = certificate(objective)
    copy = ib.LimitCertificate.from_json(original.to_json())
    assert copy == original
    assert copy.check() is copy
    assert copy.check(exact=True) is copy


def test_lower_is_the_largest_double_that_is_proved() -> None:
    proof = certificate()
    with pytest.raises(CertificateError, match="does not prove an error above"):
        replace(proof, lower=math.nextafter(proof.lower, math.inf)).check()


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": 1.4},  # weaker privacy
        {"sensitivity": 1.0},  # fewer neighbours
        {"bounds": (-1.0, 1.9)},  # a narrower interval
        {"lower": 1.0},
        {"group": 2},
    ],
)
def test_evidence_for_another_problem_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(CertificateError, match="does not prove"):
        replace(certificate(), **change).check()


@pytest.mark.parametrize(
    "change",
    [
        {"objective": "median"},
        {"objective": ["average"]},
        {"form": "prior"},  # bounds the worst error only
        {"form": "two_ends"},
        {"proofs": ()},
        {"proofs": ("evidence",)},
        {"epsilon": 0.0},
        {"epsilon": float("nan")},
        {"sensitivity": -1.0},
        {"bounds": (2.0, -1.0)},
        {"bounds": (0.0, 1.0, 2.0)},
        {"bounds": [0.0, 1.0]},
        {"step": 0.0},
        {"step": 1.0, "points": 1},
        {"points": 3},
        {"group": 0},
        {"group": 1.0},
        {"stride": -1},
        {"lower": "0"},
        {"lower": True},
    ],
)
def test_fields_that_are_not_valid_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(CertificateError, match="not valid"):
        replace(certificate(), **change).check()


def test_any_raised_value_is_refused() -> None:
    """Each value bounds the error at a place; a bound cannot be raised anywhere in the middle."""
    original = certificate()
    proof = original.proofs[0]
    raised = list(proof.values)
    raised[0] += 0.2 * abs(original.lower) * proof.size
    raised[-1] = raised[0]
    changed = replace(original, proofs=(replace(proof, values=tuple(raised)), *original.proofs[1:]))
    with pytest.raises(CertificateError, match="does not prove the bound"):
        changed.check()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "null",
        '{"proofs": 1, "bounds": [0, 1]}',
        '{"proofs": [], "bounds": 3}',
        '{"proofs": [{"weights": 1}], "bounds": [0, 1]}',
    ],
)
def test_text_that_is_no_certificate_is_refused(text: str) -> None:
    with pytest.raises(ArgumentError, match="certificate written by to_json"):
        ib.LimitCertificate.from_json(text)


def test_numbers_that_are_no_doubles_are_refused() -> None:
    fields = json.loads(certificate().to_json())
    fields["lower"] = 12345678901234567891
    with pytest.raises(ArgumentError, match="certificate written by to_json"):
        ib.LimitCertificate.from_json(json.dumps(fields))


def test_it_is_shown_in_a_few_lines() -> None:
    assert "check() proves the bound again" in str(certificate())
    assert "<table" in certificate()._repr_html_()
