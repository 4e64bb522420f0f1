"""tabbyAPI's `/v1/sampling`: a sampling preset for all models, chosen while the server runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from duologue.errors import BadRequest
from duologue.gateway.auth.middleware import admin
from duologue.gateway.scheduling.model_tuning import ModelTuning
from duologue.gateway.tuning.preset_files import PRESET_SUFFIXES, list_names, preset_file, preset_of
from duologue.http.json_api import answer, body_of
from duologue.http.openapi import documented, json_body
from duologue.threads import disk_io
from duologue.wire.tokens.tuning_bodies import SamplingSwitchBody, sampling_overrides
from duologue.wire.validation import validate


def router(tuning: ModelTuning, folder: Path) -> APIRouter:
    """The routes. `folder` has the presets that can be chosen."""
    routes = APIRouter(prefix="/v1/sampling", tags=["tuning"])
    listed = documented(answers=dict[str, Any], says="The preset in use, and those that can be chosen")
    selected: list[str] = []
    """The name of the preset in use, if it has one."""

    async def overview() -> Response:
        names = await disk_io(list_names, folder, PRESET_SUFFIXES)
        return answer(sampling_overrides(selected[0] if selected else None, tuning.preset, names))

    @routes.get("/override/list", openapi_extra=listed, summary="List the sampling presets")
    @routes.get("/overrides", openapi_extra=listed, summary="List the sampling presets")
    async def overrides() -> Response:
        """The files `sampling/*.yaml` of the data folder, and the preset in use."""
        return await overview()

    @routes.post(
        "/override/switch",
        openapi_extra=json_body(
            SamplingSwitchBody, "application/json", description="As /v1/sampling/overrides."
        ),
        summary="Choose the sampling preset",
        dependencies=[Depends(admin)],
    )
    async def switch(request: Request) -> Response:
        """It holds for all models and later replies until the server stops; its entries take the place of the models' own."""
        body = validate(SamplingSwitchBody, await body_of(request))
        if (body.preset is None) == (body.overrides is None):
            raise BadRequest("Send either preset or overrides.", param="preset")
        if body.preset is not None:
            preset = await disk_io(preset_file, folder, body.preset)
        else:
            preset = preset_of(body.overrides, "overrides")
        tuning.preset = preset
        selected[:] = [] if body.preset is None else [body.preset]
        return await overview()

    @routes.post(
        "/override/unload",
        openapi_extra=documented(answers=dict[str, Any], says="As /v1/sampling/overrides"),
        summary="Use the models' own sampling again",
        dependencies=[Depends(admin)],
    )
    async def unload() -> Response:
        tuning.preset = None
        selected.clear()
        return await overview()

    return routes
