"""The model that a client of Ollama's API means: a name from `/api/tags` comes back with its tag.

Used by every route here. What else a name may mean, `RequestedModels` and `AvailableModels` know.
"""

from __future__ import annotations

from contextlib import suppress

from duologue.errors import ModelNotFound
from duologue.gateway.models.available import AvailableModels
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.models.requested_models import RequestedModels
from duologue.threads import disk_io
from duologue.values.requests import ModelCard, Task
from duologue.wire.ollama.ollama_models import downloadable, file_name, untagged


class OllamaNames:
    """Resolves the names of clients."""

    def __init__(self, models: ModelRegistry, requested: RequestedModels, available: AvailableModels) -> None:
        self._models, self._requested, self._available = models, requested, available

    async def card(self, name: str, user: str, *, task: Task = "chat", in_time: bool = False) -> ModelCard:
        """The card of the model that `user` asks for. Raises as `RequestedModels.card`."""
        return await self._requested.card(await self.own(name), user, task=task, in_time=in_time)

    async def own(self, name: str) -> str:
        """This server's name of a model that is loaded or can be; the same name where there is none."""
        name = name.strip()
        for spelling in dict.fromkeys((name, untagged(name), downloadable(name))):
            if not spelling or self._models.find(spelling) is not None:
                return spelling
        return await disk_io(self._on_disk, name) or name

    def _on_disk(self, name: str) -> str:
        """The name of the model among those that can be loaded; "" without one."""
        for spelling in filter(None, (downloadable(name), file_name(name))):
            with suppress(ModelNotFound):
                return self._available.find(spelling).name
        return ""
