import pytest

from inbounds.accounting import name
from inbounds.errors import InBoundsError


@pytest.mark.parametrize(
    ("written", "kept"),
    [("e\u0301", "\u00e9"), ("s ", "s"), (" a   b ", "a b"), ("Å", "\u00c5"), ("日本", "日本")],
)
def test_a_name_has_one_form(written: str, kept: str) -> None:
    assert name.canonical(written) == kept
    assert name.canonical(kept) == kept


@pytest.mark.parametrize(
    "bad",
    [
        *("", " ", "a\u200bb", "a\u202eb", "a\u00a0b", "a\u3164b", "a\u034fb", "a\ufe0fb", "a\tb"),
        *("a\ud800b", "a\ue000b", "a\u2800", "\u115f", None, 3),
    ],
)
def test_what_does_not_show_is_refused(bad: object) -> None:
    with pytest.raises(InBoundsError, match="dataset must be"):
        name.canonical(bad)


@pytest.mark.parametrize(
    ("new", "known"),
    [
        ("Survey", "survey"),
        ("сору", "copy"),
        ("ορ", "op"),
        ("STRASSE", "straße"),
        ("x²", "x2"),
    ],
)
def test_a_name_that_looks_like_another_is_refused(new: str, known: str) -> None:
    with pytest.raises(InBoundsError, match="looks like"):
        name.check_new(new, ["other", known])
    name.check_new(new, ["other"])


@pytest.mark.parametrize("mixed", ["p\u0430ge", "\u03bfne", "\u0421opy", "x sഠc"])
def test_letters_of_two_alphabets_in_a_word_are_refused(mixed: str) -> None:
    with pytest.raises(InBoundsError, match="one alphabet within a word"):
        name.check_new(mixed, [])


@pytest.mark.parametrize(
    ("variant", "hint"), [("ｓurvey", "survey"), ("ﬁle", "file"), ("第３回", "第3回"), ("𝐚", "a")]
)
def test_a_variant_of_a_letter_is_refused_with_the_plain_one(variant: str, hint: str) -> None:
    with pytest.raises(InBoundsError, match=f"Hint: write '{hint}'"):
        name.check_new(variant, [])


@pytest.mark.parametrize("rare", ["ꓢ", "Ꭰ", "ⲥ", "ᴄ", "ѡ", "ԁ", "ɡ", "aـb", "☺", "a̲", "1\u0301"])
def test_what_is_hardly_written_is_named(rare: str) -> None:
    with pytest.raises(InBoundsError, match=r"everyday use, got '.' \([A-Z -]+\) in dataset="):
        name.check_new(rare, [])


@pytest.mark.parametrize("digits", ["s०", "২026", "٢٠٢٦", "مسح s٥"])
def test_digits_of_other_scripts_stand_with_their_letters(digits: str) -> None:
    with pytest.raises(InBoundsError, match=r"digits 0 to 9|one alphabet"):
        name.check_new(digits, [])
    name.check_new("مسح ٢٠٢٦", [])


def test_a_long_name_is_refused_without_being_shown() -> None:
    with pytest.raises(InBoundsError, match=r"at most 200 characters, got 201 characters\.$"):
        name.check_new("x" * 201, [])


@pytest.mark.parametrize("plain", ["survey-2026", "данные 2", "日本 data", "καλημέρα", "naïve"])
def test_ordinary_names_are_new_names(plain: str) -> None:
    name.check_new(name.canonical(plain), ["survey", "s"])
