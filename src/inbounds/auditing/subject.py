"""What an audit needs of any mechanism: outputs, neighbouring values and its claim."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from inbounds import _check
from inbounds._types import Floats
from inbounds.auditing.coded import CodedResponse
from inbounds.auditing.event import Event, project
from inbounds.auditing.neighbour import (
    Pair,
    axis_pairs,
    candidates,
    check_pair,
    random_pairs,
)
from inbounds.domain import Box
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.sampling.entropy import Entropy
from inbounds.sensitivity import Sensitivity, as_sensitivity

_BLOCK = 1 << 20  # numbers drawn together
_CALLS = 1 << 10  # the same if every output is a call


class OutputError(ArgumentError, ArgumentTypeError):
    """The audited mechanism returned outputs that cannot be counted."""


class Subject:
    """Draws outputs, as arrays or one by one, in blocks that need little memory.

    Examples
    --------
    >>> subject = Subject(lambda value: value / 2, None, None, lambda size: None)
    >>> subject.draw(np.array(1.0), 3, None).tolist(), subject.drawn
    ([0.5, 0.5, 0.5], 3)
    """

    def __init__(
        self,
        mechanism: Any,
        vectorized: bool | None,
        entropy: Entropy | None,
        advance: Callable[[int], None],
    ) -> None:
        method = getattr(mechanism, "release", None)
        self._release = method if callable(method) else mechanism
        self._by_array = callable(method) if vectorized is None else vectorized
        self._options = {} if entropy is None else {"entropy": entropy}
        self._advance = advance
        self.drawn = 0
        name = getattr(mechanism, "__qualname__", None)
        self.name = name if type(name) is str else repr(mechanism)

    def draw(self, value: Floats, count: int, weights: tuple[float, ...] | None) -> Floats:
        """Return `count` outputs for one value; those of several coordinates as weighted sums."""
        return np.concatenate([project(block, weights) for block in self._blocks(value, count)])

    def count(self, value: Floats, count: int, event: Event) -> int:
        """Return how many of `count` fresh outputs for one value are in the event."""
        return sum(int(event.holds(block).sum()) for block in self._blocks(value, count))

    def _blocks(self, value: Floats, count: int) -> Iterator[Floats]:
        most = max(1, _BLOCK // value.size) if self._by_array else _CALLS
        while count > 0:
            size = min(count, most)
            yield self._outputs(value, size)
            count -= size
            self.drawn += size
            self._advance(size)

    def _outputs(self, value: Floats, size: int) -> Floats:
        shape = (size, *value.shape)
        if self._by_array:
            returned = self._release(np.broadcast_to(value, shape).copy(), **self._options)
        else:
            argument = number_or_tuple(value)
            returned = [self._release(argument, **self._options) for _ in range(size)]
        try:
            outputs = _check.public_values(outputs=returned)
        except (ArgumentError, ArgumentTypeError) as error:
            raise OutputError(f"the mechanism must return numbers: {error}") from None
        if not np.isfinite(outputs).all():
            raise OutputError("the mechanism must return finite numbers.")
        if outputs.shape != shape:
            got = f"got {outputs.shape} for values of shape {shape}"
            raise OutputError(f"the mechanism must return outputs of the values' shape, {got}.")
        return outputs


def check_subject(mechanism: Any) -> None:
    """Refuse what cannot release anything."""
    method = getattr(mechanism, "release", None)
    if not callable(method) and not callable(mechanism):
        hint = "for another library's object, pass the method that releases one value."
        requirement = "have a method release(values), or be a function"
        raise ArgumentTypeError.must("mechanism", requirement, hint=hint)
    if isinstance(mechanism, type) and callable(method):
        got, hint = f"the class {mechanism.__name__}", "pass an instance of it."
        raise ArgumentTypeError.must_be("mechanism", "an object", got=got, hint=hint)


def pairs_of(
    mechanism: Any, box: Box | None, sensitivity: Sensitivity | float | None, pair: Any
) -> tuple[list[Pair], tuple[float, ...] | None]:
    """Return the pairs of values to try, and the weights of the coordinates of an output.

    Why these: docs/proofs/audit.md, theorems 3 and 4.

    Examples
    --------
    >>> from inbounds import BoundedGaussian
    >>> pairs, weights = pairs_of(BoundedGaussian(Box(0, 1), 1, sigma=1.0), None, None, None)
    >>> [float(value) for value in pairs[0]], weights
    ([0.0, 1.0], None)
    """
    box = getattr(mechanism, "domain", None) if box is None else box
    if box is not None and not isinstance(box, Box):
        raise ArgumentTypeError.must_be("box", "a Box", got=f"box={_check.quoted(box)}")
    stated = getattr(mechanism, "sensitivity", None)
    allowed = stated if sensitivity is None else sensitivity
    reach = None if allowed is None else as_sensitivity(allowed)
    if pair is not None:
        pairs = [check_pair(pair, box, reach)]
    elif box is None or reach is None:
        requirement = "given, or pair: the mechanism does not state them"
        raise ArgumentTypeError.must_be("box and sensitivity", requirement)
    elif is_own(mechanism) and reach == stated and box == mechanism.domain:
        pairs = candidates(box, mechanism.worst_change)
    else:
        within = reach.within(box.widths)
        pairs = candidates(box, within.along(box.widths))
        if not is_own(mechanism):  # it is proved where ours are worst
            pairs += random_pairs(box, within)
            pairs += axis_pairs(box, within) if box.dimension > 1 else []
    change = pairs[0][1] - pairs[0][0]
    if change.ndim == 0:
        return pairs, None
    if is_own(mechanism):  # the log-likelihood ratio has these weights, up to a factor
        change = mechanism.noise.likelihood_weights(change, mechanism.scales)
    return pairs, tuple((change / np.abs(change).max()).tolist())


def is_own(mechanism: Any) -> bool:
    """Return whether a mechanism's class is this library's own; a derived class is not.

    Examples
    --------
    >>> from inbounds import BoundedGaussian
    >>> is_own(BoundedGaussian(Box(0, 1), 1, sigma=1.0)), is_own(np.random.default_rng())
    (True, False)
    """
    package = type(mechanism).__module__.partition(".")[0]
    return isinstance(mechanism, Mechanism) and package == __name__.partition(".")[0]


def claim_of(mechanism: Any, claimed: float | None, delta: float) -> float:
    """Return the epsilon that is claimed at `delta`.

    Examples
    --------
    >>> from inbounds import ClampedLaplace
    >>> claim_of(ClampedLaplace(Box(0, 1), 1, scale=1.0), None, 0.0)
    1.0000000000000...
    """
    if claimed is None and isinstance(mechanism, Mechanism | CodedResponse):
        return mechanism.epsilon_at(delta)
    epsilon = getattr(mechanism, "epsilon", None) if claimed is None else claimed
    if epsilon is None:
        requirement = "given: the mechanism has no epsilon"
        raise ArgumentTypeError.must_be("claimed_epsilon", requirement)
    return _check.not_negative(claimed_epsilon=epsilon)


def proved_epsilon(mechanism: Any) -> float | None:
    """Return the epsilon of the mechanism's certificate, or None if it has none.

    Examples
    --------
    >>> from inbounds import BoundedGaussian
    >>> proved_epsilon(BoundedGaussian(Box(0, 1), 1, sigma=1.0))
    0.5...
    """
    if not is_own(mechanism) or not hasattr(mechanism, "certificate"):
        return None
    return float(mechanism.certificate().epsilon)


def number_or_tuple(value: Floats) -> Any:
    """Return a value as a float, or as a tuple of floats if it has coordinates.

    Examples
    --------
    >>> number_or_tuple(np.array([1.0, 2.0]))
    (1.0, 2.0)
    """
    return tuple(value.tolist()) if value.ndim else float(value)
