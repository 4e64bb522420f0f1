"""Puts the routes of `gateway/tokens` and `gateway/tuning` together. Called by `app`."""

from __future__ import annotations

import time
from typing import Protocol

from fastapi import APIRouter

from duologue.config import Settings
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.models.requested_models import RequestedModels
from duologue.gateway.models.service import ModelService
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.scheduling.running_replies import RunningReplies
from duologue.gateway.sharing import Sharing
from duologue.gateway.tokens import control_routes, server_routes, token_routes
from duologue.gateway.tokens.asked_model import AskedModels
from duologue.gateway.tuning import lora_routes, sampling_routes, template_routes
from duologue.gateway.tuning.adapter_service import AdapterService
from duologue.gateway.tuning.shared_templates import SharedTemplates
from duologue.gateway.workers.load_specs import LORAS


class GatewayParts(Protocol):
    """The parts of the program that these routes are over."""

    settings: Settings
    pool: Pool
    models: ModelRegistry
    requested_models: RequestedModels
    replies: RunningReplies
    model_service: ModelService
    sharing: Sharing


def model_routes(parts: GatewayParts) -> tuple[APIRouter, ...]:
    """The routes."""
    data, pool, models = parts.settings.data, parts.pool, parts.models
    asked = AskedModels(parts.requested_models, pool)
    templates = parts.sharing.templates = SharedTemplates(pool, data / "templates")
    adapters = AdapterService(pool, data / LORAS, data / "models", parts.model_service.changed)
    return (
        token_routes.router(asked, parts.settings.limits),
        server_routes.router(asked),
        control_routes.router(parts.replies, models),
        template_routes.router(templates, models, data / "templates"),
        lora_routes.router(adapters, models, int(time.time())),
        sampling_routes.router(pool.tuning, data / "sampling"),
    )
