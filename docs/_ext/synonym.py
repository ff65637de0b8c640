"""Words that readers search for and pages do not use, or use everywhere.

They become entries of the index, which the search counts as much as titles. A place is a page, or
a page and an anchor on it.
"""

from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.errors import ConfigError
from sphinx.transforms import SphinxTransform

_FRAMES = "reference/frames#inbounds.frames."
_BOUNDS = "tutorials/bounds-and-sensitivity"
_NULLS = "how-to/errors-explained#nan-infinities-and-nulls"
_PLACES = {
    "average": (f"{_FRAMES}mean",),
    "bin, bar chart": (f"{_FRAMES}histogram",),
    "clip, clipping, clamp, winsorize, top-coding": (_BOUNDS, "tutorials/which-mechanism"),
    "exponential mechanism": (f"{_FRAMES}quantile",),
    "gdpr, hipaa, law, legal, compliance, personal data": ("how-to/for-stakeholders",),
    "geometric mechanism": ("how-to/whole-numbers-and-categories",),
    "group by, groupby": ("tutorials/table-by-group",),
    "integer, boolean": ("how-to/whole-numbers-and-categories",),
    "license, licence, mit, pip, conda, requirements": ("how-to/install",),
    "local differential privacy": ("tutorials/private-column",),
    "missing values, missing data, missing, nan, null, na, none, fillna, infinity": (
        _NULLS,
        "tutorials/table-by-group#codes-for-missing-values",
    ),
    "outlier, outliers, extreme values, range": (_BOUNDS,),
    "percentile, quartile, percentiles, quartiles": (f"{_FRAMES}quantile",),
    "postgres": ("how-to/team-ledger",),
    "privacy budget, query limit": ("tutorials/budget-for-a-year",),
    "privacy loss, privacy parameter": ("tutorials/first-release",),
    "randomized response, categorical": ("reference/mechanism#inbounds.RandomizedResponse",),
    "seed, reproducible, random state": ("threat-model#what-is-not-promised",),
    "standard deviation, std": (f"{_FRAMES}variance",),
    "sum, addition": (f"{_FRAMES}total",),
    "truncate, truncated": ("tutorials/which-mechanism", "explanation/bounded-gaussian"),
    "zcdp, renyi, gdp, pld": ("tutorials/epsilon-or-delta",),
}


def _entries(page: str) -> list[tuple[str, str]]:
    """Return the words that lead to a page, each with its anchor."""
    return [
        (word, anchor)
        for words, places in _PLACES.items()
        for name, _, anchor in (place.partition("#") for place in places)
        if name == page
        for word in words.split(", ")
    ]


class _Words(SphinxTransform):
    """Put the words of a page into its index, before Sphinx reads that."""

    default_priority = 800

    def apply(self, **_options: Any) -> None:
        for word, anchor in _entries(self.env.docname):
            entry = ("single", word, anchor, "main", None)
            self.document.insert(0, addnodes.index(entries=[entry]))


def _check(app: Sphinx, document: nodes.document, page: str) -> None:
    """Refuse an anchor that is not on its page."""
    anchors = {anchor for node in document.findall(nodes.Element) for anchor in node.get("ids", [])}
    for word, anchor in _entries(page):
        if anchor and anchor not in anchors:
            raise ConfigError(f"docs/_ext/synonym.py: {word} leads to {page}#{anchor}, not there")


def _check_pages(_app: Sphinx, env: Any) -> None:
    named = {place.partition("#")[0] for places in _PLACES.values() for place in places}
    if len(env.found_docs) > 1 and (absent := named - env.found_docs):  # not a page for a test
        raise ConfigError(f"docs/_ext/synonym.py: there are no pages {sorted(absent)}")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the words."""
    app.add_transform(_Words)
    app.connect("env-updated", _check_pages)
    app.connect("doctree-resolved", _check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
