"""tabbyAPI's `/v1/templates` and `/v1/template`: the chat template of a model, chosen while the server runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from duologue.gateway.auth.middleware import admin
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.tuning.preset_files import TEMPLATE_SUFFIX, list_names, template_file
from duologue.gateway.tuning.shared_templates import ChosenTemplate, SharedTemplates
from duologue.http.json_api import answer, body_of
from duologue.http.openapi import documented, json_body
from duologue.threads import disk_io
from duologue.wire.tokens.tuning_bodies import TemplateSwitchBody, TunedModelBody, names_list
from duologue.wire.validation import validate


def router(templates: SharedTemplates, models: ModelRegistry, folder: Path) -> APIRouter:
    """The routes. `folder` has the templates that can be chosen."""
    routes = APIRouter(prefix="/v1", tags=["tuning"])
    listed = documented(answers=dict[str, Any], says="The names")

    @routes.get("/template/list", openapi_extra=listed, summary="List the chat templates that can be chosen")
    @routes.get("/templates", openapi_extra=listed, summary="List the chat templates that can be chosen")
    async def names() -> Response:
        """The files `templates/*.jinja` of the data folder."""
        return answer(names_list(await disk_io(list_names, folder, (TEMPLATE_SUFFIX,))))

    @routes.post(
        "/template/switch",
        openapi_extra=json_body(
            TemplateSwitchBody, "application/json", description="The model and its template."
        ),
        summary="Choose the chat template of a model",
        dependencies=[Depends(admin)],
    )
    async def switch(request: Request) -> Response:
        """Replies that run keep theirs. A template that cannot be compiled is refused with its message. The choice holds until the
        model is unloaded or the server stops; with several servers of one database at all of them, until it is taken back."""
        body = validate(TemplateSwitchBody, await body_of(request))
        card = models.resolve(body.model)
        path, source = await disk_io(template_file, folder, body.name)
        await templates.choose(card.name, ChosenTemplate(path.stem, source), path)
        return answer({"model": card.name, "template": path.stem})

    @routes.post(
        "/template/unload",
        openapi_extra=documented(body=TunedModelBody, answers=dict[str, Any], says="The model"),
        summary="Use the model's own chat template again",
        dependencies=[Depends(admin)],
    )
    async def unload(request: Request) -> Response:
        body = validate(TunedModelBody, await body_of(request))
        card = models.resolve(body.model)
        await templates.choose(card.name, None)
        return answer({"model": card.name, "template": None})

    return routes
