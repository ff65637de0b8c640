"""Every example in the documentation runs: Python blocks, commands, and options that pages name.

The Python blocks of one page run in order, in one process. Commands in shell blocks, and those
that the README shows in a sentence, run too; other pages only name commands, whose options are
checked. A block that cannot run has a comment above it that says why:
`<!-- not run: needs a PostgreSQL server -->`.
"""

import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pytest
from typer.main import get_command

from inbounds.cli import main
from inbounds.cli.app import app

ROOT = Path(__file__).parents[2]
FILES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("tests/*/README.md")]
PAGES = {
    file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8") for file in sorted(FILES)
}
README = PAGES["README.md"]
FENCE = re.compile(
    r"(?:^<!-- not run: (?P<reason>.+?) -->\n+)?^ *```(?P<language>\w*)\n(?P<code>.*?)^ *```$",
    re.MULTILINE | re.DOTALL,
)
SHELLS = ("sh", "bash", "shell", "console")
SPAN = re.compile(r"(?<!`)`([^`]+)`(?!`)")
PEOPLE = {"age": [23, 41, 58] * 40, "district": ["north", "south", "west"] * 40}


class Block(NamedTuple):
    """A fenced block of a page, and why it cannot run, if it cannot."""

    language: str
    code: str
    line: int
    reason: str | None = None


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page; `line` is where the code starts, counted from 0."""
    return [
        Block(m["language"], m["code"], text[: m.start("code")].count("\n"), m["reason"])
        for m in FENCE.finditer(text)
    ]


def python_source(text: str) -> str:
    """The Python of a page, on the lines where it stands, so that a traceback names them."""
    lines = [""] * (text.count("\n") + 1)
    for block in blocks(text):
        if block.language == "python" and block.reason is None:
            code = block.code.splitlines()
            lines[block.line : block.line + len(code)] = code
    return "\n".join(lines)


def shell_commands(block: Block) -> list[str]:
    """The commands of a shell block, without prompts, comments and what they print."""
    lines = block.code.replace("\\\n", " ").splitlines()
    if block.language == "console":
        lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    return [shlex.join(words) for line in lines if (words := shlex.split(line, comments=True))]


def commands(text: str) -> Iterator[str]:
    """Every command of a page, in a block that can run or in a sentence."""
    for block in blocks(text):
        if block.language in SHELLS and block.reason is None:
            yield from shell_commands(block)
    for span in SPAN.findall(FENCE.sub("", text)):
        if re.match(r"(inbounds|make|pip|scripts/\w+|[A-Z_]+=\S+|\.venv/bin/\w+) ", span):
            yield span


def headings(text: str) -> set[str]:
    """The anchors of a page's headings."""
    titles = re.findall(r"^#+ (.+)$", FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}


def run(code: str, folder: Path, name: str = "snippet.py") -> str:
    (folder / name).write_text(code, encoding="utf-8")
    command = [sys.executable, "-W", "error", name]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def check_inbounds(words: list[str]) -> None:
    """Commands exist and have the options named."""
    command: Any = get_command(app)
    while words and hasattr(command, "commands") and not words[0].startswith("-"):
        assert words[0] in command.commands, words
        command = command.commands[words.pop(0)]
    options = {name for option in command.params for name in option.opts} | {"--help"}
    assert {word.partition("=")[0] for word in words if word.startswith("--")} <= options, words


def check_make(words: list[str]) -> None:
    """Targets exist."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = {word for word in words if "=" not in word}
    assert targets <= set(re.findall(r"^([\w-]+):.*## ", makefile, re.MULTILINE)), targets


def check_pip(words: list[str]) -> None:
    """What is installed is this package, and its extras exist."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert words.pop(0) == "install"
    for word in words:
        name, _, extras = word.removesuffix("]").partition("[")
        assert name in (".", project["name"])
        assert set(extras.split(",")) <= {"", *project["optional-dependencies"]}


def check_files(words: list[str]) -> None:
    """Files of tests and scripts exist."""
    assert [word for word in words if "/" in word and not (ROOT / word).exists()] == []


CHECKS = {"inbounds": check_inbounds, "make": check_make, "pip": check_pip}
WITH_PYTHON = [name for name, text in PAGES.items() if python_source(text).strip()]
WITH_COMMANDS = [name for name, text in PAGES.items() if any(commands(text))]
# `inbounds audit` by itself is a name; with an argument or an option it is something to run.
RUNNABLE = [
    command
    for name, text in PAGES.items()
    for command in commands(text)
    if re.match(r"inbounds \w+ ", command)
    and (name == "README.md" or command not in SPAN.findall(text))
]


@pytest.mark.parametrize("name", WITH_PYTHON)
def test_the_python_of_a_page_runs_in_order(name: str, tmp_path: Path) -> None:
    checks = """
assert 0 <= m.release(ages.mean()) <= 120
assert all(abs(end - output) < 0.4 for end in m.confidence(output, 0.95))
assert type(hidden).__name__ == "Optimal"
"""
    source = python_source(PAGES[name])
    printed = run(source + checks * (name == "README.md"), tmp_path, Path(name).stem + ".py")
    assert name != "README.md" or "Lowest error: Optimal (RMSE 3.3" in printed


def test_the_first_snippet_runs_by_itself(tmp_path: Path) -> None:
    run(blocks(README)[0].code, tmp_path)


@pytest.mark.parametrize("command", RUNNABLE)
def test_a_command_runs(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    pd.DataFrame(PEOPLE).to_parquet("people.parquet")
    if command.startswith("inbounds estimate private.parquet"):
        (before,) = (c for c in RUNNABLE if c.startswith("inbounds privatize people.parquet"))
        assert main(shlex.split(before)[1:]) == 0
    assert main(shlex.split(command)[1:]) == 0


@pytest.mark.parametrize("name", WITH_COMMANDS)
def test_commands_and_options_that_a_page_names_exist(name: str) -> None:
    for command in commands(PAGES[name]):
        words = [word for word in shlex.split(command) if not re.match(r"[A-Z_]+=", word)]
        program = words[0]
        if program in CHECKS:
            CHECKS[program](words[1:])
        else:
            assert program.startswith((".venv/bin/", "scripts/")), command
            check_files([word for word in words if not word.startswith(".venv/bin/")])


def test_the_examples_were_found() -> None:
    assert {"README.md", "docs/ledger.md"} <= set(WITH_PYTHON)
    assert len([block for block in blocks(README) if block.language == "python"]) >= 7
    assert len(RUNNABLE) >= 5


@pytest.mark.parametrize("name", PAGES)
def test_every_link_of_a_page_leads_somewhere(name: str) -> None:
    text = SPAN.sub("", FENCE.sub("", PAGES[name]))
    for link in re.findall(r"\]\((?!https?:)([^)]+)\)", text):
        path, _, heading = link.partition("#")
        target = ((ROOT / name).parent / path) if path else ROOT / name
        assert target.exists(), link
        assert not heading or heading in headings(target.read_text(encoding="utf-8")), link


def test_every_file_that_the_glossary_names_exists() -> None:
    paths = re.findall(r"`([\w./-]+\.(?:py|md|toml))`", PAGES["docs/glossary.md"])
    assert len(paths) > 50
    roots = (ROOT / "src/inbounds", ROOT / "docs")
    assert [path for path in paths if not any((root / path).exists() for root in roots)] == []


@pytest.mark.parametrize("name", PAGES)
def test_every_block_has_a_language_that_is_run_or_is_no_program(name: str) -> None:
    assert {block.language for block in blocks(PAGES[name])} <= {
        "python",
        *SHELLS,
        "",
        "markdown",
        "json",
    }


@pytest.mark.parametrize("name", PAGES)
def test_every_mark_stands_above_a_block_and_gives_a_reason(name: str) -> None:
    assert "<!-- not run" not in FENCE.sub("", PAGES[name])


def test_a_marked_block_is_left_out_and_others_keep_their_lines() -> None:
    page = "a\n```python\nx = 1\n```\n<!-- not run: no server -->\n```python\ny\n```\n"
    assert [block.reason for block in blocks(page)] == [None, "no server"]
    assert python_source(page).splitlines()[2] == "x = 1"
    assert "y" not in python_source(page)


def test_commands_are_read_without_prompts_comments_and_output() -> None:
    page = (
        "```console\n$ inbounds audit  # here\nfine\n```\n```sh\nmake \\\n  demo\n```\n`make x`\n"
    )
    assert list(commands(page)) == ["inbounds audit", "make demo", "make x"]


@pytest.mark.parametrize(
    "command", ["inbounds nothing x", "inbounds audit --nothing", "inbounds ledger open --nothing"]
)
def test_a_command_or_an_option_that_does_not_exist_is_noticed(command: str) -> None:
    with pytest.raises(AssertionError):
        check_inbounds(command.split()[1:])


def test_the_table_of_mechanisms_is_what_the_command_computes(tmp_path: Path) -> None:
    wide = "import os; os.environ['COLUMNS'] = '200'; import inbounds as ib\n"
    printed = run(f"{wide}print(ib.compare(ib.Box(0, 120), 2.5, epsilon=1.0))", tmp_path)
    table = README[README.index("| mechanism | scale |") :].partition("\n\n")[0]
    for row in table.splitlines()[2:]:
        name, *cells = (cell.strip() for cell in row.strip("|").split("|"))
        line = next(line for line in printed.splitlines() if line.startswith(f"{name}  "))
        shown, told = [cell for cell in cells if cell], re.split(r"\s{2,}", line.strip())[1:]
        first = max(1, len(shown) - 2)  # true epsilon and a comparison with Liu's are left out
        assert told[:first] == shown[:first]
        assert len(shown) == 1 or told[-2:] == shown[-2:]
