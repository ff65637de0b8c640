import json
from typing import Any

import numpy as np
import pytest

from inbounds.cli.column import calibrated, read_column
from inbounds.cli.explore.privatize import Privatization, plain, simulated
from inbounds.cli.failure import UsageError
from inbounds.cli.level import read_levels
from inbounds.errors import ArgumentError, ArgumentTypeError

AGE: Any = {"name": "age", "bounds": [0, 120], "step": 1, "epsilon": 0.5}
NAMES = ["age", "-x", "a=b=0:1@2", "a:b", 'say "a"', "a,b", "a\nb", " ", "ε", "=", "@"]


def read(*columns: Any, **more: Any) -> Privatization:
    return Privatization.read({"name": "people.csv", "columns": list(columns)} | more)


@pytest.mark.parametrize("name", NAMES)
def test_the_command_reads_a_column_as_it_was_meant(name: str) -> None:
    asked = read({"name": name, "bounds": [-5.5, 1e300], "step": 0.1, "epsilon": 1e-6})
    option = next(word for word in asked.words if word.startswith("--column="))
    column = read_column(option.removeprefix("--column="))
    assert (column.name, column.lower, column.upper) == (name, -5.5, 1e300)
    assert (column.step, column.epsilon) == (0.1, 1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_the_command_reads_levels_as_they_were_meant(name: str) -> None:
    levels = [{"name": name, "levels": ["a", name, "b@1", '"'], "epsilon": 0.25}]
    asked = Privatization.read({"name": "people.csv", "levels": levels})
    option = next(word for word in asked.words if word.startswith("--levels="))
    read = read_levels(option.removeprefix("--levels="))
    assert (read.name, read.texts, read.epsilon) == (name, ("a", name, "b@1", '"'), 0.25)


def test_the_cost_of_a_row_is_the_decimal_sum() -> None:
    asked = read(AGE | {"epsilon": 0.1}, AGE | {"name": "pay", "epsilon": 0.2})
    assert asked.epsilon == 0.3


def test_all_else_is_an_option() -> None:
    asked = read(AGE, nulls="keep", shuffle=True, mechanism="bounded-laplace", delimiter=";")
    assert asked.words[2:] == [
        *("--nulls=keep", "--mechanism=bounded-laplace", "--shuffle", "--delimiter=;"),
    ]
    assert read(AGE, name="-x.csv").words[0] == "./-x.private.csv"


def test_columns_are_checked_before_a_charge() -> None:
    asked = read(AGE)
    asked.check(["age", "town"])
    with pytest.raises(UsageError, match="no column 'age'"):
        asked.check(["town"])


@pytest.mark.parametrize(
    "change",
    [
        {"columns": []},
        {"columns": None},
        {"columns": {"age": 1}},
        {"columns": [AGE] * 65},
        {"columns": [AGE | {"bounds": [0]}]},
        {"columns": [AGE | {"bounds": "0:120"}]},
        {"columns": [AGE | {"bounds": [0, True]}]},
        {"columns": [AGE | {"epsilon": None}]},
        {"columns": [AGE | {"--force": 1}]},
        {"columns": [AGE | {"name": "a\0"}]},
        {"columns": [{"name": "age"}]},
        {"levels": [{"name": "a", "levels": [], "epsilon": 1}]},
        {"levels": [{"name": "a", "levels": "ab", "epsilon": 1}]},
        {"nulls": "skip"},
        {"nulls": None},
        {"shuffle": 1},
        {"mechanism": "--force"},
        {"name": None},
        {"force": True},
        {"charge": "survey"},
    ],
)
def test_what_makes_no_sense_is_refused(change: Any) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError)):
        Privatization.read({"name": "people.csv", "columns": [AGE]} | change)


@pytest.mark.parametrize("number", [0.0, -0.0, 1.0, -5.0, 0.1, 1e16, 2.0**53, 5e-324, 1.5])
def test_a_number_is_written_so_that_it_is_read_back(number: float) -> None:
    assert float(plain(number)) == number


@pytest.mark.parametrize("step", [None, 1, 60, 120])
@pytest.mark.parametrize("mechanism", [None, "clamped-laplace", "best"])
def test_simulated_outputs_are_in_bounds(step: float | None, mechanism: str | None) -> None:
    asked = {"columns": [AGE | {"step": step}], "rows": 500, "mechanism": mechanism}
    (column,) = simulated(asked)["columns"]
    for shown in (column["values"], column["outputs"]):
        assert (shown["edges"][0], shown["edges"][-1]) == (0, 120)
        assert sum(shown["fractions"]) == pytest.approx(1)


def test_more_privacy_makes_simulated_outputs_worse() -> None:
    errors = [
        simulated({"columns": [AGE | {"epsilon": e}], "rows": 20_000})["columns"][0]["error"]
        for e in (10, 0.1)
    ]
    assert errors[0] < 0.5 * errors[1]


@pytest.mark.parametrize("change", [{}, {"step": None}, {"bounds": [-3, 1], "epsilon": 4}])
def test_the_error_is_a_fact_and_not_a_sample(change: Any) -> None:
    first, second = (
        simulated({"columns": [AGE | change], "rows": rows})["columns"][0]["error"]
        for rows in (10, 50_000)
    )
    assert first == second
    (column,) = calibrated([setting(AGE | change)], None, None, None)
    mechanism: Any = column.mechanism
    lower, upper = (AGE | change)["bounds"]
    values = np.random.default_rng(1).uniform(lower, upper, 200_000)
    if (AGE | change)["step"]:
        values = np.random.default_rng(1).integers(lower, upper + 1, 200_000).astype(float)
    seen = (np.asarray(mechanism.release(values), float) - values) ** 2
    # fails once in 10⁸ runs
    assert abs(seen.mean() - first**2) < 6 * seen.std() / np.sqrt(seen.size)


def setting(column: Any) -> str:
    step = f":{column['step']}" if column["step"] else ""
    lower, upper = column["bounds"]
    return f"age={lower}:{upper}{step}@{column['epsilon']}"


@pytest.mark.parametrize("bounds", [[0, 1e300], [-1e150, 1e160]])
def test_an_error_that_no_double_holds_is_null(bounds: list[float]) -> None:
    asked = {"columns": [AGE | {"bounds": bounds, "step": None}]}
    found = simulated(asked)
    assert found["columns"][0]["error"] is None
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize("rows", [0, -1, 0.5, 1e9, None, "1"])
def test_a_number_of_rows_is_a_whole_number(rows: Any) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError), match="rows"):
        simulated({"columns": [AGE], "rows": rows})
