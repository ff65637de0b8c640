from typing import Any

import pytest

from inbounds.cli.failure import UsageError
from inbounds.cli.statistic import equal_edges, read_statistics, read_weights, split_values
from inbounds.frames import (
    categories,
    count,
    histogram,
    mean,
    median,
    proportion,
    quantile,
    total,
    variance,
)


@pytest.mark.parametrize(
    ("kind", "text", "statistic"),
    [
        ("proportion", "smoker", proportion("smoker")),
        ("mean", "age=0:120", mean("age", 0, 120)),
        ("mean", "a=b=-5:5.5", mean("a=b", -5, 5.5)),
        ("total", "pay=0:1e5", total("pay", 0, 1e5)),
        ("variance", "age=0:120", variance("age", 0, 120)),
        ("median", "age=0:120", median("age", 0, 120)),
        ("median", "age=0:120:1", median("age", 0, 120, step=1)),
        ("quantile", "age=0:120:0.25", quantile("age", 0.25, 0, 120)),
        ("quantile", "age=0:120:0.25,0.75", quantile("age", [0.25, 0.75], 0, 120)),
        ("quantile", "pay=0:9:0.5:0.1,0.9", quantile("pay", [0.1, 0.9], 0, 9, step=0.5)),
        ("histogram", "age=0:120:3", histogram("age", [0, 40, 80, 120])),
        ("histogram", "age=0:1:10", histogram("age", [i / 10 for i in range(11)])),
        ("histogram", "age=0,18,65,120", histogram("age", [0, 18, 65, 120])),
        ("categories", "school=none,a few", categories("school", ["none", "a few"])),
        ("categories", 'size="1,5",<=2', categories("size", ["1,5", "<=2"])),
    ],
)
def test_an_option_asks_for_what_the_library_offers(kind: str, text: str, statistic: Any) -> None:
    assert read_statistics({kind: [text]}) == [statistic]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("mean", "age"),
        ("mean", "=0:120"),
        ("mean", "age=0"),
        ("mean", "age=0:120:1"),
        ("mean", "age=zero:120"),
        ("mean", "age=0:1.00000000000000001"),
        ("proportion", ""),
        ("median", "age=0:120:1:2"),
        ("quantile", "age=0:120"),
        ("quantile", "age=0:120:"),
        ("quantile", "age=0:120:a"),
        ("histogram", "age=0:120"),
        ("histogram", "age=0:120:2.5"),
        ("histogram", "age=0:120:0"),
        ("histogram", "age=0:120:1e9"),
        ("histogram", "age=0:inf:3"),
        ("histogram", "age=0:18:65:120"),
        ("categories", "school"),
        ("categories", "school="),
        ("categories", "school=a,,b"),
        ("categories", 'school="a'),
    ],
)
def test_a_form_that_cannot_be_read_is_shown_with_an_example(kind: str, text: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_statistics({kind: [text]})
    assert caught.value.format_message().startswith(f"--{kind} must be NAME")
    assert "as in " in caught.value.format_message()
    assert caught.value.format_message().endswith(f"got {text!r}.")


@pytest.mark.parametrize(
    ("kind", "text", "words"),
    [
        ("mean", "age=120:0", "--mean 'age': upper must be above lower"),
        ("quantile", "age=0:120:1.5", "--quantile 'age': q must be between"),
        ("median", "age=0:120:7", "--median 'age': "),
        ("histogram", "age=5,1", "--histogram 'age': edges must be at least two numbers"),
        ("categories", "school=a,a", "--categories 'school': levels must hold"),
    ],
)
def test_what_the_library_refuses_is_said_of_the_option(kind: str, text: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_statistics({kind: [text]})
    assert caught.value.format_message().startswith(words)


def test_statistics_are_asked_for_once_and_at_least_one_is() -> None:
    with pytest.raises(UsageError, match="at least one statistic must be asked for: --count"):
        read_statistics({"mean": None})
    with pytest.raises(UsageError, match="twice"):
        read_statistics({"mean": ["age=0:120", "age=0:120.0"]})
    assert read_statistics({"mean": ["age=0:120", "age=0:99"]}, count=True)[0] == count()


def test_listed_levels_are_all_unless_the_column_is_called_incomplete() -> None:
    texts = {"categories": ["a=x,y", "b=x"]}
    assert read_statistics(texts, incomplete=["b"]) == [
        categories("a", ["x", "y"]),
        categories("b", ["x"], complete=False),
    ]
    with pytest.raises(UsageError, match="--incomplete must name a column of --categories"):
        read_statistics(texts, incomplete=["c"])


def test_values_are_split_at_commas_outside_of_quotes() -> None:
    assert split_values('a, b," c",d""e') == ["a", "b", " c", 'd""e']


def test_equal_edges_are_the_doubles_that_people_write() -> None:
    assert equal_edges(0.0, 1.2, 12.0) == [float(f"{i // 10}.{i % 10}") for i in range(13)]
    assert equal_edges(-1.0, 1.0, 1.0) == [-1.0, 1.0]


def test_weights_are_those_named_and_one_otherwise() -> None:
    asked = read_statistics({"mean": ["age=0:120"], "median": ["age=0:120"]}, count=True)
    assert read_weights(None, asked) is None
    assert read_weights(["mean:age=2", "count=0.5"], asked) == [0.5, 2.0, 1.0]
    with pytest.raises(UsageError, match="must name one of count, mean:age, median:age"):
        read_weights(["total:age=2"], asked)
    with pytest.raises(UsageError, match=r"must be STATISTIC\[:NAME\]=NUMBER"):
        read_weights(["count=many"], asked)
