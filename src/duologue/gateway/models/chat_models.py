"""The models as conversations see them: which can answer, which can be loaded, by whom, and waiting until one can answer.

`conversations/runs` decides with it which model answers, and has a model loaded that a conversation needs. `service` makes one.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING

from duologue.errors import ModelNotFound
from duologue.gateway.models.loader import LoadRequest
from duologue.gateway.models.registry import ModelRegistry
from duologue.threads import disk_io
from duologue.values.model_choice import ModelState

if TYPE_CHECKING:
    from duologue.gateway.models.service import ModelService


class ChatModels:
    """`may_load` says whether a user may load models."""

    def __init__(self, service: ModelService, models: ModelRegistry, may_load: Callable[[str], bool]) -> None:
        self._service = service
        self._models = models
        self.may_load = may_load

    @property
    def coming_default(self) -> str:
        """The default model, if the start of the server is still to load it, or if it rests; a chat that follows the default waits for it."""
        if (resting := self._service.resting.find("")) is not None:
            return resting.name
        default = self._service.remembered.default
        return default if default in self._service.coming else ""

    async def state(self, name: str) -> ModelState:
        """What became of a model that was chosen by this name or alias."""
        if (
            self._is_loaded(name)
            or name in self._service.coming
            or self._service.resting.find(name) is not None
        ):
            return "usable"
        try:
            model = await disk_io(self._service.available.find, name)
        except ModelNotFound:
            return "gone"
        if model.name != name:  # names of loaded models are case-sensitive
            return "gone"
        return "failed" if self._service.remembered.failure(name) else "unloaded"

    async def ready(self, name: str, user: str, *, load: bool) -> AsyncGenerator[float | None]:
        """How much of a model is loaded, 0 to 1 or None if unknown, until it is in the pool and ready, or not to be loaded. `load`:
        load it for this user if it is not loaded. Raises what loading raises."""
        while name in self._service.coming and not self._is_loaded(name):
            yield None
            await self._service.changed()
        running = self._service.loader.current(name)
        if running is None and (resting := self._service.resting.find(name)) is not None:
            yield None
            running = await self._service.loader.wake(resting)
        if running is None:
            if not load or self._is_loaded(name):
                return
            yield None
            running = await self._service.loader.join(LoadRequest(name, user=user))
        async with aclosing(running.steps()) as steps:
            async for step in steps:
                if step.problem is not None:
                    raise step.problem
                yield step.progress

    def _is_loaded(self, name: str) -> bool:
        return self._models.find(name) is not None
