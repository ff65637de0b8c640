"""Search for text that a reader takes wrongly: `python -m tests.fuzz certificate -runs=100000`.

Needs atheris, which is no dependency of the ordinary tests. Without a target's name all are run in
turn; what else is given goes to libFuzzer. What is found lies in `build/fuzz/<target>/`.
"""

import subprocess
import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["inbounds", "csv", "json"]):
    from tests.fuzz.targets import SEEDS, TARGETS

LIMITS = ("-max_total_time=60", "-timeout=20", "-rss_limit_mb=4096", "-max_len=4096")


def run(name: str, options: list[str]) -> None:
    """Fuzz one target in this process, which libFuzzer ends."""
    corpus = Path("build") / "fuzz" / name
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(SEEDS[name]):
        (corpus / f"seed-{number}").write_bytes(seed)
    prefix = f"-artifact_prefix={corpus}/found-"
    atheris.Setup([sys.argv[0], *LIMITS, prefix, *options, str(corpus)], TARGETS[name])
    atheris.Fuzz()


def run_all(options: list[str]) -> int:
    """Fuzz every target in a process of its own; return whether one found something."""
    command = [sys.executable, "-m", "tests.fuzz"]
    return max(
        subprocess.run([*command, name, *options], check=False).returncode for name in TARGETS
    )


if __name__ == "__main__":
    names, options = sys.argv[1:2], sys.argv[2:]
    if names and names[0] in TARGETS:
        run(names[0], options)
    else:
        sys.exit(run_all(sys.argv[1:]))
