"""What an audit chooses to count."""

import numpy as np
import pytest

from inbounds.auditing.choice import choose
from inbounds.auditing.subject import Subject

OPTIONS = {"confidence": 0.9, "delta": 0.0}
ENDS = np.array([0.0, 0.0]), np.array([1.0, 1.0])
AXIS = np.array([0.5, 0.0]), np.array([0.5, 1.0])


def source(function):
    return Subject(function, True, None, lambda size: None)


def loud(values):
    """Tell the second coordinate behind noise in the first."""
    noise = np.random.default_rng(3).normal(scale=1e3, size=values.shape)
    return np.where([True, False], values + noise, values)


def test_every_reading_is_tried_if_asked_for():
    one = choose(source(loud), [ENDS], (1.0, 1.0), 200, every=False, **OPTIONS)
    every = choose(source(loud), [ENDS], (1.0, 1.0), 200, every=True, **OPTIONS)
    assert one.promise < 1 < every.promise
    assert one.event.weights == (1, 1)
    assert np.abs(every.event.weights).argmax() == 1


def test_the_best_pair_is_chosen_with_what_was_seen_of_it():
    still = np.array([0.0, 0.5]), np.array([1.0, 0.5])
    chosen = choose(source(loud), [still, AXIS], (1.0, 1.0), 200, every=True, **OPTIONS)
    assert sorted(value[1] for value in chosen.pair) == [0, 1]
    assert [side.shape for side in chosen.seen] == [(200,), (200,)]


@pytest.mark.parametrize("every", [True, False])
def test_outputs_that_tell_nothing_promise_nothing(every):
    silent = source(lambda values: np.full_like(values, 0.5))
    assert choose(silent, [ENDS], (1.0, 1.0), 100, every=every, **OPTIONS).promise == 0
