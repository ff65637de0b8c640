"""What mypy and pyright tell somebody who uses the library, and that it is the truth.

pyright comes as basedpyright, which needs no download when it runs. In the modes "standard" and
"strict" its rules are pyright's own.
"""

import doctest
import json
import os
import re
import subprocess
import sys
import types
import typing
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple, Union

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
CHECKERS = ("mypy", "pyright")

# What the README uses without defining it.
README_NAMES = """
import pandas as pd
import inbounds as ib
frame = pd.DataFrame()
other = ib.BoundedLaplace(ib.Box(0, 1), 1, 1)
"""

SETUP = """\
from fractions import Fraction
from typing import Any, assert_type

import numpy as np
import pandas as pd
import polars as pl
from numpy.typing import NDArray

import inbounds as ib
from inbounds import queries
from inbounds.sensitivity import Sensitivity

Floats = NDArray[np.float64]
box, square = ib.Box(0, 120), ib.Box([0, 1], [10, 9])
m = ib.BoundedGaussian(box, 2.5, 20)
whole = ib.ClampedLaplace(ib.Box(0, 120, step=1), 2.5, scale=np.float32(20))
joint = ib.BoundedGaussian(square, ib.L2(4) & ib.PerCoordinate([4, 2]), sigma=[3, 4])
row = np.array([2.5, 4])
column = pl.Series("age", [41, 17])
found = ib.deconvolve(m.release([41.3, 17]), m, bootstrap=0)
degree = queries.graph.degree(np.ones((3, 3)), node=0, edges=1)
either = degree.value if len(column) > 2 else row
ledger = ib.Ledger("budget.db")
ledger.open("survey", epsilon=10)
"""

# An expression, and the type that both checkers must find for it and its value must have.
CALLS = [
    ("box.lower", "float | Floats"),
    ("ib.Box(np.int64(0), np.float32(9)).upper", "float | Floats"),
    ("ib.Box(np.zeros(2), (1, 2.5)).upper", "float | Floats"),
    ("ib.Box([0, 0], 9, step=[1, None]).step", "float | tuple[float | None, ...] | None"),
    ("ib.PerCoordinate(np.ones(2, dtype=np.int8)).bound", "float | Floats"),
    ("ib.L1(np.int64(1)) & ib.LInf(Fraction(1, 2))", "Sensitivity"),
    ("m.sigma", "float | Floats"),
    ("joint.sensitivity", "Sensitivity"),
    ("ib.BoundedLaplace(domain=square, sensitivity=1, scale=column).scale", "float | Floats"),
    ("ib.ClampedGaussian(square, 1, (1, 2)).domain", "ib.Box"),
    ("m.release(41.3)", "float"),
    ("m.release(41)", "float"),
    ("m.release(np.float32(41.3), equal_time=False)", "float"),
    ("m.release(Fraction(41, 3))", "float"),
    ("whole.release(np.int64(41))", "float"),
    ("m.release([41.3, 17])", "NDArray[Any]"),
    ("whole.release(range(5))", "NDArray[Any]"),
    ("m.release(np.array([[41, 17]]))", "NDArray[Any]"),
    ("joint.release([[2.5, 4], (3, np.int64(4)), row])", "NDArray[Any]"),
    ("m.release(column)", "pl.Series"),
    ("m.release(column.to_frame())", "Any"),
    ("joint.release(either)", "float | NDArray[Any]"),
    ("m.mean(41)", "float"),
    ("m.mean(column)", "Floats"),
    ("joint.bias([2.5, 4])", "Floats"),
    ("m.variance(np.float64(3))", "float"),
    ("m.variance(row)", "Floats"),
    ("m.mse(3)", "float"),
    ("joint.mse(either)", "float | Floats"),
    ("whole.mass_at_bounds(3)", "tuple[float, float]"),
    ("whole.mass_at_bounds([3])", "tuple[Floats, Floats]"),
    ("m.pdf(1, 2)", "float"),
    ("m.pdf([1, 2], 2)", "Floats"),
    ("m.cdf(1, [2, 3])", "Floats"),
    ("m.cdf([1, 2], row)", "Floats"),
    ("m.quantile(0.5, 41)", "float"),
    ("joint.quantile(0.5, row)", "Floats"),
    ("m.output_interval(41, 0.95)", "tuple[float, float]"),
    ("joint.output_interval([2.5, 4], level=np.float32(0.95))", "tuple[Floats, Floats]"),
    ("m.denoise(41.3)", "float"),
    ("joint.denoise(joint.release([2.5, 4]))", "Floats"),
    ("ib.compose([m, (joint, 2), m.loss(), (m.loss(), 3)])", "ib.Composition"),
    ("ledger.release(m, 41.3, dataset='survey')", "float"),
    ("ledger.release(m, 41.3, dataset='survey', unit=ib.Unit('replace', 'person'))", "float"),
    ("m.loss(ib.Unit('add-remove')).converted(ib.Unit('replace', 'row', 3))", "ib.PrivacyLoss"),
    ("ib.compose([m], unit=ib.Unit('replace')).unit", "ib.Unit | None"),
    ("degree.unit", "ib.Unit | None"),
    ("ledger.release(m, column, dataset='survey')", "pl.Series"),
    ("m.confidence(41.3, 0.95)", "tuple[float, float]"),
    ("m.confidence([41.3, 17], 0.95)", "tuple[Floats, Floats]"),
    ("found.cdf(3)", "float"),
    ("found.quantile([0.25, 0.75])", "Floats"),
    ("found.histogram([0, 60, 120])", "tuple[Floats, Floats]"),
    ("ib.deconvolve(iter([row, row]), m, counts=[1, 2], bootstrap=0)", "ib.Deconvolution"),
    ("degree.value", "float"),
    ("queries.Query('age', 41, box, 2).sensitivity", "Sensitivity"),
    ("queries.stack([degree, queries.Query('row', [1, 2], square, 1)]).value", "Floats"),
    (
        "ib.privatize(pl.DataFrame({'a': [1]}), {'a': ib.ClampedLaplace(box, 120, 9)})",
        "pl.DataFrame",
    ),
    (
        "ib.privatize(pl.LazyFrame({'a': [1]}), {'a': ib.ClampedLaplace(box, 120, 9)})",
        "pl.LazyFrame",
    ),
]

# pandas has no types of its own for mypy, which takes all of it for Any; pyright reads its source.
PANDAS_CALLS = [
    ("m.release(pd.Series([1, 2]))", "pd.Series"),
    ("m.release(pd.Index([1, 2]))", "Any"),
    ("m.release(pd.DataFrame({'age': [1, 2]}))", "Any"),
    ("m.mse(pd.Series([1, 2]))", "Floats"),
    ("ib.Box(pd.Series([1, 2]), 4).lower", "float | Floats"),
    (
        "ib.privatize(pd.DataFrame({'a': [1]}), {'a': ib.ClampedLaplace(box, 120, 9)})",
        "pd.DataFrame",
    ),
]

WRONG = [
    "assert_type(m.release(41.3), str)",
    "assert_type(m.release([41.3]), float)",
    "assert_type(m.sigma, float)",
    "assert_type(m.pdf(1, [2]), float)",
    "ib.Box('a', 3)",
    "ib.Box(0)",
    "ib.Box(0, 1, 1)",
    "ib.Bx(0, 1)",
    "ib.L2([1, 2])",
    "ib.PerCoordinate('a')",
    "ib.BoundedGaussian(box, [1, 2], 1)",
    "ib.BoundedGaussian(box, 1, scale=1)",
    "ib.BoundedLaplace(box, 1, '1')",
    "ib.BoundedLaplace((0, 120), 1, 1)",
    "m.release('41.3')",
    "m.release(None)",
    "m.mean([1 + 2j])",
    "m.sigma = 3.0",
    "ib.compose([m, (2, m)])",
    "ledger.release(m, 'a', dataset='survey')",
]


class Finding(NamedTuple):
    """One error of a checker."""

    line: int
    message: str


Findings = dict[str, list[Finding]]


def blocks(markdown: str) -> list[str]:
    """The Python of a page: fenced blocks, those with prompts without them."""
    fenced = re.findall(r"^```python\n(.*?)^```", markdown, re.MULTILINE | re.DOTALL)
    examples = [doctest.DocTestParser().get_examples(block) for block in fenced]
    return [
        "".join(example.source for example in prompts) or block
        for block, prompts in zip(fenced, examples, strict=True)
    ]


def asserted(calls: list[tuple[str, str]]) -> str:
    return SETUP + "".join(f"assert_type({call}, {kind})\n" for call, kind in calls)


def run(*command: str, cwd: Path) -> str:
    env = {name: value for name, value in os.environ.items() if name != "MYPYPATH"}
    command = (sys.executable, "-m", *command)
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    return done.stdout


def by_mypy(folder: Path, files: list[Path]) -> Findings:
    """Check as a user does: the library is followed, but nothing is reported of it."""
    inside = ("cryptography", "dp_accounting", "duckdb", "flint", "narwhals", "numba", "optype")
    inside += ("pyspark", "scipy", "sqlalchemy")  # no public type names them: skipping saves time
    (folder / "mypy.ini").write_text(
        f"[mypy]\nstrict = true\nmypy_path = {ROOT / 'src'}\nfollow_imports = silent\n"
        "allow_redefinition = true\n"
        "[mypy-networkx.*,pandas.*,pyarrow.*,sklearn.*]\nignore_missing_imports = true\n"
        f"[mypy-{','.join(f'{name}.*' for name in inside)}]\nignore_missing_imports = true\n"
        "follow_imports = skip\nfollow_imports_for_stubs = true\n"
    )
    options = ["--config-file=mypy.ini", "--cache-dir=cache", "--output=json"]
    output = run("mypy", *options, *map(str, files), cwd=folder)
    found: Findings = defaultdict(list)
    for line in output.splitlines():
        error = json.loads(line)
        if error["severity"] == "error":
            found[Path(error["file"]).name].append(Finding(error["line"], error["message"]))
    return found


def by_pyright(folder: Path, files: list[Path]) -> Findings:
    """Check in pyright's standard mode; files may ask for its strict one."""
    settings = {
        "typeCheckingMode": "standard",
        "extraPaths": [str(ROOT / "src")],
        "include": list(map(str, files)),
        "reportUnusedExpression": "none",  # a page shows values by naming them
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    options = ["--project=pyrightconfig.json", f"--pythonpath={sys.executable}", "--outputjson"]
    report = json.loads(run("basedpyright", *options, cwd=folder))
    assert report["summary"]["filesAnalyzed"] == len(files)
    found: Findings = defaultdict(list)
    for error in report["generalDiagnostics"]:
        if error["severity"] != "information":
            line = error["range"]["start"]["line"] + 1
            found[Path(error["file"]).name].append(Finding(line, error["message"]))
    return found


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Findings]:
    """What each checker finds, in one run over everything."""
    folder = tmp_path_factory.mktemp("typing")
    readme = blocks((ROOT / "README.md").read_text(encoding="utf-8"))
    texts = {
        "readme.py": README_NAMES + "\n".join(readme),
        "calls.py": "# pyright: strict\n" + asserted(CALLS).replace("import pandas as pd\n", ""),
        "pandas_calls.py": asserted(PANDAS_CALLS),
        "wrong.py": SETUP + "\n".join(WRONG) + "\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    files = [*(folder / name for name in texts), *EXAMPLES]
    typed = [file for file in files if file.name != "pandas_calls.py"]
    return {"mypy": by_mypy(folder, typed), "pyright": by_pyright(folder, files)}


@pytest.mark.parametrize("checker", CHECKERS)
@pytest.mark.parametrize("name", ["readme.py", "calls.py", *(file.name for file in EXAMPLES)])
def test_a_checker_finds_nothing_wrong(
    findings: dict[str, Findings], checker: str, name: str
) -> None:
    assert findings[checker][name] == []


def test_pyright_knows_the_columns_of_pandas(findings: dict[str, Findings]) -> None:
    assert findings["pyright"]["pandas_calls.py"] == []


@pytest.mark.parametrize("checker", CHECKERS)
def test_a_checker_reports_every_wrong_line_and_no_other(
    findings: dict[str, Findings], checker: str
) -> None:
    lines = (SETUP + "\n".join(WRONG)).splitlines()
    reported = {finding.line for finding in findings[checker]["wrong.py"]}
    assert [lines[number - 1] for number in sorted(reported)] == WRONG


def test_the_readme_has_python_to_check() -> None:
    assert len(blocks((ROOT / "README.md").read_text(encoding="utf-8"))) > 1


def test_blocks_with_prompts_are_read_without_their_output() -> None:
    page = "```sh\nls\n```\n```python\nx = 1\n```\n```python\n>>> x + 1\n2\n```\n"
    assert blocks(page) == ["x = 1\n", "x + 1\n"]


def is_of(value: object, kind: Any) -> bool:
    """Whether a value has a type, as type checkers mean it: an int is a float."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return True
    if kind is float:
        return isinstance(value, int | float)
    if origin in {Union, types.UnionType}:
        return any(is_of(value, one) for one in arguments)
    if origin is np.ndarray:
        (scalar,) = typing.get_args(arguments[1])
        return isinstance(value, np.ndarray) and (scalar is Any or value.dtype == scalar)
    if origin is tuple and isinstance(value, tuple):
        inner = arguments[:1] * len(value) if arguments[1] is ... else arguments
        return len(inner) == len(value) and all(map(is_of, value, inner))
    return isinstance(value, kind)


def test_values_have_the_types_that_checkers_find(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(SETUP, names)
    for call, kind in [*CALLS, *PANDAS_CALLS]:
        assert is_of(eval(call, names), eval(kind, names)), call
    names["ledger"].close()
