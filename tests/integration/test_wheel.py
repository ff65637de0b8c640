"""The wheel, as users will install it: alone, with each extra, and with all of them.

Real environments, made by pip from a folder of wheels that is downloaded once.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest

import inbounds
from inbounds._extra import PACKAGES

from . import surface

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = sorted(set(PROJECT["optional-dependencies"]) - {"bench", "demo", "dev", "docs"})
HAVE_SPARK = ("all", "spark")
PINNED = ["-c", str(ROOT / "constraints.txt")]


def run(*command: object, **options: object) -> str:
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, **options
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def pip(*words: object, python: object = sys.executable) -> None:
    quiet = ("-q", "--no-input", "--disable-pip-version-check")
    # Builds of source archives are isolated, and the pins hold there too.
    pins = os.environ | {"PIP_CONSTRAINT": "constraints.txt"}
    run(sys.executable, "-m", "pip", "--python", python, *words, *quiet, cwd=ROOT, env=pins)


def build(folder: Path, source: Path, *kinds: str) -> None:
    run(sys.executable, "-m", "build", "--no-isolation", *kinds, "--outdir", folder, source)


@pytest.fixture(scope="session")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source archive and the wheel, each built from the checkout."""
    folder = tmp_path_factory.mktemp("dist")
    build(folder, ROOT, "--sdist", "--wheel")
    return folder


@pytest.fixture(scope="session")
def wheel(dist: Path) -> Path:
    return next(dist.glob("*.whl"))


@pytest.fixture(scope="session")
def wheelhouse(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Wheels of everything that any extra needs."""
    folder = tmp_path_factory.mktemp("wheels")
    pip("wheel", *PINNED, "--wheel-dir", folder, f"{wheel}[all]")
    return folder


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_source_archive_builds_the_same_wheel(dist: Path, wheel: Path, tmp_path: Path) -> None:
    with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
        archive.extractall(tmp_path, filter="data")
    build(tmp_path / "again", next(tmp_path.glob("inbounds-*")), "--wheel")
    assert contents(next((tmp_path / "again").glob("*.whl"))) == contents(wheel)


def test_the_source_archive_holds_what_the_makefile_needs(dist: Path) -> None:
    with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for needed in ("Makefile", "constraints.txt", "README.md", "CITATION.cff", "LICENSE"):
        assert needed in names
    for folder in ("examples/demo.py", "tests/conftest.py", "benchmarks/__main__.py"):
        assert folder in names


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    names = set(contents(wheel))
    assert {"inbounds/py.typed", "inbounds/data/anes96.csv"} <= names
    page = ROOT / "src" / "inbounds" / "cli" / "explore" / "static"
    assert {f"inbounds/cli/explore/static/{path.name}" for path in page.iterdir()} <= names
    assert {name.partition("/")[0] for name in names} == {
        "inbounds",
        f"inbounds-{inbounds.__version__}.dist-info",
    }


def install(home: Path, wheelhouse: Path, wanted: object) -> None:
    source = ("--no-index", "--find-links", wheelhouse)
    pip("install", "--no-compile", *source, wanted, python=home / "bin" / "python")


def copied(home: Path, to: Path) -> Path:
    """Return a copy of an environment, with the code that its first run compiled."""
    shutil.copytree(home, to, symlinks=True, copy_function=os.link)
    return to


def used(home: Path, *, optional: bool = False) -> dict[str, Any]:
    """Return what using every public name reports, or what needs an optional package."""
    plain = {"PATH": os.environ["PATH"], "HOME": str(home)}
    script = Path(surface.__file__)
    which = ["optional"] if optional else []
    report: dict[str, Any] = json.loads(
        run(home / "bin" / "python", "-I", script, *which, cwd=home, env=plain)
    )
    return report


@pytest.fixture(scope="session")
def bare(wheel: Path, wheelhouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel and what it requires, and no extra; used once."""
    home = tmp_path_factory.mktemp("bare") / "env"
    venv.create(home)
    install(home, wheelhouse, wheel)
    used(home)
    return home


@pytest.fixture(scope="session")
def with_spark(
    bare: Path, wheel: Path, wheelhouse: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The same with Spark, which takes longer to unpack than everything else together."""
    home = copied(bare, tmp_path_factory.mktemp("spark") / "env")
    install(home, wheelhouse, f"{wheel}[spark]")
    return home


@pytest.mark.parametrize("extra", ["", *EXTRAS])
def test_every_public_name_works_or_names_the_package_that_is_missing(
    extra: str, wheel: Path, wheelhouse: Path, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    first = request.getfixturevalue("with_spark" if extra in HAVE_SPARK else "bare")
    home = copied(first, tmp_path / "env")
    if extra:
        install(home, wheelhouse, f"{wheel}[{extra}]")
    optional = extra not in ("", "all")  # what needs nothing else is used in these two
    report = used(home, optional=optional)
    assert Path(report["file"]).is_relative_to(home)
    assert promised(extra) <= set(report["installed"])
    if not extra:
        assert report["installed"] == []
    for use, (needs, of, _) in surface.USES.items():
        left_out = optional and not (needs or of)
        assert (use in report["uses"]) == (set(of) <= set(report["installed"]) and not left_out)
    for use, found in report["uses"].items():
        missing = set(found["needs"]) - set(report["installed"])
        if missing:
            assert found["outcome"] in {message(module) for module in missing}, use
        else:
            assert found["outcome"] is None, use


def promised(extra: str) -> set[str]:
    """The optional modules that an extra, and those it includes, should have brought."""
    requirements = PROJECT["optional-dependencies"].get(extra, [])
    modules = {package: module for module, (package, _) in PACKAGES.items()}
    found: set[str] = set()
    for requirement in requirements:
        if included := re.match(r"inbounds\[(.*)\]", requirement):
            found |= set().union(*map(promised, included[1].split(",")))
        else:
            found.add(modules[re.match(r"[\w-]+", requirement)[0]])
    return found - {"psycopg", "numba"}  # no use in the script: a server, millions of values


def message(module: str) -> str:
    package, extra = PACKAGES[module]
    return (
        f"this needs the package {package}, which is not installed. "
        f"Hint: pip install 'inbounds[{extra}]'"
    )


def test_the_script_uses_every_public_name() -> None:
    source = Path(surface.__file__).read_text()
    unused = [name for name in inbounds.__all__ if f"ib.{name}" not in source]
    assert unused == []
    frames = [name for name in inbounds.frames.__all__ if not re.search(rf"\b{name}\b", source)]
    assert frames == []
