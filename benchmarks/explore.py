"""What a move of a slider on the page of `inbounds explore` costs the processor.

Aims: 95 of 100 views in 50 ms of the processor for pure epsilon, and in 150 ms with delta = 1e-6.
No view is kept from before, except where only the value was dragged.

Run: python -m benchmarks explore. NumPy's threads wait for each other in a loop, which counts as
time of the processor: the page's server turns them off, and so does this suite.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator
from random import Random
from statistics import median, quantiles
from time import process_time
from typing import Any

from rich.table import Table

from benchmarks.timing import duration, judged, new_table, run_json

PURE_SECONDS, DELTA_SECONDS = 0.05, 0.15

_QUESTIONS = 200
_KINDS = {
    "any mechanism, sliders anywhere": "any",
    "the best mechanism, sliders anywhere": "best",
    "the best mechanism, epsilon up to 3": "usual",
    "the value alone": "value",
}
_COMPARED = {"comparison, with its limit": "compared", "goal: epsilon": "goal"}
_NAMES = ("bounded-gaussian", "bounded-laplace", "clamped-laplace", "clamped-staircase", "window")
_NAMES_WITH_DELTA = ("bounded-gaussian", "clamped-gaussian")


def run() -> Iterator[Table]:
    one_thread = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    found = run_json([sys.executable, "-m", "benchmarks.explore"], **one_thread)
    table = new_table(
        f"{_QUESTIONS} questions of `inbounds explore`, in time of the processor",
        "Bounds, sensitivity (0.1 % to all of the width), epsilon (0.01 to 10) and value are "
        "random. Any mechanism: as many questions to the best one as to each other. Slowest: the "
        f"slowest of all. Aims for 95 %: {duration(PURE_SECONDS)} if pure and "
        f"{duration(DELTA_SECONDS)} with a delta.",
        *("what", "δ", "median", "95 %", "slowest"),
        labels=("what", "δ"),
    )
    table.columns[0].justify = "left"
    for row in found["rows"]:
        usual, most = (duration(row[key]) for key in ("median", "most"))
        aim = DELTA_SECONDS if row["delta"] else PURE_SECONDS
        most = judged(most, row["most"] <= aim) if row["has_aim"] else most
        cells = usual, most, duration(row["slowest"])
        table.add_row(row["what"], f"{row['delta']:g}", *cells)
    yield table


def _measured() -> dict[str, Any]:
    """Return the seconds of every kind of question, in a process with one thread."""
    from inbounds.cli.explore import goal, view  # noqa: PLC0415 - another process
    from inbounds.cli.explore.question import Question  # noqa: PLC0415 - as above

    aim = {"find": "epsilon", "error": "average_rmse"}

    def solve(question: Question) -> object:
        return goal.solved(question, aim | {"at_most": float(question.box.widths[0]) / 50})

    view.view(Question.read(_question(Random(0), "any", 0.0)))  # what is loaded at first use
    rows = []
    for delta in (0.0, 1e-6):
        for what, kind in _KINDS.items():
            rows.append(_row(what, delta, _seconds(view.view, kind, delta), has_aim=True))
        for (what, kind), answer in zip(_COMPARED.items(), (view.compared, solve), strict=True):
            seconds = _seconds(answer, kind, delta, _QUESTIONS // 4)
            rows.append(_row(what, delta, seconds, has_aim=False))
    return {"rows": rows}


def _row(what: str, delta: float, seconds: list[float], *, has_aim: bool) -> dict[str, Any]:
    return {
        "what": what,
        "delta": delta,
        "median": median(seconds),
        "most": quantiles(seconds, n=20)[-1],
        "slowest": max(seconds),
        "has_aim": has_aim,
    }


def _seconds(
    answer: Callable[[Any], object], kind: str, delta: float, count: int = _QUESTIONS
) -> list[float]:
    """Return the processor time of every question, from JSON to JSON."""
    from inbounds.cli.explore.question import Question  # noqa: PLC0415 - another process

    random, taken = Random(f"{kind}, {delta}"), []
    for _ in range(count):
        document = _question(random, kind, delta)
        if kind == "value":
            answer(Question.read(document | {"value": None}))
        started = process_time()
        json.dumps(answer(Question.read(document)), allow_nan=False)
        taken.append(process_time() - started)
    return taken


def _question(random: Random, kind: str, delta: float) -> dict[str, Any]:
    width = _rounded(10 ** random.uniform(0, 6))
    names = _NAMES_WITH_DELTA if delta else _NAMES
    most = 3.0 if kind == "usual" else 10.0
    least = 0.1 if kind == "usual" else 0.01
    return {
        "bounds": [[0, width]],
        "sensitivity": [_rounded(width * 10 ** random.uniform(-3, 0))],
        "guarantee": {
            "epsilon": _rounded(least * (most / least) ** random.random()),
            "delta": delta,
        },
        "mechanism": random.choice(("best", *names)) if kind == "any" else "best",
        "value": [random.uniform(0, width)],
    }


def _rounded(number: float) -> float:
    return float(f"{number:.3g}")


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    print(json.dumps(_measured()))
