"""`inbounds._progress`: bars go to standard error, and only where they are asked for."""

import pytest

from inbounds._progress import bar, tracked


@pytest.mark.parametrize("progress", [False, True])
def test_every_item_comes_through_whether_or_not_it_is_shown(progress, capsys):
    assert list(tracked([3, 1, 2], "Numbers", progress=progress)) == [3, 1, 2]
    shown = capsys.readouterr()
    assert shown.out == ""
    assert ("Numbers" in shown.err) is progress


@pytest.mark.parametrize("progress", [False, True])
def test_a_bar_takes_what_it_is_told_and_leaves_standard_output_alone(progress, capsys):
    with bar(10, "Audit", progress=progress) as advance:
        advance(4)
        advance(6)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert bool(shown.err) is progress
