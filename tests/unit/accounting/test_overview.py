from inbounds.accounting.book import Book
from inbounds.accounting.budget import Budget
from inbounds.accounting.cost import Cost
from inbounds.accounting.overview import overview
from inbounds.guarantee import Amount
from inbounds.loss import PrivacyLoss
from inbounds.unit import Unit


def test_every_dataset_has_a_row_with_what_is_left(tmp_path):
    book = Book(tmp_path / "budget.db")
    book.open("survey", Budget(epsilon=3.0), create=True)
    book.open("census", Budget(rho=0.5, unit=Unit("add-remove")), create=True)
    cost = Cost.of(PrivacyLoss.pure(0.5))
    book.charge("survey", cost, 2, label="", mechanism="")
    asked = Amount(epsilon=0.5)
    book.charge("survey", cost, 1, label="", mechanism="", asked=asked, user="Ana")
    table = overview(book)
    assert table is not None
    assert table.rows == (
        ("census", "add or remove one row", "rho=0.5", "rho=0.5", "0", ""),
        ("survey", "not stated", "epsilon=3.0", "epsilon=1.5", "2", "epsilon=0.5, by Ana"),
    )


def test_of_many_datasets_the_first_are_shown_and_the_rest_counted(tmp_path):
    book = Book(tmp_path / "budget.db")
    for number in range(53):
        book.open(f"{number:02}", Budget(epsilon=1.0), create=True)
    table = overview(book)
    assert table is not None
    assert len(table.rows) == 50
    assert table.caption == "and 3 more"


def test_a_history_that_was_changed_is_not_shown(tmp_path):
    path = tmp_path / "budget.db"
    book = Book(path)
    book.open("survey", Budget(epsilon=3.0), create=True)
    assert overview(book) is not None
    book.store.close()
    path.unlink()
    assert overview(book) is None
    assert not path.exists()
