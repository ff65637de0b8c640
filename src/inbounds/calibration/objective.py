"""What a mechanism is the best for."""

from typing import Literal

Objective = Literal["average", "worst", "unbiased"]
"""The squared error averaged over all values, that at the worst value, or the average variance of
an unbiased reading."""

OBJECTIVES: tuple[Objective, ...] = ("average", "worst", "unbiased")
