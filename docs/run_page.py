"""Run the examples of a page and compare what they print with what the page shows.

Python and shell blocks run in order, in one empty folder, with warnings as errors. Python blocks
share their variables. A `text` block below a block is what that block prints, with numbers masked,
because noise differs from run to run; a `text exact` block has no noise, and its numbers count. A
block that cannot run has a comment above it that says why:
`<!-- not run: needs a PostgreSQL server -->`.

Run: python docs/run_page.py docs/tutorials/first-release.md
"""

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any, NamedTuple

FENCE = re.compile(
    r"(?:^<!-- not run: (?P<reason>.+?) -->\n+)?"
    r"^(?P<indent> *)```(?P<language>[^\s`]*)(?P<mark>[^\n]*)\n(?P<code>.*?)^ *```$",
    re.MULTILINE | re.DOTALL,
)
SHELLS = ("sh", "bash", "shell", "console")
# They set up machines; a test checks that their targets and extras exist.
_INSTALLERS = ("make", "pip")
_NUMBER = re.compile(r"[-−+]?(?:\d[\d_,]*\.?\d*|\.\d+)(?:e[-+]?\d+)?")


class Block(NamedTuple):
    """A fenced block of a page, and why it cannot run, if it cannot."""

    language: str
    mark: str
    code: str
    line: int
    reason: str | None
    end: int


class DifferentOutputError(AssertionError):
    """A block prints something else than the page shows."""


def blocks(text: str) -> list[Block]:
    """Return the fenced blocks of a page; `line` is where the code starts, counted from 0."""
    return [
        Block(
            m["language"],
            m["mark"].strip(),
            re.sub(f"^{m['indent']}", "", m["code"], flags=re.MULTILINE),
            text[: m.start("code")].count("\n"),
            m["reason"],
            m.end(),
        )
        for m in FENCE.finditer(text)
    ]


def shown_below(text: str, page_blocks: list[Block], index: int) -> Block | None:
    """Return the `text` block that follows a block with nothing but blank lines between them."""
    if index + 1 == len(page_blocks):
        return None
    block, below = page_blocks[index], page_blocks[index + 1]
    between = text[block.end :].split("```", 1)[0]
    return below if below.language == "text" and not between.strip() else None


def told(printed: str, *, exact: bool) -> str:
    """Return text without what may differ: white space, the lines of tables and random numbers."""
    words = re.sub(r"[─-╿]|(?<!\S)[|=~-]{2,}(?!\S)", " ", printed)
    return " ".join((words if exact else _NUMBER.sub("#", words)).split())


def run_shell(code: str) -> str:
    """Run the commands of a block and return what they print; those that set up machines do not."""
    lines = code.replace("\\\n", " ").splitlines()
    if any(line.startswith("$ ") for line in lines):
        lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    kept = [line for line in lines if line.split(maxsplit=1)[:1] not in ([i] for i in _INSTALLERS)]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "COLUMNS": "100"}
    # The exit codes of commands are 0 for success; `audit` has 3 for a claim that it refuted.
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail"],
        input="\n".join(kept),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"exit code {done.returncode}: {done.stderr or done.stdout}")
    return done.stdout


def run_python(code: str, line: int, page: str, names: dict[str, Any]) -> str:
    """Run a block and return what it prints; a traceback names the lines of the page."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile("\n" * line + code, page, "exec"), names)
        except SystemExit:
            raise DifferentOutputError(f"{page}:{line} ends the program") from None
    return printed.getvalue()


def run_page(path: Path) -> int:
    """Run a page in the current folder and return how many blocks ran."""
    text = path.read_text(encoding="utf-8")
    page_blocks = blocks(text)
    names: dict[str, Any] = {"__name__": "__main__"}
    count, compared = 0, set[int]()
    for index, block in enumerate(page_blocks):
        if block.language == "text" and block.mark not in ("", "exact"):
            raise DifferentOutputError(f"{path}:{block.line} has the unknown mark {block.mark!r}")
        if block.language == "text" and index not in compared:
            raise DifferentOutputError(f"{path}:{block.line} is below no block that prints it")
        if block.language not in ("python", *SHELLS):
            continue
        shown = shown_below(text, page_blocks, index)
        if shown is not None:
            compared.add(index + 1)
        if block.reason is not None:
            continue
        if block.language == "python":
            printed = run_python(block.code, block.line, str(path), names)
        else:
            printed = run_shell(block.code)
        count += 1
        if shown is None:
            continue
        exact = shown.mark == "exact"
        if told(shown.code, exact=exact) != told(printed, exact=exact):
            message = f"{path}:{block.line} prints\n{printed}\nand the page shows\n{shown.code}"
            raise DifferentOutputError(message)
    return count


def main() -> None:
    """Run the pages named on the command line, each in a folder of its own."""
    os.environ["COLUMNS"] = "100"
    warnings.simplefilter("error")
    for page in map(Path.resolve, map(Path, sys.argv[1:])):
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            count = run_page(page)
        print(f"{page.name}: {count} blocks")


if __name__ == "__main__":
    main()
