"""A certificate that does not reach the reported epsilon is an error, not a certificate."""

from dataclasses import replace

import pytest

import inbounds as ib
from inbounds.mechanisms.proof import prove


@pytest.mark.parametrize("kind", [ib.BoundedGaussian, ib.BoundedLaplace])
def test_an_epsilon_that_is_reported_too_low_is_refused(kind: type[ib.BoundedGaussian]) -> None:
    mechanism = kind(ib.Box(0, 1), 0.3, 0.4)
    loss = mechanism._pure_loss()
    reach = mechanism.sensitivity.within(mechanism.domain.widths)
    proof = prove(mechanism, loss, reach, reach.caps)
    assert 0 < proof.epsilon <= loss.epsilon
    proof.check()
    with pytest.raises(ib.CertificateError, match="could not be certified"):
        prove(mechanism, replace(loss, epsilon=proof.epsilon * (1 - 1e-12)), reach, reach.caps)
