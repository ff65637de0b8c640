"""What `make demo` shows: a private number, which mechanism to use, the paper's table and figure, a
private graph, a private table, and a private column with the histogram recovered from it.

Everything is computed; tables go to the screen, figures and numbers to the folder given.
"""

import json
import sys
from dataclasses import asdict
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table

import inbounds as ib
from inbounds import queries
from inbounds.analysis.overview import table1_table
from inbounds.analysis.reproduction import figure1, table1
from inbounds.data import load_anes96
from inbounds.frames import count, mean
from inbounds.plots import release_figure


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    console = Console(width=120)

    show_number(console)
    comparison = ib.compare(ib.Box(0, 120), 2.5, epsilon=1.0)
    console.print(comparison)
    comparison.to_frame().to_csv(folder / "comparison.csv")
    comparison.plot().savefig(folder / "comparison.png")

    rows = table1()
    console.print(table1_table(rows))
    (folder / "table1.json").write_text(json.dumps([asdict(row) for row in rows], indent=2))
    figure1([0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 1.5, 2, 2.5, 3]).plot().savefig(
        folder / "figure1.png"
    )

    show_graph(console, folder)
    show_table(console, folder)
    show_column(console, folder)

    console.print(f"\nFigures and numbers are in {folder}/: {', '.join(sorted_names(folder))}")


def show_number(console: Console) -> None:
    """Release a mean with the mechanism that has the lowest error."""
    ages = load_anes96()["age"]
    m = ib.calibrate(ib.Box(0, 120), 120 / ages.size, epsilon=1.0)
    console.print(
        f"The mean age of {ages.size} people at epsilon=1, by {m!r}:\n"
        f"private {m.release(ages.mean()):.2f}, truth {ages.mean():.2f} "
        f"(root mean squared error {m.mse(60) ** 0.5:.2f})\n"
    )


def show_graph(console: Console, folder: Path) -> None:
    """Release the connectivity of Zachary's karate club and a degree, as one joint output."""
    club = nx.karate_club_graph()
    question = queries.stack(
        [
            queries.graph.algebraic_connectivity(club, edges=1),
            queries.graph.degree(club, node=0, edges=1),
        ]
    )
    m = ib.BoundedGaussian.calibrated(question.box, question.sensitivity, epsilon=3.0)
    output = m.release(question.value)
    proof = m.certificate()
    proof.check()
    table = Table(
        title=f"Zachary's karate club, one edge private: {m!r}",
        caption=f"certified: epsilon <= {proof.epsilon:.12g} (ball arithmetic, checked twice)",
    )
    for heading in ("query", "truth", "private output", "denoised", "95 % of outputs", "RMSE"):
        table.add_column(heading)
    low, high = m.output_interval(question.value, 0.95)
    columns = (question.name, question.value, output, m.denoise(output), low, high)
    for j, (name, truth, private, better, left, right) in enumerate(zip(*columns, strict=True)):
        error = m.mse(question.value)[j] ** 0.5
        cells = (f"{truth:.2f}", f"{private:.2f}", f"{better:.2f}")
        table.add_row(name, *cells, f"{left:.2f} to {right:.2f}", f"{error:.2f}")
    console.print(table)
    release_figure(m, question.value, output).savefig(folder / "graph.png")


def show_table(console: Console, folder: Path) -> None:
    """Publish statistics of a survey by level of education, as one release."""
    frame = pd.DataFrame(load_anes96())
    result = ib.summarize(
        frame,
        [count(), mean("age", 18, 95)],
        by="education",
        groups=[1, 2, 3, 4, 5, 6, 7],
        epsilon=1.0,
        delta=1e-6,
    )
    table = Table(
        title="944 respondents of a survey by education: epsilon=1, delta=1e-6, all at once"
    )
    for heading in ("education", "statistic", "private value", "95 % interval", "truth"):
        table.add_column(heading)
    for row in result.itertuples():
        rows = frame[frame["education"] == row.education]
        truth = len(rows) if row.statistic == "count" else rows["age"].mean()
        ends = f"{row.lower:.1f} to {row.upper:.1f}"
        table.add_row(str(row.education), row.statistic, f"{row.value:.1f}", ends, f"{truth:.1f}")
    console.print(table)
    result.to_csv(folder / "table.csv", index=False)


def show_column(console: Console, folder: Path) -> None:
    """Let each of 100,000 people hide their age, then recover the distribution of all ages."""
    ages = np.resize(load_anes96()["age"], 100_000).astype(float)  # the survey, many times over
    m = ib.Window.calibrated(ib.Box(0, 120), 120, epsilon=2.0)
    private = ib.privatize(pd.DataFrame({"age": ages}), {"age": m})["age"].to_numpy()
    recovered = ib.deconvolve(private, m, bootstrap=100)
    low, high = recovered.interval("mean", 0.95)
    console.print(
        "100,000 ages, each hidden by its owner at epsilon=2:\n"
        f"true mean {ages.mean():.2f}, mean of the private outputs {private.mean():.2f}, "
        f"recovered {recovered.mean:.2f} (95 %: {low:.2f} to {high:.2f})\n"
    )
    recovered.plot(raw=ages).savefig(folder / "column.png")


def sorted_names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo-output"))
