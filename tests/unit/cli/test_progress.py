import sys

from inbounds.cli.progress import row_bar


def test_progress_counts_rows_if_it_is_wanted(capsys):
    with row_bar(10, wanted=True) as tell:
        tell(7)
    assert "7 rows" in capsys.readouterr().err


def test_nothing_is_shown_if_it_is_not_wanted_or_there_is_no_screen(capsys):
    assert not sys.stderr.isatty()
    for wanted in (False, None):
        with row_bar(None, wanted=wanted) as tell:
            tell(7)
    assert capsys.readouterr().err == ""
