"""Names that a reader takes for each other: no second budget, and no ordinary name refused.

The generator knows nothing of the library's table. Its look-alikes are the Unicode names of
characters, and whatever Unicode itself calls a variant of an ASCII character.
"""

import sys
import unicodedata
from functools import cache
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.ft2font import FT2Font
from numpy.typing import NDArray

import inbounds as ib
from inbounds.accounting import name
from inbounds.errors import InBoundsError

TWINS = [
    *("MONEY ΜΟΝΕΥ", "HOT ΗΟΤ", "KEY ΚΕΥ", "IN ΙΝ", "money ΜΟΝΕΥ", "Key ΚΕΥ", "HOT НОТ"),
    *("SURVEY ꓢꓴꓣꓦꓰꓬ", "DE ᎠᎬ", "soc ⲥⲟⲥ", "abc аЬс", "v ѵ", "w ѡ", "y ү", "s ꮪ", "b Ь"),
    *("ä ӓ", "è ѐ", "ï ї", "ë ё", "å а̊", "ó ό", "ü ϋ", "H Н̕"),
    *("copy ᴄopy", "oslo ᴏslᴏ", "sea ꜱea", "xyz хуᴢ", "gas ɡas", "all αll", "a ɑ", "a 𝐚"),
    *("i i̇", "info i̇nfo", "i ı̇", "j ȷ̇", "Istanbul İstanbul", "İ i", "ij ĳ", "i ɩ", "i і̇"),
    *("survey-2026 survey‐2026", "survey-2026 survey–2026", "survey-2026 survey−2026"),
    *("a-b aーb", "a-b a一b", "it's it’s", "it's itʼs", "it's it′s", "it's it´s", 'a"b a”b'),
    *("a:b a꞉b", "a:b a∶b", "a:b a：b", "a/b a∕b", "a/b a⁄b", "a/b aノb", "a,b a‚b", "a.b a․b"),
    *("a_b aˍb", "a_b a＿b", "... …", "a;b a；b", "a|b aǀb", "a|b a∣b", "l ǀ", "l ا", "! ǃ"),
    *("2026 ২026", "2026 ２０２６", "s0 s०", "so s०", "s0 s𝟎", "2026 ٢٠٢٦", "o ٥", "2 ２"),
    *("o ס", "o ഠ", "o ၀", "o ဝ", "o ჿ", "y ყ", "o օ", "o ዐ", "o ଠ", "o 〇", "n ո", "h հ", "g ց"),
    *("ț ţ", "ě ĕ", "ā a̅", "ç c̦", "ę ȩ", "ș ṣ", "ñ n̄", "é é́", "ä ä̈", "ö ő", "ø o̸", "ł l̵"),
    *("Đ Ð", "Đ Ɖ", "ß β", "æ ӕ", "ə ә", "ə ǝ", "ae æ", "oeuvre œuvre", "3 З", "6 б", "θ ө"),
    *(
        "П Π",
        "Г Γ",
        "Ф Φ",
        "ヘ へ",
        "ニ 二",
        "カ 力",
        "ロ 口",
        "T 丅",
        "y ㄚ",
        "كتاب کتاب",
        "في فی",
    ),
    *("১ 1", "মা৪ মা8", "سنة٢ سنة2", "сору copy", "Ӏ I", "ӏ l", "ﬁ fi", "ab ab̲", "ab a⃝b"),
    *("आ अा", "আ অা", "ஆ அா", "5° 5º", "i ¡", "a〜b a~b", "[a] 【a】", "u и", "«a» 《a》"),
    *(
        "lol ΙОΙ",
        "IOI ΙΟΙ",
        "1 Ι",
        "Ι ӏ",
        "0 О",
        "100 ӏОО",
        "ġ ģ",
        "3 ვ",
        "l І",
        "O Օ",
        "d₫ dđ",
        "a Ⴀ",
        "µg μg",
    ),
]


LOOK_ALIKES = {  # by what Unicode calls them
    "a": "CYRILLIC SMALL LETTER A|GREEK SMALL LETTER ALPHA|LATIN SMALL LETTER ALPHA|LISU LETTER A",
    "b": "CYRILLIC CAPITAL LETTER SOFT SIGN|CYRILLIC SMALL LETTER SOFT SIGN|CHEROKEE LETTER SI",
    "c": "CYRILLIC SMALL LETTER ES|GREEK LUNATE SIGMA SYMBOL|COPTIC SMALL LETTER SIMA",
    "d": "CYRILLIC SMALL LETTER KOMI DE|CHEROKEE LETTER TSU|LISU LETTER PHA",
    "e": "CYRILLIC SMALL LETTER IE|ESTIMATED SYMBOL|CYRILLIC SMALL LETTER ABKHASIAN CHE",
    "f": "LATIN SMALL LETTER LENIS F|ARMENIAN SMALL LETTER KEH|LATIN SMALL LETTER F WITH HOOK",
    "g": "LATIN SMALL LETTER SCRIPT G|ARMENIAN SMALL LETTER CO|CHEROKEE LETTER NAH",
    "h": "CYRILLIC SMALL LETTER SHHA|ARMENIAN SMALL LETTER HO|CHEROKEE LETTER NI",
    "i": "CYRILLIC SMALL LETTER BYELORUSSIAN-UKRAINIAN I|LATIN SMALL LETTER DOTLESS I|"
    "GREEK SMALL LETTER IOTA|LATIN SMALL LETTER IOTA|CHEROKEE LETTER V",
    "j": "CYRILLIC SMALL LETTER JE|LATIN SMALL LETTER DOTLESS J|GREEK LETTER YOT",
    "k": "CYRILLIC SMALL LETTER KA|GREEK SMALL LETTER KAPPA|COPTIC SMALL LETTER KAPA",
    "l": "CYRILLIC SMALL LETTER PALOCHKA|HEBREW LETTER VAV|ARABIC LETTER ALEF|DIVIDES|"
    "LATIN LETTER DENTAL CLICK|LISU LETTER NA",
    "m": "CYRILLIC SMALL LETTER EM|COPTIC SMALL LETTER MI|OLD ITALIC LETTER EM",
    "n": "ARMENIAN SMALL LETTER VO|ARMENIAN SMALL LETTER RA|GREEK SMALL LETTER ETA",
    "o": "CYRILLIC SMALL LETTER O|GREEK SMALL LETTER OMICRON|ARMENIAN SMALL LETTER OH|"
    "HEBREW LETTER SAMEKH|MALAYALAM LETTER TTHA|MYANMAR LETTER WA|ORIYA LETTER TTHA|"
    "GEORGIAN LETTER LABIAL SIGN|ETHIOPIC SYLLABLE PHARYNGEAL A|ARABIC LETTER HEH|"
    "GREEK SMALL LETTER SIGMA|DEVANAGARI DIGIT ZERO|ARABIC-INDIC DIGIT FIVE|THAI DIGIT ZERO|"
    "ADLAM SMALL LETTER O|DESERET SMALL LETTER LONG O|GURMUKHI DIGIT ZERO|LAO DIGIT ZERO",
    "p": "CYRILLIC SMALL LETTER ER|GREEK SMALL LETTER RHO|GREEK RHO SYMBOL|LISU LETTER PA",
    "q": "CYRILLIC SMALL LETTER QA|ARMENIAN SMALL LETTER GIM|ARMENIAN SMALL LETTER ZA",
    "r": "CYRILLIC SMALL LETTER GHE|COPTIC SMALL LETTER GAMMA|LATIN LETTER SMALL CAPITAL R",
    "s": "CYRILLIC SMALL LETTER DZE|CHEROKEE LETTER DU|LATIN LETTER SMALL CAPITAL S",
    "t": "CYRILLIC SMALL LETTER TE|GREEK SMALL LETTER TAU|CHEROKEE LETTER I|LISU LETTER TA",
    "u": "GREEK SMALL LETTER UPSILON|ARMENIAN SMALL LETTER SEH|LATIN SMALL LETTER UPSILON",
    "v": "GREEK SMALL LETTER NU|CYRILLIC SMALL LETTER IZHITSA|LATIN SMALL LETTER V WITH HOOK",
    "w": "CYRILLIC SMALL LETTER OMEGA|CYRILLIC SMALL LETTER WE|ARMENIAN SMALL LETTER AYB|"
    "GREEK SMALL LETTER OMEGA|CHEROKEE LETTER LA|COPTIC SMALL LETTER OOU",
    "x": "CYRILLIC SMALL LETTER HA|GREEK SMALL LETTER CHI|MULTIPLICATION SIGN|"
    "COPTIC SMALL LETTER KHI",
    "y": "CYRILLIC SMALL LETTER U|CYRILLIC SMALL LETTER STRAIGHT U|GREEK SMALL LETTER GAMMA|"
    "GEORGIAN LETTER QAR|LATIN SMALL LETTER GAMMA",
    "z": "GREEK SMALL LETTER ZETA|LATIN LETTER SMALL CAPITAL Z|CHEROKEE LETTER NO",
    **{
        letter: f"GREEK CAPITAL LETTER {greek}|CYRILLIC CAPITAL LETTER {cyrillic}"
        for letter, greek, cyrillic in [
            *(("A", "ALPHA", "A"), ("B", "BETA", "VE"), ("E", "EPSILON", "IE"), ("H", "ETA", "EN")),
            *(("I", "IOTA", "BYELORUSSIAN-UKRAINIAN I"), ("K", "KAPPA", "KA"), ("M", "MU", "EM")),
            *(("O", "OMICRON", "O"), ("P", "RHO", "ER"), ("T", "TAU", "TE"), ("Y", "UPSILON", "U")),
            *(("X", "CHI", "HA"), ("J", "YOT", "JE")),
        ]
    },
    "N": "GREEK CAPITAL LETTER NU|LISU LETTER NGA",
    "Z": "GREEK CAPITAL LETTER ZETA|CHEROKEE LETTER NO",
    "C": "CYRILLIC CAPITAL LETTER ES|CHEROKEE LETTER TLI",
    "S": "CYRILLIC CAPITAL LETTER DZE|ARMENIAN CAPITAL LETTER TIWN",
    "U": "ARMENIAN CAPITAL LETTER SEH|LISU LETTER U",
    "L": "ARMENIAN CAPITAL LETTER LIWN|CHEROKEE LETTER TLE",
    "-": "HYPHEN|NON-BREAKING HYPHEN|FIGURE DASH|EN DASH|EM DASH|MINUS SIGN|HORIZONTAL BAR|"
    "ARMENIAN HYPHEN|HEBREW PUNCTUATION MAQAF|MODIFIER LETTER MINUS SIGN|HYPHEN BULLET",
    "'": "RIGHT SINGLE QUOTATION MARK|LEFT SINGLE QUOTATION MARK|MODIFIER LETTER APOSTROPHE|PRIME|"
    "ACUTE ACCENT|GRAVE ACCENT|HEBREW PUNCTUATION GERESH|MODIFIER LETTER TURNED COMMA",
    ":": "RATIO|MODIFIER LETTER COLON|HEBREW PUNCTUATION SOF PASUQ|ARMENIAN FULL STOP|"
    "FULLWIDTH COLON|DEVANAGARI SIGN VISARGA",
    "/": "DIVISION SLASH|FRACTION SLASH|BIG SOLIDUS|FULLWIDTH SOLIDUS",
    ".": "ONE DOT LEADER|ARABIC-INDIC DIGIT ZERO|FULLWIDTH FULL STOP|LISU LETTER TONE MYA TI",
    ",": "SINGLE LOW-9 QUOTATION MARK|ARABIC COMMA|FULLWIDTH COMMA",
    "0": "DEVANAGARI DIGIT ZERO|BENGALI DIGIT ZERO|MYANMAR DIGIT ZERO|FULLWIDTH DIGIT ZERO",
    "2": "BENGALI DIGIT TWO|MATHEMATICAL BOLD DIGIT TWO|FULLWIDTH DIGIT TWO|SUPERSCRIPT TWO",
    "6": "BENGALI DIGIT SIX|CYRILLIC SMALL LETTER BE|FULLWIDTH DIGIT SIX",
}
NAMES = ["survey-2026", "MONEY", "hot", "it's a copy/2", "Bank: EU, v.6", "pay", "JAZZ", "six", "l"]


@cache
def variants() -> dict[str, tuple[str, ...]]:
    """Every character that Unicode derives from one of ASCII, and those named above."""
    found: dict[str, set[str]] = {
        letter: set(map(unicodedata.lookup, names.split("|")))
        for letter, names in LOOK_ALIKES.items()
    }
    for number in range(128, sys.maxunicode + 1):
        plain = unicodedata.normalize("NFKC", chr(number))
        if len(plain) == 1 and plain.isascii() and plain.isprintable() and plain != " ":
            found.setdefault(plain, set()).add(chr(number))
    return {letter: tuple(sorted(others)) for letter, others in found.items()}


@st.composite
def disguises(draw: st.DrawFn) -> tuple[str, str]:
    """A name, and the same with some or all of its characters replaced."""
    original = draw(st.sampled_from(NAMES))
    everywhere = draw(st.booleans())
    pieces = []
    for character in original:
        others = variants().get(character, ())
        replaced = others and (everywhere or draw(st.booleans()))
        pieces.append(draw(st.sampled_from(others)) if replaced else character)
    return original, "".join(pieces)


def opens(new: str, known: list[str]) -> bool:
    """Whether a ledger with these datasets opens another of this name."""
    try:
        kept = name.stored(new, known)
        if kept in known:
            return False
        name.check_new(kept, known)
    except InBoundsError:
        return False
    return True


@pytest.mark.parametrize("pair", TWINS)
def test_one_of_two_names_that_look_alike_opens_a_budget(pair: str) -> None:
    one, other = pair.split(" ", 1)
    for first, second in ((one, other), (other, one)):
        if opens(first, []):  # a name that cannot be opened has no twin
            assert not opens(second, [first])


@pytest.mark.parametrize("pair", TWINS[:12])
def test_a_ledger_refuses_the_second_of_them(pair: str, tmp_path: Path) -> None:
    first, second = pair.split(" ", 1)
    ledger = ib.Ledger(tmp_path / "budget.db")
    ledger.open(first, epsilon=1.0)
    with pytest.raises(InBoundsError, match="dataset"):
        ledger.open(second, epsilon=1.0, exist_ok=True)
    assert ledger.datasets() == [first]


@settings(max_examples=600, deadline=None)
@given(disguises())
def test_no_disguise_of_a_name_opens_a_second_budget(names: tuple[str, str]) -> None:
    original, disguise = names
    assert not opens(disguise, [original]), ascii(disguise)
    if opens(disguise, []):
        assert not opens(original, [disguise]), ascii(disguise)


def test_every_look_alike_alone_opens_no_second_budget() -> None:
    wrong = [
        (original, ascii(twin), unicodedata.name(twin, ""))
        for original, others in variants().items()
        for twin in others
        if opens(f"x {twin}", [f"x {original}"]) or opens(twin, [original])
    ]
    assert wrong == []


def drawn(character: str, font: FT2Font) -> NDArray[np.float32]:
    """The character as a picture, on a common base line."""
    glyph = font.load_char(ord(character))
    font.set_text(character)
    font.draw_glyphs_to_bitmap()
    picture = np.asarray(font.get_image()) > 100
    canvas = np.zeros((96, 96), dtype=np.float32)
    top = 60 - round(glyph.horiBearingY / 64)
    canvas[top : top + picture.shape[0], : picture.shape[1]] = picture[: 96 - top, :96]
    return canvas.ravel()


@pytest.mark.parametrize("typeface", ["DejaVuSans", "DejaVuSerif", "DejaVuSansMono"])
def test_no_two_letters_that_a_typeface_draws_alike_open_two_budgets(typeface: str) -> None:
    """At least 95 % of the ink is in the same place. Arabic letters differ in a dot: not they."""
    font = FT2Font(Path(matplotlib.get_data_path(), "fonts", "ttf", f"{typeface}.ttf"))
    font.set_size(40, 72)
    letters = [
        letter
        for letter in map(chr, font.get_charmap())
        if letter.isalnum() and len(unicodedata.normalize("NFD", letter)) == 1
        if opens(letter, [])
    ]
    pictures = np.array([drawn(letter, font) for letter in letters])
    ink, common = pictures.sum(axis=1), pictures @ pictures.T
    same = np.triu(common > 0.95 * (ink[:, None] + ink - common), 1)
    pairs = [(letters[i], letters[j]) for i, j in zip(*np.where(same), strict=True)]
    arabic = {letter for letter in letters if unicodedata.name(letter).startswith("ARABIC")}
    twins = [(a, b) for a, b in pairs if not ((a + b).isascii() or {a, b} <= arabic)]
    assert len(twins) > 50
    assert [(a, b) for a, b in twins if opens(b, [a]) or opens(a, [b])] == []


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(["survey", "Οικονομία", "данные", "money"]),
    st.integers(0, 10),
    st.characters(min_codepoint=128, exclude_categories=["Cs"]),
)
def test_a_character_that_is_added_shows_or_is_refused(
    original: str, place: int, added: str
) -> None:
    """Whatever is put into a name changes its look, or the name is refused."""
    longer = original[:place] + added + original[place:]
    shown = unicodedata.category(added)[0] in "LNPS" or unicodedata.combining(added)
    assert shown or not opens(longer, [original]), ascii(longer)


ORDINARY = [
    *("Опрос COVID-19", "Έρευνα EU-SILC", "survey:β", "Σ-survey", "調査 GDP", "調査GDP（2026年）"),
    *("survey-2026", "Haushaltsbefragung 2026", "Größe & Gewicht", "Enquête sur l’emploi – T1"),
    *("Encuesta de población: 2ª ola", "¿Qué tal?", "Inquérito às famílias", "Indagine 50 % città"),
    *("Badanie budżetów gospodarstw domowych", "Źródło danych №3", "Průzkum domácností", "Kőszeg"),
    *("Перепись населения – 2026", "Опитування: п’ять років", "Анкета ЄС", "Сауалнама әлеуметтік"),
    *("Έρευνα Εργατικού Δυναμικού", "ΕΛΣΤΑΤ 2026", "Hane halkı İşgücü Araştırması", "ɓera ƙasa"),
    *("مسح القوى العاملة ٢٠٢٦", "نظرسنجی ۲۰۲۶", "مردم شماری 2026", "סקר כוח אדם 2026", "צה״ל"),
    *("सर्वेक्षण २०२६", "জনশুমারি ২০২২", "மக்கள் தொகை", "ప్రజల సర్వే", "การสำรวจ 2569", "สำรวจ ๒๕๖๙"),
    *(
        "人口普查2020",
        "労働力調査・2026",
        "データ_v2",
        "ひらがな",
        "경제활동인구조사 2026",
        "EU통계",
    ),
    *("Điều tra dân số", "Könnun á lífskjörum – Þjóð", "Tööjõu-uuring", "Darbaspēka apsekojums"),
    *("მოსახლეობის აღწერა", "Մարդահամար 2022", "የሕዝብ ቆጠራ", "Ẹ̀kọ́ Yorùbá", "Hawaiʻi", "naïve"),
    *(
        "data_v1.2 (final)",
        "a/b: c+d=e",
        "wave1",
        "wavel",
        "O",
        "0",
        "x²",
        "10 €",
        "m² – 3 °C",
        "Nº 5",
    ),
    *("二〇二六年", "々", "Ação nº 2", "第3回", "ພາສາລາວ", "ប្រទេស", "བོད", "မြန်မာ"),
]


def test_ordinary_names_of_many_languages_open_beside_each_other(tmp_path: Path) -> None:
    ledger = ib.Ledger(tmp_path / "budget.db")
    for ordinary in ORDINARY:
        ledger.open(ordinary, epsilon=1.0)
    assert len(ledger.datasets()) == len(ORDINARY)


WORDS = sorted({word for ordinary in ORDINARY for word in ordinary.split() if word.isalpha()})


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5), st.sampled_from([" ", "-", ": "]))
def test_words_of_any_languages_make_a_name_together(words: list[str], between: str) -> None:
    assert opens(between.join(words), ["other", "survey"])


@pytest.mark.parametrize(("one", "other"), [("wave1", "wavel"), ("I0", "IO"), ("modern", "modem")])
def test_letters_and_digits_of_ascii_stay_different(one: str, other: str) -> None:
    assert opens(other, [one])


def test_a_name_has_an_end() -> None:
    assert opens("x" * 200, [])
    assert not opens("x" * 201, [])
    assert name.stored("x" * 300, ["x" * 300]) == "x" * 300  # of an old ledger
