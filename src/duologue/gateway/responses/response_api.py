"""OpenAI's Responses and Conversations APIs, put together: the service and its routes. Called by `gateway/app.py`."""

from __future__ import annotations

import time

from fastapi import APIRouter

from duologue.config.settings import Settings
from duologue.gateway.dialects.reply import ReplyPipeline
from duologue.gateway.media.references import MediaReferences
from duologue.gateway.models.requested_models import RequestedModels
from duologue.gateway.responses import conversation_routes, response_routes
from duologue.gateway.responses.background import Allowed
from duologue.gateway.responses.preparation import CountTokens
from duologue.gateway.responses.service import ResponseService


def response_api(
    settings: Settings,
    pipeline: ReplyPipeline,
    references: MediaReferences,
    requested: RequestedModels,
    *,
    count: CountTokens,
    allowed: Allowed,
) -> tuple[ResponseService, tuple[APIRouter, ...]]:
    """The service, which somebody has to run, and the routers."""
    limits = settings.limits
    service = ResponseService(
        pipeline,
        references,
        limits=limits,
        settings=settings.responses,
        count=count,
        clock=time.time,
        allowed=allowed,
    )
    responses = response_routes.router(service, requested, limits)
    return service, (responses, conversation_routes.router(service, limits))
