"""Randomised response as a mechanism on numbers, which an audit can count."""

from __future__ import annotations

from typing import Any

import numpy as np

from inbounds._types import Floats
from inbounds.domain import Box
from inbounds.mechanisms.randomized_response import RandomizedResponse
from inbounds.sampling.entropy import SYSTEM, Entropy
from inbounds.sensitivity import Sensitivity, as_sensitivity


class CodedResponse:
    """Releases the places 0..k-1 of levels; a number between two of them counts as the lower one.

    Examples
    --------
    >>> coded = CodedResponse(RandomizedResponse(["no", "yes"], epsilon=1.0))
    >>> coded.domain, set(coded.release(np.zeros(50)).tolist()) <= {0.0, 1.0}
    (Box(0, 1, step=1), True)
    """

    def __init__(self, mechanism: RandomizedResponse) -> None:
        self._mechanism = mechanism
        last = len(mechanism.levels) - 1
        self.domain = Box(0, last, step=1)
        self.sensitivity: Sensitivity = as_sensitivity(last)
        self.epsilon = mechanism.epsilon

    def epsilon_at(self, delta: float) -> float:
        """Return the epsilon that the mechanism claims at `delta`."""
        return self._mechanism.epsilon_at(delta)

    def release(self, values: Floats, *, entropy: Entropy = SYSTEM) -> Floats:
        """Return the places of private levels."""
        codes = np.floor(np.asarray(values, np.float64)).astype(np.int64)
        return self._mechanism.sampler.draw(codes, entropy).astype(np.float64)

    def __repr__(self) -> str:
        return repr(self._mechanism)


def as_numbers(mechanism: Any) -> Any:
    """Return a mechanism on numbers in place of one on categories, and any other one as it is.

    Examples
    --------
    >>> as_numbers(RandomizedResponse(["no", "yes"], epsilon=1.0))
    RandomizedResponse(['no', 'yes'], epsilon=1)
    """
    return CodedResponse(mechanism) if isinstance(mechanism, RandomizedResponse) else mechanism
