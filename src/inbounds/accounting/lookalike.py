"""What a name looks like: names with a look in common can be mistaken for each other.

Letters of other alphabets become the Latin letters that they look like, and signs and marks become
one representative of their kind. ASCII letters and digits stay as they are: l, 1 and I differ, and
so do O and 0, but a stroke or a ring of another script may be mistaken for any of them.
"""

from __future__ import annotations

import re
import unicodedata

# Each pair is a look, followed by the characters that have it.
_LETTERS = """
a аαɑ        A АΑ
b вьъҍЬЪҌɓხ  B ВΒƁ
c сςϲင       C СϹ
d ԁɗժ        D Ɗ
e еεєɛҽҿ℮    E ЕΕЄƐҼҾ
f ғӻƒք       F ҒӺƑ
g ցɡ
h нңҥӈӊһҺհիዘ H НΗҢҤӇӉ
i іιıɩւ¡     ∣ ІΙӀƖ工エӏוןا丨เլǀ׀│
j јյϳȷ       J ЈͿ
k кκқӄҝҟҡƙ   K КΚҚӃҜҞҠƘ
L Լㄥ
m мӎო        M МΜӍ
n пηπոռղդրըחתŋɲበทທㄇ   N ΝŊƝ
○ оοօσסםഠဝଠዐჿهہەھ〇口囗ロ°ºОΟՕ
p рρҏק       P РΡҎ
q ԛզգ        r гґӷҕ
s ѕรຣടડ      S ЅՏ
t тτҭեፐተㄒ丅   T ТΤҬ
u υμսմվטиџцሀบບပʊㄩ凵   U ՍՄԱƱ
v νѵʋ        V Ʋ
w шщωապѡԝשሠพ  W ШЩ
x хχҳӽӿ×ㄨ乂   X ХΧҲӼӾ
y уγүұყעɣƴㄚ丫   Y УΥҮҰƔƳ
z ζ乙        Z Ζ
2 Չ          3 зЗэЭҙҘӡӠՅㄋვ
4 чЧҷҶҹҸӌӋ   6 б
Γ ГҐӶҔ       Θ ӨөѲ
Λ ЛлӅӆ       Π П
Φ ФфՓ        β ßẞ
đ ðɖ₫        Đ ÐƉ
Ж Җ          ж җ
ħ ћђ         Ħ Ћ
ə әǝ         Ə ӘƎ
ae æӕ        AE ÆӔ
oe œ         OE Œ
hb њ         HB Њ
b∣ ыЫ        ∣○ юЮ
ç ҫ          Ç Ҫ
ġ ģ
ي یى         ك کڪ
ヘ へ        ∣∣ แ
カ 力ㄌ      タ 夕
ト 卜        ハ 八
ム 厶ㄙ      リ り
"""
_SIGNS = """
- ‐‑‒–—―−⁃˗־֊ー一ㄧ᠆﹘
' ’‘‛ʼʻ′´`׳՚՛՝ʹʾʿ
" “”„‟″״
: ∶꞉׃։፡
/ ∕⁄ノ丿
, ‚،、፣
; ؛       ? ؟
. 。․۔።    ! ǃ
| ।        || ॥
~ 〜∼      % ٪
· •・‧∙⋅    < ‹〈く
> ›〉       = 二ニ
<< «《     >> »》
[ 【       ] 】
"""
# Digits that look like another digit or letter. Digits are compared by their values as well.
_DIGITS = """
○ ٥۵०০੦૦୦௦౦೦൦๐໐၀០༠
8 ৪੪   9 ৭੧୨൭   ∣ ١۱   V ٧۷
"""
_MARKS = (  # the marks on one line can be mistaken for each other
    "\u0327\u0323\u0326\u0328\u0321\u0322",  # below: cedilla, dot, comma, ogonek
    "\u0306\u030c",  # breve, caron
    "\u0302\u0311",  # circumflex, inverted breve
    "\u0308\u030b\u030f",  # two dots or strokes
    "\u0307\u030a\u0309",  # dot, ring, hook
    "\u0303\u0304\u0305\u0342",  # tilde, macron, overline
    "\u0313\u0314\u0312\u0315",  # commas above
    "\u0331\u0332\u0320",  # lines below
)


def _table(text: str) -> dict[int, str]:
    words = text.split()
    pairs = zip(words[::2], words[1::2], strict=True)
    return {ord(character): look for look, characters in pairs for character in characters}


_LOOKS = _table(_SIGNS) | _table(_LETTERS)
_DIGIT_LOOKS = _table(_DIGITS)
_MARK_LOOKS = {ord(mark): marks[0] for marks in _MARKS for mark in marks}
_STANDS_FOR = {"∣": "il1|", "○": "o0"}  # what other scripts' strokes and rings are mistaken for
_ASCII_LOOKS = {ord("`"): "'"}


def looks(name: str) -> tuple[str, str]:
    """Return what a name looks like as it is written, and what it looks like in lower case.

    Two names look alike if either look is the same: ΗΟΤ looks like HOT, although their lower-case
    letters look different.

    Examples
    --------
    >>> looks("HUT"), looks("ΗΤ")
    (('hut', 'hut'), ('ht', 'nt'))
    """
    if name.isascii():
        folded = name.casefold().translate(_ASCII_LOOKS)
        return folded, folded
    return _look(name.translate(_DIGIT_LOOKS)), _look(name.casefold())


def look_alike(first: str, second: str) -> bool:
    """Tell whether a reader may mistake two names for each other.

    Examples
    --------
    >>> look_alike("copy", "Сору"), look_alike("wave1", "wavel")
    (True, False)
    """
    return any(map(_same, looks(first), looks(second)))


def _same(first: str, second: str) -> bool:
    return len(first) == len(second) and all(
        a == b or b in _STANDS_FOR.get(a, "") or a in _STANDS_FOR.get(b, "")
        for a, b in zip(first, second, strict=True)
    )


def _look(text: str) -> str:
    digits = "".join(str(unicodedata.decimal(character, character)) for character in text)
    decomposed = unicodedata.normalize("NFKD", digits.translate(_LOOKS))
    seen = unicodedata.normalize("NFKD", decomposed.translate(_LOOKS).translate(_MARK_LOOKS))
    folded = re.sub(r"[\u0300-\u036f]+", _sorted, seen.casefold())
    dotless = re.sub(r"([ij∣][\u0300-\u0306]*)\u0307", r"\1", folded)
    return " ".join(re.sub(r"([^\W\d_]|\W)\1*", _without_repeated_marks, dotless).split())


def _sorted(marks: re.Match[str]) -> str:
    return "".join(sorted(set(marks[0])))


def _without_repeated_marks(run: re.Match[str]) -> str:
    return run[1] if unicodedata.category(run[1])[0] == "M" else run[0]
