"""Names of datasets: two that a reader takes for one must not open two budgets.

A name is kept in Unicode's composed form (NFC) with single blanks inside and none at its ends. New
names must show every character, keep to one of the alphabets that are mistaken for each other, and
must not look like the name of another dataset. Names in old ledgers stay as they are.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from inbounds.errors import ArgumentError, ArgumentTypeError, LedgerError

_ALIKE = ("LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU", "DESERET")
_LATIN = dict(
    zip(
        "авеёкмнорстухіјѕԁԛԝһҽӏгпвαβεζηικμνορτυχγωϲ" + "ացհոսօզ" + "ıɑɡɩʋ",
        "abeekmhopctyxijsdqwhelrnbabeznikuvoptuxywc" + "wghnuoq" + "iagiv",
        strict=True,
    )
)
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u2800\u3164\uffa0")


def canonical(name: object) -> str:
    """Return the form in which a name is kept.

    Examples
    --------
    >>> canonical("  cafe\u0301   2026 ") == "caf\u00e9 2026"
    True
    """
    if not isinstance(name, str):
        raise ArgumentTypeError.must_be("dataset", "a string", got=type(name).__name__)
    kept = " ".join(unicodedata.normalize("NFC", name).split())
    if not kept or not name.isprintable() or any(map(_is_invisible, kept)):
        raise ArgumentError.must_be("dataset", "printable text", got=f"dataset={name!r}")
    return kept


def _is_invisible(character: str) -> bool:
    return character in _INVISIBLE or "VARIATION SELECTOR" in unicodedata.name(character, "")


def skeleton(name: str) -> str:
    """Return what a name looks like: without case, width, ligatures and alphabet.

    Examples
    --------
    >>> skeleton("Сору") == skeleton("copy"), skeleton("ﬁle") == skeleton("File")
    (True, True)
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    plain = "".join(_LATIN.get(character, character) for character in folded)
    return " ".join(unicodedata.normalize("NFKC", plain).split())


def stored(name: object, known: Iterable[str]) -> str:
    """Return the known dataset that a name speaks of, or the form of a name that is new.

    Examples
    --------
    >>> stored("survey ", ["survey"]), stored("s ", ["s "])
    ('survey', 's ')
    """
    if isinstance(name, str) and name in set(known):
        return name
    return canonical(name)


def check_new(name: str, known: Iterable[str]) -> None:
    """Refuse a new name that is mixed from alphabets, or looks like one that is known.

    Examples
    --------
    >>> check_new("Survey", ["survey"])
    Traceback (most recent call last):
    inbounds.errors.LedgerError: dataset 'Survey' looks like 'survey', which is open already.
    """
    scripts = {script for script in map(_script, name) if script in _ALIKE}
    if len(scripts) > 1:
        mixed = " and ".join(sorted(script.capitalize() for script in scripts))
        got = f"dataset={name!r} with {mixed} letters"
        raise ArgumentError.must("dataset", "keep to one alphabet", got=got)
    shape = skeleton(name)
    for other in known:
        if other != name and skeleton(other) == shape:
            raise LedgerError(f"dataset {name!r} looks like {other!r}, which is open already.")


def _script(character: str) -> str:
    return unicodedata.name(character, "").partition(" ")[0] if character.isalpha() else ""
