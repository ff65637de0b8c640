"""Do the statistics office's job with OpenDP's Polars queries; print JSON.

OpenDP accepts plans of one version of Polars only, so it has an environment of its own.

Run: .venv-opendp/bin/python -m benchmarks.opendp_job TABLE CASE RUNS
"""

import json
import sys
from typing import Any

import opendp.prelude as dp
import polars as pl
from opendp.extras.polars import LazyFrameQuery

from benchmarks.job_case import DISTRICTS, EDGES, LARGEST, SIZE, Case, Output, measure, told

BINS = [str(lower) for lower in EDGES[:-1]]


def release(frame: pl.LazyFrame, case: Case) -> list[pl.DataFrame]:
    """Release all statistics: four of equal epsilon, and districts in parallel.

    Its own mean would release the count once more, so means are sums over counts. Laplace noise is
    less than Gaussian noise here even with a delta: a quarter of the rho of the guarantee is
    little. It states an accuracy for counts and sums, and none for means and medians.
    """
    who = {"identifier": "person"} if case.by_person else {}
    context = dp.Context.compositor(
        data=frame,
        privacy_unit=dp.unit_of(contributions=1, **who),
        privacy_loss=dp.loss_of(epsilon=case.epsilon, delta=case.delta or None),
        split_by_weights=[2, 1, 1],
        margins=[dp.polars.Margin(by=["district"], max_length=SIZE)],
    )
    age, size = pl.col("age").fill_null(0), dp.len(signed=True)
    bin_of = age.cut(EDGES[1:-1], labels=BINS, left_closed=True).alias("bin")
    districts = pl.LazyFrame({"district": range(DISTRICTS)})
    cells = districts.join(pl.LazyFrame({"bin": BINS}, {"bin": pl.Categorical}), how="cross")
    released = []
    for keys, outputs in [
        (districts, [size, age.dp.sum((0, LARGEST))]),
        (districts, [age.dp.median(list(range(LARGEST + 1)))]),
        (cells, [size]),
    ]:
        query = context.query()
        query = query.truncate_per_group(case.rows) if case.by_person else query
        query = query.with_columns(bin_of).group_by(keys.collect_schema().names())
        query = query.agg(*outputs).with_keys(keys)
        accuracy = query.summarize(alpha=0.05)["accuracy"][0]
        released.append(query.release().collect().with_columns(accuracy=accuracy))
    moments = released[0].with_columns(mean=(pl.col("age") / pl.col("len")).clip(0, LARGEST))
    return [moments, *released[1:]]


def read(released: list[pl.DataFrame]) -> Output:
    """Return the values of each statistic, and intervals where an accuracy is stated."""
    moments, medians, histogram = released
    moments, medians = moments.sort("district"), medians.sort("district")
    histogram = histogram.sort("district", pl.col("bin").cast(pl.String).cast(int))
    shape = DISTRICTS, len(BINS)
    return {
        "count": _bounded(moments["len"], moments["accuracy"][0], (DISTRICTS,)),
        "mean": {"value": moments["mean"].to_list()},
        "median": {"value": medians["age"].to_list()},
        "histogram": _bounded(histogram["len"], histogram["accuracy"][0], shape),
    }


def _bounded(values: pl.Series, accuracy: float, shape: tuple[int, ...]) -> dict[str, Any]:
    """Return values, moved to 0 if they are negative, and their intervals."""
    found = values.to_numpy().astype(float).reshape(shape)
    parts = {"value": found.clip(0), "lower": found - accuracy, "upper": found + accuracy}
    return {name: part.tolist() for name, part in parts.items()}


def remember_scales() -> None:
    """Let equal queries share what the search for their scale found: it takes far longer."""
    resolve, found = LazyFrameQuery.resolve, {}

    def remembered(query: LazyFrameQuery) -> Any:
        plan = object.__getattribute__(query, "polars_plan").explain(optimized=False)
        if plan not in found:
            found[plan] = resolve(query)
        return found[plan]

    LazyFrameQuery.resolve = remembered


def main() -> None:
    dp.enable_features("contrib")
    columns, case, runs = told()
    frame = pl.LazyFrame(columns)
    first = measure(release, read, frame, case, 1)
    remember_scales()
    rest = measure(release, read, frame, case, runs - 1) if runs > 1 else {"outputs": []}
    json.dump(first | {"outputs": first["outputs"] + rest["outputs"]}, sys.stdout)


if __name__ == "__main__":
    main()
