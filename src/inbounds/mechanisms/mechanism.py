"""The base of all mechanisms: a box, a sensitivity, and how values are released."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import FrozenInstanceError, dataclass, field
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from inbounds import _check
from inbounds._check import format_numbers
from inbounds._column import open_column
from inbounds._entry import unwarned
from inbounds._table import HasHtml, Table
from inbounds._types import Floats, Nested, Number, Numbers, SeriesLike, SeriesT
from inbounds.domain import Box
from inbounds.guarantee import Amount
from inbounds.mechanisms.argument import check_entropy
from inbounds.mechanisms.asked import copied_by
from inbounds.mechanisms.distribution import check_level
from inbounds.mechanisms.moments import scalar_or_array
from inbounds.mechanisms.overview import overview
from inbounds.mechanisms.privacy import ReleasePrivacy
from inbounds.mechanisms.readings import Readable
from inbounds.sampling.entropy import SYSTEM, Entropy
from inbounds.sampling.sampler import Draws
from inbounds.sensitivity import Sensitivity

_NUMBERS = frozenset({float, int, *(np.dtype(char).type for char in "bhilqBHILQefd")})
"""Types of numbers that take no arrays."""
_ELSEWHERE = {
    "certificate": "; BoundedGaussian, BoundedLaplace and Optimal have it.",
    "sigma": "; a scale that is no Gaussian's is called scale, if there is one.",
}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Mechanism(Readable, ReleasePrivacy, HasHtml, ABC):
    """Base of the mechanisms, which hide values of a box and whose outputs stay in it.

    On an interval every element of an array is a separate release: values of n people at epsilon
    each, or n values of one person at n·epsilon together. On an m-dimensional box the last axis
    has length m and is one joint release at epsilon.

    Moments, `pdf`, `cdf`, `quantile` and `output_interval` describe each coordinate separately,
    before the rounding to the output grid, which moves an output by at most half a step.

    Guarantees
    ----------
    Outputs of `release` are private, and so is all that is computed from them, such as `confidence`
    and `denoise`. **Functions of the true value are not**: `mean`, `bias`, `variance`, `mse`,
    `mass_at_bounds`, `pdf`, `cdf`, `quantile` and `output_interval` are exact functions of the
    value that they are given. Use them to plan, at hypothetical values; never publish them at the
    true value.
    """

    domain: Box
    sensitivity: Sensitivity
    _asked: Amount | None = field(init=False)
    _even: Draws = field(init=False)  # the sampler of equal time; it depends on public numbers only
    _uneven: Draws = field(init=False)  # the other one

    def __init_subclass__(cls) -> None:
        """Refuse changes of any name; Python's own refusal fails for names that are no fields."""
        for name in {"__setattr__", "__delattr__"} & vars(cls).keys():
            setattr(cls, name, _refuse_change)

    @property
    def asked(self) -> Amount | None:
        """The guarantee that was asked for, in the caller's numbers; None if only a scale was.

        It is a note for people, as in a ledger. Privacy is derived from the mechanism itself.

        Examples
        --------
        >>> import inbounds as ib
        >>> m = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 2.5, epsilon=0.9, delta=1e-7)
        >>> m.asked
        Guarantee(epsilon=0.9, delta=1e-07)
        """
        asked: Amount | None = getattr(self, "_asked", None)
        epsilon = self.parameters.get("epsilon")
        return Amount(epsilon=epsilon) if asked is None and epsilon is not None else asked

    @overload
    def confidence(self, outputs: Number, level: Number) -> tuple[float, float]: ...
    @overload
    def confidence(self, outputs: Numbers, level: Number) -> tuple[Floats, Floats]: ...
    @unwarned
    def confidence(self, outputs: Any, level: Number) -> tuple[Any, Any]:
        """Return the ends of a confidence interval for the true value behind each output.

        It reads published outputs only, so it costs no privacy. The spread of outputs around a
        known value is `output_interval`.

        Parameters
        ----------
        outputs
            Outputs of `release`: a number, or an array of the shape that `release` returned.
        level
            The least probability that the interval holds the true value, between 0 and 1.

        Returns
        -------
        tuple of two floats or arrays
            The lower and the upper end for each output, both in the box.

        Raises
        ------
        ArgumentError
            If an output is outside the box, or `level` is not strictly between 0 and 1.

        Guarantees
        ----------
        The interval holds any true value with a probability of at least `level`
        (docs/proofs/confidence.md, theorems 1 to 3). On a box with several coordinates this holds
        for each coordinate separately. The true value of an input outside the box is its nearest
        point.

        Examples
        --------
        >>> import inbounds as ib
        >>> m = ib.BoundedGaussian(ib.Box(0, 1), 0.1, sigma=0.1)
        >>> low, high = m.confidence(0.05, 0.95)
        >>> round(low, 3), round(high, 3)
        (0.0, 0.24)
        """
        published, level = self._published(outputs=outputs), check_level(level)
        if self.domain.is_interval and published.ndim:  # equal outputs have equal intervals
            distinct, place = np.unique(published, return_inverse=True)
            low, high = self._confidence(distinct, level)
            return low[place].reshape(published.shape), high[place].reshape(published.shape)
        low, high = self._confidence(published, level)
        return scalar_or_array(low), scalar_or_array(high)

    def to_json(self) -> str:
        """Return the mechanism as JSON, for phones and other programs; see docs/mechanism-json.md.

        Examples
        --------
        >>> import inbounds as ib
        >>> m = ib.Window(ib.Box(0, 120, step=1), 120, epsilon=1.0)
        >>> ib.Mechanism.from_json(m.to_json()) == m
        True
        """
        from inbounds.mechanisms.document import write_mechanism  # noqa: PLC0415 - knows this class

        return write_mechanism(self)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a mechanism that `to_json` wrote.

        ``inbounds.Mechanism.from_json`` reads any that has a box; `RandomizedResponse` has its own.

        The text may come from anybody. It holds what a constructor takes, and the constructor
        checks it: a scale or an epsilon gives the privacy that is computed here, and the table of
        an `Optimal` is proved again.

        Raises
        ------
        ArgumentError
            If `text` is not a mechanism of this kind, or has an impossible number.
        ArgumentTypeError
            If `text` is no text.
        CertificateError
            If the table of an `Optimal` does not give its epsilon.
        """
        from inbounds.mechanisms.document import read_as  # noqa: PLC0415 - as above

        return read_as(cls, text)

    @property
    def worst_change(self) -> Floats:
        """A large change that the sensitivity allows, one number per coordinate."""
        widths = self.domain.widths
        return self.sensitivity.within(widths).along(widths)

    @overload
    def release(
        self, values: Number, *, equal_time: bool = ..., entropy: Entropy = ...
    ) -> float: ...
    @overload
    def release(
        self, values: Nested, *, equal_time: bool = ..., entropy: Entropy = ...
    ) -> NDArray[Any]: ...
    @overload
    def release(
        self, values: SeriesT, *, equal_time: bool = ..., entropy: Entropy = ...
    ) -> SeriesT: ...
    @overload
    def release(
        self, values: SeriesLike, *, equal_time: bool = ..., entropy: Entropy = ...
    ) -> Any: ...
    def release(self, values: Any, *, equal_time: bool = True, entropy: Entropy = SYSTEM) -> Any:
        """Return private outputs for `values`.

        On an interval each element is a separate release at `epsilon`. On a box the last axis is
        one joint release at `epsilon`, and every further row costs another `epsilon`.

        Parameters
        ----------
        values
            A number or an array of finite numbers, or, on an interval, a Series of pandas or
            Polars or an Arrow array. Values outside the box are moved to its nearest point.
            Numbers that a double cannot represent exactly (integers beyond 2⁵³, decimals,
            fractions) are not rounded before the lower bound is subtracted.
        equal_time
            Whether the time of a release must not depend on the values. Turn it off only if nobody
            can observe the time; it saves a few percent of large releases.
        entropy
            The source of random bits: that of the operating system, except in tests.

        Returns
        -------
        float, int, numpy.ndarray or column
            Outputs of the shape and kind of `values`.

        Raises
        ------
        ArgumentError
            If a value is NaN or infinite, or the last axis does not fit the box.
        ArgumentTypeError
            If a value is not a real number. No message shows any value.

        Guarantees
        ----------
        Each output has exactly the distribution of the ideal real-valued output, rounded to a grid
        that does not depend on the value; no rounding error affects it. The grid has 2²² points
        per scale or per width, whichever is smaller (at most 2⁴⁰ per width), or the step of the
        box. Proofs: for noise docs/proofs/sampler.md, theorems 1, 2 and 12, and for what doubles do
        not decide docs/proofs/reference.md, theorems 1 to 4; for the others
        docs/proofs/staircase.md, theorem 3, docs/proofs/window.md, theorem 8, and
        docs/proofs/optimal.md, theorems 8 and 9.

        Examples
        --------
        >>> import numpy as np
        >>> import inbounds as ib
        >>> m = ib.BoundedGaussian.calibrated(ib.Box(0, 120, step=1), 120, epsilon=1.0)
        >>> outputs = m.release(np.array([3.0, 41.0, 250.0]))
        >>> bool(((outputs >= 0) & (outputs <= 120)).all()), outputs.dtype.kind
        (True, 'i')
        """
        if entropy is not SYSTEM:
            check_entropy(entropy)
        sampler = self._kept_sampler(equal_time)
        if type(values) in _NUMBERS and self.domain.is_interval:
            return sampler.draw_one(_check.private_number(values), entropy)
        column = open_column(values) if self.domain.is_interval else None
        numbers = _check.private_array(values=column[0] if column else values)
        self.domain.check_shape(numbers)
        outputs = sampler.draw(numbers, entropy)
        if column:
            return column[1](outputs)
        return outputs if numbers.ndim else outputs.item()

    @abstractmethod
    def sampler(self, *, equal_time: bool = True) -> Draws:
        """Return the sampler that draws the outputs of `release`; it does not check its input.

        Call `release` instead, unless values were checked already: with NaN, or an array of another
        shape, nothing is promised about what a sampler draws.

        Parameters
        ----------
        equal_time
            As for `release`.

        Returns
        -------
        sampler
            Its method ``draw(values, entropy)`` takes an array of finite numbers, whose last axis
            runs over the coordinates of a box, and a source of random bits, and returns an array of
            outputs.

        Examples
        --------
        >>> import numpy as np
        >>> import inbounds as ib
        >>> from inbounds.sampling.entropy import SYSTEM
        >>> sampler = ib.Window(ib.Box(0, 1), 1, epsilon=1.0).sampler()
        >>> 0 <= float(sampler.draw(np.array(0.5), SYSTEM)) <= 1
        True
        """

    def _kept_sampler(self, equal_time: bool) -> Draws:
        """Return a sampler that is made once."""
        even = equal_time is True or _check.yes_or_no(equal_time=equal_time)
        try:
            return self._even if even else self._uneven
        except AttributeError:
            sampler = self.sampler(equal_time=even)
            object.__setattr__(self, "_even" if even else "_uneven", sampler)
            return sampler

    @property
    @abstractmethod
    def spread(self) -> Floats:
        """How far outputs are from their value, roughly, as one number per coordinate."""

    @property
    def breaks(self) -> Floats:
        """The values, in increasing order, at which the distribution of the output may jump.

        Between two of them, `mse` and the other functions of the value are smooth, so compute an
        average over values piece by piece. Only an `Optimal` has breaks; of other mechanisms the
        array is empty.

        Examples
        --------
        >>> import inbounds as ib
        >>> ib.Optimal(ib.Box(0, 1), 1, epsilon=1.0).breaks
        array([0.5])
        """
        return np.empty(0)

    @abstractmethod
    def _confidence(self, outputs: Floats, level: float) -> tuple[Floats, Floats]:
        """Return the ends of confidence intervals for the values behind checked outputs."""

    @property
    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """What the constructor takes besides the domain and the sensitivity, by name."""

    if not TYPE_CHECKING:  # a type checker would accept every attribute

        def __getattr__(self, name: str) -> object:
            """Raise an error that says which mechanisms have the attribute."""
            hint = _ELSEWHERE.get(name, "")
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}{hint}")

    def __reduce__(self) -> tuple[object, ...]:
        """Copy through the constructor, which checks the fields and derives the rest again."""
        fields = self.domain, self.sensitivity, *self.parameters.values()
        return copied_by(type(self), fields, getattr(self, "_asked", None))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mechanism):
            return NotImplemented
        return (
            type(self) is type(other)
            and self.domain == other.domain
            and self.sensitivity == other.sensitivity
            and all(map(np.array_equal, self.parameters.values(), other.parameters.values()))
        )

    def __hash__(self) -> int:
        parameters = (_hashable(value) for value in self.parameters.values())
        return hash((type(self), self.domain, self.sensitivity, *parameters))

    def _table(self) -> Table:
        return overview(self)

    def __repr__(self) -> str:
        parameters = "".join(f", {name}={_shown(value)}" for name, value in self.parameters.items())
        return f"{type(self).__name__}({self.domain!r}, {self.sensitivity!r}{parameters})"


def _refuse_change(self: Mechanism, name: str, *_: object) -> None:
    raise FrozenInstanceError(f"cannot change {name!r}: a {type(self).__name__} never changes")


def _hashable(value: Any) -> Any:
    return value.tobytes() if isinstance(value, np.ndarray) else value


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, str) else format_numbers(value)
