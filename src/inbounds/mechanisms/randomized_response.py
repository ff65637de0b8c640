"""Randomised response: the best private mechanism for categories that have no order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from flint import arb
from numpy.typing import NDArray

from inbounds._check import format_numbers
from inbounds._entry import constructed
from inbounds._table import HasHtml, Table
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.guarantee import Amount
from inbounds.mechanisms.argument import check_entropy
from inbounds.mechanisms.document import read_as, write_response
from inbounds.mechanisms.fractions import Fractions
from inbounds.mechanisms.level import Family, Level, check_levels, codes_of, family_of
from inbounds.mechanisms.privacy import ReleasePrivacy
from inbounds.mechanisms.response_integer import check_range, check_response, fewest_outcomes
from inbounds.numerics.ball import float_above
from inbounds.sampling.entropy import SYSTEM, Entropy
from inbounds.sampling.response import TOTAL, ResponseSampler

_SHOWN = 8  # levels in a repr


@constructed(
    delta="RandomizedResponse gives pure epsilon, which holds for every delta.",
    sensitivity="RandomizedResponse hides any change from one level to another.",
)
@dataclass(frozen=True, slots=True, repr=False)
class RandomizedResponse(ReleasePrivacy, HasHtml):
    """Release categories: the true level with the highest probability, or any other one.

    Every element of an array is a separate release at `epsilon`: the levels of n people, or n
    levels of one person at n·epsilon together. This is for categories without an order and for
    yes/no columns; numbers and ordered levels such as ages keep more with `calibrate` on a `Box`.

    Parameters
    ----------
    levels
        All possible levels: distinct texts, integers or booleans, 2 to 65,536 of them. They are
        published, so they must not be read off the data.
    epsilon
        The pure epsilon of one release.

    Raises
    ------
    ArgumentError
        If `levels` are not distinct, or `epsilon` is not positive or is extreme.
    ArgumentTypeError
        If `levels` are of other types, or of several.

    Guarantees
    ----------
    For any two levels and any set of outputs, the probabilities differ by a factor of at most
    exp(`epsilon`). This is a comparison of the integers that are drawn from, made when the
    mechanism is built (docs/proofs/response.md, theorems 1 and 2). How long drawing takes does not
    depend on the values.

    See Also
    --------
    inbounds.privatize : releases columns of data frames.
    Optimal : for numbers on few steps.

    Notes
    -----
    With k levels, an output is the true level with the probability e^epsilon/(e^epsilon + k - 1),
    and each other level with 1/(e^epsilon + k - 1). No other mechanism that gives this epsilon
    keeps the true level more often for every level (docs/proofs/response.md, theorem 3).

    References
    ----------
    .. [1] Warner (1965), "Randomized Response", J. Am. Stat. Assoc. 60(309).
    .. [2] Kairouz, Oh and Viswanath (2016), "Extremal Mechanisms for Local Differential Privacy",
       J. Mach. Learn. Res. 17.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.RandomizedResponse(["no", "yes"], epsilon=2.0)
    >>> m.release("no") in ("no", "yes"), round(m.flip_probability, 4)
    (True, 0.1192)
    >>> estimate = m.estimate(m.release(["no"] * 3000 + ["yes"] * 1000))
    >>> bool(0.15 < estimate.fractions[1] < 0.35)
    True
    """

    levels: tuple[Level, ...]
    epsilon: float = field(kw_only=True)  # proved by integers; it overrides the property
    sampler: ResponseSampler = field(init=False, compare=False)
    _code_of: dict[Level, int] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", check_levels(self.levels))
        object.__setattr__(self, "epsilon", check_range(self.epsilon))
        other = fewest_outcomes(len(self.levels), self.epsilon)
        object.__setattr__(self, "sampler", ResponseSampler(len(self.levels), other))
        object.__setattr__(self, "_code_of", {level: i for i, level in enumerate(self.levels)})
        check_response(self.sampler, self.epsilon)

    @property
    def family(self) -> Family:
        """What the levels are, which is ``"text"``, ``"integer"`` or ``"boolean"``."""
        return family_of(self.levels)

    @property
    def flip_probability(self) -> float:
        """The probability that an output is not the true level."""
        return (len(self.levels) - 1) * self.sampler.other / TOTAL

    @property
    def total_variation(self) -> float:
        """The total variation between the outputs of any two levels, rounded up.

        Proof: docs/proofs/response.md, theorem 3.
        """
        return float_above(arb(self.sampler.own - self.sampler.other) / TOTAL)

    @property
    def asked(self) -> Amount:
        """The guarantee that was asked for, which a ledger records.

        Examples
        --------
        >>> import inbounds as ib
        >>> ib.RandomizedResponse(["no", "yes"], epsilon=2.0).asked
        Amount(epsilon=2.0)
        """
        return Amount(epsilon=self.epsilon)

    def to_json(self) -> str:
        """Return the mechanism as JSON, for phones and other programs; see docs/mechanism-json.md.

        Raises
        ------
        ArgumentError
            If levels are integers beyond 2⁵³, which other programs would round.

        Examples
        --------
        >>> import inbounds as ib
        >>> m = ib.RandomizedResponse(["no", "yes"], epsilon=2.0)
        >>> ib.RandomizedResponse.from_json(m.to_json()) == m
        True
        """
        return write_response(self)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote. The text may come from anybody: the constructor checks it.

        Raises
        ------
        ArgumentError
            If `text` is not a `RandomizedResponse`, or has an impossible number or levels.
        ArgumentTypeError
            If `text` is no text, or levels are of other types than texts, integers and booleans.
        """
        return read_as(cls, text)

    def codes(self, values: Any, name: str = "values") -> NDArray[np.int64]:
        """Return the place of each value among the levels; nothing is drawn.

        Parameters
        ----------
        values
            As for `release`. They are private, and so are their codes.
        name
            What errors call them.

        Raises
        ------
        ArgumentError
            If a value is none of the levels. The message does not show it.
        ArgumentTypeError
            If `values` is neither a level nor a list or an array of levels.

        Examples
        --------
        >>> import inbounds as ib
        >>> ib.RandomizedResponse(["no", "yes"], epsilon=1.0).codes(["yes", "no"]).tolist()
        [1, 0]
        """
        _refuse_columns(values, name)
        return codes_of(values, self.levels, name)

    def release(self, values: Any, *, entropy: Entropy = SYSTEM) -> Any:
        """Return a private level for each of `values`.

        Parameters
        ----------
        values
            One level, or a list or an array of levels. `privatize` releases columns of frames.
        entropy
            The source of random bits: that of the operating system, except in tests.

        Returns
        -------
        level or numpy.ndarray
            Outputs of the shape of `values`.

        Raises
        ------
        ArgumentError
            If a value is none of the levels. The message does not show it.

        Examples
        --------
        >>> import numpy as np
        >>> import inbounds as ib
        >>> ib.RandomizedResponse([1, 2, 3], epsilon=1.0).release(np.array([[1, 2], [3, 3]])).shape
        (2, 2)
        """
        check_entropy(entropy)
        code = self._code_of.get(values) if type(values) is type(self.levels[0]) else None
        if code is not None:
            return self.levels[self.sampler.draw_one(code, entropy)]
        codes = self.sampler.draw(self.codes(values), entropy)
        return np.array(self.levels)[codes] if codes.ndim else self.levels[int(codes)]

    def estimate(self, outputs: Any) -> Fractions:
        """Return the fraction of people at each level, estimated from their private outputs.

        Parameters
        ----------
        outputs
            A list, an array or a column of outputs, without nulls.

        Raises
        ------
        ArgumentError
            If there are no outputs, or one of them is none of the levels.
        """
        values = outputs if isinstance(outputs, np.ndarray | list | tuple) else _listed(outputs)
        codes = codes_of(values, self.levels, "outputs")
        return self.estimate_counts(np.bincount(codes.reshape(-1), minlength=len(self.levels)))

    def estimate_counts(self, counts: Any) -> Fractions:
        """Return the same as `estimate`, from the number of outputs of each level.

        Parameters
        ----------
        counts
            One whole number for each level, in the order of `levels`.

        Raises
        ------
        ArgumentError
            If there are not as many counts as levels, or they are negative or all zero.
        """
        numbers = np.asarray(counts)
        if numbers.shape != (len(self.levels),) or numbers.dtype.kind not in "iu":
            raise ArgumentError.must_be("counts", f"{len(self.levels)} whole numbers")
        if (numbers < 0).any():
            raise ArgumentError.must_be("counts", "zero or more")
        own, other = self.sampler.own, self.sampler.other
        rates = other / TOTAL, (own - other) / TOTAL
        return Fractions(self.levels, numbers.astype(np.int64), *rates)

    def __reduce__(self) -> tuple[object, ...]:
        """Copy through the constructor, which checks the fields and derives the rest again."""
        return _rebuilt, (self.levels, self.epsilon)

    def _table(self) -> Table:
        facts = [
            ("levels", self._shown_levels()),
            ("pure ε", format_numbers(self.epsilon)),
            ("ρ (zCDP)", f"{self.rho:.6g}"),
            ("flip probability", f"{self.flip_probability:.6g}"),
        ]
        return Table.of_facts(type(self).__name__, facts)

    def _shown_levels(self) -> str:
        shown = [repr(level) for level in self.levels[:_SHOWN]]
        return ", ".join(shown + ["..."] * (len(self.levels) > _SHOWN))

    def __repr__(self) -> str:
        levels, epsilon = self._shown_levels(), format_numbers(self.epsilon)
        return f"RandomizedResponse([{levels}], epsilon={epsilon})"


def _rebuilt(levels: tuple[Level, ...], epsilon: float) -> RandomizedResponse:
    return RandomizedResponse(levels, epsilon=epsilon)


def _refuse_columns(values: Any, name: str) -> None:
    is_plain = isinstance(values, np.ndarray | list | tuple | str | int | np.generic)
    if not is_plain:
        hint = "inbounds.privatize releases columns of data frames."
        got = type(values).__name__
        requirement = "a level, or a list or an array of levels"
        raise ArgumentTypeError.must_be(name, requirement, got=got, hint=hint)


def _listed(outputs: Any) -> list[Any]:
    """Return a column of any package as a list."""
    for name in ("to_pylist", "to_list", "tolist"):
        if hasattr(outputs, name):
            return list(getattr(outputs, name)())
    raise ArgumentTypeError.must_be(
        "outputs", "a list, an array or a column of levels", got=type(outputs).__name__
    )
