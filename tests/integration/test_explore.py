"""The page of `inbounds explore` as people use it: the real server in a real browser, offline."""

import csv
import http.server
import io
import itertools
import json
import math
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote, unquote
from xml.etree import ElementTree as ET

import pyarrow as pa
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    FileChooser,
    FilePayload,
    Locator,
    Page,
    Request,
    Route,
)
from pyarrow import parquet

import inbounds as ib
from inbounds.cli.explore.keys import proof

AGES = [str(20 + k % 60) for k in range(200)]
TOWNS = ["Ulm", "Rom"]
HOSTILE = "<img src=x onerror=alert(1)>"


class Server:
    """`inbounds explore` as a process, with a ledger of its own."""

    def __init__(self, folder: Path) -> None:
        self.ledger = folder / "budget.db"
        ib.Ledger(self.ledger).open("survey", epsilon=3.0, unit=ib.Unit("replace", "row"))
        command = [*self.command("explore"), "--no-browser", "--port", "0"]
        self.process = subprocess.Popen(
            [*command, "--ledger", str(self.ledger)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        self.origin, self.token = self.address.split("/#token=")

    @staticmethod
    def command(*words: str) -> list[str]:
        return [sys.executable, "-m", "inbounds", *words]

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(20)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def charges(self) -> list[str]:
        return [charge["label"] for charge in ib.Ledger(self.ledger).records("survey")]


class Visit:
    """A page in a browser, with what it complained about and asked of others."""

    def __init__(self, browser: Browser, server: Server, **look: Any) -> None:
        width, theme = look.get("width", 1280), look.get("theme", "light")
        self.server = server
        self.context = browser.new_context(
            color_scheme=theme,
            viewport={"width": width, "height": 900},
            reduced_motion="reduce",
            permissions=["clipboard-read", "clipboard-write"],
        )
        self.context.set_default_timeout(15_000)
        self.page: Page = self.context.new_page()
        self.problems: list[str] = []
        self.page.on("request", self._see_request)
        self.page.on("console", self._see_message)
        self.page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))

    def _see_request(self, request: Request) -> None:
        if not request.url.startswith((f"{self.server.origin}/", "blob:", "data:")):
            self.problems.append(f"outside: {request.url}")

    def _see_message(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.problems.append(f"console: {message.text}")

    def open(self, after: str = "") -> Page:
        self.page.goto(self.server.address + after)
        self.shown()
        return self.page

    def shown(self) -> None:
        """Wait until the page is about the question that is asked, except for the comparison."""
        self.page.locator("main:not([data-state=computing])").wait_for()

    def settled(self) -> None:
        """Wait for the comparison, too."""
        self.page.locator("main[data-state=settled]").wait_for()

    def box(self, name: str) -> Locator:
        return self.page.get_by_role("textbox", name=name, exact=True).and_(
            self.page.locator(":visible")
        )

    def set(self, name: str, text: str) -> None:
        self.box(name).first.fill(text)
        self.shown()

    def fact(self, name: str) -> str:
        found = self.page.locator("dl.facts > div", has=self.page.get_by_text(name, exact=True))
        return found.locator("dd").inner_text()

    def number(self, name: str) -> float:
        return read(self.fact(name))


def read(text: str) -> float:
    """Return a number as the page writes it."""
    raised = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻−", "0123456789--")
    plain = re.sub(r"(?:(.*) × )?10([⁰-⁹¹²³⁻]+)$", lambda m: f"{m[1] or 1}e{m[2]}", text)
    return float(plain.translate(raised).replace(",", "").removesuffix(" %"))


def ends(text: str) -> list[float]:
    return [read(end) for end in text.split(" to ")]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    started = Server(tmp_path_factory.mktemp("explore"))
    yield started
    started.stop()


@pytest.fixture
def visit(browser: Browser, server: Server) -> Iterator[Visit]:
    """A page that must complain about nothing and ask nobody else."""
    visit = Visit(browser, server)
    yield visit
    visit.context.close()
    assert visit.problems == []


def people() -> FilePayload:
    lines = [f"{age},{TOWNS[k % 2]}" for k, age in enumerate(AGES)]
    return {
        "name": "people.csv",
        "mimeType": "text/csv",
        "buffer": "\n".join(["age,town", *lines, ""]).encode(),
    }


def choose(page: Page, file: FilePayload) -> None:
    page.locator("input[type=file]").set_input_files(file)
    page.locator(".chosen", has_text=str(file["name"])).wait_for()


def pick_age(visit: Visit, epsilon: str = "0.5") -> None:
    page = visit.page
    page.locator(".form-rows").get_by_role("checkbox", name="age").check()
    picked = page.locator(".form-rows .picked:visible")
    for name, text in (("Smallest", "0"), ("Largest", "120"), ("Step", "1"), ("ε", epsilon)):
        picked.get_by_role("textbox", name=name, exact=True).fill(text)
    page.locator(".previews .multiples .quiet").first.wait_for()  # it moves what is below it


def test_the_value_is_dragged_and_moved_by_keys(visit: Visit) -> None:
    page = visit.open()
    handle = page.get_by_role("slider", name="True value, made up")
    chart = page.locator("#density svg.drawing").bounding_box()
    knob = handle.locator("circle").bounding_box()
    assert chart is not None
    assert knob is not None
    before = visit.fact("95 % of outputs are in")
    page.mouse.move(knob["x"] + 9, knob["y"] + 9)
    page.mouse.down()
    page.mouse.move(chart["x"] + 0.3 * chart["width"], knob["y"], steps=12)
    page.mouse.up()
    visit.shown()
    value = read(str(handle.get_attribute("aria-valuenow")))
    assert 20 < value < 40
    assert visit.box("True value (made up)").input_value() == f"{value:g}"
    assert visit.fact("95 % of outputs are in") != before
    keys = [("ArrowRight", value + 1.2), ("PageDown", value - 10.8), ("End", 120), ("Home", 0)]
    for key, expected in keys:
        page.keyboard.press(key)
        visit.shown()
        assert math.isclose(
            float(str(handle.get_attribute("aria-valuenow"))), expected, abs_tol=1e-9
        )
        assert handle.get_attribute("aria-valuetext") == f"true value {expected:.4g}"
    m = ib.calibrate(ib.Box(0, 120), 2.5, epsilon=1.0)
    assert visit.number("RMSE at this value") == pytest.approx(math.sqrt(m.mse(0.0)), rel=1e-3)
    assert visit.number("bias at this value") == pytest.approx(m.bias(0.0), rel=1e-3)
    shown = ends(visit.fact("95 % of outputs are in"))
    assert shown == pytest.approx(m.output_interval(0.0, 0.95), abs=0.05)
    page.locator("#spoken", has_text="95 percent of outputs are in").wait_for(state="attached")
    page.locator("#density summary").click()
    page.locator("#density tbody tr").nth(5).wait_for()


def test_a_slider_and_its_box_always_agree(visit: Visit) -> None:
    page = visit.open()
    page.get_by_role("combobox", name="Mechanism", exact=True).select_option("clamped-laplace")
    visit.shown()
    slider = page.get_by_role("slider", name="Epsilon, slider")
    box = visit.box("ε").first
    rmse = visit.number("RMSE, average over the box")
    slider.focus()
    for key in ("ArrowRight", "PageUp", "ArrowLeft"):
        page.keyboard.press(key)
        assert str(slider.get_attribute("aria-valuetext")).startswith(
            f"epsilon {float(box.input_value()):.4g},"
        )
    visit.shown()
    assert float(box.input_value()) > 1.5
    assert visit.number("RMSE, average over the box") < rmse
    places = []
    for typed in ("0.05", "0.5123456", "9", "40"):
        visit.set("ε", typed)
        assert box.input_value() == typed
        assert str(slider.get_attribute("aria-valuetext")).startswith(f"epsilon {float(typed):.4g}")
        places.append(int(slider.input_value()))
    assert places == sorted(places)
    assert places[-1] == 1000  # a box takes more than its slider
    assert "this protects hardly anything" in page.locator("#notes").inner_text()
    described = page.locator(f"#{slider.get_attribute('aria-describedby')}").inner_text()
    assert described.split("\n") == ["more privacy, larger error", "less privacy, smaller error"]
    box.fill("much")
    box.blur()
    assert "Epsilon must be a number" in page.locator("#controls").inner_text()
    assert box.get_attribute("aria-invalid") == "true"


def test_the_promise_follows_the_guarantee(visit: Visit) -> None:
    page = visit.open()
    assert "at most 73.2 % sure after" in page.locator("#risk-sentence").inner_text()
    assert "2.68 %" in page.locator("#risk-table").inner_text()
    page.get_by_label("ε with δ").check()
    visit.shown()
    assert visit.box("δ").first.input_value() == "1e-6"
    page.get_by_role("combobox", name="Mechanism", exact=True).select_option("bounded-gaussian")
    visit.shown()
    m = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 2.5, epsilon=1.0, delta=1e-6)
    assert visit.number("σ (scale of the noise)") == pytest.approx(float(m.sigma), rel=1e-3)
    assert visit.number("ρ (zCDP)") == pytest.approx(m.rho, rel=1e-3)
    assert page.locator("#curve path.curve").get_attribute("d")
    page.get_by_label("ρ", exact=True).first.check()
    visit.set("ρ", "0.02")
    assert "Rho 0.02" in page.locator("#risk-sentence").inner_text()


def test_a_goal_leads_to_a_guarantee_that_reaches_it(visit: Visit) -> None:
    page = visit.open()
    page.get_by_role("combobox", name="Mechanism", exact=True).select_option("clamped-laplace")
    goal, result = page.locator("#goal-form"), page.locator("#goal-result")
    visit.set("I can accept an error of", "2")
    goal.get_by_label("measured").select_option("worst_rmse")
    page.keyboard.press("Tab")
    goal.get_by_role("button", name="Find").click()
    result.get_by_role("button", name="Use this").click()
    visit.shown()
    assert float(visit.box("ε").first.input_value()) > 1.5
    worst = re.search(r"the RMSE is ([\d.]+)", page.locator("#error-words").inner_text())
    assert worst is not None
    assert float(worst[1]) <= 2
    visit.set("I can accept an error of", "0.000001")
    goal.get_by_role("button", name="Find").click()
    result.get_by_text("not enough").wait_for()
    assert result.get_by_role("button").count() == 0
    goal.get_by_label("find").select_option("people")
    visit.set("I can accept an error of", "0.5")
    goal.get_by_role("button", name="Find").click()
    result.get_by_role("button", name="Use this").click()
    visit.shown()
    assert visit.number("RMSE of the mean, read back") <= 0.5


def test_the_comparison_is_that_of_the_library(visit: Visit) -> None:
    page = visit.open()
    visit.set("How far one person can move the value", "30")
    visit.settled()
    expected = ib.compare(ib.Box(0, 120), 30, epsilon=1.0)
    rows = page.locator("#compare-table tbody tr")
    shown = {row.locator("th").inner_text().split("\n")[-1]: row for row in rows.all()}
    names = [row["mechanism"] for row in expected.rows()]
    assert [str(name) for name in names if name in page.locator("#compare-table").inner_text()]
    assert rows.count() == len(names)
    assert page.locator("#advice").inner_text() == expected.advice()
    best = page.locator("#compare-table tr.best")
    assert expected.best().name in best.inner_text()
    assert "best" in best.inner_text()
    numbers = [read(row.locator("td").nth(1).inner_text()) for row in rows.all()]
    assert numbers == pytest.approx([row["average_rmse"] for row in expected.rows()], rel=1e-3)
    assert len(shown) == len(names)


def test_the_map_shows_where_the_question_is(visit: Visit) -> None:
    page = visit.open()
    page.locator("#map .here").first.wait_for()
    assert "You are here: Optimal" in page.locator("#map-words").inner_text()
    before = page.locator("#map .drawing .here").get_attribute("cx")
    visit.set("ε", "0.01")
    visit.set("How far one person can move the value", "60")
    assert page.locator("#map .drawing .here").get_attribute("cx") != before
    assert "no mechanism is clearly better" in page.locator("#map-words").inner_text()
    page.locator("#map summary").click()
    assert "of no use" in page.locator("#map table").inner_text()
    page.get_by_label("ε with δ").check()
    visit.shown()
    page.get_by_role("button", name="Compute the map").click()
    page.get_by_text("computing the map…").wait_for()
    page.get_by_text("The map for δ = 10⁻⁶ is shown.").wait_for(timeout=60_000)
    assert "This map is for δ = 10⁻⁶" in page.locator("#map-words").inner_text()
    assert page.get_by_role("button", name="Show the map for δ = 0").is_visible()
    assert "δ = 10⁻⁶" in str(page.locator("#map .drawing").get_attribute("aria-label"))


def test_several_coordinates_are_one_joint_release(visit: Visit) -> None:
    page = visit.open()
    page.get_by_role("button", name="Add a coordinate").click()
    visit.shown()
    visit.box("Upper").nth(1).fill("1")
    page.get_by_label("What it bounds").select_option("each")
    visit.shown()
    visit.box("Moves by").nth(1).fill("0.1")
    visit.shown()
    expected = ib.calibrate(ib.Box([0, 0], [120, 1]), ib.PerCoordinate([2.5, 0.1]), epsilon=1.0)
    errors = [math.sqrt(mse) for mse in expected.mse([40.0, 0.333])]
    cells = page.locator("#coordinates tbody tr td:nth-child(4)").all_inner_texts()
    assert [read(cell) for cell in cells] == pytest.approx(errors, rel=1e-3)
    page.get_by_role("radiogroup", name="Coordinate").get_by_label("2").check()
    assert "coordinate 2" in page.locator("#density").inner_text()
    assert visit.number("RMSE at this value") == pytest.approx(errors[1], rel=1e-3)
    page.get_by_role("button", name="Remove coordinate 1").click()
    visit.shown()
    assert page.locator("#coordinates table").count() == 0
    assert page.evaluate("document.activeElement.textContent") == "Add a coordinate"


def test_many_people_are_read_back(visit: Visit) -> None:
    page = visit.open()
    page.get_by_role("button", name="Ask about 1,000 people").click()
    visit.shown()
    visit.set("Number of people", "20000")
    best = ib.compare(ib.Box(0, 120), 120, epsilon=1.0, people=20_000).best()
    shown = visit.number("RMSE of the mean, read back")
    assert shown == pytest.approx(float(best.error.mean_rmse or 0), rel=1e-3)
    assert visit.number("bias of the plain average, at worst") > 10 * shown


def test_what_is_taken_along_gives_the_numbers_of_the_page(visit: Visit) -> None:
    page = visit.open()
    page.get_by_role("combobox", name="Mechanism", exact=True).select_option("clamped-laplace")
    visit.set("How far one person can move the value", "7.25")
    visit.set("True value (made up)", "31.5")
    page.get_by_role("button", name="Copy Python", exact=True).click()
    page.locator("#spoken", has_text="Python: copied").wait_for(state="attached")
    python = page.evaluate("navigator.clipboard.readText()")
    done = subprocess.run(
        [sys.executable, "-c", python], capture_output=True, text=True, check=True
    )
    printed = [float(x) for x in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", done.stdout)]
    shown = [visit.number("RMSE at this value"), *ends(visit.fact("95 % of outputs are in"))]
    for number in shown:
        assert any(math.isclose(number, other, rel_tol=2e-3) for other in printed), done.stdout
    words = page.locator("pre", has_text="inbounds calibrate").inner_text().split()
    again = subprocess.run(
        [*Server.command(*words[1:]), "--json"], capture_output=True, text=True, check=True
    )
    error = json.loads(again.stdout)["error"]["average_rmse"]
    assert visit.number("RMSE, average over the box") == pytest.approx(error, rel=1e-3)


def test_a_link_restores_the_question_and_holds_nothing_else(visit: Visit, server: Server) -> None:
    page = visit.open()
    assert page.url == f"{server.origin}/"  # the token is gone from the address
    choose(page, people())
    visit.set("ε", "0.321")
    visit.set("Upper", "99")
    visit.set("True value (made up)", "41.375")
    link = visit.box("Link").input_value()
    assert server.token not in link
    for secret in ("41.375", "value", "people.csv", "age", "token"):
        assert secret not in unquote(link)
    page.goto("about:blank")
    page.goto(link)
    visit.shown()
    assert visit.box("ε").first.input_value() == "0.321"
    assert visit.box("Upper").input_value() == "99"
    assert visit.box("True value (made up)").input_value() == "33"  # a third of the way
    for hostile in ('{"bounds":[["<img>",1]]}', '{"constructor":1}', '{"bounds":1}', "%"):
        visit.set("Open a link that somebody gave you", f"#state={hostile}")
        page.get_by_role("button", name="Open", exact=True).click()
        page.locator("#take .wrong", has_text="This is not a link of this page").wait_for()
    assert visit.box("ε").first.input_value() == "0.321"


def test_figures_are_saved(visit: Visit) -> None:
    page = visit.open()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Distribution of the output as SVG").click()
    drawing = ET.parse(saved.value.path())
    tags = {node.tag.rpartition("}")[2] for node in drawing.iter()}
    assert tags <= {"svg", "g", "rect", "line", "path", "text", "circle"}
    assert not any("style" in node.attrib or "href" in node.attrib for node in drawing.iter())
    fills = [str(node.get("fill")) for node in drawing.iter()]
    assert not any("var(" in fill for fill in fills)
    with page.expect_download() as saved:
        page.get_by_role("button", name="The mechanism with the lowest error as PNG").click()
    assert saved.value.suggested_filename == "inbounds-map.png"
    assert Path(saved.value.path()).read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_a_file_is_drawn_once_and_charged_once(visit: Visit, server: Server) -> None:
    page = visit.open()
    before = len(server.charges())
    choose(page, people())
    form = page.locator(".form-rows")
    assert form.get_by_role("checkbox", name="age").is_checked() is False
    pick_age(visit)
    assert "ε = 0.5" in form.inner_text()
    page.get_by_role("heading", name="age", exact=True).wait_for()  # made-up values
    draw = page.get_by_role("button", name="Draw once")
    assert draw.is_disabled()
    page.get_by_label("I have set the bounds without looking at the data").first.check()
    charge = page.get_by_label("Charge it to").first
    charge.select_option("survey")
    assert "left: " in str(charge.locator("option:checked").text_content())
    page.get_by_label("Label in the ledger").first.fill("private ages")
    draw.click()
    page.get_by_role("heading", name="Drawn: the private file").wait_for()
    files = {}
    for link in page.locator(".downloads a").all():
        with page.expect_download() as saved:
            link.click()
        files[saved.value.suggested_filename] = Path(saved.value.path()).read_text("utf-8")
    rows = list(csv.DictReader(io.StringIO(files["people.private.csv"])))
    assert len(rows) == len(AGES)
    assert all(0 <= float(row["age"]) <= 120 and float(row["age"]) % 1 == 0 for row in rows)
    assert [row["age"] for row in rows] != AGES
    facts = json.loads(files["people.private.csv.privacy.json"])
    assert facts["rows"] == len(AGES)
    assert "epsilon" in json.dumps(facts)
    assert server.charges()[before:] == ["private ages"]
    assert draw.is_disabled()
    page.get_by_label("Draw again: I know that this is another release").first.check()
    assert draw.is_enabled()
    page.get_by_label("Draw again: I know that this is another release").first.uncheck()
    form.locator(".picked:visible").get_by_role("textbox", name="ε").fill("0.25")
    assert draw.is_disabled()  # other settings are another release, too
    page.get_by_label("Draw again: I know that this is another release").first.check()
    assert draw.is_enabled()
    form.get_by_label("Shuffle the rows").uncheck()
    assert draw.is_disabled()
    page.get_by_label("A summary by groups").check()
    page.locator(".form-summary").get_by_role("textbox", name="ε", exact=True).fill("1")
    page.get_by_label("I have set the bounds without looking at the data").nth(1).check()
    summary = page.get_by_role("button", name="Draw the summary once")
    assert summary.is_disabled()  # it is about the same people
    page.get_by_label("Draw again: I know that this is another release").nth(1).check()
    assert summary.is_enabled()
    page.locator("#budget-table tr", has_text="survey").get_by_text("epsilon=2.5").wait_for()
    assert server.charges()[before:] == ["private ages"]


def test_names_in_a_file_stay_text(visit: Visit) -> None:
    page = visit.open()
    table = f'"{HOSTILE}",town\n3,Ulm\n4,Rom\n'.encode()
    choose(page, {"name": f"{HOSTILE}.csv", "mimeType": "text/csv", "buffer": table})
    form = page.locator(".form-rows")
    form.get_by_role("checkbox", name=HOSTILE).check()
    for name, text in (("Smallest", "0"), ("Largest", "10"), ("ε", "3")):
        form.get_by_role("textbox", name=name, exact=True).and_(
            page.locator(":visible")
        ).first.fill(text)
    page.get_by_role("heading", name=HOSTILE, exact=True).wait_for()
    page.get_by_label("I have set the bounds without looking at the data").first.check()
    page.get_by_role("button", name="Draw once").click()
    page.get_by_role("heading", name="Drawn: the private file").wait_for()
    assert page.locator("img").count() == 0
    assert page.locator(".downloads a").first.get_attribute("download") == f"{HOSTILE}.private.csv"


def test_a_parquet_file_is_dropped_and_summarized_by_groups(visit: Visit, tmp_path: Path) -> None:
    page = visit.open()
    path = tmp_path / "people.parquet"
    ages = [int(age) for age in AGES]
    parquet.write_table(pa.table({"age": ages, "town": TOWNS * (len(AGES) // 2)}), path)
    held = page.evaluate_handle(
        """(bytes) => { const held = new DataTransfer();
        held.items.add(new File([new Uint8Array(bytes)], "people.parquet")); return held; }""",
        list(path.read_bytes()),
    )
    page.locator("#file .drop").dispatch_event("drop", {"dataTransfer": held})
    page.locator(".chosen", has_text="people.parquet").wait_for()
    types = page.locator(".form-rows .columnlist .check .quiet").all_inner_texts()
    assert types == ["number", "text"]
    page.get_by_label("A summary by groups").check()
    form = page.locator(".form-summary")
    form.get_by_role("group", name="Statistics of age").get_by_label("mean").check()
    form.get_by_role("textbox", name="Smallest").and_(page.locator(":visible")).fill("0")
    form.get_by_role("textbox", name="Largest").and_(page.locator(":visible")).fill("120")
    form.get_by_role("group", name="Group by").get_by_label("town").check()
    form.get_by_label("The groups to report, one in each line").fill("Ulm\nRom\n")
    form.get_by_role("textbox", name="ε", exact=True).fill("2")
    page.get_by_label("I have set the bounds without looking at the data").nth(1).check()
    page.get_by_role("button", name="Draw the summary once").click()
    page.get_by_role("heading", name="Drawn: the summary").wait_for()
    shown = page.get_by_role("region", name="The summary").inner_text()
    assert all(word in shown for word in ("Ulm", "Rom", "count", "mean"))
    with page.expect_download() as saved:
        page.locator(".downloads a").first.click()
    assert "Ulm" in Path(saved.value.path()).read_text("utf-8")


def test_errors_are_said_beside_their_field(browser: Browser, server: Server) -> None:
    visit = Visit(browser, server)
    page = visit.open()
    visit.set("Upper", "-5")
    box = visit.box("Upper")
    assert box.get_attribute("aria-invalid") == "true"
    said = page.locator(f"#{box.get_attribute('aria-describedby')}").inner_text()
    assert "upper must be above lower" in said
    assert said in page.get_by_role("alert").first.inner_text()
    visit.set("Upper", "120")
    assert box.get_attribute("aria-invalid") is None
    assert page.locator("#banner").is_hidden()
    choose(page, people())
    pick_age(visit)
    page.locator("input[type=file]").set_input_files(
        {"name": "people.txt", "mimeType": "text/plain", "buffer": b"age\n3\n"}
    )
    page.locator("#file .drop .wrong", has_text="csv").wait_for()
    assert page.get_by_role("button", name="Draw once").is_hidden()
    visit.context.close()
    assert all("status of 400" in problem for problem in visit.problems)


def test_a_server_that_is_gone_is_said(browser: Browser, tmp_path: Path) -> None:
    server = Server(tmp_path)
    visit = Visit(browser, server)
    page = visit.open()
    visit.settled()  # nothing is asked while it ends
    server.stop()
    visit.set("ε", "2")
    assert "The server does not respond" in page.get_by_role("alert").first.inner_text()
    visit.context.close()
    assert [problem for problem in visit.problems if "ERR_CONNECTION_REFUSED" not in problem] == []


def test_a_page_without_its_key_asks_for_the_address(browser: Browser, server: Server) -> None:
    visit = Visit(browser, server)
    page = visit.page
    page.goto(f"{server.origin}/")
    visit.shown()
    assert "The server does not know this page" in page.get_by_role("alert").first.inner_text()
    page.get_by_label("Paste the address").fill(server.address)
    page.get_by_role("button", name="Connect").click()
    visit.page.locator("#see-facts dd").first.wait_for()
    assert page.locator("#connect").is_hidden()
    visit.context.close()
    assert all("status of 401" in problem for problem in visit.problems)


def test_budgets_are_shown(visit: Visit, server: Server) -> None:
    page = visit.open()
    row = page.locator("#budget-table tbody tr", has_text="survey")
    assert "epsilon=3" in row.inner_text()
    ib.Ledger(server.ledger).spend("survey", epsilon=0.125, label="elsewhere")
    before = row.inner_text()
    page.get_by_role("button", name="Read again").click()
    page.locator("#budget-table tbody tr").get_by_text(before.split()[0]).wait_for()
    page.wait_for_timeout(200)
    assert row.inner_text() != before


def test_a_keyboard_is_enough(visit: Visit) -> None:
    page = visit.open()

    def tab_to(name: str, most: int = 150) -> None:
        for _ in range(most):
            page.keyboard.press("Tab")
            if page.evaluate(
                """(name) => { const e = document.activeElement;
                return (e.labels?.[0]?.textContent ?? e.ariaLabel ?? e.textContent) === name; }""",
                name,
            ):
                return
        pytest.fail(f"{name} is not reached by the keyboard")

    def take(chooser: FileChooser) -> None:
        chooser.set_files(people())

    page.on("filechooser", take)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the results"
    tab_to("Lower")
    tab_to("Epsilon, slider")
    page.keyboard.press("ArrowRight")
    page.evaluate("document.querySelector('.skip').focus()")
    page.keyboard.press("Enter")
    tab_to("True value, made up")
    page.keyboard.press("End")
    visit.shown()
    assert page.locator(":focus-visible").count() == 1
    tab_to("Choose a CSV or Parquet file, or drop it here")
    page.keyboard.press("Enter")
    page.locator(".chosen", has_text="people.csv").wait_for()
    tab_to("age")
    page.keyboard.press("Space")
    for name, text in (("Smallest", "0"), ("Largest", "120"), ("ε", "1")):
        tab_to(name)
        page.keyboard.type(text)
    tab_to("I have set the bounds without looking at the data")
    page.keyboard.press("Space")
    tab_to("Draw once")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Drawn: the private file").wait_for()
    tab_to("Download people.private.csv", 3)
    with page.expect_download() as saved:
        page.keyboard.press("Enter")
    assert saved.value.suggested_filename == "people.private.csv"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_is_accessible(browser: Browser, server: Server, theme: str, width: int) -> None:
    visit = Visit(browser, server, theme=theme, width=width)
    page = visit.open()
    visit.settled()
    page.locator("#map .cell").first.wait_for()
    choose(page, people())
    pick_age(visit)
    page.get_by_role("heading", name="age", exact=True).wait_for()
    for summary in page.locator("summary:visible").all():
        summary.click()
    only = {"resultTypes": ["violations"]}
    found = Axe().run(page, options=only).response["violations"]
    wide = page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
    page.get_by_label("A summary by groups").check()
    found += Axe().run(page, context="#file", options=only).response["violations"]
    wide |= page.evaluate("document.documentElement.scrollWidth > window.innerWidth")
    visit.context.close()
    assert [(rule["id"], [node["target"] for node in rule["nodes"]]) for rule in found] == []
    assert not wide, "the page is wider than the window"
    assert visit.problems == []


def test_a_box_without_a_number_greys_out_what_answers_an_older_one(visit: Visit) -> None:
    page = visit.open()
    main, head = page.locator("main"), page.locator("#glance-numbers")
    box = visit.box("ε").first
    for typed, said in (
        ("0,5", "with a point and not a comma"),
        ("1 000", "without spaces"),
        ("", "the box is empty"),
        ("-1", "Epsilon must be positive"),
        ("much", "Epsilon must be a number, as in 0.5"),
    ):
        visit.set("ε", "2")
        page.locator("main:not(.stale)").wait_for()
        assert "RMSE" in head.inner_text()
        box.fill(typed)
        page.locator("main.stale").wait_for()
        assert head.inner_text() == "results of an earlier question"
        box.blur()
        assert said in page.get_by_role("alert").first.inner_text()
        page.get_by_role("button", name="Find").click()
        assert said in page.locator("#goal-result").inner_text()
    visit.set("How far one person can move the value", "3")  # another number mends nothing
    assert box.input_value() == "much"
    assert "stale" in str(main.get_attribute("class"))
    page.get_by_label("ρ", exact=True).first.check()  # now there is no ε
    page.locator("main:not(.stale)").wait_for()
    visit.set("True value (made up)", "x")
    page.locator("main.stale").wait_for()
    link = "#state=" + json.dumps({"bounds": [[0, 120]], "sensitivity": [2.5]})
    visit.set("Open a link that somebody gave you", link)
    page.get_by_role("button", name="Open", exact=True).click()
    page.locator("main:not(.stale)").wait_for()
    assert visit.box("True value (made up)").input_value() == "40"


def test_nothing_is_drawn_with_a_number_that_is_not_on_the_screen(visit: Visit) -> None:
    page = visit.open()
    choose(page, people())
    pick_age(visit)
    form = page.locator(".form-rows")
    page.get_by_label("I have set the bounds without looking at the data").first.check()
    draw = page.get_by_role("button", name="Draw once")
    shown = page.get_by_role("heading", name="age", exact=True)
    shown.wait_for()
    for name, typed, right in (
        ("Largest", "12O", "120"),
        ("Smallest", "", "0"),
        ("Step", "1,5", "1"),
        ("ε", "0,5", "0.5"),
        ("ε", "", "0.5"),
    ):
        box = form.locator(".picked:visible").get_by_role("textbox", name=name, exact=True)
        assert draw.is_enabled()
        box.fill(typed)
        assert draw.is_disabled()
        missing = page.locator(".form-rows ~ .release").get_by_role("status")
        assert "must be a number" in missing.inner_text()
        assert shown.count() == 0
        assert ("ε = 0.5" in form.inner_text()) is (name != "ε")
        assert ("not known yet" in form.inner_text()) is (name == "ε")
        box.fill(right)
        shown.wait_for()
    page.get_by_label("A summary by groups").check()
    form = page.locator(".form-summary")
    form.get_by_role("textbox", name="ε", exact=True).fill("1")
    form.get_by_label("Column of people").select_option("age")
    page.get_by_label("I have set the bounds without looking at the data").nth(1).check()
    draw = page.get_by_role("button", name="Draw the summary once")
    for name, right in (
        ("Rows of one person, at most", "1"),
        ("δ", ""),
        ("Rows of a group, at most (public)", ""),
        ("ε", "1"),
    ):
        box = form.get_by_role("textbox", name=name, exact=True)
        assert draw.is_enabled()
        box.fill("1O")
        assert draw.is_disabled()
        box.fill(right)
    assert draw.is_enabled()


def test_a_made_up_value_survives_while_bounds_are_typed(browser: Browser, server: Server) -> None:
    visit = Visit(browser, server)
    page = visit.open()
    visit.set("True value (made up)", "60")
    upper, value = visit.box("Upper"), visit.box("True value (made up)")
    upper.fill("")
    for key in "200":
        upper.press_sequentially(key)
        visit.shown()
    assert value.input_value() == "60"
    handle = page.get_by_role("slider", name="True value, made up")
    before = handle.locator("circle").get_attribute("cx")
    visit.box("Lower").fill("230")
    page.locator("main.stale").wait_for()
    assert handle.locator("circle").get_attribute("cx") == before
    visit.set("Lower", "0")
    assert value.input_value() == "60"
    visit.set("Upper", "50")
    assert value.input_value() == "50"  # as releases move it
    visit.context.close()
    assert all("status of 400" in problem for problem in visit.problems)


def test_local_privacy_hides_the_whole_of_each_value(visit: Visit) -> None:
    page = visit.open()
    moved = visit.box("How far one person can move the value")
    local = page.get_by_label("Every person hides their own value")
    page.get_by_role("button", name="Ask about 1,000 people").click()
    visit.shown()
    assert local.is_checked()
    assert moved.input_value() == "120"
    assert "The sensitivity is now 120" in page.locator("#controls").inner_text()
    best = ib.compare(ib.Box(0, 120), 120, epsilon=1.0, people=1000).best()
    shown = visit.number("RMSE of the mean, read back")
    assert shown == pytest.approx(float(best.error.mean_rmse or 0), rel=1e-3)
    visit.set("Upper", "90")
    assert moved.input_value() == "90"
    visit.set("How far one person can move the value", "5")
    assert "This is for a sensitivity of 5" in page.locator("#many-result").inner_text()
    page.get_by_role("button", name="Set the sensitivity to 90").click()
    visit.shown()
    local.uncheck()
    visit.shown()
    assert moved.input_value() == "2.5"
    goal = page.locator("#goal-form")
    goal.get_by_label("Find").select_option("people")
    visit.set("I can accept an error of", "2")
    goal.get_by_role("button", name="Find").click()
    result = page.locator("#goal-result")
    result.get_by_text("This is for a sensitivity of 90, the width of the bounds").wait_for()
    found = re.search(r"([\d,]+) people", result.inner_text())
    assert found is not None
    assert int(found[1].replace(",", "")) > 1000
    assert moved.input_value() == "2.5"
    result.get_by_role("button", name="Use this").click()
    visit.shown()
    assert moved.input_value() == "90"
    assert visit.number("RMSE of the mean, read back") <= 2
    local.uncheck()
    visit.shown()
    assert moved.input_value() == "2.5"


def test_the_head_of_the_page_shows_the_average_error(visit: Visit) -> None:
    page = visit.open()
    assert visit.box("True value (made up)").input_value() == "40"
    errors = []
    for epsilon in ("0.1", "0.03", "0.01", "0.001"):
        visit.set("ε", epsilon)
        text = page.locator("#glance-numbers").inner_text()
        number = re.search(r"[\d.]+", text)
        assert number is not None
        errors.append(float(number[0]))
        assert errors[-1] == visit.number("RMSE, average over the box")
    assert errors == sorted(errors)


def test_a_goal_forgets_its_answer_when_its_number_is_gone(visit: Visit) -> None:
    page = visit.open()
    goal, result = page.locator("#goal-form"), page.locator("#goal-result")
    find = goal.get_by_role("button", name="Find")
    box = visit.box("I can accept an error of")
    box.fill("2")
    find.click()
    result.get_by_role("button", name="Use this").wait_for()
    for typed, said in (("2x", "The error must be a number"), ("", "Type the error")):
        box.fill(typed)
        assert result.inner_text() == ""
        find.click()  # the message must not move the button away
        page.locator("#from-goal .wrong", has_text=said).wait_for()
        assert result.inner_text() == ""
        assert page.evaluate("document.activeElement.id") == box.get_attribute("id")
        box.fill("2")
        find.click()
        result.get_by_role("button", name="Use this").wait_for()
    sought = goal.get_by_label("Find")
    page.get_by_label("ρ", exact=True).first.check()
    visit.shown()
    assert sought.input_value() == "people"
    page.get_by_label("ε", exact=True).first.check()
    visit.shown()
    assert sought.input_value() == "epsilon"


def test_a_lost_answer_may_have_been_charged(browser: Browser, server: Server) -> None:
    visit = Visit(browser, server)
    page = visit.open()
    choose(page, people())
    pick_age(visit)
    page.get_by_label("I have set the bounds without looking at the data").first.check()
    page.get_by_label("Charge it to").first.select_option("survey")
    page.route("**/api/file/draw", lambda route: route.abort())
    draw = page.get_by_role("button", name="Draw once")
    draw.click()
    page.locator(".release .wrong", has_text="may have been charged").wait_for()
    assert draw.is_disabled()
    page.get_by_label("Draw again: I know that this is another release").first.check()
    assert draw.is_enabled()
    visit.context.close()
    assert all("ERR_FAILED" in problem for problem in visit.problems)


def test_a_file_that_was_changed_must_be_chosen_again(
    browser: Browser, server: Server, tmp_path: Path
) -> None:
    visit = Visit(browser, server)
    page = visit.open()
    path = tmp_path / "people.csv"
    path.write_bytes(people()["buffer"])
    page.locator("input[type=file]").set_input_files(path)
    page.locator(".chosen", has_text="people.csv").wait_for()
    pick_age(visit)
    page.get_by_label("I have set the bounds without looking at the data").first.check()
    path.write_bytes(b"age,town\n1,Ulm\n")
    page.get_by_role("button", name="Draw once").click()
    page.locator(".release .wrong", has_text="The file has changed").wait_for()
    visit.context.close()
    assert visit.problems == []


class Stranger(http.server.BaseHTTPRequestHandler):
    """A program that takes the address of a server that has ended, and answers everything.

    It tries to prove that it knows the token with what it was sent in place of one.
    """

    seen: ClassVar[list[tuple[str, str | None, bytes]]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.seen.append((self.path, self.headers["x-inbounds-pass"], body))
        known = next((key for _, key, _ in self.seen if key), "guessed")
        asked = json.loads(body) if self.path == "/api/prove" else None
        answer = {"proof": proof(known, asked)} if asked else {"error": "no", "columns": []}
        answer = json.dumps(answer).encode()
        self.send_response(200 if asked else 400)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.mark.parametrize("before", ["a file", "a call without an answer", "a call"])
def test_a_stranger_at_the_address_gets_neither_the_token_nor_a_file(
    browser: Browser, tmp_path: Path, before: str
) -> None:
    server = Server(tmp_path)
    visit = Visit(browser, server)
    page = visit.open()
    visit.settled()
    server.stop()
    if before == "a call without an answer":
        visit.set("ε", "2")
        page.locator("#banner", has_text="The server does not respond").wait_for()
    port = int(server.origin.rpartition(":")[2])
    Stranger.seen.clear()
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), Stranger) as stranger:
        thread = threading.Thread(target=stranger.serve_forever)
        thread.start()
        try:
            if before == "a call":
                visit.set("ε", "2")
            page.locator("input[type=file]").set_input_files(people())
            page.locator("#file .wrong", has_text="is not the one that opened").wait_for()
            visit.set("ε", "3")
            page.locator("#banner", has_text="is not the one that opened").wait_for()
        finally:
            stranger.shutdown()
            thread.join()
    asked = {path for path, _, _ in Stranger.seen}
    assert asked == ({"/api/view", "/api/prove"} if before == "a call" else {"/api/prove"})
    assert all(server.token not in (key or "") for _, key, _ in Stranger.seen)
    assert not any(server.token.encode() in body for _, _, body in Stranger.seen)
    assert not any(b"town" in body for _, _, body in Stranger.seen)
    visit.context.close()
    own = ("net::ERR", "400 (Bad Request)")
    assert [p for p in visit.problems if not any(text in p for text in own)] == []


def test_a_draw_that_is_under_way_is_neither_lost_nor_made_twice(visit: Visit) -> None:
    page = visit.open()
    choose(page, people())
    pick_age(visit, "1.00004")
    page.get_by_text("In total, a row costs ε = 1.001").wait_for()  # never less than it is
    page.get_by_label("I have set the bounds without looking at the data").first.check()
    let_go = hold(page, "**/api/file/draw")
    page.get_by_role("button", name="Draw once").click()
    page.locator(".release .outcome", has_text="Drawing the private file…").wait_for()
    page.get_by_label("A summary by groups").check()
    again = page.get_by_label("Draw again: I know that this is another release")
    again.and_(page.locator(":visible")).wait_for()  # before it is known how the first one ends
    choose(page, people() | {"name": "others.csv"})
    let_go()
    page.locator(".release .outcome", has_text="From people.csv.").wait_for(state="attached")


BODIES = """
    const send = window.fetch;
    window.bodies = [];
    window.fetch = async (path, options) => {
        if (options?.body instanceof Blob) {
            const bytes = new Uint8Array(await options.body.arrayBuffer());
            window.bodies.push(new TextDecoder("latin1").decode(bytes));
        }
        return send(path, options);
    };
"""


def test_a_file_is_sealed_on_its_way(visit: Visit) -> None:
    """Whoever gets the body of a request, as a browser may send one again, cannot read it."""
    visit.page.add_init_script(BODIES)
    page = visit.open()
    choose(page, people())
    pick_age(visit)
    page.get_by_label("I have set the bounds without looking at the data").first.check()
    page.get_by_role("button", name="Draw once").click()
    page.get_by_role("heading", name="Drawn: the private file").wait_for()
    bodies = page.evaluate("window.bodies")
    assert len(bodies) == 2  # for the names of columns, and for the draw
    assert all(len(body) > 1000 for body in bodies)
    assert not any("Ulm" in body or "people" in body for body in bodies)


def test_yes_and_no_and_cells_between_semicolons(visit: Visit) -> None:
    page = visit.open()
    table = pa.table({"smokes": [True, False] * 20})
    sink = io.BytesIO()
    parquet.write_table(table, sink)
    kind = "application/octet-stream"
    choose(page, {"name": "truth.parquet", "mimeType": kind, "buffer": sink.getvalue()})
    assert "1 column" in page.locator(".chosen").inner_text().split(", ")
    form = page.locator(".form-rows")
    form.get_by_role("checkbox", name="smokes").check()
    levels = form.get_by_label("All values that are possible, separated by commas")
    assert levels.input_value() == "true, false"
    assert "true and false" in form.inner_text()
    form.locator(".picked:visible").get_by_role("textbox", name="ε", exact=True).fill("1")
    page.get_by_label("I have set the bounds without looking at the data").first.check()
    page.get_by_role("button", name="Draw once").click()
    page.get_by_role("heading", name="Drawn: the private file").wait_for()
    assert page.get_by_label("Between the cells").is_hidden()
    lines = ["Alter;Ort", *(f"{age};{TOWNS[k % 2]}" for k, age in enumerate(AGES)), ""]
    choose(page, {"name": "a.csv", "mimeType": "text/csv", "buffer": "\n".join(lines).encode()})
    page.get_by_label("Between the cells").select_option(";")
    page.locator(".chosen", has_text="2 columns").wait_for()
    form.get_by_role("checkbox", name="Alter").check()
    for name, text in (("Smallest", "0"), ("Largest", "120"), ("ε", "1")):
        picked = form.locator(".picked:visible")
        picked.get_by_role("textbox", name=name, exact=True).fill(text)
    page.get_by_label("I have set the bounds without looking at the data").first.check()
    page.get_by_role("button", name="Draw once").click()
    page.get_by_role("heading", name="Drawn: the private file").wait_for()
    assert "--delimiter" in page.get_by_label("the command of this draw").first.inner_text()


def test_what_the_server_says_of_a_box_stays_beside_it(browser: Browser, server: Server) -> None:
    visit = Visit(browser, server)
    page = visit.open()
    box = visit.box("Step")
    box.fill("500")
    page.locator("main.stale").wait_for()
    said = page.locator(f"#{box.get_attribute('aria-describedby')}")
    words = said.inner_text()
    assert words
    page.keyboard.press("Tab")
    assert said.inner_text() == words
    assert box.get_attribute("aria-invalid") == "true"
    assert page.locator("#banner").is_hidden()  # it would cover the form
    assert page.locator("#glance-numbers").inner_text() == "results of an earlier question"
    visit.set("Step", "10")
    assert said.inner_text() == ""
    visit.context.close()
    assert all("status of 400" in problem for problem in visit.problems)


def test_a_dataset_that_hides_something_else_cannot_be_charged_for_rows(
    browser: Browser, tmp_path: Path
) -> None:
    server = Server(tmp_path)
    unit = ib.Unit("add-remove", "person")
    ib.Ledger(server.ledger).open("yearly", epsilon=3.0, unit=unit)
    visit = Visit(browser, server)
    page = visit.open()
    choose(page, people())
    charge = page.get_by_label("Charge it to").first
    assert charge.locator("option[value=survey]").is_enabled()
    assert charge.locator("option[value=yearly]").is_disabled()
    words = page.locator(".form-rows ~ .release .charge").inner_text()
    assert "yearly hides: " in words
    assert "not that the person is there" in words
    visit.context.close()
    server.stop()
    assert visit.problems == []


def test_a_file_is_described_with_what_may_be_wrong_with_it(visit: Visit) -> None:
    page = visit.open()
    table = b"34,Ulm\n35,Rom\n"
    choose(page, {"name": "headless.csv", "mimeType": "text/csv", "buffer": table})
    notes = page.locator(".drop .notes li")
    assert notes.count() == 1
    choose(page, people())
    assert notes.count() == 0


def test_epsilon_is_told_as_a_factor_of_odds(visit: Visit) -> None:
    page = visit.open()
    form = page.locator("#controls")
    assert "change by a factor of at most e^ε = 2.72." in form.inner_text()
    visit.set("ε", "0.1")
    assert "e^ε = 1.11." in form.inner_text()  # 1.105…, never rounded down
    page.get_by_label("ε with δ").check()
    assert "e^ε" not in form.inner_text()


def link(**question: Any) -> str:
    """Return what follows the token in an address that opens the page with a question."""
    whole = {"sensitivity": [1], "guarantee": {"epsilon": 1, "delta": 0}, **question}
    return f"&state={quote(json.dumps(whole))}"


FAR = [
    ([1e16, 1e16 + 4], 1),
    ([1e15, 1e15 + 0.25], 0.1),
    ([4e15, 4e15 + 1], 1),
    ([-1e16 - 4, -1e16], 1),
    ([0, 1e17], 1),
]


@pytest.mark.parametrize(("bounds", "sensitivity"), FAR)
def test_a_chart_of_numbers_far_from_zero_is_drawn_at_once(
    visit: Visit, bounds: list[float], sensitivity: float
) -> None:
    page = visit.open(link(bounds=[bounds], sensitivity=[sensitivity]))
    page.get_by_label("Enlarge the likely outputs").check()
    marks = page.locator("#density .drawing text.mark")
    marks.first.wait_for()
    texts = [text for text in marks.all_text_contents() if text]
    assert 1 <= len(texts) <= 40
    horizontal = page.locator("#density .drawing text.mark[text-anchor=middle]")
    written = horizontal.all_text_contents()
    assert len(set(written)) == len(written)


def test_an_axis_has_few_marks_whatever_its_ends_are(visit: Visit) -> None:
    page = visit.open()
    counts = page.evaluate(
        """async () => {
          const { ticks, powers } = await import("/numbers.js");
          const ends = [0, -0, 1, 2 ** 53, 1e16, 1e16 + 4, 1e300, 5e-324, Infinity, NaN, -1e16];
          const sizes = [];
          for (const low of ends)
            for (const high of ends)
              for (const marks of [ticks, powers]) sizes.push(marks(low, high, 5).length);
          return sizes;
        }"""
    )
    assert max(counts) <= 40
    marks = page.evaluate(
        "async () => (await import('/numbers.js')).ticks(1e16, 1e16 + 4, 5).map(String)"
    )
    assert marks == ["10000000000000000", "10000000000000002", "10000000000000004"]


def test_an_epsilon_is_shown_with_the_delta_that_belongs_to_it(visit: Visit) -> None:
    page = visit.open()
    cards = page.locator("#promise-facts dt")
    assert "ε" in cards.all_text_contents()
    page.get_by_label("ε with δ").check()
    page.get_by_role("combobox", name="Mechanism", exact=True).select_option("bounded-gaussian")
    visit.shown()
    m = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 2.5, epsilon=1.0, delta=1e-6)
    assert visit.number("ε at δ = 10⁻⁶") == pytest.approx(1.0, rel=1e-3)
    assert m.epsilon <= visit.number("pure ε") <= m.epsilon * 1.001
    assert not {"ε", "δ"} & set(cards.all_text_contents())
    note = page.locator("#risk-table p").inner_text()
    assert "This holds except with a probability" in note
    page.get_by_label("ρ", exact=True).first.check()
    visit.shown()
    assert "pure ε" in cards.all_text_contents()
    assert "ε" not in cards.all_text_contents()
    said = page.locator("#promise").inner_text() + page.locator("#compare").inner_text()
    assert not re.search(r"\de[-+]?\d", said), "powers of ten have one notation"


def test_the_curve_of_a_guarantee_stays_in_its_chart(visit: Visit) -> None:
    page = visit.open(link(bounds=[[0, 120]], sensitivity=[2.5], guarantee={"rho": 0.1}))
    page.get_by_role("combobox", name="Mechanism", exact=True).select_option("bounded-gaussian")
    visit.shown()
    chart = page.locator("#curve .drawing")

    def inside() -> bool:
        """Return whether the curve lies between the marks of the axis of δ and its top."""
        path = str(chart.locator("path.curve").get_attribute("d"))
        heights = [float(y) for y in re.findall(r"[ML][\d.]+ (-?[\d.]+)", path)]
        lowest = float(str(chart.locator("line.axis").last.get_attribute("y1")))
        return len(heights) > 5 and all(30 <= y <= lowest + 0.1 for y in heights)

    assert "δ (logarithmic)" in chart.locator("text").all_text_contents()
    assert inside()
    assert "the chart ends at δ = 10⁻¹⁶" in page.locator("#curve .legend").inner_text()
    page.get_by_label("ε with δ").check()
    for delta in ("1e-6", "1e-12", "1e-20"):
        visit.set("δ", delta)
        assert inside()
        assert chart.locator("circle.knob").count() == 1


@pytest.mark.parametrize(
    "other",
    [
        {"step": 7},
        {"people": 1000},
        {"bounds": [[0, 120], [0, 1]]},
        {"guarantee": {"rho": 0.1}},
    ],
)
def test_the_map_leaves_other_questions_to_the_table(visit: Visit, other: dict[str, Any]) -> None:
    page = visit.open(link(**({"bounds": [[0, 120]], "sensitivity": [2.5]} | other)))
    page.locator("#map .cell").first.wait_for()
    words = page.locator("#map-words").inner_text()
    assert words.startswith("This map is for δ = 0, one number without a step, not local privacy.")
    assert "so it is not on the map: the table above decides" in words
    assert "%" not in words
    assert page.locator("#map .here").count() == 0


def test_a_map_for_another_delta_says_so(visit: Visit) -> None:
    page = visit.open()
    page.locator("#map .here").first.wait_for()
    assert "in the nearest cell of the map" in page.locator("#map-words").inner_text()
    page.get_by_label("ε with δ").check()
    visit.set("δ", "1e-9")
    words = page.locator("#map-words").inner_text()
    assert words.startswith("This map is for δ = 0")
    assert "You asked for δ = 10⁻⁹" in words
    assert "the table above decides" in words
    assert "%" not in words


def test_a_map_is_dark_on_a_dark_page(browser: Browser, server: Server) -> None:
    fills = []
    for theme in ("light", "dark"):
        visit = Visit(browser, server, theme=theme)
        page = visit.open()
        page.locator("#map .cell").first.wait_for()
        fill, line, sample, ring = page.evaluate(
            """() => {
              const style = (query) => getComputedStyle(document.querySelector(query));
              const ring = document.querySelector("#map .legend circle.halo");
              const edge = parseFloat(getComputedStyle(ring).strokeWidth);
              return [style("#map .cell").fill, style("#map .drawing .frontier").stroke,
                style("#map .legend .frontier").stroke, 2 * ring.r.baseVal.value + edge];
            }"""
        )
        fills.append(fill)
        assert line == sample
        assert ring <= 14, "the ring is cut off"
        visit.context.close()
        assert visit.problems == []
    assert fills[0] != fills[1]


def test_a_saved_figure_explains_itself(visit: Visit) -> None:
    page = visit.open()
    page.locator("#map .cell").first.wait_for()

    def saved(title: str) -> tuple[str, float]:
        with page.expect_download() as download:
            page.get_by_role("button", name=f"{title} as SVG").click()
        drawing = ET.parse(download.value.path()).getroot()
        words = [node.text or "" for node in drawing.iter() if node.tag.endswith("}text")]
        return " ".join(words), float(drawing.attrib["height"])

    words, height = saved("The mechanism with the lowest error")
    assert words.startswith("The mechanism with the lowest error The lowest average RMSE for δ = 0")
    for key in ("O: Optimal", "S: ClampedStaircase", "you are here", "below: not clearly better"):
        assert key in words
    assert height > 400
    visit.set("ε", "0.5")
    words, _ = saved("Distribution of the output")
    assert words.startswith("Distribution of the output Optimal(Box(0, 120), L2(2.5)")
    assert "pure ε = 0.5" in words
    assert "holds 95 % of the outputs" in words


def test_a_figure_that_is_not_shown_cannot_be_saved(visit: Visit) -> None:
    page = visit.open()
    button = page.get_by_role("button", name="Error of the mean of many people as SVG")
    assert button.is_disabled()
    why = page.locator(f"#{button.get_attribute('aria-describedby')}")
    assert why.inner_text() == "(only in local privacy, which is off)"
    page.get_by_role("button", name="Ask about 1,000 people").click()
    visit.shown()
    assert button.is_enabled()
    assert why.inner_text() == ""
    page.get_by_label("Every person hides their own value").uncheck()
    visit.shown()
    assert button.is_disabled()


def test_a_bad_mechanism_is_not_called_a_small_budget(visit: Visit) -> None:
    page = visit.open()
    page.get_by_role("combobox", name="Mechanism", exact=True).select_option("window")
    visit.shown()
    notes = page.locator("#notes").inner_text()
    assert "This mechanism is of no use here" in notes
    assert "34.64" in notes
    assert "budget is too small" not in notes
    page.get_by_role("combobox", name="Mechanism", exact=True).select_option("best")
    visit.set("ε", "0.01")
    assert "This budget is too small to be of use" in page.locator("#notes").inner_text()


def test_the_table_of_mechanisms_prints_what_the_library_prints(visit: Visit) -> None:
    page = visit.open()
    visit.settled()
    printed = str(ib.compare(ib.Box(0, 120), 2.5, epsilon=1.0))
    table = page.locator("#compare-table")
    cells = table.locator("tbody td").all_text_contents()
    percents = [cell for cell in cells if cell.startswith("× ")]
    assert len(percents) > 5
    assert all(cell in printed for cell in percents)
    headings = table.locator("thead th").all_text_contents()
    assert "MSE above limit" in headings
    note = page.locator("#compare-note").inner_text()
    assert "the same guarantee" not in note
    assert "MSE is the mean squared error" in note
    for name in ("“Optimal (worst)”", "“BoundedGaussian (Liu)”"):
        assert name in note


def test_the_names_of_a_table_stay_when_it_scrolls(browser: Browser, server: Server) -> None:
    visit = Visit(browser, server, width=390)
    page = visit.open()
    visit.settled()
    scroll = page.locator("#compare-table .scroll")
    name, number = scroll.locator("tbody th").first, scroll.locator("tbody td").nth(3)
    before, moved = name.bounding_box(), number.bounding_box()
    scroll.evaluate("place => { place.scrollLeft = 100; }")
    page.locator("#compare-table .scroll.scrolled").wait_for()
    after, to = name.bounding_box(), number.bounding_box()
    assert before is not None
    assert after is not None
    assert moved is not None
    assert to is not None
    assert after["x"] == pytest.approx(before["x"], abs=1)
    assert to["x"] == pytest.approx(moved["x"] - 100, abs=1)
    assert after["width"] < 200
    marks = page.locator("#density .drawing text.mark[text-anchor=middle]").all_text_contents()
    assert marks[0] == "0"
    assert marks[-1] == "120"
    visit.context.close()
    assert visit.problems == []


def test_the_choice_of_a_coordinate_is_named(visit: Visit) -> None:
    page = visit.open(link(bounds=[[0, 120], [0, 1]]))
    group = page.get_by_role("radiogroup", name="Coordinate", exact=True)
    assert page.get_by_text("Coordinate", exact=True).is_visible()
    here, box = group.bounding_box(), visit.box("True value (made up)").bounding_box()
    assert here is not None
    assert box is not None
    middles = [place["y"] + place["height"] / 2 for place in (here, box)]
    assert middles[0] == pytest.approx(middles[1], abs=2)


def steady(place: Locator) -> str:
    """Return a text once it does not change any more: answers to earlier keys may come late."""
    place.wait_for()
    before, now = "", place.inner_text()
    while now != before:
        place.page.wait_for_timeout(400)
        before, now = now, place.inner_text()
    return now


def test_what_a_preview_and_a_ledger_say_is_so(visit: Visit) -> None:
    page = visit.open()
    assert "if you charge it to a dataset" in page.locator("#budget-table").inner_text()
    choose(page, people())
    pick_age(visit)
    box = page.locator(".form-rows .picked:visible").get_by_role("textbox", name="Smallest")
    words = page.locator(".previews .multiples .quiet").first
    said = []
    for _ in range(2):
        said.append(steady(words))
        box.fill("x")
        words.wait_for(state="detached")
        box.fill("0")
    assert said[0] == said[1]  # not the error of one random draw
    m = ib.Window.calibrated(ib.Box(0, 120, step=1), 120, epsilon=0.5)
    values = range(121)
    exact = math.sqrt(sum(float(m.mse(float(value))) for value in values) / len(values))
    error = re.search(r"off by ([\d.]+)", said[0])
    assert error is not None
    assert float(error[1]) == pytest.approx(exact, rel=0.01)


def hold(page: Page, pattern: str) -> Callable[[], None]:
    """Keep the requests to addresses like this one waiting; return what lets them go."""
    held: list[Route] = []
    gone = threading.Event()

    def keep(route: Route) -> None:
        if gone.is_set():
            route.continue_()
        else:
            held.append(route)

    def let_go() -> None:
        gone.set()
        for route in held:
            route.continue_()

    page.route(pattern, keep)
    return let_go


@pytest.mark.parametrize(
    ("low", "high", "step"),
    [(100_000, 100_007, 0.07), (1e6, 1e6 + 5, 0.05), (52.51, 52.5101, 1e-6)],
)
def test_places_far_from_zero_are_told_apart(
    visit: Visit, low: float, high: float, step: float
) -> None:
    page = visit.open(link(bounds=[[low, high]], sensitivity=[(high - low) / 10]))
    handle = page.get_by_role("slider", name="True value, made up")
    handle.focus()
    words = set()
    for turn in range(1, 5):
        before = float(str(handle.get_attribute("aria-valuenow")))
        page.keyboard.press("ArrowRight" if turn < 4 else "PageDown")
        after = float(str(handle.get_attribute("aria-valuenow")))
        by = step if turn < 4 else -10 * step
        assert after - before == pytest.approx(by, rel=1e-3)
        said = str(handle.get_attribute("aria-valuetext")).removeprefix("true value ")
        assert handle.locator("text").text_content() == said
        assert read(said) == pytest.approx(after, abs=step / 2)
        words.add(said)
    assert len(words) == 4
    page.locator("#error summary").click()
    places = page.locator("#error tbody th")
    places.first.wait_for()
    texts = places.all_text_contents()
    assert len(set(texts)) == len(texts) > 20
    assert all(len(text) < 20 for text in texts)


def test_what_waits_for_an_answer_looks_old(visit: Visit) -> None:
    page = visit.page
    let_go = hold(page, "**/api/view")
    page.goto(visit.server.address)
    for summary in page.locator("#results .chart summary:visible").all():
        summary.click()
    assert page.locator("#density details").inner_text().endswith("There are no numbers yet.")
    page.locator("#see").get_by_text("There are no numbers yet.").first.wait_for()
    let_go()
    visit.settled()
    assert page.locator("#density tbody tr").count() > 5
    page.locator("main:not(.stale)").wait_for()
    head = page.locator("#glance")
    assert "RMSE" in head.inner_text()
    both = [hold(page, "**/api/view"), hold(page, "**/api/compare")]
    visit.box("ε").first.fill("0.5")
    page.locator("main.stale").wait_for()
    page.locator("#compare.stale").wait_for()
    assert head.inner_text().strip() == "computing…"
    old = (
        *("#density", "#see-facts", "#error-words", "#risk-sentence", "#risk-table", "#advice"),
        *("#compare-table", "#take-body pre"),
    )
    faded = "nodes => nodes.map((node) => Number(getComputedStyle(node).opacity))"
    for place in old:
        assert max(page.locator(place).evaluate_all(faded)) < 1, place
    found = Axe().run(page, options={"runOnly": ["color-contrast"]}).response["violations"]
    assert found == []
    for let_go in both:
        let_go()
    visit.settled()
    page.locator("main:not(.stale)").wait_for()
    assert "RMSE" in head.inner_text()
    for place in old:
        assert min(page.locator(place).evaluate_all(faded)) == 1, place


def test_each_key_of_a_slider_changes_its_number(visit: Visit) -> None:
    page = visit.open(link(bounds=[[0, 120]], people=10, sensitivity=[120]))
    for name, label in (("Epsilon", "ε"), ("The number of people", "Number of people")):
        slider, box = page.get_by_role("slider", name=f"{name}, slider"), visit.box(label).first
        slider.focus()
        numbers = [float(box.input_value())]
        for key in ["ArrowRight"] * 4 + ["ArrowLeft"] * 2:
            page.keyboard.press(key)
            numbers.append(float(box.input_value()))
        rises = [b - a for a, b in itertools.pairwise(numbers)]
        assert all(rise > 0 for rise in rises[:4])
        assert all(rise < 0 for rise in rises[4:])
    visit.shown()
    head = page.locator("#glance-numbers").inner_text()
    assert head.startswith("RMSE of the mean of 1")
    assert read(head.rpartition(": ")[2]) == visit.number("RMSE of the mean, read back")
    visit.set("Number of people", "1")
    assert "The value of 1 person" in page.locator("#many-result").inner_text()
    epsilon = page.get_by_role("slider", name="Epsilon, slider")
    for kind, is_pure in (("ε with δ", False), ("ε", True)):
        page.get_by_label(kind, exact=True).first.check()
        visit.shown()
        assert ("odds" in str(epsilon.get_attribute("aria-valuetext"))) is is_pure


def test_the_form_helps_to_fill_it(visit: Visit) -> None:
    page = visit.open()
    moved = visit.box("How far one person can move the value")
    moved.fill("many")
    helps = page.locator("#controls details", has_text="How do I know?")
    helps.locator("summary").click()
    helps.get_by_role("button", name="Set it to 120", exact=True).click()
    assert moved.input_value() == "120"
    helps.get_by_role("button", name="Set it", exact=True).click()
    assert "a whole number from 1" in helps.inner_text()
    visit.set("People in the mean", "1000")
    assert "a whole number from 1" not in helps.inner_text()
    helps.get_by_role("button", name="Set it to 0.12", exact=True).click()
    visit.shown()
    assert moved.input_value() == "0.12"
    expected = ib.calibrate(ib.Box(0, 120), 0.12, epsilon=1.0)
    assert visit.number("RMSE at this value") == pytest.approx(
        math.sqrt(expected.mse(40.0)), rel=1e-3
    )
    helps.get_by_role("button", name="Set it to 1", exact=True).click()
    assert moved.input_value() == "1"
    visit.set("Upper", "-5")
    said = page.locator("#controls .wrong:visible")
    said.wait_for()
    visit.box("Upper").fill("-5x")
    assert said.count() == 0  # it was about another number
    visit.set("Upper", "90")
    options = page.get_by_role("combobox", name="Mechanism", exact=True).locator("option")

    def possible() -> set[str]:
        return {str(one.get_attribute("value")) for one in options.all() if one.is_enabled()}

    every = possible()
    assert len(every) == 8
    page.get_by_role("combobox", name="Mechanism", exact=True).select_option("window")
    page.get_by_label("ρ", exact=True).first.check()
    assert possible() == {"best", "bounded-gaussian"}
    assert "not with ρ" in str(options.nth(1).text_content())
    page.locator("#controls .wrong", has_text="window").wait_for()
    page.get_by_role("button", name="Add a coordinate").click()
    assert helps.is_hidden()
    page.get_by_label("ε", exact=True).first.check()
    joint = every - {"optimal", "clamped-staircase", "window"}
    assert possible() == joint - {"clamped-gaussian"}
    page.get_by_label("ε with δ").check()
    assert possible() == joint
    assert page.get_by_role("combobox", name="Mechanism", exact=True).input_value() == "window"
    visit.shown()
    visit.problems = [text for text in visit.problems if "status of 400" not in text]


def test_what_is_said_of_mechanisms_and_goals_is_so(visit: Visit) -> None:
    page = visit.page
    asked = {"bounds": [[0, 200_000]], "sensitivity": [200_000], "people": 100_000}
    visit.open(link(**asked))
    visit.settled()
    best = ib.compare(ib.Box(0, 200_000), 200_000, epsilon=1.0, people=100_000).best().name
    note = page.locator("#compare-note").inner_text()
    assert f"“{best}” is what “the one with the lowest error” chooses here." in note
    assert "No entry of the list of mechanisms makes “BoundedGaussian (paper)”" in note
    assert "does not offer" not in note
    assert visit.fact("mechanism") == best

    visit.open(link(bounds=[[0, 120]], step=50))  # neighbours have the same step: the limit is 0
    visit.settled()
    assert page.locator("#advice").inner_text().startswith("Lowest error")
    assert "No private function" not in page.locator("#advice").inner_text()
    visit.open(link(bounds=[[0, 120]], sensitivity=[2.5], mechanism="window"))
    goal, result = page.locator("#goal-form"), page.locator("#goal-result")
    visit.set("I can accept an error of", "0.1")
    goal.get_by_role("button", name="Find").click()
    result.get_by_text("not enough").wait_for()
    assert result.inner_text().endswith("Another mechanism may do it.")
    goal.get_by_label("Find").select_option("people")
    goal.get_by_role("button", name="Find").click()
    result.get_by_text("in local privacy, where each person hides their own value").wait_for()


def test_the_page_says_what_it_does_with_a_file(visit: Visit) -> None:
    page = visit.open()
    place, spoken = page.locator("#file .drop"), page.locator("#spoken")
    let_go = hold(page, "**/api/file/columns")
    page.locator("input[type=file]").set_input_files(people())
    place.get_by_text("Reading the file…").wait_for()
    assert spoken.text_content() == "Reading the file…"
    let_go()
    page.locator(".chosen", has_text="people.csv").wait_for()
    assert "Reading" not in place.inner_text()
    pick_age(visit)
    assert "moved to the nearest bound" in page.locator(".form-rows").inner_text()
    page.get_by_label("I have set the bounds without looking at the data").first.check()
    let_go = hold(page, "**/api/file/draw")
    page.get_by_role("button", name="Draw once").click()
    page.locator(".release .outcome", has_text="Drawing the private file…").wait_for()
    page.locator("#spoken", has_text="Drawing the private file…").wait_for(state="attached")
    let_go()
    page.get_by_role("heading", name="Drawn: the private file").wait_for()
