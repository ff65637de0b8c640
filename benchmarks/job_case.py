"""What the job of a statistics office is, and how one library's script for it is run and counted.

It needs numpy only, because rivals run it in environments of their own.
"""

import ast
import inspect
import json
import sys
import textwrap
from collections.abc import Callable
from dataclasses import asdict, dataclass
from statistics import median
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

Columns = dict[str, NDArray[np.int64]]
Output = dict[str, dict[str, Any]]
"""Of each statistic its values by district, and where a library gives them, lower and upper."""
Script = Callable[..., Any]
Reader = Callable[[Any], Output]

ROWS, DISTRICTS, LARGEST = 50_000, 8, 120
SIZE = 10_000  # a public bound on the rows of a district
EDGES = list(range(0, LARGEST + 1, 10))
STATISTICS = ("count", "mean", "median", "histogram")
_TIMED = 3  # runs whose seconds are measured
_SHARES = (0.05, 0.08, 0.1, 0.12, 0.13, 0.15, 0.18, 0.19)


@dataclass(frozen=True, slots=True)
class Case:
    """A guarantee; add-remove, of one row, or of a person with at most `rows` rows."""

    epsilon: float
    delta: float
    rows: int

    @property
    def by_person(self) -> bool:
        return self.rows > 1


def columns(rows: int = ROWS) -> Columns:
    """Return districts of unlike sizes, and ages that are skewed and heap at multiples of five."""
    rng = np.random.default_rng(15)
    district = rng.choice(DISTRICTS, rows, p=_SHARES)
    age = np.floor(rng.gamma(4.0, 9.0 + 0.5 * district))
    heaped = np.where(rng.random(rows) < 0.3, 5 * np.round(age / 5), age)
    # people have one, two or three rows
    person = np.repeat(np.arange(rows), rng.integers(1, 4, rows))[:rows]
    clipped = np.clip(heaped, 0, LARGEST)
    return {"district": district, "age": clipped.astype(np.int64), "person": rng.permuted(person)}


def truth(table: Columns) -> dict[str, NDArray[np.float64]]:
    """Return the exact statistics, by district."""
    groups = [table["age"][table["district"] == district] for district in range(DISTRICTS)]
    return {
        "count": np.array([len(group) for group in groups], float),
        "mean": np.array([group.mean() for group in groups]),
        "median": np.array([np.median(group) for group in groups]),
        "histogram": np.array([np.histogram(group, EDGES)[0] for group in groups], float),
    }


def code_lines(*functions: Callable[..., Any]) -> int:
    """Return how many lines the functions have, without docstrings, comments and blank lines."""
    sources = (textwrap.dedent(inspect.getsource(function)) for function in functions)
    return sum(len(_without_docstring(source).splitlines()) for source in sources)


def _without_docstring(source: str) -> str:
    tree = ast.parse(source)
    (function,) = tree.body
    assert isinstance(function, ast.FunctionDef)
    if ast.get_docstring(function) is None:
        taken: set[int] = set()
    else:
        first = function.body[0]
        taken = set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    kept = (line for number, line in enumerate(source.splitlines(), 1) if number not in taken)
    return "\n".join(line for line in kept if line.strip() and not line.strip().startswith("#"))


def measure(
    script: Script, reader: Reader, table: Any, case: Case, runs: int, *options: Any
) -> dict[str, Any]:
    """Return the outputs of runs of a script, and the processor seconds of the first of them."""
    seconds, outputs = [], []
    for run in range(runs):
        started = process_time()
        released = script(table, case, *options)
        if run < _TIMED:
            seconds.append(process_time() - started)
        outputs.append(reader(released))
    return {"seconds": median(seconds), "lines": code_lines(script), "outputs": outputs}


# --- a process of its own for each rival ---


def arguments(path: str, case: Case, runs: int) -> list[str]:
    """Return the arguments that tell a process what to run."""
    return [path, json.dumps(asdict(case)), str(runs)]


def told() -> tuple[Columns, Case, int]:
    """Return the table, the case and the number of runs that a process was told."""
    path, case, runs = sys.argv[1:]
    with np.load(path) as stored:
        table = {name: stored[name] for name in stored.files}
    return table, Case(**json.loads(case)), int(runs)
