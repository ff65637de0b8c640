from typing import Any

import numpy as np
import pytest

import inbounds as ib
from inbounds.frames.reading.level import FOREIGN, MISSING, LevelTally, level_codes


@pytest.mark.parametrize(
    ("values", "levels", "expected"),
    [
        (["no", "yes", None], ("no", "yes"), [0, 1, MISSING]),
        (["No", "", "0"], ("no", "yes"), [FOREIGN] * 3),
        ([0, 1, "1", "01", 1.0, 1.5, True], (0, 1), [0, 1, 1, FOREIGN, 1, FOREIGN, FOREIGN]),
        ([0, 1, 2], ("0", "1"), [0, 1, FOREIGN]),
        ([True, False], ("true", "false"), [0, 1]),
        ([True, False], ("FALSE", "TRUE"), [1, 0]),
        (["true", "False", "FALSE", "fALSE", "1"], (False, True), [1, 0, 0, FOREIGN, FOREIGN]),
        ([float("nan"), float("inf"), 1e300], (0, 1), [FOREIGN] * 3),
    ],
)
def test_values_are_levels_if_they_are_written_like_them(
    values: Any, levels: Any, expected: Any
) -> None:
    assert level_codes(values, levels).tolist() == expected


def test_a_tally_counts_in_pieces() -> None:
    m = ib.RandomizedResponse(["a", "b", "c"], epsilon=1.0)
    tally = LevelTally(m)
    for piece in ([0, 2], [2], []):
        tally.add(np.array(piece, np.int64))
    assert tally.count == 3
    assert tally.fractions.unbiased.tolist() == m.estimate(["a", "c", "c"]).unbiased.tolist()
