from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from inbounds.cli.failure import InputError, UsageError
from inbounds.cli.table import Uses, opened_table, read_columns

USES = Uses({"age": "--mean"}, {"smoker": "--proportion"}, {"zip": "--by"})


def read(path: Path, form: Any, uses: Uses = USES, delimiter: str = ",") -> pa.Table:
    with opened_table(path, form, uses, delimiter) as opened:
        is_text = form == "csv"
        return read_columns(opened, uses.names, from_text=is_text, progress=False)


def test_a_column_of_csv_holds_what_the_options_use_it_for(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("zip,age,smoker,note\n007,41,true,x\n7,,0,y\n,3.5,FALSE,z\n")
    table = read(path, "csv")
    assert table.schema.types == [pa.float64(), pa.bool_(), pa.string()]
    assert table.to_pydict() == {
        "age": [41.0, None, 3.5],
        "smoker": [True, False, False],
        "zip": ["007", "7", None],  # an empty cell is a missing value
    }


def test_no_private_cell_changes_how_other_rows_are_read(tmp_path: Path) -> None:
    """One person's zip code is a word; everybody else's stay as they are written."""
    rows = [f"00{i},{i},true" for i in range(9)]
    path = tmp_path / "people.csv"
    tables = []
    for last in ("009,9,true", "none,9,true", ",9,true", "1e3,9,true", "true,9,true"):
        path.write_text("\n".join(["zip,age,smoker", *rows, last, ""]))
        tables.append(read(path, "csv"))
    assert len({str(table.schema) for table in tables}) == 1
    assert all(table.slice(0, 9).equals(tables[0].slice(0, 9)) for table in tables)


def test_files_with_types_keep_them(tmp_path: Path) -> None:
    table = pa.table(
        {
            "zip": pa.array(["", "7"]).dictionary_encode(),
            "note": [[1], [2]],
            "age": pa.array([41, None], pa.int8()),
            "smoker": [1, 0],
        }
    )
    pq.write_table(table, tmp_path / "people.parquet")
    feather.write_feather(table, tmp_path / "people.feather")
    for name, form in (("people.parquet", "parquet"), ("people.feather", "arrow")):
        found = read(tmp_path / name, form)
        assert found.column_names == ["age", "smoker", "zip"]
        assert found.to_pydict() == table.select(found.column_names).to_pydict()
        assert found.schema.field("age").type == pa.int8()


def test_without_columns_the_first_one_counts_the_rows(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    assert read(path, "csv", Uses({}, {}, {})).to_pydict() == {"a": ["1", "3"]}


def test_a_column_that_is_missing_is_said_of_its_option(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("zip,age\n1,2\n")
    with pytest.raises(UsageError, match="--proportion: the input has no column 'smoker'"):
        read(path, "csv")
    pq.write_table(pa.table({"age": [1]}), tmp_path / "people.parquet")
    with pytest.raises(UsageError, match="--proportion: the input has no column 'smoker'"):
        read(tmp_path / "people.parquet", "parquet")


def test_a_column_of_csv_is_not_text_and_numbers_at_once(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age\n1\n")
    uses = Uses({"age": "--mean"}, {}, {"age": "--by"})
    with pytest.raises(UsageError, match="--by and --mean must not name the same column of CSV"):
        read(path, "csv", uses)
    both = Uses({"age": "--mean"}, {"age": "--proportion"}, {})
    assert read(path, "csv", both).to_pydict() == {"age": [1.0]}  # numbers have proportions, too


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("1,old 77,true", "column 'age' must have a number in row 2 below the header"),
        ("1,4,maybe 77", "column 'smoker' must have true, false, 1 or 0 in row 2"),
        ("1,4,true,77", "row 2 below the header must have as many cells"),
    ],
)
def test_a_bad_cell_is_an_error_of_the_input_that_is_not_shown(
    tmp_path: Path, row: str, words: str
) -> None:
    path = tmp_path / "people.csv"
    path.write_text(f"zip,age,smoker\n1,2,true\n{row}\n")
    with pytest.raises(InputError) as caught:
        read(path, "csv")
    assert str(caught.value).startswith(f"{path}: {words}")
    assert "77" not in str(caught.value).removeprefix(str(path))
