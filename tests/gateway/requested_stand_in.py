"""The models that requests name, one of which comes when the test says so."""

from __future__ import annotations

import anyio
from tests.support.stand_in import StandIn

from duologue.errors import Problem
from duologue.values.requests import ModelCard

MINI = ModelCard("mini", "scripted", 2048)
LATE = ModelCard("late", "scripted", 2048, verbs=("raw", "infill"))


class Requested(StandIn):
    """Has the model `late` loaded once the gate is open, or raises `problem`. `asked` is set when somebody waits, `left` when they
    stopped."""

    def __init__(self) -> None:
        self.gate = anyio.Event()
        self.asked = anyio.Event()
        self.left = anyio.Event()
        self.problem: Problem | None = None
        self.names = ["late"]

    def loaded(self, name: str) -> ModelCard | None:
        return MINI if name in ("", "mini") else None

    async def card(
        self, name: str, user: str, *, task: str = "chat", receive: object = None, in_time: bool = False
    ) -> ModelCard:
        if (card := self.loaded(name)) is not None:
            return card
        self.asked.set()
        try:
            await self.gate.wait()
        except anyio.get_cancelled_exc_class():
            self.left.set()
            raise
        if self.problem is not None:
            raise self.problem
        return LATE

    async def unloaded(self, user: str) -> list[str]:
        return self.names
