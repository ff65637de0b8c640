"""The page of `inbounds explore` as people use it: the real server in a real browser, offline."""

import csv
import io
import json
import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote
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
    sync_playwright,
)
from pyarrow import parquet

import inbounds as ib

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
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
def browser() -> Iterator[Browser]:
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.fail("These tests need a browser: apt-get install chromium")
    with sync_playwright() as playwright:
        sandbox = [] if os.getuid() else ["--no-sandbox"]
        opened = playwright.chromium.launch(executable_path=program, args=sandbox)
        yield opened
        opened.close()


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
    assert "rho 0.02" in page.locator("#risk-sentence").inner_text()


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
    page.get_by_text("The map is ready.").wait_for(timeout=60_000)
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
    errors = [math.sqrt(mse) for mse in expected.mse([60.0, 0.5])]
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
    page.get_by_role("button", name="Set the sensitivity to 120").click()
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
    assert visit.box("True value (made up)").input_value() == "49.5"  # the middle
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
    assert draw.is_enabled()
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
    server.stop()
    visit.set("ε", "2")
    assert "The server does not respond" in page.get_by_role("alert").first.inner_text()
    visit.context.close()
    assert all("ERR_CONNECTION_REFUSED" in problem for problem in visit.problems)


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
