"""Refuses requests that begin work while the server drains, and counts those that were admitted.

What only reads, signs in, or ends and steers running work passes: the page stays usable, and an admin can undo the drain. A batch
passes too: it is stored, and its lines wait. Stands behind authentication.
"""

from __future__ import annotations

import re

from starlette.types import ASGIApp, Receive, Scope, Send

from duologue.gateway.life.drain import Drain
from duologue.http.error_responses import refuse

WORK = re.compile(
    r"(/v1)?/chat/completions|/v1/completions|/completions?|/infill"
    r"|/v1/responses|/v1/messages"
    r"|/v1/embeddings|/embedding|(/v1|/v2)?/rerank|(/v1)?/reranking|(/v1)?/score"
    r"|/v1/audio/(speech|transcriptions|translations)"
    r"|/api/conversations/[^/]+/(runs|compact|title)"
    r"|/api/avatars/[^/]+/clips"
    r"|/api/assets/ref_audio/[^/]+/transcript"
    # Ollama's, on its own port.
    r"|/api/(chat|generate|embed|embeddings)"
)
"""The paths whose POST has a model or the voice work."""
SOCKETS = re.compile(r"/ws/(chat|voice|duplex/[^/]+)")


def begins_work(kind: str, method: str, path: str) -> bool:
    """Whether a request (`kind` "http" or "websocket") begins work."""
    if kind == "websocket":
        return SOCKETS.fullmatch(path) is not None
    return kind == "http" and method == "POST" and WORK.fullmatch(path.rstrip("/")) is not None


class WorkGate:
    """The middleware. A socket is not counted: what runs on it has a slot or a seat, and an idle one keeps no server from stopping."""

    def __init__(self, app: ASGIApp, drain: Drain) -> None:
        self._app = app
        self._drain = drain

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        kind = scope["type"]
        if not begins_work(kind, scope.get("method", ""), scope.get("path", "")):
            await self._app(scope, receive, send)
        elif (problem := self._drain.refusal()) is not None:
            await refuse(scope, receive, send, problem)
        elif kind == "websocket":
            await self._app(scope, receive, send)
        else:
            with self._drain.request():
                await self._app(scope, receive, send)
