import json
import math

import pytest

from inbounds.errors import ArgumentError
from inbounds.loss import PrivacyLoss
from inbounds.unit import Unit

PERSON = Unit("replace", "person")


@pytest.mark.parametrize(
    "loss",
    [
        PrivacyLoss.pure(0.1),
        PrivacyLoss.approximate(0.5, 1e-6),
        PrivacyLoss.concentrated(0.3),
        PrivacyLoss.pure(1e4),
    ],
    ids=repr,
)
def test_json_gives_the_same_loss_back(loss: PrivacyLoss) -> None:
    text = loss.to_json()
    assert "Infinity" not in text
    assert PrivacyLoss.from_json(text) == loss
    assert hash(PrivacyLoss.from_json(text)) == hash(loss)


def altered(**changes: object) -> str:
    fields = json.loads(PrivacyLoss.pure(1.0).to_json())
    return json.dumps(fields | changes)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "{}",
        "[" * 10_000,
        altered(epsilon=-1),
        altered(epsilon="1"),
        altered(mu=True),
        altered(rho=math.nan),
        altered(epsilon=10**400),
        altered(profile=[[0, 0.5], [0, 0.4]]),
        altered(profile=[[0, 0.5], [1, 0.4], [0.5, 0.3]]),
        altered(profile=[[0.5, 0.5], [1, 0.4]]),  # says nothing below 0.5, so it must not
        altered(profile=[[0, 0.5], [math.inf, 0.0]]),
        altered(profile=[[0, 1.5]]),
        altered(profile=[[0, math.nan]]),
        altered(profile=[[0, 0.5, 0.1]]),
        altered(profile=3),
        altered(unti={"change": "replace"}),
    ],
)
def test_json_of_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ArgumentError, match=r"^text must be a privacy loss"):
        PrivacyLoss.from_json(text)


@pytest.mark.parametrize(
    "fields",
    [(-1.0, 1.0, 1.0, ()), (1.0, math.nan, 1.0, ()), (1.0, 1.0, 1.0, ((0.5, 0.1),))],
)
def test_a_loss_that_cannot_be_is_refused(fields: tuple[float, float, float, tuple[()]]) -> None:
    with pytest.raises(ArgumentError, match="must be"):
        PrivacyLoss(*fields)


def test_a_notebook_shows_the_bounds_and_the_ends_of_the_profile():
    rows = dict(PrivacyLoss.pure(0.5)._table().rows)
    assert rows["pure ε"] == "0.5"
    assert rows["profile"].startswith("65 points: δ from 0.24")
    assert rows["profile"].endswith("to 0 at ε = 0.5")
    assert dict(PrivacyLoss.concentrated(0.5)._table().rows)["profile"] == "0 points"
    assert "<caption" in PrivacyLoss.pure(0.5)._repr_html_()
    assert str(PrivacyLoss.pure(0.5)) == repr(PrivacyLoss.pure(0.5))


def test_json_without_a_unit_is_what_it_was_before_there_were_units() -> None:
    loss = PrivacyLoss(0.5, math.inf, 0.125, ((0.0, 0.25), (0.5, 0.0)))
    old = '{"epsilon": 0.5, "mu": null, "rho": 0.125, "profile": [[0.0, 0.25], [0.5, 0.0]]}'
    assert loss.to_json() == old
    assert PrivacyLoss.from_json(old).unit is None
    stated = loss.about(PERSON)
    assert PrivacyLoss.from_json(stated.to_json()) == stated != loss


@pytest.mark.parametrize("unit", [None, "replace:row", {}, {"change": "replace"}, 3])
def test_json_with_anything_else_as_a_unit_is_refused(unit: object) -> None:
    with pytest.raises(ArgumentError, match=r"^text must be a privacy loss"):
        PrivacyLoss.from_json(altered(unit=unit))


def test_a_unit_is_shown_where_it_is_stated() -> None:
    loss = PrivacyLoss.concentrated(0.5)
    assert "unit" not in repr(loss) + loss._repr_html_()
    assert repr(loss.about(PERSON)).endswith("rho=0.5, unit=Unit('replace', 'person'))")
    assert dict(loss.about(PERSON)._table().rows)["unit"] == "replace one person"
