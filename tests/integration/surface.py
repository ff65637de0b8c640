"""A script that uses every public name, and prints what became of each use as JSON.

It runs in environments that hold the installed wheel and one extra, so it needs nothing but
inbounds: a use that needs an optional package says so, and what happened without it is reported.
"""

import contextlib
import importlib.util
import io
import json
import os
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import inbounds as ib

USES: dict[str, tuple[tuple[str, ...], tuple[str, ...], Callable[[], Any]]] = {}
FOLDER = Path(tempfile.mkdtemp())  # for files that the uses write
INTERVAL, PAIR = ib.Box(0, 120), ib.Box([0, 1], [10, 9])


def use(*needs: str, of: tuple[str, ...] = ()) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Register a use, the optional modules it needs, and those that whoever uses it has anyway."""

    def register(function: Callable[[], Any]) -> Callable[[], Any]:
        USES[function.__name__] = needs, of, function
        return function

    return register


def mechanism() -> ib.BoundedGaussian:
    return ib.BoundedGaussian.calibrated(INTERVAL, 120, epsilon=1.0)


@use()
def sensitivities() -> None:
    for kind in (ib.L1(1), ib.L2(1) & ib.LInf(1), ib.PerCoordinate([4, 2])):
        ib.BoundedGaussian.calibrated(PAIR, kind, epsilon=1.0)


@use()
def mechanisms() -> None:
    for kind in (
        *(ib.BoundedGaussian, ib.BoundedLaplace, ib.ClampedLaplace),
        *(ib.ClampedStaircase, ib.Optimal, ib.Window),
    ):
        m = kind.calibrated(INTERVAL, 30, epsilon=1.0)
        assert 0 <= m.release(41.3) <= 120
        assert m.mse(41.3) > 0
        assert m.loss().epsilon == m.epsilon
        assert str(m).startswith(kind.__name__)
        assert ib.Mechanism.from_json(m.to_json()) == m
    best = ib.Optimal.calibrated(INTERVAL, 60, epsilon=1.0).certificate()
    assert ib.TableCertificate.from_json(best.to_json()).check() == best
    m = ib.ClampedGaussian.calibrated(INTERVAL, 2.5, epsilon=1.0, delta=1e-6)
    assert 0 <= m.release(41.3) <= 120


@use()
def limit() -> None:
    found = ib.limit(INTERVAL, 120, epsilon=1.0)
    proof = found.certificate()
    assert isinstance(found, ib.Limit)
    assert isinstance(proof, ib.LimitCertificate)
    assert 0 < proof.check().lower <= found.upper


@use()
def calibrate() -> None:
    assert 0 <= ib.calibrate(INTERVAL, 30, epsilon=1.0).release(41.3) <= 120


@use()
def html() -> None:
    shown = (mechanism(), mechanism().certificate(), ib.compose([mechanism()]))
    read = ib.deconvolve([3.0, 60.0, 110.0], mechanism(), bootstrap=2)
    more = (ib.compare(INTERVAL, 30, epsilon=1.0), read)
    assert all("<table" in thing._repr_html_() for thing in (*shown, *more))


@use()
def certificates() -> None:
    proof = mechanism().certificate()
    ib.Certificate.from_json(proof.to_json()).check()
    try:
        ib.Certificate.from_json("{}")
    except (ib.CertificateError, ib.ArgumentError) as error:
        assert isinstance(error, ib.InBoundsError)


@use()
def errors() -> None:
    for wrong, error in ((lambda: ib.Box(1, 0), ib.ArgumentError),
                         (lambda: ib.Box("0", 1), ib.ArgumentTypeError)):  # fmt: skip
        try:
            wrong()
        except error:
            continue
        raise AssertionError("no error")


@use()
def compare() -> None:
    comparison = ib.compare(INTERVAL, 30, epsilon=1.0)
    assert isinstance(comparison, ib.Comparison)
    assert comparison.best().name == "Optimal"
    assert "ClampedLaplace" in str(comparison)


@use("pandas")
def compare_as_a_frame() -> None:
    assert len(ib.compare(INTERVAL, 30, epsilon=1.0).to_frame()) > 3


@use("matplotlib")
def compare_as_a_figure() -> None:
    assert ib.compare(INTERVAL, 30, epsilon=1.0).plot().axes


@use()
def regimes() -> None:
    found = ib.regimes(delta=0.0, fractions=[0.01, 1.0], epsilons=[0.1])
    assert isinstance(found, ib.Regimes)


@use("matplotlib")
def figures() -> None:
    assert ib.plots.release_figure(mechanism()).axes


@use()
def compose() -> None:
    together = ib.compose([(mechanism(), 4)])
    assert isinstance(together, ib.Composition)
    assert isinstance(together.losses[0][0], ib.PrivacyLoss)
    assert 3.9 < together.pure < 4.1


@use()
def units() -> None:
    row, added = ib.Unit("replace", "row"), ib.Unit("add-remove", "row")
    assert ib.compose([mechanism().loss(added)], unit=row).pure > 1.9
    assert str(added) == "add or remove one row"


@use("dp_accounting")
def compose_with_a_delta() -> None:
    assert ib.compose([(mechanism(), 4)]).epsilon(delta=1e-6) < 4.1


@use()
def audit() -> None:
    result = ib.audit(mechanism(), releases=1000)
    assert isinstance(result, ib.Audit)
    assert "Not refuted" in str(result)


@use("rich")
def audit_with_a_bar() -> None:
    with contextlib.redirect_stderr(io.StringIO()):
        ib.audit(mechanism(), releases=1000, progress=True)


@use()
def deconvolve() -> None:
    result = ib.deconvolve([3.0, 60.0, 110.0] * 30, mechanism(), bootstrap=2)
    assert isinstance(result, ib.Deconvolution)
    assert 0 < result.mean < 120


@use("matplotlib")
def deconvolve_as_a_figure() -> None:
    assert ib.deconvolve([3.0, 60.0, 110.0] * 30, mechanism(), bootstrap=2).plot().axes


@use()
def queries() -> None:
    question = ib.queries.graph.degree(np.array([[0, 1], [1, 0]]), node=0, edges=1)
    assert isinstance(ib.queries.stack([question, question]), ib.queries.Query)


@use(of=("networkx",))
def queries_of_networkx() -> None:
    import networkx as nx

    assert ib.queries.graph.algebraic_connectivity(nx.karate_club_graph(), edges=1).box.lower == 0


@use("sklearn")
def estimators_of_private_rows() -> None:
    from inbounds.sklearn import PrivateLabels, Privatizer

    hidden = Privatizer(lower=0, upper=120, epsilon=1.0)
    assert hidden.fit_transform([[17.0], [41.0]]).shape == (2, 1)
    assert PrivateLabels(hidden, levels=[0, 1], epsilon=1.0).get_params()["epsilon"] == 1.0


@use("sklearn", "narwhals", "pandas")
def estimators_of_private_statistics() -> None:
    from inbounds.sklearn import PrivateSimpleImputer, PrivateStandardScaler

    for kind in (PrivateSimpleImputer, PrivateStandardScaler):
        assert len(kind(lower=0, upper=120, epsilon=1.0).fit([[17.0], [41.0]]).summary_) == 2


@use("narwhals", "pandas")
def summarize_an_array() -> None:
    assert len(ib.summarize(np.ones((9, 2)), ib.frames.mean(1, 0, 2), epsilon=1.0)) == 1


@use("sqlalchemy")
def ledger() -> None:
    with ib.Ledger(FOLDER / "budget.db") as kept:
        kept.open("survey", epsilon=2.0)
        kept.release(mechanism(), 41.3, dataset="survey")
        try:
            kept.spend("survey", epsilon=3.0)
        except ib.BudgetExceededError as error:
            assert error.dataset == "survey"
        try:
            kept.remaining("nothing")
        except ib.LedgerError as error:
            assert "nothing" in str(error)


@use("sqlalchemy", "pandas")
def ledger_history() -> None:
    with ib.Ledger(FOLDER / "history.db") as kept:
        kept.open("survey", epsilon=2.0)
        assert len(kept.history("survey")) == 0


@use(of=("pandas",))
def privatize_pandas() -> None:
    import pandas as pd

    frame = pd.DataFrame({"age": [3.0, 41.3]})
    assert ib.privatize(frame, {"age": mechanism()})["age"].between(0, 120).all()


@use("narwhals", "pyarrow", of=("pandas",))
def estimate_pandas() -> None:
    import pandas as pd

    result = ib.estimate(pd.DataFrame({"age": [3.0, 41.3]}), {"age": mechanism()})
    assert result["statistic"].tolist() == ["count", "mean"]


@use(of=("polars",))
def privatize_polars() -> None:
    import polars as pl

    frame = pl.DataFrame({"age": [3.0, 41.3]})
    assert ib.privatize(frame, {"age": mechanism()})["age"].is_between(0, 120).all()


@use(of=("pyarrow",))
def privatize_arrow() -> None:
    import pyarrow as pa

    assert len(ib.privatize(pa.table({"age": [3.0, 41.3]}), {"age": mechanism()})) == 2


@use("pyarrow", of=("duckdb",))
def privatize_duckdb() -> None:
    import duckdb

    relation = duckdb.connect().sql("SELECT 41.3::DOUBLE AS age")
    assert len(ib.privatize(relation, {"age": mechanism()}).fetchall()) == 1


@use("pyarrow", of=("pyspark",))
def privatize_spark() -> None:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    with SparkSession.builder.master("local[1]").getOrCreate() as session:
        frame = session.createDataFrame([(41.3,)], ["age"])
        assert len(ib.privatize(frame, {"age": mechanism()}).collect()) == 1


@use("narwhals")
def statistics() -> None:
    from inbounds.frames import (
        categories,
        count,
        histogram,
        mean,
        proportion,
        total,
        variance,
    )

    asked = [count(), histogram("age", [0, 60, 120]), *(f("age", 0, 120) for f in (mean, total))]
    assert [*asked, variance("age", 0, 120), proportion("smoker"), categories("town", ["Ulm"])]
    assert ib.frames.summarize  # which is where narwhals is needed


@use("narwhals", of=("pandas",))
def summarize() -> None:
    import pandas as pd

    from inbounds.frames import mean, median, quantile

    frame = pd.DataFrame({"age": [3.0, 41.3]})
    asked = [mean("age", 0, 120), median("age", 0, 120), quantile("age", 0.9, 0, 120)]
    assert len(ib.summarize(frame, asked, epsilon=1.0)) == 3
    assert len(ib.summarize(frame, asked, epsilon=1.0, outside="skip")) == 3


@use("narwhals", of=("pandas",))
def find_groups() -> None:
    import pandas as pd

    frame = pd.DataFrame({"town": ["Ulm"] * 200})
    assert ib.find_groups(frame, "town", epsilon=1.0, delta=1e-9) == ["Ulm"]


@use("narwhals", "matplotlib", of=("pandas",))
def summarize_as_a_figure() -> None:
    import pandas as pd

    from inbounds.frames import count, plot_summary

    frame = pd.DataFrame({"town": ["Ulm", "Rom"]})
    result = ib.summarize(frame, count(), by="town", groups=["Ulm"], epsilon=1.0)
    assert plot_summary(result).axes


@use()
def packages() -> None:
    assert ib.frames.__all__
    assert ib.plots.__all__
    assert ib.queries.__all__
    assert issubclass(ib.MissingPackageError, ModuleNotFoundError)
    assert issubclass(ib.WeakGuaranteeWarning, UserWarning)
    assert issubclass(ib.RowOrderWarning, UserWarning)
    assert issubclass(ib.FewOutputsWarning, UserWarning)
    assert issubclass(ib.NotPrivateWarning, UserWarning)
    assert issubclass(ib.RepeatedReleaseWarning, UserWarning)


@use()
def categories() -> None:
    answers = ib.RandomizedResponse(["no", "yes"], epsilon=2.0)
    estimated = answers.estimate(answers.release(["no", "yes", "no"]))
    assert isinstance(estimated, ib.Fractions)


def command(*words: str) -> None:
    """Run the command line here; raise what it says of a missing package."""
    from inbounds.cli import main

    said = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
        code = main(words)
    if code:
        raise ModuleNotFoundError(said.getvalue().removeprefix("Error: ").strip())


SETTING = ("--bounds", "0:120", "--sensitivity", "30", "--epsilon", "1")


@use("typer")
def command_line() -> None:
    command("--help")
    command("calibrate", *SETTING)
    command("compare", *SETTING)
    command("audit", *SETTING, "--releases", "1000")
    command("reproduce", "table1")
    command("release", *SETTING, "41.3")


@use("typer", "matplotlib")
def command_line_figures() -> None:
    command("compare", *SETTING, "--plot", str(FOLDER / "compare.png"))


@use("typer", "dp_accounting")
def command_line_compose() -> None:
    command("compose", "--delta", "1e-6", "--release", "epsilon=0.1 times=10")


@use("typer", "sqlalchemy")
def command_line_ledger() -> None:
    command("ledger", "open", "survey", "--ledger", str(FOLDER / "ledger.db"), "--epsilon", "1")


@use("typer", "pyarrow")
def command_line_privatize() -> None:
    people, private = FOLDER / "people.csv", FOLDER / "private.csv"
    people.write_text("age\n41.3\n12\n")
    command("privatize", str(people), str(private), "--column", "age=0:120", "--epsilon", "1")


@use("typer", "pyarrow", "narwhals")
def command_line_summarize() -> None:
    people = FOLDER / "summarized.csv"
    people.write_text("age\n41.3\n12\n")
    command("summarize", str(people), "--mean", "age=0:120", "--epsilon", "1")


@use("typer", "starlette", "uvicorn")
def command_line_explore() -> None:
    words = [sys.executable, "-m", "inbounds", "explore", "--no-browser"]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout
        address = server.stdout.readline().partition("#")[0]
        if not address:
            said = server.communicate()[1]
            raise ModuleNotFoundError(said.removeprefix("Error: ").strip())
        with urllib.request.urlopen(address, timeout=60) as page:
            assert b"<script" in page.read()
        server.terminate()
    assert server.returncode == 0


def main(optional: bool) -> None:
    """Print what became of each use, or only of those that need an optional package."""
    report = {}
    for name, (needs, of, function) in USES.items():
        if not all(map(importlib.util.find_spec, of)) or (optional and not (needs or of)):
            continue
        try:
            function()
            outcome = None
        except ModuleNotFoundError as error:
            outcome = " ".join(str(error).split())
        report[name] = {"needs": needs, "outcome": outcome}
    needed = {module for needs, of, _ in USES.values() for module in (*needs, *of)}
    installed = [name for name in sorted(needed) if importlib.util.find_spec(name)]
    print(json.dumps({"file": ib.__file__, "uses": report, "installed": installed}))


if __name__ == "__main__":
    main(optional=sys.argv[1:] == ["optional"])
