"""LoRA adapters: tabbyAPI's `/v1/loras` and `/v1/lora`, and llama-server's `/lora-adapters`."""

from __future__ import annotations

from typing import Any

import msgspec
from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from duologue.errors import BadRequest
from duologue.gateway.auth.middleware import admin
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.tuning.adapter_service import AdapterService
from duologue.http.json_api import answer, body_of
from duologue.http.openapi import documented, json_body, model_schema
from duologue.wire.fields.adapter_fields import MOST_ADAPTERS, AdapterBody
from duologue.wire.tokens.tuning_bodies import (
    LoraLoadBody,
    TunedModelBody,
    lora_adapters,
    lora_list,
    lora_scales,
)
from duologue.wire.validation import validate

MODEL = {"model": "A name from /v1/models. Default: the default chat model."}
LARGEST_BODY = 64 * 1024


def router(adapters: AdapterService, models: ModelRegistry, started: int) -> APIRouter:
    """The routes. `started`: seconds since 1970, which lists give as the time of each adapter."""
    routes = APIRouter(tags=["tuning"])
    listed = documented(answers=dict[str, Any], says="The adapters")
    _add_llama(routes, adapters, models)

    @routes.get("/v1/lora/list", openapi_extra=listed, summary="List the LoRA adapters that can be loaded")
    @routes.get("/v1/loras", openapi_extra=listed, summary="List the LoRA adapters that can be loaded")
    async def list_loras() -> Response:
        """The files `loras/*.gguf` of the data folder."""
        return answer(lora_list([(name, None) for name in await adapters.names()], started))

    @routes.get(
        "/v1/lora",
        openapi_extra=documented(answers=dict[str, Any], says="The adapters in use", query=MODEL),
        summary="The LoRA adapters in use",
    )
    async def loras_in_use(request: Request) -> Response:
        card = models.resolve(request.query_params.get("model", ""))
        return answer(lora_list([one for one in adapters.scales(card).items() if one[1]], started))

    @routes.post(
        "/v1/lora/load",
        openapi_extra=json_body(
            LoraLoadBody, "application/json", description="`success` and `failure`: names."
        ),
        summary="Use LoRA adapters",
        dependencies=[Depends(admin)],
    )
    async def load(request: Request) -> Response:
        """The model uses these adapters and no others from now on; replies that run keep theirs. Adapters that it was not loaded with
        are loaded with it again: its running replies end with `worker_restarted`."""
        body = validate(LoraLoadBody, await body_of(request))
        card = models.resolve(body.model)
        scales = body.scales()
        await adapters.load(card, scales)
        return answer({"success": list(scales), "failure": []})

    @routes.post(
        "/v1/lora/unload",
        openapi_extra=documented(body=TunedModelBody, answers=dict[str, Any], says="The model"),
        summary="Use no LoRA adapter",
        dependencies=[Depends(admin)],
    )
    async def unload(request: Request) -> Response:
        """Later replies are the bare model's. The adapters stay in memory until the model is unloaded."""
        card = models.resolve(validate(TunedModelBody, await body_of(request)).model)
        adapters.use(card, {})
        return answer({"model": card.name})

    return routes


def _add_llama(routes: APIRouter, adapters: AdapterService, models: ModelRegistry) -> None:
    """The routes of llama-server."""

    @routes.get(
        "/lora-adapters",
        openapi_extra=documented(
            answers=list[dict[str, Any]], says="The adapters with their ids", query=MODEL
        ),
        summary="The LoRA adapters of a model",
    )
    async def get_adapters(request: Request) -> Response:
        """Those that it was loaded with, as llama-server lists them. Completions name them by `id` in `lora`."""
        return answer(lora_adapters(adapters.scales(models.resolve(request.query_params.get("model", "")))))

    @routes.post(
        "/lora-adapters",
        openapi_extra=_scales_described(),
        summary="Set the scales of LoRA adapters",
        dependencies=[Depends(admin)],
    )
    async def set_adapters(request: Request) -> Response:
        """A list of `{id, scale}`; adapters that are not named are not used."""
        card = models.resolve(request.query_params.get("model", ""))
        data = await request.body()
        try:
            value = msgspec.json.decode(data) if len(data) <= LARGEST_BODY else None
        except (msgspec.DecodeError, RecursionError):
            value = None
        scales: dict[str, float] = {}
        for each in lora_scales(value):
            if each.id >= len(card.adapters):
                raise BadRequest(f"The model {card.name} has no LoRA adapter {each.id}.", param="id")
            scales[card.adapters[each.id]] = each.scale
        adapters.use(card, scales)
        return answer({"success": True})


def _scales_described() -> dict[str, Any]:
    """The description of a body that is a list, which bodies elsewhere are not."""
    schema = {"type": "array", "items": model_schema(AdapterBody), "maxItems": MOST_ADAPTERS}
    model = {"name": "model", "in": "query", "description": MODEL["model"], "schema": {"type": "string"}}
    success = {"type": "object", "properties": {"success": {"type": "boolean"}}}
    return {
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}},
        "responses": {
            "200": {"description": "`success`", "content": {"application/json": {"schema": success}}}
        },
        "parameters": [model],
    }
