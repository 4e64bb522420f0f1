"""uvicorn's HTTP protocol with bounds: what a client sends is counted before it is kept, and time is limited.

A thin shell around `bounds`. The parser is uvicorn's httptools; an exception from one of its callbacks stops it within the bytes
it was given, so nothing beyond a bound is parsed.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, cast

import httptools
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from duologue.errors import BadRequest, Problem
from duologue.gateway.connections.admission import Admission
from duologue.gateway.connections.bounds import (
    BODY,
    HEAD,
    PIPELINED,
    REFUSED,
    REFUSED_BYTES,
    Bound,
    Exceeded,
    RequestProgress,
    SendProgress,
)
from duologue.gateway.connections.guard import ConnectionGuard
from duologue.gateway.connections.refusals import answer, problem_of
from duologue.gateway.connections.socket_protocol import GuardedSocketProtocol

PIECE = 64 * 1024
"""Bytes that are parsed at once."""
NO_HANDSHAKE = BadRequest(
    "This is not a valid WebSocket handshake: a GET without a body, with no header over 8 KB.",
    code="invalid_http",
)
TURNED_AWAY = 64
"""Connections without a place that are open at once."""
TLS_HELLO = 0x16
"""The first byte of a TLS connection."""


class GuardedHttpProtocol(HttpToolsProtocol):
    """One connection. `admission` is its place in the table, if it has one already; else it asks for one. A WebSocket takes the
    place over."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        *,
        guard: ConnectionGuard,
        admission: Admission | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state)
        self._guard = guard
        self._admission = admission
        self._clock = guard.clock
        self._progress = RequestProgress(guard.settings, guard.clock())
        self._sending = SendProgress(guard.settings)
        self._is_turned_away = False
        self._has_body = False
        self._piece = 0
        """Bytes that are being parsed."""
        self.url = b""
        self._exceeded: Bound | None = None
        self._drop = 0
        """Bytes that a refused client may still send; they are dropped."""
        self.ws_protocol_class = cast(Any, partial(GuardedSocketProtocol, guard=guard))

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        guard = self._guard
        place = self._admission or guard.admit(self._peer())
        if not isinstance(place, Admission):
            self._turn_away(place)
            return
        self._admission = place
        guard.open.add(self)
        guard.idle[self] = None

    def connection_lost(self, exc: Exception | None) -> None:
        self._left()
        if self._admission is not None:
            self._admission.release()
        elif self._is_turned_away:
            self._guard.turned_away -= 1
        super().connection_lost(exc)

    def evict(self) -> None:
        self.transport.close()
        if self._admission is not None:
            self._admission.release()

    def _turn_away(self, bound: Bound) -> None:
        """Say that there is no place; a few at a time, because each takes a file until it has read that."""
        problem = problem_of(bound, self._guard.settings)
        if problem is None or self._guard.turned_away >= TURNED_AWAY:
            self.transport.abort()
            return
        self._guard.turned_away += 1
        self._is_turned_away = True
        self._guard.open.add(self)
        self._progress.refused(self._clock())
        self._drop = REFUSED_BYTES
        self._send_refusal(problem)

    def data_received(self, data: bytes) -> None:
        self._unset_keepalive_if_required()
        if len(data) <= PIECE:
            self._parse(data)
            return
        for start in range(0, len(data), PIECE):
            self._parse(data[start : start + PIECE])

    def _parse(self, data: bytes) -> None:
        progress = self._progress
        if progress.reading is REFUSED:
            self._drop -= len(data)
            if self._drop < 0:
                self.transport.abort()
            return
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            return
        progress.received(self._clock())
        before = progress.reading
        self._has_body = False
        self._piece = len(data)
        try:
            self.parser.feed_data(data)
            if progress.reading is HEAD:
                progress.head_continues(len(data), len(self.url))
            elif self._has_body:
                progress.parsed()
            elif before is BODY:
                progress.parsed_nothing(len(data))
        except httptools.HttpParserUpgrade as upgrade:
            if self._should_upgrade():
                self.handle_websocket_upgrade()
            elif self.parser.get_method() == b"CONNECT":
                self._refuse("invalid")
            else:
                self._parse_without_upgrade(data[upgrade.args[0] :])
        except Exceeded as exceeded:
            self._refuse(exceeded.bound)
        except httptools.HttpParserError:
            if self._exceeded is None and self.cycle is None and data[0] == TLS_HELLO:
                self.transport.abort()  # nothing that this client would understand could be said
                return
            self._refuse(self._exceeded or "invalid")

    def _parse_without_upgrade(self, rest: bytes) -> None:
        """Begin again with a request that offers another protocol than WebSocket, such as h2c, and ignore the offer; `rest` is what
        follows its headers. The parser takes every offer for accepted: the body would be lost, or read as the next request."""
        version = self.parser.get_http_version().encode()
        head = [self.parser.get_method(), b" ", self.url, b" HTTP/", version, b"\r\n"]
        for name, value in self.headers:
            if name != b"upgrade":
                head += [name, b": ", value, b"\r\n"]
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn does
        self._parse(b"".join([*head, b"\r\n", rest]))

    def handle_websocket_upgrade(self) -> None:
        self._left()
        super().handle_websocket_upgrade()
        protocol = self.transport.get_protocol()
        assert isinstance(protocol, GuardedSocketProtocol)
        protocol.admission = self._admission
        if not protocol.handshake_initiated:
            # The WebSocket protocol says nothing to what it cannot read: another method, a body, a very long header.
            self._guard.met("invalid", self._peer())
            self.transport.write(answer(NO_HANDSHAKE, self.url.decode("latin-1").partition("?")[0]))
            self.transport.close()

    # The parser's callbacks. What they raise stops the parser, which reports an error of its own.

    def on_message_begin(self) -> None:
        self._progress.received(self._clock())
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        is_answering = self._is_answering()
        if len(self.pipeline) >= PIPELINED or (is_answering and self.parser.should_upgrade()):
            self._exceeded = "pipeline"
            raise Exceeded("pipeline")
        progress = self._progress
        try:
            progress.check_head(len(self.url), self.headers, self._piece)
        except Exceeded as exceeded:
            self._exceeded = exceeded.bound
            raise
        if self._is_offer_ignored():
            return
        progress.head_complete(self._clock())
        self._guard.idle.pop(self, None)
        super().on_headers_complete()
        if not self.parser.should_upgrade():
            self.headers = []  # what follows are trailers, which nobody here reads

    def on_body(self, body: bytes) -> None:
        self._has_body = True
        self._progress.body += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        if self._is_offer_ignored():
            return
        self._progress.request_complete()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self.transport.is_closing() and not self._is_answering():
            self._guard.idle[self] = None

    def send_400_response(self, msg: str) -> None:
        self._refuse("invalid")

    # Time

    def check(self, now: float) -> None:
        """End what takes too long. Called by the guard's sweep."""
        transport = self.transport
        unsent = transport.get_write_buffer_size()
        if self._sending.verdict(now, unsent, is_closing=transport.is_closing()):
            if not transport.is_closing():
                self._guard.met("unread", self._peer())
            transport.abort()
            return
        if self._progress.is_done_with(now) and not self._is_owed():
            transport.close()
        elif (bound := self._progress.verdict(now, is_paused=self.flow.read_paused)) is not None:
            self._refuse(bound)

    # Refusing

    def _refuse(self, bound: Bound) -> None:
        """Answer with what was exceeded, if the client can still be answered, and close; listen a little longer, because many
        clients read an answer only after they have sent everything."""
        self._guard.met(bound, self._peer())
        self._guard.idle.pop(self, None)
        is_body = self._progress.reading is BODY
        self._progress.refused(self._clock())
        self._drop = REFUSED_BYTES
        problem = problem_of(bound, self._guard.settings)
        cycle = self.cycle
        if problem is None or (is_body and cycle.response_complete):
            self.transport.close()
        elif not self._is_answering():
            self._send_refusal(problem)
        elif not is_body:
            # The refused request is the next one: those before it are still answered.
            cycle.keep_alive = False
        else:
            can_be_told = not self.pipeline and not cycle.response_started
            # The application must not wait for the rest of the body.
            cycle.disconnected = True
            cycle.message_event.set()
            if can_be_told:
                self._send_refusal(problem)
            else:
                self.transport.close()

    def _send_refusal(self, problem: Problem) -> None:
        path = ""
        has_body = True
        if self.scope is not None:
            path = self.scope.get("path") or self.url.decode("latin-1").partition("?")[0]
            has_body = self.scope.get("method") != "HEAD"
        self.flow.resume_reading()
        self.transport.write(answer(problem, path, has_body=has_body))
        if self.transport.can_write_eof():
            self.transport.write_eof()

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _is_offer_ignored(self) -> bool:
        """Whether the request offers a protocol that is not spoken here, and is parsed again without the offer."""
        return self.parser.should_upgrade() and not self._should_upgrade()

    def _is_owed(self) -> bool:
        """Whether an answer is still being given to this client."""
        return self._is_answering() and not self.cycle.disconnected

    def _left(self) -> None:
        self._guard.open.discard(self)
        self._guard.idle.pop(self, None)

    def _peer(self) -> str:
        return self.client[0] if self.client else ""
