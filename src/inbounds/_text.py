"""Text in a terminal: what is safe to print, how wide it is, and where lines break."""

import unicodedata

_STEERING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")  # of direction


def clean(text: str) -> str:
    r"""Escape control characters, changes of writing direction and lone surrogates.

    Examples
    --------
    >>> print(clean("a\x1b[31mb"))
    a\x1b[31mb
    """
    return "".join(c if c == "\n" or not _is_steering(c) else ascii(c)[1:-1] for c in text)


def _is_steering(character: str) -> bool:
    return character in _STEERING or unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"}


def width(text: str) -> int:
    """Return how many columns of a terminal a text takes up.

    Examples
    --------
    >>> width("abc"), width("漢字"), width("e\N{COMBINING ACUTE ACCENT}")
    (3, 4, 1)
    """
    return sum(map(_character_width, text))


def _character_width(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def wrapped(text: str, columns: int) -> list[str]:
    """Return the lines of a text, broken at spaces, and inside words longer than a line.

    Examples
    --------
    >>> wrapped("one person at most", 10), wrapped("indivisible", 8)
    (['one person', 'at most'], ['indivisi', 'ble'])
    """
    return [line for part in text.split("\n") for line in _wrapped_line(part, columns)]


def _wrapped_line(text: str, columns: int) -> list[str]:
    if width(text) <= columns:
        return [text]
    lines = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if width(joined) <= columns:
            lines[-1] = joined
            continue
        lines += [""] if lines[-1] else []
        for character in word:
            used = width(lines[-1]) + _character_width(character)
            if used > columns and lines[-1]:
                lines.append("")
            lines[-1] += character
    return lines


def shown(number: float) -> str:
    """Return a number as short text, without a power of ten if it has up to twelve digits.

    Examples
    --------
    >>> shown(57735.03), shown(0.28867), shown(1e-7)
    ('57,735', '0.2887', '1e-07')
    """
    return f"{number:,.0f}" if 1e4 <= abs(number) < 1e12 else f"{number:.4g}"
