#!/usr/bin/env python3
"""Take the picture of the page of `inbounds explore` that the documentation shows.

Run: .venv/bin/python scripts/explore_picture.py. It needs Chromium.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "explore.png"
COMMAND = [sys.executable, "-m", "inbounds", "explore", "--no-browser", "--port", "0"]


def main() -> None:
    """Write docs/explore.png."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    sandbox = [] if os.getuid() else ["--no-sandbox"]
    with (
        subprocess.Popen(COMMAND, stdout=subprocess.PIPE, text=True) as server,
        sync_playwright() as playwright,
    ):
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        browser = playwright.chromium.launch(executable_path=program, args=sandbox)
        page = browser.new_page(
            viewport={"width": 1280, "height": 860}, color_scheme="light", reduced_motion="reduce"
        )
        page.goto(address)
        page.get_by_label("Mechanism", exact=True).first.select_option("bounded-gaussian")
        page.get_by_role("textbox", name="ε", exact=True).first.fill("0.5")
        page.locator("main[data-state=settled]").wait_for()
        page.evaluate("document.activeElement.blur()")
        page.screenshot(path=PICTURE)
        browser.close()
        server.terminate()


if __name__ == "__main__":
    main()
