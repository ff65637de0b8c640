"""HTTP as uvicorn reads it, with our headers on its own refusals, and an end to waiting."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from inbounds.cli.explore.guard import HEADERS, KNOWN

MOST_CONNECTIONS = 400
_SECONDS = 15.0  # between looks at a connection


class Protocol(H11Protocol):
    """A connection that must ask for something now and then.

    Others on the same machine can open connections, though they cannot ask for anything.
    """

    _look: asyncio.TimerHandle | None = None
    _seen: Any = None
    _since = 0.0

    def connection_made(self, transport: Any) -> None:
        """Take a connection; if there are too many, as many that are not the page's must go."""
        super().connection_made(transport)
        self._since = self.loop.time()
        if (more := len(self.connections) - MOST_CONNECTIONS) > 0:
            others = [c for c in self.connections if isinstance(c, Protocol) and c is not self]
            going = [c for c in others if c._is_idle or not c._is_known]
            for other in sorted(going, key=_first_to_go)[:more]:
                other.transport.close()
        self._look = self.loop.call_later(_SECONDS, self._look_again)

    @property
    def _is_idle(self) -> bool:
        cycle: Any = self.cycle  # None before the first request
        return cycle is None or bool(cycle.response_complete)

    @property
    def _is_known(self) -> bool:
        """Whether the last request showed that it knows the token."""
        cycle: Any = self.cycle
        return cycle is not None and cycle.scope.get(KNOWN, False)

    def close_if_idle(self) -> None:
        """Close the connection unless a request is being served."""
        if self._is_idle:
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        if self._look is not None:
            self._look.cancel()
        super().connection_lost(exc)

    def _look_again(self) -> None:
        """Close a connection that has asked for nothing since the last look."""
        if self.cycle is self._seen:
            self.close_if_idle()
        self._seen = self.cycle
        self._look = self.loop.call_later(_SECONDS, self._look_again)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP, with the same headers as everything else."""
        body = b'{"error": "this is not a valid HTTP request."}'
        headers = [("content-type", "application/json"), ("connection", "close"), *HEADERS.items()]
        headers.append(("content-length", str(len(body))))
        answer = h11.Response(status_code=400, headers=headers, reason=b"Bad Request")
        for event in (answer, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event))
        self.transport.close()


def _first_to_go(connection: Protocol) -> tuple[bool, float]:
    """Order connections: those of whom nothing is known first, and older ones first.

    A connection that was just opened is likely to ask at once.
    """
    return connection._is_known, connection._since
