from typing import Any

import numpy as np
import pytest

from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.mechanisms.level import check_levels, codes_of, family_of


class Sly(str):
    """A text that equals everything."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


@pytest.mark.parametrize(
    ("levels", "plain"),
    [
        (["no", "yes"], ("no", "yes")),
        (np.array(["no", "yes"]), ("no", "yes")),
        (range(3), (0, 1, 2)),
        (np.array([1, 2], np.uint8), (1, 2)),
        ([True, False], (True, False)),
        ([np.bool_(False), True], (False, True)),
        ([2**64 - 1, 0], (2**64 - 1, 0)),
        ([2**63 - 1, -(2**63)], (2**63 - 1, -(2**63))),
    ],
)
def test_levels_become_plain_objects(levels: Any, plain: tuple[Any, ...]) -> None:
    checked = check_levels(levels)
    assert checked == plain
    assert [type(level) for level in checked] == [type(level) for level in plain]


@pytest.mark.parametrize(
    "levels",
    ["no", None, 7, {"a", "b"}, {"a": 1, "b": 2}, ["a", 1], [1, True], [1.0, 2.0], [None, "a"],
     [Sly("a"), "b"], np.array([["a", "b"]]), [b"a", b"b"]],
)  # fmt: skip
def test_other_types_are_refused(levels: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"^levels must be"):
        check_levels(levels)


@pytest.mark.parametrize(
    "levels",
    [
        [],
        ["a"],
        ["a", "a"],
        [1, 1],
        ["a", "b\0"],
        ["a", "\ud800"],
        [1, 2**64],
        [-1, 2**63],
        range(65_537),
    ],
)
def test_impossible_levels_are_refused(levels: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^levels must"):
        check_levels(levels)


CASES: list[tuple[tuple[Any, ...], list[Any]]] = [
    (("no", "yes", "", "ä", "a\u0308", "YES"), [np.str_, str]),
    ((3, -1, 2**62, 0), [np.int64, int]),
    ((False, True), [np.bool_, bool]),
]


@pytest.mark.parametrize(("levels", "kinds"), CASES, ids=["text", "integer", "boolean"])
def test_lists_objects_and_arrays_are_looked_up_alike(
    levels: tuple[Any, ...], kinds: list[Any]
) -> None:
    places = np.random.default_rng(1).integers(len(levels), size=200)
    values = [levels[i] for i in places]
    for given in (
        values,
        tuple(values),
        np.array(values),
        np.array(values, object),
        [kinds[i % 2](value) for i, value in enumerate(values)],
        np.array(values).reshape(20, 10),
    ):
        codes = codes_of(given, levels, "values")
        assert np.array_equal(codes.reshape(-1), places)
        assert codes.shape == np.shape(given)


@pytest.mark.parametrize("count", [2, 16, 17, 500])
def test_few_and_many_levels_are_looked_up_alike(count: int) -> None:
    rng = np.random.default_rng(count)
    for levels in (rng.permutation(3 * count)[:count], rng.permutation(3 * count)[:count] - count):
        for given in (levels, np.array([f"{level}" for level in levels])):
            known = tuple(given.tolist())
            places = rng.integers(count, size=1000)
            assert np.array_equal(codes_of(given[places], known, "values"), places)
            foreign = np.append(given[places], given.max() + 1 if given is levels else "x")
            with pytest.raises(ArgumentError, match="must hold levels"):
                codes_of(foreign, known, "values")


@pytest.mark.parametrize(
    ("values", "levels"),
    [
        (["no", "maybe"], ("no", "yes")),
        (np.array(["no", "maybe"]), ("no", "yes")),
        (np.array(["zzz"]), ("no", "yes")),
        (["no", None], ("no", "yes")),
        (["no", Sly("yes")], ("no", "yes")),
        ([True, 1], (True, False)),
        ([1, True], (0, 1)),
        ([1.0], (0, 1)),
        (np.array([1.0]), (0, 1)),
        (np.array([300]), (1, 44)),
        (np.array([44], np.uint8), (300, -212)),
        (np.array([0]), (False, True)),
        (["a\u0308"], ("ä", "b")),
    ],
)
def test_what_is_no_level_is_refused_without_being_shown(values: Any, levels: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^values must hold levels") as caught:
        codes_of(values, levels, "values")
    assert not any(word in str(caught.value) for word in ("maybe", "zzz", "300", "44"))
    assert caught.value.__cause__ is caught.value.__context__ is None


def test_the_family_of_levels_is_that_of_the_first() -> None:
    assert [family_of(levels) for levels in (("a", "b"), (0, 1), (True, False))] == [
        "text",
        "integer",
        "boolean",
    ]
