"""What a notebook shows: it is executed by a real kernel, and its outputs are looked at."""

import base64
import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest

import inbounds

SECRET = "271828.1828"
SCRIPT = "<script>alert(1)</script>"
SETUP = f"""
import sys, warnings
assert sys.executable == {sys.executable!r}
import numpy as np, pandas as pd, polars as pl
import inbounds as ib
from inbounds.analysis.regimes import regimes
from inbounds.analysis.overview import table1_table
from inbounds.analysis.reproduction import figure1, table1
from inbounds.frames.central.statistic import count, mean
from inbounds.queries.query import Query
warnings.simplefilter("error")
secret = {SECRET}
box = ib.Box(0, 1_000_000)
m = ib.BoundedGaussian.calibrated(box, 1000, epsilon=1.0)
column = pd.DataFrame({{"pay": [secret] * 50, "town": ["{SCRIPT}", "Ulm"] * 25}})
summary = dict(by="town", groups=["{SCRIPT}", "Ulm"], rho=0.5)
checked = ib.audit(m, releases=2000)
behind = ib.deconvolve(m.release([secret] * 200), m, bootstrap=20)
ledger = ib.Ledger("budget.db")
ledger.open("{SCRIPT}", epsilon=3.0)
ledger.release(m, secret, dataset="{SCRIPT}", label="{SCRIPT}")
"""
TABLES = {
    "mechanism": "m",
    "mechanism of several": "ib.BoundedLaplace(ib.Box([0, 1], [10, 9]), ib.L1(2), scale=3.0)",
    "certificate": "m.certificate()",
    "comparison": "ib.compare(box, 1000, epsilon=1.0)",
    "loss": "m.loss()",
    "unit": "ib.Unit('replace', 'person')",
    "composition": "ib.compose([(m, 100)])",
    "audit": "checked",
    "deconvolution": "behind",
    "regimes": "regimes(delta=0.0, fractions=[0.01, 1.0], epsilons=[0.1, 1.0])",
    "table 1": "table1_table(table1())",
    "query": f"Query('{SCRIPT}', secret, box, 1000)",
    "ledger": "ledger",
    "amount": f"ledger.remaining('{SCRIPT}')",
}
FRAMES = {
    "history": f"ledger.history('{SCRIPT}')",
    "pandas summary": "ib.summarize(column, [count(), mean('pay', 0, 1e6)], **summary)",
    "Polars summary": "ib.summarize(pl.from_pandas(column), [mean('pay', 0, 1e6)], **summary)",
}
PLAIN = {
    "missing ledger": "ib.Ledger('missing.db')",
    "printed audit": "print(checked)",
    "printed composition": "print(ib.compose([(m, 100)]))",
}
FIGURES = {
    "comparison figure": "ib.compare(box, 1000, epsilon=1.0).plot()",
    "audit figure": "checked.plot()",
    "deconvolution figure": "behind.plot()",
    "figure 1": "figure1([0.5, 1.0]).plot()",
    "figure under inline": "%matplotlib inline\nchecked.plot()",
}


class Page(HTMLParser):
    """The tags of a page, which must all be closed, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[nbformat.NotebookNode]]:
    """Execute one notebook with the interpreter under test, in an empty home."""
    home = tmp_path_factory.mktemp("home")
    kept = ("PATH", "LANG", "LD_LIBRARY_PATH")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    environment |= {"HOME": str(home), "PYTHONPATH": str(Path(inbounds.__file__).parents[1])}
    named = {"setup": SETUP} | TABLES | FRAMES | PLAIN | FIGURES
    cells = [nbformat.v4.new_code_cell(source) for source in named.values()]
    path = home / "shown.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    execute = "from nbclient.cli import main; main()"  # as `jupyter execute` does
    command = [sys.executable, "-c", execute, "--inplace", "--timeout=120", path.name]
    subprocess.run(command, cwd=home, env=environment, check=True, capture_output=True, timeout=300)
    executed = nbformat.read(path, as_version=4)
    return {name: cell.outputs for name, cell in zip(named, executed.cells, strict=True)}


def only(found: list[nbformat.NotebookNode]) -> nbformat.NotebookNode:
    (output,) = found
    assert output.output_type == "execute_result"
    return output


@pytest.mark.parametrize("name", TABLES)
def test_an_object_is_shown_as_an_accessible_table(outputs, name):
    data = only(outputs[name]).data
    page = Page(data["text/html"])
    tags = [tag for tag, _ in page.tags]
    assert tags.count("table") == tags.count("caption") == 1
    assert {attrs.get("scope") for tag, attrs in page.tags if tag == "th"} <= {"row", "col"}
    assert "row" in {attrs.get("scope") for tag, attrs in page.tags if tag == "th"}
    assert not {"script", "style", "link", "img"} & set(tags)
    assert data["text/plain"]


@pytest.mark.parametrize("name", ["query", "ledger", *FRAMES])
def test_a_hostile_name_is_shown_as_text(outputs, name):
    page = Page(only(outputs[name]).data["text/html"].replace("<br>", ""))
    assert SCRIPT in page.text
    assert "script" not in [tag for tag, _ in page.tags]


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_shown_once(outputs, name):
    output = only(outputs[name])
    assert base64.b64decode(output.data["image/png"]).startswith(b"\x89PNG\r\n\x1a\n")
    assert "text/html" not in output.data


def test_a_figure_has_a_text_alternative(outputs):
    described = only(outputs["audit figure"]).metadata["image/png"]["alt"]
    assert len(described) > 20


def test_a_ledger_that_is_not_there_yet_is_shown_by_name(outputs):
    data = only(outputs["missing ledger"]).data
    assert list(data) == ["text/plain"]
    assert data["text/plain"].endswith("missing.db')")


@pytest.mark.parametrize("name", ["printed audit", "printed composition"])
def test_what_is_printed_is_a_table_of_text(outputs, name):
    (output,) = outputs[name]
    assert output.name == "stdout"
    assert "─────" in output.text


def test_no_output_holds_a_private_value(outputs):
    shown = str(outputs)
    assert len(shown) > 10_000
    for private in (SECRET, SECRET[:-2], "271_828", "271,828.18"):
        assert private not in shown
