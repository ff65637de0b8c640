from typing import Any

import pytest

from inbounds.cli.explore import upload
from inbounds.errors import ArgumentError, ArgumentTypeError


@pytest.mark.parametrize("data", [b"", b"age\n41\n", bytes(range(256))])
def test_what_is_framed_is_unframed(data: bytes) -> None:
    head = {"name": "a ε.csv", "rows": 3}
    assert upload.unframed(upload.framed(head, [data])) == (head, data)


def test_files_follow_each_other() -> None:
    assert upload.framed({}, [b"a", b"", b"bc"])[-3:] == b"abc"


@pytest.mark.parametrize(
    "body", [b"", b"\0\0", b"\0\0\0\2{", b"\xff" * 8, b"\0\1\0\1" + b" " * (1 << 17)]
)
def test_a_frame_that_is_none_is_refused(body: bytes) -> None:
    with pytest.raises(ArgumentError, match="a length in four bytes"):
        upload.unframed(body)


@pytest.mark.parametrize("body", [b"", b"{", b"NaN", b'{"a":1,"a":1}', b"\xff", b"[" * 50_000])
def test_json_that_is_none_is_refused_and_not_shown(body: bytes) -> None:
    with pytest.raises(ArgumentError) as caught:
        upload.document(body)
    assert caught.value.__suppress_context__
    assert str(caught.value).startswith("the request must be JSON in UTF-8")


@pytest.mark.parametrize("name", ["a.csv", "-.csv", "ä b.PARQUET", "'$(x)'.arrow", "a.b.feather"])
def test_a_file_may_have_any_name(name: str) -> None:
    assert upload.file_name(name) == name


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "a", "a.txt", "/a.csv", "a/b.csv", "a\\b.csv", "a\nb.csv", "a\0.csv",
     "\ud800.csv", "\u202ea.csv", "ä" * 80 + ".csv", "x" * 2000],
)  # fmt: skip
def test_more_than_a_name_is_refused(name: str) -> None:
    with pytest.raises(ArgumentError, match=r"^name must"):
        upload.file_name(name)


@pytest.mark.parametrize("value", [None, 1, ["a.csv"], {}])
def test_a_name_is_a_text(value: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="name must be a text"):
        upload.file_name(value)


def test_a_charge_has_a_dataset_and_perhaps_a_label() -> None:
    assert upload.asked_charge({}) is upload.asked_charge({"charge": None}) is None
    charge = upload.asked_charge({"charge": {"dataset": "survey", "label": None}})
    assert charge is not None
    assert charge.label == ""
    for wrong in ({}, {"dataset": ""}, {"dataset": "a", "ledger": "other.db"}, "survey"):
        with pytest.raises((ArgumentError, ArgumentTypeError)):
            upload.asked_charge({"charge": wrong})
