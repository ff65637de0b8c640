"""Rows of quantiles.json, from an independent implementation: losses, distributions, ladders."""

import json
from fractions import Fraction
from math import isclose
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inbounds.calibration.weight import WeightTable
from inbounds.frames.central.ladder import places
from inbounds.frames.central.rank import Ranks
from inbounds.frames.central.share import rho_within

TABLE = json.loads(Path(__file__).with_name("quantiles.json").read_text())


def ranks(row: dict[str, Any]) -> Ranks:
    points, counts = np.unique(np.array(row["rows"], np.int64), return_counts=True)
    return Ranks.of(points, counts, 0, row["last"])


@pytest.mark.parametrize("row", TABLE["examples"], ids=lambda row: str(row["rows"])[:20])
def test_losses_and_distributions_are_those_of_the_table(row: dict[str, Any]) -> None:
    found, q = ranks(row), Fraction(row["q"])
    public = np.repeat(found.public_losses(q), found.length).tolist()
    assert row["public_losses"] in (public, None)
    assert np.repeat(found.private_losses(q), found.length).tolist() == row["private_losses"]
    for epsilon, laws in row["laws"].items():
        table = WeightTable(Fraction(epsilon) / 2)
        weights = [table.weight(loss) for loss in public]
        expected = [weight / sum(weights) for weight in weights]
        assert expected == pytest.approx(laws["exponential"], rel=1e-14)
        assert willing(weights) == pytest.approx(laws["willing"], rel=1e-14)


def willing(weights: list[int]) -> list[float]:
    """A uniform one of the willing: given how many others are willing, by counting them up."""
    chances = [Fraction(weight, max(weights)) for weight in weights]
    law = []
    for i, chance in enumerate(chances):
        others = [Fraction(1)]  # the probability of each number of other willing candidates
        for j, other in enumerate(chances):
            if j != i:
                more = [Fraction(0), *(other * p for p in others)]
                others = [(1 - other) * p + m for p, m in zip([*others, 0], more, strict=True)]
        law.append(float(chance * sum(p / (many + 1) for many, p in enumerate(others))))
    return law


@pytest.mark.parametrize("row", TABLE["ladders"], ids=lambda row: f"{row['centre']} {row['side']}")
def test_ladders_are_those_of_the_table(row: dict[str, Any]) -> None:
    assert places(row["centre"], row["last"], row["side"]) == row["places"]


@pytest.mark.parametrize("row", TABLE["rho"], ids=str)
def test_rho_of_epsilon_and_delta_is_that_of_the_table(row: dict[str, float]) -> None:
    assert isclose(rho_within(row["epsilon"], row["delta"]), row["rho"], rel_tol=1e-6)
