import numpy as np
import pytest

from inbounds.numerics.finite import FiniteOutputs

ENDS = np.array([0.0, 0.25, 1.0])
CELLS = FiniteOutputs.of(
    ENDS, np.array([0.9, 0.1, 0.5, 0.1]), np.array([[0.1, 0.4, 0.3, 0.2], [0.6, 0.1, 0.2, 0.1]]),
    rounds_between=False,
)  # fmt: skip
KNOTS = FiniteOutputs.of(
    ENDS, np.array([0.0, 1.0]), np.array([[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]]), rounds_between=True
)


def test_equal_outputs_are_one() -> None:
    assert CELLS.outputs.tolist() == [0.1, 0.5, 0.9]
    np.testing.assert_allclose(CELLS.chances, [[0.6, 0.3, 0.1], [0.2, 0.2, 0.6]])


def test_a_value_has_the_row_of_its_cell_which_begins_at_its_lower_end() -> None:
    below = CELLS.below(np.array(0.1), np.array([0.0, np.nextafter(0.25, 0), 0.25, 1.0]))
    np.testing.assert_allclose(below, [0.6, 0.6, 0.2, 0.2])


def test_between_knots_probabilities_are_mixed() -> None:
    np.testing.assert_allclose(KNOTS.below(np.array(0.0), np.array([0.0, 0.125, 0.25, 1.0])),
                               [0.9, 0.7, 0.5, 0.1])  # fmt: skip


@pytest.mark.parametrize("finite", [CELLS, KNOTS])
def test_quantiles_are_the_smallest_outputs_that_do(finite: FiniteOutputs) -> None:
    for value in (0.0, 0.1, 0.25, 0.7, 1.0):
        for q in (0.0, 0.05, 0.2, 0.6, 0.95, 1.0):
            x = float(finite.quantile(np.array(q), np.array(value)))
            up_to = finite.below(finite.outputs, np.array(value))
            assert x == finite.outputs[np.argmax(up_to >= q - 1e-12)]


def test_shapes_broadcast() -> None:
    assert CELLS.below(np.zeros((3, 1)), np.zeros(4)).shape == (3, 4)
    assert CELLS.quantile(np.zeros((3, 1)), np.zeros(4)).shape == (3, 4)


def test_a_part_of_the_knots_may_lie_outside_the_box() -> None:
    means = KNOTS.posterior_means(0.1, 0.8)
    x = np.linspace(0.1, 0.8, 100_001)
    for output, mean in zip([0.0, 1.0], means, strict=True):
        column = int(output)
        chances = KNOTS.below(np.array(0.0), x)
        weights = chances if column == 0 else 1 - chances
        assert mean == pytest.approx(float((weights * x).sum() / weights.sum()), rel=1e-5)


def test_at_a_high_level_every_piece_is_plausible() -> None:
    first, last = CELLS.plausible(0.999)
    assert first.tolist() == [0, 0, 0]
    assert last.tolist() == [1, 1, 1]


def test_outputs_are_found_even_beside_adjacent_doubles() -> None:
    outputs = np.array([0.3, np.nextafter(0.3, 1), 0.7])
    finite = FiniteOutputs.of(ENDS[:2], outputs, np.full((1, 3), 1 / 3), rounds_between=False)
    assert finite.column_of(finite.outputs).tolist() == [0, 1, 2]
    assert finite.column_of(np.array([-1.0, 0.45, 0.6, 9.0])).tolist() == [0, 1, 2, 2]
