"""Data frames: every person's values replaced by private ones, or statistics of them all.

>>> from inbounds.frames import count, mean
>>> mean("age", 0, 120)
mean('age', 0, 120)
"""

from inbounds.frames.statistic import count, histogram, mean, total, variance

__all__ = ["count", "histogram", "mean", "total", "variance"]
