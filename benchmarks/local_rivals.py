"""Mechanisms of local privacy from the literature, on [0, 1], as the anchors of the tables.

They draw doubles from numpy's generator, so they are for comparisons only: none is exact. All are
affine images inside the box. An output is drawn from a window that moves with the value, from the
whole box, or from a few numbers.

Wang et al. (2019), "Collecting and Analyzing Multidimensional Data with Local Differential
Privacy": Piecewise and Hybrid. Duchi, Jordan and Wainwright (2018), "Minimax Optimal Procedures for
Locally Private Estimation": one bit. Li et al. (2020), "Estimating Numerical Distributions under
Local Differential Privacy": the square wave. Zheng et al. (2025), arXiv 2505.15483: OPM. Ghazi et
al. (2023), "Regression with Label Differential Privacy": randomised response on bins.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

import inbounds as ib
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.sensitivity import L2

Floats = NDArray[np.float64]
OfValues = Callable[[Floats], Floats]
_RNG = np.random.default_rng(0)
_BOX = ib.Box(0, 1)
_WINDOW_PAYS = 0.61  # the epsilon above which Hybrid has a window at all
_LLOYD_STEPS, _MOST_BINS = 2000, 40


class Part(Protocol):
    """A distribution of outputs for each value z."""

    def below(self, y: Floats, z: Floats) -> Floats:
        """P(Y <= y)."""

    def moment(self, power: int, z: Floats) -> Floats:
        """E[Y^power]."""

    def draw(self, z: Floats) -> Floats: ...


@dataclass(frozen=True)
class Levels:
    """A density with two levels: high in a window of some length, low elsewhere."""

    length: float
    growth: float  # the high level over the low one
    start: OfValues

    @property
    def low(self) -> float:
        return 1 / (1 + (self.growth - 1) * self.length)

    def below(self, y: Floats, z: Floats) -> Floats:
        inside = np.clip(y - self.start(z), 0.0, self.length)
        return self.low * y + (1 - self.low) / self.length * inside

    def moment(self, power: int, z: Floats) -> Floats:
        start, order = self.start(z), power + 1
        inside = ((start + self.length) ** order - start**order) / (order * self.length)
        return self.low / order + (1 - self.low) * inside

    def draw(self, z: Floats) -> Floats:
        uniform = _RNG.uniform(size=z.shape)
        anywhere = _RNG.uniform(size=z.shape) < self.low
        return np.where(anywhere, uniform, self.start(z) + self.length * uniform)


@dataclass(frozen=True)
class Numbers:
    """A few outputs, and the probability of each as a function of the value (on the last axis)."""

    outputs: Floats
    chances: OfValues

    def below(self, y: Floats, z: Floats) -> Floats:
        upto = np.append(0.0 * z[..., None], np.cumsum(self.chances(z), axis=-1), axis=-1)
        place = np.searchsorted(self.outputs, np.asarray(y), side="right")
        place, _ = np.broadcast_arrays(place, z)
        upto = np.broadcast_to(upto, (*place.shape, upto.shape[-1]))
        return np.asarray(np.take_along_axis(upto, place[..., None], axis=-1)[..., 0])

    def moment(self, power: int, z: Floats) -> Floats:
        return np.asarray(self.chances(z) @ self.outputs**power)

    def draw(self, z: Floats) -> Floats:
        upto = np.cumsum(self.chances(z), axis=-1)[..., :-1]
        return np.asarray(self.outputs[(_RNG.uniform(size=z.shape)[..., None] > upto).sum(axis=-1)])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rival(Mechanism):
    """A mixture of parts. If the mean output is affine in the value, `slope` is its slope."""

    name: str
    epsilon: float = field()
    parts: tuple[tuple[float, Part], ...]
    slope: float | None = None
    jumps: tuple[float, ...] = ()

    @property
    def breaks(self) -> Floats:
        return np.array(self.jumps)

    @property
    def outputs(self) -> Floats:
        """The outputs that have a probability of their own."""
        return np.concatenate(
            [np.empty(0), *(part.outputs for _, part in self.parts if isinstance(part, Numbers))]
        )

    @property
    def has_unbiased(self) -> bool:
        return self.slope is not None

    @property
    def reading_bias(self) -> float:
        return 0.0

    @property
    def spread(self) -> Floats:
        """A length on which the distribution of the output varies."""
        return np.array(
            [min((p.length for _, p in self.parts if isinstance(p, Levels)), default=1)]
        )

    @property
    def parameters(self) -> dict[str, Any]:
        return {"epsilon": self.epsilon}

    def __repr__(self) -> str:
        return self.name

    def sampler(self, *, equal_time: bool = True) -> "Rival":
        return self

    def draw(self, values: NDArray[Any], entropy: object) -> Floats:
        """Draw from numpy's generator, whatever `entropy` is: good enough for a comparison."""
        z = np.clip(np.asarray(values, float), 0.0, 1.0)
        drawn, upto = self.parts[0][1].draw(z), self.parts[0][0]
        uniform = _RNG.uniform(size=z.shape)
        for weight, part in self.parts[1:]:
            drawn, upto = np.where(uniform < upto, drawn, part.draw(z)), upto + weight
        return drawn

    def _moment(self, power: int, z: Floats) -> Floats:
        return np.asarray(sum(weight * part.moment(power, z) for weight, part in self.parts))

    def _bias(self, inside: Floats) -> Floats:
        return self._moment(1, inside) - inside

    def _variance(self, inside: Floats) -> Floats:
        return self._moment(2, inside) - self._moment(1, inside) ** 2

    def _mse(self, inside: Floats) -> Floats:
        return self._moment(2, inside) - 2 * inside * self._moment(1, inside) + inside**2

    def _cdf(self, x: Floats, inside: Floats) -> Floats:
        return np.asarray(sum(weight * part.below(x, inside) for weight, part in self.parts))

    def _mass_at_bounds(self, inside: Floats) -> tuple[Floats, Floats]:
        at_zero = self._cdf(np.zeros(()), inside)
        return at_zero, 1 - self._cdf(np.nextafter(np.ones(()), 0), inside).round(12)

    def _unbiased(self, outputs: Floats) -> Floats:
        assert self.slope is not None
        return 0.5 + (outputs - 0.5) / self.slope

    # The tables need none of these.

    def _pdf(self, x: Floats, inside: Floats) -> Floats:
        raise NotImplementedError

    def _quantile(self, q: Floats, inside: Floats) -> Floats:
        raise NotImplementedError

    def _denoise(self, outputs: Floats) -> Floats:
        raise NotImplementedError

    def _confidence(self, outputs: Floats, level: float) -> tuple[Floats, Floats]:
        raise NotImplementedError


def piecewise(epsilon: float) -> Rival:
    part, slope = _piecewise(epsilon)
    return _checked("Piecewise", epsilon, (1.0, part), slope=slope)


def square_wave(epsilon: float) -> Rival:
    growth, rise = math.exp(epsilon), math.expm1(epsilon)
    reach = (epsilon * growth - rise) / (2 * growth * (rise - epsilon))
    length = 2 * reach / (1 + 2 * reach)
    part = Levels(length, growth, lambda z: z * (1 - length))
    return _checked("Square Wave", epsilon, (1.0, part), slope=(1 - part.low) * (1 - length))


def opm(epsilon: float) -> Rival:
    """The window of Piecewise, centred at the value and pushed into the box."""
    length = 1 / (math.exp(epsilon / 2) + 1)
    part = Levels(length, math.exp(epsilon), lambda z: np.clip(z - length / 2, 0, 1 - length))
    return _checked("OPM", epsilon, (1.0, part))


def duchi(epsilon: float) -> Rival:
    part = _one_bit(epsilon, np.array([0.0, 1.0]))
    return _checked("Duchi", epsilon, (1.0, part), slope=math.tanh(epsilon / 2))


def hybrid(epsilon: float) -> Rival:
    """Piecewise with probability 1 − e^(−ε/2), and otherwise one bit with the same mean."""
    if epsilon <= _WINDOW_PAYS:
        return duchi(epsilon)
    part, slope = _piecewise(epsilon)
    half = slope / math.tanh(epsilon / 2) / 2
    bit = _one_bit(epsilon, np.array([0.5 - half, 0.5 + half]))
    weight = -math.expm1(-epsilon / 2)
    return _checked("Hybrid", epsilon, (weight, part), (1 - weight, bit), slope=slope)


def equal_bins(epsilon: float, count: int) -> Rival:
    middles = (np.arange(count) + 0.5) / count
    return _bins(f"RR on {count} bins", epsilon, np.arange(1, count) / count, middles)


def best_bins(epsilon: float) -> Rival:
    """Randomised response with the bins and outputs of least average squared error."""
    plans = (_lloyd(epsilon, count) for count in range(2, _MOST_BINS))
    least, bounds, outputs = next(plans)
    for error, *plan in plans:  # the error falls, then rises
        if error > least:
            break
        least, (bounds, outputs) = error, plan
    return _bins("RR on best bins", epsilon, bounds, outputs)


def _piecewise(epsilon: float) -> tuple[Levels, float]:
    length = 1 / (math.exp(epsilon / 2) + 1)
    part = Levels(length, math.exp(epsilon), lambda z: z * (1 - length))
    return part, math.tanh(epsilon / 4)


def _one_bit(epsilon: float, outputs: Floats) -> Numbers:
    slope = math.tanh(epsilon / 2)

    def chances(z: Floats) -> Floats:
        high = 0.5 + slope * (z - 0.5)
        return np.stack([1 - high, high], axis=-1)

    return Numbers(outputs, chances)


def _bins(name: str, epsilon: float, bounds: Floats, outputs: Floats) -> Rival:
    other = 1 / (math.expm1(epsilon) + outputs.size)
    table = other * (1 + math.expm1(epsilon) * np.eye(outputs.size))
    part = Numbers(outputs, lambda z: table[np.searchsorted(bounds, z, side="right")])
    return _checked(name, epsilon, (1.0, part), jumps=tuple(bounds.tolist()))


def _lloyd(epsilon: float, count: int) -> tuple[float, Floats, Floats]:
    """Return the average squared error, the bounds between bins, and the outputs."""
    rise, bounds = math.expm1(epsilon), np.arange(1, count) / count
    for _ in range(_LLOYD_STEPS):
        ends = np.concatenate([[0.0], bounds, [1.0]])
        widths, middles = np.diff(ends), (ends[1:] + ends[:-1]) / 2
        outputs = (0.5 + rise * widths * middles) / (1 + rise * widths)
        bounds = (outputs[1:] + outputs[:-1]) / 2
    error = 1 / 3 - float(outputs**2 @ (1 + rise * widths)) / (rise + count)
    return error, bounds, outputs


def _checked(
    name: str,
    epsilon: float,
    *parts: tuple[float, Part],
    slope: float | None = None,
    jumps: tuple[float, ...] = (),
) -> Rival:
    """Make a rival; check that it is a distribution, private, and has the mean it claims."""
    rival = Rival(_BOX, L2(1.0), name, epsilon, parts, slope, jumps)
    z = np.linspace(0, 1, 41)
    numbers = np.concatenate([np.linspace(0, 1, 2001), rival.outputs, rival.outputs - 1e-9])
    upto = rival._cdf(np.sort(numbers), z[:, None])
    masses = np.diff(upto, prepend=0.0, axis=1)
    seen = masses.max(axis=0) > 1e-12
    assert np.allclose(upto[:, -1], 1)
    assert masses.min() > -1e-12
    ratios = masses[:, seen].max(axis=0) / masses[:, seen].min(axis=0)
    assert math.isclose(ratios.max(), math.exp(epsilon), rel_tol=1e-6), (name, epsilon)
    if slope is not None:
        assert np.allclose(rival._moment(1, z), 0.5 + slope * (z - 0.5))
    return rival
