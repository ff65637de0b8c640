"""How much disk space `pip install` of the base package takes, by package, beside diffprivlib.

The wheel of the working tree goes into an empty environment with the pinned versions of what it
needs and no extras, as for a user: with compiled bytecode and without pip. It takes a minute or
two, so that `make bench` leaves it out.

Run: python -m benchmarks install
"""

import json
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.table import Table

from benchmarks.results import FOLDER
from benchmarks.timing import judged, new_table

AIM = 250e6
SAVED = FOLDER / "install.json"

_ROOT = Path(__file__).parents[1]
_PIP = (sys.executable, "-m", "pip", "--no-input", "--disable-pip-version-check", "-qq")
_RIVAL = "diffprivlib"
# Run in the new environment: the bytes of each package, by what it declares as its files, and those
# of its bytecode.
_SIZES = """
import importlib.metadata as m, json, os
def sizes(d):
    paths = {os.path.realpath(f.locate()) for f in d.files or ()}
    found = {p: os.path.getsize(p) for p in paths if os.path.exists(p)}
    return [sum(found.values()), sum(n for p, n in found.items() if p.endswith(".pyc"))]
print(json.dumps({d.name: sizes(d) for d in m.distributions()}))
"""
Sizes = dict[str, list[int]]


def run() -> Iterator[Table]:
    with TemporaryDirectory() as folder:
        wheels = Path(folder, "wheels")
        # hatchling is in this environment, so that building fetches nothing
        _run(*_PIP, "wheel", "--no-deps", "--no-build-isolation", "-w", wheels, _ROOT)
        (wheel,) = wheels.glob("inbounds-*.whl")
        ours = _sizes(Path(folder, "ours"), "-c", _ROOT / "constraints.txt", wheel)
        rival = _sizes(Path(folder, "rival"), "-r", _ROOT / f"benchmarks/{_RIVAL}-requirements.txt")
    SAVED.parent.mkdir(exist_ok=True)
    SAVED.write_text(json.dumps({"inbounds": ours, _RIVAL: rival}, indent=1))
    yield _table(ours, rival)


def saved_totals() -> tuple[int, int] | None:
    """Return the bytes of inbounds and of diffprivlib, if they were measured."""
    if not SAVED.exists():
        return None
    sizes = json.loads(SAVED.read_text())
    return _total(sizes["inbounds"]), _total(sizes[_RIVAL])


def _total(sizes: Sizes, kind: int = 0) -> int:
    return sum(each[kind] for each in sizes.values())


def _sizes(folder: Path, *wanted: str | Path) -> Sizes:
    """Install into an empty environment; return the bytes of each package, and of its bytecode."""
    venv.create(folder, with_pip=False)
    python = folder / "bin/python"
    _run(*_PIP, "--python", python, "install", *wanted)
    sizes: Sizes = json.loads(_run(python, "-c", _SIZES))
    return sizes


def _run(*command: str | Path) -> str:
    done = subprocess.run(command, cwd=_ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


def _table(ours: Sizes, rival: Sizes) -> Table:
    table = new_table(
        "What pip install writes, without extras",
        "MB of 10⁶ bytes, and of it bytecode, which pip compiles and other installers do not. "
        f"Aim for all of inbounds: {AIM / 1e6:.0f} MB.",
        *("package", "inbounds", "bytecode", _RIVAL, "bytecode"),
    )
    table.columns[0].justify = "left"
    largest = {name: max(x.get(name, [0])[0] for x in (ours, rival)) for name in ours | rival}
    for name in sorted(largest, key=lambda name: -largest[name]):
        table.add_row(name, *_cells(ours.get(name)), *_cells(rival.get(name)))
    table.add_section()
    totals = [[_total(x), _total(x, 1)] for x in (ours, rival)]
    shown, *others = [*_cells(totals[0]), *_cells(totals[1])]
    table.add_row("all", judged(shown, totals[0][0] <= AIM), *others)
    return table


def _cells(sizes: list[int] | None) -> list[str]:
    return ["", ""] if sizes is None else [f"{size / 1e6:.1f}" for size in sizes]
