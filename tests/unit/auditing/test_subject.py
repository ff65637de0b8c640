"""What an audit reads of a mechanism."""

import numpy as np
import pytest

import inbounds as ib
from inbounds.auditing.subject import claim_of, number_or_tuple, pairs_of, proved_epsilon


def values(pairs):
    return [(number_or_tuple(first), number_or_tuple(second)) for first, second in pairs]


def test_neighbours_of_an_interval_are_at_both_ends_and_in_the_middle():
    pairs, weights = pairs_of(ib.ClampedLaplace(ib.Box(0, 8), 2, scale=1.0), None, None, None)
    assert values(pairs) == [(0, 2), (6, 8), (3, 5)]
    assert weights is None


def test_the_change_of_a_joint_release_is_the_worst_one_where_that_is_known():
    box = ib.Box([0, 0], [10, 1])
    mechanism = ib.BoundedGaussian(box, ib.L1(2), sigma=9.0)
    (first, second), *_ = pairs_of(mechanism, None, None, None)[0]
    np.testing.assert_array_equal(second - first, mechanism.worst_change)
    other = pairs_of(mechanism, None, ib.L1(1), None)[0][0]
    assert np.abs(other[1] - other[0]).sum() == pytest.approx(1)


def test_weights_are_those_of_the_likelihood_ratio():
    box, change = ib.Box([0, 0], [10, 10]), ib.PerCoordinate([4, 2])
    scales = [1.0, 2.0]
    normal = pairs_of(ib.BoundedGaussian(box, change, scales), None, None, None)[1]
    laplace = pairs_of(ib.BoundedLaplace(box, change, scales), None, None, None)[1]
    assert normal == (1, 0.125)  # c/σ²: 4 and 1/2
    assert laplace == (1, 0.5)  # 1/b
    foreign = pairs_of(lambda value: value, box, change, ((4, 0), (0, 2)))[1]
    assert foreign == (-1, 0.5)


def test_a_claim_is_the_one_given_or_the_mechanism_s_own():
    mechanism = ib.BoundedGaussian.calibrated(ib.Box(0, 10), 1, epsilon=1.0, delta=1e-6)
    assert claim_of(mechanism, None, 0.0) == mechanism.epsilon > 1
    assert claim_of(mechanism, None, 1e-6) == pytest.approx(1, rel=1e-4)
    assert claim_of(mechanism, 2.5, 1e-6) == 2.5


def test_only_our_own_certificates_are_believed():
    class Boaster:
        def certificate(self):
            raise AssertionError

    assert proved_epsilon(Boaster()) is None
    assert proved_epsilon(ib.ClampedLaplace(ib.Box(0, 1), 1, scale=1.0)) is None
    mechanism = ib.BoundedLaplace(ib.Box(0, 1), 1, scale=1.0)
    assert proved_epsilon(mechanism) == mechanism.certificate().epsilon
