from pathlib import Path

import pytest

from inbounds.cli.explore import page


def test_every_file_of_the_page_is_served_under_its_name(tmp_path: Path) -> None:
    for name in ("index.html", "app.js", "page.css", "icon.svg", "notes.txt", ".hidden"):
        (tmp_path / name).write_text(name)
    (tmp_path / "folder").mkdir()
    files = page.static_files(tmp_path)
    assert {path: data for path, (data, _) in files.items()} == {
        "/": b"index.html",
        "/app.js": b"app.js",
        "/page.css": b"page.css",
        "/icon.svg": b"icon.svg",
    }
    assert files["/app.js"][1] == "text/javascript; charset=utf-8"


def test_all_files_that_the_page_has_are_of_a_known_type() -> None:
    folder = Path(page.__file__).with_name("static")
    assert len(page.static_files()) == len([p for p in folder.rglob("*") if p.is_file()])


@pytest.mark.parametrize("name", sorted(page.static_files()))
def test_a_file_of_the_page_names_no_other_machine(name: str) -> None:
    data = page.static_files()[name][0].decode()
    for address in ("http://", "https://", "//cdn"):
        rest = data.replace("http://www.w3.org/", "").replace("http://127.0.0.1", "")
        assert address not in rest


def test_a_file_is_sent_to_the_paths_that_say_so() -> None:
    assert "/api/file/simulate" not in page.FILES
    assert all(path.startswith("/api/file/") for path in page.FILES)
