import pytest

from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.frames.central.charge import check_ledger, unit_of
from inbounds.unit import Unit


class Book:
    def spend(self) -> None: ...


def test_a_ledger_and_its_dataset_go_together() -> None:
    check_ledger(None, None, None, "release")
    check_ledger(Book(), "d", "label", "spend")
    with pytest.raises(ArgumentError, match="dataset must be given together with ledger"):
        check_ledger(Book(), None, None, "spend")
    with pytest.raises(ArgumentError, match="ledger must be given together with dataset"):
        check_ledger(None, "d", None, "spend")
    with pytest.raises(ArgumentError, match="label must be given only together"):
        check_ledger(None, None, "label", "spend")


def test_what_cannot_be_charged_is_no_ledger() -> None:
    with pytest.raises(ArgumentTypeError, match="ledger must be a Ledger, got Book"):
        check_ledger(Book(), "d", None, "release")


def test_the_unit_is_a_person_if_there_are_ids() -> None:
    assert unit_of("add-remove", 3, "who") == Unit("add-remove", "person")
    assert unit_of("add-remove", 3, None) == Unit("add-remove", "row", 3)
