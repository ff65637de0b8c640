"""Estimates of one group as rows of a table: counts, means, quantiles, histograms, fractions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from inbounds import _check
from inbounds._types import Floats
from inbounds.errors import ArgumentError
from inbounds.frames.native import NUMBERS
from inbounds.frames.reading.level import LevelTally
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.recovery.deconvolution import Deconvolution
from inbounds.recovery.tally import Tally

LABELS = ("statistic", "column", "q", "bin_lower", "bin_upper", "level")
_MOST_BINS = 1000

Row = dict[str, Any]


def columns_of(rows: Sequence[Row], by: Sequence[str]) -> list[str]:
    """Return the columns of a result, in order; labels that no row has are left out.

    Examples
    --------
    >>> columns_of([{"town": "Ulm", "statistic": "mean", "value": 41.0}], ["town"])
    ['town', 'statistic', 'value']
    """
    return [name for name in (*by, *LABELS, *NUMBERS) if any(name in row for row in rows)]


@dataclass(frozen=True, slots=True)
class Asked:
    """What is estimated of every private column: quantiles, bins, and at which confidence.

    Examples
    --------
    >>> Asked.checked([0.5], None, 0.95, ["age"]).quantiles
    (0.5,)
    """

    quantiles: tuple[float, ...]
    bins: Mapping[str, Any]
    level: float

    @classmethod
    def checked(
        cls,
        quantiles: object,
        histogram: object,
        level: object,
        columns: Sequence[str],
        categories: Collection[str] = (),
    ) -> Asked:
        """Check the arguments of `estimate`; `columns` hold numbers, and `categories` levels."""
        levels = _check.public_values(quantiles=quantiles).ravel()
        if not ((levels >= 0) & (levels <= 1)).all():
            raise ArgumentError.must_be("quantiles", "between 0 and 1")
        if levels.size and not columns:
            raise _not_of_categories("quantiles")
        if not (columns or histogram is None or isinstance(histogram, Mapping)):
            raise _not_of_categories("histogram")
        bins = histogram
        if not isinstance(histogram, Mapping):
            bins = {} if histogram is None else dict.fromkeys(columns, histogram)
        assert isinstance(bins, Mapping)
        if any(name in categories for name in bins):
            raise _not_of_categories("histogram")
        if unknown := [name for name in bins if name not in columns]:
            got = _check.quoted(unknown[0])
            raise ArgumentError.must("histogram", "name private columns", got=got)
        edges = {name: _edges(given) for name, given in bins.items()}
        return cls(tuple(levels.tolist()), edges, _check.within(0, 1, level=level))

    def rows(self, column: str, tally: Tally | LevelTally) -> Iterator[Row]:
        """Yield the rows of a column in a group."""
        label: Row = {"column": column}
        yield label | {"statistic": "count"} | _numbers(tally.count, 0.0, tally.count, tally.count)
        if isinstance(tally, LevelTally):
            yield from (label | row for row in level_rows(tally, self.level))
            return
        if not tally.count:
            yield from (label | row for row in self._unknown(column, tally.decoder.mechanism))
            return
        readings = tally.readings
        ends = readings.interval(self.level)
        yield (
            label | {"statistic": "mean"} | _numbers(readings.mean, readings.standard_error, *ends)
        )
        if self.quantiles or column in self.bins:
            result = tally.deconvolution(tally.recover(None))
            yield from (label | row for row in self._shape(column, result))

    def _shape(self, column: str, result: Deconvolution) -> Iterator[Row]:
        """Yield what comes from the recovered distribution; its standard errors are not known."""
        for q in self.quantiles:
            ends = result.interval(q, self.level)
            yield {"statistic": "quantile", "q": q} | _numbers(result.quantile(q), None, *ends)
        if column not in self.bins:
            return
        fractions, edges = result.histogram(self.bins[column])
        lowers, uppers = result.histogram_interval(self.bins[column], self.level)
        for i, fraction in enumerate(fractions.tolist()):
            yield _bin(edges, i) | _numbers(fraction, None, float(lowers[i]), float(uppers[i]))

    def _unknown(self, column: str, mechanism: Mechanism) -> Iterator[Row]:
        """Yield rows for a group without outputs: nothing but the bounds is known."""
        box = mechanism.domain
        nothing = _numbers(None, None, float(box.lower), float(box.upper))
        yield {"statistic": "mean"} | nothing
        for q in self.quantiles:
            yield {"statistic": "quantile", "q": q} | nothing
        if column in self.bins:
            edges = bin_edges(self.bins[column], mechanism)
            for i in range(len(edges) - 1):
                yield _bin(edges, i) | _numbers(None, None, 0.0, 1.0)


def level_rows(tally: LevelTally, level: float) -> Iterator[Row]:
    """Yield the estimated fraction of people at each level, in an interval that holds it.

    Examples
    --------
    >>> import inbounds as ib
    >>> tally = LevelTally(ib.RandomizedResponse(["no", "yes"], epsilon=2.0))
    >>> [(row["level"], row["value"], row["upper"]) for row in level_rows(tally, 0.95)]
    [('no', None, 1.0), ('yes', None, 1.0)]
    """
    levels = tally.mechanism.levels
    numbers = [_numbers(None, None, 0.0, 1.0)] * len(levels)
    if tally.count:
        found = tally.fractions
        lower, upper = found.interval(level)
        ends = np.minimum(lower, found.fractions), np.maximum(upper, found.fractions)
        columns = zip(found.fractions, found.standard_errors, *ends, strict=True)
        numbers = [_numbers(*row) for row in columns]
    for name, row in zip(levels, numbers, strict=True):
        yield {"statistic": "fraction", "level": name} | row


def _not_of_categories(argument: str) -> ArgumentError:
    hint = "fractions of the levels of categories are estimated without asking."
    requirement = "not be asked of columns that hold categories"
    return ArgumentError.must(argument, requirement, hint=hint)


def bin_edges(bins: Any, mechanism: Mechanism) -> Floats:
    """Return the edges of bins that are a number or edges.

    Examples
    --------
    >>> import inbounds as ib
    >>> bin_edges(2, ib.Window(ib.Box(0, 120), 120, 1.0)).tolist()
    [0.0, 60.0, 120.0]
    """
    if isinstance(bins, int):
        return np.linspace(float(mechanism.domain.lower), float(mechanism.domain.upper), bins + 1)
    return np.asarray(bins, np.float64)


def _edges(given: Any) -> Any:
    """Return a number of bins, or increasing edges."""
    if not hasattr(given, "__len__"):
        return _check.whole(2, _MOST_BINS, histogram=given)
    edges = _check.public_values(histogram=given)
    if (
        edges.ndim != 1
        or not 2 <= edges.size <= _MOST_BINS + 1
        or not (edges[1:] > edges[:-1]).all()
    ):
        requirement = f"a number of bins up to {_MOST_BINS:,}, or increasing edges of bins"
        raise ArgumentError.must_be("histogram", requirement)
    return edges


def _bin(edges: Floats, i: int) -> Row:
    ends = {"bin_lower": float(edges[i]), "bin_upper": float(edges[i + 1])}
    return {"statistic": "histogram"} | ends


def _numbers(
    value: float | None, error: float | None, lower: float | None, upper: float | None
) -> Row:
    return {
        name: None if number is None else float(number)
        for name, number in zip(NUMBERS, (value, error, lower, upper), strict=True)
    }
