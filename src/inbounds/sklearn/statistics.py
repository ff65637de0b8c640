"""Statistics of all features in one release, for estimators that learn nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inbounds._extra import optional
from inbounds._types import Floats
from inbounds.frames.central.statistic import Statistic
from inbounds.sklearn.charge import label_of

with optional():
    from inbounds.frames.central.summarize import summarize


def release_statistics(
    estimator: Any, numbers: Floats, statistics: Sequence[Statistic], about: str
) -> Any:
    """Return the summary of an array, released at the guarantee that an estimator has.

    Parameters
    ----------
    estimator
        Has the keywords of `summarize` from ``epsilon`` to ``label`` as attributes.
    numbers, statistics
        A two-dimensional array, and statistics of its columns by their index.
    about
        What is released, for the label of a charge.
    """
    return summarize(
        numbers,
        statistics,
        epsilon=estimator.epsilon,
        delta=estimator.delta,
        rho=estimator.rho,
        adjacency=estimator.adjacency,
        size=estimator.size,
        ledger=estimator.ledger,
        dataset=estimator.dataset,
        label=label_of(estimator, about),
    )
