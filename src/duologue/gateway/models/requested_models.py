"""The model that a request names: a loaded one, or one that is loaded for it.

Every HTTP dialect asks here, once per request, before it plans the reply.
"""

from __future__ import annotations

from duologue.gateway.models.registry import ModelRegistry
from duologue.values.requests import ModelCard


class RequestedModels:
    """Resolves the `model` field of requests."""

    def __init__(self, models: ModelRegistry) -> None:
        self._models = models

    async def card(self, name: str, user: str) -> ModelCard:
        """The card of the model that `user` asks for; an empty name is the default model.

        Raises ModelNotFound with the known names, Unavailable while no model is loaded.
        """
        return self._models.resolve(name)
