"""`GET /join/models/{name}` and `/join/files/{sha256}`: models by hash, for workers on other machines. `wire/machines/model_offer.py` has the answer."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from starlette.responses import FileResponse, Response

from duologue.gateway.machines.join_service import JoinService
from duologue.gateway.machines.model_offers import ModelOffers
from duologue.wire.machines.model_offer import encode_offer


def router(service: JoinService, offers: ModelOffers) -> APIRouter:
    """The routes. The authentication admits only workers."""
    routes = APIRouter(tags=["join"], prefix="/join")

    @routes.get("/models/{name:path}", summary="A model and the hashes of its files")
    async def model(name: Annotated[str, Path(max_length=256)]) -> Response:
        """How another machine loads it. The first answer about a model waits until its files were read once."""
        _require(service)
        return Response(encode_offer(await offers.offer(name)), media_type="application/json")

    @routes.get("/files/{sha256}", summary="A file of a model")
    async def file(sha256: Annotated[str, Path(pattern="^[0-9a-f]{64}$")]) -> FileResponse:
        """Its bytes, or a range of them. Only files of models that were asked for since the server started."""
        _require(service)
        return FileResponse(await offers.path(sha256), media_type="application/octet-stream")

    return routes


def _require(service: JoinService) -> None:
    if (problem := service.refusal()) is not None:
        raise problem
