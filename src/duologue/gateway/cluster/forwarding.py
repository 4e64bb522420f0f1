"""Forwards requests about something that another gateway has, so that clients may use any gateway.

Two middlewares. `HopReader`, outside of authentication, takes the client's address from the header of a gateway that forwards a request. `Forwarding`, inside, sees from
the path what the request is about (`held_things`) and sends it to the owner, streamed both ways. A forwarded request is answered where it
arrives, so there are no loops. It carries the user's own key or login, which the owner checks again: no gateway can act for a user.
`call_forwarding` does the same for the sockets of calls.
"""

from __future__ import annotations

import logging
import ssl
import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import anyio
import anyio.abc
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duologue.errors import Problem, TooLarge
from duologue.gateway.cluster.files_elsewhere import note_request
from duologue.gateway.cluster.gathered_lists import gathered
from duologue.gateway.cluster.held_things import (
    HeldThing,
    held_thing,
    mark_of,
    owner_gone,
    owner_unreachable,
)
from duologue.gateway.cluster.hop import HEADER, Hop, signed, verified
from duologue.gateway.middleware.headers import header_values
from duologue.gateway.middleware.proxy import base_of
from duologue.http.error_responses import refuse
from duologue.notifier import Notifier
from duologue.values.cluster.gateway_entry import GatewayEntry

if TYPE_CHECKING:
    import httpx

log = logging.getLogger(__name__)

CONNECT_S, SILENT_S, WRITE_S = 3.0, 120.0, 60.0
"""Time limits in seconds: to reach the owner, between two pieces that it sends (streams send a comment every 15 s), and for it to take one."""
PART_S = 3.0
"""Seconds that a gateway has to give its part of a list."""
MOST_CONNECTIONS = 200
MOST_BODY = 16 * 2**20
"""Bytes of a request that is tried here first, kept to be sent again."""
NOT_PASSED_ON = frozenset(
    b"host connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade origin expect".split()
)
"""Headers between two machines, and those whose checks are done: Host and Origin name the gateway that the client spoke to."""
ANSWERED_HERE = frozenset(
    b"connection keep-alive transfer-encoding upgrade date server x-request-id request-id".split()
)


class OwnerOf(Protocol):
    """The gateway that claimed something: `ClaimRows.owner`."""

    async def __call__(self, name: str) -> str | None: ...


class Neighbours:
    """What forwarding knows of the other gateways. `join` fills it in; before that, and without other gateways, nothing is forwarded."""

    def __init__(self) -> None:
        self.gateway = ""
        self.secret = b""
        self.living: Callable[[], Sequence[GatewayEntry]] = tuple
        self.changed = Notifier()
        """Wakes when gateways have come or gone."""
        self.owner: OwnerOf | None = None
        self.has_temporary: Callable[[str], bool] = lambda conversation: False
        self._client: httpx.AsyncClient | None = None

    @property
    def others(self) -> list[GatewayEntry]:
        """The other living gateways."""
        return [entry for entry in self.living() if entry.id != self.gateway] if self.gateway else []

    async def owner_of(self, thing: HeldThing) -> GatewayEntry | None:
        """The other gateway that has something; None if this one answers. Raises Problem if the owner is gone."""
        others = self.others
        if thing.how == "mark":
            return next((entry for entry in others if mark_of(entry.id) == thing.name), None)
        kind, _, id = thing.name.partition(":")
        is_temporary = kind == "conversation"
        if self.owner is None or (is_temporary and self.has_temporary(id)):
            return None
        owner = await self.owner(thing.name)
        if owner is None or owner == self.gateway:
            return None
        found = next((entry for entry in others if entry.id == owner), None)
        if found is None and is_temporary:
            raise owner_gone()
        return found

    async def until_lost(self, entry: GatewayEntry) -> None:
        """Return once the lease of another gateway is over. One that is suspended keeps its connections open, and says nothing."""
        while any(other.id == entry.id for other in self.others):
            await self.changed.wait()

    def headers(self, scope: Scope) -> list[tuple[bytes, bytes]]:
        """The headers with which another gateway gets this request: the client's own, and the name of this gateway."""
        client = scope["client"][0] if scope.get("client") else ""
        hop = signed(self.secret, Hop(self.gateway, client), _method(scope), target_of(scope), time.time())
        kept = [
            (name, value)
            for name, value in scope["headers"]
            if name not in NOT_PASSED_ON
            and name not in (b"x-request-id", b"forwarded")
            and not name.startswith((b"x-forwarded-", b"sec-fetch-", b"sec-websocket-"))
        ]
        id = str(scope.get("state", {}).get("request_id", "")).encode()
        return [*kept, (HEADER, hop), (b"x-request-id", id)]

    def http(self) -> httpx.AsyncClient:
        """The client with which this gateway asks them."""
        if self._client is None:
            import httpx

            self._client = httpx.AsyncClient(
                timeout=httpx.Timeout(SILENT_S, connect=CONNECT_S, write=WRITE_S, pool=CONNECT_S),
                limits=httpx.Limits(max_connections=MOST_CONNECTIONS, max_keepalive_connections=8),
                verify=ssl.create_default_context(),
                trust_env=False,
                follow_redirects=False,
            )
        return self._client


class HopReader:
    """Restores the client's own address in requests that another gateway forwards."""

    def __init__(self, app: ASGIApp, neighbours: Neighbours) -> None:
        self._app, self._neighbours = app, neighbours

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket") and self._neighbours.gateway:
            values = header_values(scope, HEADER)
            if len(values) == 1:
                value = values[0].encode("latin-1")
                secret, now = self._neighbours.secret, time.time()
                hop = verified(secret, value, _method(scope), target_of(scope), now)
                if hop is not None and hop.client:
                    scope["client"] = (hop.client, 0)
        await self._app(scope, receive, send)


class Forwarding:
    """Forwards requests to the gateway that can answer them."""

    def __init__(self, app: ASGIApp, neighbours: Neighbours) -> None:
        self._app, self._neighbours = app, neighbours

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        note_request(scope)
        thing = self._thing(scope)
        if thing is None:
            await self._app(scope, receive, send)
            return
        try:
            if thing.how == "ask":
                await self._ask_around(thing, scope, receive, send)
                return
            if thing.how == "gather":
                await self._gather(thing.name, scope, receive, send)
                return
            owner = await self._neighbours.owner_of(thing)
        except Problem as problem:
            await refuse(scope, receive, send, problem)
            return
        if owner is None:
            await self._app(scope, receive, send)
        else:
            await self._pass_on(owner, scope, receive, send)

    def _thing(self, scope: Scope) -> HeldThing | None:
        if scope["type"] != "http" or not self._neighbours.gateway or header_values(scope, HEADER):
            return None
        thing = held_thing(scope["method"], scope["path"])
        # The last gateway too knows by their claims what was lost with the others.
        is_asked = thing is not None and (thing.how == "claim" or self._neighbours.others)
        return thing if is_asked else None

    async def _ask_around(self, thing: HeldThing, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer here; if this gateway does not have it, by the gateway that does."""
        if (body := await _whole_body(receive)) is None:
            return  # the client left
        probe = _Probe(send, thing.missing)
        await self._app(scope, _replayed(body, receive), probe)
        if not probe.held:
            return
        unreachable: Problem | None = None
        for entry in self._neighbours.others:
            other = _Probe(send, thing.missing)
            try:
                await self._exchange(entry, scope, _replayed(body, receive), other)
            except Problem as problem:
                if other.has_passed:
                    raise _broken_off() from None
                # It may be the one that has it. A gateway without an address cannot be asked at all.
                unreachable = problem if entry.address else unreachable
                continue
            if not other.held:
                return
        if unreachable is not None:
            await refuse(scope, receive, send, unreachable)
            return
        for message in probe.held:
            await send(message)

    async def _gather(self, name: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the parts of a list that the gateways have. One that does not answer soon is left out."""
        own = _Answer()
        parts: list[bytes] = []
        async with anyio.create_task_group() as tasks:
            for entry in self._neighbours.others:
                tasks.start_soon(self._read_part, entry, scope, parts)
            await self._app(scope, receive, own)
        if own.status == 200:
            own.replace_body(gathered(name, own.body, parts))
        for message in own.messages:
            await send(message)

    async def _read_part(self, entry: GatewayEntry, scope: Scope, parts: list[bytes]) -> None:
        import httpx

        if not entry.address:
            return
        headers = [(key, value) for key, value in self._headers(scope) if key != b"accept-encoding"]
        address = entry.address.rstrip("/") + target_of(scope)
        try:
            with anyio.fail_after(PART_S):
                answer = await self._neighbours.http().get(address, headers=headers)
        except (httpx.HTTPError, OSError) as error:
            log.warning("the gateway at %s does not answer: %s", entry.address, type(error).__name__)
            return
        if answer.status_code == 200:
            parts.append(answer.content)

    async def _pass_on(self, entry: GatewayEntry, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def counted(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._exchange(entry, scope, receive, counted)
        except Problem as problem:
            if begun:
                raise _broken_off() from None
            await refuse(scope, receive, send, problem)

    async def _exchange(self, entry: GatewayEntry, scope: Scope, receive: Receive, send: Send) -> None:
        """One request to another gateway and its answer, both streamed. Raises Unavailable if it cannot be reached, or is lost meanwhile."""
        if not entry.address:
            raise owner_unreachable()
        broken: Exception | None = None
        is_over = False
        async with anyio.create_task_group() as tasks:

            async def watch() -> None:
                await self._neighbours.until_lost(entry)
                log.warning("the gateway at %s is lost; what it was asked is given up", entry.address)
                tasks.cancel_scope.cancel()

            tasks.start_soon(watch)
            try:
                await self._ask(entry, scope, receive, send)
            except Exception as error:  # noqa: BLE001
                # Raised outside of the task group, which would wrap it.
                broken = error
            is_over = True
            tasks.cancel_scope.cancel()
        if broken is not None:
            raise broken
        if not is_over:
            raise owner_unreachable()

    async def _ask(self, entry: GatewayEntry, scope: Scope, receive: Receive, send: Send) -> None:
        """As `_exchange`, however long the other gateway says nothing."""
        import httpx

        request = self._neighbours.http().build_request(
            scope["method"],
            entry.address.rstrip("/") + target_of(scope),
            headers=self._headers(scope),
            content=_body(receive) if _has_body(scope) else None,
        )
        try:
            answer = await self._neighbours.http().send(request, stream=True)
        except _ClientLeft:
            return
        except (httpx.HTTPError, OSError) as error:
            log.warning("the gateway at %s does not answer: %s", entry.address, type(error).__name__)
            raise owner_unreachable() from None
        try:
            await _answer(answer, receive, send)
        except httpx.HTTPError as error:
            log.warning("the gateway at %s broke off: %s", entry.address, type(error).__name__)
            raise owner_unreachable() from None
        finally:
            with anyio.CancelScope(shield=True):
                await answer.aclose()

    def _headers(self, scope: Scope) -> list[tuple[bytes, bytes]]:
        # Every server answers to this name, whatever its own is.
        return [*self._neighbours.headers(scope), (b"host", b"localhost")]


class _Probe:
    """A `send` that keeps an answer with one of these statuses, and passes any other on."""

    def __init__(self, send: Send, missing: Sequence[int]) -> None:
        self._send, self._missing = send, missing
        self.held: list[Message] = []
        self.has_passed = False
        """Whether something was passed on."""

    async def __call__(self, message: Message) -> None:
        if self.held or (message["type"] == "http.response.start" and message["status"] in self._missing):
            self.held.append(message)
        else:
            self.has_passed = True
            await self._send(message)


class _Answer:
    """A `send` that keeps a whole answer, to be changed."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    async def __call__(self, message: Message) -> None:
        self.messages.append(message)

    @property
    def status(self) -> int:
        return int(self.messages[0]["status"]) if self.messages else 0

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.messages[1:])

    def replace_body(self, body: bytes) -> None:
        start = self.messages[0]
        headers = [(name, value) for name, value in start["headers"] if name.lower() != b"content-length"]
        headers.append((b"content-length", str(len(body)).encode()))
        self.messages = [{**start, "headers": headers}, {"type": "http.response.body", "body": body}]


async def _answer(answer: httpx.Response, receive: Receive, send: Send) -> None:
    """Pass an answer on as it comes; the rest is dropped when the client leaves. Raises what reading and sending raise."""
    broken: Exception | None = None
    headers = [
        (name.lower(), value) for name, value in answer.headers.raw if name.lower() not in ANSWERED_HERE
    ]
    async with anyio.create_task_group() as tasks:

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            tasks.cancel_scope.cancel()

        tasks.start_soon(watch)
        try:
            await send({"type": "http.response.start", "status": answer.status_code, "headers": headers})
            async for piece in answer.aiter_raw():
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        except Exception as error:  # noqa: BLE001
            # Raised outside of the task group, which would wrap it.
            broken = error
        tasks.cancel_scope.cancel()
    if broken is not None:
        raise broken


class _ClientLeft(OSError):
    """The client left while it sent its body."""


def _broken_off() -> OSError:
    """An answer that has begun cannot be finished; told as a server tells that its client has left."""
    return OSError("the other gateway broke off")


async def _body(receive: Receive) -> AsyncIterator[bytes]:
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise _ClientLeft
        if piece := message.get("body", b""):
            yield piece
        if not message.get("more_body"):
            return


async def _whole_body(receive: Receive) -> bytes | None:
    """The body; None for one that broke off. Raises TooLarge."""
    body = bytearray()
    try:
        async for piece in _body(receive):
            body += piece
            if len(body) > MOST_BODY:
                raise TooLarge(f"The body of this request may have up to {MOST_BODY:,} bytes.")
    except _ClientLeft:
        return None
    return bytes(body)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives this body first."""
    is_given = False

    async def replay() -> Message:
        nonlocal is_given
        if not is_given:
            is_given = True
            return {"type": "http.request", "body": body, "more_body": False}
        return await receive()

    return replay


def _has_body(scope: Scope) -> bool:
    return any(name in (b"content-length", b"transfer-encoding") for name, _ in scope["headers"])


def _method(scope: Scope) -> str:
    """A WebSocket's request has no method in its scope."""
    return str(scope.get("method", "GET"))


def target_of(scope: Scope) -> str:
    """Path and query, as they were sent, without the path that a proxy put before it."""
    raw = scope.get("raw_path") or scope["path"].encode()
    path = raw.decode("latin-1").removeprefix(base_of(scope))
    query = scope.get("query_string", b"").decode("latin-1")
    return f"{path}?{query}" if query else path
