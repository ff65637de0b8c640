"""A figure that notebooks show by themselves; this module needs matplotlib."""

from __future__ import annotations

import io

from inbounds._extra import optional

with optional():
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class ShownFigure(Figure):
    r"""A matplotlib figure that a notebook shows without ``%matplotlib inline``.

    With that command, matplotlib shows the picture instead, so it is never shown twice.

    Examples
    --------
    >>> ShownFigure(figsize=(1, 1))._repr_png_()[0][:4]
    b'\x89PNG'
    """

    def _repr_png_(self) -> tuple[bytes, dict[str, str]]:
        """Return the picture, and its description for readers who cannot see it."""
        picture = io.BytesIO()
        self.savefig(picture, format="png")
        return picture.getvalue(), {"alt": self.description()}

    def description(self) -> str:
        """Return a description in words: the titles, and what the axes show.

        Examples
        --------
        >>> figure = ShownFigure()
        >>> axes = figure.add_subplot(title="Error", xlabel="epsilon", ylabel="RMSE")
        >>> figure.description()
        'Figure. Error: RMSE against epsilon.'
        """
        parts = [self.get_suptitle() or "Figure", *filter(None, map(_described, self.axes))]
        return " ".join(f"{' '.join(part.split()).removesuffix('.')}." for part in parts)


def _described(axes: Axes) -> str:
    title, x, y = axes.get_title(), axes.get_xlabel(), axes.get_ylabel()
    shown = f"{y} against {x}" if x and y else x or y
    return ": ".join(filter(None, (title, shown)))
