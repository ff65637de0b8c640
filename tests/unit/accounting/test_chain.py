from dataclasses import replace

import pytest

from inbounds.accounting.chain import Account, Charge, Opening, digest, text
from inbounds.errors import ArgumentError, ArgumentTypeError, LedgerError

OPENING = Opening("survey", "3.0", None, None, "2026-01-01")
START = Account.opened(OPENING, OPENING.hash)


def history(size: int) -> list[tuple[Charge, str]]:
    entries, head = [], START.head
    for number in range(1, size + 1):
        charge = Charge("survey", number, f"2026-01-0{number}", "label", "m", "cost", 1)
        head = charge.hash_after(head)
        entries.append((charge, head))
    return entries


def test_an_honest_history_adds_up() -> None:
    account = START.followed_by(history(5))
    assert (account.number, account.counts) == (5, {"cost": 5})
    assert account.head == history(5)[-1][1]


def test_a_history_can_be_checked_in_parts() -> None:
    whole = START.followed_by(history(5))
    assert START.followed_by(history(5)[:2]).followed_by(history(5)[2:]) == whole


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("dataset", "other"),
        ("time", "2025-01-01"),
        ("label", "Label"),
        ("mechanism", "n"),
        ("cost", "cheap"),
        ("count", 0),
    ],
)
def test_an_edit_of_any_field_is_noticed(field: str, value: object) -> None:
    entries = history(3)
    entries[1] = (replace(entries[1][0], **{field: value}), entries[1][1])
    with pytest.raises(LedgerError, match="entry 2 was changed"):
        START.followed_by(entries)


def test_an_edit_with_a_hash_that_fits_is_noticed_at_the_next_entry() -> None:
    entries = history(3)
    edited = replace(entries[1][0], count=9)
    entries[1] = (edited, edited.hash_after(entries[0][1]))
    with pytest.raises(LedgerError, match="entry 3 was changed"):
        START.followed_by(entries)


@pytest.mark.parametrize("count", [0, -1])
def test_an_entry_that_takes_charges_back_is_refused_whatever_its_hash(count: int) -> None:
    entries = history(1)
    refund = Charge("survey", 2, "2026-01-02", "", "", "cost", count)
    entries.append((refund, refund.hash_after(entries[0][1])))
    with pytest.raises(LedgerError, match="entry 2 charges nothing"):
        START.followed_by(entries)


def test_a_removal_and_another_order_are_noticed() -> None:
    entries = history(3)
    with pytest.raises(LedgerError, match="entry 2 is missing"):
        START.followed_by([entries[0], entries[2]])
    swapped = [
        (replace(charge, number=number), stored)
        for number, (charge, stored) in enumerate([entries[1], entries[0]], start=1)
    ]
    with pytest.raises(LedgerError, match="entry 1 was changed"):
        START.followed_by(swapped)


@pytest.mark.parametrize("field", ["dataset", "epsilon", "delta", "rho", "time"])
def test_an_edit_of_the_budget_is_noticed(field: str) -> None:
    with pytest.raises(LedgerError, match="its budget was changed"):
        Account.opened(replace(OPENING, **{field: "9"}), OPENING.hash)


def test_no_two_lists_of_parts_are_hashed_alike() -> None:
    lists = [("a", "b"), ("ab",), ("a,b",), ('a", "b',), ("a", None, "b"), ("a", "None", "b"), ()]
    assert len({digest(*parts) for parts in lists}) == len(lists)


def test_only_text_that_every_database_keeps_is_accepted() -> None:
    assert text(label="Größe, 年龄 'x'; --") == "Größe, 年龄 'x'; --"
    assert text(label="") == ""
    for bad in ("a\0b", "a\nb", "\ud800", "\x1b[31m"):
        with pytest.raises(ArgumentError, match="label must be printable"):
            text(label=bad)
    with pytest.raises(ArgumentError, match="dataset must be printable"):
        text(dataset="")
    with pytest.raises(ArgumentTypeError, match="label must be a string, got int"):
        text(label=7)
