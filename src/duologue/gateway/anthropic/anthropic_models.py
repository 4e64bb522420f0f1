"""`/v1/models` for clients of Anthropic's API: those that send its version header. All others get OpenAI's list, from `dialects`."""

from __future__ import annotations

import time
from collections.abc import Callable

from fastapi import APIRouter, Request
from fastapi.routing import APIRoute
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import Scope

from duologue.gateway.models.registry import ModelRegistry
from duologue.http.error_responses import is_anthropic
from duologue.http.json_api import answer, whole_number
from duologue.wire.anthropic.model_pages import DEFAULT_LIMIT, MAX_LIMIT, model_info, model_page


class AnthropicRoute(APIRoute):
    """A route that only requests with the header match."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["type"] != "http" or not is_anthropic(scope["path"], scope["headers"]):
            return Match.NONE, {}
        return super().matches(scope)


def router(models: ModelRegistry, clock: Callable[[], float] = time.time) -> APIRouter:
    """The endpoints, for the place before OpenAI's, which describe both for /docs. `clock` gives seconds since 1970."""
    routes = APIRouter(prefix="/v1", route_class=AnthropicRoute, include_in_schema=False)
    started = int(clock())

    @routes.get("/models")
    async def list_models(request: Request) -> Response:
        asked = request.query_params
        page = model_page(
            models.cards(),
            models.aliases(),
            started,
            limit=whole_number(request, "limit", DEFAULT_LIMIT, most=MAX_LIMIT),
            after=asked.get("after_id", ""),
            before=asked.get("before_id", ""),
        )
        return Response(page, media_type="application/json", headers={"Cache-Control": "no-store"})

    @routes.get("/models/{name:path}")
    async def get_model(name: str) -> Response:
        return answer(model_info(models.resolve(name), started, name))

    return routes
