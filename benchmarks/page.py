"""How long after a hand moved the page of `inbounds explore` shows the answer, in a real browser.

A change is an event of input at a slider or a box, as a hand makes it; the answer is there when the
page is about the new question and the browser has painted it. Only `python -m benchmarks page` runs
this, because it needs Chromium.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from random import Random
from statistics import median, quantiles
from typing import Any

from rich.table import Table

from benchmarks.timing import duration, new_table

_BROWSERS = "chromium", "chromium-browser", "google-chrome"
_CHANGES = 200
_CONTROLS = {  # by a selector, with how many places they have
    "the made-up value": ("#see-choice input[inputmode=decimal]", 121),
    "epsilon": ("[aria-label='Epsilon, slider']", 901),
    "the sensitivity": ("[aria-label='The sensitivity, slider']", 1001),
}
# Moves one control to some places, one after the other, and returns the milliseconds of each.
_MOVED = """async ([selector, places]) => {
    const page = document.querySelector("#results");
    const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    const shown = () => new Promise((done) => {
        const look = () => page.dataset.state !== "computing" && (watch.disconnect(), done());
        const watch = new MutationObserver(look);
        watch.observe(page, {attributes: true});
        look();
    });
    const taken = [];
    for (const place of places) {
        const control = document.querySelector(selector);
        await painted();
        const began = performance.now();
        control.value = place;
        control.dispatchEvent(new Event("input", {bubbles: true}));
        await shown();
        await painted();
        taken.push(performance.now() - began);
        await new Promise((done) => setTimeout(done, 30));
    }
    return taken;
}"""


def run() -> Iterator[Table]:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only the tests' extra has it

    program = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if program is None:
        raise SystemExit("python -m benchmarks page needs a browser: apt-get install chromium")
    command = [sys.executable, "-m", "inbounds", "explore", "--no-browser", "--port", "0"]
    table = new_table(
        f"{_CHANGES} changes of each kind, from the hand's move to the painted answer",
        "Bounds 0 and 120, the best mechanism. Values are anywhere; the slider of epsilon goes to "
        "anywhere from 0.01 to 10, and then that of the sensitivity from 0.01 to 120.",
        *("what moves", "δ", "median", "95 %", "slowest"),
        labels=("what moves", "δ"),
    )
    table.columns[0].justify = "left"
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            with sync_playwright() as playwright:
                sandbox = [] if os.getuid() else ["--no-sandbox"]
                browser = playwright.chromium.launch(executable_path=program, args=sandbox)
                for delta in ("0", "1e-6"):
                    for row in _rows(browser.new_page(), address, delta):
                        table.add_row(*row)
                browser.close()
        finally:
            server.terminate()
    yield table


def _rows(page: Any, address: str, delta: str) -> Iterator[tuple[str, ...]]:
    page.goto(address)
    page.locator("main[data-state=settled]").wait_for()
    if delta != "0":
        page.get_by_text("ε with δ", exact=True).click()
        page.get_by_role("textbox", name="δ", exact=True).fill(delta)
    random = Random(delta)
    for what, (control, most) in _CONTROLS.items():
        page.locator("main[data-state=settled]").wait_for()
        places = [str(random.randrange(most)) for _ in range(_CHANGES)]
        taken = [one / 1e3 for one in page.evaluate(_MOVED, [control, places])]
        times = median(taken), quantiles(taken, n=20)[-1], max(taken)
        yield what, delta, *map(duration, times)
