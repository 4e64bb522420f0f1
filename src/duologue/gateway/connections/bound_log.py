"""One line in the log when a bound is met, and no more than one a minute for each: pure. `guard` writes the lines."""

from __future__ import annotations

from duologue.gateway.connections.bounds import Bound

LINE_SECONDS = 60.0

SENTENCES: dict[Bound, str] = {
    "request_line": "refused a request whose address is too long (connections.request_line_kb)",
    "headers": "refused a request whose headers are too many or too large (connections.headers, connections.header_kb)",
    "first_byte": "closed a connection on which nothing was sent (connections.first_byte_s)",
    "header_time": "closed a connection whose headers took too long (connections.header_s)",
    "body_time": "closed a connection whose request took too long (connections.body_s)",
    "body_rate": "closed a connection whose request arrived too slowly (connections.body_rate_kb)",
    "unread": "closed a connection whose client took nothing of its answer (connections.unread_s)",
    "pipeline": "refused requests that were sent before their predecessors were answered",
    "invalid": "refused a request that is not HTTP",
    "handshake": "closed a connection without a TLS handshake (connections.handshake_s)",
    "per_address": "refused a connection: this address has too many (connections.per_address)",
    "total": "refused a connection: too many are open (connections.total)",
    "evicted": "closed an idle connection to make room for a new one (connections.total)",
    "open_files": "no connection can be accepted: the system's limit on open files is reached",
}


class BoundLog:
    """Which lines are due."""

    def __init__(self) -> None:
        self._due: dict[Bound, float] = {}
        self._missed: dict[Bound, int] = {}

    def line(self, bound: Bound, peer: str, now: float) -> str | None:
        """The line to log when `bound` is met by `peer`; None if one was logged within the last minute."""
        if now < self._due.get(bound, now):
            self._missed[bound] = self._missed.get(bound, 0) + 1
            return None
        self._due[bound] = now + LINE_SECONDS
        missed = self._missed.pop(bound, 0)
        more = f", and {missed} more since the last such line" if missed else ""
        origin = f", from {peer}" if peer else ""
        return SENTENCES[bound] + origin + more
