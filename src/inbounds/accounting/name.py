"""Names of datasets: names that a reader may confuse must not open two budgets.

A name is stored in Unicode's composed form (NFC), with single blanks inside and none at its ends.
In a new name every character is visible and of a script in everyday use, and no word mixes scripts;
the name must not look like that of another dataset. Names in old ledgers stay as they are.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from itertools import groupby

from inbounds.accounting.lookalike import look_alike
from inbounds.errors import ArgumentError, ArgumentTypeError, LedgerError

LONGEST = 200

_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u2800\u3164\uffa0")
# Scripts that Unicode (UAX 31) recommends for identifiers, by the first word of character names.
_EAST_ASIAN = {"BOPOMOFO", "CJK", "HANGUL", "HIRAGANA", "IDEOGRAPHIC", "KATAKANA"}
_EVERYDAY = _EAST_ASIAN | {
    *("ARABIC", "ARMENIAN", "BENGALI", "CYRILLIC", "DEVANAGARI", "ETHIOPIC", "GEORGIAN", "GREEK"),
    *("GUJARATI", "GURMUKHI", "HEBREW", "KANNADA", "KHMER", "LAO", "LATIN", "MALAYALAM", "MYANMAR"),
    *("ORIYA", "SINHALA", "TAMIL", "TELUGU", "THAANA", "THAI", "TIBETAN"),
}
_LATIN = frozenset("æøœßðþđħıłŋŧəɛɔɓɗɖɣƒƙƴʋɲɩʊ")  # besides a to z with or without marks
_MARKS = frozenset(
    "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u0309\u030a\u030b\u030c\u030f\u0311\u0313"
    "\u0314\u031b\u0323\u0324\u0325\u0326\u0327\u0328\u0331\u0342\u0345"
)
_SIGNS = frozenset(
    "‐‑‒–—―−’‘‚“”„«»‹›′″´ʼʻ…·•¿¡§°№€£¥¢₹₽₩₪₺₴₫₸₾©®™µ×÷±‰¹²³½¼¾ªº"
    "₦₱฿、。・「」『』【】〈〉《》〜～，．（）：；！？／＆％＋－＝〇،؛؟٪۔।॥׳״־՝՜՛՞։፡።፣"
)
_COMPOUND = ("THAI", "LAO", "TIBETAN")  # NFKC changes letters that are written in everyday use
_VOWEL = re.compile(
    "(BENGALI|DEVANAGARI|GUJARATI|GURMUKHI|KANNADA|MALAYALAM|ORIYA|SINHALA|TAMIL|TELUGU) LETTER "
    r"([AEIOU]{1,2}|(CANDRA|SHORT|VOCALIC) \w+|AYANNA|AAYANNA)"
)
_RARE = (
    *("MODIFIER", "ARABIC TATWEEL", "ARABIC LETTER DOTLESS", "GEORGIAN CAPITAL", "GEORGIAN SMALL"),
    *("CHOSEONG", "JUNGSEONG", "JONGSEONG"),
)


def canonical(name: object) -> str:
    """Return the form in which a name is stored.

    Examples
    --------
    >>> canonical("  cafe\u0301   2026 ") == "caf\u00e9 2026"
    True
    """
    if not isinstance(name, str):
        raise ArgumentTypeError.must_be("dataset", "a string", got=type(name).__name__)
    composed = " ".join(unicodedata.normalize("NFC", name).split())
    if not composed or not name.isprintable() or any(map(_is_invisible, composed)):
        raise ArgumentError.must_be("dataset", "printable text", got=f"dataset={name!r}")
    return composed


def _is_invisible(character: str) -> bool:
    return character in _INVISIBLE or "VARIATION SELECTOR" in unicodedata.name(character, "")


def stored(name: object, known: Iterable[str]) -> str:
    """Return the name under which a dataset is stored, or would be if it is new.

    Examples
    --------
    >>> stored("survey ", ["survey"]), stored("s ", ["s "])
    ('survey', 's ')
    """
    if isinstance(name, str) and name in set(known):
        return name
    return canonical(name)


def check_new(name: str, known: Iterable[str]) -> None:
    """Refuse a new name that may be mistaken for a known one in some typeface.

    Examples
    --------
    >>> check_new("Survey", ["survey"])
    Traceback (most recent call last):
    inbounds.errors.LedgerError: dataset 'Survey' looks like 'survey', which is open already.
    >>> check_new("Опрос COVID-19", ["survey"])
    """
    if len(name) > LONGEST:
        got = f"{len(name)} characters"
        raise ArgumentError.must("dataset", f"have at most {LONGEST} characters", got=got)
    if not name.isascii():
        _check_characters(name)
        _check_words(name)
    for other in known:
        if other != name and look_alike(other, name):
            raise LedgerError(f"dataset {name!r} looks like {other!r}, which is open already.")


def _check_characters(name: str) -> None:
    """Refuse characters that are rarely used except to imitate others."""
    for before, character in zip(" " + name, name, strict=False):
        is_mark = unicodedata.category(character)[0] == "M"
        if character.isascii() or (
            _fits(character, before) if is_mark else _is_everyday(character)
        ):
            continue
        usual = unicodedata.normalize("NFKC", name)
        called = unicodedata.name(character, "no name")
        raise ArgumentError.must_be(
            "dataset",
            "written in letters, digits and signs of everyday use",
            got=f"{character!r} ({called}) in dataset={name!r}",
            hint=f"write {usual!r}." if usual != name else None,
        )


def _fits(mark: str, before: str) -> bool:
    """Tell whether a mark may follow the character before it."""
    if unicodedata.category(before)[0] not in "LM":
        return False
    # An independent vowel with a vowel sign looks like another vowel.
    is_double = "VOWEL SIGN" in unicodedata.name(mark, "") and _VOWEL.fullmatch(
        unicodedata.name(before, "")
    )
    return mark in _MARKS or (_script(mark) in _EVERYDAY and not is_double)


def _is_everyday(character: str) -> bool:
    if character in _SIGNS:
        return True
    if not _is_of_word(character):
        return False
    script = _script(character)
    base = unicodedata.normalize("NFD", character)[0]
    if script == "LATIN":
        usual = base.isascii() or base.lower() in _LATIN
    elif script == "GREEK":
        usual = "Α" <= base <= "ω"
    elif script == "CYRILLIC":  # without historic letters
        usual = base < "\u0460" or "\u048a" <= base <= "\u04ff"
    else:
        usual = script in _EVERYDAY
    is_variant = unicodedata.normalize("NFKC", character) != character and script not in _COMPOUND
    return usual and not is_variant and not any(map(unicodedata.name(character).count, _RARE))


def _check_words(name: str) -> None:
    """Refuse words that mix scripts, except Latin letters in an East Asian word."""
    letters = {_script(character) for character in name if character.isalpha()}
    for _, run in groupby(name, key=_is_of_word):
        word = "".join(run)
        scripts = {script for script in map(_script, word) if script}
        if len(scripts) > 1 and not scripts <= _EAST_ASIAN | {"LATIN"}:
            mixed = " and ".join(sorted(script.capitalize() for script in scripts))
            raise ArgumentError.must(
                "dataset",
                "keep to one alphabet within a word",
                got=f"{word!r} with {mixed} letters in dataset={name!r}",
            )
        if not scripts <= letters:
            raise ArgumentError.must_be(
                "dataset",
                "written with the digits 0 to 9, or with digits of the same script as its letters",
                got=f"{word!r} in dataset={name!r}",
            )


def _is_of_word(character: str) -> bool:
    category = unicodedata.category(character)
    return category[0] in "LM" or category == "Nd"


def _script(character: str) -> str:
    """Return the first word of a character's name, or "" if all scripts share the character."""
    if character in _SIGNS or character in _MARKS or not _is_of_word(character):
        return ""
    if character.isascii():
        return "LATIN" if character.isalpha() else ""
    called = unicodedata.name(character, "").removeprefix("EXTENDED ")
    return called.replace("-", " ").partition(" ")[0]
