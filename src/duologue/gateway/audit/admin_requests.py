"""Records every request that is an act of an admin: middleware behind the authentication, in front of all routes.

The guards of `gateway/auth` mark such a request, so no route has to think of it; routes of other rooms are known by their path. The row is
written before the answer begins, so that who hears of an act finds it in the log.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duologue.gateway.audit.acts import Act, act_of, details_of, target_of, without_secrets
from duologue.gateway.audit.audit_log import Actor, AuditLog
from duologue.gateway.auth.rate_limit import TokenBucket
from duologue.gateway.middleware.address_group import address_group
from duologue.gateway.middleware.admin_act import READING, noted

if TYPE_CHECKING:
    from duologue.store.accounts.audit_rows import Outcome

BODY_BYTES = 16_384
"""Of a larger body only the path is kept."""
ATTEMPTS, ATTEMPT_SECONDS = 20, 60.0
"""Refused attempts of users who are no admins: so many at once, and one more in so many seconds, are recorded of all of them together."""

log = logging.getLogger(__name__)


class AdminRequests:
    """`clock` gives seconds."""

    def __init__(self, app: ASGIApp, audit: AuditLog, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._app = app
        self._audit = audit
        self._clock = clock
        self._attempts = TokenBucket(ATTEMPTS, ATTEMPT_SECONDS, clock())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in READING:
            await self._app(scope, receive, send)
            return
        request = _Watched(scope, receive)
        recorded = False

        async def send_recorded(message: Message) -> None:
            nonlocal recorded
            if message["type"] == "http.response.start" and not recorded:
                recorded = True
                await self._record(request, message["status"])
            await send(message)

        try:
            await self._app(scope, request.receive, send_recorded)
        finally:
            if not recorded:
                # It was cancelled or failed before it had an answer; what it did until then stays done.
                with anyio.CancelScope(shield=True):
                    await self._record(request, 500)

    async def _record(self, request: _Watched, status: int) -> None:
        act = request.act()
        if act is None:
            return
        state = request.scope["state"]
        role = state.get("role")
        if role != "admin" and self._attempts.take(self._clock()) > 0:
            log.info(
                "audit: %s was refused %s; too many such attempts to record them", state["user"], act.name
            )
            return
        body, known = request.body(), dict(noted(request.scope) or {})
        client = request.scope.get("client")
        actor = Actor(
            state.get("name") or state["user"],
            state["user"],
            state.get("key", ""),
            address_group(client[0]) if client else "",
        )
        target = without_secrets(known.pop("target", "") or target_of(act, request.path_parameters, body))
        details = details_of(act, body) | known | ({"status": status} if status >= 400 else {})
        outcome: Outcome = "done" if status < 400 else "refused" if status < 500 else "failed"
        await self._audit.record(actor, act.name, target, outcome=outcome, details=details)


class _Watched:
    """A request and the beginning of its body, as the routes read it."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self.scope = scope
        self._receive = receive
        self._read: bytearray | None = bytearray()

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request" and self._read is not None:
            self._read += message.get("body", b"")
            if len(self._read) > BODY_BYTES:
                self._read = None
        return message

    @property
    def path_parameters(self) -> dict[str, Any]:
        parameters: dict[str, Any] = self.scope.get("path_params", {})
        return parameters

    def act(self) -> Act | None:
        """What it is, None for a request that is no act of an admin."""
        path = _path_of(self.scope)
        if not path:
            return None
        act = act_of(self.scope["method"], path)
        if noted(self.scope) is None and not act.known_by_path:
            return None
        return act if not act.only_with or self.body().get(act.only_with) is not None else None

    def body(self) -> dict[str, Any]:
        """The JSON object that was read; {} for anything else."""
        try:
            body = json.loads(self._read or b"null")
        except (ValueError, RecursionError):
            return {}
        return body if isinstance(body, dict) else {}


def _path_of(scope: Scope) -> str:
    """The path of the route with the names of its parameters, without their converters; "" where no route was found."""
    path: str = getattr(scope.get("route"), "path", "")
    return path.replace(":path}", "}")
