from dataclasses import dataclass
from html.parser import HTMLParser
from io import StringIO

import pytest
from rich.console import Console

from inbounds._table import HasHtml, Printed, Table

HOSTILE = '</table><script>alert("x")</script>'
WIDE = Table(
    "Errors",
    ("mechanism", "scale", "note"),
    (("Gaussian", "2.5", "fine"), ("Laplace", "10.25", "")),
    caption="One sentence.",
    numbers=(1,),
)


class Seen(HTMLParser):
    """Holds the tags of a page and its text; refuses tags that do not close."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.texts = [], [], []
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if data.strip():
            self.texts.append(data)

    def scopes(self):
        return [attrs["scope"] for tag, attrs in self.tags if tag == "th"]


def printed(thing, width=120):
    text = StringIO()
    Console(file=text, width=width).print(thing)
    return text.getvalue()


def test_columns_are_aligned_numbers_to_the_right():
    assert str(WIDE).splitlines() == [
        "Errors",
        "mechanism  scale  note",
        "─────────  ─────  ────",
        "Gaussian     2.5  fine",
        "Laplace    10.25",
        "One sentence.",
    ]


def test_a_table_without_rows_has_its_headings_and_one_without_anything_its_title():
    assert Table("Empty", ("a", "b"), ()).text() == "Empty\na  b\n─  ─"
    assert Table.of_facts("Empty", []).text() == "Empty"
    for table in (Table("Empty", ("a", "b"), ()), Table.of_facts("Empty", [])):
        assert "Empty" in Seen(table.html()).texts
        assert "Empty" in printed(table.rich())


@pytest.mark.parametrize("width", [20, 40, 79])
def test_what_does_not_fit_is_wrapped_and_nothing_is_lost(width):
    words = [f"word{k}" for k in range(60)]
    table = Table.of_facts("Facts", [("name", " ".join(words)), ("long", "x" * 200)])
    lines = table.text(width).splitlines()
    assert max(map(len, lines)) <= width
    assert "".join(lines).count("x") == 200
    seen = table.text(width).split()
    assert [word for word in seen if word.startswith("word")] == words


def test_short_columns_stay_whole_where_a_long_one_wraps():
    table = Table.of_facts("Facts", [("a name that is long", "many words " * 30)])
    assert table.text(60).splitlines()[2].startswith("a name that is long  many words")


def test_wide_and_combining_characters_keep_columns_aligned():
    rows = (("漢字", "1"), ("e\N{COMBINING ACUTE ACCENT}te", "2"), ("abcd", "3"))
    lines = Table("Names", ("name", "n"), rows).text().splitlines()[3:]
    assert lines == ["漢字  1", "e\N{COMBINING ACUTE ACCENT}te   2", "abcd  3"]


def test_a_broken_word_keeps_its_accents():
    accented = "e\N{COMBINING ACUTE ACCENT}" * 30
    lines = Table.of_facts("", [("n", accented)]).text(20).splitlines()[2:]
    assert all(line.split()[-1].startswith("e") for line in lines)
    assert sum(line.count("\N{COMBINING ACUTE ACCENT}") for line in lines) == 30


def test_lines_of_a_cell_stay_in_its_column():
    text = Table.of_facts("T", [("two", "first\nsecond")]).text()
    assert text.splitlines()[2:] == ["two  first", "     second"]


@pytest.mark.parametrize("steering", ["\x1b[31m", "\r", "\x07", "\x9b", "\u202e", "\ud800", "\x00"])
def test_what_would_steer_a_terminal_or_break_a_page_is_written_out(steering):
    table = Table(steering, (steering,), ((steering,),), caption=steering)
    for shown in (table.text(), table.html(), printed(table.rich())):
        assert steering not in shown
        assert shown.count(ascii(steering)[1:-1]) >= 4
        shown.encode()


def test_html_names_the_table_its_columns_and_its_rows():
    seen = Seen(WIDE.html())
    assert [tag for tag, _ in seen.tags if tag in {"table", "caption", "thead", "tbody"}] == [
        "table",
        "caption",
        "thead",
        "tbody",
    ]
    assert seen.scopes() == ["col"] * 3 + ["row"] * 2
    assert seen.texts == [
        *("Errors", "mechanism", "scale", "note"),
        *("Gaussian", "2.5", "fine", "Laplace", "10.25", "One sentence."),
    ]


def test_html_of_facts_has_row_headings_and_no_others():
    seen = Seen(Table.of_facts("Facts", [("a", "1"), ("b", "2")]).html())
    assert seen.scopes() == ["row", "row"]
    assert "thead" not in {tag for tag, _ in seen.tags}


def test_html_fixes_no_colour_and_loads_and_runs_nothing():
    page = WIDE.html()
    assert "background: transparent" in page
    assert "color: inherit" in page
    for word in ("#", "url(", "http", "<script", "<style", "id=", "class=", "onclick"):
        assert word not in page


def test_numbers_are_aligned_in_html_too():
    cells = [attrs["style"] for tag, attrs in Seen(WIDE.html()).tags if tag == "td"]
    assert ["tabular-nums" in style for style in cells] == [True, False] * 2


def test_hostile_strings_are_shown_as_they_are_everywhere():
    table = Table(HOSTILE, (HOSTILE, '"'), ((HOSTILE, "'"),), caption=HOSTILE)
    seen = Seen(table.html())
    assert "script" not in {tag for tag, _ in seen.tags}
    assert seen.texts == [HOSTILE, HOSTILE, '"', HOSTILE, "'", HOSTILE]
    assert seen.tags[0][1]["aria-label"] == HOSTILE
    assert table.text().count(HOSTILE) == 4


def test_markup_of_rich_is_printed_literally():
    markup = "[red]x[/red][/]"
    table = Table(markup, (markup, "n"), ((markup, ":smile:"),), caption=markup)
    shown = printed(table.rich())
    assert shown.count(markup) == 4
    assert ":smile:" in shown


def test_rich_loses_nothing_on_a_narrow_screen():
    table = Table.of_facts("T", [("label", "y" * 150), ("dataset" * 10, "short")])
    shown = printed(table.rich(), width=50)
    assert shown.count("y") == 150
    assert "".join(line.split()[0] for line in shown.splitlines() if "dat" in line) == (
        "dataset" * 10
    )
    assert "…" not in shown


def test_a_row_that_does_not_fit_its_headings_is_refused():
    table = Table("T", ("a", "b"), (("1",),))
    with pytest.raises(ValueError, match="zip"):
        table.text()
    with pytest.raises(ValueError, match="zip"):
        table.html()


@dataclass(frozen=True, slots=True, repr=False)
class Thing(Printed):
    name: str

    def _table(self):
        return Table.of_facts("Thing", [("name", self.name)])


@dataclass(frozen=True, slots=True)
class Quiet(HasHtml):
    name: str

    def _table(self):
        return Table.of_facts("Quiet", [("name", self.name)])


def test_a_frozen_slotted_class_with_a_table_is_printed_and_shown_as_it():
    thing = Thing("a")
    assert not hasattr(thing, "__dict__")
    assert str(thing) == thing._table().text()
    assert "Thing" in printed(thing)
    assert Seen(thing._repr_html_()).texts == ["Thing", "name", "a"]


def test_a_class_may_have_html_and_keep_its_text():
    assert str(Quiet("a")) == repr(Quiet("a")) == "Quiet(name='a')"
    assert "Quiet" in Seen(Quiet("a")._repr_html_()).texts
