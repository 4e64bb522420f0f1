"""uvicorn's WebSocket protocol with bounds: messages in many pieces, pings without end, clients that read nothing. When the server stops, an answer's
last message is sent before the socket is closed.

What has arrived and was not yet taken by the application counts in the bytes that its user has in flight; the middleware
`bytes_in_flight` leaves the entry for it in the scope's state.
"""

from __future__ import annotations

from asyncio import TimerHandle
from collections import deque
from typing import TYPE_CHECKING, Any

from uvicorn.config import Config
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.frames import Frame
from websockets.http11 import Request

from duologue.gateway.connections.admission import Admission
from duologue.gateway.connections.bounds import RateWatch, SendProgress
from duologue.gateway.connections.guard import ConnectionGuard
from duologue.gateway.middleware.byte_ledger import HeldBytes
from duologue.gateway.middleware.bytes_in_flight import ARRIVING, TRY_AGAIN_LATER
from duologue.gateway.middleware.message_limit import MESSAGE_LIMIT
from duologue.gateway.middleware.socket_answers import SOCKET_ANSWERS, SocketAnswers

if TYPE_CHECKING:
    from uvicorn._types import ASGIReceiveEvent, ASGISendEvent

UNREAD_PONGS = 2**20
"""Bytes that a client may leave unread before its pings are no longer answered."""
LAST_MESSAGE_SECONDS = 0.7
"""Seconds that an answer has for its last message once the server closes its sockets; less than the second after which uvicorn cancels it."""
NOT_TEXT, TOO_SLOW = 1007, 1008
IN_FLIGHT = (
    "Too many bytes of yours are in flight. Wait for your other requests, or raise limits.in_flight_mb."
)


class GuardedSocketProtocol(WebSocketsSansIOProtocol):
    """One WebSocket. `admission` is the place of its connection."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        *,
        guard: ConnectionGuard,
    ) -> None:
        super().__init__(config, server_state, app_state)
        self.admission: Admission | None = None
        self._guard = guard
        self._sending = SendProgress(guard.settings)
        self._watch: RateWatch | None = None
        self._received = 0
        self._rest: bytearray | None = None
        """The message so far, when it comes in several frames."""
        self._waiting: deque[int] = deque()
        """The sizes of whole messages that the application has not received yet."""
        self._waiting_bytes = 0
        self._closed_by_application = False
        self._answers = SocketAnswers()
        self._close_by: TimerHandle | None = None
        guard.open.add(self)

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if not self.handshake_complete:  # else it was refused
            self.scope["state"][MESSAGE_LIMIT] = self._limit_messages
            self.scope["state"][SOCKET_ANSWERS] = self._answers

    def _limit_messages(self, size: int) -> None:
        self.conn.max_message_size = size

    def shutdown(self) -> None:
        """The server stops: close, after the last message of an answer that is under way."""
        if (
            self.transport.is_closing()
        ):  # the library would close it again, and its error would end the whole stop
            return
        if not self._answers.running or self.close_sent:
            super().shutdown()
        elif self._close_by is None:
            self._answers.on_end = self._close_now
            self._close_by = self.loop.call_later(LAST_MESSAGE_SECONDS, self._close_now)

    def _close_now(self) -> None:
        self._end_wait()
        if not self.transport.is_closing():
            super().shutdown()

    def _end_wait(self) -> None:
        self._answers.on_end = None
        if self._close_by is not None:
            self._close_by.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_wait()
        self._guard.open.discard(self)
        if self.admission is not None:
            self.admission.release()
        super().connection_lost(exc)
        self._drop_message()
        self._hold()

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        super().data_received(data)
        if not self._hold() and not self.close_sent and not self.transport.is_closing():
            self._drop_message()
            self.conn.fail(TRY_AGAIN_LATER, IN_FLIGHT)
            self.handle_parser_exception()

    async def send(self, message: ASGISendEvent) -> None:
        """Send what the application sends. Raises ClientDisconnected after this side closed the connection, for a wrong frame for
        example: the application may not know yet, but uvicorn would log its message as an error."""
        await self.writable.wait()
        if self.close_sent and not self._closed_by_application:
            raise ClientDisconnected
        if message["type"] == "websocket.close":
            self._closed_by_application = True
        await super().send(message)

    async def receive(self) -> ASGIReceiveEvent:
        message = await super().receive()
        if message["type"] == "websocket.receive":
            self._waiting_bytes -= self._waiting.popleft()
            self._hold()
        return message

    # One growing buffer: a list of frames of two bytes takes thirty times the memory of the message.

    def handle_text(self, event: Frame) -> None:
        self._rest = None
        super().handle_text(event)

    def handle_bytes(self, event: Frame) -> None:
        self._rest = None
        super().handle_bytes(event)

    def handle_cont(self, event: Frame) -> None:
        if self._rest is None:
            self._rest = bytearray().join(self.frames)
            self.frames = []
        self._rest += event.data
        if event.fin:
            self.frames = [bytes(self._rest)]
            self._rest = None
            self.send_receive_event_to_app()

    def send_receive_event_to_app(self) -> None:
        self._watch = None
        if self.curr_msg_data_type == "text" and not self.close_sent and not _is_text(self.frames):
            # uvicorn would log what this client sent as an error of the server, with a stack trace.
            self.frames = []
            self.conn.fail(NOT_TEXT, "invalid UTF-8")
            self.handle_parser_exception()
            return
        if not self.close_sent:
            self._waiting.append(sum(len(frame) for frame in self.frames))
            self._waiting_bytes += self._waiting[-1]
        super().send_receive_event_to_app()

    def handle_ping(self) -> None:
        if self.transport.get_write_buffer_size() > UNREAD_PONGS:
            self._guard.met("unread", self.client[0] if self.client else "")
            self.transport.abort()
            return
        super().handle_ping()

    def check(self, now: float) -> None:
        """End what takes too long. Called by the guard's sweep."""
        transport = self.transport
        if transport is None:
            return
        is_closing = transport.is_closing()
        if self._sending.verdict(now, transport.get_write_buffer_size(), is_closing=is_closing):
            if not is_closing:
                self._guard.met("unread", self.client[0] if self.client else "")
            transport.abort()
            return
        if not self._is_within_message() or is_closing:
            self._watch = None
            return
        if self._watch is None:
            self._watch = RateWatch(self._guard.settings, now, self._received)
        if self.read_paused:
            self._watch.pause(now, self._received)
        elif (bound := self._watch.verdict(now, self._received)) is not None:
            self._guard.met(bound, self.client[0] if self.client else "")
            self.conn.fail(TOO_SLOW, "the message arrived too slowly")
            self.handle_parser_exception()

    def _hold(self) -> bool:
        """Count what is here. False where the user would have too many bytes in flight."""
        # A handshake that was refused has no scope, one that is still on its way to the middleware has no entry.
        scope = getattr(self, "scope", None)
        held: HeldBytes | None = scope["state"].get(ARRIVING) if scope is not None else None
        if held is None:
            return True
        frames = sum(len(frame) for frame in self.frames) + len(self._rest or b"")
        return held.hold(len(self.conn.reader.buffer) + frames + self._waiting_bytes)

    def _drop_message(self) -> None:
        """Forget the message that is arriving."""
        self.frames, self._rest = [], None

    def _is_within_message(self) -> bool:
        return bool(
            self.handshake_complete and (self._rest is not None or self.frames or self.conn.reader.buffer)
        )


def _is_text(frames: list[bytes]) -> bool:
    try:
        b"".join(frames).decode()
    except UnicodeDecodeError:
        return False
    return True
