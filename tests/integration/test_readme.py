"""Every example in the documentation runs: Python blocks, commands, and options that pages name.

`docs/run_page.py` runs the blocks of a page in order and compares what they print with what the
page shows. Commands that the README shows in a sentence run, too; other pages only name commands,
whose options are checked. A block that cannot run has a comment above it that says why:
`<!-- not run: needs a PostgreSQL server -->`.
"""

import importlib.util
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from inbounds.cli import main
from inbounds.cli.app import app

ROOT = Path(__file__).parents[2]


def load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAGE_RUNNER = ROOT / "docs/run_page.py"
runner = load(PAGE_RUNNER)
slug = load(ROOT / "docs/_ext/theorem.py").slug
blocks, FENCE, SHELLS = runner.blocks, runner.FENCE, runner.SHELLS
FILES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("tests/*/README.md")]
PAGES = {
    file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8")
    for file in sorted(FILES)
    if "_build" not in file.parts
}
README = PAGES["README.md"]
SPAN = re.compile(r"(?<!`)`([^`]+)`(?!`)")


def shell_commands(block: Any) -> list[str]:
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
    return {slug(title) for title in titles}


def run(folder: Path, *command: str | Path) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", *command],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
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
PROGRAMS = ("python", *SHELLS)
WITH_EXAMPLES = [
    name
    for name, text in PAGES.items()
    if any(block.language in PROGRAMS and block.reason is None for block in blocks(text))
]
WITH_COMMANDS = [name for name, text in PAGES.items() if any(commands(text))]
# `inbounds audit` by itself is a name; with an argument or an option it is something to run.
RUNNABLE = [
    span for span in SPAN.findall(FENCE.sub("", README)) if re.match(r"inbounds \w+ ", span)
]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_examples_of_a_page_run_and_print_what_it_shows(name: str, tmp_path: Path) -> None:
    run(tmp_path, PAGE_RUNNER, ROOT / name)


def test_the_first_snippet_runs_by_itself(tmp_path: Path) -> None:
    checks = """
assert 0 <= m.release(ages.mean()) <= 120
assert all(abs(end - output) < 0.4 for end in m.confidence(output, 0.95))
"""
    (tmp_path / "snippet.py").write_text(blocks(README)[0].code + checks, encoding="utf-8")
    run(tmp_path, "snippet.py")


@pytest.mark.parametrize("command", RUNNABLE)
def test_a_command_in_a_sentence_of_the_readme_runs(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
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


@pytest.mark.parametrize("name", PAGES)
def test_every_fence_of_a_page_is_one_that_is_run(name: str) -> None:
    """Other ways to write a block of code would be shown and not run."""
    outside = FENCE.sub("", PAGES[name])
    assert re.findall(r"^\s*>?\s*(?:~~~|```).*", outside, re.MULTILINE) == []
    assert "{code-block}" not in PAGES[name]


def test_the_examples_were_found() -> None:
    assert {"README.md", "docs/ledger.md", "docs/tutorials/first-release.md"} <= set(WITH_EXAMPLES)
    run_blocks = [
        block
        for text in PAGES.values()
        for block in blocks(text)
        if block.language in PROGRAMS and block.reason is None
    ]
    assert len(run_blocks) >= 150
    assert RUNNABLE


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
    languages = {block.language for block in blocks(PAGES[name])}
    others = {language for language in languages if not re.fullmatch(r"\{[\w-]+\}", language)}
    assert others <= {*PROGRAMS, "", "text", "markdown", "json", "sql"}


@pytest.mark.parametrize("name", PAGES)
def test_every_mark_stands_above_a_block_and_gives_a_reason(name: str) -> None:
    assert "<!-- not run" not in FENCE.sub("", PAGES[name])


def ran(page: str, folder: Path) -> str:
    (folder / "page.md").write_text(page, encoding="utf-8")
    return run(folder, PAGE_RUNNER, "page.md")


def test_blocks_run_in_order_and_marked_ones_do_not(tmp_path: Path) -> None:
    page = (
        "```python\nx = 1\n```\n"
        "<!-- not run: no server -->\n```python\ny\n```\n"
        "```python\nopen('x.txt', 'w').write(str(x))\n```\n"
        "```sh\nmake demo\ncat x.txt\n```\n\n```text\n7\n```\n"
    )
    assert ran(page, tmp_path) == "page.md: 3 blocks\n"


@pytest.mark.parametrize(
    "page",
    [
        "```python\nprint('two words', 1.5)\n```\n```text\ntwo words\n```\n",
        "```sh\necho one\n```\n```text\ntwo\n```\n",
        "```python\nprint(1.5)\n```\n```text exact\n1.4\n```\n",
        "```python\nprint(1.5)\n```\n```text exakt\n1.5\n```\n",
        "```python\nprint('--a')\n```\n```text exact\na\n```\n",
        "```python\nx = 1\n```\nprose\n```text\nshown\n```\n",
        "```python\nimport sys; sys.exit(0)\n```\n",
        "```sh\nfalse | cat\n```\n",
        "```sh\nfalse\n```\n",
        "```python\nassert False\n```\n",
        "```python\nimport warnings; warnings.warn('x')\n```\n",
    ],
)
def test_what_a_page_does_not_show_is_noticed(page: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        ran(page, tmp_path)


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
    code = f"{wide}print(ib.compare(ib.Box(0, 120), 2.5, epsilon=1.0))"
    printed = run(tmp_path, "-c", code)
    table = README[README.index("| mechanism | scale |") :].partition("\n\n")[0]
    for row in table.splitlines()[2:]:
        name, *cells = (cell.strip() for cell in row.strip("|").split("|"))
        line = next(line for line in printed.splitlines() if line.startswith(f"{name}  "))
        shown, told = [cell for cell in cells if cell], re.split(r"\s{2,}", line.strip())[1:]
        assert told[: len(shown)] == shown  # further columns are left out
