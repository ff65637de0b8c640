"""A certificate for a mechanism, held against the epsilon it reports."""

import numpy as np

from inbounds._types import Floats
from inbounds.calibration.certificate import Certificate, certify
from inbounds.calibration.exact import PureLoss
from inbounds.errors import CertificateError
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.sensitivity import Reach


def prove(mechanism: Mechanism, loss: PureLoss, reach: Reach, caps: Floats) -> Certificate:
    """Certify the loss of truncated noise, or raise; `caps` are infinite where none is stated."""
    size = mechanism.domain.dimension
    proof = certify(
        law=mechanism._law,
        lower=np.broadcast_to(mechanism.domain.lower, size),
        upper=np.broadcast_to(mechanism.domain.upper, size),
        scale=mechanism._scales,
        caps=caps,
        order=reach.order,
        radius=reach.radius,
        change=loss.change,
        multiplier=loss.multiplier,
    )
    if proof.epsilon > loss.epsilon:
        raise CertificateError(
            f"epsilon={loss.epsilon!r} could not be certified: the proof gives "
            f"{proof.epsilon!r}. Please report this with the mechanism's parameters."
        )
    return proof
