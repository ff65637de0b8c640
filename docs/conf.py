"""How Sphinx builds the documentation site: `make docs`."""

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import inbounds

project = "inbounds"
author = "The inbounds authors"
version = release = inbounds.__version__
language = "en"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "command_line",
    "drawn",
    "katex",
    "synonym",
    "tests_of",
    "theorem",
]
exclude_patterns = ["_build"]
source_suffix = {".md": "markdown"}
nitpicky = True
# Names of other packages have no page here, and the site is built without a network. Types that
# only signatures name are explained by the words of their docstrings.
nitpick_ignore_regex = [
    (r"py:.*", r"(?!inbounds\.).*"),
    (r"py:.*", r"inbounds\.(?!frames\.|plots\.|queries\.|sklearn\.)[a-z_]+\..*"),
    (r"py:class", r"inbounds\.(frames|queries)\..*"),  # the types behind their functions
    (
        r"py:obj",
        r"inbounds\.(frames|plots|queries|sklearn)",
    ),  # modules, each with a page of its own
]

myst_enable_extensions = ["attrs_block", "attrs_inline", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_heading_slug_func = "theorem.slug"

autodoc_member_order = "groupwise"
autodoc_typehints = "none"  # docstrings say them in words; those of overloads fill whole screens
default_role = "py:obj"
toc_object_entries_show_parents = "hide"
python_use_unqualified_type_names = True
napoleon_google_docstring = False
napoleon_custom_sections = ["Guarantees"]
napoleon_use_rtype = False

html_math_renderer = "katex"
html_theme = "pydata_sphinx_theme"
html_title = "inbounds"
html_static_path = ["_static"]
html_context = {"default_mode": "auto"}  # as the reader's system; the theme has no valid default
copybutton_selector = (
    "div:not(.highlight-text) > div.highlight > pre"  # what is printed is not typed
)
html_css_files = ["inbounds.css"]
html_copy_source = html_show_sourcelink = False
html_search_scorer = str(Path(__file__).parent / "_ext" / "scorer.js")
html_show_search_summary = False  # a browser fetches no other page of file://
html_theme_options = {
    "footer_start": ["copyright"],
    "footer_end": [],
    "navbar_end": ["theme-switcher"],
    "navigation_with_keys": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "secondary_sidebar_items": ["page-toc"],
    "show_nav_level": 2,
    "show_toc_level": 2,
    "show_prev_next": True,
}
copyright = "the inbounds authors, MIT licence"


def _public_signature(*event: Any) -> tuple[str, str] | None:
    """Leave out what a class passes to itself, and how a default is made."""
    *_, signature, returned = event
    if not signature:
        return None
    return re.sub(r", _\w+=[^,)]*", "", signature).replace("=<factory>", "=..."), returned


def setup(app: Any) -> None:
    """Tell Sphinx what changes signatures."""
    app.connect("autodoc-process-signature", _public_signature)
