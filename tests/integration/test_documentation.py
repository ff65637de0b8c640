"""The documentation site as a reader has it: built from nothing, opened in a browser, offline."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from bs4 import BeautifulSoup, SoupStrainer, Tag
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, ViewportSize

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(
    page.relative_to(DOCS).with_suffix(".html").as_posix()
    for page in DOCS.rglob("*.md")
    if "_build" not in page.parts
)
# One page of each kind: contents, prose with figures, docstrings, options, formulas, search.
KINDS = [
    "index.html",
    "tutorials/first-release.html",
    "how-to/index.html",
    "reference/mechanism.html",
    "reference/command-line.html",
    "proofs/box.html",
    "threat-model.html",
    "search.html",
]
UNFOLD = """document.querySelectorAll("details").forEach((e) => { e.open = true; })"""
# Formulas are KaTeX's own mark-up, which axe cannot read and takes long to walk through.
HIDE_FORMULAS = """document.querySelectorAll(".katex").forEach((e) => e.replaceWith("formula"))"""
LOOKS = [("dark", 1280), ("light", 390)]
SCREEN: ViewportSize = {"width": 1280, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 900}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = ["-m", "sphinx", "-q", "-W", "--keep-going", "-n", "-d", folder / "trees"]
    done = subprocess.run(
        [sys.executable, *command, DOCS, folder / "html"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder / "html"


@pytest.fixture(scope="module")
def articles(site: Path) -> dict[str, BeautifulSoup]:
    """The text of each page, read once, as that takes seconds."""
    pages = {page.relative_to(site).as_posix(): page for page in site.rglob("*.html")}
    only = SoupStrainer("article")
    return {
        name: BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser", parse_only=only)
        for name, page in pages.items()
    }


class Visit:
    """A page in a browser, with what it asked for and complained about."""

    def __init__(self, browser: Browser, theme: str = "light", width: int = 1280) -> None:
        self.context = browser.new_context(
            color_scheme=theme,
            viewport={"width": width, "height": 900},  # type: ignore[arg-type]
        )
        self.page: Page = self.context.new_page()
        self.problems: list[str] = []
        self.page.on("request", self._see)
        self.page.on("requestfailed", lambda request: self.problems.append(request.url))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("console", self._read)

    def _read(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.problems.append(message.text)

    def _see(self, request: Request) -> None:
        if not request.url.startswith(("file:", "data:")):
            self.problems.append(f"outside: {request.url}")


@pytest.fixture(scope="module")
def visit(browser: Browser) -> Iterator[Visit]:
    visit = Visit(browser)
    yield visit
    visit.context.close()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_opens_offline_with_its_formulas_and_figures_and_is_accessible(
    name: str, site: Path, visit: Visit
) -> None:
    """All that is looked at in one visit, since loading a page takes longest."""
    visit.page.goto("about:blank")  # axe may still read the style sheets of the last page
    visit.problems.clear()
    visit.page.goto((site / name).as_uri())
    assert visit.problems == []
    written = (site / name).read_text(encoding="utf-8").count('class="math"')
    assert visit.page.locator(".math .katex").count() == written
    assert visit.page.locator(".katex-error").count() == 0
    left = visit.page.evaluate(
        """() => { const copy = document.querySelector("article").cloneNode(true);
        copy.querySelectorAll("pre, code, .katex, .sig, strong").forEach((e) => e.remove());
        return (copy.textContent.match(/\\$[^$\\n]+\\$|\\\\[a-z]{2,}|\\*\\*\\S/g) || []); }"""
    )
    assert left == [], "mark-up that was not understood"
    shown = visit.page.evaluate(
        """() => [...document.querySelectorAll("article img")]
        .filter((image) => !(image.complete && image.naturalWidth) || !image.alt.trim())
        .map((image) => image.src)"""
    )
    assert shown == [], "pictures that are missing or have no words"
    assert not any(too_wide(visit.page))
    visit.page.set_viewport_size(PHONE)
    on_a_phone = too_wide(visit.page)
    visit.page.set_viewport_size(SCREEN)
    assert not any(on_a_phone), "the page or its text scrolls sideways on a phone"
    assert visit.problems == []  # before axe tries to read the style sheets
    assert_accessible(visit.page)


def too_wide(page: Page) -> list[bool]:
    """Whether the page, and the text in it, are wider than the window."""
    wide: list[bool] = page.evaluate(
        """() => [document.documentElement, document.querySelector("article")].map(
        (e) => (e ? e.scrollWidth - e.clientWidth : 0) > 4)"""
    )
    return wide


def assert_accessible(page: Page) -> None:
    page.evaluate(HIDE_FORMULAS)
    page.evaluate(UNFOLD)
    found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    assert [(rule["id"], [node["target"] for node in rule["nodes"]]) for rule in found] == []


def test_there_are_formulas(site: Path) -> None:
    pages = [(site / name).read_text(encoding="utf-8") for name in PAGES if "proofs/" in name]
    assert sum(page.count('class="math"') for page in pages) > 2000


@pytest.mark.parametrize(
    ("name", "theme", "width"),
    [(name, *look) for name in KINDS for look in LOOKS] + [("search.html", "light", 1280)],
)
def test_other_looks_of_a_page_are_accessible(
    name: str, theme: str, width: int, site: Path, browser: Browser
) -> None:
    visit = Visit(browser, theme, width)
    visit.page.goto((site / name).as_uri())
    problems = list(visit.problems)
    assert not too_wide(visit.page)[0]
    assert_accessible(visit.page)
    visit.context.close()
    assert problems == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_figures_are_drawn_for_the_theme(theme: str, site: Path, browser: Browser) -> None:
    visit = Visit(browser, theme)
    visit.page.goto((site / "tutorials/first-release.html").as_uri())
    shown = visit.page.locator("figure.drawn img:visible")
    assert shown.count() >= 1
    assert f"-{theme}.svg" in (shown.first.get_attribute("src") or "")
    assert visit.page.locator("figure.drawn figcaption:visible").count() == shown.count()
    visit.context.close()


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("sensitivity", "tutorials/"),
        ("BoundedGaussian", "reference/mechanism.html#inbounds.BoundedGaussian"),
        ("Window", "reference/mechanism.html#inbounds.Window"),
        ("median", "reference/frames.html#inbounds.frames.median"),
        ("delta", "tutorials/epsilon-or-delta.html"),
        ("glossary", "glossary.html"),
        ("overdraft", "ledger.html"),
    ],
)
def test_search_finds_first(words: str, page: str, site: Path, visit: Visit) -> None:
    assert page in addresses(words, site, visit)[0]


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("percentile", "reference/frames.html#inbounds.frames.quantile"),
        ("outlier", "tutorials/bounds-and-sensitivity.html"),
        ("clip", "tutorials/bounds-and-sensitivity.html"),
        ("license", "how-to/install.html"),
        ("gdpr", "how-to/for-stakeholders.html"),
        ("sum", "reference/frames.html#inbounds.frames.total"),
        ("average", "reference/frames.html#inbounds.frames.mean"),
        ("standard deviation", "reference/frames.html#inbounds.frames.variance"),
        ("missing values", "how-to/errors-explained.html#nan-infinities-and-nulls"),
        ("missing values", "tutorials/table-by-group.html#codes-for-missing-values"),
        ("NaN", "how-to/errors-explained.html#nan-infinities-and-nulls"),
        ("null", "how-to/errors-explained.html#nan-infinities-and-nulls"),
    ],
)
def test_search_knows_the_words_of_others(words: str, page: str, site: Path, visit: Visit) -> None:
    assert any(page in link for link in addresses(words, site, visit)[:3])


def addresses(words: str, site: Path, visit: Visit) -> list[str]:
    """The addresses that a search finds, in its order."""
    visit.problems.clear()
    visit.page.goto((site / "search.html").as_uri() + f"?q={words.replace(' ', '+')}")
    # Results come one by one; this line counts them at the end.
    visit.page.locator(".search-summary", has_text="found").wait_for()
    assert visit.problems == []
    links: list[str] = visit.page.locator("#search-results li a").evaluate_all(
        "all => all.map((a) => a.href)"
    )
    return links


@pytest.mark.parametrize("name", ["threat-model.html", "paper-notes.html"])
def test_tests_are_folded_away_and_opened_by_the_keyboard(
    name: str, site: Path, browser: Browser
) -> None:
    visit = Visit(browser, width=390)
    visit.page.goto((site / name).as_uri())
    named = re.findall(r"::test_\w+`", (DOCS / name).with_suffix(".md").read_text("utf-8"))
    tests = visit.page.locator("details.folded li")
    last = 1 if name == "paper-notes.html" else 0  # it names one more test in its text
    assert tests.count() == len(named) - last > 25
    assert not tests.first.is_visible()
    assert visit.page.evaluate("document.documentElement.scrollHeight") < 25_000
    visit.page.locator("details.folded summary").first.focus()
    visit.page.keyboard.press("Enter")
    assert tests.first.is_visible()
    visit.context.close()


def test_a_wide_formula_shows_that_it_scrolls(site: Path, browser: Browser) -> None:
    visit = Visit(browser, width=390)
    visit.page.goto((site / "explanation/bounded-gaussian.html").as_uri())
    images, wide = visit.page.locator("div.math").first.evaluate(
        "e => [getComputedStyle(e).backgroundImage, e.scrollWidth > e.clientWidth]"
    )
    assert wide
    assert images.count("gradient") == 4  # two shadows, and two covers at the ends
    visit.context.close()


def test_theorems_and_public_names_link_to_each_other(articles: dict[str, BeautifulSoup]) -> None:
    """`tests/unit/test_proofs.py` compares the sources; these are the links that a reader sees."""
    there, back = set(), set()
    for page, article in articles.items():
        if not page.startswith("proofs/"):
            continue
        for paragraph in article.find_all("p"):
            assert "inbounds." not in without_links(paragraph) or not is_used_by(paragraph)
            theorem = f"{page.rpartition('/')[2]}#{paragraph.find_parent('section')['id']}"
            for link in paragraph.find_all("a", href=re.compile("/reference/")):
                assert link.get_text() == link["href"].partition("#")[2], "the public name"
                there |= {(theorem, link.get_text())} if is_used_by(paragraph) else set()
    for page, article in articles.items():
        if not page.startswith("reference/"):
            continue
        for link in article.find_all("a", href=re.compile(r"/proofs/.*#theorem-\d+$")):
            described = link.find_parent("dl", class_="py")
            if described is not None:
                name = described.find("dt", id=True)["id"]
                back.add((link["href"].rpartition("/")[2], name))
    assert len(there) > 250
    assert there == back


def is_used_by(paragraph: Tag) -> bool:
    return paragraph.get_text().startswith("Used by:")


def without_links(paragraph: Tag) -> str:
    return "".join(text for text in paragraph.strings if text.find_parent("a") is None)


def test_links_show_titles_and_not_the_names_of_files(articles: dict[str, BeautifulSoup]) -> None:
    for page, article in articles.items():
        links = article.find_all("a")
        assert [link for link in links if re.search(r"\w\.md\b", link.get_text())] == [], page


def test_names_in_docstrings_are_links(site: Path) -> None:
    frames = (site / "reference/frames.html").read_text(encoding="utf-8")
    assert frames.count('href="#inbounds.frames.quantile"') > 1  # beyond the table of contents


def test_figures_are_narrow_on_a_phone(site: Path, browser: Browser) -> None:
    visit = Visit(browser, width=390)
    visit.page.goto((site / "tutorials/first-release.html").as_uri())
    image = visit.page.locator("figure.drawn img:visible").first
    assert "-light-narrow.svg" in image.evaluate("image => image.currentSrc")
    assert image.evaluate("image => image.getBoundingClientRect().right <= window.innerWidth")
    visit.context.close()


def test_an_index_does_not_scroll_sideways_on_a_phone(site: Path, browser: Browser) -> None:
    visit = Visit(browser, width=390)
    for name in ("genindex.html", "search.html"):
        visit.page.goto((site / name).as_uri())
        assert not any(too_wide(visit.page)), name
    visit.context.close()


def test_lists_of_results_are_sentences(site: Path) -> None:
    """A docstring whose results have no type would become a list of its lines."""
    for page in (site / "reference").glob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert re.findall(r"Returns<.*</dt>\s*<dd[^>]*>(?:<p>)?<ul", text) == [], page.name


def test_every_public_name_is_in_the_reference(site: Path) -> None:
    reference = "".join(
        page.read_text(encoding="utf-8") for page in (site / "reference").glob("*.html")
    )
    described = set(re.findall(r'id="(inbounds\.[\w.]+)"', reference))
    public = {f"inbounds.{name}" for name in import_module("inbounds").__all__}
    for part in ("frames", "plots", "queries", "sklearn"):
        names = import_module(f"inbounds.{part}").__all__
        public |= {f"inbounds.{part}.{n}" for n in names if f"inbounds.{n}" not in public}
    public -= {"inbounds.queries.graph"}  # a module, whose functions are described
    assert public <= described
    mechanism: Any = import_module("inbounds").Mechanism
    methods = {f"inbounds.Mechanism.{name}" for name in dir(mechanism) if name[0] != "_"}
    fields = {"domain", "sensitivity"}  # parameters of the constructor
    assert {name for name in methods if name.rpartition(".")[2] not in fields} <= described


def test_every_command_is_in_the_reference(site: Path) -> None:
    page = (site / "reference/command-line.html").read_text(encoding="utf-8")
    assert {"inbounds-calibrate", "inbounds-ledger-open", "inbounds-reproduce-table1"} <= set(
        re.findall(r'<section id="([\w-]+)"', page)
    )
    assert "--sensitivity NUMBER" in re.sub(r"<[^>]+>", "", page)


def test_a_wrong_formula_stops_the_build(tmp_path: Path) -> None:
    source = tmp_path / "docs"
    shutil.copytree(DOCS / "_ext", source / "_ext")
    shutil.copytree(DOCS / "_static", source / "_static")
    shutil.copy(DOCS / "conf.py", source)
    (source / "index.md").write_text("# Title\n\n$\\fraction{1}{2}$\n", encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", source, tmp_path / "html"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "a formula cannot be rendered" in done.stderr
