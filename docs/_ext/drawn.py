"""A figure that is drawn when the site is built, for light pages and dark ones, wide and narrow.

`docs/figures/NAME.py` has a function `draw` that returns a matplotlib figure. If it has a function
`draw_narrow` as well, that is for phones; otherwise the figure is made narrower.
"""

import importlib.util
from pathlib import Path
from typing import Any

import matplotlib as mpl
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

_FIGURES = Path(__file__).parents[1] / "figures"
_NARROW, _LOWER = 4.2, 0.9  # inches, and of the height, on a phone, where letters must not shrink
_INK = {"light": "#22272e", "dark": "#ced6dd"}
_PAPER = {"light": "#ffffff", "dark": "#14181e"}
_GRID = {"light": "#e3e3e3", "dark": "#3b424b"}
# Told apart in grey, and in contrast with both backgrounds.
_LINES = {
    "light": ["#1f4e79", "#c46a00", "#1e8449", "#b03a2e", "#7a5195", "#5f6a72"],
    "dark": ["#7fb8e6", "#f2b266", "#7dcea0", "#e6867a", "#c5a3dd", "#aab4bd"],
}


def look(theme: str) -> dict[str, Any]:
    """Return the settings of matplotlib for light or dark pages."""
    ink, paper = _INK[theme], _PAPER[theme]
    inked = ["axes.edgecolor", "axes.labelcolor", "text.color", "xtick.color", "ytick.color"]
    return {
        **dict.fromkeys(inked, ink),
        **dict.fromkeys(["figure.facecolor", "axes.facecolor", "savefig.facecolor"], "none"),
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.prop_cycle": mpl.cycler(color=_LINES[theme]),
        "axes.spines.right": False,
        "axes.spines.top": False,
        "font.size": 10,
        "grid.color": _GRID[theme],
        "grid.linewidth": 0.6,
        "legend.edgecolor": _GRID[theme],
        "legend.facecolor": paper,
        "svg.fonttype": "path",
        "svg.hashsalt": "inbounds",
    }


def draw(name: str, theme: str, folder: Path) -> None:
    """Draw a figure into two files: one for wide pages, and one for phones."""
    spec = importlib.util.spec_from_file_location(f"figure_{name}", _FIGURES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with mpl.rc_context(look(theme)):
        spec.loader.exec_module(module)
        figure = module.draw()
        figure.savefig(folder / f"{name}-{theme}.svg", metadata={"Date": None})
        if hasattr(module, "draw_narrow"):
            figure = module.draw_narrow()
        else:
            _narrow(figure)
        figure.savefig(folder / f"{name}-{theme}-narrow.svg", metadata={"Date": None})


def _narrow(figure: Any) -> None:
    """Make a figure fit a phone: narrower, with legends in one column and labels that fit."""
    figure.set_size_inches(_NARROW, _LOWER * figure.get_figheight())
    for axes in figure.axes:
        if axes.get_legend() is not None and axes.get_legend()._ncols > 1:  # above, in one column
            above = {"loc": "lower center", "bbox_to_anchor": (0.5, 1)}
            axes.legend(*axes.get_legend_handles_labels(), frameon=False, **above)
        if axes.get_subplotspec().get_gridspec().ncols == 1:
            axes.xaxis.label.set_x(1)
            axes.xaxis.label.set_horizontalalignment("right")


class Drawn(SphinxDirective):
    """The figure, its caption, and words for those who cannot see it."""

    required_arguments = 1
    has_content = True
    option_spec = {"alt": directives.unchanged_required}  # noqa: RUF012 - as docutils has it

    def run(self) -> list[nodes.Node]:
        """Draw, and return the figure."""
        name = self.arguments[0]
        if "alt" not in self.options:
            raise self.error(f"the figure {name} needs :alt:, words for those who cannot see it")
        module = _FIGURES / f"{name}.py"
        if not module.is_file():
            raise self.error(f"there is no docs/figures/{name}.py")
        self.env.note_dependency(str(module))
        if (measured := _FIGURES.parent / f"{name}.json").is_file():
            self.env.note_dependency(str(measured))
        folder = Path(self.env.app.outdir) / "_images"
        folder.mkdir(parents=True, exist_ok=True)
        words = self.options["alt"].translate(_QUOTED)
        images = []
        for theme in ("light", "dark"):
            draw(name, theme, folder)
            source = f"{self._up()}_images/{name}-{theme}"
            images.append(
                f'<picture class="only-{theme}">'
                f'<source media="(max-width: 40rem)" srcset="{source}-narrow.svg">'
                f'<img src="{source}.svg" alt="{words}"></picture>'
            )
        figure = nodes.figure(classes=["drawn"])
        # In an element of their own: the theme would hide the caption beside a hidden picture.
        figure += nodes.raw("", f"<div>{''.join(images)}</div>", format="html")
        caption = nodes.caption()
        self.state.nested_parse(self.content, self.content_offset, container := nodes.Element())
        for paragraph in container.children:
            caption += paragraph.children
        figure += caption
        return [figure]

    def _up(self) -> str:
        return "../" * self.env.docname.count("/")


_QUOTED = str.maketrans({"&": "&amp;", '"': "&quot;", "<": "&lt;", ">": "&gt;"})


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("drawn", Drawn)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
