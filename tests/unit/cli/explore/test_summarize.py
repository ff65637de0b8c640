from pathlib import Path
from typing import Any

import pytest

from inbounds.cli.explore.summarize import Summary, table, whole
from inbounds.cli.group import read_groups
from inbounds.cli.statistic import read_statistics
from inbounds.errors import ArgumentError, ArgumentTypeError

AGE: Any = {"name": "age", "bounds": [0, 120]}
NAMES = ["-x", "a=b", "a:b", 'say "a"', "a,b", "a\nb", " ", "ε"]


def read(**changes: Any) -> Summary:
    head = {"name": "people.csv", "statistics": {"count": True}, "epsilon": 1}
    return Summary.read(head | changes)


@pytest.mark.parametrize("name", ["age", *NAMES])
def test_the_command_reads_statistics_as_they_were_meant(name: str) -> None:
    one = AGE | {"name": name}
    statistics = {
        **{kind: [one] for kind in ("mean", "total", "variance")},
        "median": [one | {"step": 1}],
        "histogram": [one | {"bins": 4}],
    }
    parts = [word[2:].partition("=") for word in read(statistics=statistics).words]
    texts = {kind: [text] for kind, _, text in parts if kind in statistics}
    asked = read_statistics(texts)
    assert [statistic.kind for statistic in asked] == list(texts)
    assert {statistic.column for statistic in asked} == {name}


@pytest.mark.parametrize("cells", [["Ulm", "Rom 2"], NAMES, ["0", "007"], ["f.", " f"]])
@pytest.mark.parametrize("by", [["town"], ["town", 'a,"b\n']])
def test_the_command_reads_groups_as_they_were_meant(
    cells: list[str], by: list[str], tmp_path: Path
) -> None:
    groups = [[cell] * len(by) for cell in cells]
    asked = read(by=by, groups=groups)
    listed = [w.partition("=")[2] for w in asked.words if w.startswith("--groups=")]
    source = None
    if asked.listing is not None:
        source = tmp_path / asked.listing_name
        source.write_bytes(asked.listing)
    assert read_groups(by, listed, source) == [tuple(group) for group in groups]
    assert (asked.listing is None) == bool(listed)
    assert bool(listed) == (cells in (["Ulm", "Rom 2"], ["0", "007"]))


def test_terms_are_options() -> None:
    asked = read(
        epsilon=0.5, delta=1e-6, id="--x", rows=3, size=100, adjacency="add-remove", nulls="skip"
    )
    assert asked.words[1:-1] == [
        *("--epsilon=0.5", "--delta=1e-06", "--id=--x", "--rows=3", "--size=100"),
        *("--adjacency=add-remove", "--nulls=skip"),
    ]


def test_a_charge_is_an_option() -> None:
    asked = read(charge={"dataset": "-d", "label": "-l"})
    assert {"--dataset=-d", "--label=-l"} <= set(asked.words)


@pytest.mark.parametrize(
    "change",
    [
        {"statistics": {}} | {"epsilon": None},
        {"statistics": {"count": 1}},
        {"statistics": {"mode": [AGE]}},
        {"statistics": {"mean": AGE}},
        {"statistics": {"mean": [AGE | {"step": 1}]}},
        {"statistics": {"histogram": [AGE]}},
        {"statistics": {"histogram": [AGE | {"bins": 0.5}]}},
        {"by": "town"},
        {"by": ["town"], "groups": [["a", "b"]]},
        {"by": ["town"], "groups": ["a"]},
        {"by": ["town"], "groups": [["a\0"]]},
        {"by": ["town"], "groups": [[""]]},
        {"rows": 0},
        {"size": 1e10},
        {"adjacency": "none"},
        {"nulls": "keep"},
        {"ledger": "other.db"},
        {"output": "/etc/passwd"},
    ],
)
def test_what_makes_no_sense_is_refused(change: Any) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError)):
        read(**change)


def test_names_of_a_person_s_own_are_no_numbers() -> None:
    shown = table("value,statistic,column,value\n1,mean,age,2.5\n,count,,\n")
    assert shown["rows"] == [["1", "mean", "age", 2.5], ["", "count", "", None]]


@pytest.mark.parametrize("value", [0, 1.5, True, "1", None, 10**10])
def test_a_whole_number_is_one(value: Any) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError), match="bins"):
        whole("bins", value)
