"""`inbounds summarize` as a shell runs it: quotes, pipes, exit codes, a ledger and a figure."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd

import inbounds as ib

COMMAND = shlex.join([sys.executable, "-W", "error", "-m", "inbounds"])


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    script = f'set -o pipefail; inbounds() {{ {COMMAND} "$@"; }}; {line}'
    command = ["bash", "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)


def test_a_ledger_pays_for_a_summary_and_its_figure_until_it_is_spent(tmp_path: Path) -> None:
    generator = np.random.default_rng(3)
    towns = generator.choice(["Ulm", "Bern, CH"], 4000)
    ages = generator.integers(0, 100, 4000)
    pd.DataFrame({"town": towns, "sex": "f", "age": ages}).to_csv(
        tmp_path / "people.csv", index=False
    )
    ib.Ledger(tmp_path / "budget.db").open("survey", epsilon=1.5, unit=ib.Unit("replace", "row"))
    line = (
        "cat people.csv | inbounds summarize - --by town --by sex --groups '\"Bern, CH:f\",Ulm:f' "
        "--count --mean age=0:120 --histogram age=0:120:12 --epsilon 1 "
        "--ledger budget.db --dataset survey --plot out.png --json"
    )
    asked = shell(f"{line} --dry-run", tmp_path)
    assert asked.returncode == 0, asked.stderr
    assert json.loads(asked.stdout)["fits"] is True
    assert not (tmp_path / "out.png").exists()
    done = shell(line, tmp_path)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert (facts["requested"], facts["unit"]) == ({"epsilon": 1.0}, "replace one row")
    assert len(facts["estimates"]) == 2 * (1 + 1 + 12)
    counts = {row["town"]: row for row in facts["estimates"] if row["statistic"] == "count"}
    assert abs(counts["Bern, CH"]["value"] - (towns == "Bern, CH").sum()) < 999  # by far
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
    assert done.stderr.splitlines() == [
        "Privacy: one release at epsilon=1, whose unit is: replace one row.",
        "survey: epsilon=0.5 left of epsilon=1.5.",
    ]
    refused = shell(line, tmp_path)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.startswith("Error: dataset 'survey' has ")
