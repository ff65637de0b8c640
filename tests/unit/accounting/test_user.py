import os
import pwd
import subprocess
import sys

import pytest

from inbounds.accounting.user import check_user, recordable, system_user
from inbounds.errors import ArgumentError, ArgumentTypeError


def test_the_default_is_the_account_and_not_the_environment() -> None:
    expected = pwd.getpwuid(os.geteuid()).pw_name
    assert system_user() == expected
    code = "from inbounds.accounting.user import system_user; print(system_user())"
    environment = {**os.environ, "USER": "root\n", "LOGNAME": "somebody else"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{expected}\n"


@pytest.mark.parametrize("user", ["", "  ", "a\nb", "a\x1b[31m", "a\u202eb", "\ud800", "x" * 201])
def test_names_that_cannot_be_recorded_are_refused(user: str) -> None:
    with pytest.raises(ArgumentError, match=r"^user must ") as caught:
        check_user(user)
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize("user", [None, 5, b"ana"])
def test_a_name_is_text(user: object) -> None:
    with pytest.raises(ArgumentTypeError, match="user must be a string"):
        check_user(user)


@pytest.mark.parametrize("name", ["", "\0", "ana", "\u202e" * 300, "x" * 300, "Ж" * 300])
def test_every_name_of_an_account_becomes_one_that_can_be_recorded(name: str) -> None:
    assert check_user(recordable(name)) == recordable(name)
