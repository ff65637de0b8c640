"""Mechanisms whose noise is truncated to the box, with the pure epsilon and its certificate."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field

import numpy as np

from inbounds._types import Floats, Number, Vector
from inbounds.calibration.certificate import Certificate, certify
from inbounds.calibration.exact import PureLoss
from inbounds.domain import Box
from inbounds.errors import CertificateError
from inbounds.mechanisms.noise_mechanism import NoiseMechanism
from inbounds.reach import Reach
from inbounds.sensitivity import Sensitivity


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TruncatedMechanism(NoiseMechanism):
    """Base of the mechanisms with truncated noise, which is conditioned to stay in the box."""

    _loss: PureLoss | None = field(init=False)

    def _keep(self, domain: Box, sensitivity: Sensitivity | Number, scale: Number | Vector) -> None:
        NoiseMechanism._keep(self, domain, sensitivity, scale)
        object.__setattr__(self, "_loss", None)

    @property
    def epsilon(self) -> float:
        """The pure epsilon that this scale gives, exact to a relative 6e-14 and rounded up."""
        return self._pure_loss().epsilon

    @property
    def worst_change(self) -> Floats:
        """The allowed change with the largest loss, one number per coordinate."""
        return self._pure_loss().change

    def certificate(self) -> Certificate:
        """Return a proof of `epsilon` in ball arithmetic, for exactly the doubles in use.

        It takes about 20 µs for each distinct coordinate. The certificate can be written to JSON
        and checked by a program that shares no code with this one.

        Raises
        ------
        CertificateError
            If `epsilon` could not be proved, which would be a bug.

        Examples
        --------
        >>> import inbounds as ib
        >>> m = ib.BoundedLaplace(ib.Box(0, 1), 0.1, scale=0.5)
        >>> m.certificate().check()
        Certificate(epsilon=..., precision=128, dimension=1)
        >>> m.certificate().epsilon <= m.epsilon
        True
        """
        loss, size = self._pure_loss(), self.domain.dimension
        proof = certify(
            noise=self.noise,
            lower=np.broadcast_to(self.domain.lower, size),
            upper=np.broadcast_to(self.domain.upper, size),
            scale=self.scales,
            caps=self._stated_caps(),
            order=self._reach.order,
            radius=self._reach.radius,
            change=loss.change,
            multiplier=loss.multiplier,
        )
        if proof.epsilon > loss.epsilon:
            raise CertificateError(
                f"epsilon={loss.epsilon!r} could not be certified: the proof gives "
                f"{proof.epsilon!r}. Please report this with the mechanism's parameters."
            )
        return proof

    @property
    def _reach(self) -> Reach:
        """What a neighbour may change, as `epsilon` sees it."""
        return self.sensitivity.within(self.domain.widths)

    @property
    def _setting(self) -> tuple[Floats, Reach, Floats]:
        return self.domain.widths, self._reach, self.scales

    def _pure_loss(self) -> PureLoss:
        if self._loss is None:
            object.__setattr__(self, "_loss", self._find_loss())
        assert self._loss is not None
        return self._loss

    @abstractmethod
    def _find_loss(self) -> PureLoss: ...

    @abstractmethod
    def _stated_caps(self) -> Floats:
        """Return the stated caps of a change; a cap that was not stated is infinite."""
