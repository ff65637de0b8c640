import json

import numpy as np
import pytest

import inbounds as ib
from inbounds.cli.explore.regime_map import ROWS, joined, regime_map, regime_rows


@pytest.mark.parametrize(("delta", "dimension"), [(0, 1), (1e-6, 1), (0, 3), (1e-6, 3)])
def test_the_rows_are_those_of_regimes(delta, dimension):
    rows = list(regime_rows(delta, dimension))
    expected = ib.regimes(delta=delta, dimension=dimension)
    count = expected.epsilons.size
    assert [(row["done"], row["of"]) for row in rows] == [(k + 1, count) for k in range(count)]
    assert all(row["map"] is None for row in rows[:-1])
    assert [row["epsilon"] for row in rows] == expected.epsilons.tolist()
    assert [row["best"] for row in rows] == expected.best.tolist()
    np.testing.assert_array_equal([row["margin"] for row in rows], expected.margin)
    useless = expected.over_the_middle >= 1
    np.testing.assert_array_equal([row["useless"] for row in rows], useless)
    shown = rows[-1]["map"]
    assert count == ROWS
    assert shown == joined(delta, dimension, rows)
    assert shown["best"] == expected.best.tolist()
    assert json.loads(json.dumps(shown, allow_nan=False)) == shown
    assert shown["names"] == list(expected.names)
    assert (shown["delta"], shown["dimension"]) == (delta, dimension)
    assert shown["fractions"] == expected.fractions.tolist()


def test_the_map_is_its_rows():
    assert regime_map(0, 1) == list(regime_rows(0, 1))[-1]["map"]


@pytest.mark.parametrize("delta", [True, "0", None, -1e-6, 1, 2, float("nan"), [0]])
def test_a_wrong_delta_is_refused_before_the_first_row(delta):
    with pytest.raises((ib.ArgumentError, ib.ArgumentTypeError), match=r"^delta must be "):
        regime_rows(delta)


@pytest.mark.parametrize("dimension", [0, 9, 1.5, True, "1", None, 10**400])
def test_a_wrong_dimension_is_refused_before_the_first_row(dimension):
    with pytest.raises((ib.ArgumentError, ib.ArgumentTypeError), match=r"^dimension must be "):
        regime_map(0, dimension)
