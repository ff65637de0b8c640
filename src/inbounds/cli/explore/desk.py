"""Where files are taken, one at a time, and the library's own commands draw from them.

A file is written to a folder of its own that only this user can look into, and is removed with it
as soon as the request ends.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inbounds.cli.explore.budget import PLACE, Budget, Charge, counted, required, spending
from inbounds.cli.explore.field import fields, needed
from inbounds.cli.explore.guard import Refusal
from inbounds.cli.explore.privatize import Privatization
from inbounds.cli.explore.summarize import Summary, table
from inbounds.cli.explore.upload import asked_delimiter, file_name
from inbounds.cli.explore.words import of_command
from inbounds.cli.explore.worker import COMMAND, READER, Finished, Workers
from inbounds.errors import ArgumentError

_MOST_BYTES = 1 << 28  # of an answer
_CERTAIN = 0.95  # of them, beyond which nothing is charged
_NO_ROOM = errno.ENOSPC, errno.EDQUOT, errno.EFBIG
_FAILED = 500, "the command ended without saying why."
Answer = tuple[dict[str, Any], list[tuple[str, bytes]]]
"""Facts, and files with their names."""


@dataclass(frozen=True, slots=True)
class Upload:
    """A file in a folder of its own, and how errors about it are told."""

    folder: Path
    name: str

    @property
    def argument(self) -> str:
        """The name, so that no command takes it for an option."""
        return f"./{self.name}" if self.name.startswith("-") else self.name

    def reason(self, done: Finished) -> tuple[int, str]:
        """Return the status and the words for a process that failed: what it said in one line."""
        lines = [line for line in done.said.splitlines() if line.startswith("Error: ")]
        if not lines or done.code not in (1, 2):
            return _FAILED
        return 400, lines[-1].removeprefix("Error: ").replace(f"{self.folder}/", "")


class Desk:
    """Takes files, one at a time, and has the library's own commands draw from them."""

    def __init__(self, workers: Workers, budget: Budget | None) -> None:
        self._workers, self._budget = workers, budget
        self._turn = asyncio.Lock()

    async def columns(self, head: Any, data: bytes) -> dict[str, Any]:
        """Return the names and types of a file's columns; a process of its own reads them."""
        known = fields("head", head, ("name", "delimiter"))
        name = file_name(needed("head", known, "name"))
        with self._workers.folder() as folder:
            upload = _written(folder, name, data)
            facts: dict[str, Any] = json.loads(await self._names(upload, asked_delimiter(known)))
        return facts

    async def draw(self, head: Any, data: bytes) -> Answer:
        """Replace columns by private outputs, once, after charging for it if that is asked for."""
        asked = Privatization.read(head)
        async with self._turn:
            with self._workers.folder() as folder:
                upload = _written(folder, asked.name, data)
                spent, charged = await self._spent(upload, asked)
                words = ["privatize", upload.argument, *asked.words]
                done = await self._run(words, folder)
                if done.code:
                    raise self._failure(upload, done, asked.charge, is_charged=bool(charged))
                commands = [spent, words] if spent else [words]
                facts = {"charged": charged, "command": self._shown(commands)}
                try:
                    return _answer(upload, asked.targets, done, facts)
                except Refusal as error:
                    raise _charged(error, asked.charge, is_charged=bool(charged)) from None

    async def summarize(self, head: Any, data: bytes) -> Answer:
        """Release statistics, once; the command itself charges for them, before it draws."""
        asked = Summary.read(head)
        async with self._turn:
            with self._workers.folder() as folder:
                upload = _written(folder, asked.name, data)
                if asked.listing is not None:
                    _write(folder / asked.listing_name, asked.listing)
                words = ["summarize", upload.argument, *asked.words]
                before = await self._before(asked.charge)
                if asked.charge is not None and not asked.has_people:
                    await self._check_people(asked.charge)
                done = await self._run(words, folder, asked.charge)
                if done.code:
                    is_charged = await self._is_charged(asked.charge, before)
                    raise self._failure(upload, done, asked.charge, is_charged=is_charged)
                left = done.said.splitlines()[-1] if asked.charge else None  # what it says last
                shown = table((folder / asked.target).read_text(encoding="utf-8"))
                facts = {"charged": left, "table": shown, "command": self._shown([words])}
                return _answer(upload, [asked.target], done, facts)

    async def _names(self, upload: Upload, delimiter: list[str]) -> str:
        words = [*READER, upload.argument, *(word.partition("=")[2] for word in delimiter)]
        done = await self._workers.run(words, upload.folder)
        if done.code:
            status, reason = upload.reason(done)
            raise Refusal(status, of_command(reason))
        return done.printed

    async def _spent(
        self, upload: Upload, asked: Privatization
    ) -> tuple[list[str] | None, str | None]:
        """Charge for a draw that can be made; return the command, and what is left."""
        budget = None if asked.charge is None else required(self._budget)
        if budget is not None or Path(upload.name).suffix.lower() != ".csv":
            facts = json.loads(await self._names(upload, asked.delimiter))
            asked.check([column["name"] for column in facts["columns"]])
        if budget is None or asked.charge is None:
            return None, None
        unit, _ = await self._workers.compute(budget.unit, asked.charge.dataset)
        words = spending(asked.charge, asked.epsilon, counted(asked.charge.dataset, unit))
        await self._check(upload, asked, words)
        before = await self._before(asked.charge)
        done = await self._run(words, upload.folder, asked.charge)
        if done.code:  # it may have been killed after it charged
            is_charged = await self._is_charged(asked.charge, before)
            raise self._failure(upload, done, asked.charge, is_charged=is_charged)
        return words, done.printed.strip()

    async def _check(self, upload: Upload, asked: Privatization, words: list[str]) -> None:
        """Refuse a draw that the budget has not enough for, or that would fail at some row."""
        checks = (
            [*words[:2], "--dry-run", *words[2:]],
            ["privatize", upload.argument, *asked.words, "--dry-run", "--json"],
        )
        for check in checks:
            done = await self._run(check, upload.folder, asked.charge)
            if done.code:
                raise self._failure(upload, done, asked.charge, is_charged=False)
        facts = json.loads(done.printed)
        if not facts["rows"]:
            raise ArgumentError.must("the file", "have at least one row to be charged for")
        if facts["bytes"] > _CERTAIN * _MOST_BYTES:  # another draw may be a little longer
            raise _too_much()

    async def _check_people(self, charge: Charge) -> None:
        """Refuse to charge a budget for people, if nothing says which rows are whose."""
        unit, _ = await self._workers.compute(required(self._budget).unit, charge.dataset)
        if unit is not None and unit.of == "person":
            requirement = f"chosen, because the budget of {charge.dataset!r} is for people: {unit}"
            raise ArgumentError.must_be("the column of people", requirement)

    async def _before(self, charge: Charge | None) -> int:
        """Return how many charges a dataset has."""
        if charge is None:
            return 0
        budget = required(self._budget)
        charges, _ = await self._workers.compute(budget.charges, charge.dataset)
        return len(charges)

    async def _is_charged(self, charge: Charge | None, before: int) -> bool | None:
        if charge is None:
            return False
        is_charged = required(self._budget).is_charged
        return (await self._workers.compute(is_charged, charge, before))[0]

    def _failure(
        self, upload: Upload, done: Finished, charge: Charge | None, *, is_charged: bool | None
    ) -> Refusal:
        status, reason = upload.reason(done)
        refusal = Refusal(status, self._hidden(of_command(reason)))
        return _charged(refusal, charge, is_charged=is_charged)

    def _shown(self, commands: list[list[str]]) -> str:
        """Return commands as a shell takes them, with the ledger where one is charged."""
        place = "" if self._budget is None else self._budget.argument
        shown = []
        for words in commands:
            is_charged = words[0] == "ledger" or any(w.startswith("--dataset=") for w in words)
            first = 2 if words[0] == "ledger" else 1
            ledger = [f"--ledger={place}"] if is_charged else []
            shown.append(shlex.join(["inbounds", *words[:first], *ledger, *words[first:]]))
        return " && ".join(shown)

    async def _run(
        self, words: Sequence[str], folder: Path, charge: Charge | None = None
    ) -> Finished:
        place = {} if charge is None else {PLACE: required(self._budget).place}
        return await self._workers.run([*COMMAND, *words], folder, place)

    def _hidden(self, reason: str) -> str:
        return reason if self._budget is None else self._budget.hidden(reason)


def _charged(refusal: Refusal, charge: Charge | None, *, is_charged: bool | None) -> Refusal:
    """Return why nothing was drawn, and whether it was charged all the same."""
    if charge is None or is_charged is False:
        return refusal
    was = "was" if is_charged else "may have been"
    text = f"{refusal} The budget of {charge.dataset!r} {was} charged before this failed."
    return Refusal(refusal.status, text)


def _written(folder: Path, name: str, data: bytes) -> Upload:
    _write(folder / name, data)
    return Upload(folder, name)


def _write(path: Path, data: bytes) -> None:
    """Write a new file, which only this user can read."""
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        text = f"the file cannot be held in a temporary folder: {error.strerror}."
        raise Refusal(507, text) from None


def _too_much() -> Refusal:
    text = f"the private file would have more than {_MOST_BYTES >> 20} MiB, which the page cannot "
    return Refusal(400, f"{text}take. The command inbounds privatize can make it.")


def _answer(upload: Upload, names: list[str], done: Finished, facts: dict[str, Any]) -> Answer:
    paths = [upload.folder / name for name in names]
    if sum(path.stat().st_size for path in paths) > _MOST_BYTES:
        raise _too_much()
    files = [(path.name, path.read_bytes()) for path in paths]
    lines = done.said.splitlines()
    head = {
        "files": [{"name": name, "size": len(data)} for name, data in files],
        "statement": next((line for line in lines if line.startswith("Privacy: ")), ""),
        "warnings": [line[9:] for line in lines if line.startswith("Warning: ")],
    }
    return head | facts, files
