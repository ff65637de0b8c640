import numpy as np
import pytest

from inbounds._kind import described


class Refuses:
    """Raises when it is looked at, and tells what it holds."""

    def __array__(self, *_: object, **__: object) -> None:
        raise RuntimeError("271828182")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Refuses(), "a Refuses"),
        ([Refuses(), 1.0], "a list"),
        (type("Odd[271828182]", (), {})(), "an Odd"),
        ([1.0, b"", 1j, "a", None, {}], "a list that holds complex numbers, "),
        ((1, "a"), "a tuple that holds strings"),
        ([1.0], "a list"),
    ],
    ids=["refuses", "holds one", "odd name", "many", "tuple", "numbers"],
)
def test_a_type_is_named_and_what_it_holds_is_not(value: object, text: str) -> None:
    kind, hint = described(value)
    assert kind.startswith(text)
    assert "2718" not in kind + hint


def test_a_list_of_many_kinds_is_cut() -> None:
    assert described([b"", 1j, "a", None, {}, set()])[0].endswith(" and others")


def test_where_a_kind_stands_makes_no_difference() -> None:
    assert described(["a", None, 1.0]) == described([1.0, None, None, "bcd"])


def test_elements_without_end_are_not_looked_at_one_by_one() -> None:
    endless = np.broadcast_to(np.array("271828182", dtype=object), 10**12)
    assert described(endless) == ("an array", "")
