"""The rows of a summary: estimates, and what they are of, in a frame of the user's kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from inbounds._types import Floats
from inbounds.errors import ArgumentError
from inbounds.frames.binding import BoundTable
from inbounds.frames.central.drawing import Drawing
from inbounds.frames.central.estimate import Estimate, Released
from inbounds.frames.central.moment import Moment, moments
from inbounds.frames.central.noise import Noise
from inbounds.frames.central.quantile import Quantile
from inbounds.frames.central.request import MECHANISM, NAMES, Request
from inbounds.frames.native import NUMBERS, native_frame, of_one_type
from inbounds.frames.silence import in_our_words


@dataclass(frozen=True, slots=True)
class Summary:
    """How the outputs of one request are read and written.

    Attributes
    ----------
    table, request
        A table of the user's engine, and what was asked.
    moments, size, noise
        The moments that are released, the size of a group, and the noise; None without moments.
    drawing
        The quantiles.
    """

    table: BoundTable
    request: Request
    moments: Sequence[Moment]
    size: int
    noise: Noise | None
    drawing: Drawing

    def trial(self) -> Any:
        """Return a summary without data, which fails if the real one would."""
        groups = len(self.request.groups)
        middle = np.empty((groups, 0)) if self.noise is None else self.noise.middle(groups)
        return self.written(middle, self.drawing.trial(groups))

    def written(self, outputs: Floats, drawn: Sequence[Sequence[Estimate]]) -> Any:
        """Return the summary of outputs and of what was drawn, in a frame of the user's kind."""
        request, estimates = self.request, list(self._estimates(outputs, drawn))
        rows = [
            dict(zip(request.by, key, strict=True)) | about | estimate.numbers(group)
            for group, key in enumerate(request.groups)
            for about, estimate in estimates
        ]
        added = (*request.by, *NAMES, *NUMBERS, MECHANISM)
        names = [name for name in added if any(name in row for row in rows)]
        columns = {name: [row.get(name) for row in rows] for name in names}
        if "level" in columns:
            columns["level"] = of_one_type(columns["level"])
        return in_our_words(
            lambda: native_frame(self.table, columns),
            lambda _: ArgumentError.must("groups", "hold integers that fit in 64 bits"),
            OverflowError,
            TypeError,
        )

    def _estimates(
        self, outputs: Floats, drawn: Sequence[Sequence[Estimate]]
    ) -> Iterator[tuple[dict[str, Any], Estimate]]:
        """Yield what tells the rows of a group apart, and their estimates for all groups."""
        request, plans = self.request, iter(zip(self.drawing.plans, drawn, strict=True))
        outputs = np.reshape(outputs, (len(request.groups), -1)) if self.moments else outputs
        public = request.sizes_public
        released = Released(self.noise, outputs, self.moments, self.size, sizes_public=public)
        of_sums = None if self.noise is None else type(self.noise.mechanism).__name__
        for statistic in request.statistics:
            if isinstance(statistic, Quantile):
                plan, estimates = next(plans)
                name: str | None = plan.mechanism
            else:
                needs_noise = bool(moments([statistic], sizes_public=public))
                name, estimates = of_sums if needs_noise else None, statistic.estimate(released)
            about = {
                "statistic": statistic.kind,
                "column": statistic.column if statistic.has_column else None,
            }
            for label, estimate in zip(statistic.labels, estimates, strict=True):
                yield {**about, **label, MECHANISM: name}, estimate
