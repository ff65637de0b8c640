"""What a name looks like."""

import unicodedata

import pytest

from inbounds.accounting import lookalike
from inbounds.accounting.lookalike import look_alike, looks


def test_a_look_is_taken_as_written_and_in_small_letters() -> None:
    assert looks("HUT") == ("hut", "hut")
    assert looks("ΗΥΤ") == ("hyt", "nut")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Hat", "hat"),
        ("ΗΑΤ", "hat"),
        ("2٢", "22"),
        ("৪", "8"),
        ("৪", "4"),
        ("…", "..."),
        ("½", "1/2"),
    ],
)
def test_either_look_makes_two_names_alike(one: str, other: str) -> None:
    assert look_alike(one, other)
    assert look_alike(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [("l", "1"), ("l", "I"), ("O", "0"), ("cafe", "café"), ("groß", "grob"), ("a", "aa")],
)
def test_what_a_reader_tells_apart_is_not_alike(one: str, other: str) -> None:
    assert not look_alike(one, other)


def test_strokes_and_rings_of_other_scripts_stand_for_several() -> None:
    assert all(look_alike("Ι", stroke) for stroke in "Il1|ӏا")
    assert all(look_alike("О", ring) for ring in "Oo0ס")
    assert not look_alike("Ι", "О")


def test_every_look_alike_is_one_composed_character_with_one_look() -> None:
    for table in (lookalike._LETTERS, lookalike._SIGNS, lookalike._DIGITS):
        others = "".join(table.split()[1::2])
        assert len(set(others)) == len(others)
        assert unicodedata.normalize("NFC", others) == others
    assert all(look_alike(look, chr(code)) for code, look in lookalike._LOOKS.items())
