"""The duplex socket, `/ws/duplex/{session_id}`: a call in chunks of audio, all of it JSON.

Owns which session a socket gets: a new one, one whose client was disconnected, or none. Messages are in `wire.calls.duplex`, the
session is in `duplex_session`.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

import anyio
import anyio.abc
from fastapi import APIRouter, WebSocket
from starlette.websockets import WebSocketDisconnect, WebSocketState

from duologue.errors import Busy, Problem, Unavailable
from duologue.gateway.apps.modes import SWITCHED_OFF
from duologue.gateway.calls.call_services import CallServices
from duologue.gateway.duplex.duplex_session import NORMAL, REFUSED, DuplexSession
from duologue.gateway.middleware.socket_answers import answering
from duologue.http.error_responses import problem_body, request_id_of
from duologue.request_parsing import parsing
from duologue.wire.calls import duplex

log = logging.getLogger(__name__)

NOT_ALLOWED = 1008
LEFT = (1000, 1001, 1005)
"""Close codes of clients that have left: 1005 is a close without a code."""


class DuplexSessions:
    """Every duplex session, by its user and id. Sessions run here, because they outlive their sockets."""

    def __init__(self, services: CallServices, *, most: int = 20) -> None:
        self.services = services
        self._most = most
        self._sessions: dict[tuple[str, str], DuplexSession] = {}
        self._tasks: anyio.abc.TaskGroup | None = None

    async def run(self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Run the sessions until cancelled."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            task_status.started()
            await anyio.sleep_forever()

    def claim(self, user: str, id: str, request_id: str, model: str = "") -> DuplexSession:
        """The session of this id: one whose client was disconnected, or a new one, for `model` if that is named. Raises Problem."""
        if self._tasks is None:
            raise Unavailable("The server is starting. Try again in a moment.")
        if (session := self._sessions.get((user, id))) is not None and not session.ending:
            if session.taken:
                raise Problem(
                    f"The session {id} is in use by another socket.", code="session_running", status=409
                )
            return session
        own = [each for (owner, _), each in self._sessions.items() if owner == user]
        if len(own) >= self._most:
            raise Busy(
                f"You have {self._most} open sessions, the most allowed (setting limits.sockets_per_user); end one of them.",
                code="too_many_sockets",
            )
        session = self._sessions[user, id] = DuplexSession(
            id, user, self.services, model=model, request_id=request_id
        )
        self._tasks.start_soon(self._run_session, session)
        return session

    async def _run_session(self, session: DuplexSession) -> None:
        try:
            await session.run()
        finally:
            if self._sessions.get((session.user, session.id)) is session:
                del self._sessions[session.user, session.id]


def router(sessions: DuplexSessions) -> APIRouter:
    """The endpoint."""
    routes = APIRouter()

    @routes.websocket("/ws/duplex/{session_id}")
    async def duplex_socket(socket: WebSocket, session_id: str) -> None:
        await socket.accept()
        await DuplexSocket(socket, sessions).serve(duplex.sanitised(session_id))

    return routes


class DuplexSocket:
    """One client's socket, accepted already."""

    def __init__(self, socket: WebSocket, sessions: DuplexSessions) -> None:
        self._socket, self._sessions = socket, sessions
        self._request_id = request_id_of(socket.scope)
        self._user = str(socket.scope.get("state", {}).get("user", "local"))
        self._ended = anyio.Event()
        self._ending = (NORMAL, "")
        self._left = False

    async def serve(self, id: str) -> None:
        """Claim the session and serve it."""
        try:
            model = self._socket.query_params.get("model", "")
            await self._sessions.services.wake(model)
            session = self._sessions.claim(self._user, id, self._request_id, model)
        except Problem as problem:
            code = NOT_ALLOWED if problem.code in ("session_running", SWITCHED_OFF) else REFUSED
            await self.write([duplex.error_message(problem)])
            await self._close(code, problem.code)
            return
        with answering(self._socket.scope):
            await self._serve_session(session)

    async def _serve_session(self, session: DuplexSession) -> None:
        """Run the socket, and close it. A server that stops lets the session say why it ends."""
        await session.attach(self)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._read, session)
                await self._ended.wait()
                tasks.cancel_scope.cancel()
        except Exception as error:
            log.exception("the socket of session %s failed", self._request_id)
            body = problem_body(error, self._socket.scope["path"], self._request_id)["error"]
            await self.write([duplex.error_message(Problem(body["message"], code=body["code"]))])
            self._ending = (REFUSED, body["code"])
        finally:
            session.detach(self, left=self._left)
        await self._close(*self._ending)

    async def write(self, messages: Sequence[str]) -> None:
        """Send messages; dropped if the client is gone."""
        try:
            for message in messages:
                await self._socket.send_text(message)
        except (RuntimeError, WebSocketDisconnect):
            log.debug("the client of session %s is gone", self._request_id)

    def end(self, code: int, reason: str) -> None:
        """The session no longer needs this socket: close it."""
        self._ending = (code, reason)
        self._ended.set()

    async def _read(self, session: DuplexSession) -> None:
        while True:
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                # uvicorn gives 1005 for a lost connection too, but a reason only with a close frame.
                self._left = "reason" in message and message.get("code") in LEFT
                self._ended.set()
                return
            try:
                frame = message.get("text")
                data = message["bytes"] if frame is None else frame
                limits = self._sessions.services.limits
                await session.take(await parsing(len(data), duplex.decode, data, limits, user=self._user))
            except Problem as problem:
                await self.write([duplex.error_message(problem)])

    async def _close(self, code: int, reason: str) -> None:
        if self._socket.client_state is not WebSocketState.CONNECTED:
            return
        try:
            await self._socket.close(code, reason)
        except (RuntimeError, WebSocketDisconnect):
            log.debug("the socket of session %s was already gone", self._request_id)
