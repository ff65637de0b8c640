"""Which outputs are read without bias, and that their sums are those of the readings."""

import numpy as np
import pytest

import inbounds as ib
from inbounds.recovery.mean import Reader
from inbounds.recovery.reader import UnbiasedReader, reader_of

BOX = ib.Box(0, 120)


@pytest.mark.parametrize(
    ("mechanism", "kind"),
    [
        (ib.Window(BOX, 120, epsilon=1.0), UnbiasedReader),
        (ib.Window(ib.Box(0, 120, step=1), 120, epsilon=1.0), UnbiasedReader),
        (ib.Window(ib.Box(0, 120, step=7), 120, epsilon=1.0), Reader),  # a bias of one
        (ib.ClampedLaplace(BOX, 120, scale=60.0), UnbiasedReader),
        (ib.ClampedLaplace(ib.Box(0, 120, step=1), 120, scale=60.0), Reader),
        (ib.BoundedGaussian(BOX, 120, sigma=60.0), Reader),
    ],
    ids=repr,
)
def test_the_unbiased_reading_is_used_where_its_bias_does_not_matter(mechanism, kind):
    reader = reader_of(mechanism)
    assert type(reader) is kind
    reader.add(np.array([0.0, 63.0]), None)
    assert (reader.read().proved is not None) == (kind is UnbiasedReader)


def test_blocks_and_counts_are_the_same_as_all_outputs_at_once():
    mechanism = ib.Window(BOX, 120, epsilon=1.0)
    outputs = np.array([3.0, 3.0, 60.0, 118.0, 3.0])
    whole, parts = UnbiasedReader(mechanism), UnbiasedReader(mechanism)
    whole.add(outputs, None)
    parts.add(np.array([3.0, 60.0]), np.array([2.0, 1.0]))
    parts.add(np.array([118.0, 3.0]), None)
    for level in (0.1, 0.6):
        ends = [reader.read().proved.interval(level) for reader in (whole, parts)]
        assert ends[0] == pytest.approx(ends[1])
        assert whole.read().interval(level) == pytest.approx(parts.read().interval(level))
    assert whole.read().mean == pytest.approx(np.clip(mechanism.unbiased(outputs).mean(), 0, 120))
