"""The model that a request names: a loaded one, or one that is loaded for it.

Every HTTP dialect asks here, once per request, before it plans the reply. Owns the order in which a name is looked up: the loaded models and
aliases, names as other servers' clients write them, models on the disk, aliases with patterns. The page's chats have a rule of their
own (`values/model_choice.py`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable
from functools import partial

import anyio
from starlette.types import Receive

from duologue.errors import ModelNotFound, Unavailable
from duologue.gateway.models.available import AvailableModel
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.models.requested.inline_loads import InlineLoads
from duologue.gateway.scheduling.scheduler import unloaded_message
from duologue.http.sse import unless_left
from duologue.models.model_names import KnownName, find_similar
from duologue.queue_ticket import queue_ticket
from duologue.threads import disk_io
from duologue.values.requests import ModelCard, Task
from duologue.wire.validation_errors import shortened

RETRY_S = 5.0
"""Seconds after which a client may ask again for a model that is still loading."""


class RequestedModels:
    """Resolves the `model` field of requests. `available` lists what could be loaded, and blocks; without it, and without `loads`, nothing is
    loaded. `may_load`: whether a user may have a model loaded by naming it; `patience`: seconds that an answer which cannot say anything
    meanwhile waits for a model; `clock` gives seconds."""

    def __init__(
        self,
        models: ModelRegistry,
        available: Callable[[], list[AvailableModel]] = list,
        loads: InlineLoads | None = None,
        may_load: Callable[[str], bool] = lambda user: False,
        patience: float = math.inf,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._models = models
        self._available = available
        self._loads = loads
        self._may_load = may_load
        self._patience, self._clock = patience, clock

    async def card(
        self,
        name: str,
        user: str,
        *,
        task: Task = "chat",
        receive: Receive | None = None,
        in_time: bool = False,
    ) -> ModelCard:
        """The card of the model that `user` asks for; an empty name is the default model, or the first for this task. Waits while that
        model is loaded for this request, which may take minutes. `in_time`: that wait ends after some seconds with `model_loading`, for
        answers that could not say meanwhile that they wait. With `receive` it also ends when the client leaves: for endpoints that wait before
        they answer. How long it took is told to the answer (`queue_ticket`).

        Raises ModelNotFound with the known names, Unavailable while no model is loaded, Unsupported for a model that is not for
        this task, and what loading raises.
        """
        card = self.loaded(name) if name or task == "chat" else self._models.of_task(task)
        if card is None:
            other: Callable[[], Awaitable[ModelCard]] = partial(self._other, name, user)
            if in_time or receive is not None:
                other = partial(self._in_time, other, name)
            began = self._clock()
            try:
                card = await (other() if receive is None else unless_left(receive, other))
            finally:
                if (told := queue_ticket.get()) is not None:
                    told.loaded(self._clock() - began)
        self._models.require(card, task)
        if self._loads is not None:
            self._loads.note(card.name)
        return card

    async def _in_time(self, other: Callable[[], Awaitable[ModelCard]], name: str) -> ModelCard:
        """Raises Unavailable (`model_loading`) when the model takes longer to load than the client is left without a word."""
        with anyio.move_on_after(self._patience):
            return await other()
        place = 1 if self._loads is None else self._loads.place(self._models.alias_of(name) or name)
        subject = f"The model {shortened(name)}" if name else "The model"
        state = (
            "is loading"
            if place == 1
            else f"will be loaded as number {place} of those that requests wait for"
        )
        raise Unavailable(
            f"{subject} {state}. Try again in a moment.", code="model_loading", retry_after=RETRY_S * place
        )

    def loaded(self, name: str) -> ModelCard | None:
        """The card, where nothing has to be waited for and no other model could be meant."""
        if not name and self._loads is not None and self._loads.resting("") is not None:
            return None
        card = self._models.find(name) if name else self._models.default()
        if card is None or self._loads is None or not self._loads.is_coming(card.name):
            return card
        return None

    async def unloaded(self, user: str) -> list[str]:
        """The names of the models that would be loaded for this user: those that rest, and those on the disk. Without the bundled one, which
        people with another model rarely mean."""
        if self._loads is None:
            return []
        names = self._loads.resting_names()
        if self._may_load(user):
            names += [model.name for model in await disk_io(self._available) if not model.bundled]
        return [
            name
            for name in dict.fromkeys(names)
            if self._models.allows(name) and self._models.find(name) is None
        ]

    async def _other(self, name: str, user: str) -> ModelCard:
        if not name:
            resting = None if self._loads is None else self._loads.resting("")
            return await (self._first_to_come() if resting is None else self._woken(resting.name))
        wanted = self._models.alias_of(name) or name
        if (card := await self._from_disk(wanted, user)) is not None:
            return card
        if (card := self._models.similar(name)) is not None:
            return card
        if (pattern := self._models.by_pattern(name)) is not None:
            if (card := self.loaded(pattern)) is not None:
                return card
            if (card := await self._from_disk(pattern, user)) is not None:
                return card
        await self._tell_unloaded(wanted)
        return self._models.resolve(name)

    async def _from_disk(self, name: str, user: str) -> ModelCard | None:
        """The model that this name means among those that are loaded and those on the disk, loaded if need be; None if it means none, or
        one that this user may not load."""
        loads = self._loads
        if loads is None:
            return None
        if (resting := loads.resting(name)) is not None:
            return await self._woken(resting.name)
        may_load = self._may_load(user)
        known = [KnownName(resting) for resting in loads.resting_names()]
        known += [KnownName(card.name) for card in self._models.cards()]
        if may_load or loads.are_any:
            files = await disk_io(self._available)
            known += [
                KnownName(model.name, model.names) for model in files if self._models.allows(model.name)
            ]
        found = find_similar(name, known)
        if not found:
            return None
        card = self._models.find(found)
        if card is not None and not loads.is_coming(found):
            return card
        is_free = loads.is_begun(found) or loads.resting(found) is not None
        if card is None and not is_free and not may_load:
            return None
        return await self._woken(found)

    async def _woken(self, name: str) -> ModelCard:
        """The card of a model that is loaded for this request. Raises what loading raises."""
        assert self._loads is not None
        await self._loads.loaded(name)
        if (card := self._models.find(name)) is None:
            raise Unavailable(unloaded_message(name), code="model_unloaded")
        return card

    async def _first_to_come(self) -> ModelCard:
        """The default model where none is loaded: the one that is being loaded now, if there is one. Raises Unavailable."""
        while self._loads is not None and self._loads.is_loading and self._models.default() is None:
            await self._loads.until_turn_changes()
        return self._models.resolve("")

    async def _tell_unloaded(self, name: str) -> None:
        """Raises ModelNotFound for a model that is on the disk and that this user may not load."""
        if self._loads is None:
            return
        files = [
            KnownName(model.name, model.names)
            for model in await disk_io(self._available)
            if self._models.allows(model.name)
        ]
        if (found := find_similar(name, files)) and self._models.find(found) is None:
            raise ModelNotFound(
                f"The model {shortened(found)!r} is installed but not loaded, and your requests may not load it "
                "(loading.by_request). Ask an admin to load it.",
                param="model",
            )
