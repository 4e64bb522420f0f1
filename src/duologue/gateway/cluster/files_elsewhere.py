"""Reads files of temporary chats from the gateway that received them.

A file is sent before its message, and a proxy may give the two to different gateways. `conversations/files/blobs.py` asks when it does not know a file. As with
forwarded requests (`forwarding`), the user's own key or login goes along, and is checked there.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING
from urllib.parse import unquote

from starlette.types import Scope

from duologue.gateway.cluster.held_things import owner_unreachable
from duologue.gateway.cluster.hop import HEADER
from duologue.gateway.middleware.headers import header_values

if TYPE_CHECKING:
    import httpx

    from duologue.conversations.files.blobs import FoundFile
    from duologue.gateway.cluster.forwarding import Neighbours

log = logging.getLogger(__name__)

PATH = "/api/blobs/"
CREDENTIALS = frozenset((b"authorization", b"x-api-key", b"cookie", b"x-request-id", HEADER))

asking: ContextVar[Scope | None] = ContextVar("asking", default=None)
"""The request that this task works for, if it may ask other gateways for files."""


def note_request(scope: Scope) -> None:
    """A request has arrived. If another gateway sent it to read a file, this one asks no further gateways."""
    if scope["type"] == "http":
        is_asked_for = scope["path"].startswith(PATH) and header_values(scope, HEADER)
        asking.set(None if is_asked_for else scope)


class FilesElsewhere:
    def __init__(self, neighbours: Neighbours) -> None:
        self._neighbours = neighbours

    @asynccontextmanager
    async def __call__(self, hash: str) -> AsyncIterator[FoundFile | None]:
        """The file of this hash, if another gateway has it for the user of this task."""
        import httpx

        from duologue.conversations.files.blobs import FoundFile

        scope = asking.get()
        others = () if scope is None else [entry for entry in self._neighbours.others if entry.address]
        async with AsyncExitStack() as stack:
            for entry in others:
                assert scope is not None
                asked = self._neighbours.http().stream(
                    "GET", entry.address.rstrip("/") + PATH + hash, headers=self._headers(scope, hash)
                )
                try:
                    answer = await stack.enter_async_context(asked)
                except (httpx.HTTPError, OSError) as error:
                    log.warning("the gateway at %s does not answer: %s", entry.address, type(error).__name__)
                    continue
                if answer.status_code == 200:
                    yield FoundFile(_name_of(answer), answer.headers.get("content-type", ""), _pieces(answer))
                    return
            yield None

    def _headers(self, scope: Scope, hash: str) -> list[tuple[bytes, bytes]]:
        state = {**scope.get("state", {}), "base_path": ""}
        request = {
            **scope,
            "method": "GET",
            "path": PATH + hash,
            "raw_path": None,
            "query_string": b"",
            "state": state,
        }
        kept = [(name, value) for name, value in self._neighbours.headers(request) if name in CREDENTIALS]
        return [*kept, (b"host", b"localhost"), (b"accept-encoding", b"identity")]


def _name_of(answer: httpx.Response) -> str:
    """As `/api/blobs` tells it."""
    return unquote(answer.headers.get("content-disposition", "").partition("filename*=UTF-8''")[2])


async def _pieces(answer: httpx.Response) -> AsyncIterator[bytes]:
    import httpx

    try:
        async for piece in answer.aiter_bytes():
            yield piece
    except httpx.HTTPError:
        raise owner_unreachable() from None
