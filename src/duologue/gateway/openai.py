"""OpenAI's endpoints: `/v1/chat/completions`, `/v1/models`.

Owns the choice between a stream and a whole reply, and what a completion's id and time of making are. The shapes are
in `wire.openai` and `wire.completion`; errors leave as `Problem`s, which the application answers.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import msgspec
from fastapi import APIRouter, Request
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from duologue.config.settings import Limits
from duologue.errors import Problem, Unsupported
from duologue.gateway.models import Models, admit
from duologue.gateway.problems import refuse, request_id_of
from duologue.gateway.relay import Batch, Generate
from duologue.gateway.sse import KEEP_ALIVE, PATIENCE, EventStream, while_connected
from duologue.wire.body import check_counts, decode_json, validate
from duologue.wire.completion import Completion, CompletionStream
from duologue.wire.openai import ChatCompletionRequest, model_entry, model_list
from duologue.wire.refusals import shortened

log = logging.getLogger(__name__)


def router(
    generate: Generate,
    models: Models,
    *,
    limits: Limits | None = None,
    clock: Callable[[], float] = time.time,
    patience: float = PATIENCE,
    keep_alive: float = KEEP_ALIVE,
) -> APIRouter:
    """The endpoints. `clock` gives seconds since 1970; `patience` and `keep_alive` are those of `sse`."""
    allowed = limits or Limits()
    routes = APIRouter(prefix="/v1", tags=["OpenAI"])
    started = int(clock())

    @routes.post("/chat/completions", openapi_extra=_documented(), summary="Create a chat completion")
    async def create_chat_completion(request: Request) -> Response:
        _check_coding(request)
        try:
            body = decode_json(await request.body())
        except ClientDisconnect:
            return Response(status_code=400)
        check_counts(body, allowed)
        asked = validate(ChatCompletionRequest, body)
        card = models.resolve(asked.model)
        turn = admit(card, asked.request(allowed))
        id, created = f"chatcmpl-{uuid.uuid4().hex}", int(clock())
        state = request.scope.get("state", {})
        batches = generate(
            turn, count=asked.n, request_id=request_id_of(request.scope), user=state.get("user", "local")
        )
        if not asked.stream:
            return WholeReply(batches, Completion(id, created, card.name, count=asked.n))
        usage = asked.stream_options.include_usage
        encoder = CompletionStream(id, created, card.name, count=asked.n, usage=usage)
        return EventStream(batches, encoder, patience=patience, keep_alive=keep_alive)

    @routes.head("/models/", include_in_schema=False)
    @routes.head("/models", include_in_schema=False)
    @routes.get("/models/", include_in_schema=False)
    @routes.get("/models", summary="List the models")
    async def list_models() -> Response:
        """The default chat model first; aliases follow, each with the model it stands for as its `root`."""
        return _json(model_list(models.cards(), models.aliases(), started))

    @routes.get("/models/{name:path}", summary="One model, by its name or an alias")
    async def get_model(name: str) -> Response:
        card = models.resolve(name)
        return _json(msgspec.json.encode(model_entry(card, started, name)))

    return routes


class WholeReply(Response):
    """Answers when every choice has ended; a client that leaves before ends the generation."""

    def __init__(
        self, source: AbstractAsyncContextManager[AsyncIterator[Batch]], completion: Completion
    ) -> None:
        super().__init__()
        self._source, self._completion = source, completion

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        outcome = await while_connected(receive, self._outcome)
        if isinstance(outcome, bytes):
            await _json(outcome)(scope, receive, send)
        elif outcome is not None:
            if not isinstance(outcome, Problem):
                log.error("request %s failed", request_id_of(scope), exc_info=outcome)
            await refuse(scope, receive, send, outcome)

    async def _outcome(self) -> bytes | Exception:
        try:
            async with self._source as batches:
                async for batch in batches:
                    self._completion.add(batch)
            return self._completion.body()
        except Exception as error:  # noqa: BLE001 (told to the client and logged by the caller)
            return error


def _check_coding(request: Request) -> None:
    """Raises Unsupported for a compressed body: a few bytes of one may become gigabytes."""
    coding = request.headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("", "identity"):
        raise Unsupported(
            f"The body comes with Content-Encoding {shortened(coding)}; send it uncompressed.", status=415
        )


def _json(body: bytes) -> Response:
    return Response(body, media_type="application/json", headers={"Cache-Control": "no-store"})


def _documented() -> dict[str, Any]:
    """What /docs says of the body. It is read here and not by the framework, for its errors are not OpenAI's."""
    schema = ChatCompletionRequest.model_json_schema()
    named = schema.pop("$defs", {})

    def inlined(node: Any) -> Any:
        if isinstance(node, dict):
            if "$ref" in node:
                return inlined(named[node["$ref"].rpartition("/")[2]])
            return {key: inlined(value) for key, value in node.items()}
        return [inlined(entry) for entry in node] if isinstance(node, list) else node

    body = {"required": True, "content": {"application/json": {"schema": inlined(schema)}}}
    replies = {
        "200": {
            "description": "A chat.completion object, or with `stream` its chunks as server-sent events.",
            "content": {"application/json": {}, "text/event-stream": {}},
        }
    }
    return {"requestBody": body, "responses": replies}
