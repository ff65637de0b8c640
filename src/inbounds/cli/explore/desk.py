"""Where files are taken, one at a time, and the library's own commands draw from them.

A file is written to a folder of its own that only this user can look into, and is removed with it
as soon as the request ends.
"""

from __future__ import annotations

import asyncio
import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inbounds.cli.explore.budget import PLACE, Budget, Charge, required, spending
from inbounds.cli.explore.field import fields, needed
from inbounds.cli.explore.guard import Refusal
from inbounds.cli.explore.privatize import Privatization
from inbounds.cli.explore.summarize import Summary, table
from inbounds.cli.explore.upload import asked_delimiter, file_name
from inbounds.cli.explore.worker import COMMAND, READER, Finished, Workers

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
                charged = await self._spent(upload, asked)
                words = ["privatize", upload.argument, *asked.words]
                done = await self._run(words, folder)
                if done.code:
                    status, reason = upload.reason(done)
                    raise Refusal(status, reason + _too_late(asked.charge, charged))
                return _answer(upload, asked.targets, words, done, {"charged": charged})

    async def summarize(self, head: Any, data: bytes) -> Answer:
        """Release statistics, once; the command itself charges for them, before it draws."""
        asked = Summary.read(head)
        async with self._turn:
            with self._workers.folder() as folder:
                upload = _written(folder, asked.name, data)
                if asked.listing is not None:
                    _write(folder / asked.listing_name, asked.listing)
                words = ["summarize", upload.argument, *asked.words]
                before = await self._head(asked.charge)
                done = await self._run(words, folder, asked.charge)
                if done.code:
                    status, reason = upload.reason(done)
                    charged = "charged" if await self._head(asked.charge) != before else None
                    raise Refusal(status, self._hidden(reason) + _too_late(asked.charge, charged))
                left = done.said.splitlines()[-1] if asked.charge else None  # what it says last
                shown = table((folder / asked.target).read_text(encoding="utf-8"))
                facts = {"charged": left, "table": shown}
                return _answer(upload, [asked.target], words, done, facts)

    async def _names(self, upload: Upload, delimiter: list[str]) -> str:
        words = [*READER, upload.name, *(word.partition("=")[2] for word in delimiter)]
        done = await self._workers.run(words, upload.folder)
        if done.code:
            raise Refusal(*upload.reason(done))
        return done.printed

    async def _spent(self, upload: Upload, asked: Privatization) -> str | None:
        """Charge for a draw whose columns exist, and return what is left, in a sentence."""
        if asked.charge is None:
            return None
        required(self._budget)
        facts = json.loads(await self._names(upload, asked.delimiter))
        asked.check([column["name"] for column in facts["columns"]])
        done = await self._run(spending(asked.charge, asked.epsilon), upload.folder, asked.charge)
        if done.code:
            status, reason = upload.reason(done)
            raise Refusal(status, self._hidden(reason))
        return done.printed.strip()

    async def _head(self, charge: Charge | None) -> str | None:
        """Return the newest entry of a dataset, by which a charge is noticed."""
        if charge is None:
            return None
        budget = required(self._budget)
        return (await self._workers.compute(budget.head, charge.dataset))[0]

    async def _run(
        self, words: Sequence[str], folder: Path, charge: Charge | None = None
    ) -> Finished:
        place = {} if charge is None else {PLACE: required(self._budget).place}
        return await self._workers.run([*COMMAND, *words], folder, place)

    def _hidden(self, reason: str) -> str:
        return reason if self._budget is None else self._budget.hidden(reason)


def _too_late(charge: Charge | None, charged: str | None) -> str:
    if charge is None or charged is None:
        return ""
    return f" The budget of {charge.dataset!r} was charged before this failed."


def _written(folder: Path, name: str, data: bytes) -> Upload:
    _write(folder / name, data)
    return Upload(folder, name)


def _write(path: Path, data: bytes) -> None:
    path.touch(mode=0o600)
    path.write_bytes(data)


def _answer(
    upload: Upload, names: list[str], words: list[str], done: Finished, facts: dict[str, Any]
) -> Answer:
    files = [(name, (upload.folder / name).read_bytes()) for name in names]
    lines = done.said.splitlines()
    head = {
        "files": [{"name": name, "size": len(data)} for name, data in files],
        "statement": next((line for line in lines if line.startswith("Privacy: ")), ""),
        "warnings": [line[9:] for line in lines if line.startswith("Warning: ")],
        "command": shlex.join(["inbounds", *words]),
    }
    return head | facts, files
