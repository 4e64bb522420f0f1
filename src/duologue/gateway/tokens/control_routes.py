"""`POST /v1/chat/completions/control`: what llama-server lets a client tell a reply that runs."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from duologue.errors import Unsupported
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.scheduling.running_replies import RunningReplies
from duologue.http.json_api import answer, body_of, user_of
from duologue.http.openapi import json_body
from duologue.wire.tokens.control_body import ReplyControlBody
from duologue.wire.validation import validate


def router(running: RunningReplies, models: ModelRegistry) -> APIRouter:
    """The route. Everyone reaches their own replies alone."""
    routes = APIRouter(tags=["OpenAI"])

    @routes.post(
        "/v1/chat/completions/control",
        openapi_extra=json_body(
            ReplyControlBody, "application/json", description="`success`: the request was passed on."
        ),
        summary="End the thought of a running completion",
    )
    async def control(request: Request) -> Response:
        """`reasoning_end` closes the thought within a token; the answer follows in the same stream. Without effect on a reply that
        is answering already. 404 for a completion that has ended, or is another user's."""
        body = validate(ReplyControlBody, await body_of(request))
        reply = running.find(user_of(request), body.id)
        card = models.resolve(reply.model)
        if "reasoning_end" not in card.verbs:
            raise Unsupported(f"The thoughts of the model {card.name} cannot be ended while it thinks.")
        reply.lease.end_thought()
        return answer({"success": True})

    return routes
