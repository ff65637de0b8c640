"""Compare the ratios of two runs: which became worse by more than noise.

Seconds say little on a shared machine; a ratio to a rival in the same round does. For every ratio,
the logarithm of its median is compared between the runs. Its noise has two parts: what the rounds
show within a run (a t-test with the spread of both runs), and what differs between two runs of the
same code and no round shows (`BETWEEN_RUNS`). If that model holds, a comparison of equal code
alarms at most once in a hundred times, however many ratios it has (Bonferroni). A ratio that is
worse by less than 10 % is never called a regression. The price is power: with few rounds, as on a
very busy machine, only a large slow-down is seen, and the bar of each ratio says how large.

Run: python -m benchmarks compare BEFORE.json AFTER.json. The exit code is 1 after a regression.
"""

import argparse
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median, stdev

from rich.console import Console
from rich.table import Table
from scipy.special import ndtri, stdtrit

from benchmarks.results import Results
from benchmarks.timing import Ratio

FALSE_ALARMS = 0.01  # probability of any alarm in a comparison of equal code
LEAST = 1.1  # a smaller change is not worth an alarm
# Standard deviation of a logarithm that no round shows: 0.066 in the 52 ratios with five rounds or
# more of two runs of equal code on a shared machine with two cores, at loads of about 2 to 5.
BETWEEN_RUNS = 0.07
_MEDIAN = math.sqrt(math.pi / 2)  # standard error of a median, by that of a mean


@dataclass(frozen=True)
class Change:
    """How one ratio changed: above 1 is worse, and above `bar` is more than noise."""

    key: str
    before: Ratio
    after: Ratio
    worse: float
    bar: float

    @classmethod
    def of(cls, key: str, before: Ratio, after: Ratio, tests: int) -> "Change":
        worse = after / before if after.better == "lower" else before / after
        return cls(key, before, after, worse, max(LEAST, math.exp(_bar(before, after, tests))))

    @property
    def verdict(self) -> str:
        if math.isinf(self.bar):
            return "one round"
        if self.worse > self.bar:
            return "worse"
        return "better" if self.worse < 1 / self.bar else "same"


def _bar(before: Ratio, after: Ratio, tests: int) -> float:
    """Return the largest change of a logarithm that noise explains, in one of so many tests."""
    if min(len(before.rounds), len(after.rounds)) == 1:
        return math.inf
    level = FALSE_ALARMS / tests
    squares = [(_MEDIAN * _spread(x)) ** 2 / len(x.rounds) for x in (before, after)]
    degrees = [len(x.rounds) - 1 for x in (before, after)]
    between = -float(ndtri(level)) * math.sqrt(2) * BETWEEN_RUNS
    if not any(squares):
        return between
    welch = sum(squares) ** 2 / sum(s * s / d for s, d in zip(squares, degrees, strict=True))
    within = -float(stdtrit(welch, level)) * math.sqrt(sum(squares))
    return math.hypot(within, between)


def _spread(ratio: Ratio) -> float:
    return stdev(map(math.log, ratio.rounds))


def compare(before: Results, after: Results) -> list[Change]:
    """Return how each ratio that both runs have has changed, the worst first."""
    keys = before.ratios.keys() & after.ratios.keys()
    pairs = {key: (before.ratios[key], after.ratios[key]) for key in keys}
    tests = max(1, sum(min(len(x.rounds) for x in pair) > 1 for pair in pairs.values()))
    changes = [Change.of(key, *pair, tests) for key, pair in pairs.items()]
    return sorted(changes, key=lambda change: (-change.worse, change.key))


# --- printed ---


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks compare", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("before", type=Path, metavar="before.json")
    parser.add_argument("after", type=Path, metavar="after.json")
    parser.add_argument("--all", action="store_true", help="show what did not change, too")
    options = parser.parse_args(words)
    try:
        before, after = Results.load(options.before), Results.load(options.after)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    changes = compare(before, after)
    if not changes:
        parser.error("the two runs have no ratio in common.")
    console = Console(width=None if os.isatty(1) else 160)
    for line in _differences(before, after):
        console.print(line)
    shown = [x for x in changes if options.all or x.verdict in ("worse", "better")]
    if shown:
        console.print(_table(shown))
    console.print(_summary(changes, before, after))
    return int(any(change.verdict == "worse" for change in changes))


def _differences(before: Results, after: Results) -> Iterator[str]:
    """Say where the runs were not measured alike."""
    for name in ("cpu", "cores"):
        values = [run.facts["machine"][name] for run in (before, after)]
        if values[0] != values[1]:
            yield f"[yellow]Another machine: {name} was {values[0]} and is {values[1]}.[/]"
    if before.facts["python"] != after.facts["python"]:
        yield f"[yellow]Python was {before.facts['python']}, is {after.facts['python']}.[/]"
    old, new = before.facts["packages"], after.facts["packages"]
    changed = [
        f"{x} {old[x]} → {new[x]}" for x in sorted(old.keys() & new.keys()) if old[x] != new[x]
    ]
    if changed:
        yield f"[yellow]Other versions: {', '.join(changed)}.[/]"


_COLOURS = {"worse": "red", "better": "green", "same": "default", "one round": "dim"}


def _table(changes: list[Change]) -> Table:
    table = Table(
        title="Ratios of both runs",
        caption="Slow-down: by how much the ratio became worse; below 1, better. Bar: what noise "
        "explains. In brackets: rounds.",
        title_justify="left",
        caption_justify="left",
    )
    table.add_column("ratio", overflow="fold")
    for column in ("before", "after", "slow-down", "bar", ""):
        table.add_column(column, justify="right", no_wrap=True)
    for change in changes:
        verdict = f"[{_COLOURS[change.verdict]}]{change.verdict}[/]"
        ratios = (f"{float(x):.3g} ({len(x.rounds)})" for x in (change.before, change.after))
        bar = "" if math.isinf(change.bar) else f"{change.bar:.2f}"
        table.add_row(change.key, *ratios, f"{change.worse:.2f}", bar, verdict)
    return table


def _summary(changes: list[Change], before: Results, after: Results) -> str:
    counts = {name: sum(x.verdict == name for x in changes) for name in _COLOURS}
    alone = len(before.ratios.keys() ^ after.ratios.keys())
    bars = [change.bar for change in changes if math.isfinite(change.bar)]
    lines = [
        f"{len(changes)} ratios: [red]{counts['worse']} worse[/], [green]{counts['better']} "
        f"better[/], {counts['same']} the same within noise, {counts['one round']} measured only "
        f"once and not judged; {alone} in one of the runs only.",
    ]
    if bars:
        lines.append(
            f"Half of the bars are below {median(bars):.3g}. The aim is an alarm in at most "
            f"{FALSE_ALARMS:.0%} of the comparisons of equal code."
        )
    return "\n".join(lines)
