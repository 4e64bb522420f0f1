"""What llama-server and tabbyAPI say about themselves: `/props`, `/slots`, `/v1/auth/permission`; and `/v1/moderations`, which there is
not."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from duologue import __version__
from duologue.errors import Problem, Unsupported
from duologue.gateway.tokens.asked_model import AskedModels
from duologue.http.json_api import answer, flag, user_of
from duologue.http.openapi import documented
from duologue.wire.tokens import server_props

MODEL = {"model": "A name from /v1/models. Default: the default chat model."}


def router(asked: AskedModels) -> APIRouter:
    """The routes, which every user may use."""
    routes = APIRouter(tags=["tokens"])

    @routes.get(
        "/props",
        openapi_extra=documented(answers=dict[str, Any], says="The properties", query=MODEL),
        summary="The properties of a model",
    )
    async def props(request: Request) -> Response:
        """As llama-server says them: the default sampling, slots, modalities, the chat template and its tokens."""
        user = user_of(request)
        card = await asked.card(request.query_params.get("model", ""), user, request.receive)
        described = await asked.described(card, user)
        return answer(server_props.props(card, described, len(_occupied(asked, card.name)), __version__))

    @routes.get(
        "/slots",
        openapi_extra=documented(
            answers=list[dict[str, Any]],
            says="The slots",
            query={**MODEL, "fail_on_no_slot": "1: answer 503 while every slot is in use."},
        ),
        summary="List the slots of a model",
    )
    async def slots(request: Request) -> Response:
        """As llama-server says it, without anything of the chats in them."""
        name, user = request.query_params.get("model", ""), user_of(request)
        card = await asked.card(name, user, request.receive)
        occupied = _occupied(asked, card.name)
        if flag(request, "fail_on_no_slot") and all(occupied):
            raise Problem("Every slot of the model is in use.", code="unavailable", status=503)
        return answer(server_props.slots(card, occupied))

    @routes.get(
        "/v1/auth/permission",
        openapi_extra=documented(answers=dict[str, str], says="`admin` or `api`"),
        summary="What this key may do",
    )
    async def permission(request: Request) -> Response:
        """As tabbyAPI says it: `admin`, or `api` for other users."""
        is_admin = request.scope["state"]["role"] == "admin"
        return answer({"permission": "admin" if is_admin else "api"})

    @routes.post(
        "/v1/moderations",
        openapi_extra=documented(status=400, says="Always: no model here judges texts"),
        summary="Not supported",
    )
    async def moderations(request: Request) -> Response:
        """Always refused: no model here judges texts."""
        raise Unsupported("This server has no moderation model. Send texts to a service that has one.")

    return routes


def _occupied(asked: AskedModels, model: str) -> list[bool]:
    """Of each slot of a model's workers, whether it is in use."""
    pool = asked.pool
    return [busy for status in pool.workers_of(model) for busy in pool.scheduler.occupied(status.worker)]
