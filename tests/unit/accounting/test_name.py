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
        ("ｓurvey", "survey"),
        ("ﬁle", "file"),
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


@pytest.mark.parametrize("mixed", ["p\u0430ge", "\u03bfne", "\u0421opy"])
def test_letters_of_two_alphabets_are_refused(mixed: str) -> None:
    with pytest.raises(InBoundsError, match="one alphabet"):
        name.check_new(mixed, [])


@pytest.mark.parametrize("plain", ["survey-2026", "данные 2", "日本 data", "καλημέρα", "naïve"])
def test_ordinary_names_are_new_names(plain: str) -> None:
    name.check_new(name.canonical(plain), ["survey", "s"])
