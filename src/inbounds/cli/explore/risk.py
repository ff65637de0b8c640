"""The risk in plain words: how sure a reader can become, always and but for a small probability."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from inbounds._check import format_numbers
from inbounds.profile import LARGEST

if TYPE_CHECKING:
    from inbounds.guarantee import Guarantee
    from inbounds.mechanisms.mechanism import Mechanism

PRIORS = (0.01, 0.5)
"""How sure somebody is of a guess before the output, in the rows of a risk."""

DELTA = 1e-6
"""The delta at which the epsilon of a rho is stated."""

_RARE = 1e-3  # the largest probability of an exception, if there is an epsilon for it
_GAPS = tuple(2.0**-k for k in range(8))  # of epsilon: where else delta is asked for
_CLEARLY = 0.95  # of the pure epsilon: what is hardly smaller is not worth an exception
_TINY = 1e-300
_UP = 1 + 1e-9  # against rounding of doubles
_FIRST, _HALF = PRIORS


@dataclass(frozen=True, slots=True)
class Risk:
    """What holds for a release: a loss of `epsilon` but for a probability, and `pure` always."""

    epsilon: float
    exception: float
    """A probability that a loss above `epsilon` does not exceed: 0 if `epsilon` is pure."""
    pure: float

    @classmethod
    def of(cls, mechanism: Mechanism, epsilon: float, curve: Mapping[str, Sequence[float]]) -> Risk:
        """Return what holds at `epsilon`, or at more if exceptions would not be rare there.

        `curve` holds points of delta, which spare the mechanism to be asked again.

        Examples
        --------
        >>> import inbounds as ib
        >>> m = ib.Window(ib.Box(0, 1), 1, epsilon=1.0)
        >>> Risk.of(m, 1.0, {"epsilon": [], "delta": []})
        Risk(epsilon=1.0, exception=0.0, pure=1.0)
        """
        pure = mechanism.epsilon
        if pure <= epsilon:
            return cls(pure, 0.0, pure)
        known = list(zip(curve["epsilon"], curve["delta"], strict=True))
        below = [epsilon * (1 - gap) for gap in _GAPS]
        known += [(place, mechanism.delta(place)) for place in below]
        places = [epsilon, *sorted(place for place, _ in known if place > epsilon)]
        places += [min(pure, LARGEST)] if pure > max(places) else []
        for place in places:
            exception = exceeded(place, known)
            if exception <= _RARE:
                break
        is_worth_it = place < _CLEARLY * pure
        return cls(place, exception, pure) if is_worth_it else cls(pure, 0.0, pure)


def exceeded(epsilon: float, known: Sequence[tuple[float, float]]) -> float:
    """Return an upper bound on the probability that the privacy loss is above `epsilon`.

    Delta itself is none. But for every smaller epsilon e, delta(e) is the mean of the positive part
    of 1 - exp(e - loss), which is more than 1 - exp(e - epsilon) wherever the loss is above
    epsilon. So the probability of that is at most delta(e) / (1 - exp(e - epsilon)). This holds for
    mixtures of values as well, so for any guess about a person: their delta is no larger.

    Parameters
    ----------
    epsilon
        The loss that may be exceeded.
    known
        Pairs of an epsilon and its delta, of which the best one is taken.

    Examples
    --------
    >>> round(exceeded(1.0, [(0.0, 0.1), (0.5, 0.01), (1.5, 1e-9)]), 4)
    0.0254
    """
    bounds = [delta / -math.expm1(e - epsilon) for e, delta in known if e < epsilon]
    return min([1.0, *(bound * _UP for bound in bounds)])


def risk(
    mechanism: Mechanism, guarantee: Guarantee, curve: Mapping[str, Sequence[float]]
) -> dict[str, Any]:
    """Return by how much an output can change a guess about one person, in the worst case.

    Examples
    --------
    >>> import inbounds as ib
    >>> from inbounds.cli.arguments import read_guarantee
    >>> m = ib.Window(ib.Box(0, 1), 1, epsilon=1.0)
    >>> result = risk(m, read_guarantee(1.0), {"epsilon": [], "delta": []})
    >>> round(result["odds"], 3), [round(after, 3) for _, after in result["rows"]]
    (2.718, [0.027, 0.731])
    >>> result["sentence"]
    'Whoever was 50 % sure of a guess about one person before can be at most 73.2 % sure after
    seeing the output (worst case).'
    """
    asked = mechanism.epsilon_at(DELTA) if guarantee.rho is not None else guarantee.pair[0]
    found = Risk.of(mechanism, asked, curve)
    is_finite = found.epsilon < math.log(1e308)
    return {
        "odds": math.exp(found.epsilon) if is_finite else None,
        "rows": [[prior, _after(prior, found.epsilon)] for prior in PRIORS],
        "sentence": _sentence(found) + _of_rho(guarantee, mechanism, asked),
        "note": _note(found),
    }


def _after(prior: float, epsilon: float) -> float:
    """Return how sure a guess can be at most, if the odds grow by the factor e^epsilon."""
    return 1 / (1 + (1 - prior) / prior * math.exp(-epsilon))


def _percent(prior: float, epsilon: float) -> str | None:
    """Return how sure a guess can be at most, rounded upwards, or None if that is all but 100 %."""
    percent = math.ceil(1000 * _after(prior, epsilon) * _UP) / 10
    return f"{percent:.1f} %" if percent < 100 else None


def _sentence(found: Risk) -> str:
    percent = _percent(_HALF, found.epsilon)
    sure = f"at most {percent} sure" if percent else "all but certain"
    text = (
        f"Whoever was 50 % sure of a guess about one person before can be {sure} after seeing the "
        "output (worst case)"
    )
    if not found.exception:
        return f"{text}."
    always = _percent(_HALF, found.pure)
    rest = f"Without exception, it is at most {always}" if always else _NOTHING
    return f"{text}, except with a probability of at most {chance(found.exception)}. {rest}."


_NOTHING = "In that case hardly anything is promised"


def _note(found: Risk) -> str | None:
    """Return what is to be said below the rows of the risk, which have exceptions."""
    if not found.exception:
        return None
    first, half = (_percent(prior, found.pure) for prior in PRIORS)
    text = f"This holds except with a probability of at most {chance(found.exception)}."
    if first is None or half is None:
        return f"{text} {_NOTHING}."
    return f"{text} Without exception, 1 in 100 can become at most {first}, and 1 in 2 {half}."


def _of_rho(guarantee: Guarantee, mechanism: Mechanism, epsilon: float) -> str:
    """Return what a rho means, as few people know one."""
    if guarantee.rho is None:
        return ""
    pure = mechanism.epsilon <= epsilon
    stated = up(mechanism.epsilon if pure else epsilon, 4)
    terms = f"epsilon {stated}" if pure else f"epsilon {stated} at delta {DELTA:g}"
    return f" Rho {format_numbers(guarantee.rho)} gives at most {terms} here."


def up(number: float, digits: int) -> str:
    """Return a positive number with so many significant digits, never a smaller one.

    Examples
    --------
    >>> up(0.834118, 4), up(0.5, 4), up(9.9999, 2)
    ('0.8342', '0.5', '10')
    """
    text = f"{number:.{digits}g}"
    if float(text) >= number:
        return text
    unit = 10.0 ** (math.floor(math.log10(number)) - digits + 1)
    return f"{float(text) + unit:.{digits}g}"


def chance(probability: float) -> str:
    """Return a probability in words, never a smaller one.

    Examples
    --------
    >>> chance(2.9e-5), chance(0.0431), chance(1e-14), chance(1.0)
    ('1 in 34,000', '4.4 %', '1 in 10^13', '100 %')
    """
    if probability > _RARE:
        return f"{min(math.ceil(1000 * probability * _UP) / 10, 100):g} %"
    times = 1 / max(probability * _UP, _TINY)
    power = math.floor(math.log10(times))
    if power >= 9:
        return f"1 in 10^{power}"
    unit = 10 ** (power - 1)
    return f"1 in {math.floor(times / unit) * unit:,}"
