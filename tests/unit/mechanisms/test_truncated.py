"""A certificate that does not reach the reported epsilon is an error, not a certificate."""

from dataclasses import replace

import pytest
from flint import arb, ctx

import inbounds as ib


@pytest.mark.parametrize("kind", [ib.BoundedGaussian, ib.BoundedLaplace])
def test_an_epsilon_that_is_reported_too_low_is_refused(kind: type[ib.BoundedGaussian]) -> None:
    mechanism = kind(ib.Box(0, 1), 0.3, 0.4)
    proof = mechanism.certificate()
    assert 0 < proof.epsilon <= mechanism.epsilon
    proof.check()
    too_low = replace(mechanism._pure_loss(), epsilon=proof.epsilon * (1 - 1e-12))
    object.__setattr__(mechanism, "_loss", too_low)
    with pytest.raises(ib.CertificateError, match="could not be certified"):
        mechanism.certificate()


@pytest.mark.parametrize("kind", [ib.BoundedGaussian, ib.BoundedLaplace])
def test_the_worst_change_is_allowed_and_reaches_epsilon(kind: type[ib.BoundedGaussian]) -> None:
    mechanism = kind(ib.Box([0, 0], [1, 2]), ib.L1(0.7), 0.4)
    change = mechanism.worst_change
    assert (change >= 0).all()
    assert change.sum() <= 0.7 * (1 + 1e-12)
    widths, scales = mechanism.domain.widths, mechanism.scales
    with ctx.workprec(200):
        sides = zip(widths.tolist(), change.tolist(), scales.tolist(), strict=True)
        reached = sum((mechanism.noise.loss_and_slope(*map(arb, row))[0] for row in sides), arb(0))
    assert float(reached) == pytest.approx(mechanism.epsilon, rel=1e-9)
