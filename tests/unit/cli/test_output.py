import errno
import json
import os

import numpy as np
import pytest

from inbounds.cli import output


def test_json_has_no_infinities_and_no_arrays(capsys):
    output.show_json({"a": np.array([1.0, np.inf]), "b": (np.int64(3), float("nan")), "c": "ε"})
    text = capsys.readouterr().out
    assert json.loads(text) == {"a": [1.0, None], "b": [3, None], "c": "ε"}
    assert text.isascii()


def test_a_file_is_replaced_only_when_complete(tmp_path):
    path = tmp_path / "answers.txt"
    path.write_text("old")
    with output.written_whole(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["answers.txt"]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "answers.txt"
    path.write_text("old")

    def stop_halfway():
        with output.written_whole(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stop_halfway()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["answers.txt"]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    with output.written_whole(tmp_path / "link.txt") as file:
        file.write(b"new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


def test_a_file_gets_the_permissions_that_new_files_get(tmp_path):
    (tmp_path / "plain").touch()
    with output.written_whole(tmp_path / "whole"):
        pass
    assert (tmp_path / "whole").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_device_is_written_to_and_stays_a_device(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with output.written_whole(fifo) as file:
            file.write(b"41")
        assert os.read(reader, 10) == b"41"
    finally:
        os.close(reader)
    assert fifo.is_fifo()


def refuse(code):
    def fsync(_):
        raise OSError(code, os.strerror(code))

    return fsync


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_file_for_which_there_is_no_room_is_named(tmp_path, monkeypatch, code):
    monkeypatch.setattr("os.fsync", refuse(code))
    path = tmp_path / "answers.txt"
    with pytest.raises(OSError, match=os.strerror(code)) as caught, output.written_whole(path):
        pass
    assert caught.value.filename == str(path)
    assert list(tmp_path.iterdir()) == []


def test_an_error_of_something_else_is_not_put_on_the_file(tmp_path):
    def fail_to_read():
        with output.written_whole(tmp_path / "answers.txt"):
            raise OSError(errno.EIO, "broken")

    with pytest.raises(OSError, match="broken") as caught:
        fail_to_read()
    assert caught.value.filename is None


def test_a_missing_folder_is_named_as_the_user_named_it(tmp_path):
    path = tmp_path / "missing" / "answers.txt"
    with pytest.raises(FileNotFoundError) as caught, output.written_whole(path):
        pass
    assert caught.value.filename == str(path)
