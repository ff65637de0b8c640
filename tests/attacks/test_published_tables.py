"""What a published table may tell beside its private values: its number of rows.

Every attack first succeeds on what a careful person might write without us.
"""

import io

import pyarrow.csv
import pytest
from typer.testing import CliRunner

from inbounds.cli.app import app

ANSWERED = "age\n41\n38\n"
SILENT = "age\n41\n\n"  # the second person gave no answer


def published_rows(text: str, tmp_path, nulls: str) -> int:
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_bytes(text.encode())
    args = ["privatize", str(source), str(target), "--column", "age=0:120:1@1", "--nulls", nulls]
    result = CliRunner().invoke(app, [*args, "--force"])
    assert result.exit_code == 0, result.output
    return len(target.read_text().split("\n")) - 2


def test_a_plain_reader_of_csv_tells_who_gave_no_answer():
    rows = [pyarrow.csv.read_csv(io.BytesIO(t.encode())).num_rows for t in (ANSWERED, SILENT)]
    assert rows == [2, 1]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_number_of_our_rows_does_not_tell_who_gave_no_answer(tmp_path, end):
    texts = [text.replace("\n", end) for text in (ANSWERED, SILENT, "age\n\n41\n", "age\n\n\n")]
    assert [published_rows(text, tmp_path, "uniform") for text in texts] == [2, 2, 2, 2]
    assert [published_rows(text, tmp_path, "keep") for text in texts] == [2, 2, 2, 2]


def test_a_missing_answer_at_the_end_of_the_file_stops_a_run_that_allows_none(tmp_path):
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text(SILENT)
    places = ["--input", str(source), "--column", "age", "--output", str(target)]
    for args in (
        ["privatize", str(source), str(target), "--column", "age=0:120:1@1"],
        ["release", "--bounds", "0:120", "--sensitivity", "120", "--epsilon", "1", *places],
    ):
        result = CliRunner().invoke(app, args)
        assert result.exit_code != 0
        assert not target.exists()
        assert "41" not in result.output
