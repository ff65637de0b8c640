"""What `make demo` shows: the paper's table and figure, a private graph, and a comparison.

Everything is computed; tables go to the screen, figures and numbers to the folder given.
"""

import json
import sys
from dataclasses import asdict
from pathlib import Path

import networkx as nx
from rich.console import Console
from rich.table import Table

import inbounds as ib
from inbounds import queries
from inbounds.analysis.reproduction import figure1, table1, table1_table
from inbounds.plots.release import release_figure


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    console = Console(width=120)

    rows = table1()
    console.print(table1_table(rows))
    (folder / "table1.json").write_text(json.dumps([asdict(row) for row in rows], indent=2))
    figure1().plot().savefig(folder / "figure1.png")

    show_graph(console, folder)

    comparison = ib.compare(ib.Box([0, 1], [10, 9]), ib.PerCoordinate([4, 2]), epsilon=1.0)
    console.print(comparison)
    comparison.to_frame().to_csv(folder / "comparison.csv")
    comparison.plot().savefig(folder / "comparison.png")
    console.print(f"\nFigures and numbers are in {folder}/: {', '.join(sorted_names(folder))}")


def show_graph(console: Console, folder: Path) -> None:
    """Release the connectivity of Zachary's karate club and a degree, as one joint answer."""
    club = nx.karate_club_graph()
    question = queries.stack(
        [
            queries.graph.algebraic_connectivity(club, edges=1),
            queries.graph.degree(club, node=0, edges=1),
        ]
    )
    m = ib.BoundedGaussian.calibrated(question.box, question.sensitivity, epsilon=3.0)
    answer = m.release(question.value)
    proof = m.certificate()
    proof.check()
    table = Table(
        title=f"Zachary's karate club, one edge private: {m!r}",
        caption=f"certified: epsilon <= {proof.epsilon:.12g} (ball arithmetic, checked twice)",
    )
    for heading in ("query", "truth", "private answer", "denoised", "95 % of answers", "RMSE"):
        table.add_column(heading)
    low, high = m.interval(question.value, 0.95)
    columns = (question.name, question.value, answer, m.denoise(answer), low, high)
    for j, (name, truth, private, better, left, right) in enumerate(zip(*columns, strict=True)):
        error = m.mse(question.value)[j] ** 0.5
        cells = (f"{truth:.2f}", f"{private:.2f}", f"{better:.2f}")
        table.add_row(name, *cells, f"{left:.2f} to {right:.2f}", f"{error:.2f}")
    console.print(table)
    release_figure(m, question.value, answer).savefig(folder / "graph.png")


def sorted_names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo-output"))
