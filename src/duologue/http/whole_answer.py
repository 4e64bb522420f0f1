"""An answer that takes a while and is sent in one piece: its work ends when the client leaves.

Used by routes that do not stream: embeddings, reranking, token counts, loading a model, and replies in one piece (`WholeReply`).
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from duologue.errors import Problem
from duologue.http.error_responses import refuse, request_id_of
from duologue.http.sse import while_connected
from duologue.queue_ticket import watched_queue

log = logging.getLogger(__name__)


class WholeAnswer(Response):
    """Answers with the JSON that `work` gives, or with the error that it raises; a client that disconnects earlier cancels it.
    `headers` are those of the JSON alone; both say which ticket the work had in the queue, and how long it waited."""

    def __init__(
        self, work: Callable[[], Awaitable[bytes]], headers: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        super().__init__()
        self._work, self._noted = work, headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with watched_queue() as queue:
            outcome = await while_connected(receive, self._outcome)
        if isinstance(outcome, bytes):
            headers = {"Cache-Control": "no-store"} | queue.headers | dict(self._noted)
            answer = Response(outcome, media_type="application/json", headers=headers)
            await answer(scope, receive, send)
        elif outcome is not None:
            if not isinstance(outcome, Problem):
                log.error("request %s failed", request_id_of(scope), exc_info=outcome)
            await refuse(scope, receive, send, outcome, queue.headers)

    async def _outcome(self) -> bytes | Exception:
        try:
            return await self._work()
        except Exception as error:  # noqa: BLE001 (the caller sends it to the client and logs it)
            return error
