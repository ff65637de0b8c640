"""The page: its files, which are read once, and what it can ask for."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from inbounds.cli.explore import words
from inbounds.cli.explore.budget import Budget
from inbounds.cli.explore.desk import Answer, Desk
from inbounds.cli.explore.field import fields, needed, number
from inbounds.cli.explore.guard import FILE, JSON, PROVE, Application, Guard, Refusal
from inbounds.cli.explore.keys import opened, proof
from inbounds.cli.explore.maps import Maps
from inbounds.cli.explore.upload import document, framed, unframed
from inbounds.cli.explore.worker import Workers
from inbounds.cli.failure import UsageError, unexpected
from inbounds.errors import ArgumentError, ArgumentTypeError, InBoundsError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

T = TypeVar("T")
Endpoint = Callable[["Request"], Awaitable["Response"]]

_FOLDER = Path(__file__).with_name("static")
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
}
FILES = frozenset({"/api/file/columns", "/api/file/draw", "/api/file/summarize"})
"""The paths to which a file is sent."""


def static_files(folder: Path = _FOLDER) -> dict[str, tuple[bytes, str]]:
    """Return every file of the page by its path: no path of a request ever reaches the disk.

    Examples
    --------
    >>> static_files()["/"][1]
    'text/html; charset=utf-8'
    """
    found = sorted(path for path in folder.iterdir() if path.suffix in _TYPES)
    return {
        "/" if path.name == "index.html" else f"/{path.name}": (
            path.read_bytes(),
            _TYPES[path.suffix],
        )
        for path in found
    }


def application(port: int, token: str, budget: Budget | None, workers: Workers) -> Application:
    """Return the page behind its guard."""
    from starlette.applications import Starlette  # noqa: PLC0415 - optional, checked by `serve`
    from starlette.exceptions import HTTPException  # noqa: PLC0415 - as above
    from starlette.routing import Route  # noqa: PLC0415 - as above

    kinds = (Refusal, InBoundsError, UsageError, HTTPException, Exception)
    handlers: Any = dict.fromkeys(kinds, _explained)
    files = static_files()
    routes = [Route(path, _static(*file)) for path, file in files.items()]
    calls = _calls(budget, workers) | _file_calls(Desk(workers, budget), token)
    calls[PROVE] = _proving(token)
    routes += [Route(path, endpoint, methods=["POST"]) for path, endpoint in calls.items()]
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.router.redirect_slashes = False
    behind: Any = app
    return Guard(behind, port, token, FILES)


def _explained(_: Request, error: Exception) -> Response:
    """Return the library's own words, or only the type and the place of an unexpected error."""
    from starlette.exceptions import HTTPException  # noqa: PLC0415 - optional

    if isinstance(error, Refusal):
        return _json_answer({"error": str(error)}, status=error.status)
    if isinstance(error, InBoundsError | UsageError):
        return _json_answer({"error": _worded(error)}, status=400)
    if isinstance(error, HTTPException):
        return _json_answer({"error": "there is nothing here."}, status=error.status_code)
    return _json_answer({"error": unexpected(error)}, status=500)


def _worded(error: InBoundsError | UsageError) -> str:
    if isinstance(error, ArgumentError | ArgumentTypeError):
        return words.of_argument(error)
    said = error.format_message() if isinstance(error, UsageError) else str(error)
    return words.of_command(" ".join(said.split()))


def _json_answer(facts: Any, seconds: float = 0.0, *, status: int = 200) -> Response:
    from starlette.responses import Response  # noqa: PLC0415 - optional

    headers = {"server-timing": f"cpu;dur={1e3 * seconds:.1f}"}
    text = json.dumps(facts, allow_nan=False)
    return Response(text, status, headers=headers, media_type=JSON)


def _static(data: bytes, kind: str) -> Endpoint:
    async def endpoint(_: Request) -> Response:
        from starlette.responses import Response  # noqa: PLC0415 - optional

        return Response(data, media_type=kind)

    return endpoint


def _proving(token: str) -> Endpoint:
    async def prove(request: Request) -> Response:
        return _json_answer({"proof": proof(token, document(await request.body()))})

    return prove


def _calls(budget: Budget | None, workers: Workers) -> dict[str, Endpoint]:
    """Return the endpoints that take JSON."""
    maps = Maps(workers)

    async def regimes(request: Request) -> Response:
        delta = _delta(document(await request.body()))
        if delta:
            return _json_answer(maps.ask(delta))
        known, seconds = await workers.compute(_pure_map)
        return _json_answer({"state": "done", "map": known}, seconds)

    def ledger(asked: Any) -> dict[str, Any]:
        fields("request", asked, ())
        if budget is None:
            return {"place": None, "datasets": []}
        return {"place": budget.shown, "datasets": budget.datasets()}

    work = {"view": _view, "compare": _compared, "goal": _solved}
    work |= {"ledger": ledger, "file/simulate": _simulated}
    computed = {f"/api/{name}": _computed(function, workers) for name, function in work.items()}
    return {**computed, "/api/regimes": regimes}


def _computed(work: Callable[[Any], Any], workers: Workers) -> Endpoint:
    """Return an endpoint that computes one answer at a time, for those who still wait for it."""
    turn = asyncio.Lock()

    async def endpoint(request: Request) -> Response:
        asked = document(await request.body())
        async with turn:
            if await request.is_disconnected():
                raise _gone()
            facts, seconds = await workers.compute(work, asked)
        return _json_answer(facts, seconds)

    return endpoint


def _file_calls(desk: Desk, token: str) -> dict[str, Endpoint]:
    """Return the endpoints that take files."""
    from starlette.responses import Response  # noqa: PLC0415 - optional

    async def sent(request: Request) -> tuple[Any, bytes]:
        return unframed(opened(token, request.url.path, await request.body()))

    async def columns(request: Request) -> Response:
        return _json_answer(await _waited_for(request, desk.columns(*await sent(request))))

    def drawn(work: Callable[[Any, bytes], Coroutine[Any, Any, Answer]]) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            start = time.perf_counter()
            head, files = await _waited_for(request, work(*await sent(request)))
            took = {"server-timing": f"run;dur={1e3 * (time.perf_counter() - start):.1f}"}
            parts = [data for _, data in files]
            return Response(framed(head, parts), headers=took, media_type=FILE)

        return endpoint

    return {
        "/api/file/columns": columns,
        "/api/file/draw": drawn(desk.draw),
        "/api/file/summarize": drawn(desk.summarize),
    }


async def _waited_for(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Return the result of some work, which ends as soon as the client goes away."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(request.receive())  # the body is read: only the end can come
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise _gone()
        return task.result()
    finally:
        task.cancel()
        gone.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


def _gone() -> Refusal:
    return Refusal(400, "the client went away.")


def _question(asked: Any) -> Any:
    from inbounds.cli.explore.question import Question  # noqa: PLC0415 - numerical libraries

    is_inside = isinstance(asked, dict) and asked.keys() == {"question"}
    return Question.read(asked["question"] if is_inside else asked)


def _view(asked: Any) -> Any:
    from inbounds.cli.explore import view  # noqa: PLC0415 - numerical libraries

    return view.view(_question(asked))


def _compared(asked: Any) -> Any:
    from inbounds.cli.explore import view  # noqa: PLC0415 - numerical libraries

    return view.compared(_question(asked))


def _solved(asked: Any) -> Any:
    from inbounds.cli.explore import goal  # noqa: PLC0415 - numerical libraries

    given = fields("request", asked, ("question", "goal"))
    question = _question(needed("request", given, "question"))
    return goal.solved(question, needed("request", given, "goal"))


def _simulated(asked: Any) -> Any:
    from inbounds.cli.explore.privatize import simulated  # noqa: PLC0415 - numerical libraries

    return simulated(asked)


def _pure_map() -> Any:
    from inbounds.cli.explore.regime_map import regime_map  # noqa: PLC0415 - numerical libraries

    return regime_map(0.0, 1)


def _delta(asked: Any) -> float:
    given = fields("request", asked, ("delta",))
    delta = number("delta", needed("request", given, "delta"))
    if not 0 <= delta < 1:
        raise ArgumentError.must_be("delta", "at least 0 and below 1", got=f"delta={delta:g}")
    return delta
