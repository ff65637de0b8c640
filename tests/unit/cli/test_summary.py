import json
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from inbounds.cli.failure import UsageError
from inbounds.cli.summary import Destination, rows_of, show_table

ROW = {"day": date(2026, 1, 31), "statistic": "mean", "column": "age", "q": None, "level": None}
NUMBERS = {"value": 41.25, "standard_error": None, "lower": 123456789.5, "upper": 1e300}
RESULT = pa.Table.from_pylist(
    [
        ROW | {"bin_lower": None, "bin_upper": None} | NUMBERS | {"mechanism": "ClampedLaplace"},
        ROW | {"statistic": "quantile", "q": 0.25, **NUMBERS, "mechanism": "permute-and-flip"},
        ROW
        | {"statistic": "histogram", "bin_lower": 0.0, "bin_upper": 18.5}
        | NUMBERS
        | {"mechanism": None},
        ROW | {"statistic": "categories", "level": "none", **NUMBERS, "mechanism": None},
    ]
)


def destination(target: Path | None = None, plot: Path | None = None, **options: bool) -> Any:
    return Destination(target, plot, **{"as_csv": False, "json": False} | options)


def test_the_table_says_what_each_row_is_of(capsys: pytest.CaptureFixture[str]) -> None:
    show_table(RESULT, ["day"])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["2026-01-31", "mean", "age", "41.25", "123456790", "1e+300"] in lines
    assert ["2026-01-31", "quantile", "0.25", "age", "41.25", "123456790", "1e+300"] in lines
    assert ["2026-01-31", "histogram", "age", "0", "to", "18.5", *lines[5][-3:]] in lines
    assert ["2026-01-31", "categories", "age", "none", *lines[5][-3:]] in lines
    assert ["Released", "by", "ClampedLaplace", "and", "permute-and-flip."] in lines


def test_json_and_csv_hold_all_columns(capsys: pytest.CaptureFixture[str]) -> None:
    destination(json=True).write(RESULT, ["day"], {"unit": "replace one row"}, None)
    facts = json.loads(capsys.readouterr().out)
    assert facts == {"unit": "replace one row", "estimates": rows_of(RESULT)}
    assert facts["estimates"][0]["day"] == "2026-01-31"
    destination(as_csv=True).write(RESULT, ["day"], {}, None)
    header, first, *_ = capsys.readouterr().out.splitlines()
    assert header == ",".join(RESULT.column_names)
    assert first.startswith("2026-01-31,mean,age,,,,,41.25,,")


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.arrow", "out.feather"])
def test_a_file_holds_the_rows_and_is_there_once_it_is_complete(tmp_path: Path, name: str) -> None:
    target = destination(tmp_path / name)
    with target.opened() as file:
        target.write(RESULT, ["day"], {}, file)
        assert not (tmp_path / name).exists()
    if name == "out.parquet":
        assert pq.read_table(tmp_path / name).equals(RESULT)
    assert (tmp_path / name).stat().st_size > 100


def test_what_was_paid_for_is_printed_if_the_file_cannot_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Full:
        def write(self, _: bytes) -> None:
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        destination(tmp_path / "out.csv").write(RESULT, ["day"], {}, Full())
    assert "41.25" in capsys.readouterr().out


def test_what_cannot_be_written_is_refused_first(tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    source.write_text("a\n1\n")
    for wrong, words in (
        (destination(json=True, as_csv=True), "--csv must not be given with --json"),
        (destination(tmp_path / "a.csv", json=True), "--output must not be given with --json"),
        (destination(tmp_path / "a.txt"), "--output must end in one of .csv"),
        (destination(source), "--output must not be the input file"),
        (destination(None, tmp_path / "no" / "a.png"), "--plot must be in a folder that exists"),
    ):
        with pytest.raises(UsageError) as caught:
            wrong.check(source, force=True)
        assert words in caught.value.format_message()
    (tmp_path / "b.csv").write_text("")
    with pytest.raises(UsageError, match="exists already"):
        destination(tmp_path / "b.csv").check(source, force=False)
    destination(tmp_path / "b.csv").check(source, force=True)


def test_a_figure_of_too_many_groups_is_refused_before_anything_is_charged(tmp_path: Path) -> None:
    destination(None, tmp_path / "a.png").check_groups(200)
    destination().check_groups(201)
    with pytest.raises(UsageError, match="more than 200 groups"):
        destination(None, tmp_path / "a.png").check_groups(201)


def test_neither_the_input_nor_the_ledger_is_written_over(tmp_path: Path) -> None:
    people, ledger, link = tmp_path / "people.csv", tmp_path / "budget.csv", tmp_path / "link.csv"
    people.write_text("age\n41\n")
    ledger.write_text("stands for a ledger")
    link.symlink_to(ledger)
    for path in (people, ledger, link):
        for target, plot in ((path, None), (None, path)):
            with pytest.raises(UsageError, match=r"must not be the (input file|ledger)"):
                Destination(target, plot, False, False).check(
                    people, force=True, kept={"the ledger": str(ledger), "other": None}
                )
    with pytest.raises(UsageError, match="--plot must not be a folder"):
        Destination(None, tmp_path, False, False).check(people, force=True)
    out = tmp_path / "out.csv"
    with pytest.raises(UsageError, match="--plot must not be the file of --output"):
        Destination(out, out, False, False).check(people, force=True)
