"""What a name looks like: two names with a look in common are taken for each other.

Letters of other alphabets become the Latin letters that they look like; signs and marks become one
of their kind. Letters and digits of ASCII stay what they are: l, 1 and I differ, and so do O and 0;
a stroke or a ring of another script is taken for any of them.
"""

from __future__ import annotations

import re
import unicodedata

# On each line what is seen, and then the characters that show it.
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
# Digits that look like another digit or letter; by their values they are compared as well.
_DIGITS = """
○ ٥۵०০੦૦୦௦౦೦൦๐໐၀០༠
8 ৪੪   9 ৭੧୨൭   ∣ ١۱   V ٧۷
"""
_MARKS = (  # each kind: its marks are taken for each other
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
    seen = zip(words[::2], words[1::2], strict=True)
    return {ord(other): look for look, others in seen for other in others}


_LOOKS = _table(_SIGNS) | _table(_LETTERS)
_DIGIT_LOOKS = _table(_DIGITS)
_MARK_LOOKS = {ord(mark): kind[0] for kind in _MARKS for mark in kind}
_STANDS_FOR = {"∣": "il1|", "○": "o0"}  # what strokes and rings of other scripts are taken for
_ASCII_LOOKS = {ord("`"): "'"}


def looks(name: str) -> tuple[str, str]:
    """Return what a name looks like as it is written, and what it looks like in small letters.

    Two names look alike if either is the same: ΗΟΤ looks like HOT, although its small letters do
    not look like those of hot.

    Examples
    --------
    >>> looks("HUT"), looks("ΗΤ")
    (('hut', 'hut'), ('ht', 'nt'))
    """
    if name.isascii():
        folded = name.casefold().translate(_ASCII_LOOKS)
        return folded, folded
    return _look(name.translate(_DIGIT_LOOKS)), _look(name.casefold())


def alike(one: str, other: str) -> bool:
    """Tell whether a reader may take two names for each other.

    Examples
    --------
    >>> alike("copy", "Сору"), alike("wave1", "wavel")
    (True, False)
    """
    return any(map(_same, looks(one), looks(other)))


def _same(one: str, other: str) -> bool:
    return len(one) == len(other) and all(
        a == b or b in _STANDS_FOR.get(a, "") or a in _STANDS_FOR.get(b, "")
        for a, b in zip(one, other, strict=True)
    )


def _look(text: str) -> str:
    digits = "".join(str(unicodedata.decimal(character, character)) for character in text)
    spread = unicodedata.normalize("NFKD", digits.translate(_LOOKS))
    plain = unicodedata.normalize("NFKD", spread.translate(_LOOKS).translate(_MARK_LOOKS))
    small = re.sub(r"[\u0300-\u036f]+", _sorted, plain.casefold())
    dotless = re.sub(r"([ij∣][\u0300-\u0306]*)\u0307", r"\1", small)
    return " ".join(re.sub(r"([^\W\d_]|\W)\1*", _without_repeated_marks, dotless).split())


def _sorted(marks: re.Match[str]) -> str:
    return "".join(sorted(set(marks[0])))


def _without_repeated_marks(run: re.Match[str]) -> str:
    return run[1] if unicodedata.category(run[1])[0] == "M" else run[0]
