"""Privacy for data frames: `privatize` replaces every value, `summarize` releases statistics.

`find_groups` finds groups to summarize, `plot_summary` draws what `summarize` returned, and
`estimate` reads private columns back.

>>> from inbounds.frames import count, mean
>>> [count(), mean("age", 0, 120)]
[count(), mean('age', 0, 120)]
"""

from typing import TYPE_CHECKING

from inbounds._lazy import loader
from inbounds.frames.central.level import categories, proportion
from inbounds.frames.central.quantile import median, quantile
from inbounds.frames.central.statistic import count, histogram, mean, total, variance

if TYPE_CHECKING:
    from inbounds.frames.central.find_groups import find_groups
    from inbounds.frames.central.picture import plot_summary
    from inbounds.frames.central.summarize import summarize
    from inbounds.frames.local.privatize import privatize
    from inbounds.frames.reading.estimate import estimate

__all__ = [
    "categories",
    "count",
    "estimate",
    "find_groups",
    "histogram",
    "mean",
    "median",
    "plot_summary",
    "privatize",
    "proportion",
    "quantile",
    "summarize",
    "total",
    "variance",
]

if not TYPE_CHECKING:  # they need optional packages
    __getattr__ = loader(
        __name__,
        {
            "inbounds.frames.central.find_groups": ["find_groups"],
            "inbounds.frames.central.picture": ["plot_summary"],
            "inbounds.frames.central.summarize": ["summarize"],
            "inbounds.frames.local.privatize": ["privatize"],
            "inbounds.frames.reading.estimate": ["estimate"],
        },
    )
