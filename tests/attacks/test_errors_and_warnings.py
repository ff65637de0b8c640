"""Attacks on what a release says: errors, warnings, logs and prints tell naive code's data only.

A covert channel beside those of Haeberlen, Pierce and Narayan, Differential Privacy Under Fire
(2011). Whoever sees a message must not learn from it what was released: not the value, not where in
an array the bad one stands, not whether a value was out of bounds. Everything here is compared
exactly, so there are no false alarms.
"""

import math
import warnings
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import partial
from io import BytesIO
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import inbounds as ib
from inbounds import frames
from inbounds.cli.rows import Layout, checked_first
from inbounds.frames.local.privatize import privatize
from inbounds.queries import Query, graph

from ..properties.hostile import Explosive, Float, watch

Floats = NDArray[np.float64]
Call = Callable[[Any], Any]
SIZE = 5
MECHANISMS = [
    ib.BoundedGaussian(ib.Box(0, 120), 120, sigma=40.0),
    ib.BoundedLaplace(ib.Box(0, 120, step=1), 120, scale=40.0),
    ib.ClampedGaussian(ib.Box(-8e307, 8e307), 1, sigma=1e307),
    ib.ClampedLaplace(ib.Box(0, 1e-307), 1, scale=3e-308),
    ib.ClampedStaircase(ib.Box(-8e307, 8e307), 1, epsilon=0.5),
    ib.BoundedGaussian(ib.Box(np.zeros(SIZE), 120), 1, sigma=9.0),
]
SOUND = [
    np.full(SIZE, 41.0),
    np.zeros(SIZE),
    np.full(SIZE, -0.0),
    np.full(SIZE, 120.0),
    np.full(SIZE, -1e308),
    np.array([5e-324, 1e308, -1e308, 0.1, 77.0]),
    np.array([1e-310, 1e-300, 1e-308, 3e-308, 2e307]),
]
METHODS: dict[str, Callable[[Any], Call]] = {
    **{
        name: lambda m, name=name: getattr(m, name)
        for name in ("release", "mean", "bias", "variance", "mse", "mass_at_bounds")
    },
    "pdf": lambda m: lambda values: m.pdf(1e-308, values),
    "cdf": lambda m: lambda values: m.cdf(50.0, values),
    "quantile": lambda m: lambda values: m.quantile(0.25, values),
    "output_interval": lambda m: lambda values: m.output_interval(values, 0.95),
}


def said(call: Call, *given: Any) -> list[str]:
    """Return everything that can be observed of calls, but for their answers."""
    return [watch(lambda data=data: call(data)).text for data in given]


def broken(where: int, bad: Any, rest: float = 41.0) -> list[Any]:
    """Return data with one bad entry."""
    return [bad if i == where else rest for i in range(SIZE)]


def naive(values: Any) -> Floats:
    """Release with the checks and formulas that come to mind first."""
    for i, value in enumerate(values):
        if math.isnan(value):
            raise ValueError(f"NaN at {i}")
        if not 0 <= value <= 120:
            warnings.warn(f"{value} is not in [0, 120]", stacklevel=2)
    shares = np.clip(values, 0, 120) / 120
    logits = np.log(shares / (1 - shares))  # warns at a bound
    return 120 / (1 + np.exp(-logits - np.random.default_rng().normal(size=SIZE)))


def test_what_naive_code_says_tells_data_apart() -> None:
    """Power of the tests below: of seven arrays, at least five can be told by what was said."""
    assert len(set(said(naive, *SOUND))) >= 5
    assert len(set(said(naive, *(broken(i, math.nan) for i in range(SIZE))))) == SIZE


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_nothing_is_said_about_sound_data(mechanism: Any, method: str) -> None:
    assert not "".join(said(METHODS[method](mechanism), *SOUND)).strip()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_data_that_are_not_finite_are_refused_in_the_same_words_wherever_they_stand(
    mechanism: Any, method: str
) -> None:
    places = product(range(SIZE), (math.nan, math.inf, -math.inf), (41.0, -1e308))
    lists = [broken(*place) for place in places]
    found = set(said(METHODS[method](mechanism), *lists, *map(np.array, lists)))
    assert len(found) == 1
    assert "values must be finite" in found.pop()


@pytest.mark.parametrize("bad", [None, "77.1", "secret", 1j, [1.0], b"77"])
def test_data_of_a_wrong_kind_are_refused_in_the_same_words_wherever_they_stand(bad: Any) -> None:
    lists = [broken(where, bad, rest) for where in range(SIZE) for rest in (41.0, 1e300)]
    found = set(said(MECHANISMS[0].release, *lists))
    assert len(found) == 1
    assert "values must be a real number" in found.pop()


def test_integers_of_any_length_are_moved_to_the_box() -> None:
    """A list with one beyond 64 bits becomes objects in numpy; that must not be an error."""
    digits = (2, 18, 19, 20, 300, 309, 400)
    long = [broken(where, 10**many) for where in range(SIZE) for many in digits]
    assert not "".join(said(MECHANISMS[0].release, *long, *(10**many for many in digits))).strip()


def test_decimals_and_fractions_are_moved_to_the_box_without_a_word() -> None:
    numbers = ("77.1", "-5", "1e308", "1e309", "-1e999999", "1e-999999", "0")
    given = [broken(where, Decimal(text)) for where in range(SIZE) for text in numbers]
    given += [broken(0, Fraction(7, 3)), broken(0, Fraction(10**400, 3))]
    assert not "".join(said(MECHANISMS[0].release, *given, *map(Decimal, numbers))).strip()


def test_frames_say_the_same_wherever_a_value_is_missing_or_not_finite() -> None:
    columns = {"x": MECHANISMS[0]}

    def by_pandas(data: Any) -> Any:
        return privatize(pd.DataFrame({"x": data}), columns)

    def by_arrow(data: Any) -> Any:
        return privatize(pa.table({"x": pa.array(data, pa.float64())}), columns)

    for call, bad in product((by_pandas, by_arrow), (None, math.inf, math.nan)):
        found = set(said(call, *(broken(i, bad, rest) for i in range(SIZE) for rest in (1.0, 1e9))))
        assert len(found) == 1
        assert "column 'x' must" in found.pop()
    for call in (by_pandas, by_arrow):
        assert not "".join(said(call, *SOUND)).strip()


def test_a_query_says_the_same_whatever_its_value() -> None:
    def ask(value: Any) -> Any:
        return repr(Query("mean age", value, ib.Box(0, 120), 1))

    assert not "".join(said(ask, 0.0, 41.0, -1e308, 5e-324)).strip()
    assert len(set(said(ask, math.nan, math.inf, -math.inf))) == 1


def test_graphs_are_asked_without_a_word_whatever_their_edges() -> None:
    empty, full = np.zeros((6, 6)), np.ones((6, 6))
    path = np.diag(np.ones(5), 1)
    odd = np.array([[math.nan, -1e308, 5e-324], [0, 1, 1e308], [0, 0, 0]])

    def ask(matrix: Any) -> Any:
        graph.degree(matrix, node=1, edges=1)
        return repr(
            [graph.average_degree(matrix, edges=1), graph.algebraic_connectivity(matrix, edges=1)]
        )

    assert not "".join(said(ask, empty, full, path, path.T, np.eye(6), odd)).strip()


@pytest.mark.parametrize("line", range(SIZE))
def test_the_command_line_says_which_line_is_bad_and_nothing_of_it(line: int) -> None:
    """Its place is told to the operator, who has the file: docs/threat-model.md."""

    def read(bad: str) -> Any:
        text = "\n".join(
            broken(line, bad, 77.125)[i] if i == line else "77.125" for i in range(SIZE)
        )
        return list(checked_first(BytesIO(text.encode()), Layout(1)))

    found = set(said(read, "secret", "nan", "inf", "1,2", "7_7", "0x77", "77.1.2", "é", "1e999"))
    assert len(found) == 1
    assert f"line {line + 1} must be a finite number" in found.pop()


def test_a_ledger_says_the_same_of_all_bad_data_and_charges_nothing(tmp_path: Path) -> None:
    ledger = ib.Ledger(tmp_path / "budget.db")
    ledger.open("survey", epsilon=3.0)

    def spend(data: Any) -> Any:
        return ledger.release(MECHANISMS[0], data, dataset="survey", label="ages")

    bad = (broken(i, value) for i in range(SIZE) for value in (math.nan, math.inf))
    assert len(set(said(spend, *bad))) == 1
    assert ledger.remaining("survey").epsilon == 3.0


SECRET = 271828182
FOREIGN: list[tuple[Any, str]] = [
    *((str(SECRET), "string"), ([str(SECRET)], "string"), ([1.0, str(SECRET)], "string")),
    *((np.array([str(SECRET)]), "string"), (np.str_(SECRET), "string")),
    *(
        (str(SECRET).encode(), "bytes"),
        (bytearray(b"271828182"), "bytes"),
        (bytearray(b"5"), "bytes"),
    ),
    *((True, "boolean"), (np.True_, "boolean"), ([True], "boolean"), (np.array([True]), "boolean")),
    *((date(2718, 2, 8), "date"), ([date(2718, 2, 8)], "date"), (np.datetime64("2718"), "date")),
    *((datetime(2718, 2, 8), "date"), (np.array(["2718-02-08"], "M8[s]"), "date")),
    *((pd.Timestamp(SECRET, unit="s"), "date"), (time(2, 7, 18), "time")),
    *((timedelta(SECRET), "duration"), (np.timedelta64(SECRET, "s"), "duration")),
    *(([timedelta(SECRET)], "duration"), (pd.Timedelta(SECRET, "s"), "duration")),
    *((complex(SECRET), "complex"), ([complex(SECRET)], "complex")),
    *((np.complex64(SECRET), "complex"), (np.array([1j * SECRET]), "complex")),
    *((None, "None"), (pd.NA, "missing"), (pd.NaT, "missing"), ([SECRET, None], "missing")),
    *((np.array([SECRET, pd.NA], dtype=object), "missing"), (np.ma.masked, "masked")),
    *((np.ma.array([SECRET], mask=[True]), "masked"), ([SECRET, [SECRET]], "list")),
    *(([[SECRET], [1, 2]], "list"), ({SECRET}, "set"), (frozenset([SECRET]), "set")),
    *(({"a": SECRET}, "dictionary"), (iter([SECRET]), "iterator"), (object(), "object")),
    *((Explosive(SECRET), "Explosive"), (Float(SECRET), "Float"), ([Float(SECRET)], "Float")),
    *((np.zeros(1, [(str(SECRET), float)]), "record"), (pa.scalar(SECRET), "Int64Scalar")),
    *((pd.Series([str(SECRET)]), "string"), (pd.Series([True], dtype="boolean"), "boolean")),
    *((pd.Series([str(SECRET)], dtype="category"), "string"), (pl.Series([True]), "boolean")),
    *((pl.Series([str(SECRET)], dtype=pl.Categorical), "string"), (pa.array(["2718"]), "string")),
    *((pl.Series([date(2718, 2, 8)]), "date"), (pa.array([timedelta(seconds=SECRET)]), "duration")),
    *((pa.array([str(SECRET)]).dictionary_encode(), "string"), (len, "builtin")),
]
GAUSSIAN = MECHANISMS[0]
OF_DATA: dict[str, Call] = {
    "values": GAUSSIAN.release,
    "values of mean": GAUSSIAN.mean,
    "values of variance": GAUSSIAN.variance,
    "values of quantile": lambda data: GAUSSIAN.quantile(0.5, data),
    "x": lambda data: GAUSSIAN.cdf(data, 41.0),
    "q": lambda data: GAUSSIAN.quantile(data, 41.0),
    "level": lambda data: GAUSSIAN.output_interval(41.0, data),
    "output": lambda data: ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=1.0).denoise(data),
    "value": lambda data: Query("mean age", data, ib.Box(0, 120), 1),
}
OF_PARAMETERS: dict[str, Call] = {
    "lower": lambda given: ib.Box(given, 1),
    "upper": lambda given: ib.Box(0, given),
    "step": lambda given: ib.Box(0, 1, step=given),
    "sensitivity": ib.L2,
    "sensitivity of each": ib.PerCoordinate,
    "sensitivity of a mechanism": lambda given: ib.BoundedGaussian(ib.Box(0, 1), given, sigma=1.0),
    "domain": lambda given: ib.BoundedGaussian(given, 1, sigma=1.0),
    "sigma": lambda given: ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=given),
    "scale": lambda given: ib.BoundedLaplace(ib.Box(0, 1), 1, scale=given),
    "epsilon": lambda given: ib.BoundedGaussian.calibrated(ib.Box(0, 1), 1, epsilon=given),
    "rho": lambda given: ib.BoundedGaussian.calibrated(ib.Box(0, 1), 1, rho=given),
    "epsilon of Laplace": lambda given: ib.ClampedLaplace.calibrated(BOX, 1, epsilon=given),
    "delta": lambda given: ib.BoundedGaussian.calibrated(BOX, 1, epsilon=1, delta=given),
    "delta of Laplace": lambda given: ib.BoundedLaplace.calibrated(BOX, 1, epsilon=1, delta=given),
    "alpha": GAUSSIAN.renyi,
    "epsilon of delta": GAUSSIAN.delta,
}
BOX = ib.Box(0, 1)
CASES = [
    (given, kind, place)
    for (given, kind), place in product(FOREIGN, OF_PARAMETERS)
    if place not in ("step", "epsilon", "rho") or kind not in ("None", "missing")  # left out
]


def kind_id(case: Any) -> str:
    """Name a case alike in every process."""
    return f"{type(case).__name__}" if not isinstance(case, str) else case


@pytest.mark.parametrize("place", OF_DATA)
@pytest.mark.parametrize(("given", "kind"), FOREIGN, ids=kind_id)
def test_data_of_a_foreign_type_are_refused_by_type_and_not_shown(
    given: Any, kind: str, place: str
) -> None:
    seen = watch(lambda: OF_DATA[place](given))
    assert isinstance(seen.error, ib.InBoundsError)
    assert isinstance(seen.error, TypeError | ValueError)
    assert str(seen.error).startswith(f"{place.split(maxsplit=1)[0]} must")
    assert kind in str(seen.error)
    assert "2718" not in seen.text


@pytest.mark.parametrize(("given", "kind", "place"), CASES, ids=kind_id)
def test_a_parameter_of_a_foreign_type_is_refused_by_name_and_type(
    given: Any, kind: str, place: str
) -> None:
    seen = watch(lambda: OF_PARAMETERS[place](given))
    assert isinstance(seen.error, ib.InBoundsError)
    assert isinstance(seen.error, TypeError | ValueError)
    assert str(seen.error).startswith(f"{place.split(maxsplit=1)[0]} must")
    assert kind in str(seen.error)


TABLE = pd.DataFrame({"age": [41.0, 17.0]})
MECHANISM = MECHANISMS[0]

MISPLACED: dict[str, Callable[[Any], object]] = {
    "mean": lambda data: frames.mean(data, 0, 120),
    "histogram": lambda data: frames.histogram(data, [0, 1]),
    "statistics": lambda data: ib.summarize(TABLE, data, epsilon=1.0),
    **{
        name: partial(
            lambda data, name: ib.summarize(
                TABLE, frames.mean("age", 0, 120), **{"epsilon": 1.0, name: data}
            ),
            name=name,
        )
        for name in ("id", "rows", "nulls", "adjacency", "epsilon", "by")
    },
    "groups": lambda data: ib.summarize(
        TABLE, frames.count(), epsilon=1.0, by="age", groups={"a": data}
    ),
    "domain": lambda data: ib.calibrate(data, 1, epsilon=1.0),
    "people": lambda data: ib.calibrate(BOX, 1, epsilon=1.0, people=data),
    "criterion": lambda data: ib.calibrate(BOX, 1, epsilon=1.0, criterion=data),
    "calibrated epsilon": lambda data: ib.calibrate(BOX, 1, epsilon=data),
    "method": lambda data: ib.BoundedGaussian.calibrated(BOX, 1, epsilon=1.0, method=data),
    "mechanism of deconvolve": lambda data: ib.deconvolve([1.0], data),
    "bins": lambda data: ib.deconvolve([1.0], MECHANISM, bins=data),
    "count of compose": lambda data: ib.compose([(MECHANISM, data)]),
    "releases of compose": lambda data: ib.compose([data]),
    "releases of audit": lambda data: ib.audit(MECHANISM, releases=data),
    "box": lambda data: ib.audit(MECHANISM, box=data),
    "mechanisms": lambda data: ib.privatize(TABLE, data),
    "mechanism of a column": lambda data: ib.privatize(TABLE, {"age": data}),
    "nulls of privatize": lambda data: ib.privatize(TABLE, {"age": MECHANISM}, nulls=data),
    "shuffle": lambda data: ib.privatize(TABLE, {"age": MECHANISM}, shuffle=data),
    "change": ib.Unit,
    "of": lambda data: ib.Unit("replace", data),
    "count": lambda data: ib.Unit("replace", "row", data),
    "delta": lambda data: ib.regimes(delta=data),
    "dimension": lambda data: ib.regimes(delta=0.0, dimension=data),
    "pure": ib.PrivacyLoss.pure,
    "text": ib.PrivacyLoss.from_json,
    "node": lambda data: ib.queries.graph.degree(np.ones((2, 2)), node=data, edges=1),
    "edges": lambda data: ib.queries.graph.degree(np.ones((2, 2)), node=0, edges=data),
    "step": lambda data: ib.Box([0, 0], 120, step=[data, 1]),
}
COLUMNS_OF_DATA: dict[str, Callable[[list[float]], Any]] = {
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "pandas": pd.Series,
    "polars": pl.Series,
    "frame": lambda data: pd.DataFrame({"age": data}),
    "dict": lambda data: dict(enumerate(data)),
    "set": set,
    "record": lambda data: np.rec.fromarrays([[value] for value in data], names="a,b,c")[0],
    "array of no dimension": lambda data: np.array(SimpleNamespace(age=data)),
    "namespace": lambda data: SimpleNamespace(age=data),
    "interval": lambda data: pd.Interval(data[1], data[0]),
    "categories": pd.CategoricalDtype,
    "bytes": lambda data: repr(data).encode(),
    "error": ValueError,
}


@pytest.mark.parametrize("column", COLUMNS_OF_DATA)
@pytest.mark.parametrize("place", MISPLACED)
def test_data_given_for_another_argument_are_not_shown(place: str, column: str) -> None:
    """A column where a name, a number or a mechanism is expected is a natural mistake."""
    with pytest.raises(ib.InBoundsError) as caught:
        MISPLACED[place](COLUMNS_OF_DATA[column]([47.125, 43.125, -98.875]))
    assert "125" not in str(caught.value)
    assert "98.875" not in str(caught.value)
    assert caught.value.__context__ is None or "125" not in str(caught.value.__context__)
