"""What one release may cost, as data: mechanisms write it, accounting reads it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Self

from scipy.special import ndtri

from inbounds import _check
from inbounds.errors import ArgumentError

_POINTS = 64
_NEGLIGIBLE = 1e-24  # a delta that no budget will notice
_UP = 1 + 2.0**-40  # covers rounding

Profile = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True, repr=False)
class PrivacyLoss:
    """Upper bounds on the privacy loss of one release, all of them true at once.

    Attributes
    ----------
    epsilon
        Pure differential privacy.
    mu
        Gaussian differential privacy; infinite where none is known.
    rho
        Zero-concentrated differential privacy; infinite where none is known.
    profile
        Pairs of an epsilon and an upper bound on delta there, epsilons rising from 0.

    Examples
    --------
    >>> loss = PrivacyLoss.pure(0.5)
    >>> loss
    PrivacyLoss(epsilon=0.5, mu=0.62..., rho=0.125...)
    >>> PrivacyLoss.from_json(loss.to_json()) == loss
    True
    """

    epsilon: float
    mu: float
    rho: float
    profile: Profile

    @classmethod
    def pure(cls, epsilon: float) -> Self:
        """Describe any release of which only pure epsilon is known.

        None is worse than randomised response, whose delta, mu and rho are these.
        """
        epsilon = _check.positive(epsilon=epsilon)
        points = profile(lambda smaller: response_delta(epsilon, smaller), epsilon)
        return cls(epsilon, pure_mu(epsilon), pure_rho(epsilon), points)

    @classmethod
    def approximate(cls, epsilon: float, delta: float) -> Self:
        """Describe any release of which only (epsilon, delta) is known."""
        epsilon, delta = _check.not_negative(epsilon=epsilon), _check.not_negative(delta=delta)
        if delta >= 1:
            raise ArgumentError(f"delta must be below 1, got delta={delta!r}.")
        if delta == 0:
            return cls.pure(epsilon)

        def total(smaller: float) -> float:
            return min(1.0, (delta + (1 - delta) * response_delta(epsilon, smaller)) * _UP)

        points = profile(total, epsilon) if epsilon else ((0.0, delta),)
        return cls(math.inf, math.inf, math.inf, points)

    @classmethod
    def concentrated(cls, rho: float) -> Self:
        """Describe any release of which only rho is known."""
        return cls(math.inf, math.inf, _check.positive(rho=rho), ())

    def to_json(self) -> str:
        """Write the loss so that another program can read it."""
        return json.dumps({key: _plain(value) for key, value in asdict(self).items()})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote; every number is checked."""
        try:
            fields: dict[str, Any] = json.loads(text)
            bounds = [
                math.inf if fields[k] is None else fields[k] for k in ("epsilon", "mu", "rho")
            ]
            points = tuple((x, y) for x, y in fields["profile"])
            for number in (*bounds, *(number for point in points for number in point)):
                if type(number) not in (int, float) or not number >= 0:
                    raise ValueError
            if [x for x, _ in points] != sorted({x for x, _ in points}):
                raise ValueError
        except (ValueError, TypeError, KeyError, RecursionError):
            raise ArgumentError("text must be a privacy loss written by to_json.") from None
        return cls(*bounds, points)

    def __repr__(self) -> str:
        numbers = ", ".join(f"{key}={getattr(self, key)!r}" for key in ("epsilon", "mu", "rho"))
        return f"PrivacyLoss({numbers})"


def _plain(value: Any) -> Any:
    return None if value == math.inf else value


def response_delta(pure: float, epsilon: float) -> float:
    """Return delta at `epsilon` of randomised response at `pure`: the worst of all that pure.

    Examples
    --------
    >>> round(response_delta(1.0, 0.5), 6), response_delta(1.0, 1.0)
    (0.287649, 0.0)
    """
    excess = pure - epsilon
    if excess <= 0:
        return 0.0
    # (e^pure - e^epsilon)/(1 + e^pure), without overflow
    return min(1.0, -math.expm1(-excess) / (1 + math.exp(-pure)) * _UP)


def pure_mu(epsilon: float) -> float:
    """Return mu such that whatever is purely private at `epsilon` is mu-GDP.

    The trade-off curve of randomised response is the chord of a Gaussian's curve through its
    corner, and a convex curve lies below its chords.
    """
    return -2 * float(ndtri(1 / (1 + math.exp(epsilon)))) * _UP if epsilon < 700 else math.inf


def pure_rho(epsilon: float) -> float:
    """Return rho such that whatever is purely private at `epsilon` is rho-zCDP."""
    return min(epsilon**2 / 2, epsilon) * _UP


def profile(delta: Callable[[float], float], pure: float) -> Profile:
    """Tabulate an upper bound on delta, from epsilon 0 to where it vanishes or is negligible."""
    top = pure
    while top > 1e-3 * pure and delta(top / 2) <= _NEGLIGIBLE:
        top /= 2
    steps = [top * k / _POINTS for k in range(_POINTS + 1)]
    return tuple((epsilon, delta(epsilon)) for epsilon in steps)
