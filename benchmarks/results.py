"""The results of a run as a JSON file, for `python -m benchmarks compare`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.timing import Ratio

FOLDER = Path("bench-output")
LATEST = FOLDER / "latest.json"
_FORMAT = 1


@dataclass
class Results:
    """The ratios of one run by their keys, and what they were measured on."""

    facts: dict[str, Any]
    ratios: dict[str, Ratio] = field(default_factory=dict)

    @classmethod
    def started(cls) -> "Results":
        date = datetime.now(UTC).isoformat(timespec="seconds")
        facts = {"format": _FORMAT, "date": date, **machine.facts()}
        return cls(facts | {"before": machine.state(), "suites": {}})

    def add(self, suite: str, ratios: Mapping[str, Ratio]) -> None:
        self.ratios.update({f"{suite} / {key}": ratio for key, ratio in ratios.items()})

    def finish(self, suite: str, seconds: float, cpu_seconds: float) -> None:
        """Note how long a suite took: on a busy machine, longer than the processor worked."""
        took = {"seconds": round(seconds, 1), "cpu_seconds": round(cpu_seconds, 1)}
        self.facts["suites"][suite] = took
        self.facts["after"] = machine.state()

    @property
    def name(self) -> str:
        """A name for the file: when it was, and of which commit."""
        when = self.facts["date"][:19].replace(":", "")
        return f"{when}-{self.facts['commit'][:8] or 'no-commit'}.json"

    def save(self, path: Path) -> None:
        rows = {
            key: {
                "ratio": float(ratio),
                "better": ratio.better,
                "rounds": [float(f"{each:.6g}") for each in ratio.rounds],
            }
            for key, ratio in self.ratios.items()
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({**self.facts, "ratios": rows}, indent=1, ensure_ascii=False)
        path.write_text(f"{text}\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> "Results":
        facts = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(facts, dict) or facts.get("format") != _FORMAT:
            raise ValueError(f"{path} must be a file that `python -m benchmarks` wrote.")
        rows = facts.pop("ratios")
        ratios = {key: Ratio(row["rounds"], row["better"]) for key, row in rows.items()}
        return cls(facts, ratios)
