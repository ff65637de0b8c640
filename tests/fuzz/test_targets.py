"""Readers of foreign text read it rightly or refuse it: over a small corpus, without a fuzzer."""

import pytest

from inbounds.calibration.table import LevelTable

from .targets import DOCUMENTS, SEEDS, TARGETS

CORPUS = [
    (name, data) for seeds in (SEEDS, DOCUMENTS) for name, many in seeds.items() for data in many
]


@pytest.mark.parametrize("name", TARGETS)
def test_there_is_something_to_read_for_every_target(name: str) -> None:
    assert SEEDS[name]


@pytest.mark.parametrize(("name", "data"), CORPUS, ids=range(len(CORPUS)))
def test_foreign_text_is_read_rightly_or_refused(name: str, data: bytes) -> None:
    TARGETS[name](data)


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("keep", [1, 2, 3, 5, 8])
def test_text_that_ends_too_early_is_read_rightly_or_refused(name: str, keep: int) -> None:
    for seed in SEEDS[name]:
        for end in range(0, min(len(seed), 400), 9 - keep):
            TARGETS[name](seed[:end])


def test_the_tables_that_are_changed_would_be_accepted_as_they_are() -> None:
    for seed in SEEDS["table"][:3]:
        LevelTable.from_json(seed.decode()).check(0.5, 1.0)
